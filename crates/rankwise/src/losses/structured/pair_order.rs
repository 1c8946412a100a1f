//! The partial-order feature map φ_po, which compares every relevant document with every non-relevant one.
//!
//! ```text
//! φ_po = 1/(n⁺n⁻) Σ_{g,b} ±(x_g − x_b) ,      + if g is ahead of b
//! c_g = 2·#(non-relevant ahead of g)/(n⁺n⁻) ,   c_b = −2·#(relevant behind b)/(n⁺n⁻)
//! ```

use super::{FeatureMap, is_relevant};
use crate::rank::Ranking;

/// The feature map φ_po; documents are relevant from `threshold` up.
#[derive(Debug, Clone, Copy)]
pub struct PairOrder {
    /// The minimum label of a relevant document.
    pub threshold: f32,
}

impl FeatureMap for PairOrder {
    fn coefficients(&self, labels: &[f32], ranking: &Ranking, out: &mut [f64]) {
        let is_relevant = |&d: &u32| is_relevant(labels[d as usize], self.threshold);
        let relevant = ranking.order().iter().filter(|d| is_relevant(d)).count();
        let unit = 2.0 / (relevant as f64 * (ranking.len() - relevant) as f64);
        let (mut non_relevant_ahead, mut relevant_behind) = (0.0, relevant as f64);
        for d in ranking.order() {
            if is_relevant(d) {
                out[*d as usize] = unit * non_relevant_ahead;
                relevant_behind -= 1.0;
            } else {
                out[*d as usize] = -unit * relevant_behind;
                non_relevant_ahead += 1.0;
            }
        }
    }
}
