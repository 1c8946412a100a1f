//! MART: gradient-boosted regression trees on the labels (Friedman, Annals of Statistics 2001).
//!
//! ```text
//! min_F Σ_q Σ_i ½ (F(x_i) − r_i)²,   F = mean label + ρ·Σ_t tree_t
//! ```

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::pointwise::regression::{RidgeParameters, SquaredError};
use crate::learners::{LossKind, LossLearner, ScorerKind, Task};
use crate::losses::Squared;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Squared error of the labels; boosted trees start from the mean label.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mart {}

impl LossLearner for Mart {
    const CARD: Card = Card {
        name: "mart",
        title: "MART",
        summary: "Squared error of the labels, by default with boosted regression trees.",
        citations: &["friedman2001greedy"],
    };
    const SCORER: ScorerKind = ScorerKind::Trees;
    type Linear = RidgeParameters;

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        Ok(LossKind::Smooth(Box::new(Squared)))
    }

    /// Squared error estimates what is expected of a label, so weighted clicks are labels like any other.
    fn loss_of_clicks(&self, train: &Dataset) -> Result<LossKind> {
        self.loss(train)
    }

    fn initial_score(&self, task: &Task<'_>) -> f64 {
        mean_label(task)
    }
}

impl SquaredError for Mart {}

/// The mean label, each document with the weight of its query.
pub(in crate::learners) fn mean_label(task: &Task<'_>) -> f64 {
    let train = task.train;
    let (sum, weight) = train.total(|queries| {
        let (mut sum, mut weight) = (0.0, 0.0);
        for query in queries.map(|q| train.query(q)) {
            sum += query.weight() * query.labels().iter().map(|&r| f64::from(r)).sum::<f64>();
            weight += query.weight() * query.len() as f64;
        }
        (sum, weight)
    });
    sum / weight
}
