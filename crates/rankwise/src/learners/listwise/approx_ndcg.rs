//! ApproxNDCG: a linear model by the NDCG of smooth ranks (Qin, Liu and Li 2010; Bruch et al., SIGIR 2019).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q 1 − NDCG(ρ) ,      ρᵢ = 1 + Σ_{j≠i} σ((sⱼ − sᵢ)/T) ,  s = Xw
//! ```

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::margin::check_above_zero;
use crate::learners::smooth::{self, Shape, Smooth};
use crate::learners::{ByLoss, Fitted, Learner, Task};
use crate::losses::{QueryLoss, listwise as losses};
use crate::metrics::Gain;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ranker by NDCG of smooth ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ApproxNdcg {
    /// How far ahead a document must be to count as such, above 0.
    pub temperature: f64,
    /// What a grade is worth: `exp2` (2^r − 1), `linear` (r) or `binary`.
    pub gain: Gain,
    /// How the linear model is found.
    #[serde(flatten)]
    pub smooth: Smooth,
}

impl Default for ApproxNdcg {
    fn default() -> Self {
        ApproxNdcg {
            temperature: 1.0,
            gain: Gain::default(),
            smooth: Smooth { c: 1000.0, ..Smooth::default() },
        }
    }
}

impl Learner for ApproxNdcg {
    const CARD: Card = Card {
        name: "approx-ndcg",
        title: "ApproxNDCG",
        summary: "NDCG itself, of ranks that are smooth in the scores.",
        citations: &["qin2010general", "bruch2019revisiting"],
    };

    fn check(&self) -> Result<()> {
        check_above_zero("temperature", self.temperature)?;
        self.smooth.check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(smooth::fit(
            losses::ApproxNdcg::new(self.temperature, self.gain),
            Shape::Hilly,
            &self.smooth,
            task,
            watch,
        ))
    }
}

impl ByLoss for ApproxNdcg {
    fn concerns_loss(parameter: &str) -> bool {
        !Smooth::has(parameter)
    }

    fn loss_of_scores(&self, _: &Dataset) -> Result<Box<dyn QueryLoss>> {
        Ok(Box::new(losses::ApproxNdcg::new(self.temperature, self.gain)))
    }
}
