//! Learners of pairs: a model by which the better of two documents leads, by a margin or in all likelihood.

pub mod ir_svm;
pub mod lambda_rank;
pub mod rank_net;
pub mod rank_svm;
#[cfg(test)]
mod tests;
