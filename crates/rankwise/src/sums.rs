//! Sums and products of rows of numbers.
//!
//! Each is summed in eight lanes, which the compiler turns into vector instructions. The order of additions is fixed,
//! so the result is too. The loops count instead of zipping iterators: these are compiled to vectors in every
//! build, also where functions of the standard library are not inlined from one unit of code to another.

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
