//! Neural networks: any loss, minimised by gradient steps on batches of queries.
//!
//! ```text
//! min_θ Σ_q v_q·ℓ(r_q, f_θ(X_q)) / Σ v ,     f_θ a multilayer perceptron on standardised features
//! ```
//!
//! `train.rs` is the loop, `pass.rs` the forward and backward pass, `steps.rs` the optimizer.

mod parameters;
mod pass;
mod shape;
mod standard;
mod steps;
#[cfg(test)]
mod tests;
mod train;

pub use parameters::{Layers, NetworkParameters, Optimizer, Schedule};
