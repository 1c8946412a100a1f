//! LambdaLoss: NDCG-Loss2++ (Wang, Li, Golbandi, Bendersky and Najork, CIKM 2018).
//!
//! ```text
//! ½‖w‖² + C/Q Σ_q Σ_{rᵢ>rⱼ} |gᵢ − gⱼ|·(|uᵢ − uⱼ| + μ(v_d − v_{d+1}))·ln(1 + exp(−σ w·(xᵢ − xⱼ)))
//! ```
//! The weights are those of the current order, fixed for a while: the expectation and maximisation steps of
//! the paper.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::learners::parameters::check_above_zero;
use crate::learners::{LambdaLinearParameters, LinearParameters, LossKind, LossLearner, ScorerKind};
use crate::losses::{Lambda, LambdaSettings};
use crate::metrics::Gain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// NDCG-Loss2++.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LambdaLoss {
    /// Weight μ of the discount of the distance between the ranks of a pair, at least 0.
    pub mu: f64,
    /// Only pairs with at least one document in the top k contribute; 0 for all pairs.
    pub k: usize,
    /// Steepness of the logistic function, above 0.
    pub sigma: f64,
    /// Gain of a label r: `exp2` (2^r − 1), `linear` (r) or `binary`.
    pub gain: Gain,
}

impl Default for LambdaLoss {
    fn default() -> Self {
        LambdaLoss { mu: 10.0, k: 0, sigma: 1.0, gain: Gain::default() }
    }
}

impl LossLearner for LambdaLoss {
    const CARD: Card = Card {
        name: "lambda-loss",
        title: "LambdaLoss",
        summary: "NDCG-Loss2++: logistic loss of pairs weighted by gains, discounts and the discount of \
                  their distance.",
        citations: &["wang2018lambdaloss"],
    };

    type Linear = LambdaLinearParameters;

    fn linear() -> LambdaLinearParameters {
        LambdaLinearParameters { linear: LinearParameters::smooth(0.1), ..LambdaLinearParameters::default() }
    }

    fn check(&self, _: ScorerKind) -> Result<()> {
        check_above_zero("sigma", self.sigma)?;
        self.lambda().map(drop)?;
        Ok(())
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        Ok(LossKind::Lambda(Box::new(self.lambda()?)))
    }
}

impl LambdaLoss {
    fn lambda(&self) -> Result<Lambda> {
        if !(self.mu >= 0.0 && self.mu.is_finite()) {
            return Err(Error::parameter(format!("mu is {}; it must be finite and at least 0", self.mu)));
        }
        Lambda::new(LambdaSettings {
            gain: self.gain,
            k: self.k,
            sigma: self.sigma,
            normalize: false,
            distance: self.mu,
            ..LambdaSettings::default()
        })
    }
}
