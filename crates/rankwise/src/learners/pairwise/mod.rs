//! Pairwise losses: the better of two documents should have the higher score, by a margin or with high
//! probability.

pub mod ir_svm;
pub mod lambda_rank;
pub mod rank_net;
pub mod rank_svm;
#[cfg(test)]
mod tests;
