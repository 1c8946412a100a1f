//! The structured hinge loss for the area under the ROC curve (Joachims, ICML 2005).
//!
//! ```text
//! Δ(y) = #(g,b with b ahead of g) / (n⁺n⁻)
//! b is ahead of g in ŷ  ⇔  s_g − s_b < ½
//! ```
//!
//! Each pair contributes `1/(n⁺n⁻) − 2(s_g − s_b)/(n⁺n⁻)` independently. Adding ½ to the scores of non-relevant
//! documents makes exactly the pairs with a positive contribution wrong, so two pointers are enough after sorting.

use super::{Classes, LossAugmentedArgmax, PairOrder, has_both_classes, is_relevant};
use crate::card::Card;
use crate::losses::ScoredQuery;
use crate::rank::Ranking;

pub(crate) const CARD: Card = Card {
    name: "auc-hinge",
    title: "Structured hinge for AUC",
    summary: "A convex upper bound on the fraction of pairs of a relevant and a non-relevant document in the wrong order.",
    citations: &["joachims2005support", "chakrabarti2008structured"],
};

/// The search for AUC under φ_po.
#[derive(Debug, Clone, Copy)]
pub struct AucSearch {
    /// The minimum label of a relevant document.
    pub threshold: f32,
}

impl LossAugmentedArgmax for AucSearch {
    type Map = PairOrder;

    fn map(&self) -> PairOrder {
        PairOrder { threshold: self.threshold }
    }

    fn task_loss(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let (mut relevant, mut non_relevant, mut wrong) = (0.0, 0.0, 0.0);
        for &d in ranking.order() {
            if is_relevant(labels[d as usize], self.threshold) {
                relevant += 1.0;
                wrong += non_relevant;
            } else {
                non_relevant += 1.0;
            }
        }
        wrong / (relevant * non_relevant)
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        has_both_classes(labels, self.threshold)
    }

    fn class_of(&self, label: f32) -> f64 {
        f64::from(is_relevant(label, self.threshold))
    }

    fn argmax(&self, query: ScoredQuery<'_>) -> Option<Ranking> {
        let classes = Classes::of(query, self.threshold)?;
        let score = |d: u32| query.scores[d as usize];
        let mut next = 0;
        let first: Vec<usize> = (classes.non_relevant.iter())
            .map(|&non_relevant_doc| {
                while classes
                    .relevant
                    .get(next)
                    .is_some_and(|&relevant_doc| score(relevant_doc) - score(non_relevant_doc) >= 0.5)
                {
                    next += 1;
                }
                next
            })
            .collect();
        Some(classes.staircase(&first))
    }
}
