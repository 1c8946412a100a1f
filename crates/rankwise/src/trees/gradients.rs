//! Gradients as whole numbers, so that their sums are exact.
//!
//! ```text
//! slope   = round(g·2^a),              a as large as Σ|g|·2^a < 2^62 allows
//! weight  = round(h·2^b) + 2^shift,    b as large as Σh·2^b < 2^shift allows; 2^shift counts the document
//! ```
//!
//! Sums of whole numbers do not depend on the order of adding: any number of threads gives the same bits, and a sibling's
//! histogram by subtraction is what building it would have given. On average a document keeps more than 40 bits of its
//! gradient, and of its curvature more than f32 would in data of a million documents.

use crate::error::{Error, Result};
use rayon::prelude::*;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// Documents that are worth a task of their own.
const CHUNK: usize = 1 << 14;

/// Sums over documents, as whole numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub(super) struct Sums {
    slope: i64,
    weight: i64,
}

/// Gradients of all documents and what they are in units of.
#[derive(Debug)]
pub(super) struct Gradients {
    documents: Vec<Sums>,
    units: Units,
}

/// How whole numbers become figures again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Units {
    slope: f64,
    weight: f64,
    shift: u32,
}

/// Sums over documents, as figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stats {
    /// Σ g
    pub(super) slope: f64,
    /// Σ h
    pub(super) curvature: f64,
    /// How many documents.
    pub(super) count: u64,
}

impl Gradients {
    /// Rounds first and second derivatives; an error where one is not finite, or a second one negative.
    pub(super) fn new(slopes: &[f64], curvatures: &[f64]) -> Result<Gradients> {
        if let Some(h) = curvatures.par_iter().find_any(|h| **h < 0.0) {
            return Err(Error::data(format!("the loss has the second derivative {h} at a document")));
        }
        let size = total(slopes);
        let weight = total(curvatures);
        if !(size + weight).is_finite() {
            return Err(Error::data(
                "the gradients of the loss are not finite; labels or scores may be too large",
            ));
        }
        let rows = slopes.len() as u64;
        let shift = rows.leading_zeros() - 1;
        let (a, b) = (fitting_power(size, 62), fitting_power(weight, shift));
        let one = 1i64 << shift;
        let round = |(&g, &h): (&f64, &f64)| Sums {
            slope: (g * a).round_ties_even() as i64,
            weight: (h * b).round_ties_even() as i64 + one,
        };
        let documents = slopes.par_iter().zip(curvatures).with_min_len(CHUNK).map(round).collect();
        Ok(Gradients { documents, units: Units { slope: 1.0 / a, weight: 1.0 / b, shift } })
    }

    pub(super) fn units(&self) -> Units {
        self.units
    }

    pub(super) fn documents(&self) -> &[Sums] {
        &self.documents
    }
}

/// `Σ|x|`, in chunks of fixed size, so that it does not depend on threads.
fn total(values: &[f64]) -> f64 {
    let sums: Vec<f64> = values.par_chunks(CHUNK).map(|chunk| chunk.iter().map(|x| x.abs()).sum()).collect();
    sums.iter().sum()
}

/// A power of two that brings `sum` to at most half of `2^bits`; the other half has room for rounding.
fn fitting_power(sum: f64, bits: u32) -> f64 {
    let half = 2f64.powi(bits as i32 - 1);
    if sum > 0.0 { 2f64.powi((half / sum).log2().floor().clamp(-1000.0, 1000.0) as i32) } else { 1.0 }
}

impl Units {
    /// What whole numbers stand for.
    pub(super) fn read(self, sums: Sums) -> Stats {
        Stats {
            slope: sums.slope as f64 * self.slope,
            curvature: (sums.weight & ((1 << self.shift) - 1)) as f64 * self.weight,
            count: (sums.weight >> self.shift) as u64,
        }
    }
}

impl Sums {
    /// Whether it sums no documents.
    pub(super) fn is_empty(self) -> bool {
        self.weight == 0
    }
}

impl Add for Sums {
    type Output = Sums;

    fn add(self, other: Sums) -> Sums {
        Sums { slope: self.slope + other.slope, weight: self.weight + other.weight }
    }
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Sums) {
        self.slope = self.slope.wrapping_add(other.slope);
        self.weight = self.weight.wrapping_add(other.weight);
    }
}

impl Sub for Sums {
    type Output = Sums;

    fn sub(self, other: Sums) -> Sums {
        Sums { slope: self.slope - other.slope, weight: self.weight - other.weight }
    }
}

impl SubAssign for Sums {
    fn sub_assign(&mut self, other: Sums) {
        *self = *self - other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use rand::RngExt;

    #[test]
    fn sums_are_exact_in_any_order_and_close_to_those_in_floats() {
        let mut random = rng::stream(1, &[]);
        let slopes: Vec<f64> = (0..5000).map(|_| (random.random::<f64>() - 0.5).powi(5) * 1e-3).collect();
        let curvatures: Vec<f64> = (0..5000).map(|_| random.random::<f64>().powi(4)).collect();
        let gradients = Gradients::new(&slopes, &curvatures).unwrap();
        let forward = gradients.documents().iter().fold(Sums::default(), |a, &b| a + b);
        let backward = gradients.documents().iter().rev().fold(Sums::default(), |a, &b| a + b);
        assert_eq!(forward, backward);
        let stats = gradients.units().read(forward);
        assert_eq!(stats.count, 5000);
        assert!((stats.slope - slopes.iter().sum::<f64>()).abs() < 1e-13);
        assert!((stats.curvature / curvatures.iter().sum::<f64>() - 1.0).abs() < 1e-10);
        let half = gradients.documents()[..2500].iter().fold(Sums::default(), |a, &b| a + b);
        let rest = gradients.units().read(forward - half);
        assert_eq!(rest.count, 2500);
        assert!((rest.slope - slopes[2500..].iter().sum::<f64>()).abs() < 1e-13);
    }

    /// Equal second derivatives are whole powers of two here, and must not spill into the count beside them.
    #[test]
    fn counts_are_exact() {
        for rows in [1, 2, 3, 4, 7, 8, 1024] {
            let gradients = Gradients::new(&vec![1.0; rows], &vec![1.0; rows]).unwrap();
            let sum = gradients.documents().iter().fold(Sums::default(), |a, &b| a + b);
            let n = rows as f64;
            let expected = Stats { slope: n, curvature: n, count: rows as u64 };
            assert_eq!(gradients.units().read(sum), expected);
        }
    }

    #[test]
    fn sizes_from_tiny_to_huge_are_kept_and_what_is_not_finite_refused() {
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
