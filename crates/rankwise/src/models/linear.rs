//! A linear model: a weighted sum of the features.

use super::insight::{Explain, Substitute, value};
use super::interchange::{EngineModel, OnnxGraph, TrialValues};
use super::shape::{ScoreRows, Shape};
use crate::data::{Row, Rows};
use crate::error::Result;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `score = bias + Σ weights[c]·x[c]`. A missing value adds 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearModel {
    /// One weight per feature column.
    pub weights: Vec<f64>,
    /// Added to every score.
    pub bias: f64,
}

impl Shape for LinearModel {
    fn width(&self) -> usize {
        self.weights.len()
    }

    fn scorer(&self) -> Box<dyn ScoreRows + '_> {
        Box::new(self)
    }

    fn used_columns(&self) -> Vec<bool> {
        used_columns(&self.weights)
    }

    fn explain(&self) -> Result<Box<dyn Explain + '_>> {
        Ok(Box::new(WeightedSum { weights: &self.weights, bias: self.bias }))
    }

    fn substitute<'a>(&'a self, columns: &'a [usize]) -> Box<dyn Substitute + 'a> {
        Box::new(WeightChange { weights: &self.weights, bias: self.bias, columns })
    }

    fn engine_model(&self) -> Result<EngineModel<'_>> {
        Ok(EngineModel::Linear { weights: &self.weights, bias: self.bias })
    }

    fn write_onnx(&self, graph: &mut OnnxGraph, notes: &mut Vec<String>) -> Result<()> {
        graph.linear(&self.weights, self.bias, notes)
    }

    fn trial_values(&self) -> TrialValues {
        trial_values()
    }

    fn magnitude(&self, row: &[f32]) -> f64 {
        self.bias.abs() + magnitude(&self.weights, row)
    }
}

impl ScoreRows for &LinearModel {
    fn score(&mut self, rows: Rows<'_>, out: &mut [f64]) {
        // Only the columns that the data has, so that dense and sparse rows are summed in the same order.
        let weights = &self.weights[..rows.width().min(self.weights.len())];
        for (score, row) in out.iter_mut().zip(rows.iter()) {
            *score = row.dot(weights) + self.bias;
        }
    }
}

/// For each column, whether its weight is not 0.
pub(super) fn used_columns(weights: &[f64]) -> Vec<bool> {
    weights.iter().map(|&w| w != 0.0).collect()
}

/// `Σ |w[c]·x[c]|`.
pub(super) fn magnitude(weights: &[f64], row: &[f32]) -> f64 {
    weights.iter().zip(row).map(|(w, &x)| (w * known(x)).abs()).sum()
}

/// Values of several magnitudes, for every feature.
pub(super) fn trial_values() -> TrialValues {
    let common = &[0.0, f32::NAN, 1.0, -1.0, 0.5, 1e-6, 3.25, -17.5, 0.1, 1e4];
    TrialValues { common, by_column: BTreeMap::new(), categories: BTreeMap::new() }
}

/// A missing value counts as 0.
fn known(x: f32) -> f64 {
    if x.is_nan() { 0.0 } else { f64::from(x) }
}

/// Contributions `w[c]·x[c]`, beside the bias.
pub(super) struct WeightedSum<'a> {
    pub(super) weights: &'a [f64],
    pub(super) bias: f64,
}

impl Explain for WeightedSum<'_> {
    fn base(&self) -> f64 {
        self.bias
    }

    fn base_name(&self) -> &'static str {
        "bias"
    }

    fn explain(&self, rows: &[Row<'_>], out: &mut [Vec<f64>]) {
        for (row, out) in rows.iter().zip(out) {
            for (column, x) in row.iter().filter(|(_, x)| !x.is_nan()) {
                out[column] = self.weights[column] * f64::from(x);
            }
        }
    }
}

/// Adds to a document's score what the changed values change.
pub(super) struct WeightChange<'a> {
    pub(super) weights: &'a [f64],
    pub(super) bias: f64,
    pub(super) columns: &'a [usize],
}

impl Substitute for WeightChange<'_> {
    fn scores(&mut self, row: Row<'_>, candidates: &[f32], out: &mut [f64]) {
        let score = row.dot(self.weights) + self.bias;
        for (out, values) in out.iter_mut().zip(candidates.chunks_exact(self.columns.len())) {
            let change = |(&c, &x): (&usize, &f32)| self.weights[c] * (known(x) - known(value(row, c)));
            *out = score + self.columns.iter().zip(values).map(change).sum::<f64>();
        }
    }
}
