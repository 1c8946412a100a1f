//! The cross-entropy of a softmax with weights in place of probabilities (Bruch, Wang, Bendersky and Najork, ICTIR
//! 2019).
//!
//! ```text
//! pᵢ = exp(sᵢ) / Σⱼ exp(sⱼ) ,   L(s) = −Σᵢ mᵢ ln pᵢ        m: the labels where they are above 0, and 0 elsewhere
//! ```
//! Convex, and linear in the labels. It is what ListNet becomes for clicks: a click says that the top document is the
//! one that was clicked, so the target probabilities are 1 and 0. O(n).

use super::super::{QueryLoss, ScoredQuery};
use super::softmax::{curvature, softmax};
use crate::card::Card;

pub(in super::super) const CARD: Card = Card {
    name: "weighted-softmax",
    title: "Weighted softmax cross-entropy",
    summary: "The cross-entropy of the softmax of the scores, where each document has its label as its weight.",
    citations: &["bruch2019analysis"],
};

/// Cross-entropy of a softmax, with labels as weights.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WeightedSoftmax;

impl QueryLoss for WeightedSoftmax {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        if !self.has_signal(query.labels) {
            gradient.fill(0.0);
            return 0.0;
        }
        gradient.copy_from_slice(query.scores);
        let (log_total, total) = (softmax(gradient), total_weight(query.labels));
        let mut value = 0.0;
        for ((g, &label), score) in gradient.iter_mut().zip(query.labels).zip(query.scores) {
            *g = total * *g - weight(label);
            value += weight(label) * (log_total - score);
        }
        value.max(0.0)
    }

    fn curvature(&self, query: ScoredQuery<'_>, out: &mut [f64]) {
        if !self.has_signal(query.labels) {
            out.fill(0.0);
            return;
        }
        curvature(query.scores, out);
        let total = total_weight(query.labels);
        out.iter_mut().for_each(|h| *h *= total);
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        labels.len() > 1 && labels.iter().any(|label| *label > 0.0)
    }
}

/// Labels of unjudged documents and negative ones weigh nothing.
fn weight(label: f32) -> f64 {
    f64::from(label).max(0.0)
}

fn total_weight(labels: &[f32]) -> f64 {
    labels.iter().map(|label| weight(*label)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::losses::PerClick;
    use crate::losses::listwise::XeNdcg;

    /// With equal scores, each of three documents has probability ⅓, so every unit of weight costs ln 3.
    #[test]
    fn three_documents_by_hand() {
        let (mut gradient, mut bends) = ([f64::NAN; 3], [f64::NAN; 3]);
        let query = ScoredQuery { labels: &[1.5, f32::NAN, 3.0], scores: &[7.0; 3], seed: 0 };
        let value = WeightedSoftmax.value_and_gradient(query, &mut gradient);
        assert!((value - 4.5 * 3_f64.ln()).abs() < 1e-14);
        assert_eq!(gradient, [0.0, 1.5, -1.5]);
        WeightedSoftmax.curvature(query, &mut bends);
        assert!(bends.iter().all(|h| (h - 4.5 * 2.0 / 9.0).abs() < 1e-15));
    }

    /// It is linear in the labels, so splitting it into clicks changes nothing; a loss that is not is changed.
    #[test]
    fn it_is_the_sum_over_clicks() {
        let query = ScoredQuery { labels: &[2.0, 0.0, 0.25, 0.0], scores: &[0.3, -0.7, 1.1, 0.0], seed: 3 };
        let at = |loss: &dyn QueryLoss| {
            let mut gradient = [f64::NAN; 4];
            let value = loss.value_and_gradient(query, &mut gradient);
            (value, gradient)
        };
        let ((value, gradient), (sum, slopes)) = (at(&WeightedSoftmax), at(&PerClick(WeightedSoftmax)));
        assert!((value - sum).abs() < 1e-14);
        assert!(gradient.iter().zip(slopes).all(|(a, b)| (a - b).abs() < 1e-14));
        assert!((at(&XeNdcg).0 - at(&PerClick(XeNdcg)).0).abs() > 0.1);
    }
}
