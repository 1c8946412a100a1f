//! What is learned? A few model shapes that give scores, and the file they are kept in.

mod ensemble;
mod file;
pub mod insight;
pub mod interchange;
pub(crate) mod mlp;
mod ordinal;
mod ranker;
mod record;

use crate::data::{Dataset, Query};
use crate::error::{Error, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use ensemble::{Combine, Ensemble};
pub use file::{checksum, read_bytes};
pub use mlp::{Activation, Layer, Mlp};
pub use ranker::{LearnerCard, Ranker};
pub use record::{Outcome, Record};

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
    /// `Σ weights[c]·x[c]`, cut into grades by thresholds.
    Ordinal {
        /// One weight per feature column.
        weights: Vec<f64>,
        /// Where one grade ends and the next begins, in scores, ascending; two equal ones leave a grade out.
        thresholds: Vec<f64>,
        /// The grades, ascending, one more than there are thresholds.
        grades: Vec<f32>,
    },
    /// A sum of trees.
    Ensemble(Ensemble),
    /// A network of units in layers.
    Mlp(Mlp),
}

impl Model {
    /// Number of feature columns it needs.
    pub fn width(&self) -> usize {
        match self {
            Model::Linear { weights, .. } | Model::Ordinal { weights, .. } => weights.len(),
            Model::Ensemble(ensemble) => ensemble.width(),
            Model::Mlp(mlp) => mlp.width(),
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
            Model::Ensemble(ensemble) => ensemble.score_all(data),
            Model::Mlp(mlp) => mlp.score_all(data),
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
            Model::Linear { weights, bias } => {
                query.dot(weights, out);
                out.iter_mut().for_each(|s| *s += bias);
            }
            Model::Ordinal { weights, .. } => query.dot(weights, out),
            Model::Ensemble(ensemble) => ensemble.score(query, out),
            Model::Mlp(mlp) => mlp.score(query, out),
        }
    }
}
