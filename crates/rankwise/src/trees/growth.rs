//! What a tree may be: its shape, and which splits count.

use crate::error::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which leaf is split next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The one that gains most, wherever it is.
    #[default]
    Leaf,
    /// Level by level.
    Depth,
    /// All leaves of a level by one test: an oblivious tree.
    Oblivious,
}

/// How trees are grown.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// Which leaf is split next.
    pub order: Order,
    /// The most leaves, at least 2.
    pub leaves: usize,
    /// The most tests on a path; 0 for no limit but the leaves.
    pub depth: usize,
    /// The fewest documents in a leaf.
    pub min_rows: u64,
    /// The least sum of second derivatives in a leaf.
    pub min_weight: f64,
    /// The least gain of a split.
    pub min_gain: f64,
    /// Penalty of a leaf's value, absolute.
    pub l1: f64,
    /// Penalty of a leaf's value, squared.
    pub l2: f64,
    /// Share of the features drawn for each tree.
    pub tree_features: f64,
    /// Share of a tree's features drawn for each split.
    pub split_features: f64,
    /// For each column: 1 where scores may only rise with it, −1 only fall, 0 either; empty for no such demands.
    pub monotone: Vec<i8>,
}

impl Default for Growth {
    fn default() -> Self {
        Growth {
            order: Order::Leaf,
            leaves: 31,
            depth: 0,
            min_rows: 20,
            min_weight: 1e-3,
            min_gain: 0.0,
            l1: 0.0,
            l2: 0.0,
            tree_features: 1.0,
            split_features: 1.0,
            monotone: Vec::new(),
        }
    }
}

/// No tree has more leaves.
const MAX_LEAVES: usize = 1 << 16;

/// An oblivious tree needs the histograms of all leaves of a level at once: 2,048 of them are a gigabyte for 136 features.
const MAX_OBLIVIOUS_DEPTH: usize = 12;

impl Growth {
    /// Refuses what no tree could be grown by.
    pub fn check(&self) -> Result<()> {
        let refuse = |text: String| Err(Error::parameter(text));
        if self.leaves < 2 || self.leaves > MAX_LEAVES {
            return refuse(format!("leaves is {}; it must be from 2 to 65536", self.leaves));
        }
        if self.order == Order::Oblivious && self.oblivious_depth() > MAX_OBLIVIOUS_DEPTH {
            return refuse(format!(
                "leaves is {}; an oblivious tree can have at most {}, or give it a depth of at most {MAX_OBLIVIOUS_DEPTH}",
                self.leaves,
                1 << MAX_OBLIVIOUS_DEPTH
            ));
        }
        if self.order == Order::Oblivious && !self.monotone.is_empty() {
            return refuse("oblivious trees cannot keep to monotone features; use another order".into());
        }
        for (name, value) in
            [("min_weight", self.min_weight), ("min_gain", self.min_gain), ("l1", self.l1), ("l2", self.l2)]
        {
            if !(value >= 0.0 && value.is_finite()) {
                return refuse(format!("{name} is {value}; it must be finite and not negative"));
            }
        }
        for (name, share) in [("tree_features", self.tree_features), ("split_features", self.split_features)]
        {
            if !(share > 0.0 && share <= 1.0) {
                return refuse(format!("{name} is {share}; it must be above 0 and at most 1"));
            }
        }
        Ok(())
    }

    /// The depth of an oblivious tree: as told, and no deeper than its leaves allow.
    pub(super) fn oblivious_depth(&self) -> usize {
        let by_leaves = self.leaves.ilog2() as usize;
        if self.depth == 0 { by_leaves } else { self.depth.min(by_leaves) }
    }

    /// Whether a leaf this deep may be split.
    pub(super) fn allows_depth(&self, depth: usize) -> bool {
        self.depth == 0 || depth < self.depth
    }

    /// The demand on a column.
    pub(super) fn direction(&self, column: usize) -> i8 {
        self.monotone.get(column).copied().unwrap_or(0)
    }

    /// The pull of a leaf's documents that is left after the absolute penalty.
    fn pull(&self, slope: f64) -> f64 {
        if self.l1 == 0.0 { slope } else { slope.signum() * (slope.abs() - self.l1).max(0.0) }
    }

    /// The value of a leaf: `−T(G)/(H + l2)`, where `T` takes the absolute penalty off.
    pub(super) fn value(&self, slope: f64, curvature: f64) -> f64 {
        let stiffness = curvature + self.l2;
        if stiffness > 0.0 { -self.pull(slope) / stiffness } else { 0.0 }
    }

    /// What a leaf at its best value takes off the objective, twice, as a fraction: `T(G)² / (H + l2)`.
    pub(super) fn worth(&self, slope: f64, curvature: f64) -> (f64, f64) {
        let pull = self.pull(slope);
        (pull * pull, curvature + self.l2)
    }

    /// The same at another value.
    pub(super) fn worth_at(&self, slope: f64, curvature: f64, value: f64) -> f64 {
        -(2.0 * slope * value + (curvature + self.l2) * value * value + 2.0 * self.l1 * value.abs())
    }
}
