//! FRank: threshold rules on the fidelity loss of pairs (Tsai, Liu, Qin, Chen and Ma, SIGIR 2007).
//!
//! ```text
//! J = Σ_ij D_ij (1 − √σ(s_i − s_j)) ,   D_ij = 1/(queries · pairs of the query)   for r_i > r_j ,   σ(x) = 1/(1 + e^{−x})
//! ```
//!
//! A pair costs at most 1, however wrong it is, and all queries have the same weight. The gradient of a pair
//! is `½ D √σ (1 − σ)`. A round takes the rule along which J falls fastest, and steps to where the derivative
//! of J along it is 0. `J(α)` is not convex, so that is the first such point found from 0, not always the
//! lowest.

use super::pairs::{CrossTerms, Graded, PairTerms, Side, add_up_across};
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

/// Tolerance of a rule's weight.
const TOLERANCE: f64 = 1e-9;

/// Threshold rules on the fidelity loss of pairs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FRank {
    /// How many rules there are and how they are found.
    #[serde(flatten)]
    pub weak: WeakRounds,
}

impl Learner for FRank {
    const CARD: Card = Card {
        name: "frank",
        title: "FRank",
        summary: "Boosted threshold rules that minimise the fidelity loss of pairs, with equal weight for \
                  all queries.",
        citations: &["tsai2007frank"],
    };
    const CONTINUES: bool = true;

    fn check(&self) -> Result<()> {
        self.weak.check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        fit(Fidelity::new(task.train), Weak::Stump, &self.weak, task, watch)
    }
}

/// The fidelity loss of all pairs.
pub(super) struct Fidelity<'a> {
    data: &'a Dataset,
    queries: Vec<Graded>,
    /// `D` of each query's pairs.
    weights: Vec<f64>,
}

impl<'a> Fidelity<'a> {
    pub(super) fn new(data: &'a Dataset) -> Fidelity<'a> {
        let queries: Vec<Graded> = data.queries().map(|q| Graded::new(q.labels(), |_| 0.0)).collect();
        let told = data.queries().zip(&queries).filter(|(_, graded)| graded.pairs() > 0.0);
        let total: f64 = told.map(|(q, _)| q.weight()).sum();
        let weight = |(q, graded): (crate::data::Query<'_>, &Graded)| match q.weight() {
            weight if weight > 0.0 && graded.pairs() > 0.0 => weight / (total * graded.pairs()),
            _ => 0.0,
        };
        let weights = data.queries().zip(&queries).map(weight).collect();
        Fidelity { data, queries, weights }
    }

    /// First and second derivatives of J along a rule.
    fn along(&self, sides: &[[Side; 2]], ahead: f64) -> (f64, f64) {
        let sums: Vec<(f64, f64)> = parallel::map(sides, |sides| add_up_across(sides, ahead, &Derivatives));
        let weighed = sums.iter().zip(&self.weights);
        weighed.fold((0.0, 0.0), |(slope, curve), (sum, w)| (slope + w * sum.0, curve + w * sum.1))
    }
}

impl WeakTarget for Fidelity<'_> {
    const OBJECTIVE: &'static str = "fidelity loss of pairs";

    fn worths(&mut self, scores: &[f64], worths: &mut [f64]) -> f64 {
        let losses: Vec<f64> =
            parallel::map(by_query(self.data, worths).into_iter().enumerate(), |(q, worths)| {
                let (graded, weight) = (&self.queries[q], self.weights[q]);
                let loss = graded.add_up(&scores[self.data.query(q).range()], &Pull, worths);
                worths.iter_mut().for_each(|w| *w *= weight);
                loss * weight
            });
        losses.iter().sum()
    }

    /// Doubles the step until the derivative changes sign, then converges by Newton's method within these
    /// bounds.
    fn step(&self, scores: &[f64], chosen: &[bool]) -> f64 {
        let sides: Vec<[Side; 2]> = parallel::map(0..self.queries.len(), |q| {
            let range = self.data.query(q).range();
            self.queries[q].sides(&scores[range.clone()], &chosen[range])
        });
        let (mut low, mut high) = (0.0, 0.25);
        while self.along(&sides, high).0 < 0.0 {
            if high >= MAX_STEP {
                return MAX_STEP;
            }
            (low, high) = (high, 2.0 * high);
        }
        let mut at = 0.5 * (low + high);
        while high - low > TOLERANCE {
            let (slope, curve) = self.along(&sides, at);
            if slope < 0.0 {
                low = at;
            } else {
                high = at;
            }
            let newton = at - slope / curve;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - at).abs() < TOLERANCE {
                return next.min(MAX_STEP);
            }
            at = next;
        }
        at.min(MAX_STEP)
    }

    fn informed_queries(&self) -> usize {
        self.weights.iter().filter(|w| **w > 0.0).count()
    }
}

/// The gradient and the loss of a pair, without its weight.
struct Pull;

impl PairTerms for Pull {
    #[inline(always)]
    fn of(&self, z: f64, _: f64, _: f64) -> (f64, f64) {
        let sigma = 1.0 / (1.0 + z);
        let root = sigma.sqrt();
        (0.5 * root * z * sigma, 1.0 - root)
    }
}

/// Derivatives of a pair's loss with respect to the step of its selected document.
struct Derivatives;

impl Derivatives {
    /// Of `1 − √σ(x)`; `1 − σ` is an argument, since computing the difference would lose precision.
    #[inline(always)]
    fn of(sigma: f64, rest: f64) -> (f64, f64) {
        let slope = -0.5 * sigma.sqrt() * rest;
        (slope, slope * (0.5 * rest - sigma))
    }
}

impl CrossTerms for Derivatives {
    const SAME: bool = false;

    #[inline(always)]
    fn right(&self, z: f64, _: f64, _: f64) -> (f64, f64) {
        let sigma = 1.0 / (1.0 + z);
        Derivatives::of(sigma, z * sigma)
    }

    #[inline(always)]
    fn wrong(&self, z: f64, _: f64, _: f64) -> (f64, f64) {
        let rest = 1.0 / (1.0 + z);
        let (slope, curve) = Derivatives::of(z * rest, rest);
        (-slope, curve)
    }
}
