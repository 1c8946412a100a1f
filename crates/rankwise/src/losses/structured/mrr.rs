//! The structured hinge loss for the reciprocal rank, with its own feature map or φ_po (Chakrabarti et al., KDD
//! 2008).
//!
//! ```text
//! φ_mrr(y) = Σ_{b ahead of g₀} (x_b − x_g₀) ,     g₀ the first relevant document of y;     φ_mrr(y*) = 0
//! Δ(y) = 1 − 1/(1+r)  with r non-relevant documents ahead of g₀; 1 if r ≥ k
//! ```
//!
//! There is one candidate per `r`, evaluated by prefix sums. Under φ_mrr, the worst ranking has the `r`
//! highest-scored non-relevant documents ahead and the lowest-scored relevant document as `g₀`. Under φ_po, the
//! highest-scored relevant document is `g₀`, and every other relevant document is behind the non-relevant documents
//! that score above it, and at least behind the first `r`.

use super::{Classes, FeatureMap, LossAugmentedArgmax, PairOrder, has_both_classes, is_relevant};
use crate::card::Card;
use crate::losses::ScoredQuery;
use crate::rank::Ranking;

pub(crate) const CARD: Card = Card {
    name: "mrr-hinge",
    title: "Structured hinge for the reciprocal rank",
    summary: "A convex upper bound on one minus the reciprocal rank of the first relevant document.",
    citations: &["chakrabarti2008structured"],
};

pub(crate) const PAIR_CARD: Card = Card {
    name: "mrr-pair-hinge",
    title: "Structured hinge for the reciprocal rank over pairs",
    summary: "A convex upper bound on one minus the reciprocal rank, from all pairs of a relevant and a non-relevant document.",
    citations: &["chakrabarti2008structured"],
};

/// The feature map φ_mrr; documents are relevant from `threshold` up.
#[derive(Debug, Clone, Copy)]
pub struct FirstRelevant {
    /// The minimum label of a relevant document.
    pub threshold: f32,
}

impl FeatureMap for FirstRelevant {
    fn coefficients(&self, labels: &[f32], ranking: &Ranking, out: &mut [f64]) {
        out.fill(0.0);
        for (place, &d) in ranking.order().iter().enumerate() {
            if is_relevant(labels[d as usize], self.threshold) {
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
    /// The minimum label of a relevant document.
    pub threshold: f32,
    /// The cutoff; 0 for none.
    pub k: usize,
}

impl LossAugmentedArgmax for MrrSearch {
    type Map = FirstRelevant;

    fn map(&self) -> FirstRelevant {
        FirstRelevant { threshold: self.threshold }
    }

    fn task_loss(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        lost(labels, ranking, self.threshold, self.k)
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        has_both_classes(labels, self.threshold)
    }

    fn class_of(&self, label: f32) -> f64 {
        f64::from(is_relevant(label, self.threshold))
    }

    fn argmax(&self, query: ScoredQuery<'_>) -> Option<Ranking> {
        let classes = Classes::of(query, self.threshold)?;
        let (lowest, others) = classes.relevant.split_last().expect("a query of both classes");
        let (mut lead, mut most, mut chosen) = (0.0, 0.0, 0);
        for (j, &non_relevant_doc) in classes.non_relevant.iter().enumerate() {
            lead += query.scores[non_relevant_doc as usize] - query.scores[*lowest as usize];
            let value = loss(j + 1, self.k) + lead;
            if value > most {
                (most, chosen) = (value, j + 1);
            }
        }
        let (ahead, behind) = classes.non_relevant.split_at(chosen);
        Some(Ranking::from_order([ahead, &[*lowest], others, behind].concat()))
    }
}

/// The search for the reciprocal rank under φ_po.
#[derive(Debug, Clone, Copy)]
pub struct MrrPairSearch {
    /// The minimum label of a relevant document.
    pub threshold: f32,
    /// The cutoff; 0 for none.
    pub k: usize,
}

impl LossAugmentedArgmax for MrrPairSearch {
    type Map = PairOrder;

    fn map(&self) -> PairOrder {
        PairOrder { threshold: self.threshold }
    }

    fn task_loss(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        lost(labels, ranking, self.threshold, self.k)
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        has_both_classes(labels, self.threshold)
    }

    fn class_of(&self, label: f32) -> f64 {
        f64::from(is_relevant(label, self.threshold))
    }

    /// `value(r) = Δ(r) + u·[ h₀(r) + Σ_{g>0} h_g(max(r, above_g)) ]` with `h_g(b) = Σ_{j<b} (s_bj − s_g)`. `above_g`
    /// never decreases with `g`, so the relevant documents held back by `r` are the first ones.
    fn argmax(&self, query: ScoredQuery<'_>) -> Option<Ranking> {
        let classes = Classes::of(query, self.threshold)?;
        let origin = query.scores[classes.relevant[0] as usize];
        let relative = |d: &u32| query.scores[*d as usize] - origin;
        let relevant: Vec<f64> = classes.relevant.iter().map(relative).collect();
        let non_relevant: Vec<f64> = classes.non_relevant.iter().map(relative).collect();
        let above: Vec<usize> =
            relevant.iter().map(|score| non_relevant.partition_point(|other| other > score)).collect();
        let unit = 2.0 / (relevant.len() as f64 * non_relevant.len() as f64);
        let mut sums = vec![0.0];
        for score in &non_relevant {
            sums.push(sums[sums.len() - 1] + score);
        }
        // The first relevant document has score 0 here, so it counts in `held` but not in `held_score`.
        let mut free: f64 = (1..relevant.len()).map(|g| sums[above[g]] - above[g] as f64 * relevant[g]).sum();
        let (mut held, mut held_score) = (1, 0.0);
        let (mut most, mut chosen) = (f64::NEG_INFINITY, 0);
        for (r, sum) in sums.iter().enumerate() {
            while held < relevant.len() && above[held] < r {
                free -= sums[above[held]] - above[held] as f64 * relevant[held];
                held_score += relevant[held];
                held += 1;
            }
            let value = loss(r, self.k) + unit * (held as f64 * sum - r as f64 * held_score + free);
            if value > most {
                (most, chosen) = (value, r);
            }
        }
        let ahead = |g: usize| if g == 0 { chosen } else { above[g].max(chosen) };
        let mut first = vec![relevant.len(); non_relevant.len()];
        let mut placed = 0;
        for g in 0..relevant.len() {
            first[placed..ahead(g)].fill(g);
            placed = ahead(g);
        }
        Some(classes.staircase(&first))
    }
}

/// Δ of a ranking.
fn lost(labels: &[f32], ranking: &Ranking, threshold: f32, k: usize) -> f64 {
    let is_relevant = |d: &u32| is_relevant(labels[*d as usize], threshold);
    ranking.order().iter().position(is_relevant).map_or(1.0, |place| loss(place, k))
}

/// Δ with `ahead` non-relevant documents before the first relevant document.
fn loss(ahead: usize, k: usize) -> f64 {
    if k == 0 || ahead < k { 1.0 - 1.0 / (1 + ahead) as f64 } else { 1.0 }
}
