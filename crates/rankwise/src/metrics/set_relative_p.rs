//! Relative precision of all documents retrieved: relevant ones retrieved, of those that could have been.

use super::hits::{none_relevant, relevant, relevant_among};
use super::{BY_CONVENTION, MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "set-relative-p",
        title: "Relative precision of a set",
        summary: "The number of relevant documents retrieved, divided by the smaller of the numbers of documents \
             retrieved and of relevant documents.",
        citations: &["buckley2004trec"],
    },
    aliases: &[],
    range: (0.0, Some(1.0)),
    empty: BY_CONVENTION,
    cut: false,
    levels: false,
    options: &["threshold"],
    make: |request| {
        let formula = SetRelativePrecision { threshold: request.conventions.threshold };
        request.build(&ENTRY.card, formula)
    },
};

struct SetRelativePrecision {
    threshold: f32,
}

impl MetricFormula for SetRelativePrecision {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        none_relevant(labels, self.threshold)
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let most = ranking.len().min(relevant(labels, self.threshold));
        relevant_among(labels, ranking.order(), self.threshold) as f64 / most.max(1) as f64
    }
}
