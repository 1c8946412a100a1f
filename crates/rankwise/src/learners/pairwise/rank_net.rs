//! RankNet: the logistic loss of pairs (Burges et al., ICML 2005).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q μ Σ_{rᵢ>rⱼ} ln(1 + exp(−w·(xᵢ − xⱼ)))
//! ```
//! For the paper's neural network, use `scorer = "network"`.

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
    /// Weight of the pairs of a query: `total` (1 each) or `mean` (1 in total).
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
        LinearParameters::smooth(1e-3)
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        Ok(LossKind::Smooth(Box::new(PairLogistic { sum: self.sum })))
    }
}
