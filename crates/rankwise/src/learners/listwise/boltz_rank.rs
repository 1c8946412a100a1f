//! BoltzRank: a distribution over sampled rankings (Volkovs and Zemel, ICML 2009).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q α·(1 − E NDCG@k(R)) − (1 − α)·Σ_R P(R|r)·ln P(R|Xw) ,      P(R|s) ∝ exp(−E(R|s))
//! ```
//! Linear models draw the rankings once per query, so that there is one objective; trees draw them again in
//! every iteration.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::learners::{LinearParameters, LossKind, LossLearner, ScorerKind};
use crate::losses::listwise as losses;
use crate::metrics::Gain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Expected NDCG and likelihood under a distribution over sampled rankings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BoltzRank {
    /// Rankings sampled per query, 2 to 100000.
    pub samples: usize,
    /// Weight α of expected NDCG against the likelihood, 0 to 1.
    pub mix: f64,
    /// Cutoff of NDCG; 0 for none.
    pub k: usize,
    /// Gain of a label r: `exp2` (2^r − 1), `linear` (r) or `binary`.
    pub gain: Gain,
}

impl Default for BoltzRank {
    fn default() -> Self {
        BoltzRank { samples: 100, mix: 0.5, k: 10, gain: Gain::default() }
    }
}

impl LossLearner for BoltzRank {
    const CARD: Card = Card {
        name: "boltz-rank",
        title: "BoltzRank",
        summary: "Expected NDCG and likelihood under a distribution over sampled rankings, with pairwise \
                  energies.",
        citations: &["volkovs2009boltzrank"],
    };

    type Linear = LinearParameters;

    fn linear() -> LinearParameters {
        LinearParameters::smooth(1000.0)
    }

    fn check(&self, _: ScorerKind) -> Result<()> {
        self.check_law()
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        Ok(LossKind::NonConvex(Box::new(losses::BoltzRank::new(self.samples, self.mix, self.k, self.gain))))
    }
}

impl BoltzRank {
    fn check_law(&self) -> Result<()> {
        if !(2..=100_000).contains(&self.samples) {
            let samples = self.samples;
            return Err(Error::parameter(format!("samples is {samples}; it must be from 2 to 100000")));
        }
        if !(0.0..=1.0).contains(&self.mix) {
            return Err(Error::parameter(format!("mix is {}; it must be from 0 to 1", self.mix)));
        }
        Ok(())
    }
}
