//! The parameters of boosted trees.

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::learners::parameters::check_at_least;
use crate::trees::{CategorySplits, Growth, GrowthPolicy, MAX_BINS, MAX_WIDE_BINS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How boosted trees are grown and summed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(inline)]
pub struct TreesParameters {
    /// Maximum number of boosting iterations, at least 1; early stopping may end training before.
    pub iterations: u64,
    /// Factor by which each tree is shrunk, above 0 and at most 1.
    pub learning_rate: f64,
    /// Maximum number of leaves of a tree, 2 to 65536.
    pub num_leaves: usize,
    /// Maximum number of splits from root to leaf; 0 for no limit other than `num_leaves`.
    pub max_depth: usize,
    /// Which leaf is split next: `leaf-wise` (the one with the highest gain), `level-wise` or `oblivious` (one split per level).
    pub growth_policy: GrowthPolicy,
    /// Maximum number of bins per feature, 2 to 65535; above 255 training takes longer and needs more memory.
    pub max_bin: usize,
    /// Minimum number of documents in a leaf, at least 1; in oblivious trees, for a leaf's split to count.
    pub min_data_in_leaf: u64,
    /// Minimum sum of second derivatives in a leaf, at least 0.
    pub min_child_weight: f64,
    /// Minimum gain of a split, at least 0.
    pub min_split_gain: f64,
    /// L1 penalty on leaf values, at least 0.
    pub l1: f64,
    /// L2 penalty on leaf values, at least 0.
    pub l2: f64,
    /// Fraction of queries sampled for each tree, above 0 and at most 1.
    pub bagging_fraction: f64,
    /// Fraction of features sampled for each tree, above 0 and at most 1.
    pub feature_fraction: f64,
    /// Fraction of a tree's features sampled for each split, above 0 and at most 1.
    pub feature_fraction_per_split: f64,
    /// Features with which scores may only rise or fall, as `5:up,title_bm25:down`; empty for none.
    pub monotone: String,
    /// Categorical features with at most this many categories are split one category against the rest.
    pub max_onehot_categories: usize,
    /// Maximum number of categories that a split sends left, at least 1.
    pub max_categories: usize,
    /// Added to the curvature of a category when categories are put in order; rarer ones are not told apart. At least 0.
    pub category_smoothing: f64,
    /// L2 penalty on the values of leaves that a set of several categories made, added to `l2`, at least 0.
    pub category_l2: f64,
    /// Minimum number of documents by which the sets of categories that are tried differ.
    pub min_data_per_category_group: u64,
    /// Probability that a tree is left out while the next one is grown (DART), at least 0 and below 1; 0 for plain boosting.
    pub dropout: f64,
    /// Stop after this many iterations without a better value on the validation queries; 0 for never.
    pub early_stopping_rounds: u64,
}

impl Default for TreesParameters {
    fn default() -> Self {
        TreesParameters {
            iterations: 200,
            learning_rate: 0.05,
            num_leaves: 16,
            max_depth: 0,
            growth_policy: GrowthPolicy::LeafWise,
            max_bin: MAX_BINS,
            min_data_in_leaf: 20,
            min_child_weight: 1e-3,
            min_split_gain: 0.0,
            l1: 0.0,
            l2: 0.0,
            bagging_fraction: 1.0,
            feature_fraction: 1.0,
            feature_fraction_per_split: 1.0,
            monotone: String::new(),
            max_onehot_categories: 4,
            max_categories: 32,
            category_smoothing: 10.0,
            category_l2: 10.0,
            min_data_per_category_group: 100,
            dropout: 0.0,
            early_stopping_rounds: 50,
        }
    }
}

impl TreesParameters {
    /// Rejects values that are out of range.
    pub fn check(&self) -> Result<()> {
        let refuse = |text: String| Err(Error::parameter(text));
        check_at_least("iterations", self.iterations, 1)?;
        let fractions = [("learning_rate", self.learning_rate), ("bagging_fraction", self.bagging_fraction)];
        for (name, fraction) in fractions {
            if !(fraction > 0.0 && fraction <= 1.0) {
                return refuse(format!("{name} is {fraction}; it must be above 0 and at most 1"));
            }
        }
        if !(2..=MAX_WIDE_BINS).contains(&self.max_bin) {
            return refuse(format!("max_bin is {}; it must be from 2 to {MAX_WIDE_BINS}", self.max_bin));
        }
        check_at_least("min_data_in_leaf", self.min_data_in_leaf, 1)?;
        check_at_least("max_categories", self.max_categories as u64, 1)?;
        if !(0.0..1.0).contains(&self.dropout) {
            return refuse(format!("dropout is {}; it must be at least 0 and below 1", self.dropout));
        }
        self.demands().map(drop)?;
        Growth { monotone: if self.monotone.is_empty() { vec![] } else { vec![1] }, ..self.growth_as_is() }
            .check()
    }

    /// How trees are grown on `train`.
    pub fn growth(&self, train: &Dataset) -> Result<Growth> {
        Ok(Growth { monotone: self.directions(train)?, ..self.growth_as_is() })
    }

    /// Whether every round uses all queries and features.
    pub(super) fn draws_nothing(&self) -> bool {
        self.bagging_fraction == 1.0
            && self.feature_fraction == 1.0
            && self.feature_fraction_per_split == 1.0
            && self.dropout == 0.0
    }

    fn growth_as_is(&self) -> Growth {
        Growth {
            policy: self.growth_policy,
            num_leaves: self.num_leaves,
            max_depth: self.max_depth,
            min_data_in_leaf: self.min_data_in_leaf,
            min_child_weight: self.min_child_weight,
            min_split_gain: self.min_split_gain,
            l1: self.l1,
            l2: self.l2,
            feature_fraction: self.feature_fraction,
            feature_fraction_per_split: self.feature_fraction_per_split,
            monotone: Vec::new(),
            categories: CategorySplits {
                max_onehot: self.max_onehot_categories,
                max_categories: self.max_categories,
                smoothing: self.category_smoothing,
                l2: self.category_l2,
                min_data_per_group: self.min_data_per_category_group,
            },
        }
    }

    /// Names and directions of the monotone features.
    fn demands(&self) -> Result<Vec<(&str, i8)>> {
        let parts = self.monotone.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts
            .map(|part| match part.rsplit_once(':') {
                Some((name, "up")) => Ok((name.trim(), 1)),
                Some((name, "down")) => Ok((name.trim(), -1)),
                _ => Err(Error::parameter(format!(
                    "monotone has the entry `{part}`; it must have the form FEATURE:up or FEATURE:down"
                ))),
            })
            .collect()
    }

    /// The direction of each column of `train`; empty if there are no constraints.
    fn directions(&self, train: &Dataset) -> Result<Vec<i8>> {
        let demands = self.demands()?;
        if demands.is_empty() {
            return Ok(Vec::new());
        }
        let mut directions = vec![0; train.width()];
        for (name, direction) in demands {
            let column = (0..train.width()).find(|&c| train.columns().name(c) == name).ok_or_else(|| {
                Error::parameter(format!(
                    "monotone names the feature `{name}`, which is not in the training data"
                ))
            })?;
            if train.columns().categories.contains(column) {
                return Err(Error::parameter(format!(
                    "monotone names the feature `{name}`, which is categorical: categories have no order in which scores \
                     could rise or fall"
                )));
            }
            directions[column] = direction;
        }
        Ok(directions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_rejected_by_name() {
        let refused = |change: fn(&mut TreesParameters)| {
            let mut boosting = TreesParameters::default();
            change(&mut boosting);
            boosting.check().unwrap_err().to_string()
        };
        assert!(refused(|b| b.iterations = 0).contains("iterations is 0"));
        assert!(refused(|b| b.learning_rate = f64::NAN).contains("learning_rate is NaN"));
        assert!(refused(|b| b.max_bin = 65_536).contains("max_bin is 65536"));
        assert!(refused(|b| b.num_leaves = 1).contains("leaves is 1"));
        assert!(refused(|b| b.l2 = -1.0).contains("l2 is -1"));
        assert!(refused(|b| b.max_categories = 0).contains("max_categories is 0"));
        assert!(refused(|b| b.category_l2 = -1.0).contains("category_l2 is -1"));
        assert!(refused(|b| b.dropout = 1.0).contains("dropout is 1"));
        assert!(refused(|b| b.monotone = "3".into()).contains("`3`"));
        assert!(
            refused(|b| (b.growth_policy, b.num_leaves) = (GrowthPolicy::Oblivious, 1 << 13))
                .contains("leaves is 8192")
        );
        assert!(
            refused(|b| (b.growth_policy, b.monotone) = (GrowthPolicy::Oblivious, "3:up".into()))
                .contains("oblivious")
        );
        assert!(
            TreesParameters { monotone: "3:up, 4:down".into(), ..TreesParameters::default() }.check().is_ok()
        );
    }
}
