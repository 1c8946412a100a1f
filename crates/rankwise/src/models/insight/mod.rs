//! Which features does a model use, and how? Feature importance, contributions to single scores, partial dependence.
//!
//! Everything here works on prepared features, aligned and scaled by
//! [`Ranker::prepare`](super::Ranker::prepare).

mod dependence;
mod importance;
mod outline;
mod paths;
mod quadrature;
mod shap;
mod tables;
#[cfg(test)]
mod tests;

use crate::data::Row;

pub use dependence::{Dependence, PartialDependence};
pub use importance::{Drop, Permutation, PermutationImportance, Splits, splits};
pub use outline::{Outline, depth, node_covers, outline};
pub(super) use paths::Forest;
pub(super) use shap::Explain;
pub use shap::Explainer;
pub use tables::{write_contributions, write_dependence};

/// Scores a document with other values in some columns, which were named when it was made.
pub(super) trait Substitute {
    /// Sets one score of the document `row` for each candidate. A candidate is one value for each of the columns;
    /// `candidates` has them one after the other.
    fn scores(&mut self, row: Row<'_>, candidates: &[f32], out: &mut [f64]);
}

/// The value of a document's feature; 0 where the data lacks the column.
pub(super) fn value(row: Row<'_>, column: usize) -> f32 {
    match row {
        Row::Dense(values) => values.get(column).copied().unwrap_or(0.0),
        Row::Sparse(..) => row.get(column),
    }
}
