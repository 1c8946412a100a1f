//! Rows for trying an exported model, and what it must answer: a file that users replay where the model will run.

use super::replay::scores;
use super::{Divergence, Exported, Format};
use crate::data::Row;
use crate::error::{Error, Result};
use crate::models::{
    Activation, Combine, LinearModel, Model, NeuralNetwork, OrdinalModel, Ranker, TreeEnsemble,
};
use crate::rng;
use rand::RngExt;
use rand::seq::SliceRandom;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How far scores may lie apart, as a part of the sum of the sizes of what is added up: rounding in f32, …
const SINGLE: f64 = 1e-5;

/// … the same for networks, of which many sums cancel out in the layers after them (about seventy times what was seen) …
const NETWORK: f64 = 3e-7;

/// … and in f64, summed in another order.
const DOUBLE: f64 = 1e-12;

/// Rows that are made up at the least, where so many are asked for.
const FEW: usize = 256;

/// How often every value is tried.
const ROUNDS: usize = 16;

/// Rows whose sums single precision might not hold are not made up.
const LARGEST: f64 = f32::MAX as f64 / 4.0;

/// Values that all rows have together at the most.
const MOST_VALUES: usize = 1 << 24;

/// Rows, the scores that an exported model must give them, and how near it must come.
#[derive(Debug, Clone, PartialEq)]
pub struct Vectors {
    /// Feature values as the target gets them: scaled, NaN where one is missing.
    pub rows: Vec<Vec<f32>>,
    /// The score of each row.
    pub scores: Vec<f64>,
    /// How far the target's score of each row may be off.
    pub allowed: Vec<f64>,
}

/// What came of comparing scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The greatest difference; infinite where a score is no number.
    pub greatest: f64,
    /// The first row that is further off than allowed, from 0.
    pub first_off: Option<usize>,
    /// How many are.
    pub off: usize,
}

/// Up to `count` rows around the thresholds of a model's trees: each on the threshold, beside it, 0, missing and far
/// away, in random company. Enough rows have every threshold of every feature. Other models get values of all sizes.
/// Values that the notes of the export except are left out.
pub fn made_up_rows(ranker: &Ranker, exported: &Exported, count: usize) -> Vec<Vec<f32>> {
    let width = ranker.model.width();
    let count = count.min((MOST_VALUES / width).max(1));
    let (common, by_column) = pools(&ranker.model);
    let common: Vec<f32> = exported.comparable(None, common);
    let by_column: BTreeMap<usize, Vec<f32>> = by_column
        .into_iter()
        .map(|(column, mut pool)| {
            pool.extend_from_slice(&common);
            pool.sort_by(f32::total_cmp);
            pool.dedup_by_key(|x| x.to_bits());
            let mut pool = exported.comparable(Some(column), &pool);
            pool.shuffle(&mut rng::stream(0, &[column as u64]));
            (column, pool)
        })
        .collect();
    let longest = by_column.values().map(Vec::len).max().unwrap_or(0);
    let wanted = (ROUNDS * longest).max(FEW).min(count);
    let row = |r: usize| {
        let mut random = rng::stream(1, &[r as u64]);
        let mut row: Vec<f32> = (0..width).map(|_| common[random.random_range(0..common.len())]).collect();
        for (&column, pool) in &by_column {
            // Each time round, values meet in other company.
            let round = r / pool.len();
            row[column] = pool[(r + round * (column + 1)) % pool.len()];
        }
        row
    };
    let held = |row: &Vec<f32>| size(&ranker.model, row) < LARGEST;
    (0..wanted).map(row).filter(held).collect()
}

/// Values worth trying for any feature, and those of some features besides.
fn pools(model: &Model) -> (&'static [f32], BTreeMap<usize, Vec<f32>>) {
    let mut by_column: BTreeMap<usize, Vec<f32>> = BTreeMap::new();
    match model {
        Model::Trees(ensemble) => {
            for (&feature, &t) in ensemble.trees().iter().flat_map(|t| t.features.iter().zip(&t.thresholds)) {
                let around = [t, t.next_up(), t.next_down()].into_iter().filter(|x| x.is_finite());
                by_column.entry(feature as usize).or_default().extend(around);
            }
            (&[0.0, f32::NAN, 1.0, -1.0, f32::MAX, f32::MIN], by_column)
        }
        Model::Network(mlp) => {
            let standards = mlp.means().iter().zip(mlp.factors()).enumerate();
            for (column, (mean, factor)) in standards.filter(|(_, (_, factor))| **factor != 0.0) {
                let around = [-2.0, -1.0, 0.0, 0.5, 3.0].map(|step: f32| mean + step / factor);
                by_column.insert(column, around.into_iter().filter(|x| x.is_finite()).collect());
            }
            (&[0.0, f32::NAN], by_column)
        }
        Model::Linear(LinearModel { .. }) | Model::Ordinal(OrdinalModel { .. }) => {
            (&[0.0, f32::NAN, 1.0, -1.0, 0.5, 1e-6, 3.25, -17.5, 0.1, 1e4], by_column)
        }
    }
}

impl Exported {
    /// Those of `values` that the file sends where the model does, as far as the notes promise.
    fn comparable(&self, column: Option<usize>, values: &[f32]) -> Vec<f32> {
        let apart: Vec<&Divergence> =
            self.divergent.iter().filter(|a| a.column.is_none() || a.column == column).collect();
        let left_out = |x: f32| {
            (self.missing_as_zero && x.is_nan()) || apart.iter().any(|a| a.above < x && x <= a.up_to)
        };
        values.iter().copied().filter(|&x| !left_out(x)).collect()
    }
}

impl Vectors {
    /// What the target of an export must answer to `rows`, which are scaled as the model learned to see them.
    pub fn new(ranker: &Ranker, exported: &Exported, rows: Vec<Vec<f32>>) -> Result<Vectors> {
        let scores =
            scores(&ranker.model, &rows)?.into_iter().map(|score| score - exported.omitted_bias).collect();
        let part = match (&ranker.model, exported.single_precision) {
            (_, false) => DOUBLE,
            (Model::Network(_), true) => NETWORK,
            (_, true) => SINGLE,
        };
        let allowed = rows.iter().map(|row| part * size(&ranker.model, row)).collect();
        Ok(Vectors { rows, scores, allowed })
    }

    /// The same rows as a target sees that takes missing values as 0.
    pub fn seen_by(exported: &Exported, mut rows: Vec<Vec<f32>>) -> Vec<Vec<f32>> {
        if exported.missing_as_zero {
            rows.iter_mut().flatten().filter(|x| x.is_nan()).for_each(|x| *x = 0.0);
        }
        rows
    }

    /// Compares the scores that a target gave.
    pub fn compare(&self, found: &[f64]) -> Result<Verdict> {
        if found.len() != self.scores.len() {
            return Err(Error::data(format!(
                "{} scores came back for {} rows",
                found.len(),
                self.scores.len()
            )));
        }
        let mut verdict = Verdict { greatest: 0.0, first_off: None, off: 0 };
        for (row, ((&found, &score), &allowed)) in
            found.iter().zip(&self.scores).zip(&self.allowed).enumerate()
        {
            let difference = if found.is_finite() { (found - score).abs() } else { f64::INFINITY };
            verdict.greatest = verdict.greatest.max(difference);
            if difference > allowed {
                verdict.first_off.get_or_insert(row);
                verdict.off += 1;
            }
        }
        Ok(verdict)
    }

    /// The file: JSON with a row a line, `null` where a value is missing.
    pub fn to_json(&self, ranker: &Ranker, format: Format) -> Vec<u8> {
        let names: Vec<String> = (0..ranker.model.width()).map(|c| ranker.columns.name(c)).collect();
        let scaling = ranker.normalizer.as_ref().map(ToString::to_string);
        let rows: Vec<String> = (0..self.rows.len()).map(|i| self.line(i)).collect();
        format!(
            "{{\n\"format\": \"rankwise-vectors\",\n\"of\": \"{}\",\n\"about\": {},\n\"scaling\": {},\n\
             \"features\": {},\n\"rows\": [\n{}\n]\n}}\n",
            format.name(),
            Value::from(ABOUT),
            Value::from(scaling),
            Value::from(names),
            rows.join(",\n"),
        )
        .into_bytes()
    }

    fn line(&self, i: usize) -> String {
        // NaN becomes null, which is how JSON says that a value is missing.
        let values: Vec<f64> = self.rows[i].iter().map(|&x| x.into()).collect();
        json!({ "features": values, "score": self.scores[i], "allowed": self.allowed[i] }).to_string()
    }
}

const ABOUT: &str = "rows to score where the model runs: `features` in the order of the names above, already scaled as \
                     `scaling` says, null where a value is missing; the score must be within `allowed` of `score`";

/// The sum of the sizes of what a score is added up from.
fn size(model: &Model, row: &[f32]) -> f64 {
    let present = |x: f32| if x.is_nan() { 0.0 } else { f64::from(x) };
    match model {
        Model::Linear(LinearModel { weights, .. }) | Model::Ordinal(OrdinalModel { weights, .. }) => {
            let bias = if let Model::Linear(LinearModel { bias, .. }) = model { bias.abs() } else { 0.0 };
            bias + weights.iter().zip(row).map(|(w, &x)| (w * present(x)).abs()).sum::<f64>()
        }
        Model::Trees(ensemble) => size_of_sums(ensemble, row),
        Model::Network(mlp) => size_of_network(mlp, row),
    }
}

/// An expected grade moves by no more than the range of grades for what its outputs move.
fn size_of_sums(ensemble: &TreeEnsemble, row: &[f32]) -> f64 {
    let values = ensemble.trees().iter().map(|tree| tree.values[tree.leaf(Row::Dense(row))]);
    let sums: f64 = values.chain(ensemble.base().iter().copied()).map(f64::abs).sum();
    match ensemble.combine() {
        Combine::Sum => sums,
        Combine::Softmax { grades } | Combine::Ordinal { grades } => {
            (1.0 + sums) * grades.iter().map(|g| 2.0 * f64::from(g.abs())).fold(0.0, f64::max)
        }
    }
}

/// The sizes of what the last layer adds up, each unit before it counted by the sizes of what it adds up itself: the
/// error of a unit is a part of those, and passes on by its weight.
fn size_of_network(mlp: &NeuralNetwork, row: &[f32]) -> f64 {
    let standard = |((&x, &mean), &factor): ((&f32, &f32), &f32)| {
        if x.is_nan() { 0.0 } else { (f64::from(x) - f64::from(mean)) * f64::from(factor) }
    };
    let mut values: Vec<f64> = row.iter().zip(mlp.means()).zip(mlp.factors()).map(standard).collect();
    let mut sizes: Vec<f64> = values.iter().map(|x| x.abs()).collect();
    let (last, hidden) = mlp.layers().split_last().expect("a network has layers");
    for layer in hidden {
        let units = || layer.weights.chunks(values.len()).zip(&layer.biases);
        let sum = |(w, b): (&[f32], &f32)| f64::from(*b) + terms(w, &values).sum::<f64>();
        let size = |(w, b): (&[f32], &f32)| f64::from(b.abs()) + terms(w, &values).map(f64::abs).sum::<f64>();
        let active = |sum: f64| match mlp.activation() {
            Activation::Relu => sum.max(0.0),
            Activation::Tanh => sum.tanh(),
        };
        (values, sizes) = (units().map(sum).map(active).collect(), units().map(size).collect());
    }
    f64::from(last.biases[0].abs()) + terms(&last.weights, &sizes).map(f64::abs).sum::<f64>()
}

fn terms(weights: &[f32], values: &[f64]) -> impl Iterator<Item = f64> {
    weights.iter().zip(values).map(|(&w, &x)| f64::from(w) * x)
}
