//! A data set for learners that work on single features: columns, their spread, and the weight of each query.

use super::columns::{Columns, Varying};
use crate::data::{Dataset, Query};
use crate::metrics::{Empty, Metric};
use crate::parallel;

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
        let columns = Columns::new(data);
        let spread = |c: usize| {
            let mut varying = Varying::default();
            columns.varying(c, |q| shares[q] > 0.0, &mut varying);
            spread(data, &varying)
        };
        let spreads: Vec<(f64, f64)> = parallel::map(0..data.width(), spread);
        let (scales, correlations) = spreads.into_iter().unzip();
        Terrain { data, columns, shares, ideals, scales, correlations }
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
        self.shares.iter().zip(values).map(|(s, v)| s * v).sum()
    }

    /// Notes on what is left out, and why.
    pub(super) fn notes(&self) -> Vec<String> {
        let zeros = |values: &[f64]| values.iter().filter(|v| **v == 0.0).count();
        let counts = [
            (
                zeros(&self.shares),
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
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|w| if total > 0.0 { w / total } else { 0.0 }).collect()
}

/// Standard deviation of a column within queries, and its correlation with the labels there.
fn spread(data: &Dataset, varying: &Varying) -> (f64, f64) {
    let (mut xx, mut xr, mut rr) = (0.0, 0.0, 0.0);
    for &(q, start) in &varying.queries {
        let query = data.query(q);
        let x = varying.values(start, query.len());
        let mean = |v: &[f32]| v.iter().map(|&v| f64::from(v)).sum::<f64>() / v.len() as f64;
        let (mean_x, mean_r) = (mean(x), mean(query.labels()));
        for (&x, &r) in x.iter().zip(query.labels()) {
            let (x, r) = (f64::from(x) - mean_x, f64::from(r) - mean_r);
            xx += x * x;
            xr += x * r;
            rr += r * r;
        }
    }
    let scale = (xx / data.len() as f64).sqrt();
    if scale > 0.0 && scale.is_finite() {
        (scale, if rr > 0.0 { xr / (xx * rr).sqrt() } else { 0.0 })
    } else {
        (0.0, 0.0)
    }
}
