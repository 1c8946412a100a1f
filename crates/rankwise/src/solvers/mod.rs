//! Who minimises? Solvers that know matrices and vectors, and nothing of rankings.

mod conjugate_gradient;
mod least_squares;
mod moments;

pub use conjugate_gradient::conjugate_gradient;
pub use least_squares::{RidgeFit, ridge};
