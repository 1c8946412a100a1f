//! Max-margin losses for queries with many perfect rankings.

pub mod max_max;
pub mod min_perturb;
#[cfg(test)]
mod tests;
pub mod tie_random;
mod version;

pub use version::Version;
