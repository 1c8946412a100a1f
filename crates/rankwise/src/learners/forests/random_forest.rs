//! Random forest: the average of regression trees on queries sampled with replacement (Breiman 2001).
//!
//! ```text
//! F(x) = 1/T Σ_t tree_t(x),   tree_t fits the labels of queries sampled with replacement
//! ```
//!
//! Whole queries are sampled, not documents: documents of one query are alike, so a tree that has seen some
//! of them knows the others.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::learners::boosting::mart::mean_label;
use crate::learners::parameters::{check_above_zero, check_at_least};
use crate::learners::{Fitted, Learner, Task};
use crate::models::{Model, Outcome, Record, TreeEnsemble};
use crate::rng;
use crate::trees::{Binned, CategorySplits, Grower, Growth, MAX_BINS, Tree};
use crate::watch::{Progress, Watch};
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bins of a typical feature, for a forecast.
const BINS_IN_USE: f64 = 32.0;

/// Averaged regression trees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RandomForest {
    /// Number of trees, at least 1.
    pub num_trees: u64,
    /// Maximum number of leaves of a tree, 2 to 65536.
    pub num_leaves: usize,
    /// Maximum number of splits from root to leaf; 0 for no limit but the leaves.
    pub max_depth: usize,
    /// Minimum number of documents in a leaf, at least 1.
    pub min_data_in_leaf: u64,
    /// Fraction of features sampled for each split, above 0 and at most 1.
    pub feature_fraction_per_split: f64,
    /// Queries sampled with replacement for each tree, as a fraction of all, above 0.
    pub bagging_fraction: f64,
    /// Maximum number of bins per feature, 2 to 255.
    pub max_bin: usize,
}

impl Default for RandomForest {
    fn default() -> Self {
        RandomForest {
            num_trees: 300,
            num_leaves: 255,
            max_depth: 0,
            min_data_in_leaf: 5,
            feature_fraction_per_split: 0.3,
            bagging_fraction: 1.0,
            max_bin: MAX_BINS,
        }
    }
}

impl Learner for RandomForest {
    const CARD: Card = Card {
        name: "random-forest",
        title: "Random forest",
        summary: "Average of regression trees on the labels, each grown on queries sampled with replacement.",
        citations: &["breiman2001random"],
    };
    const DISTRIBUTES: bool = true;
    const TAKES_CATEGORIES: bool = true;
    const TAKES_CLICKS: bool = true;

    fn check(&self) -> Result<()> {
        check_at_least("num_trees", self.num_trees, 1)?;
        check_at_least("min_data_in_leaf", self.min_data_in_leaf, 1)?;
        check_above_zero("bagging_fraction", self.bagging_fraction)?;
        if !(2..=MAX_BINS).contains(&self.max_bin) {
            let max_bin = self.max_bin;
            return Err(Error::parameter(format!("max_bin is {max_bin}; it must be from 2 to {MAX_BINS}")));
        }
        self.growth().check()
    }

    /// A histogram of all features for each leaf.
    fn steps(&self, train: &Dataset) -> f64 {
        let leaves = (train.len() as u64 / self.min_data_in_leaf).min(self.num_leaves as u64);
        self.num_trees as f64 * leaves as f64 * train.width() as f64 * BINS_IN_USE
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        let (binned, growth) = (Binned::new(task.train, self.max_bin), self.growth());
        let mut grower = Grower::new(&binned, &growth);
        let base = mean_label(task);
        let mut trees: Vec<Tree> = Vec::new();
        let mut outcome = Outcome::Converged;
        for number in 0..self.num_trees {
            if watch.stop().requested() {
                outcome = Outcome::Interrupted;
                break;
            }
            let bag = self.draw(task, number, base);
            let seed = rng::derive(task.seed, &[1, number]);
            trees.push(grower.grow(&bag.slopes, &bag.weights, Some(&bag.rows), seed)?.tree);
            let leaves = trees.last().map_or(0, |tree| tree.values.len());
            watch.step(Progress {
                done: number + 1,
                total: Some(self.num_trees),
                what: "leaves",
                value: leaves as f64,
            });
        }
        let count = trees.len().max(1) as f64;
        trees.iter_mut().for_each(|tree| tree.scale(1.0 / count));
        let leaves = trees.iter().map(|tree| tree.values.len()).sum::<usize>() as f64 / count;
        let record = Record {
            outcome,
            rounds: trees.len() as u64,
            figures: vec![("leaves a tree".into(), leaves)],
            notes: Vec::new(),
        };
        let ensemble = TreeEnsemble::sum(task.train.width(), base, trees)?;
        Ok(Fitted { model: Model::Trees(ensemble), record })
    }
}

/// The training sample of one tree.
struct Bag {
    /// The documents of the sampled queries, ascending.
    rows: Vec<u32>,
    slopes: Vec<f64>,
    weights: Vec<f64>,
}

impl RandomForest {
    fn growth(&self) -> Growth {
        Growth {
            num_leaves: self.num_leaves,
            max_depth: self.max_depth,
            min_data_in_leaf: self.min_data_in_leaf,
            feature_fraction_per_split: self.feature_fraction_per_split,
            // The average of many trees needs no shrinkage of single ones.
            categories: CategorySplits { l2: 0.0, ..CategorySplits::default() },
            ..Growth::default()
        }
    }

    /// Samples queries with replacement; the weight of a document is that of its query times how often it was
    /// drawn.
    fn draw(&self, task: &Task<'_>, number: u64, base: f64) -> Bag {
        let train = task.train;
        let mut random = rng::stream(task.seed, &[0, number]);
        let whole = train.whole();
        let mut times = vec![0u32; train.query_count()];
        let draws = ((whole.queries as f64 * self.bagging_fraction).round() as usize).max(1);
        for _ in 0..draws {
            // Another worker may have the query.
            let drawn = random.random_range(0..whole.queries).checked_sub(whole.first_query);
            if let Some(times) = drawn.and_then(|own| times.get_mut(own)) {
                *times += 1;
            }
        }
        let mut bag =
            Bag { rows: Vec::new(), slopes: vec![0.0; train.len()], weights: vec![0.0; train.len()] };
        for (query, &times) in train.queries().zip(&times).filter(|(_, times)| **times > 0) {
            let weight = f64::from(times) * query.weight();
            for (row, &grade) in query.range().zip(query.labels()) {
                bag.rows.push(row as u32);
                bag.slopes[row] = weight * (base - f64::from(grade));
                bag.weights[row] = weight;
            }
        }
        bag
    }
}
