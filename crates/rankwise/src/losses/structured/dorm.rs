//! The structured hinge loss for NDCG with position weights: DORM (Le and Smola, 2007).
//!
//! ```text
//! φ_dorm(y) = Σᵢ A(yᵢ)·xᵢ ,    A(p) = (1 + p)^−decay up to a cut-off ,    yᵢ the position of document i, from 0
//! Δ(y) = 1 − NDCG@k(y)
//! ```
//!
//! If gains are tied, there are several perfect rankings, and choosing one of them would make the loss depend on the
//! order of the file. So `φ(y*)` is the mean over all of them: the weight of a document is the mean of `A` over the
//! positions of documents with its gain. The hinge is still convex and an upper bound on Δ of the ranking by scores,
//! because that ranking has the largest `Σ A·s`.

use super::few::{FEW, best_order};
use super::placing::Placing;
use super::{FeatureMap, LossAugmentedArgmax};
use crate::card::Card;
use crate::losses::ScoredQuery;
use crate::metrics::{Discount, Gain};
use crate::rank::Ranking;

pub(crate) const CARD: Card = Card {
    name: "dorm-hinge",
    title: "Structured hinge for NDCG with position weights (DORM)",
    summary: "A convex upper bound on one minus NDCG, from a feature map that weights scores by position.",
    citations: &["le2007direct", "chakrabarti2008structured"],
};

/// The feature map φ_dorm; perfect rankings are by decreasing gain.
#[derive(Debug, Clone, Copy)]
pub struct PositionSum(DormSearch);

impl FeatureMap for PositionSum {
    fn coefficients(&self, labels: &[f32], ranking: &Ranking, out: &mut [f64]) {
        let (gains, pull) = (self.0.gains(labels), self.0.pulls(labels.len()));
        let pull = |place: usize| pull.get(place).unwrap_or(&0.0);
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]));
        let mut start = 0;
        for block in order.chunk_by(|&a, &b| gains[a] == gains[b]) {
            let end = start + block.len();
            let mean = (start..end).map(pull).sum::<f64>() / block.len() as f64;
            block.iter().for_each(|&i| out[i] = mean);
            start = end;
        }
        for (place, &d) in ranking.order().iter().enumerate() {
            out[d as usize] -= pull(place);
        }
    }
}

/// The search for NDCG under φ_dorm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DormSearch {
    /// The gain of a label.
    pub gain: Gain,
    /// The minimum label of a relevant document, for binary gains.
    pub threshold: f32,
    /// The cutoff of NDCG; 0 for none.
    pub k: usize,
    /// The discount of NDCG.
    pub discount: Discount,
    /// How fast the weight of a position decreases in the feature map, above 0.
    pub decay: f64,
    /// The number of positions with a weight in the feature map; 0 for all.
    pub cut_off: usize,
}

impl Default for DormSearch {
    fn default() -> Self {
        DormSearch {
            gain: Gain::Exp2,
            threshold: 1.0,
            k: 0,
            discount: Discount::Log2,
            decay: 0.5,
            cut_off: 0,
        }
    }
}

impl DormSearch {
    /// The gain of each document.
    pub(crate) fn gains(&self, labels: &[f32]) -> Vec<f64> {
        labels.iter().map(|&label| self.gain.of(label, self.threshold)).collect()
    }

    /// The weight A of a position.
    fn pull(&self, place: usize) -> f64 {
        if self.cut_off == 0 || place < self.cut_off { ((1 + place) as f64).powf(-self.decay) } else { 0.0 }
    }

    /// The weights A of the positions that have one, for `n` documents.
    pub(crate) fn pulls(&self, n: usize) -> Vec<f64> {
        (0..cut(self.cut_off, n)).map(|place| self.pull(place)).collect()
    }

    /// The discount of a position.
    fn discount(&self, place: usize) -> f64 {
        if self.k == 0 || place < self.k { self.discount.at(place) } else { 0.0 }
    }

    /// The ideal DCG of these gains, which it sorts.
    fn ideal(&self, gains: &mut [f64]) -> f64 {
        gains.sort_by(|a, b| b.total_cmp(a));
        gains
            .iter()
            .take(cut(self.k, gains.len()))
            .enumerate()
            .map(|(place, g)| self.discount(place) * g)
            .sum()
    }

    /// The ranking with the largest loss plus score lead.
    fn worst(&self, query: ScoredQuery<'_>) -> Vec<u32> {
        let n = query.labels.len();
        let mut gains = self.gains(query.labels);
        let ideal = self.ideal(&mut gains.clone());
        gains.iter_mut().for_each(|gain| *gain /= ideal);
        if n <= FEW {
            return best_order(query, &gains, |place| self.pull(place), |place| self.discount(place));
        }
        let discounts = (0..cut(self.k, n)).map(|place| self.discount(place)).collect();
        Placing::new(query, &gains, self.pulls(n), discounts).solve()
    }
}

/// The top `k` of `n` positions; 0 for all.
fn cut(k: usize, n: usize) -> usize {
    if k == 0 { n } else { k.min(n) }
}

impl LossAugmentedArgmax for DormSearch {
    type Map = PositionSum;

    fn map(&self) -> PositionSum {
        PositionSum(*self)
    }

    fn task_loss(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let mut gains = self.gains(labels);
        let shown = ranking.order().iter().take(cut(self.k, labels.len())).enumerate();
        let gained: f64 = shown.map(|(place, &d)| self.discount(place) * gains[d as usize]).sum();
        1.0 - gained / self.ideal(&mut gains)
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        labels.iter().any(|&label| self.class_of(label) != self.class_of(labels[0]))
    }

    fn class_of(&self, label: f32) -> f64 {
        self.gain.of(label, self.threshold)
    }

    fn argmax(&self, query: ScoredQuery<'_>) -> Option<Ranking> {
        self.has_signal(query.labels).then(|| Ranking::from_order(self.worst(query)))
    }
}
