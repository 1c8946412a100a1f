//! Set-based average precision: precision times recall of all documents retrieved.

use super::hits::{none_relevant, relevant, relevant_among};
use super::{BY_CONVENTION, MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "set-map",
        title: "Set-based average precision",
        summary: "Precision times recall of all documents retrieved, whatever their order.",
        citations: &["buckley2004trec"],
    },
    aliases: &["SetAP"],
    range: (0.0, Some(1.0)),
    empty: BY_CONVENTION,
    cut: false,
    levels: false,
    options: &["threshold"],
    make: |request| {
        let formula = SetMap { threshold: request.conventions.threshold };
        request.build(&ENTRY.card, formula)
    },
};

struct SetMap {
    threshold: f32,
}

impl MetricFormula for SetMap {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        none_relevant(labels, self.threshold)
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let hits = relevant_among(labels, ranking.order(), self.threshold) as f64;
        // Where nothing is retrieved, there are no hits.
        hits / ranking.len().max(1) as f64 * (hits / relevant(labels, self.threshold) as f64)
    }
}
