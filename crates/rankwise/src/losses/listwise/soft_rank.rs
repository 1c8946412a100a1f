//! SoftRank (Taylor, Guiver, Robertson and Minka, WSDM 2008): the expected NDCG if every score has a Gaussian error.
//!
//! ```text
//! Sᵢ ~ N(sᵢ, σ²) ,    πᵢⱼ = Pr(Sᵢ > Sⱼ) = ½ erfc((sⱼ − sᵢ)/2σ)
//! pⱼ(r) ← (1 − πᵢⱼ)·pⱼ(r) + πᵢⱼ·pⱼ(r − 1)  for every i ≠ j in turn, from pⱼ(0) = 1 ;      r from 0
//! L(s) = 1 − Σⱼ gⱼ Σ_{r<k} pⱼ(r)/log₂(2 + r) ,    g = gain/ideal@k
//! ```
//! The number of documents ahead of j is treated as a sum of independent events, so its distribution follows a
//! recursion. That all comparisons share the same Sⱼ is ignored, in the paper as here. The derivative by π is the
//! recursion run backwards on λ, the expected discount from each rank:
//!
//! ```text
//! λ(r) = 1/log₂(2 + r) at the end ;   ∂/∂πᵢⱼ = Σ_r pⱼ(r)·(λ(r + 1) − λ(r)) ,   λ(r) ← (1 − πᵢⱼ)·λ(r) + πᵢⱼ·λ(r + 1)
//! ```
//! with pⱼ as before i. Only the first k ranks are followed, and only those with non-negligible probability, a few
//! times √n: O(n·min(k, √n)) per document with a positive gain. Values are from 0 to 1; not convex. The second
//! derivative by a score difference changes its sign with the difference; for the curvature, every pair uses its
//! largest magnitude, which is at a difference of one standard deviation, √2σ.
//!
//! At equal scores, all documents are likely to be in the middle. With a small k and a long list, hardly any counted
//! rank is within reach, and the loss is flat. Therefore all ranks count by default.

use super::super::{QueryLoss, ScoredQuery};
use super::{dcg, has_two_gains, shares_of_ideal};
use crate::card::Card;
use crate::metrics::{Dcg, Gain};
use crate::watch::Stop;
use pulp::{Arch, NullaryFnOnce};
use statrs::function::erf::erfc;
use std::f64::consts::PI;

pub(in super::super) const CARD: Card = Card {
    name: "soft-rank",
    title: "SoftNDCG (SoftRank)",
    summary: "One minus the expected NDCG@k if each score has a Gaussian error.",
    citations: &["taylor2008softrank"],
};

/// Ranks with a smaller probability than this are not followed.
const TINY: f64 = 1e-20;
/// A query with more documents than this takes long enough to be stopped in between.
const LONG: usize = 500;

/// One minus the expected NDCG under Gaussian errors of the scores.
#[derive(Debug, Clone)]
pub struct SoftRank {
    deviation: f64,
    k: usize,
    dcg: Dcg,
    stop: Stop,
}

impl SoftRank {
    /// Creates the loss with the standard deviation of errors, finite and above 0, and the cutoff `k`; 0 for none.
    pub fn new(deviation: f64, k: usize, gain: Gain) -> Self {
        SoftRank { deviation, k, dcg: dcg(gain, k), stop: Stop::default() }
    }

    /// Returns the loss. `add` is called with two documents and the derivative by the score of the first; that of the
    /// second has the opposite sign.
    fn each_pair(&self, query: ScoredQuery<'_>, mut add: impl FnMut(usize, usize, f64)) -> f64 {
        let Some(gains) = shares_of_ideal(&self.dcg, query.labels) else { return 0.0 };
        let n = query.scores.len();
        let ranks = if self.k == 0 { n } else { self.k.min(n) };
        let discounts: Vec<f64> = (0..ranks).map(|place| self.dcg.discounts.at(place)).collect();
        let mut distribution = RankDistribution::new(n, ranks);
        let (spread, mut value) = (2.0 * self.deviation, 1.0);
        for (j, gain) in gains.iter().enumerate().filter(|(_, gain)| **gain > 0.0) {
            if n > LONG && self.stop.requested() {
                break;
            }
            let leads = query.scores.iter().map(|score| (score - query.scores[j]) / spread).enumerate();
            let ahead = leads.clone().map(|(i, lead)| if i == j { 0.0 } else { 0.5 * erfc(-lead) });
            distribution.ahead.clear();
            distribution.ahead.extend(ahead);
            value -= gain
                * Arch::new().dispatch(Recursion { distribution: &mut distribution, discounts: &discounts });
            for (i, lead) in leads.filter(|(i, _)| *i != j) {
                let density = (-lead * lead).exp() / (PI.sqrt() * spread);
                add(i, j, -gain * distribution.slopes[i] * density);
            }
        }
        value.max(0.0)
    }
}

impl Default for SoftRank {
    fn default() -> Self {
        SoftRank::new(1.0, 0, Gain::default())
    }
}

impl QueryLoss for SoftRank {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let add = |i: usize, j: usize, slope: f64| {
            gradient[i] += slope;
            gradient[j] -= slope;
        };
        self.each_pair(query, add)
    }

    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]) {
        self.newton(query, &mut vec![0.0; curvature.len()], curvature);
    }

    fn newton(&self, query: ScoredQuery<'_>, gradient: &mut [f64], curvature: &mut [f64]) {
        gradient.fill(0.0);
        curvature.fill(0.0);
        let per_deviation = 1.0 / (std::f64::consts::SQRT_2 * self.deviation);
        self.each_pair(query, |i, j, slope| {
            gradient[i] += slope;
            gradient[j] -= slope;
            curvature[i] += slope.abs() * per_deviation;
            curvature[j] += slope.abs() * per_deviation;
        });
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        has_two_gains(&self.dcg, labels)
    }

    fn set_stop(&mut self, stop: &Stop) {
        self.stop = stop.clone();
    }

    fn steps(&self, labels: &[f32]) -> f64 {
        let n = labels.len() as f64;
        let positive = labels.iter().filter(|label| self.dcg.gains.of(**label) > 0.0).count() as f64;
        let ranks = if self.k == 0 { n } else { self.k as f64 };
        // The spread of a rank is about ½√n, on both sides ten times that are followed, forwards and backwards.
        2.0 * positive * n * ranks.min(10.0 * n.sqrt())
    }
}

/// The distribution of one document's rank, and the derivatives of its expected discount.
struct RankDistribution {
    /// π: the probability of each other document being ahead.
    ahead: Vec<f64>,
    /// The range of p before each document was included.
    rows: Vec<RankRange>,
    /// The probabilities of all ranges.
    steps: Vec<f64>,
    /// λ, with 0 after the last rank.
    later_discounts: Vec<f64>,
    /// The derivative by each π.
    slopes: Vec<f64>,
}

/// The ranks with non-negligible probability, `low..high`. Their probabilities start at `at + 1`, and those before
/// and after are about 0.
#[derive(Clone, Copy)]
struct RankRange {
    at: usize,
    low: usize,
    high: usize,
}

impl RankRange {
    /// Removes ranks with negligible probability at both ends.
    #[inline(always)]
    fn trimmed(mut self, steps: &[f64]) -> RankRange {
        while self.low + 1 < self.high && steps[self.at + 1] < TINY {
            self.at += 1;
            self.low += 1;
        }
        while self.low + 1 < self.high && steps[self.at + self.high - self.low] < TINY {
            self.high -= 1;
        }
        self
    }

    #[inline(always)]
    fn probabilities<'a>(&self, steps: &'a [f64]) -> &'a [f64] {
        &steps[self.at + 1..][..self.high - self.low]
    }
}

impl RankDistribution {
    fn new(n: usize, ranks: usize) -> Self {
        RankDistribution {
            ahead: Vec::with_capacity(n),
            rows: Vec::with_capacity(n),
            steps: Vec::new(),
            later_discounts: vec![0.0; ranks + 1],
            slopes: vec![0.0; n],
        }
    }
}

/// Runs the recursion forwards and backwards, and returns the expected discount.
struct Recursion<'a> {
    distribution: &'a mut RankDistribution,
    discounts: &'a [f64],
}

impl NullaryFnOnce for Recursion<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let RankDistribution { ahead, rows, steps, later_discounts, slopes } = self.distribution;
        let width = self.discounts.len();
        rows.clear();
        steps.clear();
        steps.extend([0.0, 1.0, 0.0]);
        let mut row = RankRange { at: 0, low: 0, high: 1 };
        for &pi in ahead.iter() {
            let (at, high) = (steps.len(), (row.high + 1).min(width));
            let length = high - row.low;
            steps.resize(at + length + 2, 0.0);
            let (before, after) = steps.split_at_mut(at);
            advance(pi, &before[row.at..=row.at + length], &mut after[1..=length]);
            rows.push(row);
            row = RankRange { at, low: row.low, high }.trimmed(steps);
        }
        later_discounts[..width].copy_from_slice(self.discounts);
        let last = row.probabilities(steps).iter().zip(&self.discounts[row.low..]);
        let expected = last.map(|(p, discount)| p * discount).sum();
        // Outside a range, a later λ is used in place of the current one; the probability there is negligible.
        for (i, row) in rows.iter().enumerate().rev() {
            slopes[i] = go_back(ahead[i], row.probabilities(steps), &mut later_discounts[row.low..=row.high]);
        }
        expected
    }
}

/// p after one more document; `before` starts with the rank above the first.
#[inline(always)]
fn advance(pi: f64, before: &[f64], after: &mut [f64]) {
    let n = after.len();
    let (better, same) = (&before[..n], &before[1..][..n]);
    for r in 0..n {
        after[r] = same[r] + pi * (better[r] - same[r]);
    }
}

/// The derivative by π of one document; removes that document from `later_discounts`.
#[inline(always)]
fn go_back(pi: f64, before: &[f64], later_discounts: &mut [f64]) -> f64 {
    let mut slope = 0.0;
    for (r, p) in before.iter().enumerate() {
        let step = later_discounts[r + 1] - later_discounts[r];
        slope += p * step;
        later_discounts[r] += pi * step;
    }
    slope
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use rand::RngExt;

    /// Enumerates all outcomes of independent comparisons of document `j` with the others.
    fn enumerated(ahead: &[f64], discounts: &[f64]) -> f64 {
        (0..1_usize << ahead.len())
            .map(|outcome| {
                let is_ahead = |i: usize| outcome >> i & 1 == 1;
                let chance: f64 = ahead
                    .iter()
                    .enumerate()
                    .map(|(i, pi)| if is_ahead(i) { *pi } else { 1.0 - pi })
                    .product();
                chance * discounts.get(outcome.count_ones() as usize).unwrap_or(&0.0)
            })
            .sum()
    }

    #[test]
    fn the_recursion_agrees_with_enumeration() {
        let mut random = rng::stream(2, &[]);
        for (n, k) in (0..=7).flat_map(|n| [(n, 1), (n, 3), (n, n + 1)]) {
            let ahead: Vec<f64> = (0..n).map(|_| random.random()).collect();
            let discounts: Vec<f64> = (0..k).map(|r| 1.0 / (2.0 + r as f64).log2()).collect();
            let mut distribution = RankDistribution::new(n, k);
            distribution.ahead.extend(&ahead);
            let found = Recursion { distribution: &mut distribution, discounts: &discounts }.call();
            assert!((found - enumerated(&ahead, &discounts)).abs() < 1e-14);
            for i in 0..n {
                // The expectation is linear in every π.
                let with = |pi: f64| {
                    let mut ahead = ahead.clone();
                    ahead[i] = pi;
                    enumerated(&ahead, &discounts)
                };
                assert!((distribution.slopes[i] - (with(1.0) - with(0.0))).abs() < 1e-14);
            }
        }
    }

    /// A long list with most ranks out of reach, compared with a recursion over every rank.
    #[test]
    fn negligible_ranks_do_not_change_the_result() {
        let mut random = rng::stream(6, &[]);
        let n = 300;
        let ahead: Vec<f64> = (0..n).map(|i| random.random::<f64>() * [1.0, 0.1, 1e-9][i % 3]).collect();
        for k in [30, 70, n + 1] {
            let discounts: Vec<f64> = (0..k).map(|r| 1.0 / (2.0 + r as f64).log2()).collect();
            let followed = |ahead: &[f64]| {
                let mut p = vec![0.0; n + 1];
                p[0] = 1.0;
                for pi in ahead {
                    (0..=n).rev().for_each(|r| {
                        p[r] = p[r] * (1.0 - pi) + if r > 0 { p[r - 1] * pi } else { 0.0 };
                    });
                }
                p.iter().zip(&discounts).map(|(p, discount)| p * discount).sum::<f64>()
            };
            let mut distribution = RankDistribution::new(n, k);
            distribution.ahead.extend(&ahead);
            let found = Recursion { distribution: &mut distribution, discounts: &discounts }.call();
            assert!((found - followed(&ahead)).abs() < 1e-13);
            assert!(distribution.steps.len() < n * 100);
            for i in [0, 1, 2, 150, 299] {
                let with = |pi: f64| {
                    let mut ahead = ahead.clone();
                    ahead[i] = pi;
                    followed(&ahead)
                };
                let slope = with(1.0) - with(0.0);
                assert!(
                    (distribution.slopes[i] - slope).abs() < 1e-13,
                    "{k}: {} for {slope}",
                    distribution.slopes[i]
                );
            }
        }
    }

    /// Comparisons with independent Gaussian errors (Box–Muller).
    #[test]
    fn the_loss_agrees_with_simulated_comparisons() {
        let (labels, scores): ([f32; 5], [f64; 5]) = ([2.0, 0.0, 1.0, 0.0, 1.0], [0.4, 0.9, -0.3, 0.1, 0.6]);
        let (deviation, k, draws) = (0.6, 3, 60_000);
        let mut random = rng::stream(4, &[]);
        let mut gaussian = || {
            let (u, v): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
            (-2.0 * u.ln()).sqrt() * (2.0 * PI * v).cos()
        };
        let mut mean = 0.0;
        let ideal = 3.0 + 1.0 / 3_f64.log2() + 0.5;
        for _ in 0..draws {
            for (j, gain) in [(0, 3.0), (2, 1.0), (4, 1.0)] {
                let mut beats =
                    |i: usize| scores[i] - scores[j] + deviation * (gaussian() - gaussian()) > 0.0;
                let rank = (0..5).filter(|&i| i != j && beats(i)).count();
                if rank < k {
                    mean += gain / (2.0 + rank as f64).log2() / ideal / f64::from(draws);
                }
            }
        }
        let loss = SoftRank::new(deviation, k, Gain::Exp2);
        let query = ScoredQuery { labels: &labels, scores: &scores, seed: 0 };
        let found = loss.value_and_gradient(query, &mut [f64::NAN; 5]);
        assert!((found - (1.0 - mean)).abs() < 0.006, "{found} for {}", 1.0 - mean);
    }

    /// Two documents have one comparison, so the distribution of ranks is exact.
    #[test]
    fn two_documents_have_the_exact_expectation() {
        // Φ(1), for scores that differ by one standard deviation of their difference.
        let loss = SoftRank::new(1.0, 0, Gain::Exp2);
        let query = ScoredQuery { labels: &[1.0, f32::NAN], scores: &[2_f64.sqrt(), 0.0], seed: 0 };
        let found = loss.value_and_gradient(query, &mut [f64::NAN; 2]);
        let wins = 0.841_344_746_068_542_9;
        let expected = (1.0 - wins) * (1.0 - 1.0 / 3_f64.log2());
        // The error function is precise to about 1e-10.
        assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
    }

    /// With negligible errors, it is one minus NDCG@k.
    #[test]
    fn small_errors_give_ndcg() {
        let metric = crate::metrics::parse("ndcg@3", &crate::metrics::Conventions::default()).unwrap();
        let (labels, scores) = ([0.0, 2.0, 1.0, 1.0, 0.0, 3.0], [0.1, 0.4, -0.2, 0.8, 0.3, 0.0]);
        let expected = 1.0 - metric.value(&labels, &crate::rank::Ranking::by_scores(&scores)).unwrap();
        let loss = SoftRank::new(1e-6, 3, Gain::Exp2);
        let found =
            loss.value_and_gradient(ScoredQuery { labels: &labels, scores: &scores, seed: 0 }, &mut [0.0; 6]);
        assert!((found - expected).abs() < 1e-12);
    }

    /// A request to stop is noticed inside a long query: no document is added any more.
    #[test]
    fn a_long_query_can_be_stopped() {
        let labels: Vec<f32> = (0..600).map(|i| (i % 3) as f32).collect();
        let scores: Vec<f64> = (0..600).map(|i| f64::from(i * 37 % 101)).collect();
        let query = ScoredQuery { labels: &labels, scores: &scores, seed: 0 };
        let (mut loss, stop) = (SoftRank::default(), Stop::default());
        loss.set_stop(&stop);
        stop.request();
        let mut gradient = vec![f64::NAN; 600];
        assert_eq!(loss.value_and_gradient(query, &mut gradient), 1.0);
        assert!(gradient.iter().all(|slope| *slope == 0.0));
    }
}
