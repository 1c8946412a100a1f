//! F1: the harmonic mean of precision and recall (van Rijsbergen 1979).
//!
//! ```text
//! F1 = 2PR/(P+R) = 2·hits / (precision's divisor + relevant)
//! ```
//! This form is linear in the hits, so the expectation follows from that of the hits.

use super::conventions::PDivisor;
use super::hits::{expected_hits, none_relevant, precision_divisor, relevant};
use super::{BY_CONVENTION, MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "f1",
        title: "F1",
        summary: "The harmonic mean of precision and recall at k.",
        citations: &["vanrijsbergen1979information"],
    },
    aliases: &["f", "set_F"],
    range: (0.0, Some(1.0)),
    empty: BY_CONVENTION,
    cut: true,
    levels: false,
    options: &["threshold", "p-divisor"],
    make: |request| {
        let c = &request.conventions;
        let formula = F1 { threshold: c.threshold, divisor: c.p_divisor, cut: request.cut };
        request.build(&ENTRY.card, formula)
    },
};

struct F1 {
    threshold: f32,
    divisor: PDivisor,
    cut: Option<usize>,
}

impl MetricFormula for F1 {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        none_relevant(labels, self.threshold)
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let hits = expected_hits(labels, ranking, self.threshold, self.cut.unwrap_or(usize::MAX));
        let divisor = precision_divisor(self.divisor, self.cut, ranking.len());
        2.0 * hits / (divisor + relevant(labels, self.threshold)) as f64
    }
}
