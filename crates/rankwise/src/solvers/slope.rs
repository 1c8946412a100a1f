//! The slope of a cutting plane, stored without its zeros if it has many.

use crate::sums::{add_scaled, dot, dots};

/// A slope is stored without its zeros if fewer than one of this many numbers differ from 0.
const SPARSE: usize = 4;

/// The slope of a cutting plane.
#[derive(Debug, Clone)]
pub(super) enum Slope {
    Dense(Vec<f64>),
    /// The columns of the numbers other than 0, ascending, and these numbers.
    Sparse(Vec<u32>, Vec<f64>),
}

impl Slope {
    pub(super) fn new(slope: &[f64]) -> Slope {
        let nonzero = slope.iter().filter(|x| **x != 0.0).count();
        if nonzero * SPARSE >= slope.len() {
            return Slope::Dense(slope.to_vec());
        }
        let stored = slope.iter().enumerate().filter(|(_, x)| **x != 0.0);
        let (columns, values) = stored.map(|(c, x)| (c as u32, *x)).unzip();
        Slope::Sparse(columns, values)
    }

    /// Its product with a vector.
    pub(super) fn dot(&self, other: &[f64]) -> f64 {
        match self {
            Slope::Dense(slope) => dot(slope, other),
            Slope::Sparse(columns, values) => {
                columns.iter().zip(values).map(|(&c, x)| x * other[c as usize]).sum()
            }
        }
    }

    /// The products of all `slopes` with all `others`, by slope: those of [`dot`](Slope::dot), to the last bit.
    pub(super) fn dots(slopes: &[Slope], others: &[&[f64]]) -> Vec<Vec<f64>> {
        let dense: Vec<&[f64]> = slopes.iter().filter_map(Slope::as_dense).collect();
        let mut of_dense = dots(&dense, others).into_iter();
        let products = |slope: &Slope| match slope {
            Slope::Dense(_) => of_dense.next().expect("one row per dense slope"),
            Slope::Sparse(..) => others.iter().map(|other| slope.dot(other)).collect(),
        };
        slopes.iter().map(products).collect()
    }

    fn as_dense(&self) -> Option<&[f64]> {
        match self {
            Slope::Dense(slope) => Some(slope),
            Slope::Sparse(..) => None,
        }
    }

    /// `out += scale·slope`.
    pub(super) fn add_scaled(&self, scale: f64, out: &mut [f64]) {
        match self {
            Slope::Dense(slope) => add_scaled(out, scale, slope),
            Slope::Sparse(columns, values) => {
                for (&c, x) in columns.iter().zip(values) {
                    out[c as usize] += scale * x;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_many_slopes_are_those_of_single_ones_to_the_last_bit() {
        let row = |k: usize, every: usize| -> Vec<f64> {
            (0..300).map(|i| if i % every == 0 { 1.0 / (1 + i * k % 97) as f64 } else { 0.0 }).collect()
        };
        let slopes: Vec<Slope> = [1, 20, 3, 50, 1].map(|every| Slope::new(&row(every + 1, every))).into();
        let others = [row(5, 1), row(7, 2), row(11, 30)];
        let others: Vec<&[f64]> = others.iter().map(Vec::as_slice).collect();
        let found = Slope::dots(&slopes, &others);
        let single = |slope: &Slope| others.iter().map(|other| slope.dot(other)).collect::<Vec<f64>>();
        assert_eq!(found, slopes.iter().map(single).collect::<Vec<_>>());
    }

    /// Small whole numbers, whose products and sums are exact in any order.
    #[test]
    fn sparse_and_dense_slopes_give_the_same_numbers() {
        let other: Vec<f64> = (0..40).map(|i| f64::from(i % 7) - 3.0).collect();
        for every in [1, 3, 5, 40, 41] {
            let slope: Vec<f64> = (1..=40).map(|i| if i % every == 0 { f64::from(i) } else { 0.0 }).collect();
            let stored = Slope::new(&slope);
            assert_eq!(matches!(stored, Slope::Sparse(..)), every > 4);
            assert_eq!(stored.dot(&other), Slope::Dense(slope.clone()).dot(&other));
            let (mut a, mut b) = (other.clone(), other.clone());
            stored.add_scaled(-2.0, &mut a);
            Slope::Dense(slope).add_scaled(-2.0, &mut b);
            assert_eq!(a, b);
        }
    }
}
