//! ListNet (Cao, Qin, Liu, Tsai and Li, ICML 2007), with top-one probabilities.
//!
//! ```text
//! tᵢ = exp(rᵢ) / Σⱼ exp(rⱼ) ,   pᵢ = exp(sᵢ) / Σⱼ exp(sⱼ) ,   L(s) = −Σᵢ tᵢ ln pᵢ
//! ```
//! Convex. The minimum is the entropy of t, at scores equal to the labels. O(n). Queries whose labels are all equal
//! do not contribute.

use super::super::{QueryLoss, ScoredQuery};
use super::has_two_grades;
use super::softmax::{cross_entropy, curvature, softmax};
use crate::card::Card;
use crate::rank::grade;

pub(in super::super) const CARD: Card = Card {
    name: "list-net",
    title: "Top-one cross-entropy (ListNet)",
    summary: "The cross-entropy between the softmax of the labels and the softmax of the scores.",
    citations: &["cao2007learning"],
};

/// Cross-entropy of top-one probabilities.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ListNet;

impl QueryLoss for ListNet {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        if !has_two_grades(query.labels) {
            gradient.fill(0.0);
            return 0.0;
        }
        let mut targets: Vec<f64> = query.labels.iter().map(|&label| grade(label).into()).collect();
        softmax(&mut targets);
        cross_entropy(&targets, query.scores, gradient)
    }

    fn curvature(&self, query: ScoredQuery<'_>, out: &mut [f64]) {
        if has_two_grades(query.labels) { curvature(query.scores, out) } else { out.fill(0.0) }
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        has_two_grades(labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels ln 3 and 0 have the target probabilities ¾ and ¼; equal scores give ½ each.
    #[test]
    fn two_documents_by_hand() {
        let labels = [3_f32.ln(), f32::NAN];
        let (mut gradient, mut bends) = ([f64::NAN; 2], [f64::NAN; 2]);
        let query = ScoredQuery { labels: &labels, scores: &[7.0, 7.0], seed: 0 };
        let value = ListNet.value_and_gradient(query, &mut gradient);
        assert!((value - 2_f64.ln()).abs() < 1e-15);
        assert!((gradient[0] + 0.25).abs() < 1e-7 && (gradient[1] - 0.25).abs() < 1e-7);
        ListNet.curvature(query, &mut bends);
        assert_eq!(bends, [0.25; 2]);
    }

    /// The minimum is at scores equal to the labels: there the loss is the entropy and the gradient is 0.
    #[test]
    fn the_labels_are_the_optimal_scores() {
        let labels = [2.0, 0.0, 1.0, 0.0];
        let total: f64 = labels.iter().map(|r: &f32| f64::from(*r).exp()).sum();
        let entropy: f64 =
            labels.iter().map(|r| f64::from(*r).exp() / total * (total.ln() - f64::from(*r))).sum();
        let mut gradient = [f64::NAN; 4];
        let query = ScoredQuery { labels: &labels, scores: &[5.0, 3.0, 4.0, 3.0], seed: 0 };
        let value = ListNet.value_and_gradient(query, &mut gradient);
        assert!((value - entropy).abs() < 1e-14);
        assert!(gradient.iter().all(|g| g.abs() < 1e-15));
    }
}
