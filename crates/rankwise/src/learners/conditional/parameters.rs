//! The parameters that all conditional models share.

use crate::error::{Error, Result};
use crate::learners::margin::check_above_zero;
use crate::losses::conditional::{
    ConditionalObjective, GibbsSampler, Kappa, RankingGain, RankingLoss, RankingSampler, Restarts,
};
use crate::metrics::Discount;
use crate::solvers::Lbfgs;
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
#[serde(deny_unknown_fields, default)]
#[schemars(inline)]
pub struct Conditional {
    /// What a ranking gains: `auc`, `map` or `ndcg` (goods worth 1, bads 0).
    pub gain: RankingGain,
    /// Sums over rankings: `exact` (auc only), `sampled` once beforehand, or `adaptive`, drawn anew while learning.
    pub method: Method,
    /// How much a pair counts: `one`, or `pairs` for 1/(n⁺n⁻).
    pub kappa: Kappa,
    /// C > 0 of ‖w‖²/C against the mean loss: larger fits the training queries closer.
    pub c: f64,
    /// The least grade of a good document, above 0.
    pub threshold: f32,
    /// Places that count in the NDCG; 0 for all.
    pub k: usize,
    /// What a place is worth: `log2` (1/log₂(1 + rank)) or `letor` (1 at ranks 1 and 2, then 1/log₂(rank)).
    pub discount: Discount,
    /// Whether w is in units of the features' standard deviations; false for features as they stand.
    pub scale: bool,
    /// The most steps of the optimiser, at least 1.
    pub rounds: u64,
    /// The norm of the gradient at which to stop, relative to that at the start, above 0 and below 1.
    pub tolerance: f64,
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
    /// From how many starts to look, the first from zero, the others at random; 1 where the objective is convex.
    pub starts: u64,
}

impl Default for Conditional {
    fn default() -> Self {
        Conditional {
            gain: RankingGain::Ndcg,
            method: Method::Sampled,
            kappa: Kappa::One,
            c: 1.0,
            threshold: 1.0,
            k: 0,
            discount: Discount::Log2,
            scale: true,
            rounds: 200,
            tolerance: 1e-4,
            samples: 1000,
            restarts: RestartAt::Ends,
            best: 0.9,
            skew: -5.0,
            rungs: 20,
            steps: 101,
            thinning: 5,
            redraws: 10,
            starts: 1,
        }
    }
}

impl Conditional {
    /// Refuses what is out of range, or makes no sense for the form.
    pub(super) fn check(&self, form: ConditionalObjective) -> Result<()> {
        check_above_zero("c", self.c)?;
        check_above_zero("threshold", self.threshold.into())?;
        if self.method == Method::Exact && self.gain != RankingGain::Auc {
            return Err(Error::parameter(
                "method is exact, for which gain must be auc; there is no closed form for map and ndcg, so take \
                 method sampled or adaptive",
            ));
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            let tolerance = self.tolerance;
            return Err(Error::parameter(format!(
                "tolerance is {tolerance}; it must be above 0 and below 1"
            )));
        }
        if !(0.0..=1.0).contains(&self.best) {
            return Err(Error::parameter(format!("best is {}; it must be from 0 to 1", self.best)));
        }
        if !self.skew.is_finite() {
            return Err(Error::parameter(format!("skew is {}; it must be finite", self.skew)));
        }
        if self.starts > 1 && form.is_convex() {
            let starts = self.starts;
            return Err(Error::parameter(format!(
                "starts is {starts}; the objective is convex, so there is one minimum and 1 is enough"
            )));
        }
        if self.starts > 1 && self.method == Method::Adaptive && form == ConditionalObjective::L3 {
            return Err(Error::parameter(format!(
                "starts is {}; minima over rankings drawn anew cannot be compared, so it must be 1 where method is \
                 adaptive",
                self.starts
            )));
        }
        check_at_least("starts", self.starts, 1)?;
        check_at_least("rounds", self.rounds, 1)?;
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

    pub(crate) fn optimiser(&self) -> Lbfgs {
        Lbfgs { tolerance: self.tolerance, rounds: self.rounds, ..Lbfgs::default() }
    }
}

/// Refuses a count that is too small.
fn check_at_least(name: &str, value: u64, least: u64) -> Result<()> {
    if value >= least {
        return Ok(());
    }
    Err(Error::parameter(format!("{name} is {value}; it must be at least {least}")))
}
