//! Learners that climb a measure itself, with no smooth stand-in.

pub mod coordinate_ascent;
