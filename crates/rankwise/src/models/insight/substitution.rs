//! Scores of documents in which some features have other values than their own.

use super::value;
use crate::data::Row;
use crate::models::{LinearModel, Model, NeuralNetwork, OrdinalModel, TreeEnsemble};
use std::cell::Cell;

/// Scores documents with other values in some columns. A tree that does not test them on a document's way is walked
/// once for it, however many values are tried.
pub(super) struct Substitution<'a> {
    model: &'a Model,
    columns: &'a [usize],
    /// For each tree, the value of the document's leaf.
    tree_values: Vec<f64>,
    /// The trees that test one of the columns on the document's own way.
    sensitive: Vec<usize>,
    outputs: Vec<f64>,
}

impl<'a> Substitution<'a> {
    /// For documents in which `columns` change.
    pub(super) fn new(model: &'a Model, columns: &'a [usize]) -> Self {
        let (trees, outputs) = match model {
            Model::Trees(ensemble) => (ensemble.trees().len(), ensemble.base().len()),
            _ => (0, 0),
        };
        Substitution {
            model,
            columns,
            tree_values: vec![0.0; trees],
            sensitive: Vec::new(),
            outputs: vec![0.0; outputs],
        }
    }

    /// Calls `found` with the score of the document `row` for every one of the `candidates`: a value for each of the
    /// columns.
    pub(super) fn scores<V: AsRef<[f32]>>(
        &mut self,
        row: Row<'_>,
        candidates: impl Iterator<Item = V>,
        mut found: impl FnMut(usize, f64),
    ) {
        match self.model {
            Model::Linear(LinearModel { weights, bias }) => {
                self.linear(row, weights, *bias, candidates, found)
            }
            Model::Ordinal(OrdinalModel { weights, .. }) => self.linear(row, weights, 0.0, candidates, found),
            Model::Trees(ensemble) => {
                self.walk(ensemble, row);
                for (i, values) in candidates.enumerate() {
                    self.walk_again(ensemble, row, values.as_ref());
                    found(i, self.combined(ensemble));
                }
            }
            Model::Network(mlp) => self.network(mlp, row, candidates, found),
        }
    }

    fn linear<V: AsRef<[f32]>>(
        &self,
        row: Row<'_>,
        weights: &[f64],
        bias: f64,
        candidates: impl Iterator<Item = V>,
        mut found: impl FnMut(usize, f64),
    ) {
        let score = row.dot(weights) + bias;
        let known = |x: f32| if x.is_nan() { 0.0 } else { f64::from(x) };
        for (i, values) in candidates.enumerate() {
            let changes = self.columns.iter().zip(values.as_ref());
            let change = |(&c, &x): (&usize, &f32)| weights[c] * (known(x) - known(value(row, c)));
            found(i, score + changes.map(change).sum::<f64>());
        }
    }

    fn network<V: AsRef<[f32]>>(
        &self,
        mlp: &NeuralNetwork,
        row: Row<'_>,
        candidates: impl Iterator<Item = V>,
        mut found: impl FnMut(usize, f64),
    ) {
        let own: Vec<f32> = (0..mlp.width()).map(|column| value(row, column)).collect();
        let mut rows = Vec::new();
        for values in candidates {
            let first = rows.len();
            rows.extend_from_slice(&own);
            for (&column, &x) in self.columns.iter().zip(values.as_ref()) {
                rows[first + column] = x;
            }
        }
        let mut scores = vec![0.0; rows.len() / mlp.width()];
        mlp.score_rows(rows.chunks_exact(mlp.width()).map(Row::Dense), &mut scores);
        scores.into_iter().enumerate().for_each(|(i, score)| found(i, score));
    }

    /// Walks all trees with the document's own values.
    fn walk(&mut self, ensemble: &TreeEnsemble, row: Row<'_>) {
        self.sensitive.clear();
        for (t, tree) in ensemble.trees().iter().enumerate() {
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

    /// Walks with other `values` of the columns those trees in which the way can change.
    fn walk_again(&mut self, ensemble: &TreeEnsemble, row: Row<'_>, values: &[f32]) {
        let changed = |feature: usize| match self.columns.iter().position(|&c| c == feature) {
            Some(place) => values[place],
            None => value(row, feature),
        };
        for &t in &self.sensitive {
            let tree = &ensemble.trees()[t];
            self.tree_values[t] = tree.values[tree.leaf_by(changed)];
        }
    }

    /// The sum in the order of [`TreeEnsemble::outputs`], so that a document with its own values has its own score.
    fn combined(&mut self, ensemble: &TreeEnsemble) -> f64 {
        self.outputs.copy_from_slice(ensemble.base());
        let count = self.outputs.len();
        for (t, value) in self.tree_values.iter().enumerate() {
            self.outputs[t % count] += value;
        }
        ensemble.combine().score(&self.outputs)
    }
}
