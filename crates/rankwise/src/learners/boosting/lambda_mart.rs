//! LambdaMART: boosted trees on the λ-gradients of a metric (Wu, Burges, Svore and Gao 2010; Burges 2010).
//!
//! ```text
//! λ_ij = σ·|ΔZ_ij| / (1 + exp(σ(s_i − s_j))),   each tree takes a Newton step on Σ_j λ_ij
//! ```

use crate::card::Card;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::learners::boosting::{LearnedBias, PositionBias};
use crate::learners::pairwise::lambda_rank::LambdaRank;
use crate::learners::parameters::check_not_negative;
use crate::learners::{LambdaLinearParameters, LossKind, LossLearner, ScorerKind, Task};
use crate::losses::{Lambda, LambdaMetric, LambdaSettings};
use crate::metrics::Gain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The λ-gradients of LightGBM's `lambdarank`; boosted trees by default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LambdaMart {
    /// The metric to optimise: `ndcg`, `map`, `mrr` or `err`.
    pub lambda_metric: LambdaMetric,
    /// Only pairs with at least one document in the top k contribute; 0 for all pairs.
    pub k: usize,
    /// Steepness σ of the logistic function, above 0.
    pub sigma: f64,
    /// Whether gradients are normalised per query and by the distance of scores, as LightGBM does.
    pub lambda_norm: bool,
    /// Gain of a label in NDCG: `exp2` (2^label − 1), `linear` (the label) or `binary`.
    pub gain: Gain,
    /// Smallest label of a relevant document, for `map` and `mrr`, above 0.
    pub threshold: f32,
    /// Highest possible label, for `err`, above 0.
    pub max_grade: f32,
    /// Position bias of clicks that is learned while training: `none`, `additive` (LightGBM's) or `pairwise` (Unbiased LambdaMART). The data needs positions.
    pub position_bias: PositionBias,
    /// Regularisation of the position bias, at least 0: L2 penalty of additive biases; of pairwise ones, the p of their exponent 1/(1 + p).
    pub position_bias_regularization: f64,
}

impl Default for LambdaMart {
    fn default() -> Self {
        let LambdaSettings { metric, gain, threshold, max_grade, k, sigma, normalize, .. } =
            LambdaSettings::default();
        LambdaMart {
            lambda_metric: metric,
            k,
            sigma,
            lambda_norm: normalize,
            gain,
            threshold,
            max_grade,
            position_bias: PositionBias::None,
            position_bias_regularization: 0.0,
        }
    }
}

impl LossLearner for LambdaMart {
    const CARD: Card = Card {
        name: "lambda-mart",
        title: "LambdaMART",
        summary: "λ-gradients that optimise NDCG, MAP, MRR or ERR, by default with boosted trees: the usual \
                  choice for search.",
        citations: &["wu2010adapting", "burges2010ranknet"],
    };
    const SCORER: ScorerKind = ScorerKind::Trees;
    type Linear = LambdaLinearParameters;

    fn linear() -> LambdaLinearParameters {
        LambdaRank::linear()
    }

    fn check(&self, scorer: ScorerKind) -> Result<()> {
        check_not_negative("position_bias_regularization", self.position_bias_regularization)?;
        if self.position_bias != PositionBias::None && scorer != ScorerKind::Trees {
            return Err(Error::parameter(format!(
                "position_bias is learned while boosting trees, and the scorer is {}; use scorer trees, or weight the clicks \
                 by propensities",
                scorer.name()
            )));
        }
        self.lambda().map(drop)
    }

    fn learned_bias(&self) -> Result<Option<LearnedBias>> {
        Ok(match self.position_bias {
            PositionBias::None => None,
            kind => Some(LearnedBias {
                kind,
                regularization: self.position_bias_regularization,
                loss: self.lambda()?,
            }),
        })
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        Ok(LossKind::Lambda(Box::new(self.lambda()?)))
    }

    fn notes(&self, task: &Task<'_>) -> Vec<String> {
        let (metric, optimised) = (task.metric.name(), self.lambda_metric.name());
        if metric.starts_with(optimised) {
            return Vec::new();
        }
        vec![format!(
            "the gradients optimise {optimised} (parameter `lambda_metric`); {metric} only chose among iterations"
        )]
    }
}

impl LambdaMart {
    fn lambda(&self) -> Result<Lambda> {
        Lambda::new(LambdaSettings {
            metric: self.lambda_metric,
            gain: self.gain,
            threshold: self.threshold,
            max_grade: self.max_grade,
            k: self.k,
            sigma: self.sigma,
            normalize: self.lambda_norm,
            ..LambdaSettings::default()
        })
    }
}
