//! What does a model go by? Importance of features, contributions to single scores, and partial dependence.
//!
//! All of it looks at the features as the model sees them: aligned and scaled, as
//! [`Ranker::prepare`](super::Ranker::prepare) gives them.

mod dependence;
mod importance;
mod outline;
mod paths;
mod quadrature;
mod shap;
mod substitution;
mod tables;
#[cfg(test)]
mod tests;

use super::{LinearModel, Model, OrdinalModel};
use crate::data::{Dataset, Row};
use crate::error::{Error, Result};

pub use dependence::{Dependence, PartialDependence};
pub use importance::{Drop, Permutation, PermutationImportance, Splits, splits};
pub use outline::{Outline, depth, node_covers, outline};
pub use shap::Explainer;
pub use tables::{write_contributions, write_dependence};

/// For each column, whether the model's scores can depend on it.
fn used_columns(model: &Model) -> Vec<bool> {
    match model {
        Model::Linear(LinearModel { weights, .. }) | Model::Ordinal(OrdinalModel { weights, .. }) => {
            weights.iter().map(|&w| w != 0.0).collect()
        }
        Model::Trees(ensemble) => {
            let mut used = vec![false; model.width()];
            for &feature in ensemble.trees().iter().flat_map(|tree| &tree.features) {
                used[feature as usize] = true;
            }
            used
        }
        Model::Network(mlp) => {
            let units = mlp.layers()[0].weights.chunks_exact(mlp.width());
            let mut used = vec![false; mlp.width()];
            units.for_each(|unit| used.iter_mut().zip(unit).for_each(|(used, &w)| *used |= w != 0.0));
            used.iter_mut().zip(mlp.factors()).for_each(|(used, &factor)| *used &= factor != 0.0);
            used
        }
    }
}

/// Refuses data with columns that the model does not know.
fn check_width(model: &Model, data: &Dataset) -> Result<()> {
    if data.width() > model.width() {
        return Err(Error::data(format!(
            "the data has {} features, the model only {}",
            data.width(),
            model.width()
        )));
    }
    Ok(())
}

/// The value of a document's feature; 0 where the data lacks the column.
fn value(row: Row<'_>, column: usize) -> f32 {
    match row {
        Row::Dense(values) => values.get(column).copied().unwrap_or(0.0),
        Row::Sparse(..) => row.get(column),
    }
}
