//! Grows one tree, leaf by leaf.

use super::binned::Binned;
use super::gradients::{GradientSums, Gradients};
use super::growth::{Growth, GrowthPolicy};
use super::histogram::{Group, Histogram, Members, Spare, Tables, split};
use super::partition::{RowPartition, Rows};
use super::sampling::FeatureSample;
use super::search::{Node, Search, Split};
use super::tree::{Child, Tree};
use crate::error::Result;
use crate::parallel;
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
    spare: Spare<Histogram>,
    spare_tables: Spare<Tables>,
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
struct Leaf {
    rows: Range<usize>,
    node: Node,
    depth: usize,
    /// Its parent node, and whether it is the left child.
    parent: Option<(usize, bool)>,
    histogram: Option<Histogram>,
    best: Option<Split>,
    /// What the best split makes of it, if that is known already.
    children: Option<Box<[Leaf; 2]>>,
}

impl Leaf {
    fn new(rows: Range<usize>, node: Node, depth: usize) -> Leaf {
        Leaf { rows, node, depth, parent: None, histogram: None, best: None, children: None }
    }
}

/// The number of threads for which one more leaf is split at once.
const THREADS_PER_LEAF: usize = 2;

/// The maximum number of leaves that are split at once: those with smaller gains may turn out not to be split at all.
const MOST_AT_ONCE: usize = 4;

impl<'a> Grower<'a> {
    /// Creates a grower for this data and these settings.
    pub fn new(binned: &'a Binned, growth: &'a Growth) -> Grower<'a> {
        Grower {
            binned,
            growth,
            groups: binned.groups(),
            spare: Spare::default(),
            spare_tables: Spare::default(),
            kept_bytes: KEPT_BYTES,
        }
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
        let context = Context {
            search: Search { growth: self.growth, units: gradients.units() },
            gradients: &gradients,
            sample: &sample,
        };
        let root = self.root(&context, &rows);
        let mut growing = TreeInProgress { rows, leaves: vec![root], tree: Tree::default() };
        while growing.leaves.len() < self.growth.num_leaves {
            let order = growing.order(self.growth.policy);
            let Some(&next) = order.first() else { break };
            if growing.leaves[next].children.is_none() {
                self.plan(&context, &mut growing, &order);
            }
            growing.split(next, self.binned);
        }
        Ok(growing.finish(&context.search, &self.spare))
    }

    /// The root with all documents.
    fn root(&self, context: &Context<'_>, rows: &RowPartition) -> Leaf {
        let (histogram, total) = self.histogram_of(rows.members(0..rows.all().len(), context.gradients));
        let node = Node { total, bounds: (f64::NEG_INFINITY, f64::INFINITY), extra_l2: 0.0 };
        let mut root = Leaf::new(0..rows.all().len(), node, 0);
        root.best = self.search_all(context, node, &histogram);
        root.histogram = Some(histogram);
        root
    }

    /// Finds what the first leaves in `order` become when they are split. The first one will be split next. The
    /// others most likely later; they keep threads busy for which the first has not enough documents.
    fn plan(&self, context: &Context<'_>, growing: &mut TreeInProgress, order: &[usize]) {
        let left = self.growth.num_leaves - growing.leaves.len();
        let most = match context.sample.is_by_split() {
            true => 1,
            false => (rayon::current_num_threads() / THREADS_PER_LEAF).clamp(1, MOST_AT_ONCE.min(left)),
        };
        let unplanned = order.iter().copied().filter(|&leaf| growing.leaves[leaf].children.is_none());
        let mut chosen: Vec<usize> = unplanned.take(most).collect();
        chosen.sort_by_key(|&leaf| growing.leaves[leaf].rows.start);
        let kept = growing.leaves.iter().filter(|leaf| leaf.histogram.is_some()).count();
        let bytes = self.binned.total_bins() * size_of::<GradientSums>();
        let wish = Wish {
            id: growing.leaves.len() as u64,
            is_last: left == 1,
            keep: (kept + 2 * chosen.len()) * bytes <= self.kept_bytes,
        };
        let histograms = chosen.iter().map(|&leaf| growing.leaves[leaf].histogram.take());
        let histograms: Vec<Option<Histogram>> = histograms.collect();
        let ranges = chosen.iter().map(|&leaf| growing.leaves[leaf].rows.clone());
        let slices = growing.rows.slices_mut(ranges.collect());
        let parents: Vec<&Leaf> = chosen.iter().map(|&leaf| &growing.leaves[leaf]).collect();
        let work: Vec<_> = parents.into_iter().zip(histograms).zip(slices).collect();
        let children: Vec<[Leaf; 2]> = work
            .into_par_iter()
            .map(|((parent, histogram), rows)| self.children(context, parent, histogram, rows, wish))
            .collect();
        for (leaf, children) in chosen.into_iter().zip(children) {
            growing.leaves[leaf].children = Some(Box::new(children));
        }
    }

    /// The children of a leaf with their best splits, by the histogram of the leaf if it was kept.
    fn children(
        &self,
        context: &Context<'_>,
        parent: &Leaf,
        histogram: Option<Histogram>,
        mut rows: Rows<'_>,
        wish: Wish,
    ) -> [Leaf; 2] {
        let split = parent.best.expect("only leaves with a best split are split");
        let bounds = context.search.children_bounds(parent.node, &split, self.binned);
        let middle = rows.partition(&split, self.binned);
        let both = &*rows.rows;
        let start = parent.rows.start;
        let child = |rows, total, bounds| {
            Leaf::new(rows, Node { total, bounds, extra_l2: split.extra_l2 }, parent.depth + 1)
        };
        let mut left = child(start..start + middle, split.left, bounds.0);
        let mut right = child(start + middle..parent.rows.end, split.right, bounds.1);
        let least = 2 * self.growth.min_data_in_leaf.max(1);
        let is_splittable = |leaf: &Leaf| {
            !wish.is_last && self.growth.allows_depth(leaf.depth) && leaf.rows.len() as u64 >= least
        };
        let wanted = (is_splittable(&left), is_splittable(&right));
        if !(wanted.0 || wanted.1) {
            self.spare.give_back(histogram);
            return [left, right];
        }
        let gradients = context.gradients.documents();
        let of_both = histogram.unwrap_or_else(|| self.histogram_of(Members { rows: both, gradients }).0);
        let is_left_small = middle <= both.len() - middle;
        let siblings = if is_left_small {
            Siblings { small: &mut left, large: &mut right, wanted, rows: &both[..middle] }
        } else {
            Siblings {
                small: &mut right,
                large: &mut left,
                wanted: (wanted.1, wanted.0),
                rows: &both[middle..],
            }
        };
        self.search_siblings(context, siblings, of_both, wish);
        [left, right]
    }

    /// Finds the best splits of two siblings. The histogram of the smaller one is built; that of the larger one is
    /// the difference from the parent's.
    fn search_siblings(
        &self,
        context: &Context<'_>,
        siblings: Siblings<'_>,
        mut of_large: Histogram,
        wish: Wish,
    ) {
        let Siblings { small, large, wanted, rows } = siblings;
        let mut of_small = self.spare_histogram();
        let members = Members { rows, gradients: context.gradients.documents() };
        let summed = self.binned.sum(members, small.node.total, &self.spare_tables, &mut of_small);
        let chosen = (context.sample.for_split(2 * wish.id), context.sample.for_split(2 * wish.id + 1));
        let pieces = split(&mut of_small, &self.groups).into_iter().zip(split(&mut of_large, &self.groups));
        let pieces: Vec<_> = self.groups.iter().zip(pieces).collect();
        let found: Vec<(Option<Split>, Option<Split>)> = pieces
            .into_par_iter()
            .map(|(group, (of_small, of_large))| {
                self.binned.fill(&summed, group, of_small);
                of_large.iter_mut().zip(of_small.iter()).for_each(|(all, &part)| *all -= part);
                let look = |wanted: bool, node: Node, bins: &[GradientSums], chosen: &[bool]| {
                    wanted.then(|| self.search_group(context, node, group, bins, chosen)).flatten()
                };
                (
                    look(wanted.0, small.node, of_small, &chosen.0),
                    look(wanted.1, large.node, of_large, &chosen.1),
                )
            })
            .collect();
        summed.spare(&self.spare_tables);
        for (of_small, of_large) in found {
            small.best = Split::better(small.best, of_small);
            large.best = Split::better(large.best, of_large);
        }
        for (leaf, histogram) in [(small, of_small), (large, of_large)] {
            match leaf.best {
                Some(_) if wish.keep => leaf.histogram = Some(histogram),
                _ => self.spare.give_back([histogram]),
            }
        }
    }

    fn search_all(&self, context: &Context<'_>, node: Node, histogram: &Histogram) -> Option<Split> {
        let chosen = context.sample.for_split(0);
        let found: Vec<Option<Split>> = self
            .groups
            .par_iter()
            .map(|group| self.search_group(context, node, group, &histogram[group.bins.clone()], &chosen))
            .collect();
        found.into_iter().fold(None, Split::better)
    }

    /// The best split by the features of a group.
    fn search_group(
        &self,
        context: &Context<'_>,
        node: Node,
        group: &Group,
        bins: &[GradientSums],
        chosen: &[bool],
    ) -> Option<Split> {
        let mut best = None;
        for place in group.features.clone().filter(|&place| chosen[place]) {
            let feature = &self.binned.features()[place];
            let bins = &bins[feature.start - group.bins.start..][..feature.bins.codes()];
            best = Split::better(best, context.search.best(node, place, feature, bins));
        }
        best
    }

    fn spare_histogram(&self) -> Histogram {
        self.spare.take().unwrap_or_else(|| vec![GradientSums::default(); self.binned.total_bins()])
    }

    /// The histogram of some documents, and their sum.
    pub(super) fn histogram_of(&self, members: Members<'_>) -> (Histogram, GradientSums) {
        let (mut histogram, total) = (self.spare_histogram(), members.total());
        let summed = self.binned.sum(members, total, &self.spare_tables, &mut histogram);
        let pieces = self.groups.iter().zip(split(&mut histogram, &self.groups));
        parallel::for_each(pieces, |(group, out)| self.binned.fill(&summed, group, out));
        summed.spare(&self.spare_tables);
        (histogram, total)
    }

    pub(super) fn parts(&self) -> (&'a Binned, &'a Growth, &[Group]) {
        (self.binned, self.growth, &self.groups)
    }

    pub(super) fn give_back(&self, histograms: impl IntoIterator<Item = Histogram>) {
        self.spare.give_back(histograms);
    }
}

/// What all leaves of a tree have in common.
struct Context<'a> {
    search: Search<'a>,
    gradients: &'a Gradients,
    sample: &'a FeatureSample,
}

/// What is asked of the children of a leaf.
#[derive(Clone, Copy)]
struct Wish {
    /// The number of the split, by which features are drawn.
    id: u64,
    /// Whether this is the last split of the tree, so that its children need no search.
    is_last: bool,
    /// Whether there is memory for their histograms.
    keep: bool,
}

/// The children of a leaf: the one with fewer documents and the other, which of them may be split, and the rows of the
/// first.
struct Siblings<'a> {
    small: &'a mut Leaf,
    large: &'a mut Leaf,
    wanted: (bool, bool),
    rows: &'a [u32],
}

/// The state of a tree while it grows.
struct TreeInProgress {
    rows: RowPartition,
    leaves: Vec<Leaf>,
    tree: Tree,
}

impl TreeInProgress {
    /// The leaves that can be split, in the order in which they are if nothing is added.
    fn order(&self, policy: GrowthPolicy) -> Vec<usize> {
        let splittable = self.leaves.iter().enumerate().filter_map(|(i, leaf)| Some((i, leaf, leaf.best?)));
        let mut order: Vec<(usize, &Leaf, Split)> = splittable.collect();
        match policy {
            GrowthPolicy::LevelWise => order.sort_by_key(|(_, leaf, _)| leaf.depth),
            _ => order.sort_by(|(.., a), (.., b)| b.gain.total_cmp(&a.gain)),
        }
        order.into_iter().map(|(i, ..)| i).collect()
    }

    /// Turns a leaf into a node: it becomes the left child, and the right child is appended.
    fn split(&mut self, leaf: usize, binned: &Binned) {
        let (node, appended) = (self.tree.features.len(), self.leaves.len());
        let parent = &mut self.leaves[leaf];
        let split = parent.best.expect("only leaves with a best split are split");
        let [mut left, mut right] = *parent.children.take().expect("the children are known");
        if let Some((above, is_left)) = parent.parent {
            let links = if is_left { &mut self.tree.left } else { &mut self.tree.right };
            links[above] = Child::Node(node).code();
        }
        push_node(&mut self.tree, &split, binned, (leaf, appended));
        left.parent = Some((node, true));
        right.parent = Some((node, false));
        self.leaves[leaf] = left;
        self.leaves.push(right);
    }

    fn finish(mut self, search: &Search<'_>, spare: &Spare<Histogram>) -> GrownTree {
        for leaf in &mut self.leaves {
            let mut stats = search.units.read(leaf.node.total);
            stats.curvature += leaf.node.extra_l2;
            self.tree.values.push(search.value(stats, leaf.node.bounds));
            self.tree.covers.push(stats.count as f32);
            spare.give_back(leaf.histogram.take());
            if let Some(children) = leaf.children.take() {
                // They were planned in vain.
                spare.give_back(children.into_iter().filter_map(|child| child.histogram));
                self.rows.restore(leaf.rows.clone());
            }
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
