//! Losses: functions of the labels and scores of one query. They are independent of features and of the kind of
//! model.

mod combined;
pub mod conditional;
mod lambda;
pub mod listwise;
mod odds;
mod pair_hinge;
mod pair_logistic;
pub mod perturbation;
mod squared;
pub mod structured;
mod subsampled;
#[cfg(test)]
mod tests;
mod thresholds;

use crate::card::{self, Card};
use crate::error::Result;
use crate::metrics::Discount;

pub use combined::Combined;
use conditional::{ConditionalObjective, ExactAuc};
pub use lambda::{Lambda, LambdaMetric, LambdaSettings};
use listwise::{ApproxNdcg, BoltzRank, ListMle, ListNet, RankCosine, SoftRank, XeNdcg};
pub use pair_hinge::{GradeWeights, PairHinge, PairSum, PairWeights, SquaredPairHinge};
pub use pair_logistic::PairLogistic;
use perturbation::{MaxMax, MinPerturb, TieRandom};
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
pub trait QueryLoss: Send + Sync {
    /// The loss; its (sub)gradient by the scores goes to `gradient`, overwriting it.
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64;

    /// A non-negative diagonal approximation of the second derivative by the scores, overwriting `curvature`.
    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]);

    /// What a Newton step needs, gradient and curvature at once, overwriting both; a loss that gets them from the
    /// same work does it here once. The value is not asked for, since it can cost more than both.
    fn newton(&self, query: ScoredQuery<'_>, gradient: &mut [f64], curvature: &mut [f64]) {
        self.value_and_gradient(query, gradient);
        self.curvature(query, curvature);
    }

    /// Whether a query of these labels tells the loss anything; one that does not has loss 0 at any scores.
    fn has_signal(&self, labels: &[f32]) -> bool;
}

/// A loss that weights its terms by the present order ([`GradientKind::Lambda`]): with an order held fast it is a function
/// with a derivative.
pub trait Reweighted: QueryLoss {
    /// The loss with the weights of the order by `anchor`, and its derivative by the scores of `query`.
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
pub trait SecondOrder: QueryLoss {
    /// The second derivative at these scores. What it costs is paid here once; products are then cheap.
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

    fn has_signal(&self, labels: &[f32]) -> bool {
        (**self).has_signal(labels)
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
];

fn lambda(metric: LambdaMetric) -> Box<dyn QueryLoss> {
    Box::new(Lambda::of(metric))
}

/// Finds a loss by name.
pub fn find(name: &str) -> Result<&'static LossEntry> {
    card::find(LOSSES, |e| &e.card, "loss", name)
}
