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
    /// The sum of the absolute slopes of all documents.
    pub slopes: f64,
    rows: RowPartition,
    leaves: Vec<Range<usize>>,
}

impl GrownTree {
    pub(super) fn new(
        tree: Tree,
        gradients: &Gradients,
        rows: RowPartition,
        leaves: Vec<Range<usize>>,
    ) -> GrownTree {
        GrownTree { tree, slopes: gradients.size(), rows, leaves }
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
    pub(super) parent: Option<(usize, bool)>,
    pub(super) histogram: Option<Histogram>,
    pub(super) best: Option<Split>,
    /// What the best split makes of it, if that is known already.
    pub(super) children: Option<Box<[Leaf; 2]>>,
}

impl Leaf {
    pub(super) fn new(rows: Range<usize>, node: Node, depth: usize) -> Leaf {
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
        let gradients = Gradients::new(slopes, curvatures, self.binned.pieces())?;
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
        Ok(growing.finish(&context, &self.spare))
    }

    /// The root with all documents.
    fn root(&self, context: &Context<'_>, rows: &RowPartition) -> Leaf {
        let members = rows.members(0..rows.all().len(), context.gradients);
        if self.is_divided() {
            return self.root_of_all(context, members);
        }
        let (histogram, total) = self.histogram_of(members);
        let mut root = Leaf::new(0..rows.all().len(), Node::root(total), 0);
        root.best = self.search_all(context, root.node, &histogram);
        root.histogram = Some(histogram);
        root
    }

    /// Whether other workers have documents too.
    fn is_divided(&self) -> bool {
        self.binned.pieces().shard().exchange.is_some()
    }

    /// Finds what the first leaves in `order` become when they are split. The first one will be split next. The
    /// others most likely later; they keep threads busy for which the first has not enough documents, and spare workers
    /// that have to wait for each other an exchange.
    fn plan(&self, context: &Context<'_>, growing: &mut TreeInProgress, order: &[usize]) {
        let left = self.growth.num_leaves - growing.leaves.len();
        let most = match (context.sample.is_by_split(), self.is_divided()) {
            (true, _) => 1,
            (false, true) => MOST_AT_ONCE.min(left),
            (false, false) => {
                (rayon::current_num_threads() / THREADS_PER_LEAF).clamp(1, MOST_AT_ONCE.min(left))
            }
        };
        let unplanned = order.iter().copied().filter(|&leaf| growing.leaves[leaf].children.is_none());
        let mut chosen: Vec<usize> = unplanned.take(most).collect();
        let kept = growing.leaves.iter().filter(|leaf| leaf.histogram.is_some()).count();
        let bytes = self.binned.total_bins() * size_of::<GradientSums>();
        let wish = Wish {
            id: growing.leaves.len() as u64,
            is_last: left == 1,
            keep: (kept + 2 * chosen.len()) * bytes <= self.kept_bytes,
        };
        if self.is_divided() {
            return self.plan_for_all(context, growing, &chosen, wish);
        }
        chosen.sort_by_key(|&leaf| growing.leaves[leaf].rows.start);
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

    /// The children of a leaf with their best splits, by the histogram of the leaf if it was kept. The histogram of the
    /// smaller child is built; that of the larger one is the difference from the parent's.
    fn children(
        &self,
        context: &Context<'_>,
        parent: &Leaf,
        histogram: Option<Histogram>,
        mut rows: Rows<'_>,
        wish: Wish,
    ) -> [Leaf; 2] {
        let mut sides = self.part(context, parent, &mut rows, wish);
        if !sides.are_wanted() {
            self.spare.give_back(histogram);
            return sides.children;
        }
        let (both, gradients) = (&*rows.rows, context.gradients.documents());
        let of_both = histogram.unwrap_or_else(|| self.histogram_of(Members { rows: both, gradients }).0);
        let Leaf { rows: range, node, .. } = &sides.children[sides.small];
        let rows = &both[range.start - parent.rows.start..range.end - parent.rows.start];
        let mut of_small = self.spare_histogram();
        let members = Members { rows, gradients };
        let summed = self.binned.sum(members, node.total, &self.spare_tables, &mut of_small);
        let fill = |group: &Group, out: &mut [GradientSums]| self.binned.fill(&summed, group, out);
        self.search_sides(context, &mut sides, [of_small, of_both], wish, fill);
        summed.spare(&self.spare_tables);
        sides.children
    }

    /// Parts the rows of a leaf by its best split.
    pub(super) fn part(
        &self,
        context: &Context<'_>,
        parent: &Leaf,
        rows: &mut Rows<'_>,
        wish: Wish,
    ) -> Sides {
        let split = parent.best.expect("only leaves with a best split are split");
        let bounds = context.search.children_bounds(parent.node, &split, self.binned);
        let middle = parent.rows.start + rows.partition(&split, self.binned);
        let child = |rows, total, bounds| {
            Leaf::new(rows, Node { total, bounds, extra_l2: split.extra_l2 }, parent.depth + 1)
        };
        let children = [
            child(parent.rows.start..middle, split.left, bounds.0),
            child(middle..parent.rows.end, split.right, bounds.1),
        ];
        // Rows may be on other workers too; the sums count them all.
        let counts = [split.left, split.right].map(|sums| context.search.units.read(sums).count);
        let least = 2 * self.growth.min_data_in_leaf.max(1);
        let may_split = !wish.is_last && self.growth.allows_depth(parent.depth + 1);
        let wanted = counts.map(|count| may_split && count >= least);
        Sides { children, small: usize::from(counts[0] > counts[1]), wanted }
    }

    /// Finds the best splits of two children by the histogram of the smaller one, which `fill` completes for each group
    /// of features, and that of the parent.
    pub(super) fn search_sides(
        &self,
        context: &Context<'_>,
        sides: &mut Sides,
        [mut of_small, mut of_large]: [Histogram; 2],
        wish: Wish,
        fill: impl Fn(&Group, &mut [GradientSums]) + Sync,
    ) {
        let (small, large) = (sides.small, 1 - sides.small);
        let nodes = [sides.children[small].node, sides.children[large].node];
        let wanted = [sides.wanted[small], sides.wanted[large]];
        let chosen = [context.sample.for_split(2 * wish.id), context.sample.for_split(2 * wish.id + 1)];
        let pieces = split(&mut of_small, &self.groups).into_iter().zip(split(&mut of_large, &self.groups));
        let pieces: Vec<_> = self.groups.iter().zip(pieces).collect();
        let found: Vec<[Option<Split>; 2]> = pieces
            .into_par_iter()
            .map(|(group, (of_small, of_large))| {
                fill(group, of_small);
                of_large.iter_mut().zip(of_small.iter()).for_each(|(all, &part)| *all -= part);
                let look = |side: usize, bins: &[GradientSums]| {
                    let search = || self.search_group(context, nodes[side], group, bins, &chosen[side]);
                    wanted[side].then(search).flatten()
                };
                [look(0, of_small), look(1, of_large)]
            })
            .collect();
        for (side, (child, histogram)) in [(small, of_small), (large, of_large)].into_iter().enumerate() {
            let leaf = &mut sides.children[child];
            leaf.best = found.iter().map(|found| found[side]).fold(None, Split::better);
            match leaf.best {
                Some(_) if wish.keep => leaf.histogram = Some(histogram),
                _ => self.spare.give_back([histogram]),
            }
        }
    }

    pub(super) fn search_all(
        &self,
        context: &Context<'_>,
        node: Node,
        histogram: &Histogram,
    ) -> Option<Split> {
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
        // Workers have empty ones where the driver keeps a histogram.
        let spare = self.spare.take().filter(|histogram| histogram.len() == self.binned.total_bins());
        spare.unwrap_or_else(|| vec![GradientSums::default(); self.binned.total_bins()])
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
pub(super) struct Context<'a> {
    pub(super) search: Search<'a>,
    pub(super) gradients: &'a Gradients,
    pub(super) sample: &'a FeatureSample,
}

/// What is asked of the children of a leaf.
#[derive(Clone, Copy)]
pub(super) struct Wish {
    /// The number of the split, by which features are drawn.
    pub(super) id: u64,
    /// Whether this is the last split of the tree, so that its children need no search.
    pub(super) is_last: bool,
    /// Whether there is memory for their histograms.
    pub(super) keep: bool,
}

/// The children of a leaf before their best splits are known.
pub(super) struct Sides {
    pub(super) children: [Leaf; 2],
    /// The one with fewer documents.
    pub(super) small: usize,
    /// Whether each may be split.
    wanted: [bool; 2],
}

impl Sides {
    /// Whether one of them may be split.
    pub(super) fn are_wanted(&self) -> bool {
        self.wanted != [false; 2]
    }

    pub(super) fn bests(&self) -> [Option<Split>; 2] {
        [self.children[0].best, self.children[1].best]
    }
}

/// The state of a tree while it grows.
pub(super) struct TreeInProgress {
    pub(super) rows: RowPartition,
    pub(super) leaves: Vec<Leaf>,
    pub(super) tree: Tree,
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

    fn finish(mut self, context: &Context<'_>, spare: &Spare<Histogram>) -> GrownTree {
        let search = &context.search;
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
        GrownTree::new(self.tree, context.gradients, self.rows, leaves)
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
