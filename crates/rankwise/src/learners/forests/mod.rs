//! Forests: trees that do not see each other, averaged.

pub mod random_forest;
