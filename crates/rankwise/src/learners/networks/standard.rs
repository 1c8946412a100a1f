//! Mean and standard deviation of the features that a network is trained on.

use crate::data::Dataset;
use crate::parallel;

/// Documents that are summed together; independent of the number of threads.
const CHUNK: usize = 4096;

/// Scales every feature to mean 0 and standard deviation 1.
pub(super) struct Standard {
    pub(super) means: Vec<f32>,
    /// 0 for constant features, which are thus ignored, and for those whose spread exceeds single precision.
    pub(super) factors: Vec<f32>,
}

impl Standard {
    /// Computed over all documents except missing values, which will be replaced by the mean.
    pub(super) fn of(data: &Dataset) -> Standard {
        let width = data.width();
        let missing = total(data, |column, x, sums| sums[column] += f64::from(u8::from(x.is_nan())));
        let known: Vec<f64> = missing.iter().map(|missing| data.len() as f64 - missing).collect();
        let sums = total(data, |column, x, sums| sums[column] += present(x));
        let means: Vec<f32> =
            sums.iter().zip(&known).map(|(sum, &count)| (sum / count.max(1.0)) as f32).collect();
        // Around a mean close to the true one; a value that is absent from a sparse row is 0.
        let mean = |column: usize| f64::from(means[column]);
        let squares = total(data, |column, x, sums| {
            sums[column] += if x.is_nan() { 0.0 } else { (f64::from(x) - mean(column)).powi(2) };
        });
        let stored = total(data, |column, _, sums| sums[column] += 1.0);
        let factors = (0..width).map(|column| {
            let absent = data.len() as f64 - stored[column];
            let squares = squares[column] + absent * mean(column).powi(2);
            let deviation = (squares / known[column].max(1.0)).sqrt();
            let factor = (1.0 / deviation) as f32;
            // A smaller deviation is rounding in single precision.
            let constant = deviation <= 1e-7 * mean(column).abs();
            if constant || !factor.is_finite() { 0.0 } else { factor }
        });
        Standard { factors: factors.collect(), means }
    }
}

fn present(x: f32) -> f64 {
    if x.is_nan() { 0.0 } else { f64::from(x) }
}

/// Sums over all stored values, one sum per column, in a fixed order.
fn total(data: &Dataset, add: impl Fn(usize, f32, &mut [f64]) + Sync) -> Vec<f64> {
    let chunks: Vec<Vec<f64>> = parallel::map(0..data.len().div_ceil(CHUNK), |chunk| {
        let mut sums = vec![0.0; data.width()];
        for row in chunk * CHUNK..data.len().min((chunk + 1) * CHUNK) {
            data.row(row).iter().for_each(|(column, x)| add(column, x, &mut sums));
        }
        sums
    });
    let mut sums = vec![0.0; data.width()];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, part)| *sum += part);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Features;

    fn standard(features: Features, rows: usize) -> Standard {
        Standard::of(&Dataset::from_features(features, vec![0.0; rows], &[rows]).unwrap())
    }

    #[test]
    fn standardisation_matches_the_calculation_by_hand() {
        // Columns: 1, 3, missing, 5 (mean 3, variance 8/3); always 7; 0, 4, 0, 0 (mean 1, variance 3); all
        // missing.
        let nan = f32::NAN;
        let rows = [[1.0, 7.0, 0.0, nan], [3.0, 7.0, 4.0, nan], [nan, 7.0, 0.0, nan], [5.0, 7.0, 0.0, nan]];
        let dense = standard(Features::dense(4, rows.concat()), 4);
        assert_eq!(dense.means, [3.0, 7.0, 1.0, 0.0]);
        assert_eq!(dense.factors, [(3.0f64 / 8.0).sqrt() as f32, 0.0, (1.0f64 / 3.0).sqrt() as f32, 0.0]);
        let given = rows.iter().map(|row| (0u32..).zip(*row).filter(|(_, x)| *x != 0.0).collect::<Vec<_>>());
        let given: Vec<Vec<(u32, f32)>> = given.collect();
        let starts = std::iter::once(0).chain(given.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        }));
        let starts = starts.collect();
        let (columns, values) = given.concat().into_iter().unzip();
        let sparse = standard(Features::Sparse { width: 4, starts, columns, values }, 4);
        assert_eq!(sparse.means, dense.means);
        assert_eq!(sparse.factors, dense.factors);
    }

    #[test]
    fn huge_and_tiny_values_stay_finite() {
        let values = vec![3e38, 1e-44, 1e9, -3e38, 2e-44, 1e9 + 2048.0];
        let found = standard(Features::dense(3, values), 2);
        assert!(found.means.iter().chain(&found.factors).all(|x| x.is_finite()));
        assert_eq!(found.factors[1], 0.0);
        assert_eq!(found.factors[2], 1.0 / 1024.0);
    }
}
