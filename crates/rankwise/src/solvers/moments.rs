//! Weighted sums over all rows of a data set, in a fixed order: means, deviations, products.

use crate::data::{Dataset, Row};
use crate::parallel;
use std::ops::Range;

/// The number of pieces that the rows are divided into. It is fixed, so that sums do not depend on the number of
/// threads.
const PIECES: usize = 16;

/// The number of pieces for this many items; at least one, which may be empty.
pub(super) fn pieces(items: usize) -> usize {
    items.div_ceil(items.div_ceil(PIECES).max(1)).max(1)
}

/// Maps fixed pieces of the items in parallel.
pub(super) fn by_piece<T: Send>(items: usize, map: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let piece = items.div_ceil(PIECES).max(1);
    parallel::map(0..pieces(items), |i| map((i * piece).min(items)..items.min((i + 1) * piece)))
}

/// Maps fixed pieces of the rows in parallel, then combines the results in order with `add`.
pub(super) fn over_rows<T: Send>(
    rows: usize,
    map: impl Fn(Range<usize>) -> T + Sync,
    add: impl Fn(&mut T, T),
) -> T {
    let mut parts = by_piece(rows, map).into_iter();
    let mut total = parts.next().expect("at least one piece");
    parts.for_each(|part| add(&mut total, part));
    total
}

/// `a += b`, element by element.
pub(super) fn add_all(a: &mut [f64], b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += b;
    }
}

/// The mean and standard deviation of every column. Rows are weighted, and missing values count as 0.
pub(super) struct Spread {
    pub(super) mean: Vec<f64>,
    /// Infinite for a constant column, so that standardising turns it into zeros and its weight is 0.
    pub(super) deviation: Vec<f64>,
}

impl Spread {
    pub(super) fn of(data: &Dataset, weights: &[f64]) -> Spread {
        let (width, total) = (data.width(), weights.iter().sum::<f64>());
        // Σ weight·x·(x − 2·shift) or, without shifts, Σ weight·x.
        let sum = |shifts: Option<&[f64]>| {
            over_rows(
                data.len(),
                |rows| {
                    let mut sums = vec![0.0; width];
                    for r in rows {
                        add_row(data.row(r), weights[r], shifts, &mut sums);
                    }
                    sums
                },
                |a, b| add_all(a, &b),
            )
        };
        let mean: Vec<f64> = sum(None).iter().map(|s| s / total).collect();
        // Σ v(x−m)² over stored values, as Σ v·x·(x − 2m) + W·m², whose terms are 0 for absent values (x = 0).
        let squares = sum(Some(&mean));
        let deviation = squares
            .iter()
            .zip(&mean)
            .map(|(s, m)| {
                // The remainder of a constant column is the rounding error of its sum.
                let rounding = 1e-15 * (data.len() as f64).max(100.0);
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
