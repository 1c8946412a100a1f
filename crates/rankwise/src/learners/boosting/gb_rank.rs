//! GBRank: regression trees on the pairs that are still in the wrong order (Zheng, Chen, Sun and Zha,
//! SIGIR 2007).
//!
//! ```text
//! h_0 = boosted regression trees on the labels
//! for every pair r_i > r_j with h(x_i) < h(x_j) + τ:   targets h(x_j) + τ for x_i and h(x_i) − τ for x_j
//! g_m = regression tree on the targets,   h_m = (m·h_{m−1} + β·g_m)/(m + 1)
//! ```
//!
//! h_0 gives τ its unit, that of the labels: if h_0 were 0, all h_m would be proportional to τ, and no order
//! would depend on it.
//!
//! A document is in many pairs. A least-squares tree needs only the sum and the number of their targets,
//! which come from the squared pair hinge `Σ [τ − (s_i − s_j)]₊²` without listing pairs: with `c_i` pairs,
//! `Σ targets = c_i·s_i − ½ ∂/∂s_i`.

use super::boost::{Averaging, Boost};
use super::mart::mean_label;
use super::parameters::TreesParameters;
use super::target::{Target, by_query};
use crate::card::Card;
use crate::data::{Dataset, Query};
use crate::error::{Error, Result};
use crate::learners::parameters::{check_above_zero, check_at_least};
use crate::learners::{Fitted, Learner, Task};
use crate::losses::{QueryLoss, ScoredQuery, SquaredPairHinge};
use crate::models::Combine;
use crate::parallel;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Averaged regression trees on misordered pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GbRank {
    /// Margin τ by which the better document of a pair should lead, in units of the labels, above 0.
    pub tau: f64,
    /// Number of regression trees on the labels from which training starts, at least 1; they come before `iterations`.
    pub initial_iterations: u64,
    /// Factor by which each of the initial trees is shrunk, above 0 and at most 1.
    pub initial_learning_rate: f64,
    /// How trees are grown and averaged; the learning rate is β.
    #[serde(flatten)]
    pub trees: TreesParameters,
}

impl Default for GbRank {
    fn default() -> Self {
        GbRank {
            tau: 1.0,
            initial_iterations: 50,
            initial_learning_rate: 0.1,
            trees: TreesParameters {
                iterations: 100,
                learning_rate: 1.0,
                num_leaves: 31,
                ..TreesParameters::default()
            },
        }
    }
}

impl Learner for GbRank {
    const CARD: Card = Card {
        name: "gb-rank",
        title: "GBRank",
        summary: "Average of regression trees, each fitted to the pairs that the trees before it rank in the \
                  wrong order; starts from boosted regression trees on the labels.",
        citations: &["zheng2007regression"],
    };
    const CONTINUES: bool = true;
    const TAKES_CATEGORIES: bool = true;
    const DISTRIBUTES: bool = true;

    fn check(&self) -> Result<()> {
        check_above_zero("tau", self.tau)?;
        check_at_least("initial_iterations", self.initial_iterations, 1)?;
        let rate = self.initial_learning_rate;
        if !(rate > 0.0 && rate <= 1.0) {
            return Err(Error::parameter(format!(
                "initial_learning_rate is {rate}; it must be above 0 and at most 1"
            )));
        }
        if self.trees.dropout != 0.0 {
            return Err(Error::parameter(
                "dropout is for learners that sum their trees, but gb-rank averages them; leave dropout at 0",
            ));
        }
        self.trees.check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        let first = self.initial_iterations;
        let mut target = Misordered { data: task.train, tau: self.tau, first, mean: mean_label(task) };
        let boost = Boost {
            target: &mut target,
            parameters: &self.trees,
            base: vec![0.0],
            combine: Combine::Sum,
            average: Some(Averaging { first, rate: self.initial_learning_rate }),
        };
        boost.fit(task, watch)
    }
}

/// Regression: on the labels for the first rounds, then on the targets of misordered pairs.
struct Misordered<'a> {
    data: &'a Dataset,
    tau: f64,
    /// Number of rounds of regression on the labels.
    first: u64,
    /// The mean label, which is subtracted: only differences of scores matter, and trees start from 0.
    mean: f64,
}

impl Misordered<'_> {
    fn on_labels(&self, query: &Query<'_>, scores: &[f64], slopes: &mut [f64], counts: &mut [f64]) {
        counts.fill(query.weight());
        for ((slope, &label), score) in slopes.iter_mut().zip(query.labels()).zip(scores) {
            *slope = (score - (f64::from(label) - self.mean)) * query.weight();
        }
    }

    fn on_pairs(&self, query: &Query<'_>, scores: &[f64], slopes: &mut [f64], counts: &mut [f64]) {
        // In units of τ, since the hinge has a margin of 1.
        let scores: Vec<f64> = scores.iter().map(|s| s / self.tau).collect();
        let scored = ScoredQuery { labels: query.labels(), scores: &scores, seed: 0 };
        SquaredPairHinge::default().newton(scored, slopes, counts);
        for ((slope, count), score) in slopes.iter_mut().zip(counts).zip(&scores) {
            // The hinge's second derivative is twice the number of pairs.
            *count *= 0.5 * query.weight();
            *slope = (0.5 * *slope * query.weight() - *count * score) * self.tau;
        }
    }
}

impl Target for Misordered<'_> {
    fn gradients(
        &mut self,
        scores: &[Vec<f64>],
        round: u64,
        slopes: &mut [Vec<f64>],
        counts: &mut [Vec<f64>],
    ) -> Result<()> {
        let slopes = by_query(self.data, &mut slopes[0]);
        let counts = by_query(self.data, &mut counts[0]);
        parallel::for_each(slopes.into_iter().zip(counts).enumerate(), |(q, (slopes, counts))| {
            let query = self.data.query(q);
            let scores = &scores[0][query.range()];
            if round < self.first {
                self.on_labels(&query, scores, slopes, counts);
            } else {
                self.on_pairs(&query, scores, slopes, counts);
            }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Conventions, parse};
    use crate::rng;
    use crate::watch::Silent;
    use rand::RngExt;

    /// Labels 2, 1, 0 with scores 0, 2.5, −0.5 and τ = 2: the pairs (0,1) and (0,2) violate the margin, (1,2)
    /// does not.
    #[test]
    fn targets_match_the_calculation_by_hand() {
        let data = Dataset::dense(vec![0.0; 3], 1, vec![2.0, 1.0, 0.0], &[3]).unwrap();
        let (mut slopes, mut counts) = (vec![vec![0.0; 3]], vec![vec![0.0; 3]]);
        let mut target = Misordered { data: &data, tau: 2.0, first: 3, mean: 1.0 };
        target.gradients(&[vec![0.0, 2.5, -0.5]], 3, &mut slopes, &mut counts).unwrap();
        assert_eq!(counts[0], [2.0, 1.0, 1.0]);
        // Targets: 2.5 + 2 and −0.5 + 2 for the first, 0 − 2 for each of the others.
        let targets: Vec<f64> = slopes[0].iter().map(|g| -g).collect();
        assert_eq!(targets, [6.0, -2.0, -2.0]);
    }

    /// The first rounds are regression on the labels less their mean.
    #[test]
    fn the_first_rounds_fit_the_labels() {
        let data = Dataset::dense(vec![0.0; 3], 1, vec![2.0, 1.0, 0.0], &[3]).unwrap();
        let (mut slopes, mut counts) = (vec![vec![0.0; 3]], vec![vec![0.0; 3]]);
        let mut target = Misordered { data: &data, tau: 2.0, first: 3, mean: 1.0 };
        target.gradients(&[vec![0.0, 0.5, -0.5]], 2, &mut slopes, &mut counts).unwrap();
        assert_eq!((&slopes[0][..], &counts[0][..]), (&[-1.0, 0.5, 0.5][..], &[1.0; 3][..]));
    }

    /// Two labels that overlap in the feature. If training started from 0, the scores for any two values of τ
    /// would be proportional.
    #[test]
    fn tau_changes_the_order_of_scores_not_only_their_size() {
        let (mut values, mut labels, mut random) = (Vec::new(), Vec::new(), rng::stream(3, &[]));
        for _ in 0..200 {
            let row: [f32; 2] = random.random();
            values.extend(row);
            labels.push((2.0 * row[0] + row[1] * row[1] + random.random::<f32>()).floor());
        }
        let data = Dataset::dense(values, 2, labels, &[20; 10]).unwrap();
        let metric = parse("ndcg@5", &Conventions::default()).unwrap();
        let scores = |tau: f64| {
            let learner = GbRank { tau, ..GbRank::default() };
            let task = Task::new(&data, &*metric, 1);
            let scores = learner.fit(&task, &mut Silent::default()).unwrap().model.scores(&data).unwrap();
            let norm = scores.iter().map(|s| s * s).sum::<f64>().sqrt();
            scores.into_iter().map(|s| s / norm).collect::<Vec<f64>>()
        };
        let (small, large) = (scores(0.1), scores(2.0));
        let apart = small.iter().zip(&large).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        assert!(apart > 0.05, "tau changes only the size of scores: {apart}");
    }
}
