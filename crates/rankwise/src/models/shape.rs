//! What every shape of model can do. Each shape implements it in its own file, and [`Model::shape`] lists them.

use super::insight::{Explain, Splits, Substitute};
use super::interchange::{EngineModel, OnnxGraph, TrialValues};
use super::{Model, TreeEnsemble};
use crate::data::Rows;
use crate::error::{Error, Result};

/// A shape of model: how it scores, what can be said about it, and where it can be exported to.
///
/// A new shape needs a file with this trait, a variant of [`Model`] and a line in [`Model::shape`].
pub(super) trait Shape: Send + Sync {
    /// Number of feature columns.
    fn width(&self) -> usize;

    /// Rejects a model that no learner could have trained.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Prepares for scoring this number of rows.
    fn prepare(&self, _rows: usize) {}

    /// A scorer with buffers of its own. A row's score is the same bits whichever rows are scored with it.
    fn scorer(&self) -> Box<dyn ScoreRows + '_>;

    /// The thresholds that cut scores into grades, and the grades, which are one more.
    fn thresholds(&self) -> Option<(&[f64], &[f32])> {
        None
    }

    /// For each column, whether scores can depend on it.
    fn used_columns(&self) -> Vec<bool>;

    /// How often trees test each column, and what that gained in training.
    fn splits(&self) -> Option<Vec<Splits>> {
        None
    }

    /// What computes the contributions of single features to a score.
    fn explain(&self) -> Result<Box<dyn Explain + '_>> {
        Err(Error::parameter(
            "the scores of this kind of model are not sums over features, so they cannot be explained; feature \
             importance and partial dependence are available for it",
        ))
    }

    /// What scores documents with other values in `columns`.
    fn substitute<'a>(&'a self, columns: &'a [usize]) -> Box<dyn Substitute + 'a>;

    /// The model as search engines have it.
    fn engine_model(&self) -> Result<EngineModel<'_>> {
        Err(Error::model(
            "this format holds weights or sums of trees, and the model has neither; export it to ONNX instead",
        ))
    }

    /// The model as a sum of trees, which is what tree libraries have.
    fn sum_of_trees(&self) -> Result<&TreeEnsemble> {
        Err(Error::model("the model has no trees, and this format holds only sums of trees"))
    }

    /// Adds the model to an ONNX graph, from its features to its score.
    fn write_onnx(&self, graph: &mut OnnxGraph, notes: &mut Vec<String>) -> Result<()>;

    /// Feature values that put an exported model to the test.
    fn trial_values(&self) -> TrialValues;

    /// The sum of the magnitudes that a row's score is added up from, which bounds its rounding error.
    fn magnitude(&self, row: &[f32]) -> f64;

    /// The error allowed to a score in single precision, as a fraction of its magnitude.
    fn single_precision_tolerance(&self) -> f64 {
        1e-5
    }
}

/// Scores rows, reusing its buffers from one call to the next.
pub(super) trait ScoreRows: Send {
    /// Sets one score per row.
    fn score(&mut self, rows: Rows<'_>, out: &mut [f64]);
}

impl Model {
    /// The one place that lists all shapes.
    pub(super) fn shape(&self) -> &dyn Shape {
        match self {
            Model::Linear(model) => model,
            Model::Ordinal(model) => model,
            Model::Trees(model) => model,
            Model::Network(model) => model,
        }
    }
}
