//! Oblivious trees: one test for all leaves of a level, chosen by the sum of its gains over them.

use super::binned::Binned;
use super::gradients::{GradientSums, Gradients};
use super::grow::{Grower, GrownTree, push_node};
use super::growth::Growth;
use super::histogram::Histogram;
use super::partition::RowPartition;
use super::sampling::FeatureSample;
use super::search::{Node, Search, Split};
use super::tree::{Child, Tree};
use crate::parallel;
use std::ops::Range;

/// A leaf of the level that is being split.
struct LevelLeaf {
    rows: Range<usize>,
    total: GradientSums,
}

/// The test of a level, and the sums of the documents that it sends left, by leaf.
type LevelTest = (Split, Vec<GradientSums>);

impl Grower<'_> {
    pub(super) fn grow_oblivious(
        &mut self,
        gradients: &Gradients,
        mut rows: RowPartition,
        sample: &FeatureSample,
    ) -> GrownTree {
        let (binned, growth, _) = self.parts();
        let search = Search { growth, units: gradients.units() };
        let all = rows.members(0..rows.all().len(), gradients);
        let total = self.decide_by_sums(|| (Vec::new(), all.total()), |_, total| total);
        let mut level = vec![LevelLeaf { rows: 0..all.rows.len(), total }];
        // Where the search is, there is a histogram for each leaf. The smaller child of each is the next to be summed.
        let (mut histograms, mut smaller) = (Vec::new(), vec![0]);
        let mut tests: Vec<Split> = Vec::new();
        for depth in 0..growth.oblivious_depth() {
            let chosen = sample.for_split(depth as u64);
            let own = || {
                let of = |&leaf: &usize| level[leaf].rows.clone();
                let sums = |range| self.histogram_of(rows.members(range, gradients)).0;
                (smaller.iter().map(of).map(sums).collect(), GradientSums::default())
            };
            let found: Option<LevelTest> = self.decide_by_sums(own, |sums, _| {
                histograms = with_siblings(std::mem::take(&mut histograms), sums, &smaller);
                self.best_of_level(&search, &level, &histograms, &chosen)
            });
            let Some((test, lefts)) = found else { break };
            tests.push(test);
            level = level
                .into_iter()
                .zip(lefts)
                .flat_map(|(leaf, left)| divide(leaf, left, &test, &mut rows, binned))
                .collect();
            let count = |leaf: &LevelLeaf| search.units.read(leaf.total).count;
            let smaller_of = |place: usize| {
                2 * place + usize::from(count(&level[2 * place]) > count(&level[2 * place + 1]))
            };
            smaller = (0..level.len() / 2).map(smaller_of).collect();
        }
        let mut tree = complete_tree(&tests, |split, leaves, tree| push_node(tree, split, binned, leaves));
        for leaf in &level {
            let stats = search.units.read(leaf.total);
            tree.values.push(growth.value(stats.slope, stats.curvature));
            tree.covers.push(stats.count as f32);
        }
        let leaves = level.into_iter().map(|leaf| leaf.rows).collect();
        self.give_back(histograms);
        GrownTree::new(tree, gradients, rows, leaves)
    }

    /// The test with the largest total gain over all leaves of the level.
    fn best_of_level(
        &self,
        search: &Search<'_>,
        level: &[LevelLeaf],
        histograms: &[Histogram],
        chosen: &[bool],
    ) -> Option<LevelTest> {
        let (binned, growth, groups) = self.parts();
        let found: Vec<Option<Split>> = parallel::map(groups, |group| {
            let places = group.features.clone().filter(|&place| chosen[place]);
            places
                .map(|place| self.best_of_feature(search, level, histograms, place))
                .fold(None, Split::better)
        });
        let best = found.into_iter().fold(None, Split::better)?;
        let start = binned.features()[best.feature].start;
        let sides = best.sides(binned);
        let left = |histogram: &Histogram| {
            let bins = histogram[start..].iter().zip(&sides).filter(|(_, is_left)| **is_left);
            bins.fold(GradientSums::default(), |sum, (&bin, _)| sum + bin)
        };
        let is_worthwhile = best.gain > growth.min_split_gain && best.gain > 0.0;
        is_worthwhile.then(|| (best, histograms.iter().map(left).collect()))
    }

    /// The best threshold of one feature. Gains are summed bin by bin, in the order of the leaves.
    fn best_of_feature(
        &self,
        search: &Search<'_>,
        level: &[LevelLeaf],
        histograms: &[Histogram],
        place: usize,
    ) -> Option<Split> {
        let (binned, growth, _) = self.parts();
        let feature = &binned.features()[place];
        let (start, values) = (feature.start, feature.bins.value_bins());
        let bins = histograms.iter().map(|histogram| &histogram[start..][..feature.bins.codes()]);
        let leaves: Vec<(&[GradientSums], GradientSums)> =
            bins.zip(level.iter().map(|leaf| leaf.total)).collect();
        if let Some(categories) = feature.bins.categories() {
            return search.best_set_of_level(place, categories, &leaves);
        }
        let missing = feature.bins.missing_code();
        let mut best: Option<Split> = None;
        for missing_left in [false, true] {
            if missing_left && missing.is_none() {
                continue;
            }
            let cuts = if missing.is_some() && !missing_left { values } else { values - 1 };
            let mut gains = vec![0.0; cuts];
            for &(bins, total) in &leaves {
                let begin =
                    missing.filter(|_| missing_left).map_or(GradientSums::default(), |code| bins[code]);
                add_gains(search, growth, total, begin, &bins[..cuts], &mut gains);
            }
            for (bin, &gain) in gains.iter().enumerate() {
                if best.is_none_or(|b| gain > b.gain) {
                    let missing_left =
                        if missing.is_some() { missing_left } else { feature.bins.sends_zero_left(bin) };
                    let none = GradientSums::default();
                    best = Some(Split {
                        gain,
                        feature: place,
                        bin,
                        missing_left,
                        left: none,
                        right: none,
                        set: None,
                        extra_l2: 0.0,
                    });
                }
            }
        }
        best
    }
}

/// The histograms of a level, by those of the level before and of the smaller child of each of its leaves. Those of the
/// first level are given as they are.
fn with_siblings(before: Vec<Histogram>, sums: Vec<Histogram>, smaller: &[usize]) -> Vec<Histogram> {
    if before.is_empty() {
        return sums;
    }
    let pair = |((mut large, small), place): ((Histogram, Histogram), &usize)| {
        large.iter_mut().zip(&small).for_each(|(all, &part)| *all -= part);
        if place % 2 == 0 { [small, large] } else { [large, small] }
    };
    before.into_iter().zip(sums).zip(smaller).flat_map(pair).collect()
}

/// The two children of a leaf; one may be empty.
fn divide(
    leaf: LevelLeaf,
    left: GradientSums,
    test: &Split,
    rows: &mut RowPartition,
    binned: &Binned,
) -> [LevelLeaf; 2] {
    let middle = rows.partition(leaf.rows.clone(), test, binned);
    [
        LevelLeaf { rows: leaf.rows.start..middle, total: left },
        LevelLeaf { rows: middle..leaf.rows.end, total: leaf.total - left },
    ]
}

/// Adds the gain of each threshold in one leaf. A threshold that leaves too little on one side gains nothing there.
fn add_gains(
    search: &Search<'_>,
    growth: &Growth,
    all: GradientSums,
    begin: GradientSums,
    bins: &[GradientSums],
    gains: &mut [f64],
) {
    let (total, node) = (search.units.read(all), Node::root(all));
    let mut sum = begin;
    for (&sums, gain) in bins.iter().zip(gains) {
        sum += sums;
        let left = search.units.read(sum);
        let right = search.units.read(all - sum);
        let enough =
            |count, weight| count >= growth.min_data_in_leaf.max(1) && weight >= growth.min_child_weight;
        if enough(left.count, left.curvature) && enough(right.count, right.curvature) {
            *gain +=
                search.leaf_gain(left, node) + search.leaf_gain(right, node) - search.leaf_gain(total, node);
        }
    }
}

/// The complete tree of these tests, one test per level. The bits of `i` are the path to leaf `i`, the first test
/// first.
fn complete_tree(tests: &[Split], mut push: impl FnMut(&Split, (usize, usize), &mut Tree)) -> Tree {
    let mut tree = Tree::default();
    for (depth, test) in tests.iter().enumerate() {
        let last = depth + 1 == tests.len();
        let (first, next) = ((1usize << depth) - 1, (1usize << (depth + 1)) - 1);
        for place in 0..1usize << depth {
            push(test, (2 * place, 2 * place + 1), &mut tree);
            if !last {
                tree.left[first + place] = Child::Node(next + 2 * place).code();
                tree.right[first + place] = Child::Node(next + 2 * place + 1).code();
            }
        }
    }
    tree
}
