//! Cross-entropy NDCG: a linear model by a convex bound of NDCG (Bruch, WWW 2021).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q −Σᵢ tᵢ ln pᵢ ,      t ∝ 2^r − γ ,  γ uniform in [0, 1) ,  p ∝ exp(Xw)
//! ```
//! γ is drawn once for each query, so that there is one objective; trees draw it anew in every round.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::{LinearParameters, LossKind, LossLearner};
use crate::losses::listwise as losses;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ranker by cross-entropy towards blurred gains.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct XeNdcg {}

impl LossLearner for XeNdcg {
    const CARD: Card = Card {
        name: "xe-ndcg",
        title: "Cross-entropy NDCG",
        summary: "Cross-entropy of which document comes first with its share of the gains: a convex bound of NDCG.",
        citations: &["bruch2021alternative"],
    };

    type Linear = LinearParameters;

    fn linear() -> LinearParameters {
        LinearParameters::smooth(10.0)
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        Ok(LossKind::Smooth(Box::new(losses::XeNdcg)))
    }
}
