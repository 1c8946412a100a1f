//! GBRank: regression trees on the pairs that are still in the wrong order (Zheng, Chen, Sun and Zha,
//! SIGIR 2007).
//!
//! ```text
//! for every pair r_i > r_j with h(x_i) < h(x_j) + τ:   targets h(x_j) + τ for x_i and h(x_i) − τ for x_j
//! g_m = regression tree on the targets,   h_m = (m·h_{m−1} + β·g_m)/(m + 1)
//! ```
//!
//! A document is in many pairs. A least-squares tree needs only the sum and the number of their targets,
//! which come from the squared pair hinge `Σ [τ − (s_i − s_j)]₊²` without listing pairs: with `c_i` pairs,
//! `Σ targets = c_i·s_i − ½ ∂/∂s_i`.

use super::boost::Boost;
use super::parameters::TreesParameters;
use super::target::{Target, by_query};
use crate::card::Card;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::learners::parameters::check_above_zero;
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
    /// Margin τ by which the better document of a pair should lead, above 0.
    pub tau: f64,
    /// How trees are grown and averaged; the learning rate is β.
    #[serde(flatten)]
    pub trees: TreesParameters,
}

impl Default for GbRank {
    fn default() -> Self {
        GbRank { tau: 1.0, trees: TreesParameters { learning_rate: 1.0, ..TreesParameters::default() } }
    }
}

impl Learner for GbRank {
    const CARD: Card = Card {
        name: "gb-rank",
        title: "GBRank",
        summary: "Average of regression trees, each fitted to the pairs that the trees before it rank in the \
                  wrong order.",
        citations: &["zheng2007regression"],
    };
    const CONTINUES: bool = true;

    fn check(&self) -> Result<()> {
        check_above_zero("tau", self.tau)?;
        if self.trees.dropout != 0.0 {
            return Err(Error::parameter(
                "dropout is for learners that sum their trees, but gb-rank averages them; leave dropout at 0",
            ));
        }
        self.trees.check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        let target = Misordered { data: task.train, tau: self.tau };
        let boost = Boost {
            target: &target,
            parameters: &self.trees,
            base: vec![0.0],
            combine: Combine::Sum,
            average: Some(self.trees.learning_rate),
        };
        boost.fit(task, watch)
    }
}

/// Regression on the targets of misordered pairs.
struct Misordered<'a> {
    data: &'a Dataset,
    tau: f64,
}

impl Target for Misordered<'_> {
    fn gradients(&self, scores: &[Vec<f64>], _: u64, slopes: &mut [Vec<f64>], curvatures: &mut [Vec<f64>]) {
        let hinge = SquaredPairHinge::default();
        let slopes = by_query(self.data, &mut slopes[0]);
        let curvatures = by_query(self.data, &mut curvatures[0]);
        parallel::for_each(slopes.into_iter().zip(curvatures).enumerate(), |(q, (slopes, counts))| {
            let query = self.data.query(q);
            // In units of τ, since the hinge has a margin of 1.
            let scores: Vec<f64> = scores[0][query.range()].iter().map(|s| s / self.tau).collect();
            let scored = ScoredQuery { labels: query.labels(), scores: &scores, seed: 0 };
            hinge.newton(scored, slopes, counts);
            for ((slope, count), score) in slopes.iter_mut().zip(counts).zip(&scores) {
                // The hinge's second derivative is twice the number of pairs.
                *count *= 0.5 * query.weight();
                *slope = (0.5 * *slope * query.weight() - *count * score) * self.tau;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels 2, 1, 0 with scores 0, 2.5, −0.5 and τ = 2: the pairs (0,1) and (0,2) violate the margin, (1,2)
    /// does not.
    #[test]
    fn targets_match_the_calculation_by_hand() {
        let data = Dataset::dense(vec![0.0; 3], 1, vec![2.0, 1.0, 0.0], &[3]).unwrap();
        let (mut slopes, mut counts) = (vec![vec![0.0; 3]], vec![vec![0.0; 3]]);
        let target = Misordered { data: &data, tau: 2.0 };
        target.gradients(&[vec![0.0, 2.5, -0.5]], 0, &mut slopes, &mut counts);
        assert_eq!(counts[0], [2.0, 1.0, 1.0]);
        // Targets: 2.5 + 2 and −0.5 + 2 for the first, 0 − 2 for each of the others.
        let targets: Vec<f64> = slopes[0].iter().map(|g| -g).collect();
        assert_eq!(targets, [6.0, -2.0, -2.0]);
    }
}
