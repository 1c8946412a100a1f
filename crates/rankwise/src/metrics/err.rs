//! Expected reciprocal rank (Chapelle, Metzler, Zhang, Grinspan 2009): a user reads from the top and
//! stops when satisfied.
//!
//! ```text
//! ERR@k = Σ_{i ≤ k} 1/i · Rᵢ Π_{j<i} (1−Rⱼ) ,      R = (2^r − 1)/2^max-grade
//! ```
//! Among m tied documents with `q = 1−R`, the expected probability that the user is still reading after
//! the first j of them is `aⱼ = eⱼ(q₁,…,qₘ)/C(m,j)` (elementary symmetric polynomials). The probability to stop at place j
//! is `aⱼ₋₁ − aⱼ`.

use super::conventions::StopProbability;
use super::{BY_CONVENTION, MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "err",
        title: "Expected reciprocal rank",
        summary: "The expected reciprocal rank at which a user who reads from the top is satisfied; a higher label is more \
             likely to satisfy.",
        citations: &["chapelle2009err"],
    },
    aliases: &[],
    range: (0.0, Some(1.0)),
    empty: BY_CONVENTION,
    cut: true,
    levels: false,
    options: &["stop", "max-grade"],
    make: |request| {
        let c = &request.conventions;
        let formula = ExpectedReciprocalRank { stop: c.stop, max_grade: c.max_grade, depth: request.depth() };
        request.build(&ENTRY.card, formula)
    },
};

struct ExpectedReciprocalRank {
    stop: StopProbability,
    max_grade: f32,
    depth: usize,
}

impl StopProbability {
    /// The probability that a document satisfies the user; `max_grade` is the highest label.
    pub fn of(self, label: f32, max_grade: f32) -> f64 {
        // Unjudged documents (NaN) and labels up to 0 do not satisfy.
        let positive = label > 0.0;
        match self {
            _ if !positive => 0.0,
            StopProbability::Grade => f64::from(label.min(1.0)),
            StopProbability::Exp2 => {
                let (grade, max) = (f64::from(label.min(max_grade)), f64::from(max_grade));
                (grade - max).exp2() - (-max).exp2()
            }
        }
    }
}

impl ExpectedReciprocalRank {
    fn satisfies(&self, label: f32) -> f64 {
        self.stop.of(label, self.max_grade)
    }
}

impl MetricFormula for ExpectedReciprocalRank {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        !labels.iter().any(|&l| l > 0.0)
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let (mut sum, mut reading) = (0.0, 1.0);
        for group in ranking.groups().take_while(|g| g.start < self.depth) {
            let documents = &ranking.order()[group.clone()];
            let satisfies = documents.iter().map(|&d| self.satisfies(labels[d as usize]));
            if let [document] = documents {
                let stops = self.satisfies(labels[*document as usize]);
                sum += reading * stops / (group.start + 1) as f64;
                reading *= 1.0 - stops;
            } else if satisfies.clone().any(|s| s > 0.0) {
                let still = still_reading(satisfies, documents.len().min(self.depth - group.start));
                for (j, pair) in still.windows(2).enumerate() {
                    sum += reading * (pair[0] - pair[1]) / (group.start + j + 1) as f64;
                }
                reading *= still.last().copied().unwrap_or(1.0);
            }
        }
        sum
    }
}

/// `aⱼ` for j = 0 … `places`: the mean of `Π (1−R)` over all choices of j documents.
///
/// With t documents seen, `aⱼ ← (t−j)/t · aⱼ + j/t · qₜ · aⱼ₋₁`: a mean of numbers in [0, 1], so there is no
/// cancellation.
fn still_reading(satisfies: impl Iterator<Item = f64>, places: usize) -> Vec<f64> {
    let mut means = vec![0.0; places + 1];
    means[0] = 1.0;
    for (seen, satisfies) in satisfies.enumerate() {
        let t = (seen + 1) as f64;
        for j in (1..=places.min(seen + 1)).rev() {
            let j_among = j as f64 / t;
            means[j] = (1.0 - j_among) * means[j] + j_among * (1.0 - satisfies) * means[j - 1];
        }
    }
    means
}

#[cfg(test)]
mod tests {
    use crate::metrics::{Conventions, parse};
    use crate::rank::Ranking;

    /// By hand: labels 3, 0, 4 of at most 4 satisfy with probability 7/16, 0 and 15/16.
    #[test]
    fn three_documents_by_hand() {
        let metric = parse("err", &Conventions::default()).unwrap();
        let value = metric.value(&[3.0, 0.0, 4.0], &Ranking::from_order(vec![0, 1, 2])).unwrap();
        assert!((value - (7.0 / 16.0 + 9.0 / 16.0 * 15.0 / 16.0 / 3.0)).abs() < 1e-15);
    }
}
