//! The hinge loss against one perfect ranking, drawn at random (Le and Smola 2007; equation 3 of Yang et al. 2012).
//!
//! ```text
//! L(s) = max_y { 1 − NDCG(y) + f(s,y) − f(s,ỹ) } ,    f(s,y) = Σᵢ A(yᵢ)·sᵢ ,    ỹ perfect, ties broken at random
//! ```
//!
//! `ỹ` depends only on the query's seed, so it is the same at any scores and the loss is convex.

use super::hinge_against;
use crate::card::Card;
use crate::losses::structured::{DormSearch, LossAugmentedArgmax};
use crate::losses::{QueryLoss, ScoredQuery};
use crate::rng;
use rand::Rng;

pub(crate) const CARD: Card = Card {
    name: "tie-random",
    title: "Hinge against one perfect ranking",
    summary: "A convex upper bound on one minus NDCG, by the margin to a perfect ranking with ties broken at random.",
    citations: &["yang2012perturbation", "le2007direct"],
};

/// The hinge loss against a perfect ranking with ties broken at random.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TieRandom(pub DormSearch);

impl QueryLoss for TieRandom {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        hinge_against(&self.0, query, gradient, |gains| drawn(gains, query.seed))
    }

    /// The loss is piecewise linear: its second derivative, where it exists, is 0.
    fn curvature(&self, _: ScoredQuery<'_>, curvature: &mut [f64]) {
        curvature.fill(0.0);
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        self.0.has_signal(labels)
    }
}

/// A perfect ranking; every order of tied documents is equally likely.
pub(super) fn drawn(gains: &[f64], seed: u64) -> Vec<u32> {
    let mut random = rng::stream(seed, &[]);
    let lots: Vec<u64> = gains.iter().map(|_| random.next_u64()).collect();
    let mut order: Vec<u32> = (0..gains.len() as u32).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (a as usize, b as usize);
        gains[b].total_cmp(&gains[a]).then(lots[a].cmp(&lots[b]))
    });
    order
}
