//! What is learned? A few model shapes that give scores, and the file they are kept in.

mod file;
pub mod insight;
pub mod interchange;
mod linear;
pub(crate) mod network;
mod ordinal;
mod ranker;
mod record;
mod tree_ensemble;

use crate::data::{Dataset, Query};
use crate::error::{Error, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use file::{checksum, read_bytes};
pub use linear::LinearModel;
pub use network::{Activation, Layer, NeuralNetwork};
pub use ordinal::OrdinalModel;
pub use ranker::{LearnerCard, Ranker};
pub use record::{Outcome, Record};
pub use tree_ensemble::{Combine, TreeEnsemble};

/// Gives one score per document of a query; higher is better.
pub trait Scorer: Send + Sync {
    /// Scores every document of `query` into `out`.
    fn score(&self, query: Query<'_>, out: &mut [f64]);
}

/// A trained model: one of a few shapes, whatever the algorithm that trained it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
#[non_exhaustive]
pub enum Model {
    /// A weighted sum of the features.
    #[serde(rename = "linear")]
    Linear(LinearModel),
    /// A weighted sum of the features, cut into grades by thresholds.
    #[serde(rename = "ordinal")]
    Ordinal(OrdinalModel),
    /// A sum of regression trees.
    #[serde(rename = "ensemble")]
    Trees(TreeEnsemble),
    /// A feed-forward neural network.
    #[serde(rename = "mlp")]
    Network(NeuralNetwork),
}

impl Model {
    /// The linear model `bias + Σ weights[c]·x[c]`.
    pub fn linear(weights: Vec<f64>, bias: f64) -> Model {
        Model::Linear(LinearModel { weights, bias })
    }

    /// Number of feature columns it needs.
    pub fn width(&self) -> usize {
        match self {
            Model::Linear(LinearModel { weights, .. }) | Model::Ordinal(OrdinalModel { weights, .. }) => {
                weights.len()
            }
            Model::Trees(ensemble) => ensemble.width(),
            Model::Network(mlp) => mlp.width(),
        }
    }

    /// One score per document of `data`, in its order; an error where one is not finite, or where the data has
    /// more columns than the model.
    pub fn scores(&self, data: &Dataset) -> Result<Vec<f64>> {
        if data.width() > self.width() {
            return Err(Error::data(format!(
                "the data has {} features, the model only {}",
                data.width(),
                self.width()
            )));
        }
        let scores = match self {
            Model::Trees(ensemble) => ensemble.score_all(data),
            Model::Network(mlp) => mlp.score_all(data),
            _ => self.scores_by_query(data),
        };
        match scores.iter().position(|s| !s.is_finite()) {
            Some(i) => Err(Error::data(format!(
                "the model gives document {} the score {}; its features may be too large",
                i + 1,
                scores[i]
            ))),
            None => Ok(scores),
        }
    }

    fn scores_by_query(&self, data: &Dataset) -> Vec<f64> {
        let by_query: Vec<Vec<f64>> = (0..data.query_count())
            .into_par_iter()
            .map(|q| {
                let query = data.query(q);
                let mut scores = vec![0.0; query.len()];
                self.score(query, &mut scores);
                scores
            })
            .collect();
        by_query.concat()
    }
}

impl Scorer for Model {
    fn score(&self, query: Query<'_>, out: &mut [f64]) {
        match self {
            Model::Linear(LinearModel { weights, bias }) => {
                query.dot(weights, out);
                out.iter_mut().for_each(|s| *s += bias);
            }
            Model::Ordinal(OrdinalModel { weights, .. }) => query.dot(weights, out),
            Model::Trees(ensemble) => ensemble.score(query, out),
            Model::Network(mlp) => mlp.score(query, out),
        }
    }
}
