//! LambdaRank: a linear model by λ-gradients (Burges, Ragno and Le, NIPS 2006).
//!
//! ```text
//! ½‖w‖² + C/Q Σ_q Σ_{rᵢ>rⱼ} |ΔZᵢⱼ|·ln(1 + exp(−σ w·(xᵢ − xⱼ))) ,      |ΔZ| by the present order, held fast for a while
//! ```
//! Its trees are LambdaMART without the scaling of `normalize`.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::parameters::check_above_zero;
use crate::learners::{LambdaLinearParameters, LinearParameters, LossKind, LossLearner, ScorerKind};
use crate::losses::{Lambda, LambdaMetric, LambdaSettings};
use crate::metrics::Gain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ranker by λ-gradients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LambdaRank {
    /// The metric to optimise: `ndcg`, `map`, `mrr` or `err`.
    pub metric: LambdaMetric,
    /// Pairs count of which at least one document is among the first k; 0 for all pairs.
    pub k: usize,
    /// Steepness of the logistic function, above 0.
    pub sigma: f64,
    /// What a grade is worth in NDCG: `exp2` (2^r − 1), `linear` (r) or `binary`.
    pub gain: Gain,
    /// The least grade of a good document, for `map` and `mrr`, above 0.
    pub threshold: f32,
    /// The highest grade there is, for `err`, above 0.
    pub max_grade: f32,
}

impl Default for LambdaRank {
    fn default() -> Self {
        let LambdaSettings { metric, gain, threshold, max_grade, sigma, .. } = LambdaSettings::default();
        let k = 0;
        LambdaRank { metric, k, sigma, gain, threshold, max_grade }
    }
}

impl LossLearner for LambdaRank {
    const CARD: Card = Card {
        name: "lambda-rank",
        title: "LambdaRank",
        summary: "The logistic loss of pairs, each weighted by the change of a metric if its documents swapped.",
        citations: &["burges2006lambdarank"],
    };

    type Linear = LambdaLinearParameters;

    fn linear() -> LambdaLinearParameters {
        LambdaLinearParameters { linear: LinearParameters::smooth(10.0), ..LambdaLinearParameters::default() }
    }

    fn check(&self, _: ScorerKind) -> Result<()> {
        check_above_zero("sigma", self.sigma)?;
        check_above_zero("threshold", self.threshold.into())?;
        check_above_zero("max_grade", self.max_grade.into())
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        Ok(LossKind::Lambda(Box::new(self.lambda()?)))
    }
}

impl LambdaRank {
    fn lambda(&self) -> Result<Lambda> {
        Lambda::new(LambdaSettings {
            metric: self.metric,
            gain: self.gain,
            threshold: self.threshold,
            max_grade: self.max_grade,
            k: self.k,
            sigma: self.sigma,
            normalize: false,
            ..LambdaSettings::default()
        })
    }
}
