//! SoftRank: a linear model by expected NDCG where scores have Gaussian errors (Taylor, Guiver, Robertson and Minka, WSDM
//! 2008).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q 1 − E NDCG@k(S) ,      S ~ N(Xw, σ²)
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

/// A ranker by expected NDCG under errors of the scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SoftRank {
    /// Standard deviation of the errors of scores, above 0.
    pub deviation: f64,
    /// Places that count in the NDCG; 0 for all.
    pub k: usize,
    /// What a grade is worth: `exp2` (2^r − 1), `linear` (r) or `binary`.
    pub gain: Gain,
    /// How the linear model is found.
    #[serde(flatten)]
    pub smooth: Smooth,
}

impl Default for SoftRank {
    fn default() -> Self {
        SoftRank {
            deviation: 1.0,
            k: 0,
            gain: Gain::default(),
            smooth: Smooth { c: 1000.0, ..Smooth::default() },
        }
    }
}

impl Learner for SoftRank {
    const CARD: Card = Card {
        name: "soft-rank",
        title: "SoftRank",
        summary: "Expected NDCG where each score has a Gaussian error, by the law of every document's rank.",
        citations: &["taylor2008softrank"],
    };

    fn check(&self) -> Result<()> {
        check_above_zero("deviation", self.deviation)?;
        self.smooth.check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(smooth::fit(
            losses::SoftRank::new(self.deviation, self.k, self.gain),
            Shape::Hilly,
            &self.smooth,
            task,
            watch,
        ))
    }
}

impl ByLoss for SoftRank {
    fn concerns_loss(parameter: &str) -> bool {
        !Smooth::has(parameter)
    }

    fn loss_of_scores(&self, _: &Dataset) -> Result<Box<dyn QueryLoss>> {
        Ok(Box::new(losses::SoftRank::new(self.deviation, self.k, self.gain)))
    }
}
