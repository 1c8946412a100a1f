//! Features drawn for a tree and for a split.

use super::growth::Growth;
use crate::rng;
use rand::seq::SliceRandom;

/// The features a tree may use.
pub(super) struct FeatureSample {
    of_tree: Vec<usize>,
    count: usize,
    split_share: f64,
    seed: u64,
}

impl FeatureSample {
    pub(super) fn new(count: usize, growth: &Growth, seed: u64) -> FeatureSample {
        let all: Vec<usize> = (0..count).collect();
        let of_tree = drawn(&all, growth.tree_features, seed, 0);
        FeatureSample { of_tree, count, split_share: growth.split_features, seed }
    }

    /// For each feature, whether split number `id` may use it.
    pub(super) fn for_split(&self, id: u64) -> Vec<bool> {
        let mut chosen = vec![false; self.count];
        drawn(&self.of_tree, self.split_share, self.seed, id + 1).into_iter().for_each(|f| chosen[f] = true);
        chosen
    }
}

/// A share of `from`, rounded up, drawn by the stream called `id`.
fn drawn(from: &[usize], share: f64, seed: u64, id: u64) -> Vec<usize> {
    let wanted = (from.len() as f64 * share).ceil() as usize;
    if wanted >= from.len() {
        return from.to_vec();
    }
    let mut random = rng::stream(seed, &[id]);
    from.to_vec().partial_shuffle(&mut random, wanted).0.to_vec()
}
