//! Regression on the labels by least squares (Cossock and Zhang, COLT 2006).
//!
//! ```text
//! min_{w,b} ½ Σ_q v_q Σᵢ (w·xᵢ + b − rᵢ)² / Σ v  +  ½ λ ‖w‖²      (w in units of standardised features)
//! ```
//!
//! `v_q` is the weight of the query. A baseline that other learners should beat, though it is often hard to
//! beat.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::parameters::check_not_negative;
use crate::learners::{Fitted, LossKind, LossLearner, LossScorer, ScorerKind, Task};
use crate::losses::{QueryLoss, ScoredQuery, Squared};
use crate::models::{Model, Outcome, Record};
use crate::solvers::{RidgeFit, ridge};
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Squared error of the labels.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Regression {}

impl LossLearner for Regression {
    const CARD: Card = Card {
        name: "regression",
        title: "Linear regression",
        summary: "Squared error of the labels; its linear model is ridge regression in closed form.",
        citations: &["cossock2006subset"],
    };
    type Linear = RidgeParameters;

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        Ok(LossKind::Smooth(Box::new(Squared)))
    }

    /// Squared error estimates what is expected of a label, so weighted clicks are labels like any other.
    fn loss_of_clicks(&self, train: &Dataset) -> Result<LossKind> {
        self.loss(train)
    }
}

/// How a linear model of least squares is fitted: in closed form, with a bias.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(inline)]
pub struct RidgeParameters {
    /// Strength λ ≥ 0 of the ridge ½λ‖w‖² on standardised features; 0 for none.
    pub ridge: f64,
}

impl Default for RidgeParameters {
    fn default() -> Self {
        RidgeParameters { ridge: 1e-3 }
    }
}

/// Learners whose loss is the squared error of the labels.
pub(in crate::learners) trait SquaredError {}

impl SquaredError for Regression {}

impl<L: SquaredError> LossScorer<L> for RidgeParameters {
    const KIND: ScorerKind = ScorerKind::Linear;
    const DISTRIBUTES: bool = true;

    fn check(&self, _: &L) -> Result<()> {
        check_not_negative("ridge", self.ridge)
    }

    fn fit(&self, _: &L, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(self.least_squares(task, watch))
    }
}

impl RidgeParameters {
    fn least_squares(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Fitted {
        let data = task.train;
        let targets: Vec<f64> = data.labels().iter().map(|&r| f64::from(r)).collect();
        let weights: Vec<f64> =
            data.queries().flat_map(|q| std::iter::repeat_n(q.weight(), q.len())).collect();
        let fit = ridge(data, &targets, &weights, self.ridge, watch);
        fitted(data, fit, watch.stop().requested())
    }
}

fn fitted(data: &Dataset, fit: RidgeFit, interrupted: bool) -> Fitted {
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

fn mean_squared_error(data: &Dataset, model: &Model) -> f64 {
    let (total, weight) = data.total(|queries| {
        let (mut total, mut weight) = (0.0, 0.0);
        let (mut scores, mut gradient) = (Vec::new(), Vec::new());
        for query in queries.map(|q| data.query(q)) {
            scores.resize(query.len(), 0.0);
            gradient.resize(query.len(), 0.0);
            model.score_query(query, &mut scores);
            let scored = ScoredQuery { labels: query.labels(), scores: &scores, seed: 0 };
            total += query.weight() * 2.0 * Squared.value_and_gradient(scored, &mut gradient);
            weight += query.weight() * query.len() as f64;
        }
        (total, weight)
    });
    total / weight
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Features, Parts};
    use crate::metrics::{Conventions, parse};
    use crate::models::LinearModel;
    use crate::watch::Silent;

    /// Four documents, one feature: the line through (0,0), (1,1), (2,1), (3,2) has slope 0.6 and intercept
    /// 0.1, and leaves a mean squared error of 0.05.
    #[test]
    fn a_regression_by_hand() {
        let train = Dataset::new(Parts {
            features: Features::dense(1, vec![0.0, 1.0, 2.0, 3.0]),
            labels: vec![0.0, 1.0, 1.0, 2.0],
            bounds: vec![0, 2, 4],
            query_ids: ["a", "b"].into_iter().collect(),
            ..Parts::default()
        })
        .unwrap();
        let metric = parse("ndcg", &Conventions::default()).unwrap();
        let task = Task::new(&train, metric.as_ref(), 1);
        let fitted = RidgeParameters { ridge: 0.0 }.least_squares(&task, &mut Silent::default());
        let Model::Linear(LinearModel { weights, bias }) = &fitted.model else { panic!("a linear model") };
        assert!((weights[0] - 0.6).abs() < 1e-12 && (bias - 0.1).abs() < 1e-12);
        assert!((fitted.record.figures[0].1 - 0.05).abs() < 1e-12);
    }
}
