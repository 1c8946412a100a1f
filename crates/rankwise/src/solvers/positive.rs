//! Direct solution of small symmetric positive semi-definite systems.

use crate::sums::dot;

/// Solves `A x = b` by the Cholesky factorisation `A = L Lᵀ`. A column that depends linearly on earlier ones (its
/// pivot is lost in rounding) gets 0. Also returns which columns are independent of earlier ones.
pub(super) fn solve_positive(mut a: Vec<f64>, b: Vec<f64>) -> (Vec<f64>, Vec<bool>) {
    let n = b.len();
    let mut free = vec![true; n];
    for i in 0..n {
        let (above, row) = a.split_at_mut(i * n);
        let row = &mut row[..=i];
        for j in 0..i {
            let upper = &above[j * n..=j * n + j];
            // The row of a dependent column is zero, including its pivot, and so is its entry in other rows.
            row[j] = if free[j] { (row[j] - dot(&row[..j], &upper[..j])) / upper[j] } else { 0.0 };
        }
        let pivot = row[i] - dot(&row[..i], &row[..i]);
        free[i] = pivot > 1e-11 * row[i];
        row[i] = if free[i] { pivot.sqrt() } else { 0.0 };
    }
    let mut x = b;
    for i in 0..n {
        let row = &a[i * n..=i * n + i];
        x[i] = if free[i] { (x[i] - dot(&row[..i], &x[..i])) / row[i] } else { 0.0 };
    }
    for i in (0..n).rev() {
        let (before, rest) = x.split_at_mut(i);
        if free[i] {
            rest[0] /= a[i * n + i];
            let row = &a[i * n..i * n + i];
            before.iter_mut().zip(row).for_each(|(x, l)| *x -= rest[0] * l);
        } else {
            rest[0] = 0.0;
        }
    }
    (x, free)
}
