//! The hinge loss of ordinal regression: scores must be on the right side of thresholds between grades, by a margin
//! of 1.
//!
//! ```text
//! L(s) = min_{b_1 ≤ … ≤ b_{l−1}}  Σ_r ( Σ_{i below b_r} v_i [1 + s_i − b_r]₊ + Σ_{i above b_r} v_i [1 − s_i + b_r]₊ ) / Σ v_i
//! ```
//!
//! Unlike the losses in the list, this one is over all documents together, because they share the thresholds. For
//! given scores, the term of one threshold is convex and piecewise linear in it: its slope starts at `−(weight
//! below)` and increases by `v_i` at the kink of every document, which is `s_i + 1` for documents below and `s_i − 1`
//! for documents above. So the optimal threshold is a weighted quantile of the kinks. If optimal thresholds are out
//! of order, neighbours are pooled until they are in order (pool adjacent violators).
//!
//! `L` is convex in `s`, and the derivatives by `s` at the optimal `b` are a subgradient if those by `b` sum to 0.
//! Therefore documents whose kink is at the threshold count with the fraction that makes them sum to 0. The time is
//! O(n log n + n·l) for n documents and l grades.

#[cfg(test)]
mod tests;

use crate::parallel;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// Which documents a threshold must separate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ThresholdConstraints {
    /// Only the documents of the two adjacent grades.
    #[default]
    Explicit,
    /// All documents, which keeps the thresholds in order automatically.
    Implicit,
}

/// The threshold hinge loss of documents with given grades and weights, as a function of their scores.
pub struct ThresholdHinge {
    /// The grade number of each document, from 0.
    ranks: Vec<usize>,
    weights: Vec<f64>,
    /// Σ v_i.
    total: f64,
    /// The number of thresholds: one fewer than grades.
    count: usize,
    constraints: ThresholdConstraints,
}

/// A point where the term of a threshold changes its slope.
#[derive(Clone, Copy)]
struct Kink {
    at: f64,
    weight: f64,
    document: usize,
    /// Whether the document must be below the threshold.
    below: bool,
}

/// The term of one threshold in the loss, as its kinks in ascending order.
struct ThresholdTerm(Vec<Kink>);

/// Which end of the interval of optimal thresholds.
#[derive(Clone, Copy)]
enum End {
    Lowest,
    Highest,
}

impl ThresholdHinge {
    /// Creates the loss for documents with the grade numbers `ranks`, from 0, and with weights. Every grade up to the
    /// highest must have a document with positive weight.
    pub fn new(ranks: Vec<usize>, weights: Vec<f64>, constraints: ThresholdConstraints) -> Self {
        let counting = ranks.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0);
        let count = counting.map(|(rank, _)| *rank).max().unwrap_or(0);
        let total = weights.iter().sum();
        ThresholdHinge { ranks, weights, total, count, constraints }
    }

    /// Returns the loss at the optimal thresholds and overwrites `gradient` with a subgradient by the scores.
    pub fn value_and_gradient(&self, scores: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let (terms, mut value) = (self.terms(scores), 0.0);
        for (range, at) in pooled(&terms, End::Lowest) {
            let block = &terms[range];
            value += block.iter().map(|term| term.value(at)).sum::<f64>();
            for (term, fraction) in block.iter().zip(fractions(block, at)) {
                term.add_slopes(at, fraction, gradient);
            }
        }
        gradient.iter_mut().for_each(|g| *g /= self.total);
        value / self.total
    }

    /// The optimal thresholds; the middle ones if several are optimal.
    pub fn thresholds(&self, scores: &[f64]) -> Vec<f64> {
        let terms = self.terms(scores);
        let spread = |(range, at): (Range<usize>, f64)| range.map(move |_| at);
        let lowest = pooled(&terms, End::Lowest).into_iter().flat_map(spread);
        let highest = pooled(&terms, End::Highest).into_iter().flat_map(spread);
        lowest.zip(highest).map(|(low, high)| low + (high - low) / 2.0).collect()
    }

    fn terms(&self, scores: &[f64]) -> Vec<ThresholdTerm> {
        let mut order: Vec<usize> = (0..scores.len()).filter(|&i| self.weights[i] > 0.0).collect();
        order.par_sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        parallel::map(0..self.count, |threshold| self.term(threshold, scores, &order))
    }

    /// The term of a threshold; `order` contains the documents by ascending score.
    fn term(&self, threshold: usize, scores: &[f64], order: &[usize]) -> ThresholdTerm {
        let grades = match self.constraints {
            ThresholdConstraints::Explicit => threshold..threshold + 2,
            ThresholdConstraints::Implicit => 0..self.count + 1,
        };
        let side = |below: bool| {
            let margin = if below { 1.0 } else { -1.0 };
            let on_it = order.iter().filter(move |&&i| (self.ranks[i] <= threshold) == below);
            on_it.filter(|&&i| grades.contains(&self.ranks[i])).map(move |&document| Kink {
                at: scores[document] + margin,
                weight: self.weights[document],
                document,
                below,
            })
        };
        let mut kinks: Vec<Kink> = side(true).chain(side(false)).collect();
        // Two ascending sequences, which a stable sort merges in linear time.
        kinks.sort_by(|a, b| a.at.total_cmp(&b.at));
        ThresholdTerm(kinks)
    }
}

impl ThresholdTerm {
    fn value(&self, threshold: f64) -> f64 {
        let missing = |k: &Kink| if k.below { k.at - threshold } else { threshold - k.at };
        self.0.iter().map(|kink| kink.weight * missing(kink).max(0.0)).sum()
    }

    /// The left derivative at the threshold, and by how much it increases there.
    fn slope(&self, threshold: f64) -> (f64, f64) {
        let passed = self.0.iter().filter(|k| k.at < threshold).map(|k| k.weight).sum::<f64>();
        let bend = self.0.iter().filter(|k| k.at == threshold).map(|k| k.weight).sum();
        (passed - weight_below(&self.0), bend)
    }

    /// Adds the derivatives by the scores; `fraction` of each document at its kink counts as past it.
    fn add_slopes(&self, threshold: f64, fraction: f64, slopes: &mut [f64]) {
        for kink in &self.0 {
            let past = match kink.at.total_cmp(&threshold) {
                std::cmp::Ordering::Less => 1.0,
                std::cmp::Ordering::Equal => fraction,
                std::cmp::Ordering::Greater => 0.0,
            };
            slopes[kink.document] += kink.weight * if kink.below { 1.0 - past } else { -past };
        }
    }
}

fn weight_below(kinks: &[Kink]) -> f64 {
    kinks.iter().filter(|k| k.below).map(|k| k.weight).sum()
}

/// Ranges of thresholds that share one optimal value, with that value, in ascending order.
fn pooled(terms: &[ThresholdTerm], end: End) -> Vec<(Range<usize>, f64)> {
    let mut blocks: Vec<(Range<usize>, f64)> = Vec::new();
    for threshold in 0..terms.len() {
        let mut range = threshold..threshold + 1;
        let mut at = least_place(&terms[range.clone()], end);
        while let Some((before, _)) = blocks.pop_if(|(_, place)| *place > at) {
            range.start = before.start;
            at = least_place(&terms[range.clone()], end);
        }
        blocks.push((range, at));
    }
    blocks
}

/// The minimum of the summed terms of one block: where the weight of the passed kinks outweighs the documents below.
fn least_place(block: &[ThresholdTerm], end: End) -> f64 {
    let kinks = match block {
        [term] => Cow::Borrowed(&term.0),
        _ => {
            let mut all: Vec<Kink> = block.iter().flat_map(|term| term.0.iter().copied()).collect();
            all.sort_by(|a, b| a.at.total_cmp(&b.at));
            Cow::Owned(all)
        }
    };
    let (below, mut passed) = (weight_below(&kinks), 0.0);
    let reached = kinks.iter().find(|kink| {
        passed += kink.weight;
        match end {
            End::Lowest => passed >= below,
            End::Highest => passed > below,
        }
    });
    // Both sides have documents, so it is reached, unless one weight is lost in rounding.
    reached.or(kinks.last()).expect("a threshold has documents on both sides").at
}

/// For each term of a block, the fraction of its documents at their kink that counts as past it.
///
/// The derivatives `h_r` by the thresholds of the block must sum to 0, and no prefix of them may sum to more than 0,
/// otherwise the order constraint would not keep these thresholds together. If any choice satisfies this, then so
/// does the one with the smallest possible derivatives at the first thresholds and the largest at the last.
fn fractions(block: &[ThresholdTerm], at: f64) -> Vec<f64> {
    let slopes: Vec<(f64, f64)> = block.iter().map(|term| term.slope(at)).collect();
    let mut wanting = -slopes.iter().map(|(left, _)| left).sum::<f64>();
    let mut fractions = vec![0.0; block.len()];
    for (fraction, (_, bend)) in fractions.iter_mut().zip(&slopes).rev().filter(|(_, (_, bend))| *bend > 0.0)
    {
        let taken = wanting.clamp(0.0, *bend);
        wanting -= taken;
        *fraction = taken / bend;
    }
    fractions
}
