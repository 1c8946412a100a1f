//! Forests: averages of independently grown trees.

pub mod random_forest;
