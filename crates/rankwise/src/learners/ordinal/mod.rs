//! Learners of grades: a linear score, cut into grades by thresholds, so that the model also predicts a grade.

mod grading;
pub mod oc_svm;
pub mod prank;
#[cfg(test)]
mod tests;
