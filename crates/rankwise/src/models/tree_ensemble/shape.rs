//! A tree ensemble as a shape of model.

use super::substitution::Rewalk;
use super::{COMPILE_AFTER, Combine, Scratch, TreeEnsemble};
use crate::data::{MAX_CATEGORY, Row, Rows};
use crate::error::{Error, Result};
use crate::models::insight::{Explain, Forest, Splits, Substitute};
use crate::models::interchange::{EngineModel, OnnxGraph, TrialValues};
use crate::models::shape::{ScoreRows, Shape};
use std::collections::{BTreeMap, BTreeSet};

impl Shape for TreeEnsemble {
    fn width(&self) -> usize {
        self.width
    }

    fn prepare(&self, rows: usize) {
        if rows >= COMPILE_AFTER {
            self.compile();
        }
    }

    fn scorer(&self) -> Box<dyn ScoreRows + '_> {
        Box::new(TreeScorer { ensemble: self, scratch: Scratch::default() })
    }

    fn used_columns(&self) -> Vec<bool> {
        let mut used = vec![false; self.width];
        for &feature in self.trees.iter().flat_map(|tree| &tree.features) {
            used[feature as usize] = true;
        }
        used
    }

    fn splits(&self) -> Option<Vec<Splits>> {
        let mut splits = vec![Splits::default(); self.width];
        for tree in &self.trees {
            for (&feature, &gain) in tree.features.iter().zip(&tree.gains) {
                let splits = &mut splits[feature as usize];
                splits.count += 1;
                splits.gain += f64::from(gain);
            }
        }
        Some(splits)
    }

    fn explain(&self) -> Result<Box<dyn Explain + '_>> {
        if self.combine != Combine::Sum {
            return Err(Error::parameter(
                "the model combines several outputs into a score, so its scores are not sums of contributions and \
                 cannot be explained; models whose trees add up to the score can",
            ));
        }
        let forest = Forest::new(self, &self.used_columns())?;
        Ok(Box::new(TreeContributions { base: self.base[0] + forest.expectation(), forest }))
    }

    fn substitute<'a>(&'a self, columns: &'a [usize]) -> Box<dyn Substitute + 'a> {
        Box::new(Rewalk::new(self, columns))
    }

    fn engine_model(&self) -> Result<EngineModel<'_>> {
        self.sum_of_trees().map(EngineModel::Trees)
    }

    fn sum_of_trees(&self) -> Result<&TreeEnsemble> {
        match self.combine {
            Combine::Sum => Ok(self),
            _ => Err(Error::model(
                "the model combines several outputs into a score, and this format holds only sums of trees",
            )),
        }
    }

    fn write_onnx(&self, graph: &mut OnnxGraph, notes: &mut Vec<String>) -> Result<()> {
        graph.trees(self, notes)
    }

    /// Every threshold, and the numbers next to it; of categories, all codes, and some that are unseen.
    fn trial_values(&self) -> TrialValues {
        let mut by_column: BTreeMap<usize, Vec<f32>> = BTreeMap::new();
        let mut categories: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
        for tree in &self.trees {
            for (node, &feature) in tree.features.iter().enumerate() {
                let (feature, t) = (feature as usize, tree.thresholds[node]);
                match tree.category_set(node) {
                    // And the next codes, most of which are in no set.
                    Some(set) => categories
                        .entry(feature)
                        .or_default()
                        .extend(set.iter().flat_map(|&code| [code, (code + 1).min(MAX_CATEGORY)])),
                    None => by_column
                        .entry(feature)
                        .or_default()
                        .extend([t, t.next_up(), t.next_down()].into_iter().filter(|x| x.is_finite())),
                }
            }
        }
        let categories = categories.into_iter().map(|(column, codes)| (column, codes.into_iter().collect()));
        TrialValues {
            common: &[0.0, f32::NAN, 1.0, -1.0, f32::MAX, f32::MIN],
            by_column,
            categories: categories.collect(),
        }
    }

    /// An expected grade moves by no more than the range of grades times what its outputs move.
    fn magnitude(&self, row: &[f32]) -> f64 {
        let values = self.trees.iter().map(|tree| tree.values[tree.leaf(Row::Dense(row))]);
        let sums: f64 = values.chain(self.base.iter().copied()).map(f64::abs).sum();
        match &self.combine {
            Combine::Sum => sums,
            Combine::Softmax { grades } | Combine::Ordinal { grades } => {
                (1.0 + sums) * grades.iter().map(|g| 2.0 * f64::from(g.abs())).fold(0.0, f64::max)
            }
        }
    }
}

struct TreeScorer<'a> {
    ensemble: &'a TreeEnsemble,
    scratch: Scratch,
}

impl ScoreRows for TreeScorer<'_> {
    fn score(&mut self, rows: Rows<'_>, out: &mut [f64]) {
        self.ensemble.score_rows(rows, &mut self.scratch, out);
    }
}

/// Shapley values, beside the expected score of a training document.
struct TreeContributions<'a> {
    base: f64,
    forest: Forest<'a>,
}

impl Explain for TreeContributions<'_> {
    fn base(&self) -> f64 {
        self.base
    }

    fn base_name(&self) -> &'static str {
        "base (mean in training)"
    }

    fn explain(&self, rows: &[Row<'_>], out: &mut [Vec<f64>]) {
        self.forest.explain(rows, out);
    }
}
