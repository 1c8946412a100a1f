//! ListNet: cross-entropy of the top-one probabilities (Cao, Qin, Liu, Tsai and Li, ICML 2007).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q −Σᵢ tᵢ ln pᵢ ,      t ∝ exp(r) ,  p ∝ exp(Xw)
//! ```

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::{LinearParameters, LossKind, LossLearner};
use crate::losses::listwise as losses;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Cross-entropy of the document that is ranked first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListNet {}

impl LossLearner for ListNet {
    const CARD: Card = Card {
        name: "list-net",
        title: "ListNet",
        summary: "Cross-entropy between the top-one probabilities given by the labels and by the scores.",
        citations: &["cao2007learning"],
    };

    type Linear = LinearParameters;

    fn linear() -> LinearParameters {
        LinearParameters::smooth(1.0)
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        Ok(LossKind::Smooth(Box::new(losses::ListNet)))
    }

    /// The top document of a click is the one that was clicked: its target probability is 1.
    fn loss_of_clicks(&self, _: &Dataset) -> Result<LossKind> {
        Ok(LossKind::Smooth(Box::new(losses::WeightedSoftmax)))
    }
}
