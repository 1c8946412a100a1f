//! Cross-entropy NDCG: a linear model by a convex bound of NDCG (Bruch, WWW 2021).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q −Σᵢ tᵢ ln pᵢ ,      t ∝ 2^r − γ ,  γ uniform in [0, 1) ,  p ∝ exp(Xw)
//! ```
//! γ is drawn once for each query, so that there is one objective; trees draw it anew in every round.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::smooth::{self, Shape, Smooth};
use crate::learners::{ByLoss, Fitted, Learner, Task};
use crate::losses::{QueryLoss, listwise as losses};
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ranker by cross-entropy towards blurred gains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct XeNdcg {
    /// How the linear model is found.
    #[serde(flatten)]
    pub smooth: Smooth,
}

impl Default for XeNdcg {
    fn default() -> Self {
        XeNdcg { smooth: Smooth { c: 10.0, ..Smooth::default() } }
    }
}

impl Learner for XeNdcg {
    const CARD: Card = Card {
        name: "xe-ndcg",
        title: "Cross-entropy NDCG",
        summary: "Cross-entropy of which document comes first with its share of the gains: a convex bound of NDCG.",
        citations: &["bruch2021alternative"],
    };

    fn check(&self) -> Result<()> {
        self.smooth.check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(smooth::fit(losses::XeNdcg, Shape::Convex, &self.smooth, task, watch))
    }
}

impl ByLoss for XeNdcg {
    fn concerns_loss(parameter: &str) -> bool {
        !Smooth::has(parameter)
    }

    fn loss_of_scores(&self, _: &Dataset) -> Result<Box<dyn QueryLoss>> {
        Ok(Box::new(losses::XeNdcg))
    }
}
