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

use super::binned::Pieces;
use crate::error::{Error, Result};
use crate::parallel;
use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// The number of documents that a task rounds.
const CHUNK: usize = 1 << 14;

/// Sums over documents, in fixed point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The sum of the absolute slopes of all documents.
    size: f64,
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
    pub(super) fn new(slopes: &[f64], curvatures: &[f64], pieces: &Pieces) -> Result<Gradients> {
        let (size, weight, negative) = pieces.total(|rows| {
            let (slopes, curvatures) = (&slopes[rows.clone()], &curvatures[rows]);
            let negative = curvatures.iter().filter(|h| **h < 0.0).count();
            (sum_of_sizes(slopes), sum_of_sizes(curvatures), negative)
        });
        if negative > 0 {
            return Err(Error::data(format!(
                "the loss has a negative second derivative at {negative} documents; boosted trees need it to be at \
                 least 0"
            )));
        }
        if !(size + weight).is_finite() {
            return Err(Error::data(
                "the gradients of the loss are not finite; labels or scores may be too large",
            ));
        }
        let given = || slopes.chunks(CHUNK).zip(curvatures.chunks(CHUNK));
        let shift = (pieces.documents() as u64).leading_zeros() - 1;
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
        let units = FixedPointUnits { slope: 1.0 / a, weight: 1.0 / b, shift };
        Ok(Gradients { documents, units, size })
    }

    /// The sum of the absolute slopes of all documents.
    pub(super) fn size(&self) -> f64 {
        self.size
    }

    pub(super) fn units(&self) -> FixedPointUnits {
        self.units
    }

    pub(super) fn documents(&self) -> &[GradientSums] {
        &self.documents
    }
}

/// `Σ|x|`
fn sum_of_sizes(values: &[f64]) -> f64 {
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
    /// As bytes, to be sent.
    pub(super) fn to_bytes(self) -> [u8; 16] {
        (u128::from(self.slope as u64) | u128::from(self.weight as u64) << 64).to_le_bytes()
    }

    pub(super) fn from_bytes(bytes: [u8; 16]) -> GradientSums {
        let both = u128::from_le_bytes(bytes);
        GradientSums { slope: both as u64 as i64, weight: (both >> 64) as u64 as i64 }
    }

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
    use crate::data::Dataset;
    use crate::rng;
    use rand::RngExt;

    fn gradients(slopes: &[f64], curvatures: &[f64]) -> Result<Gradients> {
        let rows = slopes.len();
        let data = Dataset::dense(vec![0.0; rows], 1, vec![0.0; rows], &[rows]).unwrap();
        Gradients::new(slopes, curvatures, &Pieces::of(&data))
    }

    #[test]
    fn sums_are_exact_in_any_order_and_close_to_floating_point_sums() {
        let mut random = rng::stream(1, &[]);
        let slopes: Vec<f64> = (0..5000).map(|_| (random.random::<f64>() - 0.5).powi(5) * 1e-3).collect();
        let curvatures: Vec<f64> = (0..5000).map(|_| random.random::<f64>().powi(4)).collect();
        let gradients = gradients(&slopes, &curvatures).unwrap();
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
            let gradients = gradients(&vec![1.0; rows], &vec![1.0; rows]).unwrap();
            let sum = gradients.documents().iter().fold(GradientSums::default(), |a, &b| a + b);
            let n = rows as f64;
            let expected = Stats { slope: n, curvature: n, count: rows as u64 };
            assert_eq!(gradients.units().read(sum), expected);
        }
    }

    #[test]
    fn tiny_and_huge_gradients_keep_their_precision_and_non_finite_ones_are_rejected() {
        for size in [1e-280, 1e-20, 1.0, 1e30, 1e300] {
            let gradients = gradients(&[size, -size, 0.0], &[size, 0.0, size]).unwrap();
            let stats = gradients.units().read(gradients.documents()[0]);
            assert!((stats.slope / size - 1.0).abs() < 1e-12, "{size}: {stats:?}");
            assert!((stats.curvature / size - 1.0).abs() < 1e-12 && stats.count == 1, "{size}: {stats:?}");
        }
        let zero = gradients(&[0.0], &[0.0]).unwrap();
        assert_eq!(zero.units().read(zero.documents()[0]), Stats { slope: 0.0, curvature: 0.0, count: 1 });
        assert!(gradients(&[f64::NAN], &[1.0]).is_err());
        assert!(gradients(&[f64::MAX, f64::MAX], &[1.0, 1.0]).is_err());
        assert!(gradients(&[1.0], &[-1.0]).is_err());
    }
}
