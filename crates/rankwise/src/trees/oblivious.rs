//! Oblivious trees: one test for all leaves of a level, chosen by the sum of its gains over them.

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
    histogram: Histogram,
}

impl Grower<'_> {
    pub(super) fn grow_oblivious(
        &mut self,
        gradients: &Gradients,
        mut rows: RowPartition,
        sample: &FeatureSample,
    ) -> GrownTree {
        let (binned, growth, _) = self.parts();
        let search = Search { growth, units: gradients.units() };
        let all = 0..rows.all().len();
        let mut level = vec![self.part(&rows, gradients, all)];
        let mut tests: Vec<Split> = Vec::new();
        for depth in 0..growth.oblivious_depth() {
            let chosen = sample.for_split(depth as u64);
            let Some(test) = self.best_of_level(&search, &level, &chosen) else { break };
            tests.push(test);
            let last = tests.len() == growth.oblivious_depth();
            level = level
                .into_iter()
                .flat_map(|part| self.divide_part(part, &test, &mut rows, gradients, last))
                .collect();
        }
        let mut tree = complete_tree(&tests, |split, leaves, tree| push_node(tree, split, binned, leaves));
        for part in &level {
            let stats = search.units.read(part.total);
            tree.values.push(growth.value(stats.slope, stats.curvature));
            tree.covers.push(stats.count as f32);
        }
        let leaves = level.iter().map(|part| part.rows.clone()).collect();
        self.give_back(level.into_iter().map(|part| part.histogram).filter(|h| !h.is_empty()));
        GrownTree::new(tree, rows, leaves)
    }

    /// A leaf with its histogram.
    fn part(&mut self, rows: &RowPartition, gradients: &Gradients, range: Range<usize>) -> LevelLeaf {
        let (histogram, total) = self.histogram_of(rows.members(range.clone(), gradients));
        LevelLeaf { rows: range, total, histogram }
    }

    /// The two children of a leaf; one may be empty. The last level needs no histograms.
    fn divide_part(
        &mut self,
        mut part: LevelLeaf,
        test: &Split,
        rows: &mut RowPartition,
        gradients: &Gradients,
        last: bool,
    ) -> [LevelLeaf; 2] {
        let middle = rows.partition(part.rows.clone(), test, self.parts().0);
        let (left, right) = (part.rows.start..middle, middle..part.rows.end);
        let small_left = left.len() <= right.len();
        let (small, large) = if small_left { (left, right) } else { (right, left) };
        let small = if last {
            self.give_back([std::mem::take(&mut part.histogram)]);
            let total = rows.members(small.clone(), gradients).total();
            LevelLeaf { rows: small, total, histogram: Vec::new() }
        } else {
            let small = self.part(rows, gradients, small);
            part.histogram.iter_mut().zip(&small.histogram).for_each(|(all, &part)| *all -= part);
            small
        };
        let large = LevelLeaf { rows: large, total: part.total - small.total, histogram: part.histogram };
        if small_left { [small, large] } else { [large, small] }
    }

    /// The test with the largest total gain over all leaves of the level.
    fn best_of_level(&self, search: &Search<'_>, level: &[LevelLeaf], chosen: &[bool]) -> Option<Split> {
        let (_, growth, groups) = self.parts();
        let found: Vec<Option<Split>> = parallel::map(groups, |group| {
            let places = group.features.clone().filter(|&place| chosen[place]);
            places.map(|place| self.best_of_feature(search, level, place)).fold(None, Split::better)
        });
        let best = found.into_iter().fold(None, Split::better)?;
        (best.gain > growth.min_split_gain && best.gain > 0.0).then_some(best)
    }

    /// The best threshold of one feature. Gains are summed bin by bin, in the order of the leaves.
    fn best_of_feature(&self, search: &Search<'_>, level: &[LevelLeaf], place: usize) -> Option<Split> {
        let (binned, growth, _) = self.parts();
        let feature = &binned.features()[place];
        let (start, values) = (feature.start, feature.bins.value_bins());
        if let Some(categories) = feature.bins.categories() {
            let sums =
                level.iter().map(|part| (&part.histogram[start..][..feature.bins.codes()], part.total));
            return search.best_set_of_level(place, categories, &sums.collect::<Vec<_>>());
        }
        let missing = feature.bins.missing_code();
        let mut best: Option<Split> = None;
        for missing_left in [false, true] {
            if missing_left && missing.is_none() {
                continue;
            }
            let cuts = if missing.is_some() && !missing_left { values } else { values - 1 };
            let mut gains = vec![0.0; cuts];
            for part in level {
                let bins = &part.histogram[start..][..feature.bins.codes()];
                let begin =
                    missing.filter(|_| missing_left).map_or(GradientSums::default(), |code| bins[code]);
                add_gains(search, growth, part, begin, &bins[..cuts], &mut gains);
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

/// Adds the gain of each threshold in one leaf. A threshold that leaves too little on one side gains nothing there.
fn add_gains(
    search: &Search<'_>,
    growth: &Growth,
    part: &LevelLeaf,
    begin: GradientSums,
    bins: &[GradientSums],
    gains: &mut [f64],
) {
    let total = search.units.read(part.total);
    let node = Node { total: part.total, bounds: (f64::NEG_INFINITY, f64::INFINITY), extra_l2: 0.0 };
    let mut sum = begin;
    for (&sums, gain) in bins.iter().zip(gains) {
        sum += sums;
        let left = search.units.read(sum);
        let right = search.units.read(part.total - sum);
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
