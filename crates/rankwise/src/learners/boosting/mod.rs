//! Boosted trees: each tree takes a step down the gradient of a loss of scores.
//!
//! `boost.rs` is the one loop. A learner gives it a target, which turns scores into gradients; every [`QueryLoss`] is
//! one, so any loss in the project can be learned by trees.
//!
//! [`QueryLoss`]: crate::losses::QueryLoss

mod boost;
mod checkpoint;
pub mod gb_rank;
pub mod lambda_mart;
pub mod mart;
pub mod mcrank;
mod parameters;
mod rounds;
mod state;
mod steps;
mod target;
pub mod weak;

pub(super) use boost::fit_loss;
pub use checkpoint::Checkpoint;
pub use parameters::TreesParameters;
