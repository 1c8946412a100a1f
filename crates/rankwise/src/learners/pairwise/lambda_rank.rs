//! LambdaRank: a linear model by λ-gradients (Burges, Ragno and Le, NIPS 2006).
//!
//! ```text
//! ½‖w‖² + C/Q Σ_q Σ_{rᵢ>rⱼ} |ΔZᵢⱼ|·ln(1 + exp(−σ w·(xᵢ − xⱼ))) ,      |ΔZ| by the present order, held fast for a while
//! ```
//! Its trees are LambdaMART without the scaling of `normalize`.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::margin::check_above_zero;
use crate::learners::smooth::{self, Smooth, check_count};
use crate::learners::{ByLoss, Fitted, Learner, Task};
use crate::losses::{Lambda, LambdaMetric, LambdaSettings, QueryLoss};
use crate::metrics::Gain;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ranker by λ-gradients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LambdaRank {
    /// The measure to raise: `ndcg`, `map`, `mrr` or `err`.
    pub measure: LambdaMetric,
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
    /// How often the order is taken anew, for a linear model, at least 1.
    pub orders: u64,
    /// How the linear model is found.
    #[serde(flatten)]
    pub smooth: Smooth,
}

impl Default for LambdaRank {
    fn default() -> Self {
        let LambdaSettings { metric: measure, gain, threshold, max_grade, sigma, .. } =
            LambdaSettings::default();
        let k = 0;
        LambdaRank {
            measure,
            k,
            sigma,
            gain,
            threshold,
            max_grade,
            orders: 10,
            smooth: Smooth { c: 10.0, ..Smooth::default() },
        }
    }
}

impl Learner for LambdaRank {
    const CARD: Card = Card {
        name: "lambda-rank",
        title: "LambdaRank",
        summary: "The logistic loss of pairs, each weighted by what a measure would change were its documents to swap.",
        citations: &["burges2006lambdarank"],
    };

    fn check(&self) -> Result<()> {
        check_above_zero("sigma", self.sigma)?;
        check_above_zero("threshold", self.threshold.into())?;
        check_above_zero("max_grade", self.max_grade.into())?;
        check_count("orders", self.orders)?;
        self.smooth.check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(smooth::fit_reweighted(self.loss()?, self.orders, &self.smooth, task, watch))
    }
}

impl ByLoss for LambdaRank {
    fn concerns_loss(parameter: &str) -> bool {
        !Smooth::has(parameter) && parameter != "orders"
    }

    fn loss_of_scores(&self, _: &Dataset) -> Result<Box<dyn QueryLoss>> {
        Ok(Box::new(self.loss()?))
    }
}

impl LambdaRank {
    fn loss(&self) -> Result<Lambda> {
        Lambda::new(LambdaSettings {
            metric: self.measure,
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
