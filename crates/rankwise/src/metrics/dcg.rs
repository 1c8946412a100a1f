//! Discounted cumulative gain (Järvelin and Kekäläinen 2002).
//!
//! ```text
//! DCG@k = Σ_{i ≤ k} gain(rᵢ) · discount(i)
//! ```
//! It is linear in the gains, so tied documents have their mean gain at each of their ranks.

use super::conventions::{Conventions, Empty};
use super::gains::{Discounts, Gains};
use super::{MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "dcg",
        title: "Discounted cumulative gain",
        summary: "The sum of the gains of the first k documents, each discounted by its rank.",
        citations: &["jarvelin2002cumulated", "burges2005ranknet"],
    },
    aliases: &["dcg_score"],
    range: (0.0, None),
    empty: "no relevant documents: 0, or skipped if `empty` is `skip`",
    cut: true,
    levels: false,
    options: &["gain", "discount", "threshold"],
    make: |mut request| {
        // A sum has no best value to give to an empty query.
        if request.conventions.empty_for(ENTRY.card.name) == Empty::One {
            request.conventions.empty_except.insert(ENTRY.card.name.to_owned(), Empty::Zero);
        }
        let formula = Dcg::new(&request.conventions, request.depth());
        request.build(&ENTRY.card, formula)
    },
};

/// DCG under given conventions.
#[derive(Debug, Clone)]
pub(crate) struct Dcg {
    pub(crate) gains: Gains,
    pub(crate) discounts: Discounts,
    pub(super) depth: usize,
}

impl Dcg {
    pub(crate) fn new(conventions: &Conventions, depth: usize) -> Self {
        Dcg {
            gains: Gains::new(conventions.gain, conventions),
            discounts: Discounts::new(conventions.discount),
            depth,
        }
    }

    /// Whether a rank, from 0, counts.
    pub(crate) fn reaches(&self, place: usize) -> bool {
        place < self.depth
    }

    /// The DCG of the best ranking.
    pub(crate) fn ideal(&self, labels: &[f32]) -> f64 {
        let mut sum = 0.0;
        self.gains.each_ideal(labels, self.depth, |place, gain| sum += gain * self.discounts.at(place));
        sum
    }
}

impl MetricFormula for Dcg {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        self.gains.are_zero(labels)
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let mut sum = 0.0;
        self.gains
            .each_expected(labels, ranking, self.depth, |place, gain| sum += gain * self.discounts.at(place));
        sum
    }
}
