//! A data set for learners that work on single features: columns, their spread, and the weight of each query.

use super::column_sums::ColumnSums;
use super::columns::{Columns, Varying, varying_in};
use crate::data::{Dataset, Query};
use crate::metrics::{Empty, Metric};
use std::ops::Range;

/// Queries with their weights, and features with their scales.
pub(super) struct Terrain<'a> {
    pub data: &'a Dataset,
    columns: Columns<'a>,
    /// Each query's fraction of the mean; 0 for queries for which the metric is undefined.
    pub shares: Vec<f64>,
    /// Each query's [`Metric::ideal`].
    pub ideals: Vec<f64>,
    /// Each column's standard deviation within queries. Steps are in units of it, so that they mean the same
    /// for features of any scale. 0 for a column that never varies.
    pub scales: Vec<f64>,
    /// Each column's correlation with the labels within queries.
    pub correlations: Vec<f64>,
}

impl<'a> Terrain<'a> {
    pub(super) fn new(data: &'a Dataset, metric: &dyn Metric) -> Self {
        let shares = shares(data, metric);
        let ideals = data.queries().map(|query| metric.ideal(query.labels())).collect();
        let (scales, correlations) = spreads(data, &shares);
        Terrain { data, columns: Columns::new(data), shares, ideals, scales, correlations }
    }

    /// Fills `out` with the queries that have a weight and in which `column` varies.
    pub(super) fn varying(&self, column: usize, out: &mut Varying) {
        self.columns.varying(column, |q| self.shares[q] > 0.0, out);
    }

    /// The columns that vary in any query.
    pub(super) fn varying_columns(&self) -> Vec<usize> {
        (0..self.data.width()).filter(|&c| self.scales[c] > 0.0).collect()
    }

    /// The weighted mean of one value per query.
    pub(super) fn mean(&self, values: &[f64]) -> f64 {
        self.means(&[values])[0]
    }

    /// The weighted mean of each of some lists of one value per query.
    pub(super) fn means(&self, lists: &[&[f64]]) -> Vec<f64> {
        let sum = |queries: Range<usize>, values: &[f64]| {
            let shares = &self.shares[queries.clone()];
            shares.iter().zip(&values[queries]).map(|(s, v)| s * v).sum::<f64>()
        };
        self.data.total(|queries| lists.iter().map(|values| sum(queries.clone(), values)).collect::<Vec<_>>())
    }

    /// Notes on what is left out, and why.
    pub(super) fn notes(&self) -> Vec<String> {
        let zeros = |values: &[f64]| values.iter().filter(|v| **v == 0.0).count();
        let counts = [
            (
                self.data.total(|queries| zeros(&self.shares[queries])),
                "training queries left out because the metric is undefined or their weight is 0",
            ),
            (zeros(&self.scales), "features left out because they are constant within every training query"),
        ];
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{what}: {n}")).collect()
    }
}

/// Each query's fraction of the weighted mean.
fn shares(data: &Dataset, metric: &dyn Metric) -> Vec<f64> {
    let is_skipped = |q: Query<'_>| metric.empty() == Empty::Skip && metric.is_undefined(q.labels());
    let weight = |q: Query<'_>| if is_skipped(q) { 0.0 } else { q.weight() };
    let weights: Vec<f64> = data.queries().map(weight).collect();
    let total = data.total(|queries| weights[queries].iter().sum::<f64>());
    weights.into_iter().map(|w| if total > 0.0 { w / total } else { 0.0 }).collect()
}

/// Each column's standard deviation within queries, and its correlation with the labels there.
fn spreads(data: &Dataset, shares: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let of_query = |q: usize| {
        let mut sums = ColumnSums::new();
        if shares[q] > 0.0 {
            let query = data.query(q);
            varying_in(query, |column, values| sums.push(column, products(values, query.labels())));
        }
        sums
    };
    let sums = data.total(|queries| ColumnSums::over(queries, &of_query));
    let (mut scales, mut correlations) = (vec![0.0; data.width()], vec![0.0; data.width()]);
    for (column, &(xx, xr, rr)) in sums.iter() {
        let scale = (xx / data.whole().documents as f64).sqrt();
        if scale > 0.0 && scale.is_finite() {
            scales[column] = scale;
            correlations[column] = if rr > 0.0 { xr / (xx * rr).sqrt() } else { 0.0 };
        }
    }
    (scales, correlations)
}

/// The sums of `x²`, `x·r` and `r²` over the documents of a query, all less their means.
fn products(values: &[f32], labels: &[f32]) -> (f64, f64, f64) {
    let mean = |v: &[f32]| v.iter().map(|&v| f64::from(v)).sum::<f64>() / v.len() as f64;
    let (mean_x, mean_r) = (mean(values), mean(labels));
    values.iter().zip(labels).fold((0.0, 0.0, 0.0), |(xx, xr, rr), (&x, &r)| {
        let (x, r) = (f64::from(x) - mean_x, f64::from(r) - mean_r);
        (xx + x * x, xr + x * r, rr + r * r)
    })
}
