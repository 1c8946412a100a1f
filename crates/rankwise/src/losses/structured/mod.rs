//! Structured hinge losses: the ranking with the largest loss plus score lead over the perfect one (Tsochantaridis et
//! al. 2005).
//!
//! ```text
//! L(s) = max_y [ Δ(y) − Σᵢ cᵢ(y)·sᵢ ]₊ ,    w·δφ(y) = Σᵢ cᵢ(y)·sᵢ ,    ∂L/∂s = −c(ŷ) at the maximiser ŷ
//! ```
//!
//! If the feature map is linear in the features, the loss depends on scores only, so these losses work with any
//! scorer. Documents are relevant if their label is at least a threshold. A query with documents of only one class
//! has loss 0.

mod assignment;
mod auc;
mod dorm;
mod few;
mod map;
mod merge;
mod mrr;
mod ndcg;
mod pair_order;
mod placing;
mod staircase;
#[cfg(test)]
mod tests;

use super::ties::level_if_all_tied;
use super::{QueryLoss, ScoredQuery};
use crate::rank::{Ranking, grade};

pub use auc::AucSearch;
pub(super) use auc::CARD as AUC;
pub(super) use dorm::CARD as DORM;
pub use dorm::{DormSearch, PositionSum};
pub(super) use map::CARD as MAP;
pub use map::MapSearch;
pub(super) use mrr::{CARD as MRR, PAIR_CARD as MRR_PAIRS};
pub use mrr::{FirstRelevant, MrrPairSearch, MrrSearch};
pub(super) use ndcg::CARD as NDCG;
pub use ndcg::NdcgSearch;
pub use pair_order::PairOrder;

/// A joint feature map of rankings, as coefficients of the documents' scores.
pub trait FeatureMap {
    /// Overwrites `out` with `cᵢ` of `w·(φ(y*) − φ(y)) = Σᵢ cᵢ·sᵢ`, where `y` is `ranking` and `y*` a perfect
    /// ranking.
    fn coefficients(&self, labels: &[f32], ranking: &Ranking, out: &mut [f64]);
}

/// An exact search for the most violated ranking of one query: the core of a structured SVM.
///
/// # Example
///
/// A custom search for "is the top document relevant?". It tries all rankings of three documents; a search for longer
/// queries would exploit the structure of the metric.
///
/// ```
/// use rankwise::losses::structured::{FeatureMap, LossAugmentedArgmax, PairOrder, StructuredHinge};
/// use rankwise::losses::{QueryLoss, ScoredQuery};
/// use rankwise::rank::Ranking;
///
/// struct TopRelevant;
///
/// impl LossAugmentedArgmax for TopRelevant {
///     type Map = PairOrder;
///
///     fn map(&self) -> PairOrder {
///         PairOrder { threshold: 1.0 }
///     }
///
///     fn task_loss(&self, labels: &[f32], ranking: &Ranking) -> f64 {
///         if labels[ranking.order()[0] as usize] >= 1.0 { 0.0 } else { 1.0 }
///     }
///
///     fn argmax(&self, query: ScoredQuery<'_>) -> Option<Ranking> {
///         let violation = |ranking: &Ranking| {
///             let mut coefficients = [0.0; 3];
///             self.map().coefficients(query.labels, ranking, &mut coefficients);
///             let margin: f64 = coefficients.iter().zip(query.scores).map(|(c, s)| c * s).sum();
///             self.task_loss(query.labels, ranking) - margin
///         };
///         let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
///         let rankings = orders.map(|order| Ranking::from_order(order.to_vec()));
///         self.has_signal(query.labels).then(|| {
///             rankings.into_iter().max_by(|a, b| violation(a).total_cmp(&violation(b))).unwrap()
///         })
///     }
///
///     fn has_signal(&self, labels: &[f32]) -> bool {
///         labels.iter().any(|label| *label >= 1.0) && labels.iter().any(|label| *label < 1.0)
///     }
/// }
///
/// let loss = |scores: [f64; 3]| {
///     let query = ScoredQuery { labels: &[1.0, 0.0, 0.0], scores: &scores, seed: 1 };
///     StructuredHinge(TopRelevant).value_and_gradient(query, &mut [0.0; 3])
/// };
/// // The hinge is an upper bound on the task loss of the ranking by scores, and 0 with a large enough margin.
/// assert!(loss([0.0, 0.5, 0.2]) >= 1.0);
/// assert_eq!(loss([5.0, 0.0, 0.0]), 0.0);
/// ```
pub trait LossAugmentedArgmax: Send + Sync {
    /// The feature map for which the search is exact.
    type Map: FeatureMap;

    /// Returns the feature map.
    fn map(&self) -> Self::Map;

    /// The task loss Δ of `ranking`, which is 0 for a perfect ranking.
    fn task_loss(&self, labels: &[f32], ranking: &Ranking) -> f64;

    /// A ranking that maximises `Δ(y) − w·δφ(y)`; `None` for a query in which all rankings are perfect.
    fn argmax(&self, query: ScoredQuery<'_>) -> Option<Ranking>;

    /// Whether there is a ranking of documents with these labels that is not perfect.
    fn has_signal(&self, labels: &[f32]) -> bool;

    /// A number that is equal for labels which the task loss and the feature map do not tell apart; the label itself
    /// unless given.
    fn class_of(&self, label: f32) -> f64 {
        f64::from(grade(label))
    }
}

/// The structured hinge loss of an exact search: `max_y [Δ(y) − w·δφ(y)]₊`.
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
        level_if_all_tied(query, |label| self.0.class_of(label), gradient);
        value.max(0.0)
    }

    /// The loss is piecewise linear: its second derivative, where it exists, is 0.
    fn curvature(&self, _: ScoredQuery<'_>, curvature: &mut [f64]) {
        curvature.fill(0.0);
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        self.0.has_signal(labels)
    }
}

/// Whether there are both relevant and non-relevant documents.
fn has_both_classes(labels: &[f32], threshold: f32) -> bool {
    labels.iter().any(|r| is_relevant(*r, threshold)) && labels.iter().any(|r| !is_relevant(*r, threshold))
}

/// Whether a document with this label is relevant. An unjudged one is not, unless the threshold is 0 or less.
pub(crate) fn is_relevant(label: f32, threshold: f32) -> bool {
    grade(label) >= threshold
}

/// The documents of a query that has both classes. Each class is sorted by decreasing score, ties in input order.
struct Classes {
    relevant: Vec<u32>,
    non_relevant: Vec<u32>,
}

impl Classes {
    fn of(query: ScoredQuery<'_>, threshold: f32) -> Option<Classes> {
        let (mut relevant, mut non_relevant): (Vec<u32>, Vec<u32>) =
            (0..query.labels.len() as u32).partition(|&i| is_relevant(query.labels[i as usize], threshold));
        if relevant.is_empty() || non_relevant.is_empty() {
            return None;
        }
        for class in [&mut relevant, &mut non_relevant] {
            class.sort_by(|&a, &b| query.scores[b as usize].total_cmp(&query.scores[a as usize]));
        }
        Some(Classes { relevant, non_relevant })
    }

    /// The ranking in which non-relevant document `j` is directly ahead of relevant document `first[j]`; `first`
    /// never decreases.
    fn staircase(&self, first: &[usize]) -> Ranking {
        let mut order = Vec::with_capacity(self.relevant.len() + self.non_relevant.len());
        let mut placed = 0;
        for (&non_relevant_doc, &until) in self.non_relevant.iter().zip(first) {
            order.extend_from_slice(&self.relevant[placed..until]);
            order.push(non_relevant_doc);
            placed = until;
        }
        order.extend_from_slice(&self.relevant[placed..]);
        Ranking::from_order(order)
    }
}
