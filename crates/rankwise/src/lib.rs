//! Rankwise: learn to order documents, products or answers from judged examples, measure rankings honestly, and
//! ship the models.
//!
//! The rooms, each importing only from those before it:
//! [`data`] → [`metrics`] → [`labels`] → [`losses`] → [`solvers`] → [`clicks`] → [`trees`] → [`models`] → [`learners`] → [`recipe`] → [`distributed`] → [`experiment`].

pub mod card;
pub mod clicks;
pub mod data;
pub mod distributed;
pub mod error;
mod exchange;
pub mod experiment;
pub mod labels;
pub mod learners;
pub mod losses;
pub mod metrics;
pub mod models;
mod parallel;
mod pieces;
pub mod rank;
pub mod recipe;
pub mod rng;
pub mod significance;
pub mod solvers;
mod sums;
pub mod trees;
pub mod watch;

pub use error::{Error, ErrorKind, Result};
pub use recipe::Recipe;

/// The examples of README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
