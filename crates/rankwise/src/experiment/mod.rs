//! Folds, grids and tables: comparing systems and telling differences from noise.

pub mod compare;
pub mod findings;
pub mod report;
pub mod significance;

pub use compare::{Comparison, Options, System};
