//! Reciprocal rank of the first relevant document; its mean over queries is MRR (Voorhees 1999).
//!
//! Among m tied documents at ranks s+1 … s+m, of which r are relevant, the first relevant one is at the j-th
//! place with probability `r/(m−j+1) · Π_{i<j} (m−r−i+1)/(m−i+1)`.

use super::hits::{none_relevant, relevant_among};
use super::{BY_CONVENTION, MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "mrr",
        title: "Reciprocal rank (mean: MRR)",
        summary: "One divided by the rank of the first relevant document; 0 if there is none in the first k.",
        citations: &["voorhees1999trec8qa"],
    },
    aliases: &["rr", "recip_rank", "reciprocal_rank"],
    range: (0.0, Some(1.0)),
    empty: BY_CONVENTION,
    cut: true,
    levels: false,
    options: &["threshold"],
    make: |request| {
        let formula = ReciprocalRank { threshold: request.conventions.threshold, depth: request.depth() };
        request.build(&ENTRY.card, formula)
    },
};

struct ReciprocalRank {
    threshold: f32,
    depth: usize,
}

impl MetricFormula for ReciprocalRank {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        none_relevant(labels, self.threshold)
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        for group in ranking.groups().take_while(|g| g.start < self.depth) {
            let found = relevant_among(labels, &ranking.order()[group.clone()], self.threshold);
            if found > 0 {
                let inside = group.end.min(self.depth) - group.start;
                return first_found(group.len(), found, inside, |place| {
                    1.0 / (group.start + place + 1) as f64
                });
            }
        }
        0.0
    }
}

/// `Σ_j P(the first relevant document of a group is at place j) · worth(j)` over the first `inside`
/// places (from 0) of a group of `size` documents, `found` of them relevant.
pub(super) fn first_found(size: usize, found: usize, inside: usize, worth: impl Fn(usize) -> f64) -> f64 {
    let (mut sum, mut none_before) = (0.0, 1.0);
    for place in 0..inside.min(size - found + 1) {
        let left = (size - place) as f64;
        sum += none_before * found as f64 / left * worth(place);
        none_before *= (left - found as f64) / left;
    }
    sum
}
