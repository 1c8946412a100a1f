//! Learners that maximise a metric directly, without a smooth surrogate.

pub mod ada_rank;
mod column_sums;
mod columns;
pub mod coordinate_ascent;
#[cfg(test)]
mod samples;
mod terrain;
