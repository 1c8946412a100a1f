//! The pairwise logistic loss of RankNet (Burges et al., ICML 2005): the cross-entropy of which document of a pair is
//! better.
//!
//! ```text
//! L(s) = μ Σ_{rᵢ>rⱼ} ln(1 + exp(−(sᵢ − sⱼ))) ,    ρᵢⱼ = 1/(1 + exp(sᵢ − sⱼ))
//! ∂L/∂sᵢ −= μρᵢⱼ ,   ∂L/∂sⱼ += μρᵢⱼ ,   ∂²L/∂sᵢ² and ∂²L/∂sⱼ² += μρᵢⱼ(1 − ρᵢⱼ)
//! ```
//! Convex and not negative. O(n²), with documents sorted by label, so that the worse documents of each one form a
//! row; O(n) per grade for millions of pairs.

use super::odds::{Odds, logistic};
use super::smooth_sums::{is_worthwhile, smooth_sums};
use super::{PairSum, QueryLoss, ScoredQuery};
use crate::card::Card;
use crate::rank::grade;
use crate::sums::{add_scaled, add_up};
use pulp::{Arch, NullaryFnOnce};
use std::ops::Range;

pub(super) const CARD: Card = Card {
    name: "pair-logistic",
    title: "Pairwise logistic loss (RankNet)",
    summary: "The sum of ln(1 + exp(worse score − better score)) over all pairs of documents with different labels.",
    citations: &["burges2005ranknet"],
};

/// The pairwise logistic loss over documents with different labels.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PairLogistic {
    /// μ: how the pairs of a query are combined.
    pub sum: PairSum,
}

impl PairLogistic {
    /// Sums over all pairs; `None` if there are none.
    fn sums(&self, query: ScoredQuery<'_>, asked: Wanted) -> Option<(Vec<usize>, LogisticSums)> {
        let (order, worse) = by_grade(query.labels);
        let pairs: usize = worse.iter().sum();
        if pairs == 0 {
            return None;
        }
        let scores: Vec<f64> = order.iter().map(|&d| query.scores[d]).collect();
        let grades = worse.chunk_by(|a, b| a == b).count();
        let mut sums = if is_worthwhile(pairs as f64 / grades as f64, scores.iter().copied()) {
            LogisticSums::of_many(&scores, &worse)
        } else {
            Arch::new().dispatch(SumPairs { odds: &Odds::new(scores), worse: &worse, asked })
        };
        if self.sum == PairSum::Mean {
            let share = 1.0 / pairs as f64;
            sums.value *= share;
            sums.gradient.iter_mut().chain(&mut sums.curvature).for_each(|x| *x *= share);
        }
        Some((order, sums))
    }
}

impl QueryLoss for PairLogistic {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let Some((order, sums)) = self.sums(query, Wanted::Value) else { return 0.0 };
        scatter(&order, &sums.gradient, gradient);
        sums.value
    }

    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]) {
        self.newton(query, &mut vec![0.0; curvature.len()], curvature);
    }

    fn newton(&self, query: ScoredQuery<'_>, gradient: &mut [f64], curvature: &mut [f64]) {
        gradient.fill(0.0);
        curvature.fill(0.0);
        let Some((order, sums)) = self.sums(query, Wanted::Curvature) else { return };
        scatter(&order, &sums.gradient, gradient);
        scatter(&order, &sums.curvature, curvature);
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        labels.iter().any(|&label| grade(label) != grade(labels[0]))
    }
}

/// The documents by ascending label, and for each the number of worse documents, which come first.
fn by_grade(labels: &[f32]) -> (Vec<usize>, Vec<usize>) {
    let grade_of = |d: usize| grade(labels[d]);
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| grade_of(a).total_cmp(&grade_of(b)));
    let mut first = 0;
    let worse = (0..order.len()).map(|place| {
        if grade_of(order[place]) > grade_of(order[first]) {
            first = place;
        }
        first
    });
    let worse = worse.collect();
    (order, worse)
}

/// Writes a column in the order of the query's documents.
fn scatter(order: &[usize], column: &[f64], out: &mut [f64]) {
    order.iter().zip(column).for_each(|(&document, value)| out[document] = *value);
}

/// What to compute besides the gradient.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Value,
    Curvature,
}

struct LogisticSums {
    value: f64,
    gradient: Vec<f64>,
    curvature: Vec<f64>,
}

impl LogisticSums {
    /// The same for many documents, in linear time for each grade.
    fn of_many(scores: &[f64], worse: &[usize]) -> LogisticSums {
        let n = scores.len();
        let mut sums = LogisticSums { value: 0.0, gradient: vec![0.0; n], curvature: vec![0.0; n] };
        let terms = |ahead: f64| {
            let near = (-ahead.abs()).exp();
            let inverse = 1.0 / (1.0 + near);
            let value = if ahead > 0.0 { inverse } else { near * inverse };
            [ahead.max(0.0) + near.ln_1p(), value, near * inverse * inverse]
        };
        let mut start = 0;
        for grade in worse.chunk_by(|a, b| a == b) {
            let (better, worse) = (start..start + grade.len(), 0..grade[0]);
            start = better.end;
            let masses = |range: &Range<usize>, sign: f64| {
                scores[range.clone()].iter().map(move |score| (sign * score, 1.0))
            };
            let of_better = smooth_sums(masses(&worse, 1.0), &scores[better.clone()], terms);
            let behind: Vec<f64> = scores[worse.clone()].iter().map(|score| -score).collect();
            let of_worse = smooth_sums(masses(&better, -1.0), &behind, terms);
            for (i, [value, slope, bend]) in better.zip(of_better) {
                sums.value += value;
                sums.gradient[i] -= slope;
                sums.curvature[i] += bend;
            }
            for (i, [_, slope, bend]) in worse.zip(of_worse) {
                sums.gradient[i] += slope;
                sums.curvature[i] += bend;
            }
        }
        sums
    }
}

/// Sums over all rows, with the widest vectors of the machine.
struct SumPairs<'a> {
    odds: &'a Odds,
    worse: &'a [usize],
    asked: Wanted,
}

impl NullaryFnOnce for SumPairs<'_> {
    type Output = LogisticSums;

    #[inline(always)]
    fn call(self) -> LogisticSums {
        let n = self.worse.len();
        let mut sums = LogisticSums { value: 0.0, gradient: vec![0.0; n], curvature: vec![0.0; n] };
        let [mut row, mut values, mut slopes] = [(); 3].map(|()| vec![0.0; n]);
        for (better, &worse) in self.worse.iter().enumerate().filter(|(_, worse)| **worse > 0) {
            let row = &mut row[..worse];
            self.odds.row(better, row);
            logistic(row, &mut values, &mut slopes);
            let (values, slopes) = (&values[..worse], &slopes[..worse]);
            add_scaled(&mut sums.gradient, 1.0, values);
            sums.gradient[better] -= add_up(values);
            match self.asked {
                Wanted::Value => sums.value += self.odds.sum_of_logs(better, row),
                Wanted::Curvature => {
                    add_scaled(&mut sums.curvature, 1.0, slopes);
                    sums.curvature[better] += add_up(slopes);
                }
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use rand::RngExt;

    /// Compares with every pair by its definition: labels that are fractional, negative or missing, scores tied and
    /// far apart.
    #[test]
    fn sums_over_all_pairs() {
        let mut random = rng::stream(1, &[]);
        for (n, range) in [2, 3, 9, 40].into_iter().flat_map(|n| [(n, 2.0), (n, 50.0), (n, 900.0)]) {
            let grades = [0.0, 1.0, 1.5, -1.0, f32::NAN, 3.0];
            let labels: Vec<f32> = (0..n).map(|_| grades[random.random_range(0..6)]).collect();
            let scores: Vec<f64> =
                (0..n).map(|_| range * f64::from(random.random_range(-8..=8)) / 16.0).collect();
            let (mut value, mut gradient, mut curvature, mut pairs) = (0.0, vec![0.0; n], vec![0.0; n], 0.0);
            for (i, j) in
                (0..n * n).map(|p| (p / n, p % n)).filter(|&(i, j)| grade(labels[i]) > grade(labels[j]))
            {
                let behind = scores[j] - scores[i];
                value += behind.max(0.0) + (-behind.abs()).exp().ln_1p();
                let rho = 1.0 / (1.0 + (-behind).exp());
                gradient[i] -= rho;
                gradient[j] += rho;
                curvature[i] += rho * (1.0 - rho);
                curvature[j] += rho * (1.0 - rho);
                pairs += 1.0;
            }
            let query = ScoredQuery { labels: &labels, scores: &scores, seed: 0 };
            for (sum, count) in [(PairSum::Total, 1.0), (PairSum::Mean, f64::max(pairs, 1.0))] {
                let (mut g, mut h) = (vec![f64::NAN; n], vec![f64::NAN; n]);
                let found = PairLogistic { sum }.value_and_gradient(query, &mut g);
                PairLogistic { sum }.curvature(query, &mut h);
                assert!((found * count - value).abs() <= 1e-11 * (1.0 + value), "{found} for {value}");
                for i in 0..n {
                    assert!((g[i] * count - gradient[i]).abs() <= 1e-11, "{} for {}", g[i], gradient[i]);
                    assert!((h[i] * count - curvature[i]).abs() <= 1e-11, "{} for {}", h[i], curvature[i]);
                }
            }
        }
    }

    /// Sums for many documents agree with those over rows.
    #[test]
    fn both_ways_of_summing_agree() {
        let mut random = rng::stream(2, &[]);
        let labels: Vec<f32> = (0..300).map(|_| random.random_range(0..4) as f32).collect();
        let (_, worse) = by_grade(&labels);
        for range in [0.0, 3.0, 200.0] {
            let scores: Vec<f64> = (0..300).map(|_| range * random.random::<f64>()).collect();
            let many = LogisticSums::of_many(&scores, &worse);
            for asked in [Wanted::Value, Wanted::Curvature] {
                let rows = SumPairs { odds: &Odds::new(scores.clone()), worse: &worse, asked }.call();
                let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{b} for {a}");
                rows.gradient.iter().zip(&many.gradient).for_each(|(a, b)| near(*a, *b));
                match asked {
                    Wanted::Value => near(rows.value, many.value),
                    Wanted::Curvature => {
                        rows.curvature.iter().zip(&many.curvature).for_each(|(a, b)| near(*a, *b));
                    }
                }
            }
        }
    }
}
