//! Regression: a linear model of the grades by least squares (Cossock and Zhang, COLT 2006).
//!
//! ```text
//! min_{w,b} ½ Σ_q v_q Σᵢ (w·xᵢ + b − rᵢ)² / Σ v  +  ½ λ ‖w‖²      (w in units of standardised features)
//! ```
//!
//! `v_q` is the weight of the query. The baseline every other learner should beat, and often a hard one.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::learners::{ByLoss, Fitted, Learner, Task};
use crate::losses::{QueryLoss, ScoredQuery, Squared};
use crate::models::{Model, Outcome, Record};
use crate::solvers::{RidgeFit, ridge};
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Least squares with a ridge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Regression {
    /// Strength λ ≥ 0 of the ridge ½λ‖w‖² on standardised features; 0 for none.
    pub ridge: f64,
}

impl Default for Regression {
    fn default() -> Self {
        Regression { ridge: 1e-3 }
    }
}

impl Learner for Regression {
    const CARD: Card = Card {
        name: "regression",
        title: "Linear regression",
        summary: "A linear model of the grades by least squares with a ridge.",
        citations: &["cossock2006subset"],
    };

    fn check(&self) -> Result<()> {
        if self.ridge.is_finite() && self.ridge >= 0.0 {
            return Ok(());
        }
        Err(Error::parameter(format!("ridge is {}; it must be finite and at least 0", self.ridge)))
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        let data = task.train;
        let targets: Vec<f64> = data.labels().iter().map(|&r| f64::from(r)).collect();
        let weights: Vec<f64> =
            data.queries().flat_map(|q| std::iter::repeat_n(q.weight(), q.len())).collect();
        let fit = ridge(data, &targets, &weights, self.ridge, watch);
        let interrupted = watch.stop().requested();
        Ok(self.fitted(data, fit, interrupted))
    }
}

impl ByLoss for Regression {
    fn concerns_loss(_: &str) -> bool {
        false
    }

    fn loss_of_scores(&self, _: &Dataset) -> Result<Box<dyn QueryLoss>> {
        Ok(Box::new(Squared))
    }
}

impl Regression {
    fn fitted(&self, data: &Dataset, fit: RidgeFit, interrupted: bool) -> Fitted {
        let mut notes = Vec::new();
        if fit.dependent > 0 {
            notes.push(format!(
                "features that are constant or a combination of others have weight 0: {}",
                fit.dependent
            ));
        }
        let outcome = match (fit.converged, interrupted) {
            (true, _) => Outcome::Converged,
            (false, true) => Outcome::Interrupted,
            (false, false) => Outcome::RoundsUsedUp,
        };
        let model = Model::linear(fit.weights, fit.bias);
        let figures = vec![("mean squared error".to_string(), mean_squared_error(data, &model))];
        Fitted { model, record: Record { outcome, rounds: fit.rounds, figures, notes } }
    }
}

fn mean_squared_error(data: &Dataset, model: &Model) -> f64 {
    let (mut total, mut weight) = (0.0, 0.0);
    let (mut scores, mut gradient) = (Vec::new(), Vec::new());
    for query in data.queries() {
        scores.resize(query.len(), 0.0);
        gradient.resize(query.len(), 0.0);
        model.score_query(query, &mut scores);
        let scored = ScoredQuery { labels: query.labels(), scores: &scores, seed: 0 };
        total += query.weight() * 2.0 * Squared.value_and_gradient(scored, &mut gradient);
        weight += query.weight() * query.len() as f64;
    }
    total / weight
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learners::Start;
    use crate::metrics::{Conventions, parse};
    use crate::models::LinearModel;
    use crate::watch::Silent;

    /// Four documents, one feature: the line through (0,0), (1,1), (2,1), (3,2) has slope 0.6 and intercept 0.1,
    /// and leaves a mean squared error of 0.05.
    #[test]
    fn a_regression_by_hand() {
        let train = Dataset::dense(vec![0.0, 1.0, 2.0, 3.0], 1, vec![0.0, 1.0, 1.0, 2.0], &[2, 2]).unwrap();
        let metric = parse("ndcg", &Conventions::default()).unwrap();
        let task =
            Task { train: &train, valid: None, metric: metric.as_ref(), seed: 1, start: Start::default() };
        let fitted = Regression { ridge: 0.0 }.fit(&task, &mut Silent::default()).unwrap();
        let Model::Linear(LinearModel { weights, bias }) = &fitted.model else { panic!("a linear model") };
        assert!((weights[0] - 0.6).abs() < 1e-12 && (bias - 0.1).abs() < 1e-12);
        assert!((fitted.record.figures[0].1 - 0.05).abs() < 1e-12);
    }
}
