//! Boosted trees: each tree takes a step along the negative gradient of a loss.
//!
//! `boost.rs` is the only loop. A learner gives it a target, which turns scores into gradients. Every
//! [`QueryLoss`] is a target, so boosted trees can minimise any loss.
//!
//! [`QueryLoss`]: crate::losses::QueryLoss

mod boost;
mod checkpoint;
#[cfg(test)]
mod divided;
pub mod gb_rank;
pub mod lambda_mart;
pub mod mart;
pub mod mcrank;
mod parameters;
mod positions;
mod rounds;
mod state;
mod steps;
mod target;
pub mod weak;

pub(super) use boost::{fit_gradients, fit_loss};
pub use checkpoint::Checkpoint;
pub use parameters::TreesParameters;
pub(super) use positions::fit_with_positions;
pub use positions::{LearnedBias, PositionBias};
