//! Smooth listwise losses: each is computed on the whole list of a query.

pub mod approx_ndcg;
pub mod boltz_rank;
pub mod lambda_loss;
pub mod list_mle;
pub mod list_net;
pub mod rank_cosine;
pub mod soft_rank;
#[cfg(test)]
mod tests;
pub mod xe_ndcg;
