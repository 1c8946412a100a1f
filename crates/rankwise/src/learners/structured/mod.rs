//! Large-margin learners of whole rankings: a linear model by the structured hinge of a measure.

pub mod dorm;
pub mod svm_auc;
pub mod svm_combo;
pub mod svm_map;
pub mod svm_mrr;
pub mod svm_ndcg;
#[cfg(test)]
mod tests;
