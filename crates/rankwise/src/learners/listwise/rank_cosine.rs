//! RankCosine: a linear model whose scores point where the grades do (Qin, Zhang, Tsai, Wang, Liu and Li 2008).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q ½(1 − cos(Xw, r))           ε and means: see the loss
//! ```

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::margin::check_above_zero;
use crate::learners::smooth::{self, Shape, Smooth};
use crate::learners::{ByLoss, Fitted, Learner, Task};
use crate::losses::{QueryLoss, listwise as losses};
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ranker by the angle between scores and grades.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RankCosine {
    /// How large scores must be to count in full, above 0.
    pub unit: f64,
    /// Whether scores and grades are taken less their means; false for the cosine of the paper.
    pub centred: bool,
    /// How the linear model is found.
    #[serde(flatten)]
    pub smooth: Smooth,
}

impl Default for RankCosine {
    fn default() -> Self {
        RankCosine { unit: 1.0, centred: true, smooth: Smooth { c: 100.0, ..Smooth::default() } }
    }
}

impl Learner for RankCosine {
    const CARD: Card = Card {
        name: "rank-cosine",
        title: "RankCosine",
        summary: "The cosine between the vectors of scores and of grades, each less its mean.",
        citations: &["qin2008query"],
    };

    fn check(&self) -> Result<()> {
        check_above_zero("unit", self.unit)?;
        self.smooth.check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(smooth::fit(
            losses::RankCosine { unit: self.unit, centred: self.centred },
            Shape::Hilly,
            &self.smooth,
            task,
            watch,
        ))
    }
}

impl ByLoss for RankCosine {
    fn concerns_loss(parameter: &str) -> bool {
        !Smooth::has(parameter)
    }

    fn loss_of_scores(&self, _: &Dataset) -> Result<Box<dyn QueryLoss>> {
        Ok(Box::new(losses::RankCosine { unit: self.unit, centred: self.centred }))
    }
}
