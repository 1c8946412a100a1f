//! R-precision: precision at R, the number of relevant documents; where precision and recall are equal.

use super::hits::{expected_hits, none_relevant, relevant};
use super::{BY_CONVENTION, MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "r-precision",
        title: "R-precision",
        summary: "The fraction of relevant documents among the first R, where R is the number of relevant documents.",
        citations: &["buckley2000evaluating"],
    },
    aliases: &["rprec"],
    range: (0.0, Some(1.0)),
    empty: BY_CONVENTION,
    cut: false,
    levels: false,
    options: &["threshold"],
    make: |request| {
        let formula = RPrecision { threshold: request.conventions.threshold };
        request.build(&ENTRY.card, formula)
    },
};

struct RPrecision {
    threshold: f32,
}

impl MetricFormula for RPrecision {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        none_relevant(labels, self.threshold)
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let relevant = relevant(labels, self.threshold);
        expected_hits(labels, ranking, self.threshold, relevant) / relevant as f64
    }
}
