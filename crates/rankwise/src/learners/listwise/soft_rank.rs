//! SoftRank: expected NDCG if scores have Gaussian errors (Taylor, Guiver, Robertson and Minka, WSDM 2008).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q 1 − E NDCG@k(S) ,      S ~ N(Xw, σ²)
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

/// Expected NDCG if scores have Gaussian errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SoftRank {
    /// Standard deviation of the errors of scores, above 0.
    pub deviation: f64,
    /// Cutoff of NDCG; 0 for none.
    pub k: usize,
    /// Gain of a label r: `exp2` (2^r − 1), `linear` (r) or `binary`.
    pub gain: Gain,
}

impl Default for SoftRank {
    fn default() -> Self {
        SoftRank { deviation: 1.0, k: 0, gain: Gain::default() }
    }
}

impl LossLearner for SoftRank {
    const CARD: Card = Card {
        name: "soft-rank",
        title: "SoftRank",
        summary: "Expected NDCG if each score has a Gaussian error, from the distribution of every \
                  document's rank.",
        citations: &["taylor2008softrank"],
    };

    type Linear = LinearParameters;

    fn linear() -> LinearParameters {
        LinearParameters::smooth(1000.0)
    }

    fn check(&self, _: ScorerKind) -> Result<()> {
        check_above_zero("deviation", self.deviation)
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        Ok(LossKind::NonConvex(Box::new(losses::SoftRank::new(self.deviation, self.k, self.gain))))
    }
}
