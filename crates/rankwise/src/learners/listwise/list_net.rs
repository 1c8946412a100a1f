//! ListNet: a linear model under which the best document is likely to come first (Cao, Qin, Liu, Tsai and Li, ICML
//! 2007).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q −Σᵢ tᵢ ln pᵢ ,      t ∝ exp(r) ,  p ∝ exp(Xw)
//! ```

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::smooth::{self, Shape, Smooth};
use crate::learners::{ByLoss, Fitted, Learner, Task};
use crate::losses::{QueryLoss, listwise as losses};
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ranker by cross-entropy of the document that comes first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListNet {
    /// How the linear model is found.
    #[serde(flatten)]
    pub smooth: Smooth,
}

impl Learner for ListNet {
    const CARD: Card = Card {
        name: "list-net",
        title: "ListNet",
        summary: "Cross-entropy of which document comes first, by scores and by grades.",
        citations: &["cao2007learning"],
    };

    fn check(&self) -> Result<()> {
        self.smooth.check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(smooth::fit(losses::ListNet, Shape::Convex, &self.smooth, task, watch))
    }
}

impl ByLoss for ListNet {
    fn concerns_loss(parameter: &str) -> bool {
        !Smooth::has(parameter)
    }

    fn loss_of_scores(&self, _: &Dataset) -> Result<Box<dyn QueryLoss>> {
        Ok(Box::new(losses::ListNet))
    }
}
