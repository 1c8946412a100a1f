//! The structured hinge of the area under the ROC curve (Joachims, ICML 2005).
//!
//! ```text
//! Δ(y) = #(g,b with b ahead of g) / (n⁺n⁻)
//! b is ahead of g in ŷ  ⇔  s_g − s_b < ½
//! ```
//!
//! Each pair weighs `1/(n⁺n⁻) − 2(s_g − s_b)/(n⁺n⁻)` on its own, and bads ranked as if they scored ½ more make
//! exactly the pairs of positive weight wrong: two pointers after sorting.

use super::{Classes, LossAugmentedArgmax, PairOrder, has_both_classes, is_good};
use crate::card::Card;
use crate::losses::ScoredQuery;
use crate::rank::Ranking;

pub(crate) const CARD: Card = Card {
    name: "auc-hinge",
    title: "Structured hinge of AUC",
    summary: "An upper bound of the share of pairs of a good and a bad document that are in the wrong order.",
    citations: &["joachims2005support", "chakrabarti2008structured"],
};

/// The search for AUC under φ_po.
#[derive(Debug, Clone, Copy)]
pub struct AucSearch {
    /// The least grade of a good document.
    pub threshold: f32,
}

impl LossAugmentedArgmax for AucSearch {
    type Map = PairOrder;

    fn map(&self) -> PairOrder {
        PairOrder { threshold: self.threshold }
    }

    fn task_loss(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let (mut goods, mut bads, mut wrong) = (0.0, 0.0, 0.0);
        for &d in ranking.order() {
            if is_good(labels[d as usize], self.threshold) {
                goods += 1.0;
                wrong += bads;
            } else {
                bads += 1.0;
            }
        }
        wrong / (goods * bads)
    }

    fn is_informed_by(&self, labels: &[f32]) -> bool {
        has_both_classes(labels, self.threshold)
    }

    fn argmax(&self, query: ScoredQuery<'_>) -> Option<Ranking> {
        let classes = Classes::of(query, self.threshold)?;
        let score = |d: u32| query.scores[d as usize];
        let mut next = 0;
        let first: Vec<usize> = (classes.bads.iter())
            .map(|&bad| {
                while classes.goods.get(next).is_some_and(|&good| score(good) - score(bad) >= 0.5) {
                    next += 1;
                }
                next
            })
            .collect();
        Some(classes.staircase(&first))
    }
}
