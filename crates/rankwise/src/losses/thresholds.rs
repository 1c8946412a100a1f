//! The hinge of ordinal regression: scores on the right sides of thresholds between the grades, by a margin of 1.
//!
//! ```text
//! L(s) = min_{b_1 ≤ … ≤ b_{l−1}}  Σ_r ( Σ_{i below b_r} v_i [1 + s_i − b_r]₊ + Σ_{i above b_r} v_i [1 − s_i + b_r]₊ ) / Σ v_i
//! ```
//!
//! Unlike the losses in the list this one is of all documents together, since the thresholds are. For given scores
//! the part of one threshold is convex and piecewise linear in it: it falls with slope `−(weight below)` on the far
//! left and bends by `v_i` at the kink of every document, `s_i + 1` for those below and `s_i − 1` for those above.
//! So its least place is a weighted quantile of the kinks. Where the least places of thresholds are out of order,
//! neighbours are pooled until they are in order (pool adjacent violators).
//!
//! `L` is convex in `s`, and the slopes by `s` at the best `b` are a subgradient if those by `b` cancel out. Hence
//! documents whose kink is at the threshold count with the share that makes them cancel out. Time:
//! O(n log n + n·l) for n documents and l grades.

#[cfg(test)]
mod tests;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// Which documents a threshold is to part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Constraints {
    /// Those of the two grades next to it.
    #[default]
    Explicit,
    /// All documents, which keeps the thresholds in order by itself.
    Implicit,
}

/// The hinge of documents with given grades and weights, as a function of their scores.
pub struct ThresholdHinge {
    /// The number of each document's grade, from 0.
    ranks: Vec<usize>,
    weights: Vec<f64>,
    /// Σ v_i.
    total: f64,
    /// How many thresholds there are: one fewer than grades.
    count: usize,
    constraints: Constraints,
}

/// Where the part of a threshold bends.
#[derive(Clone, Copy)]
struct Kink {
    at: f64,
    weight: f64,
    document: usize,
    /// Whether the document is to be below the threshold.
    below: bool,
}

/// One threshold's part of the loss: its kinks, ascending.
struct Part(Vec<Kink>);

/// Which end of the places that are equally good.
#[derive(Clone, Copy)]
enum End {
    Lowest,
    Highest,
}

impl ThresholdHinge {
    /// The hinge of documents whose grade is the `ranks[i]`-th, from 0, and counts `weights[i]`; every grade up to
    /// the highest has a document of positive weight.
    pub fn new(ranks: Vec<usize>, weights: Vec<f64>, constraints: Constraints) -> Self {
        let counting = ranks.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0);
        let count = counting.map(|(rank, _)| *rank).max().unwrap_or(0);
        let total = weights.iter().sum();
        ThresholdHinge { ranks, weights, total, count, constraints }
    }

    /// The loss at the best thresholds; a subgradient by the scores goes to `gradient`, overwriting it.
    pub fn value_and_gradient(&self, scores: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let (parts, mut value) = (self.parts(scores), 0.0);
        for (range, at) in pooled(&parts, End::Lowest) {
            let block = &parts[range];
            value += block.iter().map(|part| part.value(at)).sum::<f64>();
            for (part, share) in block.iter().zip(shares(block, at)) {
                part.add_slopes(at, share, gradient);
            }
        }
        gradient.iter_mut().for_each(|g| *g /= self.total);
        value / self.total
    }

    /// The best thresholds; the middle ones where several are equally good.
    pub fn thresholds(&self, scores: &[f64]) -> Vec<f64> {
        let parts = self.parts(scores);
        let spread = |(range, at): (Range<usize>, f64)| range.map(move |_| at);
        let lowest = pooled(&parts, End::Lowest).into_iter().flat_map(spread);
        let highest = pooled(&parts, End::Highest).into_iter().flat_map(spread);
        lowest.zip(highest).map(|(low, high)| low + (high - low) / 2.0).collect()
    }

    fn parts(&self, scores: &[f64]) -> Vec<Part> {
        let mut order: Vec<usize> = (0..scores.len()).filter(|&i| self.weights[i] > 0.0).collect();
        order.par_sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        (0..self.count).into_par_iter().map(|threshold| self.part(threshold, scores, &order)).collect()
    }

    /// The part of a threshold; `order` has the documents by ascending score.
    fn part(&self, threshold: usize, scores: &[f64], order: &[usize]) -> Part {
        let grades = match self.constraints {
            Constraints::Explicit => threshold..threshold + 2,
            Constraints::Implicit => 0..self.count + 1,
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
        // Two ascending runs, which a stable sort merges in linear time.
        kinks.sort_by(|a, b| a.at.total_cmp(&b.at));
        Part(kinks)
    }
}

impl Part {
    fn value(&self, threshold: f64) -> f64 {
        let missing = |k: &Kink| if k.below { k.at - threshold } else { threshold - k.at };
        self.0.iter().map(|kink| kink.weight * missing(kink).max(0.0)).sum()
    }

    /// The slope by the threshold just left of it, and by how much it bends there.
    fn slope(&self, threshold: f64) -> (f64, f64) {
        let passed = self.0.iter().filter(|k| k.at < threshold).map(|k| k.weight).sum::<f64>();
        let bend = self.0.iter().filter(|k| k.at == threshold).map(|k| k.weight).sum();
        (passed - weight_below(&self.0), bend)
    }

    /// Adds the slopes by the scores, with `share` of those at their kink taken to be past it.
    fn add_slopes(&self, threshold: f64, share: f64, slopes: &mut [f64]) {
        for kink in &self.0 {
            let past = match kink.at.total_cmp(&threshold) {
                std::cmp::Ordering::Less => 1.0,
                std::cmp::Ordering::Equal => share,
                std::cmp::Ordering::Greater => 0.0,
            };
            slopes[kink.document] += kink.weight * if kink.below { 1.0 - past } else { -past };
        }
    }
}

fn weight_below(kinks: &[Kink]) -> f64 {
    kinks.iter().filter(|k| k.below).map(|k| k.weight).sum()
}

/// Runs of thresholds that are best at one and the same place, with that place, ascending.
fn pooled(parts: &[Part], end: End) -> Vec<(Range<usize>, f64)> {
    let mut blocks: Vec<(Range<usize>, f64)> = Vec::new();
    for threshold in 0..parts.len() {
        let mut range = threshold..threshold + 1;
        let mut at = least_place(&parts[range.clone()], end);
        while let Some((before, _)) = blocks.pop_if(|(_, place)| *place > at) {
            range.start = before.start;
            at = least_place(&parts[range.clone()], end);
        }
        blocks.push((range, at));
    }
    blocks
}

/// Where the sum of the parts of one block is least: where the kinks passed outweigh the documents below.
fn least_place(block: &[Part], end: End) -> f64 {
    let kinks = match block {
        [part] => Cow::Borrowed(&part.0),
        _ => {
            let mut all: Vec<Kink> = block.iter().flat_map(|part| part.0.iter().copied()).collect();
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
    // Both sides have documents, so it is reached, unless rounding swallows the weight of one.
    reached.or(kinks.last()).expect("a threshold has documents on both sides").at
}

/// For each part of a block, the share of its documents at their kink that counts as past it.
///
/// The slopes `h_r` by the thresholds of the block must sum to 0, and no first few of them to more than 0: else the
/// order would not be what keeps these thresholds together. Slopes that are as small as they can be at the first
/// thresholds and as large at the last fulfil that if any do.
fn shares(block: &[Part], at: f64) -> Vec<f64> {
    let slopes: Vec<(f64, f64)> = block.iter().map(|part| part.slope(at)).collect();
    let mut wanting = -slopes.iter().map(|(left, _)| left).sum::<f64>();
    let mut shares = vec![0.0; block.len()];
    for (share, (_, bend)) in shares.iter_mut().zip(&slopes).rev().filter(|(_, (_, bend))| *bend > 0.0) {
        let taken = wanting.clamp(0.0, *bend);
        wanting -= taken;
        *share = taken / bend;
    }
    shares
}
