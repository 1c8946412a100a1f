//! Precision: the fraction of relevant documents among the first k, or among all that were retrieved.

use super::conventions::PDivisor;
use super::hits::{expected_hits, none_relevant, precision_divisor};
use super::{BY_CONVENTION, MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "p",
        title: "Precision",
        summary: "The number of relevant documents among the first k, divided by k (or by min(k, n) for \
             short lists).",
        citations: &["vanrijsbergen1979information"],
    },
    aliases: &["precision", "pre", "set_P", "PrecisionAt"],
    range: (0.0, Some(1.0)),
    empty: BY_CONVENTION,
    cut: true,
    levels: false,
    options: &["threshold", "p-divisor"],
    make: |request| {
        let c = &request.conventions;
        let formula = Precision { threshold: c.threshold, divisor: c.p_divisor, cut: request.cut };
        request.build(&ENTRY.card, formula)
    },
};

struct Precision {
    threshold: f32,
    divisor: PDivisor,
    cut: Option<usize>,
}

impl MetricFormula for Precision {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        none_relevant(labels, self.threshold)
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let hits = expected_hits(labels, ranking, self.threshold, self.cut.unwrap_or(usize::MAX));
        match precision_divisor(self.divisor, self.cut, ranking.len()) {
            0 => 0.0,
            divisor => hits / divisor as f64,
        }
    }
}
