//! A multilayer perceptron: layers of units, each a weighted sum of the layer before.
//!
//! ```text
//! h₀ = (x − mean)·factor, 0 where x is missing;   h_l = a(W_l·h_{l−1} + b_l);   score = w·h_L + b
//! ```

mod products;
#[cfg(test)]
mod tests;

use crate::data::{Dataset, Query, Row};
use crate::error::{Error, Result};
pub(crate) use products::{Panels, add_transposed, multiply, padded};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::OnceLock;

/// Documents that one task scores; the same for any number of threads.
const CHUNK: usize = 1024;

/// Documents that pass a layer together, so that they are still in the cache for the next.
const BLOCK: usize = 96;

/// What a unit makes of its weighted sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Activation {
    /// `max(x, 0)`
    #[default]
    Relu,
    /// `tanh x`
    Tanh,
}

/// Units that see all of the layer before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// How many units there are.
    pub outputs: usize,
    /// One row a unit, with a weight for each input.
    pub weights: Vec<f32>,
    /// One number a unit.
    pub biases: Vec<f32>,
}

/// A multilayer perceptron with its standardisation. It is checked when it is made or read, and does not change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct NeuralNetwork {
    means: Vec<f32>,
    factors: Vec<f32>,
    activation: Activation,
    layers: Vec<Layer>,
    #[serde(skip)]
    packed: Packed,
}

/// The hidden layers as products need them, once they are wanted. They say nothing that the network does not say.
#[derive(Default)]
struct Packed(OnceLock<Vec<PackedLayer>>);

struct PackedLayer {
    weights: Panels,
    biases: Vec<f32>,
}

/// A network as a file has it, not yet checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    means: Vec<f32>,
    factors: Vec<f32>,
    activation: Activation,
    layers: Vec<Layer>,
}

impl TryFrom<Fields> for NeuralNetwork {
    type Error = Error;

    fn try_from(fields: Fields) -> Result<NeuralNetwork> {
        NeuralNetwork::new(fields.means, fields.factors, fields.activation, fields.layers)
    }
}

impl NeuralNetwork {
    /// A network that sees `(x − mean)·factor` of every feature; an error where the parts do not fit together. The
    /// last layer has one unit, whose sum is the score.
    pub fn new(
        means: Vec<f32>,
        factors: Vec<f32>,
        activation: Activation,
        layers: Vec<Layer>,
    ) -> Result<NeuralNetwork> {
        let mlp = NeuralNetwork { means, factors, activation, layers, packed: Packed::default() };
        mlp.check()?;
        Ok(mlp)
    }

    /// Feature columns of the data it learned from.
    pub fn width(&self) -> usize {
        self.means.len()
    }

    /// What is taken off each feature.
    pub fn means(&self) -> &[f32] {
        &self.means
    }

    /// What each feature is then multiplied by.
    pub fn factors(&self) -> &[f32] {
        &self.factors
    }

    /// What the units of all layers but the last make of their sums.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// The layers, from the features to the score.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Scores every document of a query.
    pub fn score(&self, query: Query<'_>, out: &mut [f64]) {
        self.score_rows(query.rows(), out);
    }

    /// The score of one document: to the last bit the one that it has among others.
    pub fn score_row(&self, row: Row<'_>) -> f64 {
        let mut score = [0.0];
        self.score_rows(std::iter::once(row), &mut score);
        score[0]
    }

    /// One score per document of a data set, in its order.
    pub(super) fn score_all(&self, data: &Dataset) -> Vec<f64> {
        let mut scores = vec![0.0; data.len()];
        scores.par_chunks_mut(CHUNK).enumerate().for_each(|(i, out)| {
            let start = i * CHUNK;
            self.score_rows((start..start + out.len()).map(|r| data.row(r)), out);
        });
        scores
    }

    /// Scores documents, as many as there is room for in `out`.
    pub(super) fn score_rows<'a>(&self, mut rows: impl Iterator<Item = Row<'a>>, out: &mut [f64]) {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        let (last, hidden) = (self.layers.last().expect("a network has layers"), self.packed());
        let mut stride = padded(self.width());
        for out in out.chunks_mut(BLOCK) {
            inputs.resize(out.len() * stride, 0.0);
            for input in inputs.chunks_exact_mut(stride) {
                self.standardise(rows.next().expect("a row for each score"), input);
            }
            let width = stride;
            for layer in hidden {
                outputs.resize(out.len() * layer.weights.columns(), 0.0);
                multiply(&inputs, stride, &layer.weights, &layer.biases, &mut outputs);
                self.activation.apply(&mut outputs);
                stride = layer.weights.columns();
                std::mem::swap(&mut inputs, &mut outputs);
            }
            for (score, input) in out.iter_mut().zip(inputs.chunks_exact(stride)) {
                *score = f64::from(last.biases[0]) + dot(&last.weights, input);
            }
            stride = width;
        }
    }

    /// What the network sees of a document, filled up with zeros.
    pub(crate) fn standardise(&self, row: Row<'_>, out: &mut [f32]) {
        let known = match row {
            Row::Dense(values) => values,
            Row::Sparse(..) => &[],
        };
        for (((out, &x), &mean), &factor) in out.iter_mut().zip(known).zip(&self.means).zip(&self.factors) {
            *out = standard(x, mean, factor);
        }
        // Columns that the row does not have are 0.
        let absent = known.len().min(self.width())..self.width();
        let units = self.means[absent.clone()].iter().zip(&self.factors[absent.clone()]);
        for (out, (&mean, &factor)) in out[absent].iter_mut().zip(units) {
            *out = standard(0.0, mean, factor);
        }
        if let Row::Sparse(columns, values) = row {
            for (&c, &x) in columns.iter().zip(values) {
                let c = c as usize;
                out[c] = standard(x, self.means[c], self.factors[c]);
            }
        }
        out[self.width()..].fill(0.0);
    }

    fn packed(&self) -> &[PackedLayer] {
        self.packed.0.get_or_init(|| {
            let hidden = &self.layers[..self.layers.len() - 1];
            hidden.iter().map(PackedLayer::new).collect()
        })
    }

    /// Refuses what no learner could have made.
    fn check(&self) -> Result<()> {
        if self.means.is_empty() {
            return Err(Error::model("the network has no features"));
        }
        if self.factors.len() != self.means.len() {
            return Err(Error::model(format!(
                "the network has {} means and {} factors of its features",
                self.means.len(),
                self.factors.len()
            )));
        }
        if !self.means.iter().chain(&self.factors).all(|x| x.is_finite()) {
            return Err(Error::model("a mean or factor of the network's features is no finite number"));
        }
        let mut inputs = self.width();
        for (number, layer) in (1..).zip(&self.layers) {
            layer.check(inputs).map_err(|e| Error::model(format!("layer {number} of the network {e}")))?;
            inputs = layer.outputs;
        }
        if self.layers.is_empty() || inputs != 1 {
            return Err(Error::model("the network does not end with a layer of one unit"));
        }
        Ok(())
    }
}

impl Layer {
    fn check(&self, inputs: usize) -> std::result::Result<(), String> {
        if self.outputs == 0 || self.biases.len() != self.outputs {
            return Err(format!("has {} biases for {} units", self.biases.len(), self.outputs));
        }
        if self.outputs.checked_mul(inputs) != Some(self.weights.len()) {
            let (weights, outputs) = (self.weights.len(), self.outputs);
            return Err(format!("has {weights} weights for {inputs} inputs of {outputs} units"));
        }
        if !self.weights.iter().chain(&self.biases).all(|x| x.is_finite()) {
            return Err("has a weight or bias that is no finite number".into());
        }
        Ok(())
    }
}

impl PackedLayer {
    fn new(layer: &Layer) -> PackedLayer {
        let (inputs, mut weights) = (layer.weights.len() / layer.outputs, Panels::default());
        weights.fill(inputs, layer.outputs, |k, unit| layer.weights[unit * inputs + k]);
        let mut biases = layer.biases.clone();
        biases.resize(weights.columns(), 0.0);
        PackedLayer { weights, biases }
    }
}

impl Activation {
    /// In place of each sum, what its unit makes of it.
    pub(crate) fn apply(self, sums: &mut [f32]) {
        match self {
            // Not `max`, which would take a missing number for 0 and so hide that a sum was too large.
            Activation::Relu => sums.iter_mut().for_each(|x| *x = if *x < 0.0 { 0.0 } else { *x }),
            Activation::Tanh => sums.iter_mut().for_each(|x| *x = x.tanh()),
        }
    }
}

/// A feature as the network sees it; differences of large numbers are taken in f64.
#[inline]
fn standard(x: f32, mean: f32, factor: f32) -> f32 {
    let value = (f64::from(x) - f64::from(mean)) * f64::from(factor);
    if x.is_nan() { 0.0 } else { value as f32 }
}

/// `Σ w·x` in f64, in sixteen partial sums, so that the compiler can use vectors; their order is fixed.
pub(crate) fn dot(weights: &[f32], values: &[f32]) -> f64 {
    let mut sums = [0.0f64; 16];
    let (weights, rest) = weights.as_chunks::<16>();
    let (values, others) = values.as_chunks::<16>();
    for (w, x) in weights.iter().zip(values) {
        for (sum, (&w, &x)) in sums.iter_mut().zip(w.iter().zip(x)) {
            *sum += f64::from(w) * f64::from(x);
        }
    }
    let others = values.get(weights.len()).map_or(others, |chunk| chunk);
    let rest: f64 = rest.iter().zip(others).map(|(&w, &x)| f64::from(w) * f64::from(x)).sum();
    sums.iter().sum::<f64>() + rest
}

impl fmt::Debug for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packed").field("ready", &self.0.get().is_some()).finish()
    }
}

impl Clone for Packed {
    fn clone(&self) -> Self {
        Packed::default()
    }
}

impl PartialEq for Packed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
