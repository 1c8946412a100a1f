//! RankNet: a linear model by the logistic loss of pairs (Burges et al., ICML 2005).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q μ Σ_{rᵢ>rⱼ} ln(1 + exp(−w·(xᵢ − xⱼ)))
//! ```
//! The paper's network is had by another scorer.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::smooth::{self, Shape, Smooth};
use crate::learners::{ByLoss, Fitted, Learner, Task};
use crate::losses::{PairLogistic, PairSum, QueryLoss};
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ranker by the logistic loss of pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RankNet {
    /// What the pairs of a query count: `total` (1 each) or `mean` (1 together).
    pub sum: PairSum,
    /// How the linear model is found.
    #[serde(flatten)]
    pub smooth: Smooth,
}

impl Default for RankNet {
    fn default() -> Self {
        RankNet { sum: PairSum::Total, smooth: Smooth { c: 1e-3, ..Smooth::default() } }
    }
}

impl Learner for RankNet {
    const CARD: Card = Card {
        name: "rank-net",
        title: "RankNet",
        summary: "The logistic loss of pairs of documents of different grade.",
        citations: &["burges2005ranknet"],
    };

    fn check(&self) -> Result<()> {
        self.smooth.check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(smooth::fit(PairLogistic { sum: self.sum }, Shape::Convex, &self.smooth, task, watch))
    }
}

impl ByLoss for RankNet {
    fn concerns_loss(parameter: &str) -> bool {
        !Smooth::has(parameter)
    }

    fn loss_of_scores(&self, _: &Dataset) -> Result<Box<dyn QueryLoss>> {
        Ok(Box::new(PairLogistic { sum: self.sum }))
    }
}
