//! Area under the ROC curve of one query: the fraction of pairs of a relevant and a non-relevant document that are in
//! the right order. A tied pair counts one half, whatever the tie rule.
//!
//! Documents that were not retrieved are tied below all others.

use super::hits::{relevant, relevant_among};
use super::{MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "auc",
        title: "Area under the ROC curve, per query",
        summary: "The fraction of pairs of a relevant and a non-relevant document that are in the right order; a tied pair \
             counts one half.",
        citations: &["hanley1982auc"],
    },
    aliases: &["roc_auc", "roc_auc_score"],
    range: (0.0, Some(1.0)),
    empty: "no relevant or no non-relevant documents: 0, 1 or skipped, depending on `empty`",
    cut: false,
    levels: false,
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
        let others = labels.len() - relevant;
        let groups = ranking.score_groups().map(|group| {
            let size = group.len();
            (relevant_among(labels, &ranking.order()[group], self.threshold), size)
        });
        let retrieved = relevant_among(labels, ranking.order(), self.threshold);
        let not_retrieved = (relevant - retrieved, labels.len() - ranking.len());
        // Twice the number of pairs in order, so that halves are integers.
        let (mut twice_in_order, mut others_below) = (0_u64, others);
        for (found, size) in groups.chain([not_retrieved]) {
            let others_tied = size - found;
            others_below -= others_tied;
            twice_in_order += found as u64 * (2 * others_below + others_tied) as u64;
        }
        twice_in_order as f64 / (2.0 * relevant as f64 * others as f64)
    }
}
