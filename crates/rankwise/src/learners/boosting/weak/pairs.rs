//! Sums over the pairs of one query, in loops that compile to vector instructions.
//!
//! For documents i and j let `z = exp(s_j − s_i)`, so that `1/(1+z)` is the logistic function of their lead.
//! It is a ratio of two numbers, one per document, so no pair needs an exponential. Pairs are never stored:
//! rows of them (one i, many j) are processed one after the other. Sums over a row have a fixed number of
//! lanes, so the result is the same for vectors of any width.
//!
//! Millions of pairs whose terms depend on z alone are summed in time linear in the number of documents instead
//! ([`smooth_sums`]).

use crate::losses::smooth_sums::{is_worthwhile, smooth_sums};
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
    pub(super) fn add_up<T: PairTerms>(&self, scores: &[f64], terms: &T, pulls: &mut [f64]) -> f64 {
        let side = self.all(scores);
        let n = self.order.len();
        let mut sums = Sums { own: vec![0.0; n], others: vec![0.0; n], buffers: Buffers::new(n), total: 0.0 };
        Arch::new().dispatch(AddUp { side: &side, terms, sums: &mut sums });
        for ((&d, own), others) in self.order.iter().zip(&sums.own).zip(&sums.others) {
            pulls[d as usize] = own - others;
        }
        sums.total
    }

    /// The same for many documents, in linear time for each label. The terms must not depend on gains, and
    /// be constant for documents far apart.
    fn add_up_many<T: PairTerms>(&self, scores: &[f64], terms: &T, pulls: &mut [f64]) -> f64 {
        let of = |behind: f64| <[f64; 2]>::from(terms.of(behind.clamp(-FURTHEST, FURTHEST).exp(), 0.0, 0.0));
        let sorted: Vec<f64> = self.order.iter().map(|&d| scores[d as usize]).collect();
        let negative: Vec<f64> = sorted.iter().map(|score| -score).collect();
        let mut total = 0.0;
        pulls.fill(0.0);
        for grade in self.starts.windows(2) {
            let (worse, better) = (0..grade[0], grade[0]..grade[1]);
            let of_better = smooth_sums(masses(&sorted[worse.clone()]), &sorted[better.clone()], of);
            let of_worse = smooth_sums(masses(&negative[better.clone()]), &negative[worse.clone()], of);
            for (d, [pull, term]) in self.order[better].iter().zip(of_better) {
                pulls[*d as usize] += pull;
                total += term;
            }
            for (d, [pull, _]) in self.order[worse].iter().zip(of_worse) {
                pulls[*d as usize] -= pull;
            }
        }
        total
    }

    /// [`add_up`](Graded::add_up) in the way that takes less time. The terms must not depend on gains.
    pub(super) fn add_up_without_gains<T: PairTerms>(
        &self,
        scores: &[f64],
        terms: &T,
        pulls: &mut [f64],
    ) -> f64 {
        let per_label = self.pairs() / (self.starts.len() - 1).max(1) as f64;
        match is_worthwhile(per_label, scores.iter().copied()) {
            true => self.add_up_many(scores, terms, pulls),
            false => self.add_up(scores, terms, pulls),
        }
    }

    /// All documents.
    pub(super) fn all(&self, scores: &[f64]) -> Side {
        self.side(scores, |_| true)
    }

    /// The selected documents and the others.
    pub(super) fn sides(&self, scores: &[f64], chosen: &[bool]) -> [Side; 2] {
        [self.side(scores, |d| chosen[d as usize]), self.side(scores, |d| !chosen[d as usize])]
    }

    fn side(&self, scores: &[f64], is_in: impl Fn(u32) -> bool) -> Side {
        let (low, high) = scores.iter().fold((f64::MAX, f64::MIN), |(l, h), &s| (l.min(s), h.max(s)));
        let mut side = Side { is_wide: high - low > WIDEST, ..Side::default() };
        side.starts.push(0);
        for grade in self.starts.windows(2) {
            for at in (grade[0]..grade[1]).filter(|&at| is_in(self.order[at])) {
                side.scores.push(scores[self.order[at] as usize]);
                side.gains.push(self.gains[at]);
            }
            side.starts.push(side.scores.len());
        }
        if !side.is_wide {
            side.powers = side.scores.iter().map(|s| (s - high).exp()).collect();
        }
        side
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
        (1..self.starts.len()).flat_map(|g| (self.starts[g - 1]..self.starts[g]).map(move |i| (g - 1, i)))
    }
}

/// The terms of a pair of documents of which the first has the higher label.
pub(super) trait PairTerms {
    /// The pair's gradient, and its term in the total.
    fn of(&self, z: f64, better_gain: f64, worse_gain: f64) -> (f64, f64);
}

struct Buffers {
    z: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Buffers {
    fn new(n: usize) -> Buffers {
        Buffers { z: vec![0.0; n], first: vec![0.0; n], second: vec![0.0; n] }
    }
}

/// Running sums over pairs. The sum of a row for its own document is kept separately: reading a vector right
/// after a single element of it was written would stall.
struct Sums {
    own: Vec<f64>,
    others: Vec<f64>,
    buffers: Buffers,
    total: f64,
}

/// Sums all rows: a struct, since a plain closure would not be inlined and would use narrow vectors.
struct AddUp<'a, T> {
    side: &'a Side,
    terms: &'a T,
    sums: &'a mut Sums,
}

impl<T: PairTerms> NullaryFnOnce for AddUp<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let AddUp { side, terms, sums } = self;
        for (grade, i) in side.grades() {
            let Buffers { z, first, second } = &mut sums.buffers;
            let worse = side.row(grade, i, z);
            let (z, first, second) = (&z[..worse], &mut first[..worse], &mut second[..worse]);
            let (gain, gains) = (side.gains[i], &side.gains[..worse]);
            for j in 0..worse {
                (first[j], second[j]) = terms.of(z[j], gain, gains[j]);
            }
            for (sum, pull) in sums.others[..worse].iter_mut().zip(&*first) {
                *sum += pull;
            }
            sums.own[i] = add_up(first);
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

/// Both terms summed over all pairs of a selected and another document, with `ahead` added to the selected
/// scores.
pub(super) fn add_up_across<T: CrossTerms>(
    [chosen, others]: &[Side; 2],
    ahead: f64,
    terms: &T,
) -> (f64, f64) {
    let mut across = Across { chosen, others, ahead, terms, buffers: Buffers::new(others.scores.len()) };
    Arch::new().dispatch(AddAcross(&mut across))
}

/// The same for many documents, in linear time for each label. The terms must not depend on gains, and pairs with equal
/// labels do not count.
fn add_up_across_many<T: CrossTerms>([chosen, others]: &[Side; 2], ahead: f64, terms: &T) -> (f64, f64) {
    let mut sums = (0.0, 0.0);
    for (own, starts) in chosen.starts.windows(2).zip(others.starts.windows(2)) {
        let own = &chosen.scores[own[0]..own[1]];
        let ratio = |behind: f64| (behind - ahead).clamp(-FURTHEST, FURTHEST).exp();
        let right = smooth_sums(masses(&others.scores[..starts[0]]), own, |behind| {
            <[f64; 2]>::from(terms.right(ratio(behind), 0.0, 0.0))
        });
        let wrong = smooth_sums(masses(&others.scores[starts[1]..]), own, |behind| {
            <[f64; 2]>::from(terms.wrong(ratio(behind), 0.0, 0.0))
        });
        sums = right.iter().chain(&wrong).fold(sums, |sum, [a, b]| (sum.0 + a, sum.1 + b));
    }
    sums
}

/// Documents with these scores, as sources of smooth sums.
fn masses(scores: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    scores.iter().map(|score| (*score, 1.0))
}

/// [`add_up_across`] in the way that takes less time. The terms must not depend on gains, and pairs with equal labels do
/// not count.
pub(super) fn add_up_across_without_gains<T: CrossTerms>(
    sides: &[Side; 2],
    ahead: f64,
    terms: &T,
) -> (f64, f64) {
    let [chosen, others] = sides;
    let pairs = (chosen.scores.len() * others.scores.len()) as f64 / (chosen.starts.len() - 1) as f64;
    let scores = chosen.scores.iter().chain(&others.scores).copied();
    match is_worthwhile(pairs, scores) {
        true => add_up_across_many(sides, ahead, terms),
        false => add_up_across(sides, ahead, terms),
    }
}

struct Across<'a, T> {
    chosen: &'a Side,
    others: &'a Side,
    ahead: f64,
    terms: &'a T,
    buffers: Buffers,
}

struct AddAcross<'a, 'b, T>(&'a mut Across<'b, T>);

impl<T: CrossTerms> NullaryFnOnce for AddAcross<'_, '_, T> {
    type Output = (f64, f64);

    #[inline(always)]
    fn call(self) -> (f64, f64) {
        let Across { chosen, others, ahead, terms, buffers } = self.0;
        let n = others.scores.len();
        let mut sums = (0.0, 0.0);
        for (grade, i) in chosen.grades() {
            let gain = chosen.gains[i];
            let (same, above) = (others.starts[grade], others.starts[grade + 1]);
            // Documents without gain have equal gains, so their pairs do not count.
            let right = if T::SAME && gain != 0.0 { above } else { same };
            for (range, is_right) in [(0..right, true), (above..n, false)] {
                let m = range.len();
                let Buffers { z, first, second } = &mut *buffers;
                let (z, first, second) = (&mut z[..m], &mut first[..m], &mut second[..m]);
                chosen.ratios(i, *ahead, others, range.clone(), z);
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
        let mut random = rng::stream(5, &[]);
        let labels: Vec<f32> = (0..300).map(|_| random.random_range(0..4) as f32).collect();
        let chosen: Vec<bool> = (0..300).map(|_| random.random()).collect();
        let graded = Graded::new(&labels, |_| 0.0);
        let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{b} for {a}");
        for range in [0.0, 3.0, 200.0, 500.0] {
            let scores: Vec<f64> = (0..300).map(|_| range * random.random::<f64>()).collect();
            let [mut rows, mut many] = [(); 2].map(|()| vec![f64::NAN; 300]);
            near(
                graded.add_up(&scores, &Bounded, &mut rows),
                graded.add_up_many(&scores, &Bounded, &mut many),
            );
            rows.iter().zip(&many).for_each(|(a, b)| near(*a, *b));
            let sides = graded.sides(&scores, &chosen);
            for ahead in [0.0, 1.5, -5.0] {
                let rows = add_up_across(&sides, ahead, &Bounded);
                let many = add_up_across_many(&sides, ahead, &Bounded);
                near(rows.0, many.0);
                near(rows.1, many.1);
            }
        }
    }
}
