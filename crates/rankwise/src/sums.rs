//! Sums and products of rows of numbers.
//!
//! Each is summed in eight lanes, which the compiler turns into vector instructions. The order of additions is fixed,
//! so the result is too. The loops count instead of zipping iterators: these are compiled to vectors in every
//! build, also where functions of the standard library are not inlined from one unit of code to another.

use pulp::{Arch, NullaryFnOnce};
use std::ops::Range;

/// The number of partial sums.
pub(crate) const LANES: usize = 8;

/// The sum of the lanes.
#[inline(always)]
pub(crate) fn total(lanes: [f64; LANES]) -> f64 {
    ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]))
}

/// `Σ x`.
#[inline(always)]
pub(crate) fn add_up(row: &[f64]) -> f64 {
    let (chunks, rest) = row.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] += chunk[lane];
        }
    }
    let mut last = 0.0;
    for x in rest {
        last += x;
    }
    total(lanes) + last
}

/// `Σ times(a, b)` over two rows of equal length.
#[inline(always)]
pub(crate) fn add_up_products<A: Copy, B: Copy>(a: &[A], b: &[B], times: impl Fn(A, B) -> f64) -> f64 {
    let b = &b[..a.len()];
    let ((a_chunks, a_rest), (b_chunks, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [0.0; LANES];
    for chunk in 0..a_chunks.len() {
        for lane in 0..LANES {
            lanes[lane] += times(a_chunks[chunk][lane], b_chunks[chunk][lane]);
        }
    }
    let mut last = 0.0;
    for i in 0..a_rest.len() {
        last += times(a_rest[i], b_rest[i]);
    }
    total(lanes) + last
}

/// `a·b`.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    add_up_products(a, b, |a, b| a * b)
}

/// Columns of a block in [`dots`]: those of sixteen rows fit the second-level cache.
const BLOCK: usize = 1 << 11;

/// `a·b` for every `a` of `rows` and every `b` of `others`, by row. All have the same length. Each product is that of
/// [`dot`], to the last bit; but a long row is read from memory once, not once for every other row.
pub(crate) fn dots(rows: &[&[f64]], others: &[&[f64]]) -> Vec<Vec<f64>> {
    let mut lanes = vec![vec![[0.0; LANES]; others.len()]; rows.len()];
    let width = rows.first().map_or(0, |row| row.len());
    let whole = width / LANES * LANES;
    for from in (0..whole).step_by(BLOCK) {
        let block = from..whole.min(from + BLOCK);
        Arch::new().dispatch(AddProducts { rows, others, block, lanes: &mut lanes });
    }
    let product = |row: &[f64], other: &[f64], lanes: [f64; LANES]| {
        let mut last = 0.0;
        for i in whole..width {
            last += row[i] * other[i];
        }
        total(lanes) + last
    };
    let of_row = |(row, lanes): (&&[f64], Vec<[f64; LANES]>)| {
        others.iter().zip(lanes).map(|(other, lanes)| product(row, other, lanes)).collect()
    };
    rows.iter().zip(lanes).map(of_row).collect()
}

/// Adds the products in a block of columns, whose length is a multiple of [`LANES`], with the widest vectors of the
/// machine.
struct AddProducts<'a> {
    rows: &'a [&'a [f64]],
    others: &'a [&'a [f64]],
    block: Range<usize>,
    lanes: &'a mut [Vec<[f64; LANES]>],
}

impl NullaryFnOnce for AddProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (row, lanes) in self.rows.iter().zip(self.lanes) {
            let a = row[self.block.clone()].as_chunks::<LANES>().0;
            for (other, lanes) in self.others.iter().zip(lanes) {
                let b = &other[self.block.clone()].as_chunks::<LANES>().0[..a.len()];
                let mut sums = *lanes;
                for chunk in 0..a.len() {
                    for lane in 0..LANES {
                        sums[lane] += a[chunk][lane] * b[chunk][lane];
                    }
                }
                *lanes = sums;
            }
        }
    }
}

/// `sums += factor·terms`; there may be fewer terms than sums.
#[inline(always)]
pub(crate) fn add_scaled(sums: &mut [f64], factor: f64, terms: &[f64]) {
    let sums = &mut sums[..terms.len()];
    for i in 0..terms.len() {
        sums[i] += factor * terms[i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of every remainder and on both sides of a block's end.
    #[test]
    fn many_products_are_those_of_single_ones_to_the_last_bit() {
        for length in [0, 1, 7, 8, 9, 100, BLOCK, BLOCK + 13, 2 * BLOCK + 8] {
            let row =
                |k: usize| (0..length).map(|i| 1.0 / (1 + i * k % 97) as f64 - 0.3).collect::<Vec<f64>>();
            let (rows, others): (Vec<_>, Vec<_>) = ((1..4).map(row).collect(), (5..10).map(row).collect());
            let found = dots(&refs(&rows), &refs(&others));
            for (row, found) in rows.iter().zip(&found) {
                let single: Vec<f64> = others.iter().map(|other| dot(row, other)).collect();
                assert_eq!(*found, single, "{length}");
            }
            assert_eq!((found.len(), dots(&[], &refs(&others)).len()), (3, 0));
        }
    }

    fn refs(rows: &[Vec<f64>]) -> Vec<&[f64]> {
        rows.iter().map(Vec::as_slice).collect()
    }

    #[test]
    fn every_number_is_counted_once_whatever_the_length() {
        for length in 0..40 {
            let row: Vec<f64> = (0..length).map(|i| f64::from(1 << (i % 20))).collect();
            let ones = vec![1.0f32; length as usize];
            assert_eq!(add_up(&row), row.iter().sum::<f64>());
            assert_eq!(add_up_products(&ones, &row, |a, b| f64::from(a) * b), row.iter().sum::<f64>());
            let mut sums = row.clone();
            add_scaled(&mut sums, 2.0, &row);
            assert!(sums.iter().zip(&row).all(|(sum, x)| *sum == 3.0 * x));
        }
    }
}
