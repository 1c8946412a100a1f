//! Weighted sums over all rows of a data set: means and deviations.

use crate::data::{Dataset, Row};
use crate::pieces::Term;
use std::ops::Range;

/// The sum over all rows: `of` gives that over a range of the data set's own rows.
pub(super) fn total_over_rows<T: Term>(data: &Dataset, of: impl Fn(Range<usize>) -> T + Sync) -> T {
    data.total(|queries| of(data.bounds()[queries.start]..data.bounds()[queries.end]))
}

/// The mean and standard deviation of every column. Rows are weighted, and missing values count as 0.
pub(super) struct Spread {
    pub(super) mean: Vec<f64>,
    /// Infinite for a constant column, so that standardising turns it into zeros and its weight is 0.
    pub(super) deviation: Vec<f64>,
}

impl Spread {
    pub(super) fn of(data: &Dataset, weights: &[f64]) -> Spread {
        let width = data.width();
        // Σ weight·x·(x − 2·shift) or, without shifts, Σ weight·x; and Σ weight.
        let sum = |shifts: Option<&[f64]>| {
            total_over_rows(data, |rows| {
                let mut sums = vec![0.0; width];
                rows.clone().for_each(|r| add_row(data.row(r), weights[r], shifts, &mut sums));
                (sums, weights[rows].iter().sum::<f64>())
            })
        };
        let (sums, total) = sum(None);
        let mean: Vec<f64> = sums.iter().map(|s| s / total).collect();
        // Σ v(x−m)² over stored values, as Σ v·x·(x − 2m) + W·m², whose terms are 0 for absent values (x = 0).
        let (squares, _) = sum(Some(&mean));
        let deviation = squares
            .iter()
            .zip(&mean)
            .map(|(s, m)| {
                // The remainder of a constant column is the rounding error of its sum.
                let rounding = 1e-15 * (data.whole().documents as f64).max(100.0);
                let (variance, noise) = (s / total + m * m, rounding * m * m);
                if variance > noise { variance.sqrt() } else { f64::INFINITY }
            })
            .collect();
        Spread { mean, deviation }
    }
}

/// Adds a row's values, or `x·(x − 2·shift)` of each, to the sums.
fn add_row(row: Row<'_>, weight: f64, shifts: Option<&[f64]>, sums: &mut [f64]) {
    for (c, x) in row.iter() {
        if !x.is_nan() {
            let x = f64::from(x);
            sums[c] += weight * shifts.map_or(x, |shifts| x * (x - 2.0 * shifts[c]));
        }
    }
}
