//! bpref (Buckley and Voorhees 2004): how many judged non-relevant documents stand before relevant ones.
//!
//! ```text
//! bpref = 1/R Σ_{relevant d} 1 − min(non-relevant ones before d, R) / min(N, R)
//! ```
//! with R relevant and N judged non-relevant documents. Unjudged documents (NaN, or a grade below 0 as in
//! TREC's files) are ignored. A relevant document in a tie has any number of the group's non-relevant ones
//! before it with equal probability.

use super::hits::{none_relevant, relevant};
use super::{BY_CONVENTION, MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "bpref",
        title: "bpref",
        summary: "One less the share of judged non-relevant documents before each relevant one; unjudged \
             ones are ignored.",
        citations: &["buckley2004bpref"],
    },
    aliases: &[],
    range: (0.0, Some(1.0)),
    empty: BY_CONVENTION,
    cut: false,
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
    fn is_judged_bad(&self, label: f32) -> bool {
        label >= 0.0 && label < self.threshold
    }
}

impl MetricFormula for Bpref {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        none_relevant(labels, self.threshold)
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let relevant = relevant(labels, self.threshold);
        let judged_bad = labels.iter().filter(|&&l| self.is_judged_bad(l)).count();
        // Without bad documents nothing is ever subtracted; the divisor only has to exist.
        let divisor = judged_bad.min(relevant).max(1) as f64;
        let (mut sum, mut bad_before) = (0.0, 0);
        for group in ranking.groups() {
            let grades = ranking.order()[group].iter().map(|&d| labels[d as usize]);
            let good = grades.clone().filter(|&l| l >= self.threshold).count();
            let bad = grades.filter(|&l| self.is_judged_bad(l)).count();
            if good > 0 {
                let counted: usize = (bad_before..=bad_before + bad).map(|b| b.min(relevant)).sum();
                sum += good as f64 * (1.0 - counted as f64 / (bad + 1) as f64 / divisor);
            }
            bad_before += bad;
        }
        sum / relevant as f64
    }
}
