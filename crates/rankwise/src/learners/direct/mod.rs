//! Learners that climb a measure itself, with no smooth stand-in.

pub mod ada_rank;
mod columns;
pub mod coordinate_ascent;
#[cfg(test)]
mod samples;
mod terrain;
