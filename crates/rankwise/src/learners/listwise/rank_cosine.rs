//! RankCosine: the angle between scores and labels (Qin, Zhang, Tsai, Wang, Liu and Li 2008).
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

/// The angle between the vectors of scores and labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RankCosine {
    /// Scale of the scores below which the loss is damped, above 0.
    pub unit: f64,
    /// Whether means are subtracted from scores and labels; false for the cosine of the paper.
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
        summary: "The cosine between the vectors of scores and labels, both centred.",
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
