//! LambdaMART: boosted trees on the λ-gradients of a measure (Wu, Burges, Svore and Gao 2010; Burges 2010).
//!
//! ```text
//! λ_ij = σ·|ΔZ_ij| / (1 + exp(σ(s_i − s_j))),   each tree takes a Newton step on Σ_j λ_ij
//! ```

use super::boost::fit_loss;
use super::parameters::Boosting;
use crate::card::Card;
use crate::error::Result;
use crate::learners::margin::check_above_zero;
use crate::learners::{Fitted, Learner, Task};
use crate::losses::{Lambda, LambdaMetric, LambdaSettings};
use crate::metrics::Gain;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Boosted trees on λ-gradients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LambdaMart {
    /// The measure to raise: `ndcg`, `map`, `mrr` or `err`.
    pub measure: LambdaMetric,
    /// Pairs count of which at least one document is among the first k; 0 for all pairs.
    pub k: usize,
    /// Steepness of the logistic function, above 0.
    pub sigma: f64,
    /// Whether steps are evened out between queries and between close and distant scores, as LightGBM does.
    pub normalize: bool,
    /// What a grade is worth in NDCG: `exp2` (2^r − 1), `linear` (r) or `binary`.
    pub gain: Gain,
    /// The least grade of a good document, for `map` and `mrr`, above 0.
    pub threshold: f32,
    /// The highest grade there is, for `err`, above 0.
    pub max_grade: f32,
    /// How trees are grown and added up.
    #[serde(flatten)]
    pub boosting: Boosting,
}

impl Default for LambdaMart {
    fn default() -> Self {
        let LambdaSettings { metric: measure, gain, threshold, max_grade, k, sigma, normalize, .. } =
            LambdaSettings::default();
        LambdaMart { measure, k, sigma, normalize, gain, threshold, max_grade, boosting: Boosting::default() }
    }
}

impl Learner for LambdaMart {
    const CARD: Card = Card {
        name: "lambda-mart",
        title: "LambdaMART",
        summary: "Boosted trees that raise NDCG, MAP, MRR or ERR: the usual choice for search.",
        citations: &["wu2010adapting", "burges2010ranknet"],
    };
    const CONTINUES: bool = true;

    fn check(&self) -> Result<()> {
        check_above_zero("sigma", self.sigma)?;
        check_above_zero("threshold", self.threshold.into())?;
        check_above_zero("max_grade", self.max_grade.into())?;
        self.boosting.check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        let settings = LambdaSettings {
            metric: self.measure,
            gain: self.gain,
            threshold: self.threshold,
            max_grade: self.max_grade,
            k: self.k,
            sigma: self.sigma,
            normalize: self.normalize,
            ..LambdaSettings::default()
        };
        let mut fitted = fit_loss(Lambda::new(settings)?, &self.boosting, task, watch)?;
        let (metric, measure) = (task.metric.name(), format!("{:?}", self.measure).to_lowercase());
        if !metric.starts_with(&measure) {
            fitted.record.notes.push(format!(
                "the trees raise {measure}, as the parameter `measure` says; {metric} only chose among rounds"
            ));
        }
        Ok(fitted)
    }
}
