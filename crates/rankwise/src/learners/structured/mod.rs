//! Structured SVMs: max-margin losses of whole rankings, each for one metric or several.

pub mod dorm;
pub mod svm_auc;
pub mod svm_combo;
pub mod svm_map;
pub mod svm_mrr;
pub mod svm_ndcg;
#[cfg(test)]
mod tests;
