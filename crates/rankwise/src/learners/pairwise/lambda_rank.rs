//! LambdaRank: λ-gradients of a metric (Burges, Ragno and Le, NIPS 2006).
//!
//! ```text
//! ½‖w‖² + C/Q Σ_q Σ_{rᵢ>rⱼ} |ΔZᵢⱼ|·ln(1 + exp(−σ w·(xᵢ − xⱼ))) ,      |ΔZ| by the fixed current order
//! ```
//! With boosted trees it is LambdaMART without the scaling of `lambda_norm`.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::parameters::check_above_zero;
use crate::learners::{LambdaLinearParameters, LinearParameters, LossKind, LossLearner, ScorerKind};
use crate::losses::{Lambda, LambdaMetric, LambdaSettings};
use crate::metrics::Gain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// λ-gradients of a metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LambdaRank {
    /// The metric to optimise: `ndcg`, `map`, `mrr` or `err`.
    pub lambda_metric: LambdaMetric,
    /// Only pairs with at least one document in the top k contribute; 0 for all pairs.
    pub k: usize,
    /// Steepness of the logistic function, above 0.
    pub sigma: f64,
    /// Gain of a label r in NDCG: `exp2` (2^r − 1), `linear` (r) or `binary`.
    pub gain: Gain,
    /// Smallest label of a relevant document, for `map` and `mrr`, above 0.
    pub threshold: f32,
    /// Highest possible label, for `err`, above 0.
    pub max_grade: f32,
}

impl Default for LambdaRank {
    fn default() -> Self {
        let LambdaSettings { metric, gain, threshold, max_grade, sigma, .. } = LambdaSettings::default();
        let k = 0;
        LambdaRank { lambda_metric: metric, k, sigma, gain, threshold, max_grade }
    }
}

impl LossLearner for LambdaRank {
    const CARD: Card = Card {
        name: "lambda-rank",
        title: "LambdaRank",
        summary: "Logistic loss of pairs, each weighted by the change of a metric if its documents were \
                  swapped.",
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
            metric: self.lambda_metric,
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
