//! RankNet: the logistic loss of pairs (Burges et al., ICML 2005).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q μ Σ_{rᵢ>rⱼ} ln(1 + exp(−w·(xᵢ − xⱼ)))
//! ```
//! With `μ = 1/(mean number of pairs per query)` every pair has the same weight (`sum = "total"`), with
//! `μ = 1/(pairs of the query)` every query has (`"mean"`). Either way one C serves short and long lists.
//!
//! For the paper's neural network, use `scorer = "network"`.

use super::per_mean_pair_count;
use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::{LinearParameters, LossKind, LossLearner};
use crate::losses::{PairLogistic, PairSum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The logistic loss of pairs of documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RankNet {
    /// What has the same weight: every pair (`total`) or every query (`mean`).
    pub sum: PairSum,
}

impl Default for RankNet {
    fn default() -> Self {
        RankNet { sum: PairSum::Total }
    }
}

impl LossLearner for RankNet {
    const CARD: Card = Card {
        name: "rank-net",
        title: "RankNet",
        summary: "Logistic loss of pairs of documents with different labels.",
        citations: &["burges2005ranknet"],
    };

    type Linear = LinearParameters;

    fn linear() -> LinearParameters {
        LinearParameters::smooth(1.0)
    }

    fn loss(&self, train: &Dataset) -> Result<LossKind> {
        let loss = PairLogistic { sum: self.sum };
        Ok(LossKind::Smooth(match self.sum {
            PairSum::Total => Box::new(per_mean_pair_count(loss, train)),
            PairSum::Mean => Box::new(loss),
        }))
    }
}
