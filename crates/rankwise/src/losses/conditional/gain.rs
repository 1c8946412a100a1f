//! The loss of a ranking of relevant and non-relevant documents, relative to a perfect one.
//!
//! ```text
//! Δ_AUC  = #(g,b with b ahead of g) / (n⁺n⁻)
//! Δ_MAP  = 1 − (1/n⁺) Σ_i (1+i)/(1+rᵢ)                         rᵢ: the position of relevant document i, from 0
//! Δ_NDCG = 1 − Σ_i D(rᵢ)·[rᵢ < k] / Σ_{i < min(n⁺,k)} D(i)
//! ```

use crate::metrics::Discount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The metric whose loss is measured; the gain of a ranking is at most 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RankingGain {
    /// The fraction of pairs of a relevant and a non-relevant document in the right order.
    Auc,
    /// Average precision.
    Map,
    /// NDCG with gain 1 for relevant and 0 for non-relevant documents.
    #[default]
    Ndcg,
}

/// The loss Δ of rankings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RankingLoss {
    /// The metric.
    pub gain: RankingGain,
    /// The cutoff of NDCG; 0 for none.
    pub k: usize,
    /// The discount of NDCG.
    pub discount: Discount,
}

impl RankingLoss {
    /// The loss for a query with these numbers of relevant and non-relevant documents, at least one each.
    pub fn of(&self, relevant: usize, non_relevant: usize) -> PlaceLoss {
        let discounts: Vec<f64> = match self.gain {
            RankingGain::Ndcg => (0..relevant + non_relevant)
                .map(|place| if self.k == 0 || place < self.k { self.discount.at(place) } else { 0.0 })
                .collect(),
            RankingGain::Auc | RankingGain::Map => Vec::new(),
        };
        let ideal = match self.gain {
            RankingGain::Auc => relevant as f64 * non_relevant as f64,
            RankingGain::Map => relevant as f64,
            RankingGain::Ndcg => discounts[..relevant].iter().sum(),
        };
        PlaceLoss { gain: self.gain, non_relevant, discounts, ideal }
    }
}

/// The loss of rankings for fixed numbers of relevant and non-relevant documents.
#[derive(Debug, Clone, PartialEq)]
pub struct PlaceLoss {
    gain: RankingGain,
    non_relevant: usize,
    /// The discount of each position, for NDCG.
    discounts: Vec<f64>,
    /// The unnormalised gain of the perfect ranking.
    ideal: f64,
}

impl PlaceLoss {
    /// The loss of a ranking, from 0 to 1. `places` tells from the top whether each document is relevant.
    pub fn at(&self, places: impl Iterator<Item = bool>) -> f64 {
        let relevant = places.enumerate().filter(|(_, is_relevant)| *is_relevant).map(|(place, _)| place);
        let gained: f64 = match self.gain {
            RankingGain::Auc => {
                relevant.enumerate().map(|(i, place)| (self.non_relevant - (place - i)) as f64).sum()
            }
            RankingGain::Map => {
                relevant.enumerate().map(|(i, place)| (i + 1) as f64 / (place + 1) as f64).sum()
            }
            RankingGain::Ndcg => relevant.map(|place| self.discounts[place]).sum(),
        };
        (1.0 - gained / self.ideal).max(0.0)
    }
}
