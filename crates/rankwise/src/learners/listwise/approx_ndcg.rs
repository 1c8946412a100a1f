//! ApproxNDCG: NDCG with smooth ranks (Qin, Liu and Li 2010; Bruch et al., SIGIR 2019).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q 1 − NDCG(ρ) ,      ρᵢ = 1 + Σ_{j≠i} σ((sⱼ − sᵢ)/T) ,  s = Xw
//! ```

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::parameters::check_above_zero;
use crate::learners::{LinearParameters, LossKind, LossLearner, ScorerKind};
use crate::losses::listwise as losses;
use crate::metrics::Gain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// NDCG with smooth ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ApproxNdcg {
    /// Temperature T of the smooth ranks, above 0: smaller values are closer to NDCG.
    pub temperature: f64,
    /// Gain of a label r: `exp2` (2^r − 1), `linear` (r) or `binary`.
    pub gain: Gain,
}

impl Default for ApproxNdcg {
    fn default() -> Self {
        ApproxNdcg { temperature: 1.0, gain: Gain::default() }
    }
}

impl LossLearner for ApproxNdcg {
    const CARD: Card = Card {
        name: "approx-ndcg",
        title: "ApproxNDCG",
        summary: "NDCG computed from ranks that are smooth functions of the scores.",
        citations: &["qin2010general", "bruch2019revisiting"],
    };

    type Linear = LinearParameters;

    fn linear() -> LinearParameters {
        LinearParameters::smooth(1000.0)
    }

    fn check(&self, _: ScorerKind) -> Result<()> {
        check_above_zero("temperature", self.temperature)
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        Ok(LossKind::NonConvex(Box::new(losses::ApproxNdcg::new(self.temperature, self.gain))))
    }
}
