//! The structured hinge of NDCG with goods worth 1 and bads 0 (Chakrabarti et al., KDD 2008).
//!
//! ```text
//! Δ(y) = 1 − Σ_{goods at place i < k} D(i) / Σ_{i < min(n⁺,k)} D(i)
//! ```
//!
//! Without a cut, and with a discount that is convex, one more bad costs a good less the more there are: the
//! staircase search applies, and `loss_j(ρ)` telescopes to `D(ρ+j) − D(n⁺+j)`, over the ideal. A cut, or a discount
//! that is 1 at both first places, breaks that; then a dynamic programme goes through the goods from the last:
//!
//! ```text
//! V(g, b) = max_{b' ≥ b} [ h(g, b') + V(g+1, b') ] ,
//! h(g, b) = 2/(n⁺n⁻) Σ_{j<b} (s_bj − s_g) − D(g+b)·[g+b < k] / ideal        (good g behind exactly b bads)
//! ```
//!
//! From `b = k` on nothing is gained any more and every good takes its own best place, so that column is the
//! last: O(n⁺·k). The greedy shortcut of the paper (its Fact 3.4) misses the optimum and is not used.

use super::{Classes, LossAugmentedArgmax, PairOrder, has_both_classes, is_good, staircase};
use crate::card::Card;
use crate::losses::ScoredQuery;
use crate::metrics::Discount;
use crate::rank::Ranking;

pub(crate) const CARD: Card = Card {
    name: "ndcg-hinge",
    title: "Structured hinge of NDCG",
    summary: "An upper bound of one minus the NDCG, with binary gains, of the ranking by scores.",
    citations: &["chakrabarti2008structured"],
};

/// The search for NDCG under φ_po.
#[derive(Debug, Clone, Copy)]
pub struct NdcgSearch {
    /// The least grade of a good document.
    pub threshold: f32,
    /// Places that count; 0 for all.
    pub k: usize,
    /// What a place is worth.
    pub discount: Discount,
}

impl LossAugmentedArgmax for NdcgSearch {
    type Map = PairOrder;

    fn map(&self) -> PairOrder {
        PairOrder { threshold: self.threshold }
    }

    fn task_loss(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let good = |d: u32| is_good(labels[d as usize], self.threshold);
        let (mut goods, mut gained, mut ideal) = (0, 0.0, 0.0);
        for (place, _) in ranking.order().iter().enumerate().filter(|(_, d)| good(**d)) {
            ideal += self.worth(goods);
            gained += self.worth(place);
            goods += 1;
        }
        1.0 - gained / ideal
    }

    fn is_informed_by(&self, labels: &[f32]) -> bool {
        has_both_classes(labels, self.threshold)
    }

    fn argmax(&self, query: ScoredQuery<'_>) -> Option<Ranking> {
        let classes = Classes::of(query, self.threshold)?;
        let goods = classes.goods.len();
        let worth: Vec<f64> = (0..=query.labels.len()).map(|place| self.worth(place)).collect();
        let ideal: f64 = worth[..goods].iter().sum();
        if self.k == 0 && self.discount == Discount::Log2 {
            let loss = |j: usize, rho: usize| (worth[rho + j] - worth[goods + j]) / ideal;
            return Some(staircase::best(&classes, query.scores, loss));
        }
        let cut = if self.k == 0 { classes.bads.len() } else { self.k.min(classes.bads.len()) };
        Some(Programme::new(&classes, query.scores, &worth, ideal, cut).solve())
    }
}

impl NdcgSearch {
    /// What a place is worth, from 0; nothing beyond the cut.
    fn worth(&self, place: usize) -> f64 {
        if self.k == 0 || place < self.k { self.discount.at(place) } else { 0.0 }
    }
}

/// The dynamic programme of one query.
struct Programme<'a> {
    classes: &'a Classes,
    /// Scores of the goods.
    good_scores: Vec<f64>,
    /// Sums of the scores of the first 0, 1, … bads.
    bad_sums: Vec<f64>,
    /// How many bads score above each good.
    above: Vec<usize>,
    unit: f64,
    worth: &'a [f64],
    ideal: f64,
    /// The last column: from so many bads ahead on, no good gains anything, or there are no more bads.
    cut: usize,
}

impl<'a> Programme<'a> {
    fn new(classes: &'a Classes, scores: &[f64], worth: &'a [f64], ideal: f64, cut: usize) -> Self {
        let origin = scores[classes.goods[0] as usize];
        let relative = |d: &u32| scores[*d as usize] - origin;
        let good_scores: Vec<f64> = classes.goods.iter().map(relative).collect();
        let bad_scores: Vec<f64> = classes.bads.iter().map(relative).collect();
        let mut bad_sums = vec![0.0];
        for score in &bad_scores {
            bad_sums.push(bad_sums[bad_sums.len() - 1] + score);
        }
        let above = good_scores.iter().map(|good| bad_scores.partition_point(|bad| bad > good)).collect();
        let unit = 2.0 / (good_scores.len() as f64 * bad_scores.len() as f64);
        Programme { classes, good_scores, bad_sums, above, unit, worth, ideal, cut }
    }

    /// How many bads stand ahead of good `g` in column `column`: in the last, its own best number of them.
    fn ahead(&self, g: usize, column: usize) -> usize {
        if column < self.cut { column } else { self.above[g].max(self.cut) }
    }

    /// `h(g, ·)` of the column.
    fn value(&self, g: usize, column: usize) -> f64 {
        let b = self.ahead(g, column);
        self.unit * (self.bad_sums[b] - b as f64 * self.good_scores[g]) - self.worth[g + b] / self.ideal
    }

    fn solve(&self) -> Ranking {
        let (goods, columns) = (self.good_scores.len(), self.cut + 1);
        let mut best = vec![0.0; columns];
        let mut choice = vec![0u32; goods * columns];
        for g in (0..goods).rev() {
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
        let mut first = vec![goods; self.classes.bads.len()];
        let mut placed = 0;
        for g in 0..goods {
            column = choice[g * columns + column] as usize;
            let ahead = self.ahead(g, column);
            first[placed..ahead].fill(g);
            placed = ahead;
        }
        self.classes.staircase(&first)
    }
}
