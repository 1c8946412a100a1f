//! Scores of a tree ensemble for documents in which some features have other values.

use super::TreeEnsemble;
use crate::data::Row;
use crate::models::insight::{Substitute, value};
use std::cell::Cell;

/// Walks a tree again only if it tests a changed column on the document's path.
pub(super) struct Rewalk<'a> {
    ensemble: &'a TreeEnsemble,
    columns: &'a [usize],
    /// For each tree, the value of the document's leaf.
    tree_values: Vec<f64>,
    /// The trees that test one of the columns on the document's own path.
    sensitive: Vec<usize>,
    outputs: Vec<f64>,
}

impl<'a> Rewalk<'a> {
    pub(super) fn new(ensemble: &'a TreeEnsemble, columns: &'a [usize]) -> Self {
        Rewalk {
            ensemble,
            columns,
            tree_values: vec![0.0; ensemble.trees.len()],
            sensitive: Vec::new(),
            outputs: vec![0.0; ensemble.base.len()],
        }
    }

    /// Walks all trees with the document's own values.
    fn walk(&mut self, row: Row<'_>) {
        self.sensitive.clear();
        for (t, tree) in self.ensemble.trees.iter().enumerate() {
            let sensitive = Cell::new(false);
            let leaf = tree.leaf_by(|feature| {
                sensitive.set(sensitive.get() || self.columns.contains(&feature));
                value(row, feature)
            });
            self.tree_values[t] = tree.values[leaf];
            if sensitive.get() {
                self.sensitive.push(t);
            }
        }
    }

    /// Walks the sensitive trees with other `values` of the columns.
    fn walk_again(&mut self, row: Row<'_>, values: &[f32]) {
        let changed = |feature: usize| match self.columns.iter().position(|&c| c == feature) {
            Some(place) => values[place],
            None => value(row, feature),
        };
        for &t in &self.sensitive {
            let tree = &self.ensemble.trees[t];
            self.tree_values[t] = tree.values[tree.leaf_by(changed)];
        }
    }

    /// The sum in the order of [`TreeEnsemble::outputs`], so that a document with its own values has its own score.
    fn combined(&mut self) -> f64 {
        self.outputs.copy_from_slice(&self.ensemble.base);
        let count = self.outputs.len();
        for (t, value) in self.tree_values.iter().enumerate() {
            self.outputs[t % count] += value;
        }
        self.ensemble.combine.score(&self.outputs)
    }
}

impl Substitute for Rewalk<'_> {
    fn scores(&mut self, row: Row<'_>, candidates: &[f32], out: &mut [f64]) {
        self.walk(row);
        for (out, values) in out.iter_mut().zip(candidates.chunks_exact(self.columns.len())) {
            self.walk_again(row, values);
            *out = self.combined();
        }
    }
}
