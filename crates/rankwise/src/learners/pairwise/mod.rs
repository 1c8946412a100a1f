//! Large-margin learners of pairs: a linear model by which the better of two documents leads.

pub mod ir_svm;
pub mod rank_svm;
#[cfg(test)]
mod tests;
