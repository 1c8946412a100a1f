//! Success at k, or hit rate: whether any of the first k documents is relevant.

use super::hits::{none_relevant, relevant_among};
use super::mrr::first_found;
use super::{BY_CONVENTION, MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "success",
        title: "Success (hit rate)",
        summary: "1 if any of the first k documents is relevant, else 0.",
        citations: &["buckley2004trec"],
    },
    aliases: &["hit", "hits", "hit_rate"],
    range: (0.0, Some(1.0)),
    empty: BY_CONVENTION,
    cut: true,
    levels: false,
    options: &["threshold"],
    make: |request| {
        let formula = Success { threshold: request.conventions.threshold, depth: request.depth() };
        request.build(&ENTRY.card, formula)
    },
};

struct Success {
    threshold: f32,
    depth: usize,
}

impl MetricFormula for Success {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        none_relevant(labels, self.threshold)
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        for group in ranking.groups().take_while(|g| g.start < self.depth) {
            let found = relevant_among(labels, &ranking.order()[group.clone()], self.threshold);
            if found > 0 && group.end <= self.depth {
                return 1.0;
            } else if found > 0 {
                return first_found(group.len(), found, self.depth - group.start, |_| 1.0);
            }
        }
        0.0
    }
}
