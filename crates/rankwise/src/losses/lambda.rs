//! The λ-gradients of LambdaRank and LambdaMART (Burges, Ragno and Le 2006; Burges 2010): the pairwise logistic loss,
//! where each pair is weighted by how much a metric Z would change if its two documents swapped positions.
//!
//! ```text
//! ρᵢⱼ = 1/(1 + exp(σ(sᵢ − sⱼ))) ,   λᵢⱼ = σ·ρᵢⱼ·|ΔZᵢⱼ| ,   hᵢⱼ = σ²·ρᵢⱼ(1 − ρᵢⱼ)·|ΔZᵢⱼ|        rᵢ > rⱼ
//! ∂L/∂sᵢ −= λᵢⱼ ,   ∂L/∂sⱼ += λᵢⱼ ,   curvature of i and j += hᵢⱼ ,   L = Σ |ΔZᵢⱼ|·ln(1 + exp(−σ(sᵢ − sⱼ)))
//! ```
//! ΔZ depends on the current ranking (documents with equal scores are in input order, as in LightGBM), so no function
//! has this gradient. It is the derivative of L with the weights treated as constants.
//!
//! With a truncation k, only pairs with at least one document in the top k contribute, and the ideal DCG is that of
//! the top k. Discounts are not truncated, nor are the other metrics. This is LightGBM's
//! `lambdarank_truncation_level`. `normalize` is LightGBM's `lambdarank_norm`: unless all scores are equal, `|ΔZᵢⱼ|`
//! is divided by `0.01 + |sᵢ − sⱼ|`; then all λ and h of a query are multiplied by `log₂(1 + Λ)/Λ`, `Λ = 2 Σ λᵢⱼ`.
//!
//! NDCG-Loss2++ of LambdaLoss (Wang, Li, Golbandi, Bendersky and Najork, CIKM 2018) is the same loss with other
//! weights:
//!
//! ```text
//! |ΔZᵢⱼ| = |gᵢ − gⱼ|·(|uᵢ − uⱼ| + μ(v_d − v_{d+1})) ,   v_d = 1/log₂(1 + d) ,   d = ranks from i to j
//! ```
//! where g is the gain divided by the ideal DCG, and u the discount of a position. With a fixed ranking, L is convex;
//! the μ term alone is an upper bound on one minus NDCG. The paper uses logarithms to base 2, which differ from ours
//! by a constant factor.

mod debiased;
mod pairs;
mod swaps;
#[cfg(test)]
mod tests;

use super::{QueryLoss, Reweighted, ScoredQuery};
use crate::card::Card;
use crate::error::{Error, Result};
use crate::metrics::{Conventions, Dcg, Discount, Gain, Metric, StopProbability};
use crate::watch::Stop;
use pairs::RankedQuery;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const fn card(name: &'static str, title: &'static str, summary: &'static str) -> Card {
    Card { name, title, summary, citations: &["burges2006lambdarank", "burges2010ranknet"] }
}

pub(crate) use debiased::{PositionLosses, PositionRatios};

pub(super) const NDCG: Card = card(
    "lambda-ndcg",
    "λ-gradients for NDCG",
    "The pairwise logistic loss, where each pair is weighted by how much NDCG would change if its documents swapped positions.",
);

pub(super) const MAP: Card = card(
    "lambda-map",
    "λ-gradients for MAP",
    "The pairwise logistic loss, where each pair is weighted by how much average precision would change if its documents swapped positions.",
);

pub(super) const MRR: Card = card(
    "lambda-mrr",
    "λ-gradients for MRR",
    "The pairwise logistic loss, where each pair is weighted by how much the reciprocal rank would change if its documents swapped positions.",
);

pub(super) const ERR: Card = card(
    "lambda-err",
    "λ-gradients for ERR",
    "The pairwise logistic loss, where each pair is weighted by how much the expected reciprocal rank would change if its documents swapped positions.",
);

pub(super) const LOSS: Card = Card {
    name: "lambda-loss",
    title: "LambdaLoss (NDCG-Loss2++)",
    summary: "The pairwise logistic loss, where each pair is weighted by its gains, its discounts, and the discount of its difference in rank.",
    citations: &["wang2018lambdaloss"],
};

/// The metric whose change weights the pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LambdaMetric {
    /// Normalised discounted cumulative gain with the discount `1/log₂(1 + rank)`. Labels may be any numbers.
    #[default]
    Ndcg,
    /// Average precision; documents are relevant from the threshold up.
    Map,
    /// The reciprocal rank of the first relevant document; documents are relevant from the threshold up.
    Mrr,
    /// Expected reciprocal rank.
    Err,
}

impl LambdaMetric {
    const ALL: [(&'static str, LambdaMetric); 4] = [
        ("ndcg", LambdaMetric::Ndcg),
        ("map", LambdaMetric::Map),
        ("mrr", LambdaMetric::Mrr),
        ("err", LambdaMetric::Err),
    ];

    /// As typed: `ndcg`, `map`, `mrr` or `err`.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, metric)| *metric == self).expect("every metric has a name").0
    }
}

/// The parameters of λ-gradients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LambdaSettings {
    /// The metric whose change weights the pairs.
    pub metric: LambdaMetric,
    /// The gain of a label, for NDCG.
    pub gain: Gain,
    /// The minimum label of a relevant document, for MAP, MRR and binary gain.
    pub threshold: f32,
    /// The stopping probability, for ERR.
    pub stop: StopProbability,
    /// The highest possible grade, for ERR; labels above it count as this grade.
    pub max_grade: f32,
    /// The truncation level: only pairs with at least one document in the top k contribute; 0 for all pairs.
    pub k: usize,
    /// σ: the steepness of the logistic function.
    pub sigma: f64,
    /// Whether to normalise λ by the score difference and per query, as LightGBM does by default.
    pub normalize: bool,
    /// μ of LambdaLoss, for NDCG: the weight of the difference in rank between two documents; 0 for LambdaRank.
    pub distance: f64,
}

impl Default for LambdaSettings {
    /// The defaults of LightGBM's `lambdarank`; grades for ERR are 0 to 4.
    fn default() -> Self {
        let conventions = Conventions::default();
        LambdaSettings {
            metric: LambdaMetric::default(),
            gain: conventions.gain,
            threshold: conventions.threshold,
            stop: conventions.stop,
            max_grade: conventions.max_grade,
            k: 30,
            sigma: 1.0,
            normalize: true,
            distance: 0.0,
        }
    }
}

impl LambdaSettings {
    /// The default settings for training towards `metric`, with its gain, threshold and grades. Its cutoff becomes
    /// the truncation level (0 if it has none).
    pub fn for_metric(metric: &dyn Metric) -> Result<Self> {
        let (name, conventions) = (metric.name(), metric.conventions());
        let head = name.split(':').next().unwrap_or_default();
        let (base, cut) = head.split_once('@').unwrap_or((head, "0"));
        let known = LambdaMetric::ALL.iter().find(|(name, _)| *name == base);
        let (Some((_, metric)), Ok(k)) = (known, cut.parse()) else {
            let names = LambdaMetric::ALL.map(|(name, _)| format!("`{name}`")).join(", ");
            return Err(Error::parameter(format!(
                "there are no λ-gradients for the metric `{name}`; choose one of {names}"
            )));
        };
        if *metric == LambdaMetric::Ndcg && conventions.discount != Discount::Log2 {
            return Err(Error::parameter(format!(
                "λ-gradients for `{name}` support only the discount `log2`; remove the `discount` option"
            )));
        }
        Ok(LambdaSettings {
            metric: *metric,
            gain: conventions.gain,
            threshold: conventions.threshold,
            stop: conventions.stop,
            max_grade: conventions.max_grade,
            k,
            ..LambdaSettings::default()
        })
    }

    /// The conventions for gains, discounts and grades.
    fn conventions(&self) -> Conventions {
        Conventions {
            gain: self.gain,
            discount: Discount::Log2,
            threshold: self.threshold,
            max_grade: self.max_grade,
            ..Conventions::default()
        }
    }
}

/// λ-gradients for a metric; see [`LambdaSettings`] for the parameters.
#[derive(Debug, Clone)]
pub struct Lambda {
    settings: LambdaSettings,
    /// Gains, discounts and the ideal DCG at the truncation level.
    dcg: Dcg,
    stop: Stop,
}

impl Lambda {
    /// Creates the loss. Fails if a setting is out of range.
    pub fn new(settings: LambdaSettings) -> Result<Self> {
        settings.conventions().check()?;
        if !(settings.sigma > 0.0 && settings.sigma.is_finite()) {
            return Err(Error::parameter(format!(
                "`sigma={}` is out of range: it must be finite and above 0",
                settings.sigma
            )));
        }
        if !(settings.distance >= 0.0 && settings.distance.is_finite()) {
            return Err(Error::parameter(format!(
                "`distance={}` is out of range: it must be finite and at least 0",
                settings.distance
            )));
        }
        if settings.distance > 0.0 && settings.metric != LambdaMetric::Ndcg {
            return Err(Error::parameter("`distance` applies to NDCG only; for other metrics it must be 0"));
        }
        Ok(Lambda::unchecked(settings))
    }

    /// λ-gradients for a metric, with the default settings otherwise.
    pub fn of(metric: LambdaMetric) -> Self {
        Lambda::unchecked(LambdaSettings { metric, ..LambdaSettings::default() })
    }

    /// NDCG-Loss2++ of LambdaLoss, with the μ of the paper.
    pub fn of_lambda_loss() -> Self {
        let plain = LambdaSettings::default();
        Lambda::unchecked(LambdaSettings { k: 0, normalize: false, distance: 10.0, ..plain })
    }

    /// The settings of this loss.
    pub fn settings(&self) -> &LambdaSettings {
        &self.settings
    }

    fn unchecked(settings: LambdaSettings) -> Self {
        let depth = if settings.k == 0 { usize::MAX } else { settings.k };
        Lambda { settings, dcg: Dcg::new(&settings.conventions(), depth), stop: Stop::default() }
    }

    /// What the gains of a query are divided by.
    fn total_gain(&self, labels: &[f32], gains: &[f64]) -> f64 {
        match self.settings.metric {
            LambdaMetric::Ndcg => self.dcg.ideal(labels),
            LambdaMetric::Map => gains.iter().sum(),
            LambdaMetric::Mrr | LambdaMetric::Err => 1.0,
        }
    }

    /// The gain of a document in the metric. Documents with equal gains form no pairs.
    fn gain_of(&self, label: f32) -> f64 {
        let LambdaSettings { metric, threshold, stop, max_grade, .. } = self.settings;
        match metric {
            LambdaMetric::Ndcg => self.dcg.gains.of(label),
            LambdaMetric::Map | LambdaMetric::Mrr => Gain::Binary.of(label, threshold),
            LambdaMetric::Err => stop.of(label, max_grade),
        }
    }
}

impl QueryLoss for Lambda {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let mut ranked = RankedQuery::new(self);
        if !ranked.rank(query, None) {
            return 0.0;
        }
        let scale = ranked.add_up();
        ranked.scatter_gradient(scale, gradient);
        scale * ranked.loss()
    }

    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]) {
        self.newton(query, &mut vec![0.0; curvature.len()], curvature);
    }

    fn newton(&self, query: ScoredQuery<'_>, gradient: &mut [f64], curvature: &mut [f64]) {
        self.newton_each(&[query], gradient, curvature);
    }

    fn newton_each(&self, queries: &[ScoredQuery<'_>], gradients: &mut [f64], curvatures: &mut [f64]) {
        gradients.fill(0.0);
        curvatures.fill(0.0);
        let mut ranked = RankedQuery::new(self);
        let mut start = 0;
        for query in queries {
            let own = start..start + query.scores.len();
            start = own.end;
            if ranked.rank(*query, None) {
                let scale = ranked.add_up();
                ranked.scatter_gradient(scale, &mut gradients[own.clone()]);
                ranked.scatter_curvature(scale, &mut curvatures[own]);
            }
        }
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        let Some((first, rest)) = labels.split_first() else { return false };
        let first = self.gain_of(*first);
        rest.iter().any(|&label| self.gain_of(label) != first)
    }

    fn set_stop(&mut self, stop: &Stop) {
        self.stop = stop.clone();
    }

    fn steps(&self, labels: &[f32]) -> f64 {
        let n = labels.len() as f64;
        if self.settings.k == 0 { 0.5 * n * n } else { n * n.min(self.settings.k as f64) }
    }
}

/// Without the normalisation, which depends on the current scores.
impl Reweighted for Lambda {
    fn value_and_gradient_in_order(
        &self,
        query: ScoredQuery<'_>,
        anchor: &[f64],
        gradient: &mut [f64],
    ) -> f64 {
        gradient.fill(0.0);
        let mut ranked = RankedQuery::new(self);
        if !ranked.rank(query, Some(anchor)) {
            return 0.0;
        }
        ranked.add_up();
        ranked.scatter_gradient(1.0, gradient);
        ranked.loss()
    }
}
