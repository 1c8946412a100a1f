//! What is learned? A few shapes of model that score documents, and the file that a trained model is saved in.

mod file;
pub mod insight;
pub mod interchange;
mod linear;
pub(crate) mod network;
mod ordinal;
mod ranker;
mod record;
mod row_scorer;
mod shape;
mod tree_ensemble;

use crate::data::{Dataset, Query, Rows};
use crate::error::{Error, Result};
use crate::parallel;
use serde::{Deserialize, Serialize};

pub use file::{checksum, read_bytes};
pub use linear::LinearModel;
pub use network::{Activation, Layer, NeuralNetwork};
pub use ordinal::OrdinalModel;
pub use ranker::{LearnerCard, Numbering, Provenance, Ranker};
pub use record::{Outcome, Record};
pub use row_scorer::RowScorer;
pub use tree_ensemble::{Combine, TreeEnsemble};

/// Documents that one task scores; the same for any number of threads.
const CHUNK: usize = 1024;

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
        self.shape().width()
    }

    /// One score per document of `data`, in its order. Fails if a score is not finite, or if the data has more
    /// columns than the model. Columns that the data lacks are 0.
    pub fn scores(&self, data: &Dataset) -> Result<Vec<f64>> {
        let mut scores = vec![0.0; data.len()];
        self.score_rows(data.rows(), &mut scores)?;
        Ok(scores)
    }

    /// Sets one score per row. Fails if a score is not finite, or if the rows have more columns than the model.
    /// Columns that the rows lack are 0.
    pub fn score_rows(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.check_width(rows.width())?;
        check_room(rows, out)?;
        let shape = self.shape();
        shape.prepare(rows.len());
        if rows.len() <= CHUNK {
            shape.scorer().score(rows, out);
        } else {
            parallel::for_each(out.chunks_mut(CHUNK).enumerate(), |(i, out)| {
                let start = i * CHUNK;
                shape.scorer().score(rows.slice(start..start + out.len()), out);
            });
        }
        check_finite(out)
    }

    /// Sets one score per document of a query, which may not be finite.
    pub(crate) fn score_query(&self, query: Query<'_>, out: &mut [f64]) {
        self.shape().scorer().score(query.data().rows().slice(query.range()), out);
    }

    /// The grade that it predicts for each document of `data`, in its order. Fails if the model has no thresholds, or
    /// if the data cannot be scored.
    pub fn grades(&self, data: &Dataset) -> Result<Vec<f32>> {
        self.grades_of(&self.scores(data)?)
    }

    /// The grades that it predicts for documents with these scores.
    fn grades_of(&self, scores: &[f64]) -> Result<Vec<f32>> {
        let Some((thresholds, grades)) = self.shape().thresholds() else {
            return Err(Error::data(
                "the model gives scores and predicts no grades; learners such as oc-svm and prank train models that \
                 predict grades",
            ));
        };
        // min{r : s < b_r}: the number of thresholds that are not above the score.
        let place = |score: &f64| thresholds.partition_point(|b| b <= score);
        Ok(scores.iter().map(|score| grades[place(score)]).collect())
    }

    /// Rejects data with columns that the model does not have.
    fn check_width(&self, width: usize) -> Result<()> {
        match width > self.width() {
            true => {
                Err(Error::data(format!("the data has {width} features, the model only {}", self.width())))
            }
            false => Ok(()),
        }
    }
}

fn check_room(rows: Rows<'_>, out: &[f64]) -> Result<()> {
    match rows.len() == out.len() {
        true => Ok(()),
        false => Err(Error::data(format!("{} rows cannot be scored into {} places", rows.len(), out.len()))),
    }
}

fn check_finite(scores: &[f64]) -> Result<()> {
    match scores.iter().position(|s| !s.is_finite()) {
        Some(i) => Err(Error::data(format!(
            "the model gives document {} the score {}; its features may be too large",
            i + 1,
            scores[i]
        ))),
        None => Ok(()),
    }
}
