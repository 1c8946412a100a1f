//! Area under the ROC curve of one query: the share of pairs of a relevant and a non-relevant document that
//! stand in the right order; a tied pair counts one half, whatever the tie rule.
//!
//! Documents that were not retrieved stand below all others, tied.

use super::hits::{relevant, relevant_among};
use super::{MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "auc",
        title: "Area under the ROC curve, per query",
        summary: "The share of relevant and non-relevant pairs in the right order; ties count one half.",
        citations: &["hanley1982auc"],
    },
    aliases: &["roc_auc", "roc_auc_score"],
    range: (0.0, Some(1.0)),
    empty: "nothing relevant, or nothing else: 0, 1 or skipped, as `empty` says",
    cut: false,
    options: &["threshold"],
    make: |request| {
        let formula = Auc { threshold: request.conventions.threshold };
        request.build(&ENTRY.card, formula)
    },
};

struct Auc {
    threshold: f32,
}

impl MetricFormula for Auc {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        let relevant = relevant(labels, self.threshold);
        relevant == 0 || relevant == labels.len()
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let relevant = relevant(labels, self.threshold);
        let bad = labels.len() - relevant;
        let groups = ranking.score_groups().map(|group| {
            let size = group.len();
            (relevant_among(labels, &ranking.order()[group], self.threshold), size)
        });
        let found = relevant_among(labels, ranking.order(), self.threshold);
        let not_retrieved = (relevant - found, labels.len() - ranking.len());
        // Twice the number of pairs in order, so that halves stay whole.
        let (mut twice_in_order, mut bad_below) = (0_u64, bad);
        for (good, size) in groups.chain([not_retrieved]) {
            let bad_tied = size - good;
            bad_below -= bad_tied;
            twice_in_order += good as u64 * (2 * bad_below + bad_tied) as u64;
        }
        twice_in_order as f64 / (2.0 * relevant as f64 * bad as f64)
    }
}
