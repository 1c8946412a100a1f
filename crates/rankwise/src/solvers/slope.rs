//! The slope of a cutting plane, stored without its zeros if it has many.

use crate::sums::{LANES, add_scaled, dot, dots};

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

    /// The products of all `slopes` with all `vectors`, by slope: those of [`dot`](Slope::dot), to the last bit.
    pub(super) fn dots(slopes: &[Slope], vectors: &Vectors<'_>) -> Vec<Vec<f64>> {
        let dense: Vec<&[f64]> = slopes.iter().filter_map(Slope::as_dense).collect();
        let mut of_dense = dots(&dense, &vectors.rows).into_iter();
        let products = |slope: &Slope| match slope {
            Slope::Dense(_) => of_dense.next().expect("one row per dense slope"),
            Slope::Sparse(columns, values) => vectors.dots(columns, values),
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

/// Vectors to multiply many slopes with.
pub(super) struct Vectors<'a> {
    rows: Vec<&'a [f64]>,
    /// The vectors side by side, [`LANES`] to a block, so that one step of a sparse slope reads one place in memory for
    /// all of them. Empty if no slope is sparse.
    blocks: Vec<Vec<[f64; LANES]>>,
}

impl<'a> Vectors<'a> {
    /// Vectors for the products with `slopes`.
    pub(super) fn new(rows: Vec<&'a [f64]>, slopes: &[Slope]) -> Vectors<'a> {
        let any_sparse = slopes.iter().any(|slope| matches!(slope, Slope::Sparse(..)));
        let blocks = if any_sparse { rows.chunks(LANES).map(side_by_side).collect() } else { Vec::new() };
        Vectors { rows, blocks }
    }

    /// The products of a sparse slope with all vectors. Each is summed in the order of the columns.
    fn dots(&self, columns: &[u32], values: &[f64]) -> Vec<f64> {
        let of_block = |block: &Vec<[f64; LANES]>| {
            let mut sums = [0.0; LANES];
            for (&c, x) in columns.iter().zip(values) {
                let others = &block[c as usize];
                for lane in 0..LANES {
                    sums[lane] += x * others[lane];
                }
            }
            sums
        };
        self.blocks.iter().flat_map(of_block).take(self.rows.len()).collect()
    }
}

/// For every column, the numbers of up to [`LANES`] rows.
fn side_by_side(rows: &[&[f64]]) -> Vec<[f64; LANES]> {
    let mut block = vec![[0.0; LANES]; rows[0].len()];
    for (lane, row) in rows.iter().enumerate() {
        block.iter_mut().zip(*row).for_each(|(numbers, x)| numbers[lane] = *x);
    }
    block
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
        let others: Vec<Vec<f64>> = (1..12).map(|k| row(5 * k, k)).collect();
        let rows = others.iter().map(Vec::as_slice).collect();
        let found = Slope::dots(&slopes, &Vectors::new(rows, &slopes));
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
