//! RankCosine: a linear model whose scores point where the grades do (Qin, Zhang, Tsai, Wang, Liu and Li 2008).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q ½(1 − cos(Xw, r))           ε and means: see the loss
//! ```

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::parameters::check_above_zero;
use crate::learners::{LinearParameters, LossKind, LossLearner, ScorerKind};
use crate::losses::listwise as losses;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ranker by the angle between scores and grades.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RankCosine {
    /// How large scores must be to count in full, above 0.
    pub unit: f64,
    /// Whether scores and grades are taken less their means; false for the cosine of the paper.
    pub centred: bool,
}

impl Default for RankCosine {
    fn default() -> Self {
        RankCosine { unit: 1.0, centred: true }
    }
}

impl LossLearner for RankCosine {
    const CARD: Card = Card {
        name: "rank-cosine",
        title: "RankCosine",
        summary: "The cosine between the vectors of scores and of grades, each less its mean.",
        citations: &["qin2008query"],
    };

    type Linear = LinearParameters;

    fn linear() -> LinearParameters {
        LinearParameters::smooth(100.0)
    }

    fn check(&self, _: ScorerKind) -> Result<()> {
        check_above_zero("unit", self.unit)
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        Ok(LossKind::NonConvex(Box::new(losses::RankCosine { unit: self.unit, centred: self.centred })))
    }
}
