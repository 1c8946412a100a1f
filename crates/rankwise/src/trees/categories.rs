//! Categorical features: bins by category, and splits by sets of categories.
//!
//! For gradients with curvatures, the best of all sets is one that holds the first categories in the order of `G/H`
//! (Fisher 1958), so only as many sets are tried as there are categories, from both ends of that order:
//!
//! ```text
//! order by G/(H + smoothing),   gain of a set = G_L²/(H_L + l2') + G_R²/(H_R + l2') − G²/(H + l2),   l2' = l2 + category l2
//! ```
//!
//! Few categories are tried one against the rest, without smoothing. Categories in the set go left. All others go right:
//! rare ones without a bin, those that the leaf has no document of, missing ones, and any that training did not see. That
//! costs nothing, because both ends of the order are tried: whichever side missing values belong to, the other is a set.

use super::bins::{sampled, sampled_of};
use super::gradients::{GradientSums, Stats};
use super::search::{Node, Search, Split};
use crate::data::{Dataset, code_of};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How splits by categories are found.
#[derive(Debug, Clone, PartialEq)]
pub struct CategorySplits {
    /// Features with at most this many categories are split one against the rest.
    pub max_onehot: usize,
    /// The maximum number of categories that a split sends left.
    pub max_categories: usize,
    /// Added to the curvature of a category before categories are ordered. Categories with fewer documents in a leaf
    /// stay on the right.
    pub smoothing: f64,
    /// L2 penalty on the values of leaves that a set of several categories made, beside that of all leaves.
    pub l2: f64,
    /// The minimum number of documents by which one set exceeds the one tried before, and of the right side.
    pub min_data_per_group: u64,
}

impl Default for CategorySplits {
    fn default() -> Self {
        CategorySplits {
            max_onehot: 4,
            max_categories: 32,
            smoothing: 10.0,
            l2: 10.0,
            min_data_per_group: 100,
        }
    }
}

/// A set of bins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BinSet([u64; 4]);

impl BinSet {
    pub(super) fn contains(self, bin: usize) -> bool {
        self.0[bin / 64] >> (bin % 64) & 1 == 1
    }

    fn of(bins: &[usize]) -> BinSet {
        let mut set = BinSet::default();
        bins.iter().for_each(|bin| set.0[bin / 64] |= 1 << (bin % 64));
        set
    }
}

/// Categories with fewer documents share the bin of all others.
const MIN_DATA_IN_BIN: usize = 10;

/// Up to this fraction of the bins is shared by categories that are too rare for one of their own.
const SHARED_BINS: f64 = 0.25;

/// The bins of a categorical feature. The most frequent categories have one each. Those for which there is no room share
/// bins with others whose documents have about the same labels, and the rarest are all in one bin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CategoryBins {
    /// The number of bins of categories.
    bins: usize,
    /// The categories, ascending, and their bins.
    by_code: Vec<(u32, u8)>,
    /// Whether there is a bin for all others, after those of the categories.
    has_rest: bool,
}

/// What is known of a category.
#[derive(Debug, Clone, Copy, Default)]
struct Category {
    documents: usize,
    /// The sum of its documents' labels, less the mean labels of their queries.
    labels: f64,
}

impl CategoryBins {
    /// Bins for these categories. `unknown` says whether there may be others.
    fn new(categories: &BTreeMap<u32, Category>, unknown: bool, max_bins: usize) -> CategoryBins {
        let mut order: Vec<u32> = categories.keys().copied().collect();
        order.sort_by_key(|code| std::cmp::Reverse(categories[code].documents));
        let has_rest = unknown || order.len() > max_bins;
        let room = max_bins - usize::from(has_rest);
        let shared = if order.len() > room { (room as f64 * SHARED_BINS) as usize } else { 0 };
        let (own, rare) = order.split_at(order.len().min(room - shared));
        let mut by_code: Vec<(u32, u8)> = own.iter().copied().zip(0..=u8::MAX).collect();
        let mut bins = own.len();
        for group in groups(categories, rare, shared) {
            by_code.extend(group.into_iter().map(|code| (code, bins as u8)));
            bins += 1;
        }
        by_code.sort_unstable();
        CategoryBins { bins, by_code, has_rest }
    }

    /// The number of bins.
    pub(super) fn len(&self) -> usize {
        // A feature whose values are all missing has a bin without documents, like one with numbers.
        (self.bins + usize::from(self.has_rest)).max(1)
    }

    /// The bin of a category that is not missing.
    pub(super) fn bin(&self, x: f32) -> u8 {
        let place = code_of(x).map(|code| self.by_code.binary_search_by_key(&code, |known| known.0));
        let rest = if self.has_rest { self.bins as u8 } else { 0 };
        place.and_then(Result::ok).map_or(rest, |place| self.by_code[place].1)
    }

    /// The categories of a set of bins, ascending.
    pub(super) fn categories(&self, set: BinSet) -> Vec<u32> {
        let inside = |known: &&(u32, u8)| set.contains(usize::from(known.1));
        self.by_code.iter().filter(inside).map(|known| known.0).collect()
    }
}

/// Divides categories into at most `most` groups with about the same number of documents, in the order of their mean labels.
fn groups(categories: &BTreeMap<u32, Category>, rare: &[u32], most: usize) -> Vec<Vec<u32>> {
    let frequent = |code: &u32| categories[code].documents >= MIN_DATA_IN_BIN;
    let mut order: Vec<u32> = rare.iter().copied().filter(frequent).collect();
    // Few documents say little, so their mean is drawn towards that of the query.
    let mean = |code: u32| {
        let Category { documents, labels } = categories[&code];
        labels / (documents + MIN_DATA_IN_BIN) as f64
    };
    order.sort_by(|&a, &b| mean(a).total_cmp(&mean(b)));
    let total: usize = order.iter().map(|code| categories[code].documents).sum();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut before = 0;
    for code in order {
        if before * most >= groups.len() * total {
            groups.push(Vec::new());
        }
        before += categories[&code].documents;
        groups.last_mut().expect("the first category begins a group").push(code);
    }
    groups
}

/// The bins of a categorical column, and whether some of its values are missing.
pub(super) fn bins_of(data: &Dataset, column: usize, max_bins: usize) -> (CategoryBins, bool) {
    let documents = data.whole().documents;
    let unknown = sampled(documents).len() < documents;
    let contribute = || {
        let missing = (0..data.len()).any(|row| data.row(row).get(column).is_nan());
        (sample_of(data, column), missing)
    };
    data.decide(contribute, |workers: Vec<(Vec<(u32, f64)>, bool)>| {
        let missing = workers.iter().any(|(_, missing)| *missing);
        let mut categories: BTreeMap<u32, Category> = BTreeMap::new();
        for (code, label) in workers.into_iter().flat_map(|(sample, _)| sample) {
            let category = categories.entry(code).or_default();
            category.documents += 1;
            category.labels += label;
        }
        (CategoryBins::new(&categories, unknown, max_bins), missing)
    })
}

/// The categories of the sampled documents, with their labels less the mean labels of their queries.
fn sample_of(data: &Dataset, column: usize) -> Vec<(u32, f64)> {
    let mut mean_of = (usize::MAX, 0.0);
    let with_label = |row: usize| {
        let code = code_of(data.row(row).get(column))?;
        let query = data.query_of(row);
        if mean_of.0 != query {
            let labels = data.query(query).labels();
            mean_of = (query, labels.iter().map(|&l| f64::from(l)).sum::<f64>() / labels.len() as f64);
        }
        Some((code, f64::from(data.labels()[row]) - mean_of.1))
    };
    sampled_of(data.whole(), data.len()).filter_map(with_label).collect()
}

/// Bins that join a set one after the other; each set so far is a candidate.
struct Sequence {
    bins: Vec<usize>,
    /// L2 penalty beside that of all leaves.
    l2: f64,
    /// The minimum number of documents between candidates, and on the right.
    min_data: u64,
    /// Only the whole sequence is a candidate.
    whole: bool,
}

/// The best candidate so far.
struct Best {
    gain: f64,
    left: GradientSums,
    bins: BinSet,
    l2: f64,
}

impl Search<'_> {
    /// The best split of `node` by categories, with the sums `bins`; `place` is the index of the feature.
    pub(super) fn best_set(
        &self,
        node: Node,
        place: usize,
        categories: &CategoryBins,
        bins: &[GradientSums],
    ) -> Option<Split> {
        let total = self.units.read(node.total);
        let mut best: Option<Best> = None;
        for sequence in self.sequences(categories, bins, node.total) {
            self.try_sequence(&sequence, node, bins, &mut best);
        }
        let best = best?;
        let gain = best.gain - self.leaf_gain(total, node);
        self.is_worthwhile(gain, total).then_some(Split {
            gain,
            feature: place,
            bin: 0,
            missing_left: false,
            left: best.left,
            right: node.total - best.left,
            set: Some(best.bins),
            extra_l2: best.l2,
        })
    }

    /// The best set of categories for all leaves of a level; `leaves` are their sums and totals.
    pub(super) fn best_set_of_level(
        &self,
        place: usize,
        categories: &CategoryBins,
        leaves: &[(&[GradientSums], GradientSums)],
    ) -> Option<Split> {
        let mut bins = vec![GradientSums::default(); categories.len()];
        let mut all = GradientSums::default();
        for (of_leaf, total) in leaves {
            bins.iter_mut().zip(*of_leaf).for_each(|(sum, &more)| *sum += more);
            all += *total;
        }
        let mut best: Option<Split> = None;
        for sequence in self.sequences(categories, &bins, all) {
            let mut gains = vec![0.0; sequence.bins.len()];
            leaves.iter().for_each(|leaf| self.add_gains(&sequence, *leaf, &mut gains));
            for last in self.candidates(&sequence, &bins, all) {
                if best.is_none_or(|b| gains[last] > b.gain) {
                    let none = GradientSums::default();
                    best = Some(Split {
                        gain: gains[last],
                        feature: place,
                        bin: 0,
                        missing_left: false,
                        left: none,
                        right: none,
                        set: Some(BinSet::of(&sequence.bins[..=last])),
                        extra_l2: 0.0,
                    });
                }
            }
        }
        best
    }

    /// Adds the gain of each set in one leaf. A set that leaves too little on one side gains nothing there.
    fn add_gains(
        &self,
        sequence: &Sequence,
        (bins, total): (&[GradientSums], GradientSums),
        gains: &mut [f64],
    ) {
        let node = Node { total, bounds: (f64::NEG_INFINITY, f64::INFINITY), extra_l2: 0.0 };
        let unsplit = self.leaf_gain(self.units.read(total), node);
        let mut sum = GradientSums::default();
        for (&bin, gain) in sequence.bins.iter().zip(gains) {
            sum += bins[bin];
            let (left, right) = (self.units.read(sum), self.units.read(total - sum));
            if self.is_large_enough(left) && self.is_large_enough(right) {
                *gain += self.set_gain(left, node, sequence.l2) + self.set_gain(right, node, sequence.l2)
                    - unsplit;
            }
        }
    }

    /// The sets to try.
    fn sequences(
        &self,
        categories: &CategoryBins,
        bins: &[GradientSums],
        total: GradientSums,
    ) -> Vec<Sequence> {
        let settings = &self.growth.categories;
        let met: Vec<usize> = (0..categories.bins).filter(|&bin| !bins[bin].is_empty()).collect();
        let sum = |some: &[usize]| some.iter().fold(GradientSums::default(), |sum, &bin| sum + bins[bin]);
        if categories.by_code.len() <= settings.max_onehot {
            let sequence = |bins: Vec<usize>| Sequence { bins, l2: 0.0, min_data: 0, whole: true };
            let mut all: Vec<Sequence> = met.iter().map(|&bin| sequence(vec![bin])).collect();
            if sum(&met) != total && met.len() > 2 {
                // With the documents that always go right, one category against the rest is two different splits.
                let rest = |bin: usize| met.iter().copied().filter(|&other| other != bin).collect();
                all.extend(met.iter().map(|&bin| sequence(rest(bin))));
            }
            return all;
        }
        let (l2, min_data) = (settings.l2, settings.min_data_per_group);
        let mut order: Vec<(f64, usize)> = met
            .into_iter()
            .map(|bin| (self.units.read(bins[bin]), bin))
            .filter(|(stats, _)| stats.count as f64 >= settings.smoothing)
            .map(|(stats, bin)| (ratio(stats, settings.smoothing), bin))
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let order: Vec<usize> = order.into_iter().map(|(_, bin)| bin).collect();
        // Where all documents are in order, a longer set is the complement of one from the other end.
        let longest = if sum(&order) == total { order.len().div_ceil(2) } else { order.len() };
        let longest = longest.min(settings.max_categories);
        let sequence = |bins: Vec<usize>| Sequence { bins, l2, min_data, whole: false };
        vec![
            sequence(order[..longest].to_vec()),
            sequence(order.iter().rev().take(longest).copied().collect()),
        ]
    }

    /// The places in a sequence up to which its bins are a set to try.
    fn candidates(&self, sequence: &Sequence, bins: &[GradientSums], total: GradientSums) -> Vec<usize> {
        let (mut sum, mut since) = (GradientSums::default(), 0);
        let mut places = Vec::new();
        for (place, &bin) in sequence.bins.iter().enumerate() {
            sum += bins[bin];
            since += self.units.read(bins[bin]).count;
            let right = self.units.read(total - sum);
            if !self.is_large_enough(right) || right.count < sequence.min_data {
                break;
            }
            let is_last = place + 1 == sequence.bins.len();
            let due = if sequence.whole { is_last } else { since >= sequence.min_data };
            if due && self.is_large_enough(self.units.read(sum)) {
                places.push(place);
                since = 0;
            }
        }
        places
    }

    fn try_sequence(&self, sequence: &Sequence, node: Node, bins: &[GradientSums], best: &mut Option<Best>) {
        let (mut left, mut joined) = (GradientSums::default(), 0);
        for last in self.candidates(sequence, bins, node.total) {
            sequence.bins[joined..=last].iter().for_each(|&bin| left += bins[bin]);
            joined = last + 1;
            let gain = self.set_gain(self.units.read(left), node, sequence.l2)
                + self.set_gain(self.units.read(node.total - left), node, sequence.l2);
            if best.as_ref().is_none_or(|b| gain > b.gain) {
                *best = Some(Best { gain, left, bins: BinSet::of(&sequence.bins[..=last]), l2: sequence.l2 });
            }
        }
    }

    /// Twice the reduction of the objective by a leaf, with an L2 penalty beside that of all leaves.
    fn set_gain(&self, stats: Stats, node: Node, l2: f64) -> f64 {
        self.leaf_gain(Stats { curvature: stats.curvature + l2, ..stats }, node)
    }

    fn is_large_enough(&self, stats: Stats) -> bool {
        stats.count >= self.growth.min_data_in_leaf.max(1) && stats.curvature >= self.growth.min_child_weight
    }
}

/// `G/(H + smoothing)`; infinite without a curvature.
fn ratio(stats: Stats, smoothing: f64) -> f64 {
    let stiffness = stats.curvature + smoothing;
    if stiffness > 0.0 || stats.slope == 0.0 {
        stats.slope / stiffness.max(f64::MIN_POSITIVE)
    } else {
        f64::INFINITY.copysign(stats.slope)
    }
}

#[cfg(test)]
mod tests;
