//! Gibbs sampling: rankings drawn from the distribution `Pr(y) ∝ exp(−w·δφ(y))` over all rankings `y`.
//!
//! In each step, one document is removed and reinserted according to its conditional distribution, given the order of
//! all others. The non-relevant documents ahead of a relevant document `g` can be: all of the first few blocks of
//! non-relevant documents, and any of the next block. With `a_b = −2κ(s_g − s_b)`, their distribution is `∝ exp(Σ
//! a_b)`, so that
//!
//! ```text
//! Pr(none ahead) ∝ 1
//! Pr(all of the blocks before B, and some of B) ∝ exp(Σ_{b before B} a_b) · (Π_{b∈B} (1 + exp(a_b)) − 1)
//! ```
//!
//! and within B, each document is ahead with probability `σ(a_b)`, conditional on at least one being ahead. The same
//! holds for a non-relevant document and the relevant documents behind it, seen from the bottom. Every step draws
//! from an exact conditional distribution, so the distribution is stationary. Every ranking can be reached from every
//! other, so the chain converges to it from any start.

#[cfg(test)]
mod tests;

use super::states::{RankingSample, RankingState};
use crate::rng::{self, Random};
use rand::RngExt;

/// A Gibbs sampler of rankings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GibbsSampler {
    /// The number of rankings to draw.
    pub size: usize,
    /// The burn-in: how often each document is reinserted, on average, before the first ranking is kept.
    pub sweeps: usize,
    /// The number of documents reinserted between two rankings that are kept.
    pub thinning: usize,
}

impl GibbsSampler {
    /// Draws rankings of relevant and non-relevant documents with the exponents `2κ·s`; there must be at least one of
    /// each. The first ranking of the sample is the perfect one, which is not drawn; `size` drawn rankings follow it.
    pub fn draw(&self, relevant: &[f64], non_relevant: &[f64], seed: u64) -> RankingSample {
        let mut order = GibbsRanking::by_score(relevant, non_relevant);
        let mut random = rng::stream(seed, &[]);
        let mut sample = RankingSample::of_perfect(relevant.len(), non_relevant.len(), self.size + 1);
        (0..self.sweeps * order.documents.len()).for_each(|_| order.reinsert_one(&mut random));
        let mut counts = vec![0; order.documents.len()];
        for _ in 0..self.size {
            (0..self.thinning).for_each(|_| order.reinsert_one(&mut random));
            order.count(&mut counts);
            sample.push(RankingState::new(&counts, relevant.len()));
        }
        sample
    }
}

/// A document in a ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Placed {
    /// Its index: relevant documents come first, then non-relevant ones.
    document: u32,
    is_relevant: bool,
    /// `2κ·s`.
    exponent: f64,
}

/// A ranking. The order within a block of documents of the same class is arbitrary.
struct GibbsRanking {
    relevant: usize,
    documents: Vec<Placed>,
}

impl GibbsRanking {
    /// The ranking by score, which is a likely one.
    fn by_score(relevant: &[f64], non_relevant: &[f64]) -> GibbsRanking {
        let place = |(i, &exponent): (usize, &f64)| {
            let is_relevant = i < relevant.len();
            Placed { document: i as u32, is_relevant, exponent }
        };
        let mut documents: Vec<Placed> = relevant.iter().chain(non_relevant).enumerate().map(place).collect();
        documents.sort_by(|a, b| b.exponent.total_cmp(&a.exponent));
        GibbsRanking { relevant: relevant.len(), documents }
    }

    /// Removes a random document and reinserts it according to its conditional distribution.
    fn reinsert_one(&mut self, random: &mut Random) {
        let at = random.random_range(0..self.documents.len());
        let taken = self.documents.remove(at);
        let place = if taken.is_relevant {
            self.pass(taken, random)
        } else {
            // In reverse order, the two classes swap their roles.
            self.documents.reverse();
            let place = self.pass(taken, random);
            self.documents.reverse();
            self.documents.len() - place
        };
        self.documents.insert(place, taken);
    }

    /// Draws which documents of the other class the document passes on its way down from the top, groups them, and
    /// returns the position behind them.
    fn pass(&mut self, taken: Placed, random: &mut Random) -> usize {
        // Chooses among the blocks one by one, each against the total of those before it.
        let (mut chosen, mut total, mut passed) = (None, 0.0, 0.0);
        let mut start = 0;
        while start < self.documents.len() {
            let other = |p: &Placed| p.is_relevant != taken.is_relevant;
            let end = start + self.documents[start..].iter().take_while(|p| other(p)).count();
            if end > start {
                let (mut some, mut all) = (0.0, 0.0);
                for p in &self.documents[start..end] {
                    let exponent = exponent_of_passing(taken, *p);
                    some += log_one_plus_exp(exponent);
                    all += exponent;
                }
                let weight: f64 = passed + some + (-(-some).exp_m1()).ln();
                // The logarithm of the total weight: 1 for passing none, plus the blocks so far.
                total = log_add(total, weight);
                if random.random::<f64>() < (weight - total).exp() {
                    chosen = Some((start, end));
                }
                passed += all;
            }
            start = end.max(start + 1);
        }
        chosen.map_or(0, |(start, end)| self.pass_some(taken, start, end, random))
    }

    /// Draws which documents of a block are passed, at least one, and moves them to its front.
    fn pass_some(&mut self, taken: Placed, start: usize, end: usize, random: &mut Random) -> usize {
        // `log Π (1 + exp(a))` over the remaining documents.
        let mut left: f64 =
            self.documents[start..end].iter().map(|p| log_one_plus_exp(exponent_of_passing(taken, *p))).sum();
        let mut front = start;
        for at in start..end {
            let exponent = exponent_of_passing(taken, self.documents[at]);
            let log = log_one_plus_exp(exponent);
            // Conditional on at least one being passed: Pr = σ(a) / (1 − Π 1/(1 + exp(a))).
            let some = if front == start { -(-left).exp_m1() } else { 1.0 };
            if random.random::<f64>() * some < (exponent - log).exp() || (front == start && at + 1 == end) {
                self.documents.swap(at, front);
                front += 1;
            }
            left -= log;
        }
        front
    }

    /// The number of non-relevant documents ahead of each relevant one, and of relevant documents behind each
    /// non-relevant one.
    fn count(&self, counts: &mut [u32]) {
        let (mut relevant, mut non_relevant) = (0, 0);
        for p in &self.documents {
            let count = &mut counts[p.document as usize];
            if p.is_relevant {
                *count = non_relevant;
                relevant += 1;
            } else {
                *count = (self.relevant - relevant) as u32;
                non_relevant += 1;
            }
        }
    }
}

/// `−2κ(s_g − s_b)`: the increase of the exponent if this pair is in the wrong order.
fn exponent_of_passing(taken: Placed, other: Placed) -> f64 {
    if taken.is_relevant { other.exponent - taken.exponent } else { taken.exponent - other.exponent }
}

fn log_one_plus_exp(a: f64) -> f64 {
    a.max(0.0) + (-a.abs()).exp().ln_1p()
}

fn log_add(a: f64, b: f64) -> f64 {
    a.max(b) + (-(a - b).abs()).exp().ln_1p()
}
