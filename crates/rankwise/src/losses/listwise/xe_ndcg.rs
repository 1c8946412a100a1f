//! Cross-entropy for NDCG (Bruch, WWW 2021): like ListNet, with randomly perturbed gains as targets.
//!
//! ```text
//! tᵢ ∝ 2^rᵢ − γᵢ ,  γᵢ uniform in [0, 1) ;   pᵢ ∝ exp(sᵢ) ,   L(s) = −Σᵢ tᵢ ln pᵢ
//! ```
//! For any γ, it is a convex bound on the negative logarithm of mean NDCG, up to a constant. Not negative. γ is drawn
//! from the query's seed: it stays the same for a fixed seed, and is drawn anew in every round of boosted trees.
//! O(n). Queries whose labels are all equal do not contribute.

use super::super::{QueryLoss, ScoredQuery};
use super::has_two_grades;
use super::softmax::{cross_entropy, curvature};
use crate::card::Card;
use crate::metrics::Gain;
use crate::rng;
use rand::RngExt;

pub(in super::super) const CARD: Card = Card {
    name: "xe-ndcg",
    title: "Cross-entropy for NDCG (XE-NDCG)",
    summary: "The cross-entropy between randomly perturbed gains, normalised to sum to 1, and the softmax of the scores.",
    citations: &["bruch2021alternative"],
};

/// Cross-entropy with randomly perturbed gains.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct XeNdcg;

impl QueryLoss for XeNdcg {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        if !has_two_grades(query.labels) {
            gradient.fill(0.0);
            return 0.0;
        }
        cross_entropy(&targets(query.labels, query.seed), query.scores, gradient)
    }

    fn curvature(&self, query: ScoredQuery<'_>, out: &mut [f64]) {
        if has_two_grades(query.labels) { curvature(query.scores, out) } else { out.fill(0.0) }
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        has_two_grades(labels)
    }
}

/// The targets t; negative labels and those of unjudged documents count as 0.
fn targets(labels: &[f32], seed: u64) -> Vec<f64> {
    let mut random = rng::stream(seed, &[]);
    let perturbed = |&label: &f32| Gain::Exp2.of(label, 1.0) + (1.0 - random.random::<f64>());
    let mut targets: Vec<f64> = labels.iter().map(perturbed).collect();
    let total: f64 = targets.iter().sum();
    targets.iter_mut().for_each(|target| *target /= total);
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over many seeds, the gains 3, 1 and 0 are perturbed by ½ on average, and the targets sum to 1.
    #[test]
    fn targets_are_normalised_perturbed_gains() {
        let labels = [2.0, 1.0, f32::NAN];
        let mut ratios = [0.0; 2];
        for seed in 0..2000 {
            let t = targets(&labels, seed);
            assert!((t.iter().sum::<f64>() - 1.0).abs() < 1e-12 && t.iter().all(|t| *t > 0.0));
            assert!(t[0] > t[1] && t[1] > t[2]);
            // (3 + u)/(1 + v) and (0 + u)/(1 + v), where 1/(1 + v) has the mean ln 2 and u the mean ½.
            ratios[0] += t[0] / t[1] / 2000.0;
            ratios[1] += t[2] / t[1] / 2000.0;
        }
        assert!((ratios[0] - 3.5 * 2_f64.ln()).abs() < 0.05, "{ratios:?}");
        assert!((ratios[1] - 0.5 * 2_f64.ln()).abs() < 0.02, "{ratios:?}");
        assert_eq!(targets(&labels, 5), targets(&labels, 5));
        assert_ne!(targets(&labels, 5), targets(&labels, 6));
    }

    /// Equal scores give every document the same probability, whatever the targets.
    #[test]
    fn equal_scores_cost_the_logarithm_of_their_number() {
        let query = ScoredQuery { labels: &[4.0, 0.0, 1.0], scores: &[2.0; 3], seed: 3 };
        let mut gradient = [f64::NAN; 3];
        let value = XeNdcg.value_and_gradient(query, &mut gradient);
        assert!((value - 3_f64.ln()).abs() < 1e-12);
        let t = targets(query.labels, 3);
        (0..3).for_each(|i| assert!((gradient[i] - (1.0 / 3.0 - t[i])).abs() < 1e-15));
    }
}
