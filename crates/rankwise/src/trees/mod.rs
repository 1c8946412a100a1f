//! How is a tree grown? A histogram engine that fits trees to gradients; it knows no loss.
//!
//! ```text
//! bins → codes of all documents → for each tree: gradients in whole numbers → histograms → splits → leaves
//! ```
//!
//! A tree lowers `Σ_i g_i·f(x_i) + ½ h_i·f(x_i)²`: a leaf with sums G and H has the value `−G/(H + l2)`, and a split gains
//! `G_L²/(H_L + l2) + G_R²/(H_R + l2) − G²/(H + l2)`.

mod binned;
mod bins;
mod gradients;
mod grow;
mod growth;
mod histogram;
mod midpoints;
mod oblivious;
mod partition;
mod sampling;
mod search;
#[cfg(test)]
mod tests;
mod tree;

pub use binned::Binned;
pub use bins::{Coder, FeatureBins, MAX_BINS};
pub use grow::{Grower, Grown};
pub use growth::{Growth, Order};
pub use midpoints::Midpoints;
pub use tree::{Child, Tree};
