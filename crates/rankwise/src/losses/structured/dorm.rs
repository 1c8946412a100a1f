//! The structured hinge of NDCG by the places of documents: DORM (Le and Smola, 2007).
//!
//! ```text
//! φ_dorm(y) = Σᵢ A(yᵢ)·xᵢ ,    A(p) = (1 + p)^−decay up to a cut-off ,    yᵢ the place of document i, from 0
//! Δ(y) = 1 − NDCG@k(y)
//! ```
//!
//! Perfect rankings differ where gains are equal, and a fixed one of them would make the loss depend on the order of
//! the file. So `φ(y*)` is the mean over all of them: a document weighs the mean of `A` over the places that
//! documents of its gain share. The hinge stays convex and above Δ of the ranking by scores, since that ranking has
//! the largest `Σ A·s` of all.

use super::placing::Placing;
use super::{FeatureMap, LossAugmentedArgmax};
use crate::card::Card;
use crate::losses::ScoredQuery;
use crate::metrics::{Discount, Gain};
use crate::rank::Ranking;

pub(crate) const CARD: Card = Card {
    name: "dorm-hinge",
    title: "Structured hinge of NDCG by places",
    summary: "An upper bound of one minus the NDCG of the ranking by scores, where a place weighs its document's score.",
    citations: &["le2007direct", "chakrabarti2008structured"],
};

/// φ_dorm, with perfect rankings by decreasing gain.
#[derive(Debug, Clone, Copy)]
pub struct PlaceSum(DormSearch);

impl FeatureMap for PlaceSum {
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
    /// What a grade is worth.
    pub gain: Gain,
    /// The least grade of a good document, for binary gains.
    pub threshold: f32,
    /// Places that count in the NDCG; 0 for all.
    pub k: usize,
    /// What a place is worth in the NDCG.
    pub discount: Discount,
    /// How fast the weight of a place falls in the feature map, above 0.
    pub decay: f64,
    /// Places that weigh anything in the feature map; 0 for all.
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
    /// What each document is worth.
    pub(crate) fn gains(&self, labels: &[f32]) -> Vec<f64> {
        labels.iter().map(|&label| self.gain.of(label, self.threshold)).collect()
    }

    /// A of the places that weigh anything, among `n`.
    pub(crate) fn pulls(&self, n: usize) -> Vec<f64> {
        (0..cut(self.cut_off, n)).map(|place| ((1 + place) as f64).powf(-self.decay)).collect()
    }

    /// What places are worth in the NDCG, and that of the best ranking of these gains.
    fn worths(&self, gains: &[f64]) -> (Vec<f64>, f64) {
        let worth: Vec<f64> = (0..cut(self.k, gains.len())).map(|place| self.discount.at(place)).collect();
        let mut best = gains.to_vec();
        best.sort_by(|a, b| b.total_cmp(a));
        let ideal = worth.iter().zip(&best).map(|(d, g)| d * g).sum();
        (worth, ideal)
    }

    fn placing(&self, query: ScoredQuery<'_>) -> Placing {
        let mut gains = self.gains(query.labels);
        let (worth, ideal) = self.worths(&gains);
        gains.iter_mut().for_each(|gain| *gain /= ideal);
        Placing::new(query, &gains, self.pulls(gains.len()), worth)
    }
}

/// The first `k` of `n` places, or all for 0.
fn cut(k: usize, n: usize) -> usize {
    if k == 0 { n } else { k.min(n) }
}

impl LossAugmentedArgmax for DormSearch {
    type Map = PlaceSum;

    fn map(&self) -> PlaceSum {
        PlaceSum(*self)
    }

    fn task_loss(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let gains = self.gains(labels);
        let (worth, ideal) = self.worths(&gains);
        let gained: f64 = worth.iter().zip(ranking.order()).map(|(w, &d)| w * gains[d as usize]).sum();
        1.0 - gained / ideal
    }

    fn is_informed_by(&self, labels: &[f32]) -> bool {
        let gains = self.gains(labels);
        gains.iter().any(|gain| *gain != gains[0])
    }

    fn argmax(&self, query: ScoredQuery<'_>) -> Option<Ranking> {
        self.is_informed_by(query.labels).then(|| Ranking::from_order(self.placing(query).solve()))
    }
}
