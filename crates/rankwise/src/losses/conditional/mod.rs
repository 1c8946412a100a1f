//! Conditional models of whole rankings (Dubey, Machchhar, Bhattacharyya and Chakrabarti, ICDM 2009).
//!
//! ```text
//! Pr(y) ∝ exp(−w·δφ(y)) ,    δφ(y) = φ(y*) − φ(y) ,    φ(y) = κ Σ_gb y_gb·(x_g − x_b)
//! w·δφ(y) = 2κ [ Σ_g #(non-relevant ahead of g)·s_g − Σ_b #(relevant behind b)·s_b ]
//! ```
//!
//! `y*` is perfect, and `y_gb` is 1 if the relevant document `g` is ahead of the non-relevant document `b`, otherwise
//! −1. A [`ConditionalObjective`] turns this distribution over rankings into an objective: [`ExactAuc`] computes it
//! in closed form for AUC. For other metrics it is estimated from rankings that a [`RankingSampler`] draws once, or
//! that a [`GibbsSampler`] draws from the distribution itself.

mod chain;
mod exact;
mod gain;
mod objective;
mod sampler;
mod states;
mod walk;
mod weights;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use chain::GibbsSampler;
pub use exact::ExactAuc;
pub(super) use exact::{CONVEX_LOSS, EXP_GAIN, L2, L3, MLE};
pub use gain::{PlaceLoss, RankingGain, RankingLoss};
pub use objective::ConditionalObjective;
pub use sampler::{RankingSampler, Restarts};
pub use states::{RankingSample, RankingState};

/// κ: the weight of a pair in the feature map.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kappa {
    /// 1, so queries with more pairs count more.
    #[default]
    One,
    /// 1/(n⁺n⁻): the pairs of a query have total weight 1.
    Pairs,
}

impl Kappa {
    /// The value of κ for a query with these numbers of relevant and non-relevant documents.
    pub fn of(self, relevant: usize, non_relevant: usize) -> f64 {
        match self {
            Kappa::One => 1.0,
            Kappa::Pairs => 1.0 / (relevant as f64 * non_relevant as f64),
        }
    }
}
