//! Cross-entropy NDCG: a convex bound on NDCG (Bruch, WWW 2021).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q −Σᵢ tᵢ ln pᵢ ,      t ∝ 2^r − γ ,  γ uniform in [0, 1) ,  p ∝ exp(Xw)
//! ```
//! Linear models draw γ once per query, so that there is one objective; trees draw it again in every
//! iteration.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::{LinearParameters, LossKind, LossLearner};
use crate::losses::listwise as losses;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Cross-entropy with randomly perturbed gains.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct XeNdcg {}

impl LossLearner for XeNdcg {
    const CARD: Card = Card {
        name: "xe-ndcg",
        title: "Cross-entropy NDCG",
        summary: "Cross-entropy of the top-one probabilities with randomly perturbed gains: a convex bound \
                  on NDCG.",
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
