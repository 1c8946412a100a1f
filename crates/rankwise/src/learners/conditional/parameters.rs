//! The parameters that all conditional models share.

use crate::error::{Error, Result};
use crate::learners::parameters::{check_above_zero, check_at_least};
use crate::learners::{LinearParameters, ScorerKind};
use crate::losses::conditional::{
    ConditionalObjective, GibbsSampler, Kappa, RankingGain, RankingLoss, RankingSampler, Restarts,
};
use crate::metrics::Discount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Over which rankings sums are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Over every choice for every pair, in closed form; AUC only.
    Exact,
    /// Over rankings drawn once, before anything is learned.
    Sampled,
    /// Over rankings drawn anew from the law itself as it is being learned.
    Adaptive,
}

/// Where the walks that draw rankings start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RestartAt {
    /// At the best ranking or the worst.
    Ends,
    /// At one of several, with losses evenly apart.
    Ladder,
}

/// What is gained, over which rankings, and how the weights are found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(inline)]
pub struct Conditional {
    /// What a ranking gains: `auc`, `map` or `ndcg` (goods worth 1, bads 0).
    pub gain: RankingGain,
    /// Sums over rankings: `exact` (auc only), `sampled` once beforehand, or `adaptive`, drawn anew while learning.
    pub method: Method,
    /// How much a pair counts: `one`, or `pairs` for 1/(n⁺n⁻).
    pub kappa: Kappa,
    /// The least grade of a good document, above 0.
    pub threshold: f32,
    /// Places that count in the NDCG; 0 for all.
    pub k: usize,
    /// What a place is worth: `log2` (1/log₂(1 + rank)) or `letor` (1 at ranks 1 and 2, then 1/log₂(rank)).
    pub discount: Discount,
    /// Rankings drawn for each query, at least 2.
    pub samples: usize,
    /// Where walks start: `ends` (the best ranking or the worst) or `ladder` (one of several in between).
    pub restarts: RestartAt,
    /// Probability that a walk from the ends starts at the best ranking, 0 to 1.
    pub best: f64,
    /// The k of the ladder's Pr ∝ exp(k·Δ): below 0 for better rankings.
    pub skew: f64,
    /// Rankings on the ladder, at least 2.
    pub rungs: usize,
    /// Pairs that one walk flips, at least 1.
    pub steps: usize,
    /// Flips between rankings that are kept, at least 1; when adaptive, documents put back.
    pub thinning: usize,
    /// How often rankings are drawn when adaptive, at least 1.
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
    /// Rejects what is out of range, or not available with the scorer.
    pub(super) fn check(&self, scorer: ScorerKind) -> Result<()> {
        check_above_zero("threshold", self.threshold.into())?;
        if self.method == Method::Exact && self.gain != RankingGain::Auc {
            return Err(Error::parameter(
                "method is exact, for which gain must be auc; there is no closed form for map and ndcg, so take \
                 method sampled or adaptive",
            ));
        }
        if self.method != Method::Exact && scorer != ScorerKind::Linear {
            return Err(Error::parameter(
                "only method exact with gain auc is available for trees and networks; sums over sampled rankings are \
                 for the linear scorer",
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

    /// The chain that starts near where it leads, so a few sweeps are enough.
    pub(super) fn chain(&self) -> GibbsSampler {
        GibbsSampler { size: self.samples, sweeps: 5, thinning: self.thinning }
    }
}

/// How the linear model of a conditional likelihood is optimised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(inline)]
pub struct ConditionalLinearParameters {
    /// How the weights are found from one start.
    #[serde(flatten)]
    pub linear: LinearParameters,
    /// Number of starting points, the first at zero, the others random; 1 where the objective is convex.
    pub starts: u64,
}

impl Default for ConditionalLinearParameters {
    fn default() -> Self {
        ConditionalLinearParameters { linear: LinearParameters::smooth(1.0), starts: 1 }
    }
}

impl ConditionalLinearParameters {
    /// Rejects what is out of range.
    pub fn check(&self) -> Result<()> {
        check_at_least("starts", self.starts, 1)?;
        self.linear.check()
    }

    /// Rejects several starts where they make no sense.
    pub(super) fn check_starts(&self, method: Method, form: ConditionalObjective) -> Result<()> {
        let starts = self.starts;
        if starts > 1 && form.is_convex() {
            return Err(Error::parameter(format!(
                "starts is {starts}; the objective is convex, so there is one minimum and 1 is enough"
            )));
        }
        if starts > 1 && method == Method::Adaptive && form == ConditionalObjective::L3 {
            return Err(Error::parameter(format!(
                "starts is {starts}; with method adaptive the minima of several starts cannot be compared, so it must \
                 be 1"
            )));
        }
        Ok(())
    }
}
