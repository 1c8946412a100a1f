//! Judged at k: the fraction of the first k documents that have a judgement, as in ir-measures.
//!
//! A document is judged if it is in the judgements at all, even with a grade below 0.

use super::{MetricEntry, MetricFormula, NEVER};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "judged",
        title: "Judged",
        summary: "The fraction of the first k documents that are judged, relevant or not; of all documents retrieved \
             if there are fewer.",
        citations: &["macavaney2022streamlining"],
    },
    aliases: &[],
    range: (0.0, Some(1.0)),
    empty: NEVER,
    cut: true,
    levels: false,
    options: &[],
    make: |request| {
        let formula = Judged { depth: request.depth() };
        request.build(&ENTRY.card, formula)
    },
};

struct Judged {
    depth: usize,
}

impl MetricFormula for Judged {
    fn is_undefined(&self, _: &[f32]) -> bool {
        false
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let mut judged = 0.0;
        for group in ranking.groups().take_while(|g| g.start < self.depth) {
            let tied = &ranking.order()[group.clone()];
            let found = tied.iter().filter(|&&d| !labels[d as usize].is_nan()).count() as f64;
            let inside = group.end.min(self.depth) - group.start;
            judged += found * inside as f64 / group.len() as f64;
        }
        judged / ranking.len().min(self.depth).max(1) as f64
    }
}
