//! The structured hinge of the reciprocal rank, with its own feature map (Chakrabarti et al., KDD 2008).
//!
//! ```text
//! φ_mrr(y) = Σ_{b ahead of g₀} (x_b − x_g₀) ,     g₀ the first good of y;     φ_mrr(y*) = 0
//! Δ(y) = 1 − 1/(1+r)  with r bads ahead of g₀, 1 from r = k on
//! ```
//!
//! For a given `r` the worst ranking has the `r` best bads ahead and the lowest good as `g₀`: one candidate for
//! each `r`, by prefix sums.

use super::{Classes, FeatureMap, LossAugmentedArgmax, is_good};
use crate::card::Card;
use crate::losses::ScoredQuery;
use crate::rank::Ranking;

pub(crate) const CARD: Card = Card {
    name: "mrr-hinge",
    title: "Structured hinge of the reciprocal rank",
    summary: "An upper bound of one minus the reciprocal rank of the first good document.",
    citations: &["chakrabarti2008structured"],
};

/// φ_mrr, with documents good from `threshold` on.
#[derive(Debug, Clone, Copy)]
pub struct FirstGood {
    /// The least grade of a good document.
    pub threshold: f32,
}

impl FeatureMap for FirstGood {
    fn coefficients(&self, labels: &[f32], ranking: &Ranking, out: &mut [f64]) {
        out.fill(0.0);
        for (place, &d) in ranking.order().iter().enumerate() {
            if is_good(labels[d as usize], self.threshold) {
                out[d as usize] = place as f64;
                return;
            }
            out[d as usize] = -1.0;
        }
    }
}

/// The search for the reciprocal rank under φ_mrr.
#[derive(Debug, Clone, Copy)]
pub struct MrrSearch {
    /// The least grade of a good document.
    pub threshold: f32,
    /// Places that count; 0 for all.
    pub k: usize,
}

impl LossAugmentedArgmax for MrrSearch {
    type Map = FirstGood;

    fn map(&self) -> FirstGood {
        FirstGood { threshold: self.threshold }
    }

    fn task_loss(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let good = |d: &u32| is_good(labels[*d as usize], self.threshold);
        ranking.order().iter().position(good).map_or(1.0, |place| self.loss(place))
    }

    fn argmax(&self, query: ScoredQuery<'_>) -> Option<Ranking> {
        let classes = Classes::of(query, self.threshold)?;
        let (lowest, others) = classes.goods.split_last().expect("a query of both classes");
        let (mut lead, mut most, mut chosen) = (0.0, 0.0, 0);
        for (j, &bad) in classes.bads.iter().enumerate() {
            lead += query.scores[bad as usize] - query.scores[*lowest as usize];
            let value = self.loss(j + 1) + lead;
            if value > most {
                (most, chosen) = (value, j + 1);
            }
        }
        let (ahead, behind) = classes.bads.split_at(chosen);
        Some(Ranking::from_order([ahead, &[*lowest], others, behind].concat()))
    }
}

impl MrrSearch {
    /// Δ with `ahead` bads before the first good.
    fn loss(&self, ahead: usize) -> f64 {
        if self.k == 0 || ahead < self.k { 1.0 - 1.0 / (1 + ahead) as f64 } else { 1.0 }
    }
}
