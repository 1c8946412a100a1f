//! The parameters shared by all conditional models.

use crate::error::{Error, Result};
use crate::learners::parameters::{check_above_zero, check_at_least};
use crate::learners::{LinearParameters, ScorerKind};
use crate::losses::conditional::{
    ConditionalObjective, GibbsSampler, Kappa, RankingGain, RankingLoss, RankingSampler, Restarts,
};
use crate::metrics::Discount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rankings over which sums are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Every choice for every pair, in closed form; AUC only.
    Exact,
    /// Rankings sampled once, before training.
    Sampled,
    /// Rankings sampled again during training, from the current distribution.
    Adaptive,
}

/// Where the random walks that sample rankings start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RestartAt {
    /// At the best or the worst ranking.
    Ends,
    /// At one of several rankings with evenly spaced losses.
    Ladder,
}

/// The gain, the rankings it is summed over, and how they are sampled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(inline)]
pub struct Conditional {
    /// Gain of a ranking: `auc`, `map` or `ndcg` (with binary gains).
    pub gain: RankingGain,
    /// Rankings to sum over: `exact` (all, auc only), `sampled` (drawn once) or `adaptive` (drawn again during training).
    pub method: Method,
    /// Weight of a pair: `one` (1) or `pairs` (1/(n⁺n⁻)).
    pub kappa: Kappa,
    /// Smallest label of a relevant document, above 0.
    pub threshold: f32,
    /// Cutoff of NDCG; 0 for none.
    pub k: usize,
    /// Discount of a rank: `log2` (1/log₂(1 + rank)) or `letor` (1 at ranks 1 and 2, then 1/log₂(rank)).
    pub discount: Discount,
    /// Rankings sampled per query, at least 2.
    pub samples: usize,
    /// Where random walks start: `ends` (the best or the worst ranking) or `ladder` (one of several in between).
    pub restarts: RestartAt,
    /// Probability that a walk of `ends` starts at the best ranking, 0 to 1.
    pub best: f64,
    /// Exponent of the ladder's Pr ∝ exp(skew·Δ), finite; below 0 prefers better rankings.
    pub skew: f64,
    /// Rankings on the ladder, at least 2.
    pub rungs: usize,
    /// Pairs flipped in one walk, at least 1.
    pub steps: usize,
    /// Flips between rankings that are kept, at least 1; with `adaptive`, documents moved.
    pub thinning: usize,
    /// Number of draws with `adaptive`, at least 1.
    pub redraws: u64,
}

impl Default for Conditional {
    fn default() -> Self {
        Conditional {
            gain: RankingGain::Ndcg,
            method: Method::Sampled,
            kappa: Kappa::One,
            threshold: 1.0,
            k: 0,
            discount: Discount::Log2,
            samples: 1000,
            restarts: RestartAt::Ends,
            best: 0.9,
            skew: -5.0,
            rungs: 20,
            steps: 101,
            thinning: 5,
            redraws: 10,
        }
    }
}

impl Conditional {
    /// Rejects values that are out of range, or not available with the scorer.
    pub(super) fn check(&self, scorer: ScorerKind) -> Result<()> {
        check_above_zero("threshold", self.threshold.into())?;
        if self.method == Method::Exact && self.gain != RankingGain::Auc {
            return Err(Error::parameter(
                "method exact requires gain auc, as map and ndcg have no closed form; use method sampled or \
                 adaptive",
            ));
        }
        if self.method != Method::Exact && scorer != ScorerKind::Linear {
            return Err(Error::parameter(
                "trees and networks support only method exact with gain auc; for sampled rankings, use \
                 scorer linear",
            ));
        }
        if !(0.0..=1.0).contains(&self.best) {
            return Err(Error::parameter(format!("best is {}; it must be from 0 to 1", self.best)));
        }
        if !self.skew.is_finite() {
            return Err(Error::parameter(format!("skew is {}; it must be finite", self.skew)));
        }
        check_at_least("samples", self.samples as u64, 2)?;
        check_at_least("rungs", self.rungs as u64, 2)?;
        check_at_least("steps", self.steps as u64, 1)?;
        check_at_least("thinning", self.thinning as u64, 1)?;
        check_at_least("redraws", self.redraws, 1)
    }

    pub(crate) fn ranking_loss(&self) -> RankingLoss {
        RankingLoss { gain: self.gain, k: self.k, discount: self.discount }
    }

    pub(crate) fn sampler(&self) -> RankingSampler {
        let restarts = match self.restarts {
            RestartAt::Ends => Restarts::Ends { best: self.best },
            RestartAt::Ladder => Restarts::Ladder { rungs: self.rungs, skew: self.skew },
        };
        RankingSampler { size: self.samples, steps: self.steps, thinning: self.thinning, restarts }
    }

    /// The chain, which starts near its target, so a few sweeps are enough.
    pub(super) fn chain(&self) -> GibbsSampler {
        GibbsSampler { size: self.samples, sweeps: 5, thinning: self.thinning }
    }
}

/// How the linear model of a conditional model is optimised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(inline)]
pub struct ConditionalLinearParameters {
    /// How the weights are optimised from one start.
    #[serde(flatten)]
    pub linear: LinearParameters,
    /// Number of starting points, at least 1: the first is zero, the others are random. Only the first is used by l3 with `adaptive`; 1 if the objective is convex.
    pub starts: u64,
}

impl Default for ConditionalLinearParameters {
    fn default() -> Self {
        ConditionalLinearParameters { linear: LinearParameters::smooth(1.0), starts: 1 }
    }
}

impl ConditionalLinearParameters {
    /// Rejects values that are out of range.
    pub fn check(&self) -> Result<()> {
        check_at_least("starts", self.starts, 1)?;
        self.linear.check()
    }

    /// Rejects several starts if they make no sense.
    pub(super) fn check_starts(&self, form: ConditionalObjective) -> Result<()> {
        let starts = self.starts;
        if starts > 1 && form.is_convex() {
            return Err(Error::parameter(format!(
                "starts is {starts}; the objective is convex, so there is one minimum and starts must be 1"
            )));
        }
        Ok(())
    }
}
