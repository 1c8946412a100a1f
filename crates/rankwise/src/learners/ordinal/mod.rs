//! Ordinal regression: a linear score that thresholds cut into grades, so that the model also predicts a
//! grade.

mod grading;
pub mod oc_svm;
pub mod prank;
#[cfg(test)]
mod tests;
