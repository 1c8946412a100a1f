//! bpref (Buckley and Voorhees 2004): how many judged non-relevant documents precede relevant ones.
//!
//! ```text
//! bpref = 1/R Σ_{relevant d} 1 − min(non-relevant ones before d, R) / min(N, R)
//! ```
//! with R relevant and N judged non-relevant documents. Unjudged documents (NaN, or a label below 0 as in
//! TREC files) are ignored. In a tie, a relevant document is preceded by any number of the group's non-relevant ones
//! with equal probability.

use super::hits::{none_relevant, relevant};
use super::{BY_CONVENTION, MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "bpref",
        title: "bpref",
        summary: "The mean over relevant documents of 1 minus the fraction of judged non-relevant documents ranked before \
             them; unjudged documents are ignored.",
        citations: &["buckley2004bpref"],
    },
    aliases: &[],
    range: (0.0, Some(1.0)),
    empty: BY_CONVENTION,
    cut: false,
    levels: false,
    options: &["threshold"],
    make: |request| {
        let formula = Bpref { threshold: request.conventions.threshold };
        request.build(&ENTRY.card, formula)
    },
};

struct Bpref {
    threshold: f32,
}

impl Bpref {
    fn is_judged_non_relevant(&self, label: f32) -> bool {
        label >= 0.0 && label < self.threshold
    }
}

impl MetricFormula for Bpref {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        none_relevant(labels, self.threshold)
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let relevant = relevant(labels, self.threshold);
        let judged_others = labels.iter().filter(|&&l| self.is_judged_non_relevant(l)).count();
        // Without non-relevant documents nothing is subtracted, and the divisor only must not be 0.
        let divisor = judged_others.min(relevant).max(1) as f64;
        let (mut sum, mut others_before) = (0.0, 0);
        for group in ranking.groups() {
            let grades = ranking.order()[group].iter().map(|&d| labels[d as usize]);
            let found = grades.clone().filter(|&l| l >= self.threshold).count();
            let others = grades.filter(|&l| self.is_judged_non_relevant(l)).count();
            if found > 0 {
                let counted: usize = (others_before..=others_before + others).map(|b| b.min(relevant)).sum();
                sum += found as f64 * (1.0 - counted as f64 / (others + 1) as f64 / divisor);
            }
            others_before += others;
        }
        sum / relevant as f64
    }
}
