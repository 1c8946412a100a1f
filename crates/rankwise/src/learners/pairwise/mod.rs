//! Pairwise losses: the better of two documents should have the higher score, by a margin or with high
//! probability.

pub mod ir_svm;
pub mod lambda_rank;
pub mod rank_net;
pub mod rank_svm;
#[cfg(test)]
mod tests;

use crate::data::Dataset;
use crate::losses::{Scaled, pair_count};

/// A sum over pairs, divided by the mean number of pairs per training query that has any. So one C serves
/// short and long lists, while every pair has the same weight.
fn per_mean_pairs<L>(loss: L, train: &Dataset) -> Scaled<L> {
    let counted = train.queries().map(|q| (q.weight(), pair_count(q.labels())));
    let (pairs, queries) = counted
        .filter(|(_, pairs)| *pairs > 0.0)
        .fold((0.0, 0.0), |(sum, weights), (w, pairs)| (sum + w * pairs, weights + w));
    Scaled { loss, factor: if pairs > 0.0 { queries / pairs } else { 1.0 } }
}
