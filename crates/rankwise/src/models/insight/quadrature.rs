//! Gauss–Legendre quadrature on [0, 1], in groups of nodes that fit vector registers.

/// Nodes that are worked on together.
pub(super) const LANES: usize = 4;

/// Nodes and weights that integrate polynomials of degree below `2·LANES·groups` exactly over [0, 1].
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) nodes: Vec<[f64; LANES]>,
    pub(super) weights: Vec<[f64; LANES]>,
}

impl Rule {
    /// The rule with this number of groups of nodes.
    pub(super) fn new(groups: usize) -> Rule {
        let count = groups * LANES;
        let mut rule = Rule { nodes: vec![[0.0; LANES]; groups], weights: vec![[0.0; LANES]; groups] };
        for i in 0..count {
            let (node, weight) = node_and_weight(i, count);
            rule.nodes[i / LANES][i % LANES] = node;
            rule.weights[i / LANES][i % LANES] = weight;
        }
        rule
    }
}

/// The `i`-th root of the Legendre polynomial of degree `n`, by Newton's method, moved from [−1, 1] to [0, 1].
fn node_and_weight(i: usize, n: usize) -> (f64, f64) {
    let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (n as f64 + 0.5)).cos();
    // Three steps from this start give all digits; the rest is room.
    for _ in 0..8 {
        let (value, slope) = legendre(n, x);
        x -= value / slope;
    }
    let (_, slope) = legendre(n, x);
    // w = 2 / ((1 − x²)·P′ₙ(x)²) on [−1, 1], half of that on [0, 1].
    ((1.0 - x) / 2.0, 1.0 / ((1.0 - x * x) * slope * slope))
}

/// `Pₙ(x)` and its derivative, by `(k+1)·Pₖ₊₁ = (2k+1)·x·Pₖ − k·Pₖ₋₁`.
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (mut before, mut value) = (1.0, x);
    for k in 1..n {
        let k = k as f64;
        (before, value) = (value, ((2.0 * k + 1.0) * x * value - k * before) / (k + 1.0));
    }
    (value, n as f64 * (before - x * value) / (1.0 - x * x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_integrated_exactly() {
        for groups in [1, 2, 5, 125] {
            let rule = Rule::new(groups);
            for power in [0, 1, 2, 5, 8 * groups - 1] {
                let sum: f64 = rule
                    .nodes
                    .as_flattened()
                    .iter()
                    .zip(rule.weights.as_flattened())
                    .map(|(t, w)| w * t.powi(power as i32))
                    .sum();
                let exact = 1.0 / (power as f64 + 1.0);
                assert!((sum / exact - 1.0).abs() < 1e-12, "{groups} groups, power {power}: {sum}");
            }
        }
    }
}
