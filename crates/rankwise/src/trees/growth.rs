//! The settings of a tree: its shape, its regularisation, and which splits are allowed.

use super::categories::CategorySplits;
use crate::error::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The growth policy: which leaf is split next.
///
/// The names that LightGBM, XGBoost and CatBoost use for the same policies are accepted as well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GrowthPolicy {
    /// The leaf with the largest gain, wherever it is in the tree.
    #[default]
    #[serde(alias = "leaf", alias = "lossguide", alias = "Lossguide")]
    LeafWise,
    /// Level by level, from left to right.
    #[serde(alias = "depth", alias = "depthwise", alias = "Depthwise")]
    LevelWise,
    /// All leaves of a level at once, by the same test: an oblivious (symmetric) tree.
    #[serde(alias = "SymmetricTree", alias = "symmetric")]
    Oblivious,
}

/// How trees are grown.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// Which leaf is split next.
    pub policy: GrowthPolicy,
    /// The maximum number of leaves, from 2 to 65536.
    pub num_leaves: usize,
    /// The maximum number of tests from the root to a leaf; 0 for no limit other than `num_leaves`.
    pub max_depth: usize,
    /// The minimum number of documents in a leaf.
    pub min_data_in_leaf: u64,
    /// The minimum sum of second derivatives in a leaf.
    pub min_child_weight: f64,
    /// The minimum gain of a split.
    pub min_split_gain: f64,
    /// L1 penalty on the values of leaves.
    pub l1: f64,
    /// L2 penalty on the values of leaves.
    pub l2: f64,
    /// The fraction of the features that is drawn for each tree.
    pub feature_fraction: f64,
    /// The fraction of a tree's features that is drawn for each split.
    pub feature_fraction_per_split: f64,
    /// Monotone constraints, one per column: 1 if scores may only increase with the feature, −1 if they may only
    /// decrease, 0 for no constraint. Empty for no constraints at all.
    pub monotone: Vec<i8>,
    /// How splits by categories are found.
    pub categories: CategorySplits,
}

impl Default for Growth {
    fn default() -> Self {
        Growth {
            policy: GrowthPolicy::LeafWise,
            num_leaves: 31,
            max_depth: 0,
            min_data_in_leaf: 20,
            min_child_weight: 1e-3,
            min_split_gain: 0.0,
            l1: 0.0,
            l2: 0.0,
            feature_fraction: 1.0,
            feature_fraction_per_split: 1.0,
            monotone: Vec::new(),
            categories: CategorySplits::default(),
        }
    }
}

/// The largest accepted `num_leaves`.
const MAX_LEAVES: usize = 1 << 16;

/// An oblivious tree needs the histograms of all leaves of a level at once: 2,048 of them take a gigabyte for 136 features.
const MAX_OBLIVIOUS_DEPTH: usize = 12;

impl Growth {
    /// Rejects settings that are out of range or contradict each other.
    pub fn check(&self) -> Result<()> {
        let reject = |text: String| Err(Error::parameter(text));
        if self.num_leaves < 2 || self.num_leaves > MAX_LEAVES {
            return reject(format!("num_leaves is {}; it must be from 2 to 65536", self.num_leaves));
        }
        if self.policy == GrowthPolicy::Oblivious && self.oblivious_depth() > MAX_OBLIVIOUS_DEPTH {
            return reject(format!(
                "num_leaves is {}; an oblivious tree can have at most {}. Lower it, or set max_depth to at most {MAX_OBLIVIOUS_DEPTH}",
                self.num_leaves,
                1 << MAX_OBLIVIOUS_DEPTH
            ));
        }
        if self.policy == GrowthPolicy::Oblivious && !self.monotone.is_empty() {
            return reject(
                "oblivious trees do not support monotone constraints; use the growth policy `leaf-wise` or `level-wise`"
                    .into(),
            );
        }
        for (name, value) in [
            ("min_child_weight", self.min_child_weight),
            ("min_split_gain", self.min_split_gain),
            ("l1", self.l1),
            ("l2", self.l2),
            ("category_smoothing", self.categories.smoothing),
            ("category_l2", self.categories.l2),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                return reject(format!("{name} is {value}; it must be finite and not negative"));
            }
        }
        for (name, fraction) in [
            ("feature_fraction", self.feature_fraction),
            ("feature_fraction_per_split", self.feature_fraction_per_split),
        ] {
            if !(fraction > 0.0 && fraction <= 1.0) {
                return reject(format!("{name} is {fraction}; it must be above 0 and at most 1"));
            }
        }
        Ok(())
    }

    /// The maximum depth of an oblivious tree: `max_depth` if set, but no deeper than `num_leaves` allows.
    pub(super) fn oblivious_depth(&self) -> usize {
        let by_leaves = self.num_leaves.ilog2() as usize;
        if self.max_depth == 0 { by_leaves } else { self.max_depth.min(by_leaves) }
    }

    /// Whether a leaf at this depth may be split.
    pub(super) fn allows_depth(&self, depth: usize) -> bool {
        self.max_depth == 0 || depth < self.max_depth
    }

    /// The monotone constraint of a column.
    pub(super) fn direction(&self, column: usize) -> i8 {
        self.monotone.get(column).copied().unwrap_or(0)
    }

    /// `T(G)`: the gradient sum of a leaf, soft-thresholded by the L1 penalty.
    fn shrunk(&self, slope: f64) -> f64 {
        if self.l1 == 0.0 { slope } else { slope.signum() * (slope.abs() - self.l1).max(0.0) }
    }

    /// The optimal value of a leaf, `−T(G)/(H + l2)`, where `T` is soft thresholding by `l1`.
    pub(super) fn value(&self, slope: f64, curvature: f64) -> f64 {
        let stiffness = curvature + self.l2;
        if stiffness > 0.0 { -self.shrunk(slope) / stiffness } else { 0.0 }
    }

    /// Twice the reduction of the objective by a leaf at its optimal value, `T(G)² / (H + l2)`, as numerator and
    /// denominator.
    pub(super) fn leaf_gain(&self, slope: f64, curvature: f64) -> (f64, f64) {
        let shrunk = self.shrunk(slope);
        (shrunk * shrunk, curvature + self.l2)
    }

    /// Twice the reduction of the objective by a leaf with a given value.
    pub(super) fn leaf_gain_at(&self, slope: f64, curvature: f64, value: f64) -> f64 {
        -(2.0 * slope * value + (curvature + self.l2) * value * value + 2.0 * self.l1 * value.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_policies_accept_the_names_of_other_tools() {
        let policy = |name: &str| serde_json::from_value::<GrowthPolicy>(name.into()).unwrap();
        for name in ["leaf-wise", "leaf", "lossguide", "Lossguide"] {
            assert_eq!(policy(name), GrowthPolicy::LeafWise);
        }
        for name in ["level-wise", "depth", "depthwise", "Depthwise"] {
            assert_eq!(policy(name), GrowthPolicy::LevelWise);
        }
        for name in ["oblivious", "SymmetricTree", "symmetric"] {
            assert_eq!(policy(name), GrowthPolicy::Oblivious);
        }
        assert_eq!(serde_json::to_value(GrowthPolicy::LevelWise).unwrap(), "level-wise");
    }
}
