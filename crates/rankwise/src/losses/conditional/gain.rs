//! What a ranking of goods and bads loses against a perfect one.
//!
//! ```text
//! Δ_AUC  = #(g,b with b ahead of g) / (n⁺n⁻)
//! Δ_MAP  = 1 − (1/n⁺) Σ_i (1+i)/(1+rᵢ)                         rᵢ: the place of good number i, from 0
//! Δ_NDCG = 1 − Σ_i D(rᵢ)·[rᵢ < k] / Σ_{i < min(n⁺,k)} D(i)
//! ```

use crate::metrics::Discount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is gained by a ranking, up to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Gain {
    /// The share of pairs of a good and a bad document in order.
    Auc,
    /// Average precision.
    Map,
    /// NDCG with goods worth 1 and bads 0.
    #[default]
    Ndcg,
}

/// What rankings lose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RankingLoss {
    /// What they would gain.
    pub gain: Gain,
    /// Places that count in the NDCG; 0 for all.
    pub k: usize,
    /// What a place is worth in the NDCG.
    pub discount: Discount,
}

impl RankingLoss {
    /// The loss of rankings of so many goods and bads, at least one each.
    pub fn of(&self, goods: usize, bads: usize) -> PlaceLoss {
        let worth: Vec<f64> = match self.gain {
            Gain::Ndcg => (0..goods + bads)
                .map(|place| if self.k == 0 || place < self.k { self.discount.at(place) } else { 0.0 })
                .collect(),
            Gain::Auc | Gain::Map => Vec::new(),
        };
        let most = match self.gain {
            Gain::Auc => goods as f64 * bads as f64,
            Gain::Map => goods as f64,
            Gain::Ndcg => worth[..goods].iter().sum(),
        };
        PlaceLoss { gain: self.gain, bads, worth, most }
    }
}

/// The loss of rankings of a certain number of goods and bads.
#[derive(Debug, Clone, PartialEq)]
pub struct PlaceLoss {
    gain: Gain,
    bads: usize,
    /// What each place is worth in the NDCG.
    worth: Vec<f64>,
    /// What the perfect ranking gains, before that is made 1.
    most: f64,
}

impl PlaceLoss {
    /// What is lost by a ranking that has goods at these places, from the top: 0 to 1.
    pub fn at(&self, places: impl Iterator<Item = bool>) -> f64 {
        let goods = places.enumerate().filter(|(_, good)| *good).map(|(place, _)| place);
        let gained: f64 = match self.gain {
            Gain::Auc => goods.enumerate().map(|(i, place)| (self.bads - (place - i)) as f64).sum(),
            Gain::Map => goods.enumerate().map(|(i, place)| (i + 1) as f64 / (place + 1) as f64).sum(),
            Gain::Ndcg => goods.map(|place| self.worth[place]).sum(),
        };
        (1.0 - gained / self.most).max(0.0)
    }
}
