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
//! Therefore documents whose kink is at the threshold count with the fraction that makes them sum to 0.
//!
//! The documents may be divided among workers, so the kinks are never put into one list. Every piece of the data sorts its
//! own, and the quantile is found by bisection: it is the smallest number up to which the kinks of all pieces have enough
//! weight. The time is O(n log n) for n documents and a few grades; with implicit constraints it grows with the square
//! of the number of grades.

#[cfg(test)]
mod tests;

use crate::data::Dataset;
use crate::parallel;
use crate::pieces::Term;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::ops::Range;

/// Numbers that a step of the search tries for a threshold, if the documents are divided among workers: more than one,
/// as a question to all workers takes its time. The result does not depend on it.
const DIVIDED_PROBES: usize = 15;

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
pub struct ThresholdHinge<'a> {
    /// Who has the documents.
    data: &'a Dataset,
    /// The grade number of each document, from 0.
    ranks: Vec<usize>,
    weights: Vec<f64>,
    /// Σ v_i.
    total: f64,
    /// The number of thresholds: one fewer than grades.
    count: usize,
    constraints: ThresholdConstraints,
}

/// Which end of the interval of optimal thresholds.
#[derive(Clone, Copy)]
enum End {
    Lowest,
    Highest,
}

impl<'a> ThresholdHinge<'a> {
    /// Creates the loss for the documents of `data`, with the grade numbers `ranks`, from 0, and with weights. Every grade
    /// up to the highest must have a document with positive weight.
    pub fn new(
        data: &'a Dataset,
        ranks: Vec<usize>,
        weights: Vec<f64>,
        constraints: ThresholdConstraints,
    ) -> Self {
        let highest = || {
            let counting = ranks.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0);
            counting.map(|(rank, _)| *rank).max().unwrap_or(0)
        };
        let count = data.decide(highest, |all| all.into_iter().max().unwrap_or(0));
        let total = data.total(|queries| weights[documents(data, queries)].iter().sum::<f64>());
        ThresholdHinge { data, ranks, weights, total, count, constraints }
    }

    /// Returns the loss at the optimal thresholds and overwrites `gradient` with a subgradient by the scores.
    pub fn value_and_gradient(&self, scores: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        if self.count == 0 {
            return 0.0;
        }
        let sorted = SortedScores::new(self, scores);
        let blocks = sorted.pooled(End::Lowest);
        let places: Vec<f64> =
            blocks.iter().flat_map(|(range, at)| range.clone().map(move |_| *at)).collect();
        let terms = sorted.terms(&places);
        let value = terms.iter().map(|term| term.value).sum::<f64>();
        let fractions: Vec<f64> =
            blocks.into_iter().flat_map(|(range, _)| fractions(&terms[range])).collect();
        let slopes = parallel::map(0..scores.len(), |d| self.slope(d, scores[d], &places, &fractions));
        gradient.copy_from_slice(&slopes);
        value / self.total
    }

    /// The optimal thresholds; the middle ones if several are optimal.
    pub fn thresholds(&self, scores: &[f64]) -> Vec<f64> {
        if self.count == 0 {
            return Vec::new();
        }
        let sorted = SortedScores::new(self, scores);
        let spread = |(range, at): (Range<usize>, f64)| range.map(move |_| at);
        let lowest = sorted.pooled(End::Lowest).into_iter().flat_map(spread);
        let highest = sorted.pooled(End::Highest).into_iter().flat_map(spread);
        lowest.zip(highest).map(|(low, high)| low + (high - low) / 2.0).collect()
    }

    /// The grades that a threshold separates.
    fn grades(&self, threshold: usize) -> Range<usize> {
        match self.constraints {
            ThresholdConstraints::Explicit => threshold..threshold + 2,
            ThresholdConstraints::Implicit => 0..self.count + 1,
        }
    }

    /// The derivative by the score of a document; `fractions` of each document at its kink count as past it.
    fn slope(&self, document: usize, score: f64, places: &[f64], fractions: &[f64]) -> f64 {
        let (rank, weight) = (self.ranks[document], self.weights[document]);
        if weight <= 0.0 {
            return 0.0;
        }
        let thresholds = match self.constraints {
            ThresholdConstraints::Explicit => rank.saturating_sub(1)..self.count.min(rank + 1),
            ThresholdConstraints::Implicit => 0..self.count,
        };
        let slope = |threshold: usize| {
            let below = rank <= threshold;
            let past = match kink(score, below).partial_cmp(&places[threshold]) {
                Some(Ordering::Less) => 1.0,
                Some(Ordering::Equal) => fractions[threshold],
                _ => 0.0,
            };
            weight * if below { 1.0 - past } else { -past }
        };
        thresholds.map(slope).sum::<f64>() / self.total
    }
}

/// Where the term of a threshold changes its slope, for a document that must be `below` it or above.
fn kink(score: f64, below: bool) -> f64 {
    score + if below { 1.0 } else { -1.0 }
}

/// The documents of a range of queries.
fn documents(data: &Dataset, queries: Range<usize>) -> Range<usize> {
    data.bounds()[queries.start]..data.bounds()[queries.end]
}

/// The documents with their scores, sorted within each piece of the data.
struct SortedScores<'a> {
    hinge: &'a ThresholdHinge<'a>,
    scores: &'a [f64],
    /// The pieces that have documents, in order.
    pieces: Vec<SortedPiece>,
    /// No kink is outside these.
    lowest: f64,
    highest: f64,
}

/// The documents of a piece that have a weight: by grade, and by score within each grade.
struct SortedPiece {
    first_query: usize,
    /// Where each grade starts in the lists below.
    starts: Vec<usize>,
    documents: Vec<usize>,
    /// The weight of a document and of those before it in its grade.
    sums: Vec<f64>,
}

/// The term of one threshold in the loss, at a certain place of the threshold.
struct ThresholdTerm {
    value: f64,
    /// The left derivative by the threshold, and by how much it increases there.
    left: f64,
    bend: f64,
}

impl<'a> SortedScores<'a> {
    fn new(hinge: &'a ThresholdHinge<'a>, scores: &'a [f64]) -> Self {
        let pieces = hinge.data.pieces().into_iter().filter(|queries| !queries.is_empty());
        let pieces = parallel::map(pieces, |queries| SortedPiece::new(hinge, scores, queries));
        let ends = || {
            let counting = pieces.iter().flat_map(|piece| &piece.documents).map(|&d| scores[d]);
            counting.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), s| (low.min(s), high.max(s)))
        };
        let (lowest, highest) = hinge.data.decide(ends, |all| {
            let least = all.iter().map(|(low, _)| *low).fold(f64::INFINITY, f64::min);
            (least, all.iter().map(|(_, high)| *high).fold(f64::NEG_INFINITY, f64::max))
        });
        SortedScores { hinge, scores, pieces, lowest: lowest - 1.0, highest: highest + 1.0 }
    }

    /// The piece of these queries, unless they have no documents.
    fn piece(&self, queries: &Range<usize>) -> Option<&SortedPiece> {
        let place = self.pieces.partition_point(|piece| piece.first_query < queries.start);
        (!queries.is_empty()).then(|| &self.pieces[place])
    }

    /// Ranges of thresholds that share one optimal value, with that value, in ascending order.
    fn pooled(&self, end: End) -> Vec<(Range<usize>, f64)> {
        let single: Vec<Range<usize>> = (0..self.hinge.count).map(|t| t..t + 1).collect();
        let places = self.least_places(&single, end);
        let mut blocks: Vec<(Range<usize>, f64)> = Vec::new();
        for (mut range, mut at) in single.into_iter().zip(places) {
            while let Some((before, _)) = blocks.pop_if(|(_, place)| *place > at) {
                range.start = before.start;
                at = self.least_places(std::slice::from_ref(&range), end)[0];
            }
            blocks.push((range, at));
        }
        blocks
    }

    /// The minimum of the summed terms of each block: the first number at which the weight of the kinks up to it outweighs
    /// the documents below.
    fn least_places(&self, blocks: &[Range<usize>], end: End) -> Vec<f64> {
        let tries = if self.hinge.data.exchange().is_some() { DIVIDED_PROBES } else { 1 };
        let mut open = vec![(key(self.lowest), key(self.highest)); blocks.len()];
        while open.iter().any(|(low, high)| low < high) {
            let probes: Vec<Vec<u64>> = open.iter().map(|&ends| between(ends, tries)).collect();
            let found: Vec<Probed> = self.hinge.data.total(|queries| {
                let piece = self.piece(&queries);
                let of_block = |(block, probes): (&Range<usize>, &Vec<u64>)| match piece {
                    Some(piece) => self.probe(piece, block, probes),
                    None => Probed::nothing(tries),
                };
                blocks.iter().zip(&probes).map(of_block).collect()
            });
            open.iter_mut().zip(&found).for_each(|(ends, found)| found.narrow(ends, end));
        }
        // The first key of two equal numbers is that of −0, which 0 makes 0.
        open.into_iter().map(|(_, high)| number(high) + 0.0).collect()
    }

    /// What one piece says to these places of a block's thresholds, given as keys.
    fn probe(&self, piece: &SortedPiece, block: &Range<usize>, probes: &[u64]) -> Probed {
        let mut probed = Probed::nothing(probes.len());
        probed.below = self.below(piece, block);
        for ((passed, last, next), &probe) in probed.kinks.iter_mut().zip(probes) {
            let place = number(probe);
            for threshold in block.clone() {
                let mut sum = 0.0;
                for grade in self.hinge.grades(threshold) {
                    let at = |d: &usize| kink(self.scores[*d], grade <= threshold);
                    let documents = piece.documents(grade);
                    let past = documents.partition_point(|d| at(d) <= place);
                    sum += piece.sum(grade, past);
                    *last = documents[..past].last().map_or(*last, |d| key(at(d)).max(*last));
                    *next = documents.get(past).map_or(*next, |d| key(at(d)).min(*next));
                }
                *passed += sum;
            }
        }
        probed
    }

    /// The weight of the documents that must be below the thresholds of a block, in one piece.
    fn below(&self, piece: &SortedPiece, block: &Range<usize>) -> f64 {
        let grades = |threshold: usize| self.hinge.grades(threshold).start..threshold + 1;
        let of_term = |t: usize| grades(t).map(|grade| piece.sum(grade, piece.len(grade))).sum::<f64>();
        block.clone().map(of_term).sum()
    }

    /// The terms of all thresholds, which are at `places`.
    fn terms(&self, places: &[f64]) -> Vec<ThresholdTerm> {
        let sums = self.hinge.data.total(|queries| match self.piece(&queries) {
            Some(piece) => places.iter().enumerate().map(|(t, &at)| self.term(piece, t, at)).collect(),
            None => vec![(0.0, 0.0, 0.0, 0.0); places.len()],
        });
        let term = |(value, passed, bend, below)| ThresholdTerm { value, left: passed - below, bend };
        sums.into_iter().map(term).collect()
    }

    /// In one piece: the value of a term, the weight of its kinks before the threshold and at it, and that of the documents
    /// that must be below.
    fn term(&self, piece: &SortedPiece, threshold: usize, at: f64) -> (f64, f64, f64, f64) {
        let (mut value, mut passed, mut bend) = (0.0, 0.0, 0.0);
        for grade in self.hinge.grades(threshold) {
            let below = grade <= threshold;
            let before = piece.count(grade, self.scores, |s| kink(s, below) < at);
            let up_to = piece.count(grade, self.scores, |s| kink(s, below) <= at);
            let documents = piece.documents(grade);
            let weight = |d: &usize| self.hinge.weights[*d];
            passed += piece.sum(grade, before);
            bend += documents[before..up_to].iter().map(weight).sum::<f64>();
            let missing = if below { &documents[up_to..] } else { &documents[..before] };
            let lost = |d: &usize| weight(d) * (kink(self.scores[*d], below) - at).abs();
            value += missing.iter().map(lost).sum::<f64>();
        }
        (value, passed, bend, self.below(piece, &(threshold..threshold + 1)))
    }
}

impl SortedPiece {
    fn new(hinge: &ThresholdHinge<'_>, scores: &[f64], queries: Range<usize>) -> SortedPiece {
        let first_query = queries.start;
        let mut documents: Vec<usize> =
            documents(hinge.data, queries).filter(|&d| hinge.weights[d] > 0.0).collect();
        documents.sort_by(|&a, &b| hinge.ranks[a].cmp(&hinge.ranks[b]).then(scores[a].total_cmp(&scores[b])));
        let starts: Vec<usize> = (0..hinge.count + 2)
            .map(|grade| documents.partition_point(|&d| hinge.ranks[d] < grade))
            .collect();
        let mut sums = Vec::with_capacity(documents.len());
        for grade in documents.chunk_by(|&a, &b| hinge.ranks[a] == hinge.ranks[b]) {
            sums.extend(grade.iter().scan(0.0, |sum, &d| {
                *sum += hinge.weights[d];
                Some(*sum)
            }));
        }
        SortedPiece { first_query, starts, documents, sums }
    }

    fn len(&self, grade: usize) -> usize {
        self.starts[grade + 1] - self.starts[grade]
    }

    fn documents(&self, grade: usize) -> &[usize] {
        &self.documents[self.starts[grade]..self.starts[grade + 1]]
    }

    /// The number of documents of a grade with `is_past`, which is true of the lower scores.
    fn count(&self, grade: usize, scores: &[f64], is_past: impl Fn(f64) -> bool) -> usize {
        self.documents(grade).partition_point(|&d| is_past(scores[d]))
    }

    /// The weight of the first documents of a grade.
    fn sum(&self, grade: usize, documents: usize) -> f64 {
        if documents == 0 { 0.0 } else { self.sums[self.starts[grade] + documents - 1] }
    }
}

/// What is known of the kinks of a block's terms after some places were tried.
#[derive(Serialize, Deserialize)]
struct Probed {
    /// The weight of the documents that must be below the thresholds.
    below: f64,
    /// For each place: the weight of the kinks up to it, and the keys of the last of these and of the next kink.
    kinks: Vec<(f64, u64, u64)>,
}

impl Term for Probed {
    fn add(&mut self, other: &Probed) {
        self.below += other.below;
        for (a, b) in self.kinks.iter_mut().zip(&other.kinks) {
            *a = (a.0 + b.0, a.1.max(b.1), a.2.min(b.2));
        }
    }
}

impl Probed {
    /// No kinks at all.
    fn nothing(places: usize) -> Probed {
        Probed { below: 0.0, kinks: vec![(0.0, 0, u64::MAX); places] }
    }

    /// Narrows the interval of keys in which the minimum is. Its ends become kinks, of which there are far fewer than
    /// numbers.
    fn narrow(&self, (low, high): &mut (u64, u64), end: End) {
        for &(passed, last, next) in &self.kinks {
            let reached = match end {
                End::Lowest => passed >= self.below,
                End::Highest => passed > self.below,
            };
            if reached {
                *high = last.clamp(*low, *high);
                return;
            }
            *low = next.clamp(*low, *high);
        }
    }
}

/// A whole number for every number, in the same order.
fn key(x: f64) -> u64 {
    let bits = x.to_bits();
    if x.is_sign_negative() { !bits } else { bits | 1 << 63 }
}

/// The number of a key.
fn number(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

/// Keys at equal distances from the lower end on, all below the upper one.
fn between((low, high): (u64, u64), count: usize) -> Vec<u64> {
    let parts = count as u128 + 1;
    (1..parts).map(|i| low + (u128::from(high - low) * i / parts) as u64).collect()
}

/// For each term of a block, the fraction of its documents at their kink that counts as past it.
///
/// The derivatives `h_r` by the thresholds of the block must sum to 0, and no prefix of them may sum to more than 0,
/// otherwise the order constraint would not keep these thresholds together. If any choice satisfies this, then so
/// does the one with the smallest possible derivatives at the first thresholds and the largest at the last.
fn fractions(block: &[ThresholdTerm]) -> Vec<f64> {
    let mut wanting = -block.iter().map(|term| term.left).sum::<f64>();
    let mut fractions = vec![0.0; block.len()];
    for (fraction, term) in fractions.iter_mut().zip(block).rev().filter(|(_, term)| term.bend > 0.0) {
        let taken = wanting.clamp(0.0, term.bend);
        wanting -= taken;
        *fraction = taken / term.bend;
    }
    fractions
}
