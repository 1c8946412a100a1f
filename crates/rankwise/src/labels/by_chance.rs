//! How far apart grades are on average if they are drawn independently, as sums over grades in their order.

use super::coefficients::Distance;

/// `Σ a_i b_j d(x_i, x_j)` over all pairs of grades `x`, ascending, with the counts `a` and `b` of two judges.
pub(super) fn total(counts: &[(f64, [f64; 2])], distance: Distance) -> f64 {
    let all: [f64; 2] = std::array::from_fn(|judge| counts.iter().map(|(_, of)| of[judge]).sum());
    match distance {
        Distance::Nominal => all[0] * all[1] - counts.iter().map(|(_, [a, b])| a * b).sum::<f64>(),
        Distance::Linear => across_gaps(counts, all),
        Distance::Quadratic => {
            let [a, b] = [0, 1].map(|judge| spread(counts.iter().map(move |(x, of)| (*x, of[judge]))));
            all[1] * a.1 + all[0] * b.1 + all[0] * all[1] * (a.0 - b.0).powi(2)
        }
    }
}

/// A distance is the sum of the gaps between two grades, so each gap counts for the pairs on its two sides.
fn across_gaps(counts: &[(f64, [f64; 2])], all: [f64; 2]) -> f64 {
    let (mut below, mut sum) = ([0.0; 2], 0.0);
    for gap in counts.windows(2) {
        let (x, [a, b]) = gap[0];
        below = [below[0] + a, below[1] + b];
        sum += (gap[1].0 - x) * (below[0] * (all[1] - below[1]) + below[1] * (all[0] - below[0]));
    }
    sum
}

/// `Σ t_i t_j [i ≠ j]`
pub(super) fn nominal(totals: &[f64]) -> f64 {
    let all: f64 = totals.iter().sum();
    all * all - totals.iter().map(|total| total * total).sum::<f64>()
}

/// `Σ t_i t_j (x_i − x_j)²`
pub(super) fn squared(values: &[f64], totals: &[f64]) -> f64 {
    let all: f64 = totals.iter().sum();
    2.0 * all * spread(values.iter().copied().zip(totals.iter().copied())).1
}

/// The mean of weighted values, and the sum of their squared distances to it.
fn spread(weighted: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let (sum, all) = weighted.clone().fold((0.0, 0.0), |(sum, all), (x, w)| (sum + w * x, all + w));
    let mean = sum / all;
    (mean, weighted.map(|(x, w)| w * (x - mean).powi(2)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_grades_are_those_over_pairs_of_grades() {
        let counts = [(-1.0, [2.0, 0.0]), (0.5, [0.0, 3.0]), (2.0, [1.0, 4.0]), (7.0, [5.0, 1.0])];
        let pairs = |d: &dyn Fn(f64, f64) -> f64| -> f64 {
            let each = counts.iter().flat_map(|a| counts.iter().map(move |b| (a, b)));
            each.map(|(a, b)| a.1[0] * b.1[1] * d(a.0, b.0)).sum()
        };
        let close =
            |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-14, "{found} {expected}");
        close(total(&counts, Distance::Nominal), pairs(&|a, b| if a == b { 0.0 } else { 1.0 }));
        close(total(&counts, Distance::Linear), pairs(&|a, b| (a - b).abs()));
        close(total(&counts, Distance::Quadratic), pairs(&|a, b| (a - b).powi(2)));
        // One judge with both columns' counts is a distribution with itself.
        let (values, totals): (Vec<f64>, Vec<f64>) = counts.iter().map(|(x, [a, _])| (*x, *a)).unzip();
        let own: Vec<_> = counts.iter().map(|(x, [a, _])| (*x, [*a, *a])).collect();
        close(squared(&values, &totals), total(&own, Distance::Quadratic));
        close(nominal(&totals), total(&own, Distance::Nominal));
    }
}
