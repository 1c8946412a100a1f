//! Trees as lists of tests that a block of documents passes through, without a branch.
//!
//! Leaves are numbered from left to right. A document's state is the leftmost leaf it can still reach, 0 at first. A
//! node whose subtree begins at leaf `first`, and whose left part has `step` leaves, does one thing:
//!
//! ```text
//! at += step   where   at = first  and  rank > the node's rank
//! ```
//!
//! With parents before children, a document has `at = first` if and only if it has come to the node: had it turned
//! away above, it would be at a leaf further right, or never have come so far. After the last node `at` is its leaf.
//! All nodes are tested and not only those on the way; but a vector of bytes tests 16, 32 or 64 documents at once.

use super::ranks::{RankBlock, Ranks};
use crate::trees::{Child, Tree};
use pulp::Simd;
use std::ops::Range;

/// Leaves that a byte can number.
const MAX_LEAVES: usize = 256;

/// Whether a tree can be evaluated so.
pub(super) fn fits(tree: &Tree) -> bool {
    tree.values.len() <= MAX_LEAVES
}

/// The trees of an ensemble that fit.
pub(super) struct LaneTrees {
    trees: Vec<Option<LaneTree>>,
    nodes: Vec<Node>,
    /// Of the leaves, tree after tree from left to right; at the end enough for any byte to be in bounds.
    values: Vec<f64>,
}

struct LaneTree {
    nodes: Range<usize>,
    values: usize,
}

struct Node {
    column: u32,
    rank: i8,
    first: u8,
    /// The leaves of the left part.
    step: u8,
    missing_right: bool,
}

impl LaneTrees {
    pub(super) fn new(trees: &[Tree], ranks: &Ranks) -> LaneTrees {
        let mut lanes = LaneTrees { trees: Vec::new(), nodes: Vec::new(), values: Vec::new() };
        for tree in trees {
            let lane_tree = fits(tree).then(|| lanes.push(tree, ranks));
            lanes.trees.push(lane_tree);
        }
        lanes.values.resize(lanes.values.len() + MAX_LEAVES, 0.0);
        lanes
    }

    fn push(&mut self, tree: &Tree, ranks: &Ranks) -> LaneTree {
        let (nodes, values) = (self.nodes.len(), self.values.len());
        let leaves_below = leaves_below(tree);
        let mut first_of = vec![0; tree.features.len()];
        self.values.resize(values + tree.values.len(), 0.0);
        if let Child::Leaf(leaf) = tree.root() {
            self.values[values] = tree.values[leaf];
        }
        for node in 0..tree.features.len() {
            let first = first_of[node];
            let (left, right) = (Child::of(tree.left[node]), Child::of(tree.right[node]));
            let next = first + count(left, &leaves_below);
            for (child, begins) in [(left, first), (right, next)] {
                match child {
                    Child::Node(child) => first_of[child] = begins,
                    Child::Leaf(leaf) => self.values[values + begins] = tree.values[leaf],
                }
            }
            let (feature, missing_left) = (tree.features[node], tree.missing_left[node]);
            let (column, rank) = match tree.category_set(node) {
                Some(set) => ranks.place_of_set(feature, set, missing_left),
                None => ranks.place(feature, tree.thresholds[node]),
            };
            let missing_right = !missing_left;
            self.nodes.push(Node {
                column,
                rank,
                first: first as u8,
                step: (next - first) as u8,
                missing_right,
            });
        }
        LaneTree { nodes: nodes..self.nodes.len(), values }
    }

    /// Number of trees, with those that do not fit.
    pub(super) fn len(&self) -> usize {
        self.trees.len()
    }

    /// Whether some tree does not fit.
    pub(super) fn leaves_some_out(&self) -> bool {
        self.trees.iter().any(Option::is_none)
    }

    /// Adds the values of a tree to `sums`, unless it does not fit.
    #[inline(always)]
    pub(super) fn add<S: Simd, const N: usize>(
        &self,
        simd: S,
        tree: usize,
        block: &RankBlock<N>,
        sums: &mut [f64; N],
    ) -> bool {
        let Some(tree) = &self.trees[tree] else { return false };
        let nodes = &self.nodes[tree.nodes.clone()];
        let mut at = [0u8; N];
        if size_of::<S::u8s>() == 1 {
            pass(nodes, block, &mut at);
        } else {
            pass_vectors(simd, nodes, block, &mut at);
        }
        let values: &[f64; MAX_LEAVES] =
            self.values[tree.values..].first_chunk().expect("values are followed by enough others");
        for i in 0..N {
            sums[i] += values[usize::from(at[i])];
        }
        true
    }
}

/// Takes documents through the nodes, where the compiler finds the vectors.
#[inline(always)]
fn pass<const N: usize>(nodes: &[Node], block: &RankBlock<N>, at: &mut [u8; N]) {
    for node in nodes {
        let ranks = block.column(node.column, node.missing_right);
        for i in 0..N {
            let moves = u8::from(ranks[i] > node.rank) & u8::from(at[i] == node.first);
            at[i] += node.step & moves.wrapping_neg();
        }
    }
}

/// Takes documents through the nodes in vectors of bytes, two at a time where there are as many.
#[inline(always)]
fn pass_vectors<S: Simd, const N: usize>(simd: S, nodes: &[Node], block: &RankBlock<N>, at: &mut [u8; N]) {
    let (pairs, rest) = S::as_mut_simd_u8s(at).0.as_chunks_mut::<2>();
    let last = 2 * pairs.len();
    for (i, pair) in pairs.iter_mut().enumerate() {
        *pair = pass_some(simd, nodes, block, 2 * i);
    }
    if let [single] = rest {
        [*single] = pass_some(simd, nodes, block, last);
    }
}

#[inline(always)]
fn pass_some<S: Simd, const V: usize, const N: usize>(
    simd: S,
    nodes: &[Node],
    block: &RankBlock<N>,
    start: usize,
) -> [S::u8s; V] {
    let mut at = [simd.splat_u8s(0); V];
    for node in nodes {
        let ranks = &S::as_simd_i8s(block.column(node.column, node.missing_right)).0[start..start + V];
        let (rank, first, step) =
            (simd.splat_i8s(node.rank), simd.splat_u8s(node.first), simd.splat_u8s(node.step));
        for i in 0..V {
            let right = simd.transmute_u8s_m8s(simd.greater_than_i8s(ranks[i], rank));
            let here = simd.transmute_u8s_m8s(simd.equal_u8s(at[i], first));
            // The lesser of step and mask is step & mask, but in a form that compilers leave alone: they would put
            // `here & step` first, and so have this wait for the node before.
            at[i] = simd.add_u8s(at[i], simd.and_u8s(here, simd.min_u8s(right, step)));
        }
    }
    at
}

/// The leaves below each node.
fn leaves_below(tree: &Tree) -> Vec<usize> {
    let mut leaves = vec![0; tree.features.len()];
    for node in (0..leaves.len()).rev() {
        leaves[node] =
            [tree.left[node], tree.right[node]].iter().map(|&code| count(Child::of(code), &leaves)).sum();
    }
    leaves
}

fn count(child: Child, leaves_below: &[usize]) -> usize {
    match child {
        Child::Node(node) => leaves_below[node],
        Child::Leaf(_) => 1,
    }
}
