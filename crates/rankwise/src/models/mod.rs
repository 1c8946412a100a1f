//! What is learned? A few model shapes that give scores, and the file they are kept in.

use crate::data::Query;
use serde::{Deserialize, Serialize};

/// Gives one score per document of a query; higher is better.
pub trait Scorer: Send + Sync {
    /// Scores every document of `query` into `out`.
    fn score(&self, query: Query<'_>, out: &mut [f64]);
}

/// What a learner can learn. Closed: a new algorithm uses one of these shapes and so never touches save and load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Model {
    /// `bias + Σ weights[c]·x[c]`.
    Linear {
        /// One weight per feature column.
        weights: Vec<f64>,
        /// Added to every score.
        bias: f64,
    },
}

impl Model {
    /// Number of feature columns it needs.
    pub fn width(&self) -> usize {
        match self {
            Model::Linear { weights, .. } => weights.len(),
        }
    }
}

impl Scorer for Model {
    fn score(&self, query: Query<'_>, out: &mut [f64]) {
        match self {
            Model::Linear { weights, bias } => {
                query.dot(weights, out);
                out.iter_mut().for_each(|s| *s += bias);
            }
        }
    }
}
