//! Sampling of features, per tree and per split.

use super::growth::Growth;
use crate::rng;
use rand::seq::SliceRandom;

/// The features a tree may use.
pub(super) struct FeatureSample {
    of_tree: Vec<usize>,
    count: usize,
    fraction_per_split: f64,
    seed: u64,
}

impl FeatureSample {
    pub(super) fn new(count: usize, growth: &Growth, seed: u64) -> FeatureSample {
        let all: Vec<usize> = (0..count).collect();
        let of_tree = drawn(&all, growth.feature_fraction, seed, 0);
        FeatureSample { of_tree, count, fraction_per_split: growth.feature_fraction_per_split, seed }
    }

    /// Whether every split draws its own features.
    pub(super) fn is_by_split(&self) -> bool {
        self.fraction_per_split < 1.0
    }

    /// For each feature, whether split number `id` may use it.
    pub(super) fn for_split(&self, id: u64) -> Vec<bool> {
        let mut chosen = vec![false; self.count];
        drawn(&self.of_tree, self.fraction_per_split, self.seed, id + 1)
            .into_iter()
            .for_each(|f| chosen[f] = true);
        chosen
    }
}

/// Draws a fraction of `from`, rounded up, by the random stream `id`.
fn drawn(from: &[usize], fraction: f64, seed: u64, id: u64) -> Vec<usize> {
    let wanted = (from.len() as f64 * fraction).ceil() as usize;
    if wanted >= from.len() {
        return from.to_vec();
    }
    let mut random = rng::stream(seed, &[id]);
    from.to_vec().partial_shuffle(&mut random, wanted).0.to_vec()
}
