//! A linear model: a weighted sum of the features.

use serde::{Deserialize, Serialize};

/// `score = bias + Σ weights[c]·x[c]`. A missing value adds 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearModel {
    /// One weight per feature column.
    pub weights: Vec<f64>,
    /// Added to every score.
    pub bias: f64,
}
