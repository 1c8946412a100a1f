//! Hinge losses over pairs of documents with different labels: the losses of Ranking SVM (Herbrich, Graepel and
//! Obermayer 1999; Joachims 2002).
//!
//! ```text
//! L(s) = μ Σ_{rᵢ>rⱼ} τ(rᵢ,rⱼ)·ℓ(mᵢⱼ) ,    mᵢⱼ = [1 − (sᵢ − sⱼ)]₊ ,    ℓ(m) = m or m²
//! ```
//!
//! With `Mᵢ = Σⱼ τmᵢⱼ` over the worse and `M′ⱼ = Σᵢ τmᵢⱼ` over the better documents, `Σ τm = Σ M`, and for the
//! squared hinge `∂L/∂s = 2(M′ − M)` and `L = Σ M + ½ s·∂L/∂s`. Both sums need only the number of violated pairs of
//! each document and the scores on the other side, so pairs are never enumerated. The time is O(n log n), or O(n·(log
//! n + grades)) if pairs are weighted by grade.

mod grades;
#[cfg(test)]
mod tests;
mod violated_pairs;

use super::{HessianProduct, QueryLoss, ScoredQuery, SecondOrder};
use crate::card::Card;
use grades::GradedDocuments;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use violated_pairs::ViolatedPairs;

pub use grades::GradeWeights;

pub(super) const HINGE: Card = Card {
    name: "pair-hinge",
    title: "Pair hinge",
    summary: "The sum of [1 − (better score − worse score)]₊ over all pairs of documents with different labels.",
    citations: &["herbrich1999support", "joachims2002optimizing"],
};

pub(super) const SQUARED: Card = Card {
    name: "pair-squared-hinge",
    title: "Squared pair hinge",
    summary: "The sum of the squares of [1 − (better score − worse score)]₊ over all pairs of documents with different labels.",
    citations: &["chapelle2010efficient", "lee2014large"],
};

/// The number of pairs of documents with different labels.
pub fn pair_count(labels: &[f32]) -> f64 {
    GradedDocuments::new(labels, None).pairs()
}

/// How the pairs of a query are combined: μ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PairSum {
    /// Every pair has weight 1, so queries with more pairs count more.
    #[default]
    Total,
    /// The pairs of a query have total weight 1.
    Mean,
}

/// The weights of pairs of documents with different labels.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PairWeights {
    /// μ: how the pairs of a query are combined.
    pub sum: PairSum,
    /// τ: the weight of a pair by its two labels; `None` for 1.
    pub grades: Option<GradeWeights>,
}

impl PairWeights {
    fn factor(&self, documents: &GradedDocuments) -> f64 {
        match self.sum {
            PairSum::Total => 1.0,
            PairSum::Mean => 1.0 / documents.pairs().max(1.0),
        }
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        let documents = GradedDocuments::new(labels, self.grades.as_ref());
        match &self.grades {
            None => documents.pairs() > 0.0,
            Some(weights) => weights.count_some(&documents.counts),
        }
    }
}

/// The pairwise hinge loss.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PairHinge(pub PairWeights);

impl QueryLoss for PairHinge {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        let pairs = ViolatedPairs::new(&self.0, query);
        let mut value = 0.0;
        gradient.fill(0.0);
        pairs.each_better(&pairs.scores, |d, count, scores| {
            value += count * (1.0 - pairs.scores[d]) + scores;
            gradient[d] -= count;
        });
        pairs.each_worse(&pairs.scores, |d, count, _| gradient[d] += count);
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

/// The pairwise squared hinge loss.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SquaredPairHinge(pub PairWeights);

impl QueryLoss for SquaredPairHinge {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        let pairs = ViolatedPairs::new(&self.0, query);
        let mut short = 0.0;
        gradient.fill(0.0);
        pairs.each_better(&pairs.scores, |d, count, scores| {
            let sum = count * (1.0 - pairs.scores[d]) + scores;
            short += sum;
            gradient[d] -= 2.0 * sum;
        });
        pairs.each_worse(&pairs.scores, |d, count, scores| {
            gradient[d] += 2.0 * (count * (1.0 + pairs.scores[d]) - scores);
        });
        let slope: f64 = gradient.iter().zip(&pairs.scores).map(|(g, s)| g * s).sum();
        (short + 0.5 * slope).max(0.0)
    }

    /// The diagonal of the second derivative: twice the weight of the violated pairs of each document.
    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]) {
        let pairs = ViolatedPairs::new(&self.0, query);
        curvature.fill(0.0);
        pairs.each_better(&pairs.scores, |d, count, _| curvature[d] += 2.0 * count);
        pairs.each_worse(&pairs.scores, |d, count, _| curvature[d] += 2.0 * count);
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        self.0.has_signal(labels)
    }
}

impl SecondOrder for SquaredPairHinge {
    /// `2 Σ τ (eᵢ − eⱼ)(eᵢ − eⱼ)ᵀ` over the violated pairs, not including those with a margin of exactly 1.
    fn hessian(&self, query: ScoredQuery<'_>) -> HessianProduct<'_> {
        let pairs = ViolatedPairs::new(&self.0, query);
        Box::new(move |v, out| {
            out.fill(0.0);
            pairs.each_better(v, |d, count, others| out[d] += 2.0 * (count * v[d] - others));
            pairs.each_worse(v, |d, count, others| out[d] += 2.0 * (count * v[d] - others));
        })
    }
}
