//! Average precision; its mean over queries is MAP.
//!
//! ```text
//! AP@k = 1/R Σ_{i ≤ k, i relevant} P@i          R relevant documents, or min(R, k)
//! ```
//! Among m tied documents at ranks s+1 … s+m, of which r are relevant, with h relevant ones before them, the
//! j-th place is relevant with probability r/m, and then `(j−1)(r−1)/(m−1)` relevant ones are expected before it in the
//! group:
//!
//! ```text
//! E = Σ_j r/m · (h + 1 + (j−1)(r−1)/(m−1)) / (s+j)
//! ```

use super::conventions::{ApDivisor, ApTies};
use super::hits::{none_relevant, relevant, relevant_among};
use super::{BY_CONVENTION, MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "map",
        title: "Average precision (mean: MAP)",
        summary: "The mean, over relevant documents, of the precision at their rank.",
        citations: &["buckley2000evaluating"],
    },
    aliases: &["ap", "map_cut", "average_precision", "average_precision_score", "mean_average_precision"],
    range: (0.0, Some(1.0)),
    empty: BY_CONVENTION,
    cut: true,
    levels: false,
    options: &["threshold", "ap-divisor", "ap-ties"],
    make: |request| {
        let c = &request.conventions;
        let formula = AveragePrecision {
            threshold: c.threshold,
            divisor: c.ap_divisor,
            ties: c.ap_ties,
            depth: request.depth(),
        };
        request.build(&ENTRY.card, formula)
    },
};

struct AveragePrecision {
    threshold: f32,
    divisor: ApDivisor,
    ties: ApTies,
    depth: usize,
}

impl MetricFormula for AveragePrecision {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        none_relevant(labels, self.threshold)
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let sum =
            if ranking.is_strict() { self.sum(labels, ranking) } else { self.expected_sum(labels, ranking) };
        let divisor = match self.divisor {
            ApDivisor::Relevant => relevant(labels, self.threshold),
            ApDivisor::Min => relevant(labels, self.threshold).min(self.depth),
        };
        sum / divisor as f64
    }
}

impl AveragePrecision {
    /// The sum of the precisions at relevant documents. Relevance is packed into 64 bits at a time, because an
    /// unpredictable branch per document takes twice as long.
    fn sum(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let (mut sum, mut hits) = (0.0, 0.0);
        let seen = &ranking.order()[..ranking.len().min(self.depth)];
        for (start, documents) in (0..).step_by(64).zip(seen.chunks(64)) {
            let bit = |(i, &d): (usize, &u32)| u64::from(labels[d as usize] >= self.threshold) << i;
            let mut relevant = documents.iter().enumerate().map(bit).fold(0, |bits, bit| bits | bit);
            while relevant != 0 {
                hits += 1.0;
                sum += hits / f64::from(start + relevant.trailing_zeros() + 1);
                relevant &= relevant - 1;
            }
        }
        sum
    }

    /// The expectation of that sum if documents are tied.
    fn expected_sum(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let (mut sum, mut hits) = (0.0, 0.0);
        for group in ranking.groups().take_while(|g| g.start < self.depth) {
            let found = relevant_among(labels, &ranking.order()[group.clone()], self.threshold) as f64;
            let (size, inside) = (group.len() as f64, group.end.min(self.depth) - group.start);
            if self.ties == ApTies::Threshold {
                sum += found * inside as f64 / size * (hits + found) / group.end as f64;
            } else if found > 0.0 {
                let before_per_place = (found - 1.0) / (size - 1.0).max(1.0);
                for j in 0..inside {
                    let hits_at = hits + 1.0 + j as f64 * before_per_place;
                    sum += found / size * hits_at / (group.start + j + 1) as f64;
                }
            }
            hits += found;
        }
        sum
    }
}
