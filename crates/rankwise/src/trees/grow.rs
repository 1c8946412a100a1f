//! Growing one tree, leaf by leaf.

use super::binned::Binned;
use super::gradients::{Gradients, Sums};
use super::growth::{Growth, Order};
use super::histogram::{Group, Histogram, split};
use super::partition::Rows;
use super::sampling::FeatureSample;
use super::search::{Node, Search, Split};
use super::tree::{Child, Tree};
use crate::error::Result;
use rayon::prelude::*;
use std::ops::Range;

/// Bytes of histograms that are kept at once.
const KEPT_BYTES: usize = 1 << 30;

/// Documents whose scores are worth a task of their own.
const STRETCH: usize = 1 << 14;

/// Grows trees on one data set.
pub struct Grower<'a> {
    binned: &'a Binned,
    growth: &'a Growth,
    groups: Vec<Group>,
    /// Histograms no longer needed, to be used again.
    spare: Vec<Histogram>,
    /// Histograms of leaves are kept up to so many bytes; those beyond are built again when needed.
    pub(super) kept_bytes: usize,
}

/// A tree, and which documents fell into which of its leaves.
pub struct Grown {
    /// The tree, with the values that minimise the quadratic objective.
    pub tree: Tree,
    rows: Rows,
    leaves: Vec<Range<usize>>,
}

impl Grown {
    pub(super) fn new(tree: Tree, rows: Rows, leaves: Vec<Range<usize>>) -> Grown {
        Grown { tree, rows, leaves }
    }

    /// The leaves with their documents, ascending.
    pub fn leaves(&self) -> impl Iterator<Item = (usize, &[u32])> {
        self.leaves.iter().enumerate().map(|(leaf, range)| (leaf, &self.rows.all()[range.clone()]))
    }

    /// Adds `factor` times the value of its leaf to the score of each document the tree was grown on.
    pub fn add_to(&self, scores: &mut [f64], factor: f64) {
        // The documents of a leaf are ascending, so that those in one stretch of the scores are neighbours.
        scores.par_chunks_mut(STRETCH).enumerate().for_each(|(stretch, scores)| {
            let begin = (stretch * STRETCH) as u32;
            for (leaf, rows) in self.leaves() {
                let step = factor * self.tree.values[leaf];
                let rows = &rows[rows.partition_point(|&row| row < begin)..];
                let inside = rows.partition_point(|&row| row - begin < scores.len() as u32);
                rows[..inside].iter().for_each(|&row| scores[(row - begin) as usize] += step);
            }
        });
    }
}

/// A leaf that may yet be split.
pub(super) struct Leaf {
    pub(super) rows: Range<usize>,
    pub(super) node: Node,
    pub(super) depth: usize,
    /// Its parent among the tree's nodes, and whether it is the left child.
    parent: Option<(usize, bool)>,
    histogram: Option<Histogram>,
    best: Option<Split>,
}

impl<'a> Grower<'a> {
    /// A grower for these documents.
    pub fn new(binned: &'a Binned, growth: &'a Growth) -> Grower<'a> {
        Grower { binned, growth, groups: binned.groups(), spare: Vec::new(), kept_bytes: KEPT_BYTES }
    }

    /// Grows a tree that lowers `Σ g·f + ½ h·f²` over `rows` (all when none are given), where `f` is its value. `seed`
    /// names the random choice of features.
    pub fn grow(
        &mut self,
        slopes: &[f64],
        curvatures: &[f64],
        rows: Option<&[u32]>,
        seed: u64,
    ) -> Result<Grown> {
        let gradients = Gradients::new(slopes, curvatures)?;
        let rows = Rows::new(self.binned.rows(), rows);
        let sample = FeatureSample::new(self.binned.features().len(), self.growth, seed);
        if self.growth.order == Order::Oblivious {
            return Ok(self.grow_oblivious(&gradients, rows, &sample));
        }
        let mut growing = Growing {
            search: Search { growth: self.growth, units: gradients.units() },
            gradients: &gradients,
            sample: &sample,
            rows,
            leaves: Vec::new(),
            tree: Tree::default(),
        };
        self.plant(&mut growing);
        while growing.leaves.len() < self.growth.leaves {
            let Some(leaf) = growing.next(self.growth.order) else { break };
            self.divide(&mut growing, leaf);
        }
        Ok(growing.finish(&mut self.spare))
    }

    /// The first leaf, with all documents.
    fn plant(&mut self, growing: &mut Growing<'_>) {
        let all = 0..growing.rows.all().len();
        let gathered = growing.rows.gradients(all.clone(), growing.gradients);
        let total = gathered.total();
        let node = Node { total, bounds: (f64::NEG_INFINITY, f64::INFINITY) };
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

    /// Splits a leaf by its best split: it stays as the left one, a new one is the right.
    fn divide(&mut self, growing: &mut Growing<'_>, leaf: usize) {
        let (mut left, mut right) = growing.part(leaf, self.binned);
        let last = growing.leaves.len() + 1 == self.growth.leaves;
        let worth_a_look = |leaf: &Leaf| {
            let count = leaf.rows.len() as u64;
            !last && self.growth.allows_depth(leaf.depth) && count >= 2 * self.growth.min_rows.max(1)
        };
        let looks = (worth_a_look(&left), worth_a_look(&right));
        let parent = growing.leaves[leaf].histogram.take();
        if looks.0 || looks.1 {
            let small_left = left.rows.len() <= right.rows.len();
            let (small, large) = if small_left { (&mut left, &mut right) } else { (&mut right, &mut left) };
            self.look(growing, small, large, parent, if small_left { looks } else { (looks.1, looks.0) });
        } else {
            self.spare.extend(parent);
        }
        growing.leaves[leaf] = left;
        growing.leaves.push(right);
    }

    /// Finds the best splits of two siblings: the histogram of the smaller is built, that of the larger is what it
    /// leaves of the parent's.
    fn look(
        &mut self,
        growing: &Growing<'_>,
        small: &mut Leaf,
        large: &mut Leaf,
        parent: Option<Histogram>,
        looks: (bool, bool),
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
                let look = |wanted: bool, node: Node, bins: &[Sums], chosen: &[bool]| {
                    wanted.then(|| self.search_group(growing, node, group, bins, chosen)).flatten()
                };
                (
                    look(looks.0, small.node, of_small, &chosen.0),
                    look(looks.1, large.node, of_large, &chosen.1),
                )
            })
            .collect();
        for (of_small, of_large) in found {
            small.best = Split::better(small.best, of_small);
            large.best = Split::better(large.best, of_large);
        }
        self.keep(growing, small, of_small);
        self.keep(growing, large, of_large);
    }

    /// Keeps a histogram for the leaf's own split, where there is one and memory allows.
    fn keep(&mut self, growing: &Growing<'_>, leaf: &mut Leaf, histogram: Histogram) {
        let bytes = self.binned.total_bins() * size_of::<Sums>();
        let kept = growing.leaves.iter().filter(|l| l.histogram.is_some()).count();
        if leaf.best.is_some() && (kept + 2) * bytes <= self.kept_bytes {
            leaf.histogram = Some(histogram);
        } else if self.spare.len() < 4 {
            self.spare.push(histogram);
        }
    }

    fn search_all(&self, growing: &Growing<'_>, node: Node, histogram: &Histogram, id: u64) -> Option<Split> {
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
        growing: &Growing<'_>,
        node: Node,
        group: &Group,
        bins: &[Sums],
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
        self.spare.pop().unwrap_or_else(|| vec![Sums::default(); self.binned.total_bins()])
    }

    pub(super) fn parts(&self) -> (&'a Binned, &'a Growth, &[Group]) {
        (self.binned, self.growth, &self.groups)
    }

    pub(super) fn give_back(&mut self, histograms: Vec<Histogram>) {
        self.spare.extend(histograms);
    }
}

/// A tree in the making.
struct Growing<'a> {
    search: Search<'a>,
    gradients: &'a Gradients,
    sample: &'a FeatureSample,
    rows: Rows,
    leaves: Vec<Leaf>,
    tree: Tree,
}

impl Growing<'_> {
    /// The leaf to split next.
    fn next(&self, order: Order) -> Option<usize> {
        let splittable = self.leaves.iter().enumerate().filter_map(|(i, leaf)| Some((i, leaf, leaf.best?)));
        match order {
            Order::Depth => splittable.min_by_key(|(i, leaf, _)| (leaf.depth, *i)).map(|(i, ..)| i),
            _ => splittable.reduce(|a, b| if b.2.gain > a.2.gain { b } else { a }).map(|(i, ..)| i),
        }
    }

    /// Makes a node of a leaf and parts its documents.
    fn part(&mut self, leaf: usize, binned: &Binned) -> (Leaf, Leaf) {
        let parent = &self.leaves[leaf];
        let split = parent.best.expect("only leaves with a split are divided");
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
            node: Node { total, bounds },
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

    /// Where the split must be monotone, the values of one side stay below the middle and of the other above.
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

    fn finish(mut self, spare: &mut Vec<Histogram>) -> Grown {
        for leaf in &mut self.leaves {
            let stats = self.search.units.read(leaf.node.total);
            self.tree.values.push(self.search.value(stats, leaf.node.bounds));
            self.tree.covers.push(stats.count as f32);
            spare.extend(leaf.histogram.take());
        }
        let leaves = self.leaves.into_iter().map(|leaf| leaf.rows).collect();
        Grown::new(self.tree, self.rows, leaves)
    }
}

/// Appends a node whose children are two leaves.
pub(super) fn push_node(tree: &mut Tree, split: &Split, binned: &Binned, leaves: (usize, usize)) {
    let feature = &binned.features()[split.feature];
    tree.features.push(feature.column as u32);
    tree.thresholds.push(feature.bins.upper(split.bin));
    tree.missing_left.push(split.missing_left);
    tree.left.push(Child::Leaf(leaves.0).code());
    tree.right.push(Child::Leaf(leaves.1).code());
    tree.gains.push(split.gain.min(f64::from(f32::MAX)) as f32);
}
