//! The squared error between scores and labels: the classic pointwise loss (Cossock and Zhang 2006).
//!
//! ```text
//! L(s) = ½ Σᵢ (sᵢ − rᵢ)² ,   ∂L/∂sᵢ = sᵢ − rᵢ ,   ∂²L/∂sᵢ² = 1
//! ```

use super::{QueryLoss, ScoredQuery};
use crate::card::Card;

pub(super) const CARD: Card = Card {
    name: "squared",
    title: "Squared error",
    summary: "Half the squared error between the score and the label of each document, summed.",
    citations: &["cossock2006subset"],
};

/// Half the squared error between scores and labels.
#[derive(Debug, Clone, Copy, Default)]
pub struct Squared;

impl QueryLoss for Squared {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        let mut value = 0.0;
        for ((g, &s), &r) in gradient.iter_mut().zip(query.scores).zip(query.labels) {
            *g = s - f64::from(r);
            value += 0.5 * *g * *g;
        }
        value
    }

    fn curvature(&self, _: ScoredQuery<'_>, curvature: &mut [f64]) {
        curvature.fill(1.0);
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        !labels.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_documents_by_hand() {
        let mut gradient = [0.0; 2];
        let query = ScoredQuery { labels: &[2.0, 0.0], scores: &[0.5, -1.0], seed: 0 };
        assert_eq!(Squared.value_and_gradient(query, &mut gradient), 0.5 * (2.25 + 1.0));
        assert_eq!(gradient, [-1.5, -1.0]);
    }
}
