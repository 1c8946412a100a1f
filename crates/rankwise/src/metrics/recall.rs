//! Recall: the fraction of relevant documents that are among the first k, or were retrieved at all.

use super::hits::{expected_hits, none_relevant, relevant};
use super::{BY_CONVENTION, MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "recall",
        title: "Recall",
        summary: "The number of relevant documents among the first k, divided by the number of all \
             relevant documents.",
        citations: &["vanrijsbergen1979information"],
    },
    aliases: &["R", "set_recall", "SetR", "RecallAt"],
    range: (0.0, Some(1.0)),
    empty: BY_CONVENTION,
    cut: true,
    levels: false,
    options: &["threshold"],
    make: |request| {
        let formula = Recall { threshold: request.conventions.threshold, depth: request.depth() };
        request.build(&ENTRY.card, formula)
    },
};

struct Recall {
    threshold: f32,
    depth: usize,
}

impl MetricFormula for Recall {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        none_relevant(labels, self.threshold)
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        expected_hits(labels, ranking, self.threshold, self.depth) / relevant(labels, self.threshold) as f64
    }
}
