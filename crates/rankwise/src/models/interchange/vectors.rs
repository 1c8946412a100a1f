//! Rows for trying an exported model, and what it must answer: a file that users replay where the model will run.

use super::replay::scores;
use super::{Divergence, Exported, Format};
use crate::error::{Error, Result};
use crate::models::Ranker;
use crate::rng;
use rand::RngExt;
use rand::seq::SliceRandom;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The error allowed to a score in double precision, as a fraction of its magnitude: the sum may have another order.
const DOUBLE: f64 = 1e-12;

/// The smallest number of synthetic rows, unless fewer are asked for.
const FEW: usize = 256;

/// How often every value is tried.
const ROUNDS: usize = 16;

/// Rows whose sums might overflow single precision are left out.
const LARGEST: f64 = f32::MAX as f64 / 4.0;

/// The largest number of values of all rows together.
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
    /// The greatest difference; infinite if a score is not finite.
    pub greatest: f64,
    /// The first row that is further off than allowed, from 0.
    pub first_off: Option<usize>,
    /// How many are.
    pub off: usize,
}

/// Up to `count` rows around the thresholds of a model's trees: each on the threshold, beside it, 0, missing and far
/// away, in random company. Enough rows have every threshold of every feature. Other models get values of all sizes.
/// Values that the notes of the export except are left out.
pub fn synthetic_rows(ranker: &Ranker, exported: &Exported, count: usize) -> Vec<Vec<f32>> {
    let width = ranker.model.width();
    let count = count.min((MOST_VALUES / width).max(1));
    let TrialValues { common, by_column, categories } = ranker.model.shape().trial_values();
    let common: Vec<f32> = exported.comparable(None, common);
    let with_common = by_column.into_iter().filter(|(column, _)| !categories.contains_key(column));
    let with_common = with_common.map(|(column, pool)| (column, [&pool[..], &common].concat()));
    let codes = categories.iter().map(|(&column, codes)| {
        (column, codes.iter().map(|&code| code as f32).chain([0.0, f32::NAN]).collect::<Vec<f32>>())
    });
    let by_column: BTreeMap<usize, Vec<f32>> = with_common
        .chain(codes)
        .map(|(column, mut pool)| {
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
    let held = |row: &Vec<f32>| ranker.model.shape().magnitude(row) < LARGEST;
    (0..wanted).map(row).filter(held).collect()
}

/// Feature values that put an exported model to the test.
pub(in crate::models) struct TrialValues {
    /// Values to try for any feature.
    pub(in crate::models) common: &'static [f32],
    /// More values for some columns.
    pub(in crate::models) by_column: BTreeMap<usize, Vec<f32>>,
    /// The categories of other columns, which get no values but these and missing ones.
    pub(in crate::models) categories: BTreeMap<usize, Vec<u32>>,
}

impl Exported {
    /// Those of `values` that the file sends where the model does, as far as the notes promise.
    fn comparable(&self, column: Option<usize>, values: &[f32]) -> Vec<f32> {
        let divergent: Vec<&Divergence> =
            self.divergent.iter().filter(|a| a.column.is_none() || a.column == column).collect();
        let left_out = |x: f32| {
            (self.missing_as_zero && x.is_nan()) || divergent.iter().any(|a| a.above < x && x <= a.up_to)
        };
        values.iter().copied().filter(|&x| !left_out(x)).collect()
    }
}

impl Vectors {
    /// What the target of an export must answer to `rows`, which are scaled as the model learned to see them.
    pub fn new(ranker: &Ranker, exported: &Exported, rows: Vec<Vec<f32>>) -> Result<Vectors> {
        let scores =
            scores(&ranker.model, &rows)?.into_iter().map(|score| score - exported.omitted_bias).collect();
        let shape = ranker.model.shape();
        let fraction = if exported.single_precision { shape.single_precision_tolerance() } else { DOUBLE };
        let allowed = rows.iter().map(|row| fraction * shape.magnitude(row)).collect();
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

    /// The file: JSON with one row per line, and `null` for a missing value.
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
