//! Gradients in fixed point, so that their sums are exact.
//!
//! ```text
//! slope   = round(g·2^a),              a as large as Σ|g|·2^a < 2^62 allows
//! weight  = round(h·2^b) + 2^shift,    b as large as Σh·2^b < 2^shift allows; 2^shift counts the document
//! ```
//!
//! Integer sums do not depend on the order of summation: any number of threads gives the same bits, and subtracting a
//! sibling's histogram gives the same result as building it. On average, a document keeps more than 40 bits of its
//! gradient, and more bits of its curvature than single precision would in data of a million documents.

use crate::error::{Error, Result};
use crate::parallel;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// The minimum number of documents for a task of its own.
const CHUNK: usize = 1 << 14;

/// Sums over documents, in fixed point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub(super) struct GradientSums {
    slope: i64,
    weight: i64,
}

/// The gradients of all documents, and their fixed-point units.
#[derive(Debug)]
pub(super) struct Gradients {
    documents: Vec<GradientSums>,
    units: FixedPointUnits,
}

/// Converts fixed-point sums to floating point.
#[derive(Debug, Clone, Copy)]
pub(super) struct FixedPointUnits {
    slope: f64,
    weight: f64,
    shift: u32,
}

/// Sums over documents, in floating point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stats {
    /// Σ g
    pub(super) slope: f64,
    /// Σ h
    pub(super) curvature: f64,
    /// The number of documents.
    pub(super) count: u64,
}

impl Gradients {
    /// Rounds first and second derivatives to fixed point. Fails if one is not finite, or if a second derivative is
    /// negative.
    pub(super) fn new(slopes: &[f64], curvatures: &[f64]) -> Result<Gradients> {
        // In chunks of fixed size, so that the sums do not depend on the number of threads.
        let given = || slopes.chunks(CHUNK).zip(curvatures.chunks(CHUNK));
        let sizes: Vec<(f64, f64, f64)> = parallel::map(given(), |(slopes, curvatures)| {
            let least = curvatures.iter().copied().fold(0.0, f64::min);
            (size(slopes), size(curvatures), least)
        });
        if let Some((_, _, h)) = sizes.iter().find(|(_, _, least)| *least < 0.0) {
            return Err(Error::data(format!(
                "the loss has a negative second derivative ({h}) at a document; boosted trees need it to be at least 0"
            )));
        }
        let (size, weight) = sizes.iter().fold((0.0, 0.0), |sum, chunk| (sum.0 + chunk.0, sum.1 + chunk.1));
        if !(size + weight).is_finite() {
            return Err(Error::data(
                "the gradients of the loss are not finite; labels or scores may be too large",
            ));
        }
        let rows = slopes.len() as u64;
        let shift = rows.leading_zeros() - 1;
        let (a, b) = (fitting_power(size, 62), fitting_power(weight, shift));
        let one = 1i64 << shift;
        let round = |(&g, &h): (&f64, &f64)| GradientSums {
            slope: (g * a).round_ties_even() as i64,
            weight: (h * b).round_ties_even() as i64 + one,
        };
        let mut documents = vec![GradientSums::default(); slopes.len()];
        parallel::for_each(documents.chunks_mut(CHUNK).zip(given()), |(out, (slopes, curvatures))| {
            out.iter_mut().zip(slopes.iter().zip(curvatures)).for_each(|(out, given)| *out = round(given));
        });
        Ok(Gradients { documents, units: FixedPointUnits { slope: 1.0 / a, weight: 1.0 / b, shift } })
    }

    pub(super) fn units(&self) -> FixedPointUnits {
        self.units
    }

    pub(super) fn documents(&self) -> &[GradientSums] {
        &self.documents
    }
}

/// `Σ|x|`
fn size(values: &[f64]) -> f64 {
    values.iter().map(|x| x.abs()).sum()
}

/// A power of two that scales `sum` to at most half of `2^bits`; the other half leaves room for rounding.
fn fitting_power(sum: f64, bits: u32) -> f64 {
    let half = 2f64.powi(bits as i32 - 1);
    if sum > 0.0 { 2f64.powi((half / sum).log2().floor().clamp(-1000.0, 1000.0) as i32) } else { 1.0 }
}

impl FixedPointUnits {
    /// Converts fixed-point sums.
    pub(super) fn read(self, sums: GradientSums) -> Stats {
        Stats {
            slope: sums.slope as f64 * self.slope,
            curvature: (sums.weight & ((1 << self.shift) - 1)) as f64 * self.weight,
            count: (sums.weight >> self.shift) as u64,
        }
    }
}

impl GradientSums {
    /// Whether this is the sum over no documents.
    pub(super) fn is_empty(self) -> bool {
        self.weight == 0
    }
}

impl Add for GradientSums {
    type Output = GradientSums;

    fn add(self, other: GradientSums) -> GradientSums {
        GradientSums { slope: self.slope + other.slope, weight: self.weight + other.weight }
    }
}

impl AddAssign for GradientSums {
    fn add_assign(&mut self, other: GradientSums) {
        self.slope = self.slope.wrapping_add(other.slope);
        self.weight = self.weight.wrapping_add(other.weight);
    }
}

impl Sub for GradientSums {
    type Output = GradientSums;

    fn sub(self, other: GradientSums) -> GradientSums {
        GradientSums { slope: self.slope - other.slope, weight: self.weight - other.weight }
    }
}

impl SubAssign for GradientSums {
    fn sub_assign(&mut self, other: GradientSums) {
        *self = *self - other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use rand::RngExt;

    #[test]
    fn sums_are_exact_in_any_order_and_close_to_floating_point_sums() {
        let mut random = rng::stream(1, &[]);
        let slopes: Vec<f64> = (0..5000).map(|_| (random.random::<f64>() - 0.5).powi(5) * 1e-3).collect();
        let curvatures: Vec<f64> = (0..5000).map(|_| random.random::<f64>().powi(4)).collect();
        let gradients = Gradients::new(&slopes, &curvatures).unwrap();
        let forward = gradients.documents().iter().fold(GradientSums::default(), |a, &b| a + b);
        let backward = gradients.documents().iter().rev().fold(GradientSums::default(), |a, &b| a + b);
        assert_eq!(forward, backward);
        let stats = gradients.units().read(forward);
        assert_eq!(stats.count, 5000);
        assert!((stats.slope - slopes.iter().sum::<f64>()).abs() < 1e-13);
        assert!((stats.curvature / curvatures.iter().sum::<f64>() - 1.0).abs() < 1e-10);
        let half = gradients.documents()[..2500].iter().fold(GradientSums::default(), |a, &b| a + b);
        let rest = gradients.units().read(forward - half);
        assert_eq!(rest.count, 2500);
        assert!((rest.slope - slopes[2500..].iter().sum::<f64>()).abs() < 1e-13);
    }

    /// Equal second derivatives are powers of two here, and must not spill into the count stored beside them.
    #[test]
    fn counts_are_exact() {
        for rows in [1, 2, 3, 4, 7, 8, 1024] {
            let gradients = Gradients::new(&vec![1.0; rows], &vec![1.0; rows]).unwrap();
            let sum = gradients.documents().iter().fold(GradientSums::default(), |a, &b| a + b);
            let n = rows as f64;
            let expected = Stats { slope: n, curvature: n, count: rows as u64 };
            assert_eq!(gradients.units().read(sum), expected);
        }
    }

    #[test]
    fn tiny_and_huge_gradients_keep_their_precision_and_non_finite_ones_are_rejected() {
        for size in [1e-280, 1e-20, 1.0, 1e30, 1e300] {
            let gradients = Gradients::new(&[size, -size, 0.0], &[size, 0.0, size]).unwrap();
            let stats = gradients.units().read(gradients.documents()[0]);
            assert!((stats.slope / size - 1.0).abs() < 1e-12, "{size}: {stats:?}");
            assert!((stats.curvature / size - 1.0).abs() < 1e-12 && stats.count == 1, "{size}: {stats:?}");
        }
        let zero = Gradients::new(&[0.0], &[0.0]).unwrap();
        assert_eq!(zero.units().read(zero.documents()[0]), Stats { slope: 0.0, curvature: 0.0, count: 1 });
        assert!(Gradients::new(&[f64::NAN], &[1.0]).is_err());
        assert!(Gradients::new(&[f64::MAX, f64::MAX], &[1.0, 1.0]).is_err());
        assert!(Gradients::new(&[1.0], &[-1.0]).is_err());
    }
}
