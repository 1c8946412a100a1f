//! Walks from root to leaf, several at once and without a branch on the data, so that one waits for memory while the
//! others go on.

use super::super::TreeEnsemble;
use super::ranks::for_each_shared;
use crate::data::{Row, Rows, code_of};
use crate::trees::{Child, Tree};
use std::collections::{BTreeSet, VecDeque};

/// Walks that go on at once.
const WALKS: usize = 8;

/// All trees of an ensemble, in one list of nodes with the two children of a node side by side.
pub(super) struct Walk {
    /// The columns of the data that are looked at.
    features: Vec<u32>,
    roots: Vec<u32>,
    nodes: Vec<Node>,
    /// The value of each node that is a leaf.
    values: Vec<f64>,
    /// The categories that go left, of the nodes that test them.
    sets: Vec<Vec<u32>>,
}

/// A leaf is its own left child, and no value goes right.
#[derive(Clone)]
struct Node {
    /// A threshold; or, as bits, the place in `sets`.
    threshold: f32,
    /// The place among the values of a document.
    value: u32,
    left: u32,
    missing_right: bool,
    tests_categories: bool,
}

impl Walk {
    pub(super) fn new(trees: &[Tree]) -> Walk {
        let used: BTreeSet<u32> = trees.iter().flat_map(|tree| tree.features.iter().copied()).collect();
        let mut walk = Walk {
            features: used.into_iter().collect(),
            roots: Vec::new(),
            nodes: Vec::new(),
            values: Vec::new(),
            sets: Vec::new(),
        };
        for tree in trees {
            walk.push(tree);
        }
        walk
    }

    fn push(&mut self, tree: &Tree) {
        let root = self.reserve(1);
        self.roots.push(root);
        let mut open = VecDeque::from([(tree.root(), root)]);
        while let Some((child, at)) = open.pop_front() {
            match child {
                Child::Leaf(leaf) => self.values[at as usize] = tree.values[leaf],
                Child::Node(node) => {
                    let left = self.reserve(2);
                    let feature =
                        self.features.binary_search(&tree.features[node]).expect("a feature of the ensemble");
                    let set = tree.category_set(node);
                    let threshold =
                        set.map_or(tree.thresholds[node], |_| f32::from_bits(self.sets.len() as u32));
                    self.sets.extend(set.map(<[u32]>::to_vec));
                    let (missing_right, tests_categories) = (!tree.missing_left[node], set.is_some());
                    let as_given = missing_right || tests_categories;
                    let value = if as_given { feature } else { self.width() + feature } as u32;
                    self.nodes[at as usize] =
                        Node { threshold, value, left, missing_right, tests_categories };
                    open.push_back((Child::of(tree.left[node]), left));
                    open.push_back((Child::of(tree.right[node]), left + 1));
                }
            }
        }
    }

    /// Adds `count` nodes, which are leaves until they are set.
    fn reserve(&mut self, count: usize) -> u32 {
        let (first, value) = (self.nodes.len() as u32, self.width() as u32);
        for at in first..first + count as u32 {
            self.nodes.push(Node {
                threshold: f32::INFINITY,
                value,
                left: at,
                missing_right: false,
                tests_categories: false,
            });
        }
        self.values.resize(self.nodes.len(), 0.0);
        first
    }

    /// How many features are looked at; at least one, for leaves look at the first.
    fn width(&self) -> usize {
        self.features.len().max(1)
    }

    /// The values of each row that are looked at, row after row. Each row has them twice: as given, for nodes that send
    /// missing values right, since a missing value is not below any threshold; then with −∞ for a missing one, for nodes that
    /// send it left. So walks need not ask whether a value is missing.
    pub(super) fn gather(&self, rows: Rows<'_>, values: &mut Vec<f32>) {
        values.clear();
        values.resize(rows.len() * 2 * self.width(), 0.0);
        for (row, values) in rows.iter().zip(values.chunks_exact_mut(2 * self.width())) {
            let (given, low) = values.split_at_mut(self.width());
            match row {
                Row::Dense(all) => {
                    for (x, &feature) in given.iter_mut().zip(&self.features) {
                        *x = all.get(feature as usize).copied().unwrap_or(0.0);
                    }
                }
                Row::Sparse(..) => {
                    for_each_shared(row, self.features.iter().copied(), |place, x| given[place] = x);
                }
            }
            for (low, x) in low.iter_mut().zip(given) {
                *low = if x.is_nan() { f32::NEG_INFINITY } else { *x };
            }
        }
    }

    /// Adds the values of one tree, for documents gathered, to `sums`.
    pub(super) fn add(&self, tree: usize, values: &[f32], sums: &mut [f64]) {
        let width = 2 * self.width();
        for (sums, values) in sums.chunks_mut(WALKS).zip(values.chunks(WALKS * width)) {
            let mut rows = [&values[..width]; WALKS];
            rows.iter_mut().zip(values.chunks_exact(width)).for_each(|(row, values)| *row = values);
            let ends = self.walk([self.roots[tree]; WALKS], rows);
            for (sum, end) in sums.iter_mut().zip(ends) {
                *sum += self.values[end as usize];
            }
        }
    }

    /// Scores the rows one by one, several trees at a time. `outputs` has room for those of one document.
    pub(super) fn score(
        &self,
        rows: Rows<'_>,
        ensemble: &TreeEnsemble,
        values: &mut Vec<f32>,
        outputs: &mut [f64],
        out: &mut [f64],
    ) {
        self.gather(rows, values);
        for (row, score) in values.chunks_exact(2 * self.width()).zip(out) {
            outputs.copy_from_slice(ensemble.base());
            let mut output = 0;
            for roots in self.roots.chunks(WALKS) {
                let ends = self.walk(padded(roots), [row; WALKS]);
                for end in &ends[..roots.len()] {
                    outputs[output] += self.values[*end as usize];
                    output = if output + 1 == outputs.len() { 0 } else { output + 1 };
                }
            }
            *score = ensemble.combine().score(outputs);
        }
    }

    /// The leaves that walks from these nodes end at.
    #[inline(always)]
    fn walk(&self, at: [u32; WALKS], rows: [&[f32]; WALKS]) -> [u32; WALKS] {
        if self.sets.is_empty() { self.walk_by::<false>(at, rows) } else { self.walk_by::<true>(at, rows) }
    }

    #[inline(always)]
    fn walk_by<const CATEGORIES: bool>(&self, mut at: [u32; WALKS], rows: [&[f32]; WALKS]) -> [u32; WALKS] {
        loop {
            let mut moved = 0;
            for (at, row) in at.iter_mut().zip(rows) {
                let node = &self.nodes[*at as usize];
                let x = row[node.value as usize];
                let mut left = x <= node.threshold;
                if CATEGORIES && node.tests_categories {
                    let set = &self.sets[node.threshold.to_bits() as usize];
                    let in_set = code_of(x).is_some_and(|code| set.binary_search(&code).is_ok());
                    left = if x.is_nan() { !node.missing_right } else { in_set };
                }
                let next = node.left + u32::from(!left);
                moved |= next ^ *at;
                *at = next;
            }
            if moved == 0 {
                return at;
            }
        }
    }
}

/// As many as there are walks: the first one again where there are fewer.
fn padded<T: Copy>(some: &[T]) -> [T; WALKS] {
    let mut all = [some[0]; WALKS];
    all[..some.len()].copy_from_slice(some);
    all
}
