//! ListMLE (Xia, Liu, Wang, Zhang and Li, ICML 2008): the Plackett–Luce likelihood of the ranking by labels, with
//! ties.
//!
//! ```text
//! L(s) = Σ_g Σ_{l<m} ln(B + (1 − l/m)·A) − Σ_{i∈g} sᵢ       over all distinct labels g except for the lowest
//! A = Σ_{i∈g} exp(sᵢ) ,   m = |g| ,   B = Σ exp(sⱼ) over all documents with lower labels
//! ```
//! Documents with equal labels have no best order, and each of the m! orders has its own likelihood. After l
//! documents of a label have been placed, (1 − l/m)·A is the average of what remains of them. This is Efron's (1977)
//! treatment of ties in Cox's model: L does not depend on any order, is convex, is at least the mean over all orders
//! (the logarithm is concave), and equals it if tied documents have equal scores. Without l (Breslow), it would be
//! looser by about ln m! per label. Documents with the lowest label are not placed: nothing comes after them, so
//! their order does not matter, while placing them would pull their scores together.
//!
//! Not negative. O(n log n) for sorting by label. Every sum is relative to its largest term.

use super::super::{QueryLoss, ScoredQuery};
use super::has_two_grades;
use crate::card::Card;
use crate::rank::grade;

pub(in super::super) const CARD: Card = Card {
    name: "list-mle",
    title: "Plackett–Luce likelihood (ListMLE)",
    summary: "The negative log-likelihood of the ranking by labels under the Plackett–Luce model of the scores.",
    citations: &["xia2008listwise", "efron1977efficiency"],
};

/// The negative log-likelihood of the ranking by labels.
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

    fn has_signal(&self, labels: &[f32]) -> bool {
        has_two_grades(labels)
    }
}

/// The documents of one label and of all lower ones, in units of `exp(top)`.
struct Level {
    /// The range of its documents in the order by label.
    first: usize,
    end: usize,
    /// The highest score of this label and the lower ones.
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
            // Documents with the lowest label are not placed.
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

/// Sums of a/c and (a/c)² over the filled positions, where c is the sum of the remaining terms and a the fraction of
/// a document's term that remains.
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

    /// Converts the sums to another unit, `ratio` times as large.
    fn rescale(&mut self, ratio: f64) {
        self.once *= ratio;
        self.squared *= ratio * ratio;
    }
}

/// The distinct labels in ascending order; `order` is sorted by label.
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

    /// The negative log-likelihood of the first `placed` documents of an order under Plackett–Luce.
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

    /// Every document above the lowest label against all documents with its label and below.
    fn breslow(labels: &[f32], scores: &[f64]) -> f64 {
        let n = labels.len();
        let placed = (0..n).filter(|&i| labels.iter().any(|r| *r < labels[i]));
        let left =
            |i: usize| (0..n).filter(|&j| labels[j] <= labels[i]).map(|j| scores[j].exp()).sum::<f64>();
        placed.map(|i| left(i).ln() - scores[i]).sum()
    }

    /// Compared with the mean over all orders of tied documents: at least it, equal if tied documents have equal
    /// scores and if there are no ties; and at most Breslow's form.
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

    /// Labels 1, 1, 0 and scores ln 2, ln 4, 0: ln(1 + 6) + ln(1 + 3) − ln 8.
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

    /// The lowest score is far below the highest: neither sum is lost in the other.
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
