//! The hidden utility, which makes a synthetic document relevant.
//!
//! ```text
//! u(z, q) = a₀ tanh z₀ + a₁ tanh z₁ + a₂ z₂         what a linear model can learn
//!         + b₀ min(z₀, z₃) + b₁ z₁ z₄               both must match; one strengthens or reverses the other
//!         − c₀ [z₅ > t]                             a threshold, such as spam
//!         + c₁ exp(−z₆²)                            neither too little nor too much, such as length
//!         + d (z₇ if q₀ > 0 else z₈)                what is relevant depends on the query and shows in its features
//! ```
//! Factor z₉ has no effect: its features only look meaningful.

use super::FACTORS;
use crate::rng;
use rand::RngExt;

/// Purpose of the random stream that draws the coefficients.
const UTILITY: u64 = 0x7574_696c;

pub(super) struct Utility {
    smooth: [f64; 3],
    both: f64,
    product: f64,
    penalty: f64,
    threshold: f64,
    bump: f64,
    by_query: f64,
}

impl Utility {
    pub(super) fn draw(seed: u64) -> Self {
        let mut random = rng::stream(seed, &[UTILITY]);
        let mut between = |low: f64, high: f64| low + (high - low) * random.random::<f64>();
        Utility {
            smooth: [between(0.7, 1.1), between(0.5, 0.9), between(0.2, 0.4)],
            both: between(0.6, 1.0),
            product: between(0.6, 0.9),
            penalty: between(1.0, 1.5),
            threshold: between(0.6, 1.0),
            bump: between(1.2, 1.8),
            by_query: between(0.7, 1.0),
        }
    }

    /// The utility of a document with factors `z` for a query with shift `lean`.
    pub(super) fn of(&self, z: &[f64; FACTORS], lean: &[f64; FACTORS]) -> f64 {
        self.smooth[0] * z[0].tanh()
            + self.smooth[1] * z[1].tanh()
            + self.smooth[2] * z[2]
            + self.both * z[0].min(z[3])
            + self.product * z[1] * z[4]
            - if z[5] > self.threshold { self.penalty } else { 0.0 }
            + self.bump * (-z[6] * z[6]).exp()
            + self.by_query * if lean[0] > 0.0 { z[7] } else { z[8] }
    }
}
