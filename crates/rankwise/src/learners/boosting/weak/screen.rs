//! Comparing the rules of all features and thresholds by the loss that each leaves at its own step.
//!
//! The loss of a pair falls with its lead `x` at the rate `w(x)`, and `w(x + a) ≈ w(x)·exp(g(x)·a)` with
//! `g = w′/w`. A rule that orders pairs of total weight `W₊ = Σ w` right and `W₋` wrong has the step
//! `α = ½ ln(W₊/W₋)` and lowers the loss by about
//!
//! ```text
//! W₊·(e^{g₊α} − 1)/g₊ − W₋·(1 − e^{−g₋α})/g₋ ,      g± = Σ w′ / Σ w  over these pairs
//! ```
//!
//! which is exact to the second order in α. The rules that lower it most by this estimate are returned; their
//! loss is computed exactly later.
//!
//! A pair is ordered right by the thresholds between the values of its documents. So each row of pairs (one
//! better document, all worse ones) is compared once with the codes of each feature, and sums over thresholds
//! come from sums per document. That costs pairs × features; above [`MOST`] of these, every k-th row is used.
//!
//! Terms of the sums over queries are rounded to multiples of 2⁻⁶⁰. The sums of whole numbers are exact, so threads and
//! workers can divide the queries in any way.

use super::MAX_STEP;
use super::finder::{Finder, Rule};
use super::pairs::{Graded, PairScratch, Side};
use crate::data::Dataset;
use crate::parallel;
use crate::sums::{LANES, add_up};
use crate::trees::{Binned, Tree};
use pulp::{Arch, NullaryFnOnce};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Maximum number of pairs × features compared in a round.
const MOST: f64 = (1u64 << 26) as f64;
/// Maximum number of features compared; of more, those along which the loss falls fastest.
const MOST_FEATURES: usize = 1024;
/// Number of tasks into which the queries are split.
const TASKS: usize = 8;
/// The unit of sums over queries is 1 over this. All pairs together weigh less than 1, so no sum is too large.
const PER_ONE: f64 = (1u64 << 60) as f64;
/// Weights below this are 0: sums of denormal numbers are slow.
const LEAST: f64 = 1e-30;

/// The weight `w` of a pair, and its derivative by the lead.
pub(super) trait Bend: Sync {
    /// Both, from `z = exp(−lead)`.
    fn of(&self, z: f64) -> (f64, f64);
}

/// The pairs of all queries, and how rules are compared.
pub(super) struct Screen<'a, B> {
    pub(super) data: &'a Dataset,
    pub(super) queries: &'a [Graded],
    /// The weight of each query's pairs.
    pub(super) weights: &'a [f64],
    /// The number of pairs of all queries that have a weight; other workers may have some of them.
    pub(super) pairs: f64,
    pub(super) bend: B,
}

/// A feature, and where its missing values go.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Compared {
    feature: usize,
    missing_left: bool,
    /// The index of its first sums.
    start: usize,
}

/// Sums over the documents of one code: their terms of `W₊`, their worths, and the same with `w′` for `w`.
type CodeSums = [i64; 4];

/// A rule, by its estimated decrease of the loss.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Candidate {
    decrease: f64,
    compared: Compared,
    /// The last bin that goes left.
    bin: usize,
    /// Whether documents on the left are selected.
    takes_left: bool,
}

impl<B: Bend> Screen<'_, B> {
    /// The `count` best rules by the estimate. `worths` is the negative gradient, `round` decides which rows
    /// are used if there are too many.
    pub(super) fn best(
        &self,
        finder: &Finder<'_>,
        round: u64,
        scores: &[f64],
        worths: &[f64],
        count: usize,
    ) -> Vec<Rule> {
        let Some(binned) = finder.binned() else { return Vec::new() };
        let compared = compared(binned, self.data, worths);
        let own_sums = || self.sums(binned, &compared, round, scores);
        let best = self.data.decide(own_sums, |sums| best_of(binned, &compared, &add(sums), count));
        finder.rules_of(best.iter().map(|candidate| candidate.tree(binned)).collect())
    }

    /// Sums over the pairs of all queries of this data set, for each code of each feature.
    fn sums(&self, binned: &Binned, compared: &[Compared], round: u64, scores: &[f64]) -> Vec<CodeSums> {
        let length = compared.last().map_or(0, |c| c.start + slots(binned, *c));
        let every = (self.pairs * compared.len() as f64 / MOST).ceil().max(1.0) as usize;
        let chunk = self.queries.len().div_ceil(TASKS).max(1);
        let tasks: Vec<Vec<CodeSums>> = parallel::map(0..self.queries.len().div_ceil(chunk), |task| {
            let mut sums = vec![CodeSums::default(); length];
            let (mut scratch, mut query) = (PairScratch::default(), QuerySums::default());
            let queries = task * chunk..self.queries.len().min((task + 1) * chunk);
            for q in queries.filter(|&q| self.weights[q] > 0.0) {
                let (here, graded) = (self.data.query(q).range(), &self.queries[q]);
                // A query has fewer rows than documents, so the number of its first document is that of its first row.
                let row = self.data.whole().first_document + here.start + round as usize;
                if (row + graded.rows()) / every > row / every {
                    query.begin(binned, compared, graded, here.start);
                    let side = graded.all(&scores[here], &mut scratch);
                    let rows = AddRows { side, bend: &self.bend, every, row, sums: &mut query };
                    Arch::new().dispatch(rows);
                    query.spread(compared, self.weights[q], &mut sums);
                }
            }
            sums
        });
        match tasks.is_empty() {
            true => vec![CodeSums::default(); length],
            false => add(tasks),
        }
    }
}

/// The sum of lists of the same length, element by element.
fn add(lists: Vec<Vec<CodeSums>>) -> Vec<CodeSums> {
    let sum = lists.into_iter().reduce(|mut all, list| {
        all.iter_mut().zip(list).for_each(|(a, b)| *a = std::array::from_fn(|k| a[k] + b[k]));
        all
    });
    sum.unwrap_or_default()
}

/// The `count` best rules by the estimate.
fn best_of(binned: &Binned, compared: &[Compared], sums: &[CodeSums], count: usize) -> Vec<Candidate> {
    let mut best: Vec<Candidate> = Vec::new();
    for candidate in compared.iter().flat_map(|c| candidates(binned, *c, sums)) {
        let at = best.partition_point(|b| b.decrease >= candidate.decrease);
        if at < count {
            best.insert(at, candidate);
            best.truncate(count);
        }
    }
    best
}

/// A term of a sum over queries, in its unit.
fn whole(term: f64) -> i64 {
    (PER_ONE * term) as i64
}

/// The features to compare, twice each if values are missing.
fn compared(binned: &Binned, data: &Dataset, worths: &[f64]) -> Vec<Compared> {
    let mut features: Vec<usize> = (0..binned.feature_count()).collect();
    if features.len() > MOST_FEATURES {
        let own_sums = || binned.sums_by_code(&worths.iter().map(|w| whole(*w)).collect::<Vec<_>>());
        features = data.decide(own_sums, |sums| {
            let sum = sums.into_iter().reduce(|mut all, sums| {
                all.iter_mut().zip(sums).for_each(|(a, b)| *a += b);
                all
            });
            let steepness = binned.largest_sums(&sum.unwrap_or_default());
            features.sort_by_key(|&feature| Reverse(steepness[feature]));
            features.truncate(MOST_FEATURES);
            features.sort_unstable();
            features
        });
    }
    let mut start = 0;
    let mut compared = Vec::new();
    for feature in features {
        let has_missing = binned.feature(feature).1.missing_code().is_some();
        for missing_left in [false, true].into_iter().filter(|left| !left || has_missing) {
            let next = Compared { feature, missing_left, start };
            start += slots(binned, next);
            compared.push(next);
        }
    }
    compared
}

/// The number of sums of a feature: one per code, after one for missing values that go left.
fn slots(binned: &Binned, compared: Compared) -> usize {
    1 + binned.feature(compared.feature).1.codes()
}

/// The rules of one feature.
fn candidates(binned: &Binned, compared: Compared, sums: &[CodeSums]) -> Vec<Candidate> {
    let (_, bins) = binned.feature(compared.feature);
    let ends_at_values = compared.missing_left || bins.missing_code().is_none();
    let cuts = bins.value_bins() - usize::from(ends_at_values);
    let mut left = sums[compared.start];
    (0..cuts)
        .map(|bin| {
            let here = sums[compared.start + 1 + bin];
            left = std::array::from_fn(|k| left[k] + here[k]);
            let (decrease, takes_left) = estimate(left.map(|sum| sum as f64 / PER_ONE));
            Candidate { decrease, compared, bin, takes_left }
        })
        .filter(|candidate| candidate.decrease > 0.0)
        .collect()
}

/// The estimated decrease of the loss, and whether the left side is the one to select. The sums are over the
/// documents on the left of a rule that selects the right.
fn estimate([right, lead, right_bend, lead_bend]: [f64; 4]) -> (f64, bool) {
    // `W₊ − W₋` is the total worth of the right side, which is minus that of the left.
    let right = [right.max(0.0), right_bend];
    let wrong = [(right[0] + lead).max(0.0), right_bend + lead_bend];
    let (gained, lost, takes_left) =
        if right[0] >= wrong[0] { (right, wrong, false) } else { (wrong, right, true) };
    if gained[0] <= 0.0 {
        return (0.0, takes_left);
    }
    let step = (0.5 * (gained[0] / lost[0]).ln()).min(MAX_STEP);
    let change = |[w, bend]: [f64; 2], sign: f64| {
        if w == 0.0 {
            return 0.0;
        }
        let exponent = sign * (bend / w).clamp(-1.0, 0.5) * step;
        let mean = if exponent.abs() < 1e-9 { 1.0 } else { exponent.exp_m1() / exponent };
        w * step * mean
    };
    (change(gained, 1.0) - change(lost, -1.0), takes_left)
}

impl Candidate {
    fn tree(&self, binned: &Binned) -> Tree {
        let (column, bins) = binned.feature(self.compared.feature);
        let threshold = bins.upper(self.bin);
        // A feature that is never missing in training: missing values go where 0 goes.
        let missing_left =
            if bins.missing_code().is_some() { self.compared.missing_left } else { 0.0 <= threshold };
        let value = |is_left: bool| f64::from(u8::from(is_left == self.takes_left));
        Tree {
            features: vec![column as u32],
            thresholds: vec![threshold],
            missing_left: vec![missing_left],
            left: vec![!0],
            right: vec![!1],
            gains: vec![self.decrease as f32],
            values: vec![value(true), value(false)],
            covers: vec![0.0; 2],
            ..Tree::default()
        }
    }
}

/// Sums over the pairs of one query. Documents are in ascending order of label.
#[derive(Default)]
struct QuerySums {
    documents: usize,
    /// The codes of all documents, feature by feature; −1 for missing values that go left.
    codes: Vec<f32>,
    /// Of `w` and `w′`, per feature and document: pairs ordered right in which it is the worse document, minus
    /// those in which it is the better one.
    right: [Vec<f32>; 2],
    /// Of `w` and `w′`, per document: pairs in which it is the better document, minus the others.
    worths: [Vec<f64>; 2],
    /// The worths of the documents, weighted and as whole numbers.
    whole_worths: Vec<[i64; 2]>,
    /// Terms of a row: its ratios, weights and slopes, the latter also in single precision.
    row: [Vec<f64>; 3],
    single: [Vec<f32>; 3],
}

impl QuerySums {
    /// Sums of 0 for the documents of a query, of which the first has this number.
    fn begin(&mut self, binned: &Binned, compared: &[Compared], graded: &Graded, first: usize) {
        self.documents = graded.order().len();
        let codes = &mut self.codes;
        codes.clear();
        for &Compared { feature, missing_left, .. } in compared {
            let missing = binned.feature(feature).1.missing_code().filter(|_| missing_left);
            codes.extend(graded.order().iter().map(|&d| match binned.code(first + d as usize, feature) {
                code if missing == Some(code.into()) => -1.0,
                code => f32::from(code),
            }));
        }
        self.right.iter_mut().for_each(|right| zero(right, codes.len()));
        self.worths.iter_mut().chain(&mut self.row).for_each(|sums| zero(sums, graded.order().len()));
        self.single.iter_mut().for_each(|row| zero(row, graded.order().len()));
    }

    /// Adds each document's sums to those of its codes.
    fn spread(&mut self, compared: &[Compared], weight: f64, sums: &mut [CodeSums]) {
        let worths = |d| self.worths.each_ref().map(|worths| whole(weight * worths[d]));
        self.whole_worths.clear();
        self.whole_worths.extend((0..self.documents).map(worths));
        for (f, &Compared { start, .. }) in compared.iter().enumerate() {
            for (document, worths) in self.whole_worths.iter().enumerate() {
                let at = f * self.documents + document;
                let sum = &mut sums[start + (self.codes[at] + 1.0) as usize];
                sum[0] += whole(weight * f64::from(self.right[0][at]));
                sum[1] += worths[0];
                sum[2] += whole(weight * f64::from(self.right[1][at]));
                sum[3] += worths[1];
            }
        }
    }
}

/// Overwrites `sums` with `n` zeros.
fn zero<T: Clone + Default>(sums: &mut Vec<T>, n: usize) {
    sums.clear();
    sums.resize(n, T::default());
}

/// Adds the rows of a query: a struct, since a plain closure would not be inlined and would use narrow
/// vectors.
struct AddRows<'a, B> {
    side: &'a Side,
    bend: &'a B,
    /// Every so many rows are used; the number of the first row.
    every: usize,
    row: usize,
    sums: &'a mut QuerySums,
}

impl<B: Bend> NullaryFnOnce for AddRows<'_, B> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let AddRows { side, bend, every, mut row, sums } = self;
        let QuerySums {
            documents: n,
            codes,
            right,
            worths,
            whole_worths: _,
            row: [z, exact, exact_bend],
            single: [w, b, kept],
        } = sums;
        let n = *n;
        for (grade, i) in side.grades().filter(|(grade, _)| *grade > 0) {
            row += 1;
            if !row.is_multiple_of(every) {
                continue;
            }
            let m = side.row(grade, i, z);
            for j in 0..m {
                let (weight, slope) = bend.of(z[j]);
                let counts = f64::from(u8::from(weight > LEAST));
                (exact[j], exact_bend[j]) = (counts * weight, counts * slope);
                (w[j], b[j]) = (exact[j] as f32, exact_bend[j] as f32);
            }
            for (worths, row) in worths.iter_mut().zip([&exact[..m], &exact_bend[..m]]) {
                worths.iter_mut().zip(row).for_each(|(worth, x)| *worth -= x);
                worths[i] += add_up(row);
            }
            let [right, right_bend] = &mut *right;
            let features = codes.chunks_exact(n).zip(right.chunks_exact_mut(n));
            for ((codes, right), right_bend) in features.zip(right_bend.chunks_exact_mut(n)) {
                let (code, codes) = (codes[i], &codes[..m]);
                right[i] -= add_below(code, codes, w, right, kept);
                right_bend[i] -= add_below(code, codes, b, right_bend, kept);
            }
        }
    }
}

/// Adds the terms of all documents with a code below `code` to their sums; returns the total. Two simple
/// loops, since one that does both does not become vector instructions.
#[inline(always)]
fn add_below(code: f32, codes: &[f32], terms: &[f32], sums: &mut [f32], kept: &mut [f32]) -> f32 {
    let m = codes.len();
    let (terms, sums, kept) = (&terms[..m], &mut sums[..m], &mut kept[..m]);
    for j in 0..m {
        let term = if codes[j] < code { terms[j] } else { 0.0 };
        kept[j] = term;
        sums[j] += term;
    }
    let (chunks, rest) = kept.as_chunks::<LANES>();
    let mut lanes = [0.0f32; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] += chunk[lane];
        }
    }
    lanes.iter_mut().zip(rest).for_each(|(lane, x)| *lane += x);
    ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]))
}
