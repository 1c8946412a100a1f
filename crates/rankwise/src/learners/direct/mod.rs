//! Learners that maximise a metric directly, without a smooth surrogate.

pub mod ada_rank;
mod columns;
pub mod coordinate_ascent;
#[cfg(test)]
mod samples;
mod terrain;
