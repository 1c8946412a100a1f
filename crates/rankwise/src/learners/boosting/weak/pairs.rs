//! Sums over the pairs of one query, in loops that compile to vector instructions.
//!
//! For documents i and j let `z = exp(s_j − s_i)`, so that `1/(1+z)` is the logistic function of their lead.
//! It is a ratio of two numbers, one per document, so no pair needs an exponential. Pairs are never stored:
//! rows of them (one i, many j) are processed one after the other. Sums over a row have a fixed number of
//! lanes, so the result is the same for vectors of any width.
//!
//! Millions of pairs whose terms depend on z alone are summed in time linear in the number of documents instead
//! ([`smooth_sums`]): those between the lower and the upper half of the labels, then those within each half, and so on
//! until few pairs are left.

use crate::losses::smooth_sums::{MANY_PAIRS, is_worthwhile, smooth_sums};
use crate::sums::add_up;
use pulp::{Arch, NullaryFnOnce};
use std::ops::Range;

/// The largest range of scores for which the ratios of a query are computed from one exponential per
/// document. Beyond it they would lose precision, and later overflow.
const WIDEST: f64 = 300.0;
/// Exponents are limited to this: beyond it a pair contributes nothing, and squares stay finite.
const FURTHEST: f64 = 350.0;

/// The documents of a query in ascending order of label, and their gains.
#[derive(Debug)]
pub(super) struct Graded {
    /// Documents of the query, ascending by label.
    order: Vec<u32>,
    /// The start of each label's documents, and the end of the last.
    starts: Vec<usize>,
    gains: Vec<f64>,
}

impl Graded {
    /// Sorts documents by label; `gain` is the gain of a label and rises with it.
    pub(super) fn new(labels: &[f32], gain: impl Fn(f32) -> f64) -> Graded {
        let mut order: Vec<u32> = (0..labels.len() as u32).collect();
        let grade_of = |&d: &u32| labels[d as usize];
        order.sort_by(|a, b| grade_of(a).total_cmp(&grade_of(b)));
        let mut starts = vec![0];
        for run in order.chunk_by(|a, b| grade_of(a) == grade_of(b)) {
            starts.push(starts[starts.len() - 1] + run.len());
        }
        let gains = order.iter().map(|d| gain(grade_of(d))).collect();
        Graded { order, starts, gains }
    }

    /// The number of documents that are better than others: each has a row of pairs.
    pub(super) fn rows(&self) -> usize {
        self.order.len() - self.starts.get(1).copied().unwrap_or(0)
    }

    /// The number of pairs with different labels.
    pub(super) fn pairs(&self) -> f64 {
        self.starts.windows(2).map(|grade| grade[0] as f64 * (grade[1] - grade[0]) as f64).sum()
    }

    /// The sum of gains over all pairs with equal labels: in each pair one document is behind, whatever the
    /// scores.
    pub(super) fn gain_within_grades(&self) -> f64 {
        let grade = |grade: &[usize]| {
            let count = (grade[1] - grade[0]) as f64;
            self.gains[grade[0]] * count * (count - 1.0) / 2.0
        };
        self.starts.windows(2).map(grade).sum()
    }

    /// The documents, ascending by label.
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    /// The documents of each label, ascending.
    pub(super) fn grades(&self) -> impl DoubleEndedIterator<Item = &[u32]> {
        self.starts.windows(2).map(|grade| &self.order[grade[0]..grade[1]])
    }

    /// The gain of each label, ascending.
    pub(super) fn grade_gains(&self) -> impl Iterator<Item = f64> {
        self.starts.windows(2).map(|grade| self.gains[grade[0]])
    }

    /// Sums `terms` over all pairs with different labels: the gradient of each document, in the order of the
    /// query, and the total.
    pub(super) fn add_up<T: PairTerms>(
        &self,
        scores: &[f64],
        terms: &T,
        pulls: &mut [f64],
        scratch: &mut PairScratch,
    ) -> f64 {
        self.add_up_by(scores, pulls, scratch, |labels, side, sums| {
            Arch::new().dispatch(AddUp { side, labels, terms, sums });
        })
    }

    /// The same in the way that takes less time. The terms must not depend on gains, and be constant for documents far
    /// apart.
    pub(super) fn add_up_without_gains<T: PairTerms>(
        &self,
        scores: &[f64],
        terms: &T,
        pulls: &mut [f64],
        scratch: &mut PairScratch,
    ) -> f64 {
        self.add_up_by(scores, pulls, scratch, |labels, side, sums| {
            self.add_up_labels(labels, side, terms, sums);
        })
    }

    /// Sums over the pairs of all labels as `add` does.
    fn add_up_by(
        &self,
        scores: &[f64],
        pulls: &mut [f64],
        scratch: &mut PairScratch,
        add: impl FnOnce(Range<usize>, &Side, &mut Sums),
    ) -> f64 {
        let PairScratch { sides: [side, _], sums } = scratch;
        self.fill(side, scores, |_| true);
        sums.clear(self.order.len());
        add(0..self.starts.len() - 1, side, sums);
        self.put(sums, pulls)
    }

    /// About how many pairs [`add_up_without_gains`](Graded::add_up_without_gains) takes one by one.
    pub(super) fn single_pairs(&self) -> f64 {
        self.single_pairs_within(0..self.starts.len() - 1)
    }

    fn single_pairs_within(&self, labels: Range<usize>) -> f64 {
        let Some(middle) = middle(labels.clone(), |label| self.starts[label]) else { return 0.0 };
        let [from, half, to] = [labels.start, middle, labels.end].map(|label| self.starts[label] as f64);
        if (half - from) * (to - half) >= MANY_PAIRS {
            return self.single_pairs_within(labels.start..middle)
                + self.single_pairs_within(middle..labels.end);
        }
        let starts = &self.starts[labels.start..=labels.end];
        starts.windows(2).map(|grade| (grade[0] as f64 - from) * (grade[1] - grade[0]) as f64).sum()
    }

    /// Adds the pairs within a range of labels to the sums.
    fn add_up_labels<T: PairTerms>(&self, labels: Range<usize>, side: &Side, terms: &T, sums: &mut Sums) {
        let Some(middle) = middle(labels.clone(), |label| side.starts[label]) else { return };
        let [from, half, to] = [labels.start, middle, labels.end].map(|label| side.starts[label]);
        let pairs = (half - from) as f64 * (to - half) as f64;
        if !is_worthwhile(pairs, side.scores[from..to].iter().copied()) {
            return Arch::new().dispatch(AddUp { side, labels, terms, sums });
        }
        add_up_many(side, from..half, half..to, terms, sums);
        self.add_up_labels(labels.start..middle, side, terms, sums);
        self.add_up_labels(middle..labels.end, side, terms, sums);
    }

    /// The gradient of each document, in the order of the query; returns the total.
    fn put(&self, sums: &Sums, pulls: &mut [f64]) -> f64 {
        for ((&d, own), others) in self.order.iter().zip(&sums.own).zip(&sums.others) {
            pulls[d as usize] = own - others;
        }
        sums.total
    }

    /// All documents.
    pub(super) fn all<'s>(&self, scores: &[f64], scratch: &'s mut PairScratch) -> &'s Side {
        self.fill(&mut scratch.sides[0], scores, |_| true);
        &scratch.sides[0]
    }

    /// The selected documents and the others.
    pub(super) fn separate<'s>(
        &self,
        scores: &[f64],
        chosen: &[bool],
        scratch: &'s mut PairScratch,
    ) -> Separated<'s> {
        let PairScratch { sides, sums } = scratch;
        self.fill(&mut sides[0], scores, |d| chosen[d as usize]);
        self.fill(&mut sides[1], scores, |d| !chosen[d as usize]);
        sums.buffers.grow(self.order.len());
        Separated { sides, buffers: &mut sums.buffers }
    }

    fn fill(&self, side: &mut Side, scores: &[f64], is_in: impl Fn(u32) -> bool) {
        let (low, high) = scores.iter().fold((f64::MAX, f64::MIN), |(l, h), &s| (l.min(s), h.max(s)));
        side.is_wide = high - low > WIDEST;
        [&mut side.scores, &mut side.gains, &mut side.powers].into_iter().for_each(Vec::clear);
        side.starts.clear();
        side.starts.push(0);
        for grade in self.starts.windows(2) {
            for at in (grade[0]..grade[1]).filter(|&at| is_in(self.order[at])) {
                side.scores.push(scores[self.order[at] as usize]);
                side.gains.push(self.gains[at]);
            }
            side.starts.push(side.scores.len());
        }
        if !side.is_wide {
            side.powers.extend(side.scores.iter().map(|s| (s - high).exp()));
        }
    }
}

/// Memory that the sums over one query after another share.
#[derive(Debug, Default)]
pub(super) struct PairScratch {
    sides: [Side; 2],
    sums: Sums,
}

/// The label that divides the documents of a range of labels into two parts of about equal size; `None` if there are fewer
/// than two labels. `before` is the number of documents with lower labels.
fn middle(labels: Range<usize>, before: impl Fn(usize) -> usize) -> Option<usize> {
    let ends = before(labels.start) + before(labels.end);
    let last = labels.end.checked_sub(1).filter(|last| *last > labels.start)?;
    Some((labels.start + 1..last).find(|&label| 2 * before(label) >= ends).unwrap_or(last))
}

/// Adds the pairs of two ranges of documents, in time linear in their number.
fn add_up_many<T: PairTerms>(
    side: &Side,
    worse: Range<usize>,
    better: Range<usize>,
    terms: &T,
    sums: &mut Sums,
) {
    let of = |behind: f64| <[f64; 2]>::from(terms.of(behind.clamp(-FURTHEST, FURTHEST).exp(), 0.0, 0.0));
    let negative: Vec<f64> = side.scores[worse.start..better.end].iter().map(|score| -score).collect();
    let (negative_worse, negative_better) = negative.split_at(worse.len());
    let of_better = smooth_sums(masses(&side.scores[worse.clone()]), &side.scores[better.clone()], of);
    let of_worse = smooth_sums(masses(negative_better), negative_worse, of);
    for (own, [pull, term]) in sums.own[better].iter_mut().zip(of_better) {
        *own += pull;
        sums.total += term;
    }
    for (sum, [pull, _]) in sums.others[worse].iter_mut().zip(of_worse) {
        *sum += pull;
    }
}

/// Some documents of a query, ascending by label.
#[derive(Debug, Default)]
pub(super) struct Side {
    scores: Vec<f64>,
    /// `exp(s − s_max)`, unless the range of scores is too wide.
    powers: Vec<f64>,
    gains: Vec<f64>,
    /// The start of each label of the query, and the end of the last.
    starts: Vec<usize>,
    is_wide: bool,
}

impl Side {
    /// `z` of document `i` of `self` with those of `other`, after adding `ahead` to all scores of `self`.
    #[inline(always)]
    fn ratios(&self, i: usize, ahead: f64, other: &Side, range: Range<usize>, z: &mut [f64]) {
        if self.is_wide {
            for (z, s) in z.iter_mut().zip(&other.scores[range]) {
                *z = (s - self.scores[i] - ahead).clamp(-FURTHEST, FURTHEST).exp();
            }
        } else {
            let inverse = (-ahead).exp() / self.powers[i];
            for (z, power) in z.iter_mut().zip(&other.powers[range]) {
                *z = power * inverse;
            }
        }
    }

    /// `z` of document `i` with all documents of a lower label, which come first; the number of these.
    #[inline(always)]
    pub(super) fn row(&self, grade: usize, i: usize, z: &mut [f64]) -> usize {
        let worse = self.starts[grade];
        self.ratios(i, 0.0, self, 0..worse, &mut z[..worse]);
        worse
    }

    /// The documents with the number of their label, ascending.
    pub(super) fn grades(&self) -> impl Iterator<Item = (usize, usize)> {
        self.grades_within(0..self.starts.len() - 1)
    }

    fn scores_within(&self, labels: &Range<usize>) -> &[f64] {
        &self.scores[self.starts[labels.start]..self.starts[labels.end]]
    }

    fn grades_within(&self, labels: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
        labels.flat_map(|g| (self.starts[g]..self.starts[g + 1]).map(move |i| (g, i)))
    }
}

/// The terms of a pair of documents of which the first has the higher label.
pub(super) trait PairTerms {
    /// The pair's gradient, and its term in the total.
    fn of(&self, z: f64, better_gain: f64, worse_gain: f64) -> (f64, f64);
}

#[derive(Debug, Default)]
struct Buffers {
    z: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Buffers {
    /// Makes room for rows of `n` pairs.
    fn grow(&mut self, n: usize) {
        for buffer in [&mut self.z, &mut self.first, &mut self.second] {
            buffer.resize(n.max(buffer.len()), 0.0);
        }
    }
}

/// Running sums over pairs. The sum of a row for its own document is kept separately: reading a vector right
/// after a single element of it was written would stall.
#[derive(Debug, Default)]
struct Sums {
    own: Vec<f64>,
    others: Vec<f64>,
    buffers: Buffers,
    total: f64,
}

impl Sums {
    /// Sums of 0 for `n` documents.
    fn clear(&mut self, n: usize) {
        for sums in [&mut self.own, &mut self.others] {
            sums.clear();
            sums.resize(n, 0.0);
        }
        self.buffers.grow(n);
        self.total = 0.0;
    }
}

/// Sums all rows within a range of labels: a struct, since a plain closure would not be inlined and would use narrow
/// vectors.
struct AddUp<'a, T> {
    side: &'a Side,
    labels: Range<usize>,
    terms: &'a T,
    sums: &'a mut Sums,
}

impl<T: PairTerms> NullaryFnOnce for AddUp<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let AddUp { side, labels, terms, sums } = self;
        let from = side.starts[labels.start];
        for (grade, i) in side.grades_within(labels) {
            let Buffers { z, first, second } = &mut sums.buffers;
            let worse = from..side.starts[grade];
            let m = worse.len();
            let (z, first, second) = (&mut z[..m], &mut first[..m], &mut second[..m]);
            side.ratios(i, 0.0, side, worse.clone(), z);
            let (gain, gains) = (side.gains[i], &side.gains[worse.clone()]);
            for j in 0..m {
                (first[j], second[j]) = terms.of(z[j], gain, gains[j]);
            }
            for (sum, pull) in sums.others[worse].iter_mut().zip(&*first) {
                *sum += pull;
            }
            sums.own[i] += add_up(first);
            sums.total += add_up(second);
        }
    }
}

/// The terms of a pair across the sides: the first document is selected, the second is not.
pub(super) trait CrossTerms {
    /// Whether pairs with equal labels count.
    const SAME: bool;

    /// Two terms of a pair whose selected document has the higher label, or the same.
    fn right(&self, z: f64, chosen_gain: f64, other_gain: f64) -> (f64, f64);

    /// The same if the other document has the higher label.
    fn wrong(&self, z: f64, chosen_gain: f64, other_gain: f64) -> (f64, f64);
}

/// The documents of a query on both sides of a rule.
pub(super) struct Separated<'s> {
    /// The selected documents and the others.
    sides: &'s [Side; 2],
    buffers: &'s mut Buffers,
}

impl Separated<'_> {
    /// Both terms summed over all pairs of a selected and another document, with `ahead` added to the selected
    /// scores.
    pub(super) fn add_up<T: CrossTerms>(&mut self, ahead: f64, terms: &T) -> (f64, f64) {
        let labels = 0..self.sides[0].starts.len() - 1;
        Arch::new().dispatch(AddAcross { sides: self.sides, labels, ahead, terms, buffers: self.buffers })
    }

    /// The same in the way that takes less time. The terms must not depend on gains, and pairs with equal labels do not
    /// count.
    pub(super) fn add_up_without_gains<T: CrossTerms>(&mut self, ahead: f64, terms: &T) -> (f64, f64) {
        self.add_up_labels(0..self.sides[0].starts.len() - 1, ahead, terms)
    }

    fn add_up_labels<T: CrossTerms>(&mut self, labels: Range<usize>, ahead: f64, terms: &T) -> (f64, f64) {
        let sides = self.sides;
        let before = |label: usize| sides[0].starts[label] + sides[1].starts[label];
        let Some(middle) = middle(labels.clone(), before) else { return (0.0, 0.0) };
        let (lower, upper) = (labels.start..middle, middle..labels.end);
        let [low_chosen, low_others] = sides.each_ref().map(|side| side.scores_within(&lower));
        let [high_chosen, high_others] = sides.each_ref().map(|side| side.scores_within(&upper));
        let pairs = (low_chosen.len() * high_others.len() + high_chosen.len() * low_others.len()) as f64;
        let scores = [low_chosen, low_others, high_chosen, high_others].into_iter().flatten().copied();
        if !is_worthwhile(pairs, scores) {
            return Arch::new().dispatch(AddAcross { sides, labels, ahead, terms, buffers: self.buffers });
        }
        let ratio = |behind: f64| (behind - ahead).clamp(-FURTHEST, FURTHEST).exp();
        let right = smooth_sums(masses(low_others), high_chosen, |behind| {
            <[f64; 2]>::from(terms.right(ratio(behind), 0.0, 0.0))
        });
        let wrong = smooth_sums(masses(high_others), low_chosen, |behind| {
            <[f64; 2]>::from(terms.wrong(ratio(behind), 0.0, 0.0))
        });
        let within = [lower, upper].map(|labels| <[f64; 2]>::from(self.add_up_labels(labels, ahead, terms)));
        let all = right.iter().chain(&wrong).chain(&within);
        all.fold((0.0, 0.0), |sum, [a, b]| (sum.0 + a, sum.1 + b))
    }
}

/// Documents with these scores, as sources of smooth sums.
fn masses(scores: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    scores.iter().map(|score| (*score, 1.0))
}

/// Sums the pairs within a range of labels.
struct AddAcross<'a, T> {
    sides: &'a [Side; 2],
    labels: Range<usize>,
    ahead: f64,
    terms: &'a T,
    buffers: &'a mut Buffers,
}

impl<T: CrossTerms> NullaryFnOnce for AddAcross<'_, T> {
    type Output = (f64, f64);

    #[inline(always)]
    fn call(self) -> (f64, f64) {
        let AddAcross { sides: [chosen, others], labels, ahead, terms, buffers } = self;
        let (from, to) = (others.starts[labels.start], others.starts[labels.end]);
        let mut sums = (0.0, 0.0);
        for (grade, i) in chosen.grades_within(labels) {
            let gain = chosen.gains[i];
            let (same, above) = (others.starts[grade], others.starts[grade + 1]);
            // Documents without gain have equal gains, so their pairs do not count.
            let right = if T::SAME && gain != 0.0 { above } else { same };
            for (range, is_right) in [(from..right, true), (above..to, false)] {
                let m = range.len();
                let Buffers { z, first, second } = &mut *buffers;
                let (z, first, second) = (&mut z[..m], &mut first[..m], &mut second[..m]);
                chosen.ratios(i, ahead, others, range.clone(), z);
                let gains = &others.gains[range];
                if is_right {
                    for j in 0..m {
                        (first[j], second[j]) = terms.right(z[j], gain, gains[j]);
                    }
                } else {
                    for j in 0..m {
                        (first[j], second[j]) = terms.wrong(z[j], gain, gains[j]);
                    }
                }
                sums = (sums.0 + add_up(first), sums.1 + add_up(second));
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use rand::RngExt;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Terms that are constant for documents far apart, as exponents are limited.
    struct Bounded;

    impl PairTerms for Bounded {
        fn of(&self, z: f64, _: f64, _: f64) -> (f64, f64) {
            (z / (1.0 + z), 1.0 - (1.0 / (1.0 + z)).sqrt())
        }
    }

    impl CrossTerms for Bounded {
        const SAME: bool = false;

        fn right(&self, z: f64, _: f64, _: f64) -> (f64, f64) {
            (z / (1.0 + z), 0.0)
        }

        fn wrong(&self, z: f64, _: f64, _: f64) -> (f64, f64) {
            (0.0, 1.0 / (1.0 + z))
        }
    }

    #[test]
    fn both_ways_of_summing_agree() {
        // Enough documents for sums between halves; with as many labels, also within them.
        for (documents, labels, ranges) in
            [(300, 4, [0.0, 500.0]), (6000, 4, [3.0, 60.0]), (6000, 6000, [3.0, 60.0])]
        {
            let mut random = rng::stream(5, &[]);
            let grade = |_| random.random_range(0..labels) as f32;
            let graded = Graded::new(&(0..documents).map(grade).collect::<Vec<f32>>(), |_| 0.0);
            let chosen: Vec<bool> = (0..documents).map(|_| random.random()).collect();
            let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{b} for {a}");
            for range in ranges {
                let scores: Vec<f64> = (0..documents).map(|_| range * random.random::<f64>()).collect();
                let [mut rows, mut many] = [(); 2].map(|()| vec![f64::NAN; documents]);
                let scratch = &mut PairScratch::default();
                near(
                    graded.add_up(&scores, &Bounded, &mut rows, scratch),
                    graded.add_up_without_gains(&scores, &Bounded, &mut many, scratch),
                );
                rows.iter().zip(&many).for_each(|(a, b)| near(*a, *b));
                let mut separated = graded.separate(&scores, &chosen, scratch);
                for ahead in [1.5, -5.0] {
                    let rows = separated.add_up(ahead, &Bounded);
                    let many = separated.add_up_without_gains(ahead, &Bounded);
                    near(rows.0, many.0);
                    near(rows.1, many.1);
                }
            }
        }
    }

    /// Counts the pairs whose terms are computed.
    #[derive(Default)]
    struct Counted(AtomicUsize);

    impl PairTerms for Counted {
        fn of(&self, z: f64, _: f64, _: f64) -> (f64, f64) {
            self.0.fetch_add(1, Ordering::Relaxed);
            (z / (1.0 + z), 0.0)
        }
    }

    #[test]
    fn thousands_of_labels_do_not_take_a_step_per_pair() {
        let labels: Vec<f32> = (0..20_000).map(|i| i as f32).collect();
        let graded = Graded::new(&labels, |_| 0.0);
        let scores: Vec<f64> = (0..20_000).map(|i| f64::from(i % 101) / 50.0).collect();
        let counted = Counted::default();
        let mut pulls = vec![0.0; labels.len()];
        graded.add_up_without_gains(&scores, &counted, &mut pulls, &mut PairScratch::default());
        let steps = counted.0.into_inner() as f64;
        assert!(steps < 0.2 * graded.pairs(), "{steps} steps for {} pairs", graded.pairs());
        let expected = graded.single_pairs();
        assert!(expected <= steps && steps < 1.1 * expected, "{steps} steps, {expected} expected");
    }
}
