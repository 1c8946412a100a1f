//! Sums of a smooth function of score differences over all pairs of two sets of documents, in time linear in the number
//! of documents.
//!
//! ```text
//! F(x) = Σⱼ mⱼ·f(sⱼ − x)
//! ```
//! Logistic functions and their logarithms are analytic up to a distance of π from the real line. Where s and x each
//! stay within an interval of width 2, interpolation of `f(s − x)` in twenty Chebyshev nodes is therefore exact up to
//! rounding. So the documents of an interval are replaced by their moments `Σ mⱼ·Tₘ(sⱼ)`, which become masses at its
//! nodes, and F at the nodes of another interval becomes a Chebyshev series.

use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Nodes per interval.
const NODES: usize = 20;
/// Half the width of an interval.
const HALF: f64 = 1.0;
/// Fewer pairs than this are summed one by one.
pub(crate) const MANY_PAIRS: f64 = 4e6;

/// Whether these sums are worth while: there are many pairs, and few enough intervals for the range of all scores.
pub(crate) fn is_worthwhile(pairs: f64, mut scores: impl Iterator<Item = f64>) -> bool {
    if pairs < MANY_PAIRS {
        return false;
    }
    let Some(first) = scores.next() else { return false };
    let (low, high) = scores.fold((first, first), |(low, high), s| (low.min(s), high.max(s)));
    let intervals = 1.0 + (high - low) / (2.0 * HALF);
    intervals * intervals * ((NODES * NODES) as f64) < 0.1 * pairs
}

/// `Σⱼ mⱼ·f(sⱼ − x)` for every target x, where `sources` are pairs of sⱼ and mⱼ. All scores must be finite, and `f`
/// analytic up to a distance of π from the real line.
pub(crate) fn smooth_sums<const K: usize>(
    sources: impl Iterator<Item = (f64, f64)>,
    targets: &[f64],
    f: impl Fn(f64) -> [f64; K],
) -> Vec<[f64; K]> {
    let basis = Basis::new();
    let mut moments: BTreeMap<i64, [f64; NODES]> = BTreeMap::new();
    for (score, mass) in sources {
        let (interval, t) = place(score);
        let of_interval = moments.entry(interval).or_insert([0.0; NODES]);
        of_interval.iter_mut().zip(polynomials(t)).for_each(|(sum, value)| *sum += mass * value);
    }
    let masses: BTreeMap<i64, [f64; NODES]> =
        moments.iter().map(|(&interval, moments)| (interval, basis.masses(moments))).collect();
    let mut kernels: BTreeMap<i64, Kernel<K>> = BTreeMap::new();
    let mut series: BTreeMap<i64, [[f64; NODES]; K]> = BTreeMap::new();
    let mut value = |&target: &f64| {
        let (interval, t) = place(target);
        let series = series.entry(interval).or_insert_with(|| {
            let mut at_nodes = [[0.0; NODES]; K];
            for (&from, masses) in &masses {
                let apart = from - interval;
                let kernel = kernels.entry(apart).or_insert_with(|| basis.kernel(apart, &f));
                kernel.add(masses, &mut at_nodes);
            }
            at_nodes.map(|values| basis.series(&values))
        });
        let polynomials = polynomials(t);
        std::array::from_fn(|k| series[k].iter().zip(&polynomials).map(|(a, p)| a * p).sum())
    };
    targets.iter().map(&mut value).collect()
}

/// The interval of a score, and its place in it from −1 to 1.
fn place(score: f64) -> (i64, f64) {
    let interval = (score / (2.0 * HALF)).floor();
    (interval as i64, (score - interval * 2.0 * HALF) / HALF - 1.0)
}

/// T₀(t) … of Chebyshev.
fn polynomials(t: f64) -> [f64; NODES] {
    let mut values = [1.0; NODES];
    values[1] = t;
    for m in 2..NODES {
        values[m] = 2.0 * t * values[m - 1] - values[m - 2];
    }
    values
}

/// The Chebyshev nodes, and the polynomials there.
struct Basis {
    nodes: [f64; NODES],
    /// `Tₘ(t_k)·2/n`, with half of that for m = 0: `at_nodes[k][m]`.
    at_nodes: [[f64; NODES]; NODES],
}

impl Basis {
    fn new() -> Basis {
        let nodes: [f64; NODES] = std::array::from_fn(|k| (PI * (k as f64 + 0.5) / NODES as f64).cos());
        let scaled = |k: usize| {
            let mut values = polynomials(nodes[k]).map(|value| value * 2.0 / NODES as f64);
            values[0] *= 0.5;
            values
        };
        Basis { nodes, at_nodes: std::array::from_fn(scaled) }
    }

    /// The masses at the nodes with these moments.
    fn masses(&self, moments: &[f64; NODES]) -> [f64; NODES] {
        std::array::from_fn(|k| self.at_nodes[k].iter().zip(moments).map(|(a, m)| a * m).sum())
    }

    /// The coefficients of the polynomial with these values at the nodes.
    fn series(&self, values: &[f64; NODES]) -> [f64; NODES] {
        std::array::from_fn(|m| self.at_nodes.iter().zip(values).map(|(row, value)| row[m] * value).sum())
    }

    /// f between the nodes of two intervals that are `apart` intervals apart.
    fn kernel<const K: usize>(&self, apart: i64, f: &impl Fn(f64) -> [f64; K]) -> Kernel<K> {
        let between = |to: f64, from: f64| f(2.0 * HALF * apart as f64 + HALF * (from - to));
        Kernel(self.nodes.iter().map(|&to| self.nodes.map(|from| between(to, from))).collect())
    }
}

/// f between the nodes of two intervals, by target and source.
struct Kernel<const K: usize>(Vec<[[f64; K]; NODES]>);

impl<const K: usize> Kernel<K> {
    /// Adds the masses of the sources, times f, to the values at the nodes of the target.
    fn add(&self, masses: &[f64; NODES], at_nodes: &mut [[f64; NODES]; K]) {
        for (to, row) in self.0.iter().enumerate() {
            for (values, mass) in row.iter().zip(masses) {
                for k in 0..K {
                    at_nodes[k][to] += mass * values[k];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use rand::RngExt;

    /// `ln(1 + eˣ)`, σ(x) and its derivative.
    fn logistic(x: f64) -> [f64; 3] {
        let near = (-x.abs()).exp();
        let value = if x > 0.0 { 1.0 / (1.0 + near) } else { near / (1.0 + near) };
        [x.max(0.0) + near.ln_1p(), value, near / ((1.0 + near) * (1.0 + near))]
    }

    #[test]
    fn sums_agree_with_those_over_all_pairs() {
        let mut random = rng::stream(7, &[]);
        for range in [0.0, 0.3, 5.0, 80.0, 900.0] {
            let mut scores = |n: usize| -> Vec<f64> {
                (0..n).map(|_| range * (random.random::<f64>() - 0.4) + 0.7).collect()
            };
            let (sources, targets) = (scores(60), scores(50));
            let mass = |i: usize| 0.1 + (i % 5) as f64;
            let found =
                smooth_sums(sources.iter().enumerate().map(|(i, &s)| (s, mass(i))), &targets, logistic);
            for (x, found) in targets.iter().zip(&found) {
                let terms = |k: usize| {
                    sources.iter().enumerate().map(|(i, s)| mass(i) * logistic(s - x)[k]).sum::<f64>()
                };
                for (k, &found) in found.iter().enumerate() {
                    let exact = terms(k);
                    assert!((found - exact).abs() <= 1e-12 * exact, "{range} {k}: {found} for {exact}");
                }
            }
        }
    }

    #[test]
    fn few_pairs_and_wide_ranges_are_summed_one_by_one() {
        let decided = |pairs: f64, range: f64| is_worthwhile(pairs, [0.0, range].into_iter());
        assert!(!decided(1e5, 1.0) && decided(1e9, 40.0) && !decided(1e9, 1e7));
        assert!(!is_worthwhile(1e9, std::iter::empty()));
    }
}
