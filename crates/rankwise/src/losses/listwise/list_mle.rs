//! ListMLE (Xia, Liu, Wang, Zhang and Li, ICML 2008): the Plackett–Luce likelihood of the best order, by grades that may
//! be tied.
//!
//! ```text
//! L(s) = Σ_g Σ_{l<m} ln(B + (1 − l/m)·A) − Σ_{i∈g} sᵢ       over all grades g but the lowest
//! A = Σ_{i∈g} exp(sᵢ) ,   m = |g| ,   B = Σ exp(sⱼ) over all documents of lower grade
//! ```
//! Documents of one grade have no best order. Of the m! orders, each gives a likelihood of its own; when l of a grade's
//! documents have been placed, (1 − l/m)·A is what the rest of them have on average. This is how Efron (1977) treats
//! ties in Cox's model: L depends on no order, is convex, no less than the mean over all orders (the logarithm is
//! concave) and equal to it where tied documents have equal scores. Leaving l out (Breslow) would be looser by ln m! or
//! so for each grade. Documents of the lowest grade are not placed: nothing comes after them, so their order is nobody's
//! business, while placing them would pull their scores together.
//!
//! From 0 up. O(n log n), the sort by grades; every sum is in units of the highest term in it.

use super::super::{QueryLoss, ScoredQuery};
use super::has_two_grades;
use crate::card::Card;
use crate::rank::grade;

pub(in super::super) const CARD: Card = Card {
    name: "list-mle",
    title: "Plackett–Luce likelihood",
    summary: "Minus the logarithm of the likelihood that documents are placed from the best grade down, one after \
              the other.",
    citations: &["xia2008listwise", "efron1977efficiency"],
};

/// Minus the logarithm of the likelihood of an order by grades.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ListMle;

impl QueryLoss for ListMle {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        self.derivatives(query, gradient, None)
    }

    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]) {
        self.newton(query, &mut vec![0.0; curvature.len()], curvature);
    }

    fn newton(&self, query: ScoredQuery<'_>, gradient: &mut [f64], curvature: &mut [f64]) {
        self.derivatives(query, gradient, Some(curvature));
    }

    fn is_informed_by(&self, labels: &[f32]) -> bool {
        has_two_grades(labels)
    }
}

/// The documents of one grade, and of all lower ones, in units of `exp(top)`.
struct Level {
    /// Where its documents are in the order of grades.
    first: usize,
    end: usize,
    /// The highest score of this grade and the lower ones.
    top: f64,
    /// A
    tied: f64,
    /// B
    lower: f64,
}

impl ListMle {
    fn derivatives(
        &self,
        query: ScoredQuery<'_>,
        gradient: &mut [f64],
        mut curvature: Option<&mut [f64]>,
    ) -> f64 {
        gradient.fill(0.0);
        if let Some(curvature) = &mut curvature {
            curvature.fill(0.0);
        }
        if !has_two_grades(query.labels) {
            return 0.0;
        }
        let mut order: Vec<usize> = (0..query.labels.len()).collect();
        order.sort_by(|&a, &b| grade(query.labels[a]).total_cmp(&grade(query.labels[b])));
        let (mut value, mut above) = (0.0, Shares::default());
        let mut unit = f64::INFINITY;
        for level in levels(query, &order).iter().rev() {
            above.rescale((level.top - unit).exp());
            unit = level.top;
            let mut own = above;
            let documents = &order[level.first..level.end];
            // The lowest grade is not placed.
            if level.first > 0 {
                let size = documents.len() as f64;
                for placed in 0..documents.len() {
                    let left = 1.0 - placed as f64 / size;
                    let remaining = level.lower + left * level.tied;
                    value += remaining.ln() + level.top;
                    own.add(left, remaining);
                    above.add(1.0, remaining);
                }
            }
            let placed = if level.first > 0 { 1.0 } else { 0.0 };
            for &d in documents {
                let power = (query.scores[d] - level.top).exp();
                value -= placed * query.scores[d];
                gradient[d] = power * own.once - placed;
                if let Some(curvature) = &mut curvature {
                    curvature[d] = (power * own.once - power * power * own.squared).max(0.0);
                }
            }
        }
        value.max(0.0)
    }
}

/// Sums of a/c and (a/c)² over the places that are filled, where the c documents' terms remain and a is the part that a
/// document's term has in that.
#[derive(Clone, Copy, Default)]
struct Shares {
    once: f64,
    squared: f64,
}

impl Shares {
    fn add(&mut self, part: f64, remaining: f64) {
        let share = part / remaining;
        self.once += share;
        self.squared += share * share;
    }

    /// From units of one exponential to those of another, `ratio` times as large.
    fn rescale(&mut self, ratio: f64) {
        self.once *= ratio;
        self.squared *= ratio * ratio;
    }
}

/// The grades from the lowest up; `order` is that of grades.
fn levels(query: ScoredQuery<'_>, order: &[usize]) -> Vec<Level> {
    let (mut levels, mut first): (Vec<Level>, usize) = (Vec::new(), 0);
    let grades = order.chunk_by(|&a, &b| grade(query.labels[a]) == grade(query.labels[b]));
    for documents in grades {
        let scores = || documents.iter().map(|&d| query.scores[d]);
        let (below, lower) = levels.last().map_or((f64::NEG_INFINITY, 0.0), |l| (l.top, l.tied + l.lower));
        let top = scores().fold(below, f64::max);
        let tied = scores().map(|score| (score - top).exp()).sum();
        let lower = lower * (below - top).exp();
        levels.push(Level { first, end: first + documents.len(), top, tied, lower });
        first += documents.len();
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use rand::RngExt;

    /// Minus the logarithm of the Plackett–Luce likelihood of the first `placed` documents of an order.
    fn plackett_luce(order: &[usize], placed: usize, scores: &[f64]) -> f64 {
        let left = |from: usize| order[from..].iter().map(|&d| scores[d].exp()).sum::<f64>();
        (0..placed).map(|place| left(place).ln() - scores[order[place]]).sum()
    }

    fn permutations(items: Vec<usize>) -> Vec<Vec<usize>> {
        if items.len() <= 1 {
            return vec![items];
        }
        let with_first = |i: usize| {
            let mut rest = items.clone();
            let first = rest.remove(i);
            permutations(rest).into_iter().map(move |mut order| {
                order.insert(0, first);
                order
            })
        };
        (0..items.len()).flat_map(with_first).collect()
    }

    fn value(labels: &[f32], scores: &[f64]) -> f64 {
        let query = ScoredQuery { labels, scores, seed: 0 };
        ListMle.value_and_gradient(query, &mut vec![f64::NAN; labels.len()])
    }

    /// Every document of a grade above the lowest against all of its grade and below.
    fn breslow(labels: &[f32], scores: &[f64]) -> f64 {
        let n = labels.len();
        let placed = (0..n).filter(|&i| labels.iter().any(|r| *r < labels[i]));
        let left =
            |i: usize| (0..n).filter(|&j| labels[j] <= labels[i]).map(|j| scores[j].exp()).sum::<f64>();
        placed.map(|i| left(i).ln() - scores[i]).sum()
    }

    /// Against the mean over all orders of tied documents: no less, equal where they are tied in score too, and where
    /// there are no ties; and no more than Breslow's form.
    #[test]
    fn all_orders_of_tied_documents() {
        let mut random = rng::stream(3, &[]);
        for case in 0..60 {
            let n = 2 + case % 5;
            let labels: Vec<f32> = (0..n).map(|_| random.random_range(0..3) as f32).collect();
            let scores: Vec<f64> = (0..n).map(|_| random.random_range(-2.0..2.0)).collect();
            let alike: Vec<f64> = labels.iter().map(|r| [0.7, -0.2, 0.4][*r as usize]).collect();
            let lowest = labels.iter().copied().fold(f32::INFINITY, f32::min);
            let placed = labels.iter().filter(|r| **r > lowest).count();
            let falls = |order: &Vec<usize>| order.windows(2).all(|w| labels[w[0]] >= labels[w[1]]);
            let orders: Vec<_> = permutations((0..n).collect()).into_iter().filter(falls).collect();
            let mean = |scores: &[f64]| {
                orders.iter().map(|order| plackett_luce(order, placed, scores)).sum::<f64>()
                    / orders.len() as f64
            };
            let (found, expected) = (value(&labels, &scores), mean(&scores));
            assert!(found >= expected - 1e-12, "{labels:?} {scores:?}: {found} below {expected}");
            assert!(found <= breslow(&labels, &scores) + 1e-12, "{labels:?} {scores:?}");
            assert!((value(&labels, &alike) - mean(&alike)).abs() < 1e-12, "{labels:?}");
            let untied: Vec<f32> = (0..n).map(|i| ((i * 7 + case) % n) as f32).collect();
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by(|&a, &b| untied[b].total_cmp(&untied[a]));
            if order.windows(2).all(|w| untied[w[0]] > untied[w[1]]) {
                let expected = plackett_luce(&order, n, &scores);
                assert!((value(&untied, &scores) - expected).abs() < 1e-12);
            }
        }
    }

    /// Grades 1, 1, 0 and scores ln 2, ln 4, 0: ln(1 + 6) + ln(1 + 3) − ln 8.
    #[test]
    fn three_documents_by_hand() {
        let scores = [2_f64.ln(), 4_f64.ln(), 0.0];
        assert!((value(&[1.0, 1.0, f32::NAN], &scores) - 3.5_f64.ln()).abs() < 1e-14);
        let (mut gradient, mut curvature) = ([f64::NAN; 3], [f64::NAN; 3]);
        let query = ScoredQuery { labels: &[1.0, 1.0, 0.0], scores: &scores, seed: 0 };
        ListMle.newton(query, &mut gradient, &mut curvature);
        let shares = [[2.0 / 7.0, 1.0 / 4.0], [4.0 / 7.0, 2.0 / 4.0], [1.0 / 7.0, 1.0 / 4.0]];
        for (i, [first, second]) in shares.into_iter().enumerate() {
            let wanted = if i < 2 { 1.0 } else { 0.0 };
            assert!((gradient[i] - (first + second - wanted)).abs() < 1e-14);
            let bend = first * (1.0 - first) + second * (1.0 - second);
            assert!((curvature[i] - bend).abs() < 1e-14);
        }
    }

    /// The worst score far below the best: sums of either are not lost in those of the other.
    #[test]
    fn scores_far_apart() {
        let labels = [2.0, 1.0, 0.0, 0.0];
        let right = value(&labels, &[3000.0, 0.0, -3000.0, -3000.0]);
        assert_eq!(right, 0.0);
        let wrong = value(&labels, &[-3000.0, 0.0, 3000.0, 3000.0]);
        assert!((wrong - (6000.0 + 3000.0 + 2.0 * 2_f64.ln())).abs() < 1e-9, "{wrong}");
        let lower = value(&labels, &[3000.0, 0.0, 1.0, -3000.0]);
        assert!((lower - (1.0 + 1_f64.exp()).ln()).abs() < 1e-9, "{lower}");
    }
}
