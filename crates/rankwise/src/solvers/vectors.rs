//! Sums and products of vectors.

/// The number of partial sums, which the processor adds at once. Their order is fixed.
const LANES: usize = 8;

/// `a·b`.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let length = a.len().min(b.len());
    let (a, b) = (&a[..length], &b[..length]);
    let whole = length - length % LANES;
    let mut lanes = [0.0; LANES];
    for (a, b) in a[..whole].chunks_exact(LANES).zip(b[..whole].chunks_exact(LANES)) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += a * b;
        }
    }
    let rest: f64 = a[whole..].iter().zip(&b[whole..]).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f64>() + rest
}

/// `out += scale·a`.
pub(super) fn add_scaled(scale: f64, a: &[f64], out: &mut [f64]) {
    for (o, &a) in out.iter_mut().zip(a) {
        *o += scale * a;
    }
}

/// `a·b` of a single- and a double-precision vector, summed in double precision.
pub(super) fn mixed_dot(a: &[f32], b: &[f64]) -> f64 {
    let length = a.len().min(b.len());
    let (a, b) = (&a[..length], &b[..length]);
    let whole = length - length % LANES;
    let mut lanes = [0.0; LANES];
    for (a, b) in a[..whole].chunks_exact(LANES).zip(b[..whole].chunks_exact(LANES)) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += f64::from(*a) * b;
        }
    }
    let rest: f64 = a[whole..].iter().zip(&b[whole..]).map(|(a, b)| f64::from(*a) * b).sum();
    lanes.iter().sum::<f64>() + rest
}

/// `out += scale·a` for a single-precision vector, summed in double precision.
pub(super) fn add_mixed(scale: f64, a: &[f32], out: &mut [f64]) {
    for (o, &a) in out.iter_mut().zip(a) {
        *o += scale * f64::from(a);
    }
}
