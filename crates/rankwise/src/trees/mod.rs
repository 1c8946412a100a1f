//! Tree growing: a histogram engine that fits regression trees to gradients. It is independent of any loss.
//!
//! ```text
//! bins → codes of all documents → for each tree: fixed-point gradients → histograms → splits → leaves
//! ```
//!
//! A tree `f` minimises `Σ_i g_i·f(x_i) + ½ h_i·f(x_i)²`. A leaf with the sums G and H gets the value `−G/(H + l2)`,
//! and a split gains `G_L²/(H_L + l2) + G_R²/(H_R + l2) − G²/(H + l2)`.

mod binned;
mod bins;
mod bundles;
mod categories;
mod divided;
mod gradients;
mod grow;
mod growth;
mod histogram;
mod midpoints;
mod oblivious;
mod partition;
mod prefetch;
mod sampling;
mod search;
#[cfg(test)]
mod tests;
mod tree;

pub use binned::Binned;
pub use bins::{Coder, FeatureBins, MAX_BINS, MAX_WIDE_BINS};
pub use categories::CategorySplits;
pub use grow::{Grower, GrownTree};
pub use growth::{Growth, GrowthPolicy};
pub use midpoints::Midpoints;
pub use tree::{Child, Tree};
