//! A neural network as a shape of model.

use super::{Activation, BLOCK, NeuralNetwork, dot, multiply, padded};
use crate::data::{Row, Rows};
use crate::error::{Error, Result};
use crate::models::insight::{Explain, Substitute, value};
use crate::models::interchange::{EngineModel, OnnxGraph, TrialValues};
use crate::models::shape::{ScoreRows, Shape};
use std::collections::BTreeMap;

impl Shape for NeuralNetwork {
    fn width(&self) -> usize {
        self.means.len()
    }

    fn scorer(&self) -> Box<dyn ScoreRows + '_> {
        Box::new(NetworkScorer::new(self))
    }

    fn used_columns(&self) -> Vec<bool> {
        let mut used = vec![false; self.means.len()];
        for unit in self.layers[0].weights.chunks_exact(self.means.len()) {
            used.iter_mut().zip(unit).for_each(|(used, &w)| *used |= w != 0.0);
        }
        used.iter_mut().zip(&self.factors).for_each(|(used, &factor)| *used &= factor != 0.0);
        used
    }

    fn explain(&self) -> Result<Box<dyn Explain + '_>> {
        Err(Error::parameter(
            "the model is a neural network: its scores are not sums over features, so they cannot be explained; \
             feature importance and partial dependence are available for it",
        ))
    }

    fn substitute<'a>(&'a self, columns: &'a [usize]) -> Box<dyn Substitute + 'a> {
        Box::new(Rescore { scorer: NetworkScorer::new(self), columns, rows: Vec::new() })
    }

    fn engine_model(&self) -> Result<EngineModel<'_>> {
        Ok(EngineModel::Network(self))
    }

    fn write_onnx(&self, graph: &mut OnnxGraph, _: &mut Vec<String>) -> Result<()> {
        graph.network(self);
        Ok(())
    }

    /// Some deviations around the mean of every feature.
    fn trial_values(&self) -> TrialValues {
        let mut by_column = BTreeMap::new();
        let standards = self.means.iter().zip(&self.factors).enumerate();
        for (column, (mean, factor)) in standards.filter(|(_, (_, factor))| **factor != 0.0) {
            let around = [-2.0, -1.0, 0.0, 0.5, 3.0].map(|step: f32| mean + step / factor);
            by_column.insert(column, around.into_iter().filter(|x| x.is_finite()).collect());
        }
        TrialValues { common: &[0.0, f32::NAN], by_column, categories: BTreeMap::new() }
    }

    /// The terms of the last layer's sum, where each unit counts by the magnitude of its own sum: a unit's error is a
    /// fraction of that, and is multiplied by the unit's weight.
    fn magnitude(&self, row: &[f32]) -> f64 {
        let standard = |((&x, &mean), &factor): ((&f32, &f32), &f32)| {
            if x.is_nan() { 0.0 } else { (f64::from(x) - f64::from(mean)) * f64::from(factor) }
        };
        let mut values: Vec<f64> = row.iter().zip(&self.means).zip(&self.factors).map(standard).collect();
        let mut sizes: Vec<f64> = values.iter().map(|x| x.abs()).collect();
        let (last, hidden) = self.layers.split_last().expect("a network has layers");
        for layer in hidden {
            let units = || layer.weights.chunks(values.len()).zip(&layer.biases);
            let sum = |(w, b): (&[f32], &f32)| f64::from(*b) + terms(w, &values).sum::<f64>();
            let size =
                |(w, b): (&[f32], &f32)| f64::from(b.abs()) + terms(w, &values).map(f64::abs).sum::<f64>();
            let active = |sum: f64| match self.activation {
                Activation::Relu => sum.max(0.0),
                Activation::Tanh => sum.tanh(),
            };
            (values, sizes) = (units().map(sum).map(active).collect(), units().map(size).collect());
        }
        f64::from(last.biases[0].abs()) + terms(&last.weights, &sizes).map(f64::abs).sum::<f64>()
    }

    /// Less than for other models, since many sums cancel in later layers. Solr standardises features in single
    /// precision, which alone rounds five times, by up to 6e-8 each, where a network has one layer.
    fn single_precision_tolerance(&self) -> f64 {
        6e-7
    }
}

fn terms(weights: &[f32], values: &[f64]) -> impl Iterator<Item = f64> {
    weights.iter().zip(values).map(|(&w, &x)| f64::from(w) * x)
}

/// Scores blocks of documents layer by layer.
pub(super) struct NetworkScorer<'a> {
    network: &'a NeuralNetwork,
    /// What goes into a layer, one row per document, and what comes out of it.
    inputs: Vec<f32>,
    outputs: Vec<f32>,
    /// The widest row of any layer.
    widest: usize,
}

impl<'a> NetworkScorer<'a> {
    pub(super) fn new(network: &'a NeuralNetwork) -> Self {
        let hidden = network.packed().iter().map(|layer| layer.weights.columns());
        let widest = hidden.fold(padded(network.width()), usize::max);
        NetworkScorer { network, inputs: Vec::new(), outputs: Vec::new(), widest }
    }

    /// Scores documents, one for each place in `out`.
    pub(super) fn score_each<'r>(&mut self, mut rows: impl Iterator<Item = Row<'r>>, out: &mut [f64]) {
        let network = self.network;
        let (last, hidden) = (network.layers.last().expect("a network has layers"), network.packed());
        let width = padded(network.width());
        // The buffers change places from layer to layer, so both get room for the widest.
        let room = self.widest * out.len().min(BLOCK);
        for buffer in [&mut self.inputs, &mut self.outputs] {
            buffer.reserve(room.saturating_sub(buffer.len()));
        }
        for out in out.chunks_mut(BLOCK) {
            let mut stride = width;
            self.inputs.resize(out.len() * stride, 0.0);
            for input in self.inputs.chunks_exact_mut(stride) {
                network.standardise(rows.next().expect("a row for each score"), input);
            }
            for layer in hidden {
                self.outputs.resize(out.len() * layer.weights.columns(), 0.0);
                multiply(&self.inputs, stride, &layer.weights, &layer.biases, &mut self.outputs);
                network.activation.apply(&mut self.outputs);
                stride = layer.weights.columns();
                std::mem::swap(&mut self.inputs, &mut self.outputs);
            }
            for (score, input) in out.iter_mut().zip(self.inputs.chunks_exact(stride)) {
                *score = f64::from(last.biases[0]) + dot(&last.weights, input);
            }
        }
    }
}

impl ScoreRows for NetworkScorer<'_> {
    fn score(&mut self, rows: Rows<'_>, out: &mut [f64]) {
        self.score_each(rows.iter(), out);
    }
}

/// Scores a document anew for every candidate.
struct Rescore<'a> {
    scorer: NetworkScorer<'a>,
    columns: &'a [usize],
    rows: Vec<f32>,
}

impl Substitute for Rescore<'_> {
    fn scores(&mut self, row: Row<'_>, candidates: &[f32], out: &mut [f64]) {
        let width = self.scorer.network.width();
        self.rows.clear();
        for values in candidates.chunks_exact(self.columns.len()) {
            let first = self.rows.len();
            self.rows.extend((0..width).map(|column| value(row, column)));
            for (&column, &x) in self.columns.iter().zip(values) {
                self.rows[first + column] = x;
            }
        }
        self.scorer.score_each(self.rows.chunks_exact(width).map(Row::Dense), out);
    }
}
