//! Interpolated precision at a level of recall, as trec_eval's `iprec_at_recall`.

use super::hits::none_relevant;
use super::interpolated::RecallCurve;
use super::{BY_CONVENTION, MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "iprec",
        title: "Interpolated precision",
        summary: "The highest precision at any rank where recall is at least r, as in `iprec@0.1`. Averaged ties \
             are seen at once.",
        citations: &["vanrijsbergen1979information", "buckley2004trec"],
    },
    aliases: &["iprec_at_recall"],
    range: (0.0, Some(1.0)),
    empty: BY_CONVENTION,
    cut: false,
    levels: true,
    options: &["threshold"],
    make: |request| {
        let formula =
            InterpolatedPrecision { threshold: request.conventions.threshold, level: request.level };
        request.build(&ENTRY.card, formula)
    },
};

struct InterpolatedPrecision {
    threshold: f32,
    level: f64,
}

impl MetricFormula for InterpolatedPrecision {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        none_relevant(labels, self.threshold)
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        RecallCurve::new(labels, ranking, self.threshold).at(self.level)
    }
}
