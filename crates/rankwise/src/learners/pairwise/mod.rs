//! Pairwise losses: the better of two documents should have the higher score, by a margin or with high
//! probability.

pub mod ir_svm;
pub mod lambda_rank;
pub mod rank_net;
pub mod rank_svm;
#[cfg(test)]
mod tests;

use super::loss::per_mean_pairs;
use crate::data::Dataset;
use crate::losses::{Scaled, pair_count};

/// A sum over pairs with different labels, divided by their mean number.
fn per_mean_pair_count<L>(loss: L, train: &Dataset) -> Scaled<L> {
    per_mean_pairs(loss, train, pair_count)
}
