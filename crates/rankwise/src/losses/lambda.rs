//! The λ-gradients of LambdaRank and LambdaMART (Burges, Ragno and Le 2006; Burges 2010): the pair logistic loss,
//! each pair weighted by what a measure Z would change were its two documents to swap places.
//!
//! ```text
//! ρᵢⱼ = 1/(1 + exp(σ(sᵢ − sⱼ))) ,   λᵢⱼ = σ·ρᵢⱼ·|ΔZᵢⱼ| ,   hᵢⱼ = σ²·ρᵢⱼ(1 − ρᵢⱼ)·|ΔZᵢⱼ|        rᵢ > rⱼ
//! ∂L/∂sᵢ −= λᵢⱼ ,   ∂L/∂sⱼ += λᵢⱼ ,   curvature of i and j += hᵢⱼ ,   L = Σ |ΔZᵢⱼ|·ln(1 + exp(−σ(sᵢ − sⱼ)))
//! ```
//! ΔZ belongs to the present order, documents of equal score in the order of the query, and changes with it: no
//! function has this gradient. It is the derivative of L with the weights held fast.
//!
//! With a truncation k, pairs count of which at least one document is among the first k, and the ideal DCG is that
//! of the first k places; discounts are not cut, nor are the other measures. That is LightGBM's
//! `lambdarank_truncation_level`. `normalize` is its `lambdarank_norm`: unless all scores are equal, `|ΔZᵢⱼ|` is
//! divided by `0.01 + |sᵢ − sⱼ|`; then all of a query's λ and h are multiplied by `log₂(1 + Λ)/Λ`, `Λ = 2 Σ λᵢⱼ`.
//!
//! NDCG-Loss2++ of LambdaLoss (Wang, Li, Golbandi, Bendersky and Najork, CIKM 2018) is the same loss with other weights:
//!
//! ```text
//! |ΔZᵢⱼ| = |gᵢ − gⱼ|·(|uᵢ − uⱼ| + μ(v_d − v_{d+1})) ,   v_d = 1/log₂(1 + d) ,   d = ranks from i to j
//! ```
//! with g the gain over its ideal and u the discount of a place. With the order held fast L is convex; its sum over d
//! (μ alone) bounds the loss of NDCG. The paper takes logarithms to base 2, which is a factor of ours.

mod pairs;
mod swaps;
#[cfg(test)]
mod tests;

use super::{QueryLoss, Reweighted, ScoredQuery};
use crate::card::Card;
use crate::error::{Error, Result};
use crate::metrics::{Conventions, Dcg, Discount, Gain, Metric, StopProbability};
use pairs::RankedQuery;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const fn card(name: &'static str, title: &'static str, summary: &'static str) -> Card {
    Card { name, title, summary, citations: &["burges2006lambdarank", "burges2010ranknet"] }
}

pub(super) const NDCG: Card = card(
    "lambda-ndcg",
    "λ-gradients for NDCG",
    "The pair logistic loss, each pair weighted by what NDCG would change were its documents to swap places.",
);

pub(super) const MAP: Card = card(
    "lambda-map",
    "λ-gradients for MAP",
    "The pair logistic loss, each pair weighted by what average precision would change by a swap.",
);

pub(super) const MRR: Card = card(
    "lambda-mrr",
    "λ-gradients for MRR",
    "The pair logistic loss, each pair weighted by what the reciprocal rank would change by a swap.",
);

pub(super) const ERR: Card = card(
    "lambda-err",
    "λ-gradients for ERR",
    "The pair logistic loss, each pair weighted by what the expected reciprocal rank would change by a swap.",
);

pub(super) const LOSS: Card = Card {
    name: "lambda-loss",
    title: "NDCG-Loss2++",
    summary: "The pair logistic loss, each pair weighted by gains, discounts, and the discount of its distance in ranks.",
    citations: &["wang2018lambdaloss"],
};

/// The measure whose change weights the pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LambdaMeasure {
    /// Normalised discounted cumulative gain, discounted by `1/log₂(1 + rank)`; grades may be any numbers.
    #[default]
    Ndcg,
    /// Average precision of the documents from the threshold on.
    Map,
    /// The reciprocal rank of the first document from the threshold on.
    Mrr,
    /// Expected reciprocal rank.
    Err,
}

impl LambdaMeasure {
    const ALL: [(&'static str, LambdaMeasure); 4] = [
        ("ndcg", LambdaMeasure::Ndcg),
        ("map", LambdaMeasure::Map),
        ("mrr", LambdaMeasure::Mrr),
        ("err", LambdaMeasure::Err),
    ];
}

/// What λ-gradients are made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LambdaSettings {
    /// The measure whose change weights the pairs.
    pub measure: LambdaMeasure,
    /// What a grade is worth, for NDCG.
    pub gain: Gain,
    /// From which grade on a document is good, for MAP and MRR and binary gain.
    pub threshold: f32,
    /// The stopping probability, for ERR.
    pub stop: StopProbability,
    /// The highest grade there is, for ERR; higher ones count as this.
    pub max_grade: f32,
    /// Pairs count of which at least one document is among the first k; 0: all pairs do.
    pub k: usize,
    /// The steepness of the logistic function.
    pub sigma: f64,
    /// Whether λ of close scores and of queries with little to gain are raised, as LightGBM does.
    pub normalize: bool,
    /// μ of LambdaLoss, for NDCG: what the distance of two documents counts beside their places; 0 for LambdaRank.
    pub distance: f64,
}

impl Default for LambdaSettings {
    /// The defaults of LightGBM's `lambdarank`, the grades for ERR being 0 to 4.
    fn default() -> Self {
        let conventions = Conventions::default();
        LambdaSettings {
            measure: LambdaMeasure::default(),
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
    /// The defaults for training towards `metric`: its gain, threshold, grades, and its cut as truncation (0 where
    /// it has none).
    pub fn for_metric(metric: &dyn Metric) -> Result<Self> {
        let (name, conventions) = (metric.name(), metric.conventions());
        let head = name.split(':').next().unwrap_or_default();
        let (base, cut) = head.split_once('@').unwrap_or((head, "0"));
        let known = LambdaMeasure::ALL.iter().find(|(name, _)| *name == base);
        let (Some((_, measure)), Ok(k)) = (known, cut.parse()) else {
            let names = LambdaMeasure::ALL.map(|(name, _)| format!("`{name}`")).join(", ");
            return Err(Error::parameter(format!(
                "no λ-gradients are known for the measure `{name}`, only for {names}"
            )));
        };
        if *measure == LambdaMeasure::Ndcg && conventions.discount != Discount::Log2 {
            return Err(Error::parameter(format!(
                "λ-gradients for `{name}` are known for the discount `log2` alone"
            )));
        }
        Ok(LambdaSettings {
            measure: *measure,
            gain: conventions.gain,
            threshold: conventions.threshold,
            stop: conventions.stop,
            max_grade: conventions.max_grade,
            k,
            ..LambdaSettings::default()
        })
    }

    /// The choices that gains, discounts and grades follow.
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

/// λ-gradients: see the head of this file.
#[derive(Debug, Clone)]
pub struct Lambda {
    settings: LambdaSettings,
    /// Gains, discounts and the ideal at the truncation.
    dcg: Dcg,
}

impl Lambda {
    /// λ-gradients with these settings, or what is wrong with them.
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
        if settings.distance > 0.0 && settings.measure != LambdaMeasure::Ndcg {
            return Err(Error::parameter("`distance` is for NDCG alone; for other measures it must be 0"));
        }
        Ok(Lambda::unchecked(settings))
    }

    /// λ-gradients for a measure, else with the default settings.
    pub fn of(measure: LambdaMeasure) -> Self {
        Lambda::unchecked(LambdaSettings { measure, ..LambdaSettings::default() })
    }

    /// NDCG-Loss2++ of LambdaLoss, with the μ of its paper.
    pub fn of_lambda_loss() -> Self {
        let plain = LambdaSettings::default();
        Lambda::unchecked(LambdaSettings { k: 0, normalize: false, distance: 10.0, ..plain })
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &LambdaSettings {
        &self.settings
    }

    fn unchecked(settings: LambdaSettings) -> Self {
        let depth = if settings.k == 0 { usize::MAX } else { settings.k };
        Lambda { settings, dcg: Dcg::new(&settings.conventions(), depth) }
    }

    /// What a document counts in the measure; documents that count the same are of one grade to it.
    fn worth(&self, label: f32) -> f64 {
        let LambdaSettings { measure, threshold, stop, max_grade, .. } = self.settings;
        match measure {
            LambdaMeasure::Ndcg => self.dcg.gains.of(label),
            LambdaMeasure::Map | LambdaMeasure::Mrr => Gain::Binary.of(label, threshold),
            LambdaMeasure::Err => stop.of(label, max_grade),
        }
    }
}

impl QueryLoss for Lambda {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let Some(mut ranked) = RankedQuery::new(self, query, None) else { return 0.0 };
        let sums = ranked.sums();
        ranked.scatter(&sums.gradient, sums.scale * self.settings.sigma, gradient);
        sums.scale * ranked.loss()
    }

    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]) {
        self.newton(query, &mut vec![0.0; curvature.len()], curvature);
    }

    fn newton(&self, query: ScoredQuery<'_>, gradient: &mut [f64], curvature: &mut [f64]) {
        gradient.fill(0.0);
        curvature.fill(0.0);
        let Some(mut ranked) = RankedQuery::new(self, query, None) else { return };
        let (sums, sigma) = (ranked.sums(), self.settings.sigma);
        ranked.scatter(&sums.gradient, sums.scale * sigma, gradient);
        ranked.scatter(&sums.curvature, sums.scale * sigma * sigma, curvature);
    }

    fn is_informed_by(&self, labels: &[f32]) -> bool {
        let Some((first, rest)) = labels.split_first() else { return false };
        let first = self.worth(*first);
        rest.iter().any(|&label| self.worth(label) != first)
    }
}

/// Without the damping and scaling of `normalize`, which follow the present scores.
impl Reweighted for Lambda {
    fn value_and_gradient_in_order(
        &self,
        query: ScoredQuery<'_>,
        anchor: &[f64],
        gradient: &mut [f64],
    ) -> f64 {
        gradient.fill(0.0);
        let Some(mut ranked) = RankedQuery::new(self, query, Some(anchor)) else { return 0.0 };
        let sums = ranked.sums();
        ranked.scatter(&sums.gradient, self.settings.sigma, gradient);
        ranked.loss()
    }
}
