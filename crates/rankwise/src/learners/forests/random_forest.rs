//! Random forest: regression trees on queries drawn with repetition, averaged (Breiman 2001).
//!
//! ```text
//! F(x) = 1/T Σ_t tree_t(x),   tree_t fits the grades of as many queries as there are, drawn with repetition
//! ```
//!
//! Whole queries are drawn, not documents: those of one query are alike, and a tree that has seen some knows the rest.

use crate::card::Card;
use crate::error::{Error, Result};
use crate::learners::boosting::mart::mean_grade;
use crate::learners::{Fitted, Learner, Task};
use crate::models::{Model, Outcome, Record, TreeEnsemble};
use crate::rng;
use crate::trees::{Binned, Grower, Growth, MAX_BINS, Tree};
use crate::watch::{Step, Watch};
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Averaged regression trees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RandomForest {
    /// How many trees, at least 1.
    pub trees: u64,
    /// The most leaves of a tree, 2 to 65536.
    pub leaves: usize,
    /// The most tests from root to leaf; 0 for no limit but the leaves.
    pub depth: usize,
    /// The fewest documents in a leaf, at least 1.
    pub min_rows: u64,
    /// Share of the features drawn for each split, above 0 and at most 1.
    pub split_features: f64,
    /// Queries drawn for each tree, as a share of all, above 0.
    pub bagging: f64,
    /// The most bins that a feature's values are put in, 2 to 255.
    pub bins: usize,
}

impl Default for RandomForest {
    fn default() -> Self {
        RandomForest {
            trees: 300,
            leaves: 255,
            depth: 0,
            min_rows: 5,
            split_features: 0.3,
            bagging: 1.0,
            bins: MAX_BINS,
        }
    }
}

impl Learner for RandomForest {
    const CARD: Card = Card {
        name: "random-forest",
        title: "Random forest",
        summary: "Regression trees on queries drawn with repetition, averaged.",
        citations: &["breiman2001random"],
    };

    fn check(&self) -> Result<()> {
        let refuse = |text: String| Err(Error::parameter(text));
        if self.trees == 0 {
            return refuse("trees is 0; it must be at least 1".into());
        }
        if self.min_rows == 0 {
            return refuse("min_rows is 0; it must be at least 1".into());
        }
        if !(self.bagging > 0.0 && self.bagging.is_finite()) {
            return refuse(format!("bagging is {}; it must be above 0", self.bagging));
        }
        if !(2..=MAX_BINS).contains(&self.bins) {
            return refuse(format!("bins is {}; it must be from 2 to {MAX_BINS}", self.bins));
        }
        self.growth().check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        let (binned, growth) = (Binned::new(task.train, self.bins), self.growth());
        let mut grower = Grower::new(&binned, &growth);
        let base = mean_grade(task);
        let mut trees: Vec<Tree> = Vec::new();
        let mut outcome = Outcome::Converged;
        for number in 0..self.trees {
            if watch.stop().requested() {
                outcome = Outcome::Interrupted;
                break;
            }
            let bag = self.draw(task, number, base);
            let seed = rng::derive(task.seed, &[1, number]);
            trees.push(grower.grow(&bag.slopes, &bag.weights, Some(&bag.rows), seed)?.tree);
            let leaves = trees.last().map_or(0, |tree| tree.values.len());
            watch.step(Step {
                done: number + 1,
                total: Some(self.trees),
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

/// What one tree learns from.
struct Bag {
    /// The documents of the queries drawn, ascending.
    rows: Vec<u32>,
    slopes: Vec<f64>,
    weights: Vec<f64>,
}

impl RandomForest {
    fn growth(&self) -> Growth {
        Growth {
            leaves: self.leaves,
            depth: self.depth,
            min_rows: self.min_rows,
            split_features: self.split_features,
            ..Growth::default()
        }
    }

    /// Queries drawn with repetition; how often, times their weight, is what their documents count.
    fn draw(&self, task: &Task<'_>, number: u64, base: f64) -> Bag {
        let train = task.train;
        let mut random = rng::stream(task.seed, &[0, number]);
        let mut times = vec![0u32; train.query_count()];
        let draws = ((times.len() as f64 * self.bagging).round() as usize).max(1);
        (0..draws).for_each(|_| times[random.random_range(0..train.query_count())] += 1);
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
