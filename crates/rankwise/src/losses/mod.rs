//! Losses: functions of the labels and scores of one query. They are independent of features and of the kind of
//! model.

mod combined;
pub mod conditional;
mod lambda;
pub mod listwise;
mod odds;
mod pair_hinge;
mod pair_logistic;
mod per_click;
pub mod perturbation;
mod scaled;
pub(crate) mod smooth_sums;
mod squared;
pub mod structured;
mod subsampled;
#[cfg(test)]
mod tests;
mod thresholds;
mod ties;

use crate::card::{self, Card};
use crate::error::Result;
use crate::metrics::Discount;
use crate::watch::Stop;

pub use combined::Combined;
use conditional::{ConditionalObjective, ExactAuc};
pub use lambda::{Lambda, LambdaMetric, LambdaSettings};
pub(crate) use lambda::{PositionLosses, PositionRatios};
use listwise::{ApproxNdcg, BoltzRank, ListMle, ListNet, RankCosine, SoftRank, WeightedSoftmax, XeNdcg};
pub use pair_hinge::{GradeWeights, PairHinge, PairSum, PairWeights, SquaredPairHinge, pair_count};
pub use pair_logistic::PairLogistic;
pub use per_click::PerClick;
use perturbation::{MaxMax, MinPerturb, TieRandom};
pub use scaled::Scaled;
pub use squared::Squared;
use structured::{AucSearch, DormSearch, MapSearch, MrrPairSearch, MrrSearch, NdcgSearch, StructuredHinge};
pub use subsampled::Subsampled;
pub use thresholds::{ThresholdConstraints, ThresholdHinge};

/// The labels and scores of one query: the input of a loss.
#[derive(Debug, Clone, Copy)]
pub struct ScoredQuery<'a> {
    /// The labels of the documents; NaN for documents without a judgement.
    pub labels: &'a [f32],
    /// The scores of the documents.
    pub scores: &'a [f64],
    /// The seed for losses that draw random numbers. It is the same whenever the loss is evaluated for the same query
    /// and round.
    pub seed: u64,
}

/// A loss of one query's scores.
///
/// A loss is independent of the model: linear models, boosted trees and neural networks all train with its gradient
/// by the scores.
///
/// # Example
///
/// A custom loss, the pairwise exponential loss `Σ_{rᵢ>rⱼ} exp(sⱼ − sᵢ)`, checked by finite differences:
///
/// ```
/// use rankwise::losses::{QueryLoss, ScoredQuery};
///
/// struct PairExponential;
///
/// impl PairExponential {
///     /// Calls `add` with the better document, the worse document and `exp(sⱼ − sᵢ)` of each pair.
///     fn each_pair(query: ScoredQuery<'_>, mut add: impl FnMut(usize, usize, f64)) {
///         for (i, better) in query.labels.iter().enumerate() {
///             for (j, worse) in query.labels.iter().enumerate() {
///                 if better > worse {
///                     add(i, j, (query.scores[j] - query.scores[i]).exp());
///                 }
///             }
///         }
///     }
/// }
///
/// impl QueryLoss for PairExponential {
///     fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
///         let mut value = 0.0;
///         gradient.fill(0.0);
///         PairExponential::each_pair(query, |i, j, term| {
///             value += term;
///             gradient[i] -= term;
///             gradient[j] += term;
///         });
///         value
///     }
///
///     fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]) {
///         curvature.fill(0.0);
///         PairExponential::each_pair(query, |i, j, term| {
///             curvature[i] += term;
///             curvature[j] += term;
///         });
///     }
///
///     fn has_signal(&self, labels: &[f32]) -> bool {
///         labels.iter().any(|label| *label != labels[0])
///     }
/// }
///
/// let labels = [2.0, 0.0, 1.0];
/// let evaluate = |scores: [f64; 3]| {
///     let mut gradient = [0.0; 3];
///     let query = ScoredQuery { labels: &labels, scores: &scores, seed: 1 };
///     (PairExponential.value_and_gradient(query, &mut gradient), gradient)
/// };
/// let (value, gradient) = evaluate([0.1, 0.4, -0.2]);
/// let difference = (evaluate([0.1 + 1e-6, 0.4, -0.2]).0 - evaluate([0.1 - 1e-6, 0.4, -0.2]).0) / 2e-6;
/// assert!(value > 0.0 && (gradient[0] - difference).abs() < 1e-6);
/// assert!(PairExponential.has_signal(&labels) && !PairExponential.has_signal(&[1.0, 1.0]));
/// ```
pub trait QueryLoss: Send + Sync {
    /// Returns the loss and overwrites `gradient` with its (sub)gradient by the scores.
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64;

    /// Overwrites `curvature` with a non-negative diagonal approximation of the second derivative by the scores.
    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]);

    /// Overwrites both `gradient` and `curvature`, for a Newton step. A loss that computes them from common
    /// intermediate results should override this method. It does not return the value, which may cost more than both.
    fn newton(&self, query: ScoredQuery<'_>, gradient: &mut [f64], curvature: &mut [f64]) {
        self.value_and_gradient(query, gradient);
        self.curvature(query, curvature);
    }

    /// [`newton`](Self::newton) for several queries, whose documents follow each other in `gradients` and `curvatures`. A loss
    /// that needs memory for a query should override this method and use it again for the next one.
    fn newton_each(
        &self,
        queries: &[ScoredQuery<'_>],
        mut gradients: &mut [f64],
        mut curvatures: &mut [f64],
    ) {
        for query in queries {
            let (gradient, rest) = gradients.split_at_mut(query.scores.len());
            let (curvature, others) = curvatures.split_at_mut(query.scores.len());
            self.newton(*query, gradient, curvature);
            (gradients, curvatures) = (rest, others);
        }
    }

    /// Whether a query with these labels can contribute to training. If not, its loss is 0 at any scores.
    fn has_signal(&self, labels: &[f32]) -> bool;

    /// Gives the loss a request to stop. A loss that takes long for a long query looks at it during an evaluation;
    /// once it is made, results are meaningless.
    fn set_stop(&mut self, stop: &Stop) {
        let _ = stop;
    }

    /// About how many elementary steps an evaluation takes for a query with these labels: the basis of a forecast.
    fn steps(&self, labels: &[f32]) -> f64 {
        labels.len() as f64
    }
}

/// A loss that weights its terms by the current ranking ([`GradientKind::Lambda`]). With a fixed ranking, it is a
/// differentiable function.
///
/// # Example
///
/// ```
/// use rankwise::losses::{Lambda, QueryLoss, Reweighted, ScoredQuery};
///
/// let loss = Lambda::of_lambda_loss();
/// let (labels, anchor) = ([2.0, 0.0, 1.0], [0.3, 0.9, 0.5]);
/// let evaluate = |scores: [f64; 3]| {
///     let mut gradient = [0.0; 3];
///     let query = ScoredQuery { labels: &labels, scores: &scores, seed: 1 };
///     (loss.value_and_gradient_in_order(query, &anchor, &mut gradient), gradient)
/// };
///
/// // With the ranking fixed to that of `anchor`, the gradient agrees with finite differences, although these scores
/// // have another ranking.
/// let (_, gradient) = evaluate([0.8, 0.1, 0.2]);
/// let difference = (evaluate([0.8 + 1e-6, 0.1, 0.2]).0 - evaluate([0.8 - 1e-6, 0.1, 0.2]).0) / 2e-6;
/// assert!((gradient[0] - difference).abs() < 1e-6);
///
/// // At the anchor, it is the loss itself.
/// let query = ScoredQuery { labels: &labels, scores: &anchor, seed: 1 };
/// assert_eq!(evaluate(anchor).0, loss.value_and_gradient(query, &mut [0.0; 3]));
/// ```
pub trait Reweighted: QueryLoss {
    /// Returns the loss with the weights of the ranking by `anchor`, and overwrites `gradient` with its derivative by
    /// the scores of `query`.
    fn value_and_gradient_in_order(
        &self,
        query: ScoredQuery<'_>,
        anchor: &[f64],
        gradient: &mut [f64],
    ) -> f64;
}

/// The product of a second derivative with a vector: `product(v, out)` sets `out = H·v`.
pub type HessianProduct<'a> = Box<dyn Fn(&[f64], &mut [f64]) + Send + Sync + 'a>;

/// A loss with a (generalised) second derivative by the scores.
///
/// # Example
///
/// One pair with equal scores: the squared hinge is `(1 − (s₀ − s₁))²`, with the second derivative `2·[[1, −1], [−1, 1]]`.
///
/// ```
/// use rankwise::losses::{ScoredQuery, SecondOrder, SquaredPairHinge};
///
/// let loss = SquaredPairHinge::default();
/// let product = loss.hessian(ScoredQuery { labels: &[1.0, 0.0], scores: &[0.0, 0.0], seed: 1 });
/// let mut out = [0.0; 2];
/// product(&[1.0, 0.0], &mut out);
/// assert_eq!(out, [2.0, -2.0]);
/// ```
pub trait SecondOrder: QueryLoss {
    /// The second derivative at these scores, as its product with a vector. The setup happens here once; products are
    /// then cheap.
    fn hessian(&self, query: ScoredQuery<'_>) -> HessianProduct<'_>;
}

impl<L: QueryLoss + ?Sized> QueryLoss for Box<L> {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        (**self).value_and_gradient(query, gradient)
    }

    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]) {
        (**self).curvature(query, curvature);
    }

    fn newton(&self, query: ScoredQuery<'_>, gradient: &mut [f64], curvature: &mut [f64]) {
        (**self).newton(query, gradient, curvature);
    }

    fn newton_each(&self, queries: &[ScoredQuery<'_>], gradients: &mut [f64], curvatures: &mut [f64]) {
        (**self).newton_each(queries, gradients, curvatures);
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        (**self).has_signal(labels)
    }

    fn set_stop(&mut self, stop: &Stop) {
        (**self).set_stop(stop);
    }

    fn steps(&self, labels: &[f32]) -> f64 {
        (**self).steps(labels)
    }
}

impl<L: SecondOrder + ?Sized> SecondOrder for Box<L> {
    fn hessian(&self, query: ScoredQuery<'_>) -> HessianProduct<'_> {
        (**self).hessian(query)
    }
}

impl<L: Reweighted + ?Sized> Reweighted for Box<L> {
    fn value_and_gradient_in_order(
        &self,
        query: ScoredQuery<'_>,
        anchor: &[f64],
        gradient: &mut [f64],
    ) -> f64 {
        (**self).value_and_gradient_in_order(query, anchor, gradient)
    }
}

/// What the gradient of a loss is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GradientKind {
    /// The derivative of the loss, which is differentiable everywhere.
    Smooth,
    /// A subgradient: the loss is convex but not differentiable everywhere.
    Subgradient,
    /// A λ-gradient: no function has it as its derivative. The loss weights pairs by how much they matter in the
    /// current ranking, and the gradient treats these weights as constants.
    Lambda,
}

/// A loss in the list of losses, with its properties.
pub struct LossEntry {
    /// Name, title, summary and citations.
    pub card: Card,
    /// Whether adding a constant to all scores of a query leaves the loss unchanged.
    pub shift_invariant: bool,
    /// The kind of its gradient.
    pub gradient: GradientKind,
    /// An upper bound on its value, if there is one. The lower bound is 0 for all losses.
    pub max_value: Option<f64>,
    /// Creates the loss with its default parameters.
    pub make: fn() -> Box<dyn QueryLoss>,
}

/// All losses.
pub static LOSSES: &[LossEntry] = &[
    LossEntry {
        card: squared::CARD,
        shift_invariant: false,
        gradient: GradientKind::Smooth,
        max_value: None,
        make: || Box::new(Squared),
    },
    LossEntry {
        card: pair_hinge::HINGE,
        shift_invariant: true,
        gradient: GradientKind::Subgradient,
        max_value: None,
        make: || Box::new(PairHinge::default()),
    },
    LossEntry {
        card: pair_hinge::SQUARED,
        shift_invariant: true,
        gradient: GradientKind::Smooth,
        max_value: None,
        make: || Box::new(SquaredPairHinge::default()),
    },
    LossEntry {
        card: structured::AUC,
        shift_invariant: true,
        gradient: GradientKind::Subgradient,
        max_value: None,
        make: || Box::new(StructuredHinge(AucSearch { threshold: 1.0 })),
    },
    LossEntry {
        card: structured::MAP,
        shift_invariant: true,
        gradient: GradientKind::Subgradient,
        max_value: None,
        make: || Box::new(StructuredHinge(MapSearch { threshold: 1.0 })),
    },
    LossEntry {
        card: structured::NDCG,
        shift_invariant: true,
        gradient: GradientKind::Subgradient,
        max_value: None,
        make: || Box::new(StructuredHinge(NdcgSearch { threshold: 1.0, k: 10, discount: Discount::Log2 })),
    },
    LossEntry {
        card: structured::MRR,
        shift_invariant: true,
        gradient: GradientKind::Subgradient,
        max_value: None,
        make: || Box::new(StructuredHinge(MrrSearch { threshold: 1.0, k: 0 })),
    },
    LossEntry {
        card: structured::MRR_PAIRS,
        shift_invariant: true,
        gradient: GradientKind::Subgradient,
        max_value: None,
        make: || Box::new(StructuredHinge(MrrPairSearch { threshold: 1.0, k: 0 })),
    },
    LossEntry {
        card: combined::CARD,
        shift_invariant: true,
        gradient: GradientKind::Subgradient,
        max_value: None,
        make: || Box::new(Combined::of_all_metrics()),
    },
    LossEntry {
        card: structured::DORM,
        shift_invariant: true,
        gradient: GradientKind::Subgradient,
        max_value: None,
        make: || Box::new(StructuredHinge(DormSearch::default())),
    },
    LossEntry {
        card: perturbation::MIN_PERTURB,
        shift_invariant: true,
        gradient: GradientKind::Subgradient,
        max_value: None,
        make: || Box::new(MinPerturb::default()),
    },
    LossEntry {
        card: perturbation::TIE_RANDOM,
        shift_invariant: true,
        gradient: GradientKind::Subgradient,
        max_value: None,
        make: || Box::new(TieRandom::default()),
    },
    LossEntry {
        card: perturbation::MAX_MAX,
        shift_invariant: true,
        gradient: GradientKind::Subgradient,
        max_value: None,
        make: || Box::new(MaxMax::default()),
    },
    LossEntry {
        card: conditional::MLE,
        shift_invariant: true,
        gradient: GradientKind::Smooth,
        max_value: None,
        make: || Box::new(ExactAuc::of(ConditionalObjective::Mle)),
    },
    LossEntry {
        card: conditional::EXP_GAIN,
        shift_invariant: true,
        gradient: GradientKind::Smooth,
        max_value: None,
        make: || Box::new(ExactAuc::of(ConditionalObjective::ExpGain)),
    },
    LossEntry {
        card: conditional::L2,
        shift_invariant: true,
        gradient: GradientKind::Smooth,
        max_value: None,
        make: || Box::new(ExactAuc::of(ConditionalObjective::L2)),
    },
    LossEntry {
        card: conditional::L3,
        shift_invariant: true,
        gradient: GradientKind::Smooth,
        max_value: None,
        make: || Box::new(ExactAuc::of(ConditionalObjective::L3)),
    },
    LossEntry {
        card: conditional::CONVEX_LOSS,
        shift_invariant: true,
        gradient: GradientKind::Smooth,
        max_value: None,
        make: || Box::new(ExactAuc::of(ConditionalObjective::ConvexLoss)),
    },
    LossEntry {
        card: lambda::NDCG,
        shift_invariant: true,
        gradient: GradientKind::Lambda,
        max_value: None,
        make: || lambda(LambdaMetric::Ndcg),
    },
    LossEntry {
        card: lambda::MAP,
        shift_invariant: true,
        gradient: GradientKind::Lambda,
        max_value: None,
        make: || lambda(LambdaMetric::Map),
    },
    LossEntry {
        card: lambda::MRR,
        shift_invariant: true,
        gradient: GradientKind::Lambda,
        max_value: None,
        make: || lambda(LambdaMetric::Mrr),
    },
    LossEntry {
        card: lambda::ERR,
        shift_invariant: true,
        gradient: GradientKind::Lambda,
        max_value: None,
        make: || lambda(LambdaMetric::Err),
    },
    LossEntry {
        card: lambda::LOSS,
        shift_invariant: true,
        gradient: GradientKind::Lambda,
        max_value: None,
        make: || Box::new(Lambda::of_lambda_loss()),
    },
    LossEntry {
        card: pair_logistic::CARD,
        shift_invariant: true,
        gradient: GradientKind::Smooth,
        max_value: None,
        make: || Box::new(PairLogistic::default()),
    },
    LossEntry {
        card: listwise::LIST_NET,
        shift_invariant: true,
        gradient: GradientKind::Smooth,
        max_value: None,
        make: || Box::new(ListNet),
    },
    LossEntry {
        card: listwise::LIST_MLE,
        shift_invariant: true,
        gradient: GradientKind::Smooth,
        max_value: None,
        make: || Box::new(ListMle),
    },
    LossEntry {
        card: listwise::RANK_COSINE,
        shift_invariant: true,
        gradient: GradientKind::Smooth,
        max_value: Some(1.0),
        make: || Box::new(RankCosine::default()),
    },
    LossEntry {
        card: listwise::SOFT_RANK,
        shift_invariant: true,
        gradient: GradientKind::Smooth,
        max_value: Some(1.0),
        make: || Box::new(SoftRank::default()),
    },
    LossEntry {
        card: listwise::BOLTZ_RANK,
        shift_invariant: true,
        gradient: GradientKind::Smooth,
        max_value: None,
        make: || Box::new(BoltzRank::default()),
    },
    LossEntry {
        card: listwise::APPROX_NDCG,
        shift_invariant: true,
        gradient: GradientKind::Smooth,
        max_value: Some(1.0),
        make: || Box::new(ApproxNdcg::default()),
    },
    LossEntry {
        card: listwise::XE_NDCG,
        shift_invariant: true,
        gradient: GradientKind::Smooth,
        max_value: None,
        make: || Box::new(XeNdcg),
    },
    LossEntry {
        card: listwise::WEIGHTED_SOFTMAX,
        shift_invariant: true,
        gradient: GradientKind::Smooth,
        max_value: None,
        make: || Box::new(WeightedSoftmax),
    },
];

fn lambda(metric: LambdaMetric) -> Box<dyn QueryLoss> {
    Box::new(Lambda::of(metric))
}

/// Finds a loss by name.
pub fn find(name: &str) -> Result<&'static LossEntry> {
    card::find(LOSSES, |e| &e.card, "loss", name)
}
