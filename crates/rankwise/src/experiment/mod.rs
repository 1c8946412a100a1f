//! Folds, grids and tables: comparing systems and telling differences from noise.

pub mod compare;
pub mod export;
pub mod findings;
pub mod significance;
pub mod standing;

pub use compare::{Comparison, Options, System};
