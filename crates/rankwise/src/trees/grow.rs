//! Grows one tree, leaf by leaf.

use super::binned::Binned;
use super::gradients::{GradientSums, Gradients};
use super::growth::{Growth, GrowthPolicy};
use super::histogram::{Group, Histogram, split};
use super::partition::RowPartition;
use super::sampling::FeatureSample;
use super::search::{Node, Search, Split};
use super::tree::{Child, Tree};
use crate::error::Result;
use rayon::prelude::*;
use std::ops::Range;

/// The default limit on the memory of stored histograms, in bytes.
const KEPT_BYTES: usize = 1 << 30;

/// The minimum number of documents for a task of its own when scores are updated.
const CHUNK: usize = 1 << 14;

/// Grows trees on one data set.
pub struct Grower<'a> {
    binned: &'a Binned,
    growth: &'a Growth,
    groups: Vec<Group>,
    /// Unused histograms, kept for reuse.
    spare: Vec<Histogram>,
    /// The memory limit for histograms of leaves, in bytes. Histograms beyond it are built again when needed.
    pub(super) kept_bytes: usize,
}

/// A grown tree, and which documents fell into which of its leaves.
pub struct GrownTree {
    /// The tree, with the values that minimise the quadratic objective.
    pub tree: Tree,
    rows: RowPartition,
    leaves: Vec<Range<usize>>,
}

impl GrownTree {
    pub(super) fn new(tree: Tree, rows: RowPartition, leaves: Vec<Range<usize>>) -> GrownTree {
        GrownTree { tree, rows, leaves }
    }

    /// The leaves with their documents in ascending order.
    pub fn leaves(&self) -> impl Iterator<Item = (usize, &[u32])> {
        self.leaves.iter().enumerate().map(|(leaf, range)| (leaf, &self.rows.all()[range.clone()]))
    }

    /// Adds `factor` times the value of its leaf to the score of each document that the tree was grown on.
    pub fn add_to(&self, scores: &mut [f64], factor: f64) {
        // The documents of a leaf are ascending, so those in one chunk of the scores are adjacent.
        scores.par_chunks_mut(CHUNK).enumerate().for_each(|(stretch, scores)| {
            let begin = (stretch * CHUNK) as u32;
            for (leaf, rows) in self.leaves() {
                let step = factor * self.tree.values[leaf];
                let rows = &rows[rows.partition_point(|&row| row < begin)..];
                let inside = rows.partition_point(|&row| row - begin < scores.len() as u32);
                rows[..inside].iter().for_each(|&row| scores[(row - begin) as usize] += step);
            }
        });
    }
}

/// A leaf that may still be split.
pub(super) struct Leaf {
    pub(super) rows: Range<usize>,
    pub(super) node: Node,
    pub(super) depth: usize,
    /// Its parent node, and whether it is the left child.
    parent: Option<(usize, bool)>,
    histogram: Option<Histogram>,
    best: Option<Split>,
}

impl<'a> Grower<'a> {
    /// Creates a grower for this data and these settings.
    pub fn new(binned: &'a Binned, growth: &'a Growth) -> Grower<'a> {
        Grower { binned, growth, groups: binned.groups(), spare: Vec::new(), kept_bytes: KEPT_BYTES }
    }

    /// Grows a tree `f` that minimises `Σ g·f + ½ h·f²` over `rows` (all rows if `None`). `seed` determines which
    /// features are drawn.
    pub fn grow(
        &mut self,
        slopes: &[f64],
        curvatures: &[f64],
        rows: Option<&[u32]>,
        seed: u64,
    ) -> Result<GrownTree> {
        let gradients = Gradients::new(slopes, curvatures)?;
        let rows = RowPartition::new(self.binned.rows(), rows);
        let sample = FeatureSample::new(self.binned.features().len(), self.growth, seed);
        if self.growth.policy == GrowthPolicy::Oblivious {
            return Ok(self.grow_oblivious(&gradients, rows, &sample));
        }
        let mut growing = TreeInProgress {
            search: Search { growth: self.growth, units: gradients.units() },
            gradients: &gradients,
            sample: &sample,
            rows,
            leaves: Vec::new(),
            tree: Tree::default(),
        };
        self.add_root(&mut growing);
        while growing.leaves.len() < self.growth.num_leaves {
            let Some(leaf) = growing.next(self.growth.policy) else { break };
            self.split_leaf(&mut growing, leaf);
        }
        Ok(growing.finish(&mut self.spare))
    }

    /// Creates the root with all documents.
    fn add_root(&mut self, growing: &mut TreeInProgress<'_>) {
        let all = 0..growing.rows.all().len();
        let gathered = growing.rows.gradients(all.clone(), growing.gradients);
        let total = gathered.total();
        let node = Node { total, bounds: (f64::NEG_INFINITY, f64::INFINITY), extra_l2: 0.0 };
        let mut histogram = self.spare_histogram();
        self.binned.histogram(gathered.members(), total, &mut histogram);
        let best = self.search_all(growing, node, &histogram, 0);
        growing.leaves.push(Leaf {
            rows: all,
            node,
            depth: 0,
            parent: None,
            histogram: Some(histogram),
            best,
        });
    }

    /// Applies the best split of a leaf: the leaf becomes the left child, and the right child is appended.
    fn split_leaf(&mut self, growing: &mut TreeInProgress<'_>, leaf: usize) {
        let (mut left, mut right) = growing.partition_leaf(leaf, self.binned);
        let last = growing.leaves.len() + 1 == self.growth.num_leaves;
        let is_splittable = |leaf: &Leaf| {
            let count = leaf.rows.len() as u64;
            !last && self.growth.allows_depth(leaf.depth) && count >= 2 * self.growth.min_data_in_leaf.max(1)
        };
        let wanted_sides = (is_splittable(&left), is_splittable(&right));
        let parent = growing.leaves[leaf].histogram.take();
        if wanted_sides.0 || wanted_sides.1 {
            let small_left = left.rows.len() <= right.rows.len();
            let (small, large) = if small_left { (&mut left, &mut right) } else { (&mut right, &mut left) };
            self.search_children(
                growing,
                small,
                large,
                parent,
                if small_left { wanted_sides } else { (wanted_sides.1, wanted_sides.0) },
            );
        } else {
            self.spare.extend(parent);
        }
        growing.leaves[leaf] = left;
        growing.leaves.push(right);
    }

    /// Finds the best splits of two siblings. The histogram of the smaller one is built; that of the larger one is
    /// the difference from the parent's.
    fn search_children(
        &mut self,
        growing: &TreeInProgress<'_>,
        small: &mut Leaf,
        large: &mut Leaf,
        parent: Option<Histogram>,
        wanted_sides: (bool, bool),
    ) {
        let mut of_large = parent.unwrap_or_else(|| {
            let mut histogram = self.spare_histogram();
            let gathered = growing.rows.gradients(
                small.rows.start.min(large.rows.start)..small.rows.end.max(large.rows.end),
                growing.gradients,
            );
            self.binned.histogram(gathered.members(), small.node.total + large.node.total, &mut histogram);
            histogram
        });
        let mut of_small = self.spare_histogram();
        let gathered = growing.rows.gradients(small.rows.clone(), growing.gradients);
        self.binned.histogram(gathered.members(), small.node.total, &mut of_small);
        let id = growing.leaves.len() as u64;
        let chosen = (growing.sample.for_split(2 * id), growing.sample.for_split(2 * id + 1));
        let pieces = split(&mut of_small, &self.groups).into_iter().zip(split(&mut of_large, &self.groups));
        let pieces: Vec<_> = self.groups.iter().zip(pieces).collect();
        let found: Vec<(Option<Split>, Option<Split>)> = pieces
            .into_par_iter()
            .map(|(group, (of_small, of_large))| {
                of_large.iter_mut().zip(of_small.iter()).for_each(|(all, &part)| *all -= part);
                let look = |wanted: bool, node: Node, bins: &[GradientSums], chosen: &[bool]| {
                    wanted.then(|| self.search_group(growing, node, group, bins, chosen)).flatten()
                };
                (
                    look(wanted_sides.0, small.node, of_small, &chosen.0),
                    look(wanted_sides.1, large.node, of_large, &chosen.1),
                )
            })
            .collect();
        for (of_small, of_large) in found {
            small.best = Split::better(small.best, of_small);
            large.best = Split::better(large.best, of_large);
        }
        self.store_histogram(growing, small, of_small);
        self.store_histogram(growing, large, of_large);
    }

    /// Stores a histogram for the next split of the leaf, if there is one and memory allows.
    fn store_histogram(&mut self, growing: &TreeInProgress<'_>, leaf: &mut Leaf, histogram: Histogram) {
        let bytes = self.binned.total_bins() * size_of::<GradientSums>();
        let kept = growing.leaves.iter().filter(|l| l.histogram.is_some()).count();
        if leaf.best.is_some() && (kept + 2) * bytes <= self.kept_bytes {
            leaf.histogram = Some(histogram);
        } else if self.spare.len() < 4 {
            self.spare.push(histogram);
        }
    }

    fn search_all(
        &self,
        growing: &TreeInProgress<'_>,
        node: Node,
        histogram: &Histogram,
        id: u64,
    ) -> Option<Split> {
        let chosen = growing.sample.for_split(id);
        let found: Vec<Option<Split>> = self
            .groups
            .par_iter()
            .map(|group| self.search_group(growing, node, group, &histogram[group.bins.clone()], &chosen))
            .collect();
        found.into_iter().fold(None, Split::better)
    }

    /// The best split by the features of a group.
    fn search_group(
        &self,
        growing: &TreeInProgress<'_>,
        node: Node,
        group: &Group,
        bins: &[GradientSums],
        chosen: &[bool],
    ) -> Option<Split> {
        let mut best = None;
        for place in group.features.clone().filter(|&place| chosen[place]) {
            let feature = &self.binned.features()[place];
            let bins = &bins[feature.start - group.bins.start..][..feature.bins.codes()];
            best = Split::better(best, growing.search.best(node, place, feature, bins));
        }
        best
    }

    pub(super) fn spare_histogram(&mut self) -> Histogram {
        self.spare.pop().unwrap_or_else(|| vec![GradientSums::default(); self.binned.total_bins()])
    }

    pub(super) fn parts(&self) -> (&'a Binned, &'a Growth, &[Group]) {
        (self.binned, self.growth, &self.groups)
    }

    pub(super) fn give_back(&mut self, histograms: Vec<Histogram>) {
        self.spare.extend(histograms);
    }
}

/// The state of a tree while it grows.
struct TreeInProgress<'a> {
    search: Search<'a>,
    gradients: &'a Gradients,
    sample: &'a FeatureSample,
    rows: RowPartition,
    leaves: Vec<Leaf>,
    tree: Tree,
}

impl TreeInProgress<'_> {
    /// The leaf to split next.
    fn next(&self, policy: GrowthPolicy) -> Option<usize> {
        let splittable = self.leaves.iter().enumerate().filter_map(|(i, leaf)| Some((i, leaf, leaf.best?)));
        match policy {
            GrowthPolicy::LevelWise => {
                splittable.min_by_key(|(i, leaf, _)| (leaf.depth, *i)).map(|(i, ..)| i)
            }
            _ => splittable.reduce(|a, b| if b.2.gain > a.2.gain { b } else { a }).map(|(i, ..)| i),
        }
    }

    /// Turns a leaf into a node and partitions its documents.
    fn partition_leaf(&mut self, leaf: usize, binned: &Binned) -> (Leaf, Leaf) {
        let parent = &self.leaves[leaf];
        let split = parent.best.expect("only leaves with a best split are split");
        let (rows, depth) = (parent.rows.clone(), parent.depth + 1);
        let bounds = self.children_bounds(parent.node, &split, binned);
        let node = self.tree.features.len();
        if let Some((above, left)) = parent.parent {
            let links = if left { &mut self.tree.left } else { &mut self.tree.right };
            links[above] = Child::Node(node).code();
        }
        push_node(&mut self.tree, &split, binned, (leaf, self.leaves.len()));
        let middle = self.rows.partition(rows.clone(), &split, binned);
        let child = |rows, total, bounds, left| Leaf {
            rows,
            node: Node { total, bounds, extra_l2: split.extra_l2 },
            depth,
            parent: Some((node, left)),
            histogram: None,
            best: None,
        };
        (
            child(rows.start..middle, split.left, bounds.0, true),
            child(middle..rows.end, split.right, bounds.1, false),
        )
    }

    /// If the split must be monotone, the values of one side stay below the middle and those of the other side above
    /// it.
    fn children_bounds(&self, node: Node, split: &Split, binned: &Binned) -> ((f64, f64), (f64, f64)) {
        let (low, high) = node.bounds;
        let direction = self.search.growth.direction(binned.features()[split.feature].column);
        let value = |sums| self.search.value(self.search.units.read(sums), node.bounds);
        let middle = (value(split.left) + value(split.right)) / 2.0;
        match direction {
            1 => ((low, middle), (middle, high)),
            -1 => ((middle, high), (low, middle)),
            _ => (node.bounds, node.bounds),
        }
    }

    fn finish(mut self, spare: &mut Vec<Histogram>) -> GrownTree {
        for leaf in &mut self.leaves {
            let mut stats = self.search.units.read(leaf.node.total);
            stats.curvature += leaf.node.extra_l2;
            self.tree.values.push(self.search.value(stats, leaf.node.bounds));
            self.tree.covers.push(stats.count as f32);
            spare.extend(leaf.histogram.take());
        }
        let leaves = self.leaves.into_iter().map(|leaf| leaf.rows).collect();
        GrownTree::new(self.tree, self.rows, leaves)
    }
}

/// Appends a node whose children are two leaves.
pub(super) fn push_node(tree: &mut Tree, split: &Split, binned: &Binned, leaves: (usize, usize)) {
    let feature = &binned.features()[split.feature];
    tree.features.push(feature.column as u32);
    tree.thresholds.push(if split.set.is_some() { 0.0 } else { feature.bins.upper(split.bin) });
    tree.missing_left.push(split.missing_left);
    tree.left.push(Child::Leaf(leaves.0).code());
    tree.right.push(Child::Leaf(leaves.1).code());
    tree.gains.push(split.gain.min(f64::from(f32::MAX)) as f32);
    let categories = split.set.zip(feature.bins.categories()).map(|(set, bins)| bins.categories(set));
    if categories.is_some() || tree.has_categories() {
        tree.categories.resize(tree.features.len() - 1, Vec::new());
        tree.categories.push(categories.unwrap_or_default());
    }
}
