//! How good is an order? Measures, their conventions and presets, and evaluation over a data set.

use crate::rank::Ranking;

/// A measure of one query's ranking; greater is better.
pub trait Metric: Send + Sync {
    /// Its name as a user would type it: `ndcg@10`.
    fn name(&self) -> String;

    /// The value for one query, or `None` where its conventions skip the query.
    ///
    /// `labels` are the grades of all documents, NaN where a document is unjudged; `ranking` orders those that
    /// were retrieved.
    fn value(&self, labels: &[f32], ranking: &Ranking) -> Option<f64>;
}
