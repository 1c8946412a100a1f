//! FRank: threshold rules on the fidelity loss of pairs (Tsai, Liu, Qin, Chen and Ma, SIGIR 2007).
//!
//! ```text
//! J = Σ_ij D_ij (1 − √σ(s_i − s_j)) ,   D_ij = 1/(queries · pairs of the query)   for r_i > r_j ,   σ(x) = 1/(1 + e^{−x})
//! ```
//!
//! A pair costs at most 1, however wrong it is, and all queries have the same weight. The gradient of a pair
//! is `w = ½ D √σ (1 − σ)`. In `u = e^{−α}` the loss of a pair that moves by α is concave, so its tangent at
//! `u = 1` bounds it from above. With weights `W₊` and `W₋` of the pairs that a rule orders right and wrong,
//!
//! ```text
//! J(α) ≤ J(0) + W₊(e^{−α} − 1) + W₋(e^{α} − 1) ,   least at  α = ½ ln(W₊/W₋) ,   J(α) ≤ J(0) − (√W₊ − √W₋)²
//! ```
//!
//! Each rule takes this step, and a round adds the rule of least loss. `Screen` finds the few rules that may
//! be it; their loss is computed exactly. (The loss is bounded, so the minimum of J along a rule is often far
//! away, where hopeless pairs are given up: a line search learns worse rankings.)

use super::finder::{Finder, Rule};
use super::pairs::{CrossTerms, Graded, PairScratch, PairTerms, Separated};
use super::screen::{Bend, Screen};
use super::{MAX_STEP, Weak, WeakRounds, WeakTarget, fit};
use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::boosting::target::by_query;
use crate::learners::holdout::{FRACTION, Holdout, check_fraction};
use crate::learners::{Fitted, Learner, Task};
use crate::parallel;
use crate::trees::MAX_BINS;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fall of the loss below this is rounding.
const LEAST_FALL: f64 = 1e-14;
/// Number of rules whose loss is computed exactly.
const FINALISTS: usize = 4;

/// Threshold rules on the fidelity loss of pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FRank {
    /// How many rules there are and how they are found.
    #[serde(flatten)]
    pub weak: WeakRounds,
    /// Fraction of the training queries held out for early stopping if there is no validation data and there are at least 30, 0 to 0.5; 0 for none.
    pub validation_fraction: f64,
}

impl Default for FRank {
    fn default() -> Self {
        FRank { weak: WeakRounds::default(), validation_fraction: FRACTION }
    }
}

impl Learner for FRank {
    const CARD: Card = Card {
        name: "frank",
        title: "FRank",
        summary: "Boosted threshold rules that minimise the fidelity loss of pairs, with equal weight for \
                  all queries.",
        citations: &["tsai2007frank"],
    };
    const DISTRIBUTES: bool = true;
    const CONTINUES: bool = true;
    const COMPARES_DOCUMENTS: bool = true;

    fn check(&self) -> Result<()> {
        check_fraction(self.validation_fraction)?;
        self.weak.check()
    }

    /// The gradient takes every pair, and so do three sums for each finalist, which separates about half of the pairs.
    fn steps(&self, train: &Dataset) -> f64 {
        let passes = 1.0 + 1.5 * FINALISTS as f64;
        let pairs = train.queries().map(|q| Graded::new(q.labels(), |_| 0.0).single_pairs()).sum::<f64>();
        self.weak.iterations as f64 * passes * pairs
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        let most = if self.weak.thresholds == 0 { MAX_BINS - 1 } else { self.weak.thresholds };
        let weak = WeakRounds { thresholds: most, ..self.weak.clone() };
        let holdout = Holdout::of(task, self.validation_fraction);
        let task = holdout.task(task);
        let mut fitted = fit(Fidelity::new(task.train), Weak::Stump, &weak, &task, watch)?;
        fitted.record.notes.extend(holdout.note.clone());
        Ok(fitted)
    }
}

/// The fidelity loss of all pairs.
pub(super) struct Fidelity<'a> {
    data: &'a Dataset,
    queries: Vec<Graded>,
    /// `D` of each query's pairs.
    weights: Vec<f64>,
    /// The number of pairs of all queries that have a weight.
    pairs: f64,
}

impl<'a> Fidelity<'a> {
    pub(super) fn new(data: &'a Dataset) -> Fidelity<'a> {
        let queries: Vec<Graded> = data.queries().map(|q| Graded::new(q.labels(), |_| 0.0)).collect();
        let (total, pairs) = data.total(|range| {
            let told =
                range.map(|q| (data.query(q).weight(), queries[q].pairs())).filter(|told| told.1 > 0.0);
            told.fold((0.0, 0.0), |sum, (weight, pairs)| {
                (sum.0 + weight, sum.1 + if weight > 0.0 { pairs } else { 0.0 })
            })
        });
        let weight = |(q, graded): (crate::data::Query<'_>, &Graded)| match q.weight() {
            weight if weight > 0.0 && graded.pairs() > 0.0 => weight / (total * graded.pairs()),
            _ => 0.0,
        };
        let weights = data.queries().zip(&queries).map(weight).collect();
        Fidelity { data, queries, weights, pairs }
    }

    /// For each rule, the weighted sums of `each` over the queries whose documents it separates; other queries add nothing.
    fn across<const K: usize>(
        &self,
        scores: &[f64],
        rules: &[&[bool]],
        each: impl Fn(usize, &mut Separated<'_>) -> [f64; K] + Sync,
    ) -> Vec<[f64; K]> {
        let of_query = |scratch: &mut PairScratch, q: usize, rule: usize, sums: &mut [f64]| {
            let range = self.data.query(q).range();
            let chosen = &rules[rule][range.clone()];
            if self.weights[q] > 0.0 && chosen.iter().any(|c| *c != chosen[0]) {
                let terms = each(rule, &mut self.queries[q].separate(&scores[range], chosen, scratch));
                sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += self.weights[q] * term);
            }
        };
        let sums = self.data.total(|queries| {
            let (mut sums, mut scratch) = (vec![0.0; K * rules.len()], PairScratch::default());
            for q in queries {
                let rules = sums.chunks_exact_mut(K).enumerate();
                rules.for_each(|(rule, sums)| of_query(&mut scratch, q, rule, sums));
            }
            sums
        });
        sums.as_chunks().0.to_vec()
    }

    /// The step of each rule, and how much the loss falls with it.
    fn outcomes(&self, scores: &[f64], rules: &[Rule]) -> Vec<(f64, f64)> {
        let chosen: Vec<&[bool]> = rules.iter().map(|rule| rule.chosen.as_slice()).collect();
        let loss = |separated: &mut Separated<'_>, ahead: f64| separated.add_up_without_gains(ahead, &Loss);
        let before = self.across(scores, &chosen, |_, separated| {
            let (right, wrong) = separated.add_up_without_gains(0.0, &Pull);
            let (right_loss, wrong_loss) = loss(separated, 0.0);
            [right, wrong, right_loss + wrong_loss]
        });
        let steps: Vec<f64> = before.iter().map(|&[right, wrong, _]| step_of(right, wrong)).collect();
        let after = self.across(scores, &chosen, |rule, separated| {
            let (right, wrong) = loss(separated, steps[rule]);
            [right + wrong]
        });
        let falls = before.iter().zip(after).map(|([.., before], [after])| before - after);
        steps.iter().copied().zip(falls).collect()
    }
}

/// `½ ln(W₊/W₋)` of a rule that orders pairs of these weights right and wrong.
fn step_of(right: f64, wrong: f64) -> f64 {
    match right > 0.0 || wrong > 0.0 {
        true => (0.5 * (right / wrong).ln()).clamp(-MAX_STEP, MAX_STEP),
        false => 0.0,
    }
}

impl WeakTarget for Fidelity<'_> {
    const OBJECTIVE: &'static str = "fidelity loss of pairs";

    fn worths(&mut self, scores: &[f64], worths: &mut [f64]) -> f64 {
        let of_query = |scratch: &mut PairScratch, (q, worths): (usize, &mut [f64])| {
            let (graded, weight) = (&self.queries[q], self.weights[q]);
            let scores = &scores[self.data.query(q).range()];
            let loss = graded.add_up_without_gains(scores, &Pull, worths, scratch);
            worths.iter_mut().for_each(|w| *w *= weight);
            loss * weight
        };
        let queries = by_query(self.data, worths).into_iter().enumerate();
        let losses = parallel::map_with(queries, PairScratch::default, of_query);
        self.data.total(|queries| losses[queries].iter().sum::<f64>())
    }

    fn next_rule(
        &self,
        finder: &Finder<'_>,
        round: u64,
        scores: &[f64],
        worths: &[f64],
    ) -> Result<Option<(Rule, f64)>> {
        let Fidelity { data, queries, weights, pairs } = self;
        let screen = Screen { data, queries, weights, pairs: *pairs, bend: Pull };
        let finalists = screen.best(finder, round, scores, worths, FINALISTS);
        let outcomes = self.outcomes(scores, &finalists);
        let judged = finalists.into_iter().zip(outcomes).map(|(rule, (step, fall))| (rule, step, fall));
        let best = judged.reduce(|best, next| if next.2 > best.2 { next } else { best });
        Ok(best.filter(|(.., fall)| *fall > LEAST_FALL).map(|(rule, step, _)| (rule, step)))
    }

    fn step(&self, scores: &[f64], chosen: &[bool]) -> f64 {
        let sums =
            self.across(scores, &[chosen], |_, separated| separated.add_up_without_gains(0.0, &Pull).into());
        let [right, wrong] = sums[0];
        step_of(right, wrong)
    }

    fn informed_queries(&self) -> usize {
        self.data.total(|queries| self.weights[queries].iter().filter(|w| **w > 0.0).count())
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

impl Bend for Pull {
    #[inline(always)]
    fn of(&self, z: f64) -> (f64, f64) {
        let sigma = 1.0 / (1.0 + z);
        let weight = 0.5 * sigma.sqrt() * z * sigma;
        (weight, weight * (0.5 - 1.5 * sigma))
    }
}

/// `W₊` and `W₋`.
impl CrossTerms for Pull {
    const SAME: bool = false;

    #[inline(always)]
    fn right(&self, z: f64, _: f64, _: f64) -> (f64, f64) {
        (PairTerms::of(self, z, 0.0, 0.0).0, 0.0)
    }

    #[inline(always)]
    fn wrong(&self, z: f64, _: f64, _: f64) -> (f64, f64) {
        // Here z is of the selected document, which is the worse one: 1 − σ of the pair is 1/(1 + z).
        let rest = 1.0 / (1.0 + z);
        (0.0, 0.5 * (z * rest).sqrt() * rest)
    }
}

/// The loss of pairs that a rule orders right, and of those it orders wrong.
struct Loss;

impl CrossTerms for Loss {
    const SAME: bool = false;

    #[inline(always)]
    fn right(&self, z: f64, _: f64, _: f64) -> (f64, f64) {
        (1.0 - (1.0 / (1.0 + z)).sqrt(), 0.0)
    }

    #[inline(always)]
    fn wrong(&self, z: f64, _: f64, _: f64) -> (f64, f64) {
        (0.0, 1.0 - (z / (1.0 + z)).sqrt())
    }
}
