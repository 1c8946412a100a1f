//! How large an ensemble is, and how many documents went through each node.

use crate::models::TreeEnsemble;
use crate::trees::{Child, Tree};
use serde::Serialize;

/// The size of an ensemble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Outline {
    /// Its trees.
    pub trees: usize,
    /// The leaves of all trees.
    pub leaves: usize,
    /// The most tests between a root and a leaf.
    pub depth: usize,
    /// The features that some tree tests.
    pub features_used: usize,
}

/// The size of `ensemble`.
pub fn outline(ensemble: &TreeEnsemble) -> Outline {
    let trees = ensemble.trees();
    let mut tested: Vec<u32> = trees.iter().flat_map(|tree| &tree.features).copied().collect();
    tested.sort_unstable();
    tested.dedup();
    Outline {
        trees: trees.len(),
        leaves: trees.iter().map(|tree| tree.values.len()).sum(),
        depth: trees.iter().map(depth).max().unwrap_or(0),
        features_used: tested.len(),
    }
}

/// The most tests between the root and a leaf.
pub fn depth(tree: &Tree) -> usize {
    let mut depths = vec![0; tree.features.len()];
    let mut deepest = 0;
    for node in 0..depths.len() {
        let below = depths[node] + 1;
        deepest = deepest.max(below);
        for code in [tree.left[node], tree.right[node]] {
            if let Child::Node(child) = Child::of(code) {
                depths[child] = below;
            }
        }
    }
    deepest
}

/// The training documents (or their weight) that reached each inner node: those of the leaves below it.
pub fn node_covers(tree: &Tree) -> Vec<f64> {
    let mut covers = vec![0.0; tree.features.len()];
    // Children come after their parents.
    for node in (0..covers.len()).rev() {
        covers[node] = cover(tree, &covers, tree.left[node]) + cover(tree, &covers, tree.right[node]);
    }
    covers
}

/// The cover of a child, where those of the nodes are known.
pub(super) fn cover(tree: &Tree, covers: &[f64], code: i32) -> f64 {
    match Child::of(code) {
        Child::Node(node) => covers[node],
        Child::Leaf(leaf) => f64::from(tree.covers[leaf]),
    }
}
