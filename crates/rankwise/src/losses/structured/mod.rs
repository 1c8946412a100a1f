//! Structured hinges: the worst ranking by its loss and its lead over the perfect one (Tsochantaridis et al. 2005).
//!
//! ```text
//! L(s) = max_y [ Δ(y) − Σᵢ cᵢ(y)·sᵢ ]₊ ,    w·δφ(y) = Σᵢ cᵢ(y)·sᵢ ,    ∂L/∂s = −c(ŷ) at the maximiser ŷ
//! ```
//!
//! A feature map that is linear in the features speaks scores alone, so these losses serve any scorer. Documents
//! are good from a threshold of the grade on, else bad; a query with only one kind has loss 0.

mod assignment;
mod auc;
mod dorm;
mod map;
mod merge;
mod mrr;
mod ndcg;
mod pair_order;
mod placing;
mod staircase;
#[cfg(test)]
mod tests;

use super::{QueryLoss, ScoredQuery};
use crate::rank::{Ranking, grade};

pub use auc::AucSearch;
pub(super) use auc::CARD as AUC;
pub(super) use dorm::CARD as DORM;
pub use dorm::{DormSearch, PlaceSum};
pub(super) use map::CARD as MAP;
pub use map::MapSearch;
pub(super) use mrr::{CARD as MRR, PAIR_CARD as MRR_PAIRS};
pub use mrr::{FirstGood, MrrPairSearch, MrrSearch};
pub(super) use ndcg::CARD as NDCG;
pub use ndcg::NdcgSearch;
pub use pair_order::PairOrder;

/// How a ranking is seen by a linear model, as coefficients of the documents' scores.
pub trait FeatureMap {
    /// `cᵢ` of `w·(φ(y*) − φ(y)) = Σᵢ cᵢ·sᵢ`, where `y` is the ranking and `y*` a perfect one, overwriting `out`.
    fn coefficients(&self, labels: &[f32], ranking: &Ranking, out: &mut [f64]);
}

/// An exact search for the most violating ranking of one query.
pub trait LossAugmentedArgmax: Send + Sync {
    /// The feature map the search is exact for.
    type Map: FeatureMap;

    /// That map.
    fn map(&self) -> Self::Map;

    /// Δ: what is lost by showing `ranking`; 0 for a perfect one.
    fn task_loss(&self, labels: &[f32], ranking: &Ranking) -> f64;

    /// A ranking that maximises `Δ(y) − w·δφ(y)`, or nothing for a query in which all rankings are perfect.
    fn argmax(&self, query: ScoredQuery<'_>) -> Option<Ranking>;

    /// Whether some ranking of documents with these labels is not perfect.
    fn is_informed_by(&self, labels: &[f32]) -> bool;
}

/// The hinge over an exact search.
#[derive(Debug, Clone, Copy, Default)]
pub struct StructuredHinge<S>(pub S);

impl<S: LossAugmentedArgmax> QueryLoss for StructuredHinge<S> {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        let Some(worst) = self.0.argmax(query) else {
            gradient.fill(0.0);
            return 0.0;
        };
        self.0.map().coefficients(query.labels, &worst, gradient);
        gradient.iter_mut().for_each(|g| *g = -*g);
        let lead: f64 = gradient.iter().zip(query.scores).map(|(g, s)| g * s).sum();
        let value = self.0.task_loss(query.labels, &worst) + lead;
        if value <= 0.0 {
            gradient.fill(0.0);
        }
        value.max(0.0)
    }

    /// The loss is piecewise linear: where it has a second derivative, that is 0.
    fn curvature(&self, _: ScoredQuery<'_>, curvature: &mut [f64]) {
        curvature.fill(0.0);
    }

    fn is_informed_by(&self, labels: &[f32]) -> bool {
        self.0.is_informed_by(labels)
    }
}

/// Whether there are both good and bad documents.
fn has_both_classes(labels: &[f32], threshold: f32) -> bool {
    labels.iter().any(|r| is_good(*r, threshold)) && labels.iter().any(|r| !is_good(*r, threshold))
}

/// Whether a document of this label is good; an unjudged one is not, unless the threshold is 0 or less.
pub(crate) fn is_good(label: f32, threshold: f32) -> bool {
    grade(label) >= threshold
}

/// The documents of a query that has both kinds, each kind by decreasing score, equal scores in input order.
struct Classes {
    goods: Vec<u32>,
    bads: Vec<u32>,
}

impl Classes {
    fn of(query: ScoredQuery<'_>, threshold: f32) -> Option<Classes> {
        let (mut goods, mut bads): (Vec<u32>, Vec<u32>) =
            (0..query.labels.len() as u32).partition(|&i| is_good(query.labels[i as usize], threshold));
        if goods.is_empty() || bads.is_empty() {
            return None;
        }
        for class in [&mut goods, &mut bads] {
            class.sort_by(|&a, &b| query.scores[b as usize].total_cmp(&query.scores[a as usize]));
        }
        Some(Classes { goods, bads })
    }

    /// The ranking in which bad number `j` stands just ahead of good number `first[j]`; `first` never decreases.
    fn staircase(&self, first: &[usize]) -> Ranking {
        let mut order = Vec::with_capacity(self.goods.len() + self.bads.len());
        let mut placed = 0;
        for (&bad, &until) in self.bads.iter().zip(first) {
            order.extend_from_slice(&self.goods[placed..until]);
            order.push(bad);
            placed = until;
        }
        order.extend_from_slice(&self.goods[placed..]);
        Ranking::from_order(order)
    }
}
