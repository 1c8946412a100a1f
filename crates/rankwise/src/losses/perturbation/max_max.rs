//! The hinge loss against every perfect ranking (equation 4 of Yang, Tewari and Ravikumar, AISTATS 2012).
//!
//! ```text
//! L(s) = max_y { 1 − NDCG(y) + f(s,y) } − min_{z perfect} f(s,z) ,    f(s,y) = Σᵢ A(yᵢ)·sᵢ
//! ```
//!
//! The two terms are separate problems: a search over all rankings, and sorting the documents of each gain by
//! increasing score, because `A` decreases. Both terms are maxima of linear functions, so the loss is convex.

use super::hinge_against;
use crate::card::Card;
use crate::losses::structured::{DormSearch, LossAugmentedArgmax};
use crate::losses::ties::level_if_all_tied;
use crate::losses::{QueryLoss, ScoredQuery};

pub(crate) const CARD: Card = Card {
    name: "max-max",
    title: "Hinge against every perfect ranking",
    summary: "A convex upper bound on one minus NDCG, by the margin to the lowest-scored perfect ranking.",
    citations: &["yang2012perturbation"],
};

/// The hinge loss against all perfect rankings at once.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MaxMax(pub DormSearch);

impl QueryLoss for MaxMax {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        let value = hinge_against(&self.0, query, gradient, |gains| lowest(gains, query.scores));
        level_if_all_tied(query, |label| self.0.class_of(label), gradient);
        value
    }

    /// The loss is piecewise linear: its second derivative, where it exists, is 0.
    fn curvature(&self, _: ScoredQuery<'_>, curvature: &mut [f64]) {
        curvature.fill(0.0);
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        self.0.has_signal(labels)
    }
}

/// The perfect ranking with the smallest `f`.
fn lowest(gains: &[f64], scores: &[f64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..gains.len() as u32).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (a as usize, b as usize);
        gains[b].total_cmp(&gains[a]).then(scores[a].total_cmp(&scores[b]))
    });
    order
}
