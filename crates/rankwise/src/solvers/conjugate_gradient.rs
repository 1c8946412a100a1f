//! Conjugate gradients for `A x = b`, where `A` is symmetric positive semi-definite and given by its product with a
//! vector.

use crate::sums::{add_scaled, dot};

/// Solves `A x = b` from `x = 0`, where `apply(v, out)` sets `out = A v`.
///
/// Stops when the residual is below `tolerance·‖b‖`, after `rounds` products, or when `go_on` returns false. Returns
/// the solution, the number of products, and the final `‖residual‖ / ‖b‖`.
pub fn conjugate_gradient(
    apply: impl Fn(&[f64], &mut [f64]),
    b: &[f64],
    tolerance: f64,
    rounds: u64,
    mut go_on: impl FnMut(u64, f64) -> bool,
) -> (Vec<f64>, u64, f64) {
    let mut x = vec![0.0; b.len()];
    let (mut residual, mut direction, mut product) = (b.to_vec(), b.to_vec(), vec![0.0; b.len()]);
    let target = dot(b, b).sqrt();
    if target == 0.0 {
        return (x, 0, 0.0);
    }
    let mut squared = dot(&residual, &residual);
    for round in 0..rounds {
        let relative = squared.sqrt() / target;
        if relative <= tolerance || !go_on(round, relative) {
            return (x, round, relative);
        }
        apply(&direction, &mut product);
        let curvature = dot(&direction, &product);
        if curvature <= 0.0 {
            return (x, round, relative);
        }
        let step = squared / curvature;
        add_scaled(&mut x, step, &direction);
        add_scaled(&mut residual, -step, &product);
        let next = dot(&residual, &residual);
        let ratio = next / squared;
        for (d, &r) in direction.iter_mut().zip(&residual) {
            *d = r + ratio * *d;
        }
        squared = next;
    }
    (x, rounds, squared.sqrt() / target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_system_by_hand() {
        // [[4,1],[1,3]] x = [1,2] has the solution (1/11, 7/11).
        let apply = |v: &[f64], out: &mut [f64]| {
            out[0] = 4.0 * v[0] + v[1];
            out[1] = v[0] + 3.0 * v[1];
        };
        let (x, rounds, residual) = conjugate_gradient(apply, &[1.0, 2.0], 1e-14, 10, |_, _| true);
        assert!((x[0] - 1.0 / 11.0).abs() < 1e-12 && (x[1] - 7.0 / 11.0).abs() < 1e-12);
        assert!(rounds <= 3 && residual < 1e-12);
    }

    #[test]
    fn stops_when_asked_and_if_the_right_hand_side_is_zero() {
        let identity = |v: &[f64], out: &mut [f64]| out.copy_from_slice(v);
        assert_eq!(conjugate_gradient(identity, &[3.0], 1e-9, 10, |_, _| false).0, [0.0]);
        assert_eq!(conjugate_gradient(identity, &[0.0], 1e-9, 10, |_, _| true), (vec![0.0], 0, 0.0));
    }
}
