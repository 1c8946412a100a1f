//! MART: gradient-boosted regression trees on the grades (Friedman, Annals of Statistics 2001).
//!
//! ```text
//! min_F Σ_q Σ_i ½ (F(x_i) − r_i)²,   F = mean grade + ρ·Σ_t tree_t
//! ```

use super::boost::Boost;
use super::parameters::Boosting;
use super::target::MeanLoss;
use crate::card::Card;
use crate::error::Result;
use crate::learners::{Fitted, Learner, Task};
use crate::losses::Squared;
use crate::models::Combine;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Boosted regression trees.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Mart(pub Boosting);

impl Learner for Mart {
    const CARD: Card = Card {
        name: "mart",
        title: "MART",
        summary: "Boosted regression trees that predict the grade.",
        citations: &["friedman2001greedy"],
    };
    const CONTINUES: bool = true;

    fn check(&self) -> Result<()> {
        self.0.check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        let target = MeanLoss { data: task.train, loss: Squared, seed: task.seed };
        let boost = Boost {
            target: &target,
            boosting: &self.0,
            base: vec![mean_grade(task)],
            combine: Combine::Sum,
            average: None,
        };
        boost.fit(task, watch)
    }
}

/// The mean grade, each document with the weight of its query.
pub(in crate::learners) fn mean_grade(task: &Task<'_>) -> f64 {
    let (mut sum, mut weight) = (0.0, 0.0);
    for query in task.train.queries() {
        sum += query.weight() * query.labels().iter().map(|&r| f64::from(r)).sum::<f64>();
        weight += query.weight() * query.len() as f64;
    }
    sum / weight
}
