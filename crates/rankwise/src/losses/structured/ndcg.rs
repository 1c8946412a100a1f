//! The structured hinge loss for NDCG with binary gains (Chakrabarti et al., KDD 2008).
//!
//! ```text
//! Δ(y) = 1 − Σ_{relevant documents at position i < k} D(i) / Σ_{i < min(n⁺,k)} D(i)
//! ```
//!
//! Without a cutoff and with a convex discount, one more non-relevant document costs a relevant one less the more
//! there are. So the staircase search applies, and `loss_j(ρ)` telescopes to `D(ρ+j) − D(n⁺+j)`, divided by the ideal
//! DCG. A cutoff, or a discount that is 1 at the first two positions, breaks that. Then a dynamic program processes
//! the relevant documents from the last to the first:
//!
//! ```text
//! V(g, b) = max_{b' ≥ b} [ h(g, b') + V(g+1, b') ] ,
//! h(g, b) = 2/(n⁺n⁻) Σ_{j<b} (s_bj − s_g) − D(g+b)·[g+b < k] / ideal        (relevant document g behind exactly b
//! non-relevant ones)
//! ```
//!
//! From `b = k` on, nothing is gained, and every relevant document takes its own optimal position, so that column is
//! the last: O(n⁺·k). The greedy shortcut of the paper (its Fact 3.4) misses the optimum and is not used.

use super::{Classes, LossAugmentedArgmax, PairOrder, has_both_classes, is_relevant, staircase};
use crate::card::Card;
use crate::losses::ScoredQuery;
use crate::metrics::Discount;
use crate::rank::Ranking;

pub(crate) const CARD: Card = Card {
    name: "ndcg-hinge",
    title: "Structured hinge for NDCG",
    summary: "A convex upper bound on one minus the NDCG of the ranking by scores, with binary gains.",
    citations: &["chakrabarti2008structured"],
};

/// The search for NDCG under φ_po.
#[derive(Debug, Clone, Copy)]
pub struct NdcgSearch {
    /// The minimum label of a relevant document.
    pub threshold: f32,
    /// The cutoff; 0 for none.
    pub k: usize,
    /// The discount of positions.
    pub discount: Discount,
}

impl LossAugmentedArgmax for NdcgSearch {
    type Map = PairOrder;

    fn map(&self) -> PairOrder {
        PairOrder { threshold: self.threshold }
    }

    fn task_loss(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let is_relevant = |d: u32| is_relevant(labels[d as usize], self.threshold);
        let (mut relevant, mut gained, mut ideal) = (0, 0.0, 0.0);
        for (place, _) in ranking.order().iter().enumerate().filter(|(_, d)| is_relevant(**d)) {
            ideal += self.discount_at(relevant);
            gained += self.discount_at(place);
            relevant += 1;
        }
        1.0 - gained / ideal
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
        let discounts: Vec<f64> = (0..=query.labels.len()).map(|place| self.discount_at(place)).collect();
        let ideal: f64 = discounts[..relevant].iter().sum();
        if self.k == 0 && self.discount == Discount::Log2 {
            let loss = |j: usize, rho: usize| (discounts[rho + j] - discounts[relevant + j]) / ideal;
            return Some(staircase::best(&classes, query.scores, loss));
        }
        let cut =
            if self.k == 0 { classes.non_relevant.len() } else { self.k.min(classes.non_relevant.len()) };
        Some(DynamicProgram::new(&classes, query.scores, &discounts, ideal, cut).solve())
    }
}

impl NdcgSearch {
    /// The discount of a position, from 0; 0 beyond the cutoff.
    fn discount_at(&self, place: usize) -> f64 {
        if self.k == 0 || place < self.k { self.discount.at(place) } else { 0.0 }
    }
}

/// The dynamic program of one query.
struct DynamicProgram<'a> {
    classes: &'a Classes,
    /// The scores of the relevant documents.
    relevant_scores: Vec<f64>,
    /// Prefix sums of the scores of the non-relevant documents.
    non_relevant_sums: Vec<f64>,
    /// The number of non-relevant documents that score above each relevant one.
    above: Vec<usize>,
    unit: f64,
    discounts: &'a [f64],
    ideal: f64,
    /// The last column: with this many non-relevant documents ahead, no relevant document gains anything, or there
    /// are no more non-relevant ones.
    cut: usize,
}

impl<'a> DynamicProgram<'a> {
    fn new(classes: &'a Classes, scores: &[f64], discounts: &'a [f64], ideal: f64, cut: usize) -> Self {
        let origin = scores[classes.relevant[0] as usize];
        let relative = |d: &u32| scores[*d as usize] - origin;
        let relevant_scores: Vec<f64> = classes.relevant.iter().map(relative).collect();
        let non_relevant_scores: Vec<f64> = classes.non_relevant.iter().map(relative).collect();
        let mut non_relevant_sums = vec![0.0];
        for score in &non_relevant_scores {
            non_relevant_sums.push(non_relevant_sums[non_relevant_sums.len() - 1] + score);
        }
        let above = relevant_scores
            .iter()
            .map(|score| non_relevant_scores.partition_point(|other| other > score))
            .collect();
        let unit = 2.0 / (relevant_scores.len() as f64 * non_relevant_scores.len() as f64);
        DynamicProgram { classes, relevant_scores, non_relevant_sums, above, unit, discounts, ideal, cut }
    }

    /// The number of non-relevant documents ahead of relevant document `g` in column `column`; in the last column,
    /// its own optimum.
    fn ahead(&self, g: usize, column: usize) -> usize {
        if column < self.cut { column } else { self.above[g].max(self.cut) }
    }

    /// `h(g, ·)` of the column.
    fn value(&self, g: usize, column: usize) -> f64 {
        let b = self.ahead(g, column);
        self.unit * (self.non_relevant_sums[b] - b as f64 * self.relevant_scores[g])
            - self.discounts[g + b] / self.ideal
    }

    fn solve(&self) -> Ranking {
        let (relevant, columns) = (self.relevant_scores.len(), self.cut + 1);
        let mut best = vec![0.0; columns];
        let mut choice = vec![0u32; relevant * columns];
        for g in (0..relevant).rev() {
            let (mut most, mut chosen) = (f64::NEG_INFINITY, self.cut);
            for column in (0..columns).rev() {
                let value = self.value(g, column) + best[column];
                if value > most {
                    (most, chosen) = (value, column);
                }
                best[column] = most;
                choice[g * columns + column] = chosen as u32;
            }
        }
        let mut column = 0;
        let mut first = vec![relevant; self.classes.non_relevant.len()];
        let mut placed = 0;
        for g in 0..relevant {
            column = choice[g * columns + column] as usize;
            let ahead = self.ahead(g, column);
            first[placed..ahead].fill(g);
            placed = ahead;
        }
        self.classes.staircase(&first)
    }
}
