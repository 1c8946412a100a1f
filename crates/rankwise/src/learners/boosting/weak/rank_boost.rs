//! RankBoost: threshold rules on the exponential loss of pairs (Freund, Iyer, Schapire and Singer 2003).
//!
//! ```text
//! D_ij ∝ v_q·exp(s_j − s_i)  for r_i > r_j ,   r = Σ D_ij (h_i − h_j) ,   α = ½ ln((1+r)/(1−r))
//! ```
//!
//! The distribution over pairs is never stored. Within a query `exp(s_j − s_i)` is a product, so with the
//! sums of `exp(s_j)` over all lower labels and of `exp(−s_j)` over all higher ones, every document's term in
//! r comes in one pass:
//!
//! ```text
//! w_i = exp(−s_i)·Σ_{r_j < r_i} exp(s_j) − exp(s_i)·Σ_{r_j > r_i} exp(−s_j) ,   r = Σ_i w_i h_i
//! ```
//!
//! The mean exponential loss of the pairs after T rounds is `Π_t Z_t`, an upper bound on the fraction of
//! pairs in the wrong order. With weights `W₊` and `W₋` of the pairs that a rule orders right and wrong,
//! `Z(α) = W₀ + W₊e^{−α} + W₋e^{α}`: its minimum is at `α = ½ ln(W₊/W₋)`, which `step = "exact"` uses.

use super::pairs::Graded;
use super::{MAX_STEP, Weak, WeakRounds, WeakTarget, fit};
use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::boosting::target::by_query;
use crate::learners::{Fitted, Learner, Task};
use crate::parallel;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Threshold rules on the exponential loss of pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RankBoost {
    /// Weight of a rule: `r` (the formula of the paper) or `exact` (the minimum of the loss along the rule).
    pub step: RuleWeight,
    /// How many rules there are and how they are found.
    #[serde(flatten)]
    pub weak: WeakRounds,
}

/// How a rule's weight is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum RuleWeight {
    /// `½ ln((1+r)/(1−r))`
    #[default]
    R,
    /// `½ ln(W₊/W₋)`
    Exact,
}

impl Default for RankBoost {
    fn default() -> Self {
        RankBoost { step: RuleWeight::R, weak: WeakRounds::default() }
    }
}

impl Learner for RankBoost {
    const CARD: Card = Card {
        name: "rank-boost",
        title: "RankBoost",
        summary: "Boosted threshold rules that minimise the exponential loss of pairs.",
        citations: &["freund2003efficient"],
    };
    const DISTRIBUTES: bool = true;
    const CONTINUES: bool = true;

    fn check(&self) -> Result<()> {
        self.weak.check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        fit(Pairs::new(task.train, self.step), Weak::Stump, &self.weak, task, watch)
    }
}

/// The exponential loss of all pairs.
pub(super) struct Pairs<'a> {
    data: &'a Dataset,
    step: RuleWeight,
    queries: Vec<Graded>,
    /// `Σ_q v_q·pairs`: the divisor of sums over pairs.
    mass: f64,
    /// Each query's factor in the distribution, in units of [`Factors`] sums.
    parts: Vec<f64>,
}

/// The exponentials of one query, scaled so that none overflows.
struct Factors {
    /// `exp(s − s_max)`
    rising: Vec<f64>,
    /// `exp(s_min − s)`
    falling: Vec<f64>,
    /// `s_max − s_min`: a pair is the product of both, times the exponential of this.
    range: f64,
}

impl Factors {
    fn new(scores: &[f64]) -> Factors {
        let (low, high) = scores.iter().fold((f64::MAX, f64::MIN), |(l, h), &s| (l.min(s), h.max(s)));
        Factors {
            rising: scores.iter().map(|s| (s - high).exp()).collect(),
            falling: scores.iter().map(|s| (low - s).exp()).collect(),
            range: high - low,
        }
    }
}

impl<'a> Pairs<'a> {
    pub(super) fn new(data: &'a Dataset, step: RuleWeight) -> Pairs<'a> {
        let queries: Vec<Graded> = data.queries().map(|q| Graded::new(q.labels(), |_| 0.0)).collect();
        let mass =
            data.total(|range| range.map(|q| data.query(q).weight() * queries[q].pairs()).sum::<f64>());
        let parts = vec![0.0; queries.len()];
        Pairs { data, step, queries, mass, parts }
    }

    /// Each document's worth, and the sum over pairs, in units of the query's factors.
    fn query(&self, q: usize, scores: &[f64], worths: &mut [f64]) -> (f64, f64) {
        let Factors { rising, falling, range } = Factors::new(scores);
        let mut below = 0.0;
        for grade in self.queries[q].grades() {
            grade.iter().for_each(|&d| worths[d as usize] = falling[d as usize] * below);
            below += grade.iter().map(|&d| rising[d as usize]).sum::<f64>();
        }
        let pairs = worths.iter().sum();
        let mut above = 0.0;
        for grade in self.queries[q].grades().rev() {
            grade.iter().for_each(|&d| worths[d as usize] -= rising[d as usize] * above);
            above += grade.iter().map(|&d| falling[d as usize]).sum::<f64>();
        }
        (pairs, range)
    }

    /// The weights of the pairs of a query that a rule orders right and wrong, in units of its factors.
    fn right_and_wrong(&self, q: usize, scores: &[f64], chosen: &[bool]) -> (f64, f64) {
        let Factors { rising, falling, .. } = Factors::new(scores);
        // Of the lower labels: documents that were selected, and others.
        let mut below = [0.0; 2];
        let (mut right, mut wrong) = (0.0, 0.0);
        for grade in self.queries[q].grades() {
            for d in grade.iter().map(|&d| d as usize) {
                if chosen[d] {
                    right += falling[d] * below[0];
                } else {
                    wrong += falling[d] * below[1];
                }
            }
            grade.iter().for_each(|&d| below[usize::from(chosen[d as usize])] += rising[d as usize]);
        }
        (right, wrong)
    }
}

impl WeakTarget for Pairs<'_> {
    const OBJECTIVE: &'static str = "mean exponential loss of pairs";

    fn worths(&mut self, scores: &[f64], worths: &mut [f64]) -> f64 {
        let pieces = by_query(self.data, worths);
        let sums: Vec<(f64, f64)> = parallel::map(pieces.into_iter().enumerate(), |(q, worths)| {
            self.query(q, &scores[self.data.query(q).range()], worths)
        });
        let weighed: Vec<f64> = self.data.queries().zip(&sums).map(|(q, sum)| q.weight() * sum.0).collect();
        let told = weighed.iter().zip(&sums).filter(|(weight, _)| **weight > 0.0);
        let max = |ranges: Vec<f64>| ranges.into_iter().fold(0.0, f64::max);
        let widest = self.data.decide(|| max(told.map(|(_, sum)| sum.1).collect()), max);
        let shrunk = |range: f64| (range - widest).min(0.0).exp();
        let total = self.data.total(|queries| {
            let terms = weighed[queries.clone()].iter().zip(&sums[queries]);
            terms.map(|(weight, sum)| weight * shrunk(sum.1)).sum::<f64>()
        });
        // After many rules without a mistake, all losses are too small for a normal number: nothing is left to learn.
        if total < f64::MIN_POSITIVE {
            worths.fill(0.0);
            return 0.0;
        }
        let part = |(q, sum): (crate::data::Query<'_>, &(f64, f64))| q.weight() * shrunk(sum.1) / total;
        self.parts = self.data.queries().zip(&sums).map(part).collect();
        let pieces = by_query(self.data, worths).into_iter().zip(&self.parts);
        parallel::for_each(pieces, |(worths, part)| worths.iter_mut().for_each(|w| *w *= part));
        widest.exp() * total / self.mass
    }

    fn step(&self, scores: &[f64], chosen: &[bool]) -> f64 {
        let (right, wrong) = self.data.total(|queries| {
            queries.fold((0.0, 0.0), |sum, q| {
                let range = self.data.query(q).range();
                let (right, wrong) = self.right_and_wrong(q, &scores[range.clone()], &chosen[range]);
                (sum.0 + right * self.parts[q], sum.1 + wrong * self.parts[q])
            })
        });
        let balance = right - wrong;
        let odds = match self.step {
            RuleWeight::R => (1.0 + balance) / (1.0 - balance).max(0.0),
            RuleWeight::Exact => right / wrong,
        };
        // A rule that makes no mistake has infinite odds.
        (0.5 * odds.ln()).clamp(-MAX_STEP, MAX_STEP)
    }

    fn informed_queries(&self) -> usize {
        let is_informed = |q: &usize| self.data.query(*q).weight() * self.queries[*q].pairs() > 0.0;
        self.data.total(|queries| queries.filter(is_informed).count())
    }
}
