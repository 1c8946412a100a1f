//! Ridge least squares over the rows of a data set.
//!
//! ```text
//! min_{w,b} ½ Σᵢ vᵢ (w·zᵢ + b − yᵢ)² / Σᵢ vᵢ  +  ½ λ ‖w‖² ,    z = (x − mean) / deviation
//! ```
//!
//! Columns are standardised, so λ means the same in any units, and `b` is not regularised. Up to [`DIRECT_WIDTH`]
//! columns, the normal equations are factorised. Beyond that, conjugate gradients work on the rows directly, and
//! sparse data stays sparse.

use super::conjugate_gradient;
use super::moments::{Spread, total_over_rows};
use super::positive::solve_positive;
use crate::data::{Dataset, Row};
use crate::parallel;
use crate::watch::{Progress, Watch};

/// The maximum number of columns for which the Gram matrix is built (its upper triangle, 4 MiB, for a piece of the rows).
const DIRECT_WIDTH: usize = 1024;

/// A linear fit in the units of the data.
#[derive(Debug, Clone, PartialEq)]
pub struct RidgeFit {
    /// One weight per column.
    pub weights: Vec<f64>,
    /// Added to every prediction.
    pub bias: f64,
    /// The number of columns that are constant or linear combinations of earlier ones; their weight is 0.
    pub dependent: usize,
    /// The number of iterations; 1 if the equations were solved directly.
    pub rounds: u64,
    /// Whether the tolerance was reached: false if stopped early.
    pub converged: bool,
}

/// Fits `targets` by the columns of `data`, with row weights.
pub fn ridge(
    data: &Dataset,
    targets: &[f64],
    row_weights: &[f64],
    lambda: f64,
    watch: &mut dyn Watch,
) -> RidgeFit {
    let problem = RidgeProblem::new(data, targets, row_weights, lambda);
    if data.width() <= DIRECT_WIDTH { problem.solve_directly() } else { problem.iterate(watch) }
}

struct RidgeProblem<'a> {
    data: &'a Dataset,
    weights: &'a [f64],
    /// Σ vᵢ.
    total: f64,
    spread: Spread,
    target_mean: f64,
    /// `yᵢ − mean(y)`.
    targets: Vec<f64>,
    lambda: f64,
}

impl<'a> RidgeProblem<'a> {
    fn new(data: &'a Dataset, targets: &[f64], weights: &'a [f64], lambda: f64) -> Self {
        let (total, target_sum) = total_over_rows(data, |rows| {
            let (targets, weights) = (&targets[rows.clone()], &weights[rows]);
            let sum = targets.iter().zip(weights).map(|(y, v)| y * v).sum::<f64>();
            (weights.iter().sum::<f64>(), sum)
        });
        let target_mean = target_sum / total;
        let targets = targets.iter().map(|y| y - target_mean).collect();
        RidgeProblem { data, weights, total, spread: Spread::of(data, weights), target_mean, targets, lambda }
    }

    fn solve_directly(&self) -> RidgeFit {
        let (mut gram, right) = self.normal_equations();
        let width = self.data.width();
        for c in 0..width {
            gram[c * width + c] += self.lambda;
        }
        let (solution, free) = solve_positive(gram, right);
        let varies = self.spread.deviation.iter().map(|d| d.is_finite());
        let dependent = free.iter().zip(varies).filter(|(free, varies)| !**free || !varies).count();
        self.in_data_units(solution, dependent, 1, true)
    }

    /// `ZᵀVZ / Σv` (both triangles) and `ZᵀV(y − ȳ) / Σv`.
    fn normal_equations(&self) -> (Vec<f64>, Vec<f64>) {
        let width = self.data.width();
        let (upper, mut right) = total_over_rows(self.data, |rows| {
            let mut upper = vec![0.0; width * (width + 1) / 2];
            let mut right = vec![0.0; width];
            let mut block = vec![0.0; BLOCK * width];
            let rows: Vec<usize> = rows.collect();
            for chunk in rows.chunks(BLOCK) {
                block.fill(0.0);
                for (&r, z) in chunk.iter().zip(block.chunks_exact_mut(width.max(1))) {
                    self.standardise(self.data.row(r), z);
                    let v = self.weights[r];
                    let vy = v * self.targets[r];
                    right.iter_mut().zip(&*z).for_each(|(o, z)| *o += vy * z);
                    z.iter_mut().for_each(|z| *z *= v.sqrt());
                }
                add_products(&block, width, &mut upper);
            }
            (upper, right)
        });
        let (mut gram, mut rest) = (vec![0.0; width * width], upper.as_slice());
        for i in 0..width {
            let (row, below) = rest.split_at(width - i);
            rest = below;
            for (j, product) in (i..width).zip(row) {
                gram[i * width + j] = product / self.total;
                gram[j * width + i] = gram[i * width + j];
            }
        }
        right.iter_mut().for_each(|r| *r /= self.total);
        (gram, right)
    }

    fn standardise(&self, row: Row<'_>, z: &mut [f64]) {
        z.fill(0.0);
        row.iter().filter(|(_, x)| !x.is_nan()).for_each(|(c, x)| z[c] = f64::from(x));
        for ((z, m), d) in z.iter_mut().zip(&self.spread.mean).zip(&self.spread.deviation) {
            *z = (*z - m) / d;
        }
    }

    fn iterate(&self, watch: &mut dyn Watch) -> RidgeFit {
        let width = self.data.width();
        let mut right = vec![0.0; width];
        self.transposed_product(&self.targets, &mut right);
        let apply = |u: &[f64], out: &mut [f64]| {
            self.transposed_product(&self.product(u), out);
            out.iter_mut().zip(u).for_each(|(o, u)| *o += self.lambda * u);
        };
        let limit = 2 * width as u64;
        let stop = watch.stop().clone();
        let (solution, rounds, residual) =
            conjugate_gradient(apply, &right, TOLERANCE, limit, |done, value| {
                watch.step(Progress { done, total: None, what: "residual", value });
                !stop.requested()
            });
        self.in_data_units(solution, 0, rounds, residual <= TOLERANCE)
    }

    /// `Z u` for every row.
    fn product(&self, u: &[f64]) -> Vec<f64> {
        let scaled: Vec<f64> = u.iter().zip(&self.spread.deviation).map(|(u, d)| u / d).collect();
        let shift: f64 = scaled.iter().zip(&self.spread.mean).map(|(u, m)| u * m).sum();
        parallel::map(0..self.data.len(), |r| self.data.row(r).dot(&scaled) - shift)
    }

    /// `out = ZᵀV r / Σv`.
    fn transposed_product(&self, r: &[f64], out: &mut [f64]) {
        let width = self.data.width();
        let (sums, weight) = total_over_rows(self.data, |rows| {
            let (mut sums, mut weight) = (vec![0.0; width], 0.0);
            for i in rows {
                let vr = self.weights[i] * r[i];
                weight += vr;
                self.data.row(i).add_scaled(vr, &mut sums);
            }
            (sums, weight)
        });
        for (c, o) in out.iter_mut().enumerate() {
            *o = (sums[c] - weight * self.spread.mean[c]) / self.spread.deviation[c] / self.total;
        }
    }

    fn in_data_units(&self, solution: Vec<f64>, dependent: usize, rounds: u64, converged: bool) -> RidgeFit {
        let weights: Vec<f64> = solution.iter().zip(&self.spread.deviation).map(|(u, d)| u / d).collect();
        let shift: f64 = weights.iter().zip(&self.spread.mean).map(|(w, m)| w * m).sum();
        RidgeFit { weights, bias: self.target_mean - shift, dependent, rounds, converged }
    }
}

/// The relative residual at which the iterations stop.
const TOLERANCE: f64 = 1e-10;

/// The number of rows added to the Gram matrix at a time: each entry is loaded and stored once per block.
const BLOCK: usize = 8;

/// Adds `Σ_r z_r z_rᵀ` over the rows of `block` to the upper triangle of a matrix, stored row by row.
fn add_products(block: &[f64], width: usize, mut upper: &mut [f64]) {
    let rows: [&[f64]; BLOCK] = std::array::from_fn(|i| &block[i * width..(i + 1) * width]);
    for i in 0..width {
        let (out, below) = upper.split_at_mut(width - i);
        upper = below;
        let factors: [f64; BLOCK] = std::array::from_fn(|r| rows[r][i]);
        if factors.iter().all(|f| *f == 0.0) {
            continue;
        }
        let tails: [&[f64]; BLOCK] = std::array::from_fn(|r| &rows[r][i..]);
        for (j, o) in out.iter_mut().enumerate() {
            let mut sum = 0.0;
            for r in 0..BLOCK {
                sum += factors[r] * tails[r][j];
            }
            *o += sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use crate::watch::Silent;
    use rand::RngExt;

    fn random_data(rows: usize, width: usize, seed: u64) -> (Dataset, Vec<f64>, Vec<f64>) {
        let mut random = rng::stream(seed, &[]);
        let values = (0..rows * width)
            .map(|i| (i % width) as f32 * 10.0 + random.random::<f32>() * (1 + i % width) as f32)
            .collect();
        let data = Dataset::dense(values, width, vec![0.0; rows], &[rows]);
        let targets = (0..rows).map(|_| random.random::<f64>()).collect();
        let weights = (0..rows).map(|_| 0.5 + random.random::<f64>()).collect();
        (data.unwrap(), targets, weights)
    }

    #[test]
    fn an_exact_linear_relation_is_recovered() {
        let (data, _, weights) = random_data(50, 3, 1);
        let targets: Vec<f64> = (0..50).map(|r| data.row(r).dot(&[2.0, -1.0, 0.5]) + 7.0).collect();
        let fit = ridge(&data, &targets, &weights, 0.0, &mut Silent::default());
        for (w, expected) in fit.weights.iter().zip([2.0, -1.0, 0.5]) {
            assert!((w - expected).abs() < 1e-9, "{w} for {expected}");
        }
        assert!((fit.bias - 7.0).abs() < 1e-7, "{}", fit.bias);
        assert!(fit.converged && fit.dependent == 0);
    }

    /// At the optimum, in standardised units: `ZᵀV(Zu + b − y)/Σv + λu = 0` and the weighted residuals sum to 0.
    #[test]
    fn the_gradient_is_zero_at_the_solution_of_both_methods() {
        let (data, targets, weights) = random_data(60, 7, 2);
        let lambda = 0.3;
        let problem = RidgeProblem::new(&data, &targets, &weights, lambda);
        for fit in [problem.solve_directly(), problem.iterate(&mut Silent::default())] {
            let residual: Vec<f64> =
                (0..60).map(|r| data.row(r).dot(&fit.weights) + fit.bias - targets[r]).collect();
            let balance: f64 = residual.iter().zip(&weights).map(|(r, v)| r * v).sum();
            assert!(balance.abs() < 1e-9, "{balance}");
            let mut gradient = vec![0.0; 7];
            problem.transposed_product(&residual, &mut gradient);
            for (c, slope) in gradient.iter().enumerate() {
                let u = fit.weights[c] * problem.spread.deviation[c];
                assert!((slope + lambda * u).abs() < 1e-9, "column {c}: {slope}");
            }
        }
    }

    #[test]
    fn duplicate_and_constant_columns_are_harmless() {
        let (data, targets, weights) = random_data(40, 4, 3);
        let mut parts = data.into_parts();
        for row in parts.features.values_mut().chunks_exact_mut(4) {
            row[2] = row[1];
            row[3] = 5.0;
        }
        let data = Dataset::new(parts).unwrap();
        let fit = ridge(&data, &targets, &weights, 0.0, &mut Silent::default());
        assert_eq!((fit.dependent, fit.weights[2], fit.weights[3]), (2, 0.0, 0.0));
        assert!(fit.weights.iter().all(|w| w.is_finite()));
    }

    #[test]
    fn a_large_offset_costs_no_precision() {
        let (data, targets, weights) = random_data(40, 2, 4);
        let plain = ridge(&data, &targets, &weights, 0.0, &mut Silent::default());
        let mut parts = data.into_parts();
        for row in parts.features.values_mut().chunks_exact_mut(2) {
            // Both are exact in single precision, so that only the arithmetic is tested.
            row[0] = (row[0] * 1024.0).round() / 1024.0;
        }
        let near = Dataset::new(parts.clone()).unwrap();
        parts.features.values_mut().chunks_exact_mut(2).for_each(|row| row[0] += 8192.0);
        let far = Dataset::new(parts).unwrap();
        let fit = |d| ridge(d, &targets, &weights, 0.0, &mut Silent::default()).weights[0];
        assert!((fit(&near) - fit(&far)).abs() < 1e-7 * fit(&near).abs());
        assert!((fit(&near) - plain.weights[0]).abs() < 0.05);
    }
}
