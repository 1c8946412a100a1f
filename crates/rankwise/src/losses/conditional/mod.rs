//! Conditional models of whole rankings (Dubey, Machchhar, Bhattacharyya and Chakrabarti, ICDM 2009).
//!
//! ```text
//! Pr(y) ∝ exp(−w·δφ(y)) ,    δφ(y) = φ(y*) − φ(y) ,    φ(y) = κ Σ_gb y_gb·(x_g − x_b)
//! w·δφ(y) = 2κ [ Σ_g #(bads ahead of g)·s_g − Σ_b #(goods behind b)·s_b ]
//! ```
//!
//! `y*` is perfect, `y_gb` is 1 where good `g` is ahead of bad `b` and −1 where not. A [`Form`] says what is made of
//! this law: [`ExactAuc`] in closed form for AUC, else over rankings that a [`Sampler`] draws once or a [`Chain`] from
//! the law itself.

mod chain;
mod exact;
mod form;
mod gain;
mod sampler;
mod states;
mod walk;
mod weights;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use chain::Chain;
pub use exact::ExactAuc;
pub(super) use exact::{CONVEX_LOSS, EXP_GAIN, L2, L3, MLE};
pub use form::Form;
pub use gain::{Gain, PlaceLoss, RankingLoss};
pub use sampler::{Restarts, Sampler};
pub use states::{Sample, State};

/// κ: how much a pair counts in the feature map.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kappa {
    /// 1, so a query counts more the more pairs it has.
    #[default]
    One,
    /// 1/(n⁺n⁻): the pairs of a query count 1 together.
    Pairs,
}

impl Kappa {
    /// Its value for a query of so many goods and bads.
    pub fn of(self, goods: usize, bads: usize) -> f64 {
        match self {
            Kappa::One => 1.0,
            Kappa::Pairs => 1.0 / (goods as f64 * bads as f64),
        }
    }
}
