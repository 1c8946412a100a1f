//! The parameters that all boosted trees share.

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::trees::{Growth, GrowthPolicy, MAX_BINS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How trees are grown and added up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(inline)]
pub struct Boosting {
    /// The most rounds of trees, at least 1; fewer where validation queries say so.
    pub rounds: u64,
    /// How far each tree goes, above 0 and at most 1.
    pub rate: f64,
    /// The most leaves of a tree, 2 to 65536.
    pub leaves: usize,
    /// The most tests from root to leaf; 0 for no limit but the leaves.
    pub depth: usize,
    /// Which leaf is split next: `leaf` (the best one), `depth` (level by level) or `oblivious` (one test a level).
    pub order: GrowthPolicy,
    /// The most bins that a feature's values are put in, 2 to 255.
    pub bins: usize,
    /// The fewest documents in a leaf, at least 1; in oblivious trees, for a split of a leaf to count.
    pub min_rows: u64,
    /// The least sum of second derivatives in a leaf, not negative.
    pub min_weight: f64,
    /// The least gain of a split, not negative.
    pub min_gain: f64,
    /// Absolute penalty of a leaf's value, not negative.
    pub l1: f64,
    /// Squared penalty of a leaf's value, not negative.
    pub l2: f64,
    /// Share of the queries drawn for each tree, above 0 and at most 1.
    pub bagging: f64,
    /// Share of the features drawn for each tree, above 0 and at most 1.
    pub tree_features: f64,
    /// Share of a tree's features drawn for each split, above 0 and at most 1.
    pub split_features: f64,
    /// Features that scores may only rise or fall with, as `5:up,title_bm25:down`; empty for none.
    pub monotone: String,
    /// Probability that a tree is left out while the next is grown (DART), 0 for plain boosting, below 1.
    pub drop: f64,
    /// Rounds without a better value on the validation queries after which to stop; 0 for never.
    pub patience: u64,
}

impl Default for Boosting {
    fn default() -> Self {
        Boosting {
            rounds: 100,
            rate: 0.1,
            leaves: 31,
            depth: 0,
            order: GrowthPolicy::LeafWise,
            bins: MAX_BINS,
            min_rows: 20,
            min_weight: 1e-3,
            min_gain: 0.0,
            l1: 0.0,
            l2: 0.0,
            bagging: 1.0,
            tree_features: 1.0,
            split_features: 1.0,
            monotone: String::new(),
            drop: 0.0,
            patience: 50,
        }
    }
}

impl Boosting {
    /// Refuses what is out of range.
    pub fn check(&self) -> Result<()> {
        let refuse = |text: String| Err(Error::parameter(text));
        if self.rounds == 0 {
            return refuse("rounds is 0; it must be at least 1".into());
        }
        for (name, share) in [("rate", self.rate), ("bagging", self.bagging)] {
            if !(share > 0.0 && share <= 1.0) {
                return refuse(format!("{name} is {share}; it must be above 0 and at most 1"));
            }
        }
        if !(2..=MAX_BINS).contains(&self.bins) {
            return refuse(format!("bins is {}; it must be from 2 to {MAX_BINS}", self.bins));
        }
        if self.min_rows == 0 {
            return refuse("min_rows is 0; it must be at least 1".into());
        }
        if !(0.0..1.0).contains(&self.drop) {
            return refuse(format!("drop is {}; it must be at least 0 and below 1", self.drop));
        }
        self.demands().map(drop)?;
        Growth { monotone: if self.monotone.is_empty() { vec![] } else { vec![1] }, ..self.growth_as_is() }
            .check()
    }

    /// How trees are grown on `train`.
    pub fn growth(&self, train: &Dataset) -> Result<Growth> {
        Ok(Growth { monotone: self.directions(train)?, ..self.growth_as_is() })
    }

    /// Whether every round sees all queries and features.
    pub(super) fn draws_nothing(&self) -> bool {
        self.bagging == 1.0 && self.tree_features == 1.0 && self.split_features == 1.0 && self.drop == 0.0
    }

    fn growth_as_is(&self) -> Growth {
        Growth {
            policy: self.order,
            num_leaves: self.leaves,
            max_depth: self.depth,
            min_data_in_leaf: self.min_rows,
            min_child_weight: self.min_weight,
            min_split_gain: self.min_gain,
            l1: self.l1,
            l2: self.l2,
            feature_fraction: self.tree_features,
            feature_fraction_per_split: self.split_features,
            monotone: Vec::new(),
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
                    "monotone has the part `{part}`; it should read FEATURE:up or FEATURE:down"
                ))),
            })
            .collect()
    }

    /// The direction of each column of `train`; empty when there are no demands.
    fn directions(&self, train: &Dataset) -> Result<Vec<i8>> {
        let demands = self.demands()?;
        if demands.is_empty() {
            return Ok(Vec::new());
        }
        let mut directions = vec![0; train.width()];
        for (name, direction) in demands {
            let column = (0..train.width()).find(|&c| train.columns().name(c) == name).ok_or_else(|| {
                Error::parameter(format!(
                    "monotone names the feature `{name}`, which the training data lacks"
                ))
            })?;
            directions[column] = direction;
        }
        Ok(directions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_range_is_refused_by_name() {
        let refused = |change: fn(&mut Boosting)| {
            let mut boosting = Boosting::default();
            change(&mut boosting);
            boosting.check().unwrap_err().to_string()
        };
        assert!(refused(|b| b.rounds = 0).contains("rounds is 0"));
        assert!(refused(|b| b.rate = f64::NAN).contains("rate is NaN"));
        assert!(refused(|b| b.bins = 256).contains("bins is 256"));
        assert!(refused(|b| b.leaves = 1).contains("leaves is 1"));
        assert!(refused(|b| b.l2 = -1.0).contains("l2 is -1"));
        assert!(refused(|b| b.drop = 1.0).contains("drop is 1"));
        assert!(refused(|b| b.monotone = "3".into()).contains("`3`"));
        assert!(
            refused(|b| (b.order, b.leaves) = (GrowthPolicy::Oblivious, 1 << 13)).contains("leaves is 8192")
        );
        assert!(
            refused(|b| (b.order, b.monotone) = (GrowthPolicy::Oblivious, "3:up".into()))
                .contains("oblivious")
        );
        assert!(Boosting { monotone: "3:up, 4:down".into(), ..Boosting::default() }.check().is_ok());
    }
}
