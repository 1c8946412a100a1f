//! The structured hinge loss for average precision (Yue, Finley, Radlinski and Joachims, SIGIR 2007).
//!
//! ```text
//! Δ(y) = 1 − AP(y) ,   AP = 1/n⁺ Σ_g (g+1)/(g+1+j_g) ,    j_g non-relevant documents ahead of relevant document g =
//! 0, 1, …
//! ```
//!
//! One more non-relevant document ahead of relevant document `g` costs `(g+1)/(m(m+1))/n⁺` with `m = g+j+1`, which
//! decreases with `j`, so the staircase search applies. The sum over the relevant documents from `ρ` on has a closed
//! form in harmonic numbers `H`, with `a = ρ+j+1` and `e = n⁺+j+1`:
//!
//! ```text
//! n⁺·loss_j(ρ) = Σ_{m=a}^{e−1} (m−j)/(m(m+1)) = H(e) − H(a) − j(1/a − 1/e)
//! ```

use super::{Classes, LossAugmentedArgmax, PairOrder, has_both_classes, is_relevant, staircase};
use crate::card::Card;
use crate::losses::ScoredQuery;
use crate::rank::Ranking;

pub(crate) const CARD: Card = Card {
    name: "map-hinge",
    title: "Structured hinge for average precision",
    summary: "A convex upper bound on one minus the average precision of the ranking by scores.",
    citations: &["yue2007support", "chakrabarti2008structured"],
};

/// The search for average precision under φ_po.
#[derive(Debug, Clone, Copy)]
pub struct MapSearch {
    /// The minimum label of a relevant document.
    pub threshold: f32,
}

impl LossAugmentedArgmax for MapSearch {
    type Map = PairOrder;

    fn map(&self) -> PairOrder {
        PairOrder { threshold: self.threshold }
    }

    fn task_loss(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let (mut relevant, mut lost) = (0.0, 0.0);
        for (rank, &d) in ranking.order().iter().enumerate() {
            if is_relevant(labels[d as usize], self.threshold) {
                relevant += 1.0;
                lost += 1.0 - relevant / (rank + 1) as f64;
            }
        }
        lost / relevant
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        has_both_classes(labels, self.threshold)
    }

    fn class_of(&self, label: f32) -> f64 {
        f64::from(is_relevant(label, self.threshold))
    }

    fn argmax(&self, query: ScoredQuery<'_>) -> Option<Ranking> {
        let classes = Classes::of(query, self.threshold)?;
        let relevant = classes.relevant.len();
        let mut harmonic = vec![0.0; query.labels.len() + 1];
        for m in 1..harmonic.len() {
            harmonic[m] = harmonic[m - 1] + 1.0 / m as f64;
        }
        let loss = |j: usize, rho: usize| {
            let (a, e) = (rho + j + 1, relevant + j + 1);
            let tail = harmonic[e] - harmonic[a] - j as f64 * (1.0 / a as f64 - 1.0 / e as f64);
            tail / relevant as f64
        };
        Some(staircase::best(&classes, query.scores, loss))
    }
}
