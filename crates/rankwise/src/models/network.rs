//! A feed-forward neural network: layers of units, each a weighted sum of the layer before.
//!
//! ```text
//! h₀ = (x − mean)·factor, 0 where x is missing;   h_l = a(W_l·h_{l−1} + b_l);   score = w·h_L + b
//! ```

mod products;
mod shape;
#[cfg(test)]
mod tests;

use crate::data::Row;
use crate::error::{Error, Result};
pub(crate) use products::{Panels, add_transposed, multiply, padded};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::OnceLock;

/// Documents that pass a layer together, so that they are still in the cache for the next layer.
const BLOCK: usize = 96;

/// The function that a unit applies to its weighted sum.
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

/// Units that are connected to all units of the layer before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// Number of units.
    pub outputs: usize,
    /// One row per unit, with a weight for each input.
    pub weights: Vec<f32>,
    /// One bias per unit.
    pub biases: Vec<f32>,
}

/// A neural network with the standardisation of its features. It is checked when it is made or read, and never changes.
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

/// The hidden layers as matrix products need them, made on demand. They are derived from the network, so they are not
/// compared or copied.
#[derive(Default)]
struct Packed(OnceLock<Vec<PackedLayer>>);

struct PackedLayer {
    weights: Panels,
    biases: Vec<f32>,
}

/// A network as it is in a file, before it is checked.
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
    /// A network whose inputs are `(x − mean)·factor` of every feature; an error if the parts do not fit together. The
    /// last layer has one unit, whose sum is the score.
    pub fn new(
        means: Vec<f32>,
        factors: Vec<f32>,
        activation: Activation,
        layers: Vec<Layer>,
    ) -> Result<NeuralNetwork> {
        let network = NeuralNetwork { means, factors, activation, layers, packed: Packed::default() };
        network.check()?;
        Ok(network)
    }

    /// Number of feature columns.
    pub fn width(&self) -> usize {
        self.means.len()
    }

    /// What is subtracted from each feature.
    pub fn means(&self) -> &[f32] {
        &self.means
    }

    /// What each centred feature is multiplied by.
    pub fn factors(&self) -> &[f32] {
        &self.factors
    }

    /// The activation of all layers but the last.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// The layers, from the features to the score.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Sets the standardised features of a document, followed by zeros.
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

    /// Rejects a network that no learner could have trained.
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
            return Err(Error::model("a mean or factor of the network's features is not finite"));
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
            return Err("has a weight or bias that is not finite".into());
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
    /// Applies the function to each sum, in place.
    pub(crate) fn apply(self, sums: &mut [f32]) {
        match self {
            // Not `max`, which would turn NaN into 0 and so hide that a sum overflowed.
            Activation::Relu => sums.iter_mut().for_each(|x| *x = if *x < 0.0 { 0.0 } else { *x }),
            Activation::Tanh => sums.iter_mut().for_each(|x| *x = x.tanh()),
        }
    }
}

/// A standardised feature. The difference is taken in f64, since it may be one of large numbers.
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
    for chunk in 0..weights.len().min(values.len()) {
        for lane in 0..16 {
            sums[lane] += f64::from(weights[chunk][lane]) * f64::from(values[chunk][lane]);
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
