//! Eleven-point average precision: the mean of interpolated precision at recall 0, 0.1, …, 1.

use super::hits::none_relevant;
use super::interpolated::{ELEVEN_LEVELS, RecallCurve};
use super::{BY_CONVENTION, MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "11pt-avg",
        title: "Eleven-point average precision",
        summary: "The mean of `iprec` at the recall levels 0, 0.1, … and 1.",
        citations: &["vanrijsbergen1979information", "buckley2004trec"],
    },
    aliases: &[],
    range: (0.0, Some(1.0)),
    empty: BY_CONVENTION,
    cut: false,
    levels: false,
    options: &["threshold"],
    make: |request| {
        let formula = ElevenPoint { threshold: request.conventions.threshold };
        request.build(&ENTRY.card, formula)
    },
};

struct ElevenPoint {
    threshold: f32,
}

impl MetricFormula for ElevenPoint {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        none_relevant(labels, self.threshold)
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let curve = RecallCurve::new(labels, ranking, self.threshold);
        ELEVEN_LEVELS.iter().map(|&level| curve.at(level)).sum::<f64>() / ELEVEN_LEVELS.len() as f64
    }
}
