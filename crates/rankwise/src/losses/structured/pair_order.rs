//! The partial-order feature map φ_po: every good document against every bad one.
//!
//! ```text
//! φ_po = 1/(n⁺n⁻) Σ_{g,b} ±(x_g − x_b) ,      + where g is ahead of b
//! c_g = 2·#(bads ahead of g)/(n⁺n⁻) ,   c_b = −2·#(goods behind b)/(n⁺n⁻)
//! ```

use super::{FeatureMap, is_good};
use crate::rank::Ranking;

/// φ_po, with documents good from `threshold` on.
#[derive(Debug, Clone, Copy)]
pub struct PairOrder {
    /// The least grade of a good document.
    pub threshold: f32,
}

impl FeatureMap for PairOrder {
    fn coefficients(&self, labels: &[f32], ranking: &Ranking, out: &mut [f64]) {
        let good = |&d: &u32| is_good(labels[d as usize], self.threshold);
        let goods = ranking.order().iter().filter(|d| good(d)).count();
        let unit = 2.0 / (goods as f64 * (ranking.len() - goods) as f64);
        let (mut bads_ahead, mut goods_behind) = (0.0, goods as f64);
        for d in ranking.order() {
            if good(d) {
                out[*d as usize] = unit * bads_ahead;
                goods_behind -= 1.0;
            } else {
                out[*d as usize] = -unit * goods_behind;
                bads_ahead += 1.0;
            }
        }
    }
}
