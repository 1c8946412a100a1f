//! What is minimised, in score space? Losses of one query's scores, without any knowledge of features.

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
use conditional::{ExactAuc, Form};
pub use lambda::{Lambda, LambdaMeasure, LambdaSettings};
use listwise::{ApproxNdcg, BoltzRank, ListMle, ListNet, RankCosine, SoftRank, XeNdcg};
pub use pair_hinge::{GradeWeights, PairHinge, PairSum, PairWeights, SquaredPairHinge};
pub use pair_logistic::PairLogistic;
use perturbation::{MaxMax, MinPerturb, TieRandom};
pub use squared::Squared;
use structured::{AucSearch, DormSearch, MapSearch, MrrPairSearch, MrrSearch, NdcgSearch, StructuredHinge};
pub use subsampled::Subsampled;
pub use thresholds::{Constraints, ThresholdHinge};

/// One query's labels and scores, as a loss sees them.
#[derive(Debug, Clone, Copy)]
pub struct ScoredQuery<'a> {
    /// Grades of the documents.
    pub labels: &'a [f32],
    /// Scores of the documents.
    pub scores: &'a [f64],
    /// For losses that draw random numbers: the same for the same query and round.
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
    fn is_informed_by(&self, labels: &[f32]) -> bool;
}

/// A loss that weights its terms by the present order ([`Slope::Implicit`]): with an order held fast it is a function
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

    fn is_informed_by(&self, labels: &[f32]) -> bool {
        (**self).is_informed_by(labels)
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

/// What the gradient that a loss gives is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slope {
    /// The derivative of the loss, which has one everywhere.
    Smooth,
    /// A subgradient: the loss is convex, with kinks.
    Convex,
    /// Given outright: no function has it as its derivative. The loss weights pairs by what the present order is
    /// worth, and the gradient takes those weights for constants.
    Implicit,
}

/// A loss in the list, with what can be claimed of it.
pub struct Entry {
    /// Name, title, meaning and source.
    pub card: Card,
    /// Whether adding a constant to all scores of a query leaves the loss as it is.
    pub shift_invariant: bool,
    /// What its gradient is.
    pub slope: Slope,
    /// The most that it can be; the least is 0 or above for all.
    pub most: Option<f64>,
    /// Makes the loss with its default parameters.
    pub make: fn() -> Box<dyn QueryLoss>,
}

/// Every loss there is.
pub static LOSSES: &[Entry] = &[
    Entry {
        card: squared::CARD,
        shift_invariant: false,
        slope: Slope::Smooth,
        most: None,
        make: || Box::new(Squared),
    },
    Entry {
        card: pair_hinge::HINGE,
        shift_invariant: true,
        slope: Slope::Convex,
        most: None,
        make: || Box::new(PairHinge::default()),
    },
    Entry {
        card: pair_hinge::SQUARED,
        shift_invariant: true,
        slope: Slope::Smooth,
        most: None,
        make: || Box::new(SquaredPairHinge::default()),
    },
    Entry {
        card: structured::AUC,
        shift_invariant: true,
        slope: Slope::Convex,
        most: None,
        make: || Box::new(StructuredHinge(AucSearch { threshold: 1.0 })),
    },
    Entry {
        card: structured::MAP,
        shift_invariant: true,
        slope: Slope::Convex,
        most: None,
        make: || Box::new(StructuredHinge(MapSearch { threshold: 1.0 })),
    },
    Entry {
        card: structured::NDCG,
        shift_invariant: true,
        slope: Slope::Convex,
        most: None,
        make: || Box::new(StructuredHinge(NdcgSearch { threshold: 1.0, k: 10, discount: Discount::Log2 })),
    },
    Entry {
        card: structured::MRR,
        shift_invariant: true,
        slope: Slope::Convex,
        most: None,
        make: || Box::new(StructuredHinge(MrrSearch { threshold: 1.0, k: 0 })),
    },
    Entry {
        card: structured::MRR_PAIRS,
        shift_invariant: true,
        slope: Slope::Convex,
        most: None,
        make: || Box::new(StructuredHinge(MrrPairSearch { threshold: 1.0, k: 0 })),
    },
    Entry {
        card: combined::CARD,
        shift_invariant: true,
        slope: Slope::Convex,
        most: None,
        make: || Box::new(Combined::of_all_measures()),
    },
    Entry {
        card: structured::DORM,
        shift_invariant: true,
        slope: Slope::Convex,
        most: None,
        make: || Box::new(StructuredHinge(DormSearch::default())),
    },
    Entry {
        card: perturbation::MIN_PERTURB,
        shift_invariant: true,
        slope: Slope::Convex,
        most: None,
        make: || Box::new(MinPerturb::default()),
    },
    Entry {
        card: perturbation::TIE_RANDOM,
        shift_invariant: true,
        slope: Slope::Convex,
        most: None,
        make: || Box::new(TieRandom::default()),
    },
    Entry {
        card: perturbation::MAX_MAX,
        shift_invariant: true,
        slope: Slope::Convex,
        most: None,
        make: || Box::new(MaxMax::default()),
    },
    Entry {
        card: conditional::MLE,
        shift_invariant: true,
        slope: Slope::Smooth,
        most: None,
        make: || Box::new(ExactAuc::of(Form::Mle)),
    },
    Entry {
        card: conditional::EXP_GAIN,
        shift_invariant: true,
        slope: Slope::Smooth,
        most: None,
        make: || Box::new(ExactAuc::of(Form::ExpGain)),
    },
    Entry {
        card: conditional::L2,
        shift_invariant: true,
        slope: Slope::Smooth,
        most: None,
        make: || Box::new(ExactAuc::of(Form::L2)),
    },
    Entry {
        card: conditional::L3,
        shift_invariant: true,
        slope: Slope::Smooth,
        most: None,
        make: || Box::new(ExactAuc::of(Form::L3)),
    },
    Entry {
        card: conditional::CONVEX_LOSS,
        shift_invariant: true,
        slope: Slope::Smooth,
        most: None,
        make: || Box::new(ExactAuc::of(Form::ConvexLoss)),
    },
    Entry {
        card: lambda::NDCG,
        shift_invariant: true,
        slope: Slope::Implicit,
        most: None,
        make: || lambda(LambdaMeasure::Ndcg),
    },
    Entry {
        card: lambda::MAP,
        shift_invariant: true,
        slope: Slope::Implicit,
        most: None,
        make: || lambda(LambdaMeasure::Map),
    },
    Entry {
        card: lambda::MRR,
        shift_invariant: true,
        slope: Slope::Implicit,
        most: None,
        make: || lambda(LambdaMeasure::Mrr),
    },
    Entry {
        card: lambda::ERR,
        shift_invariant: true,
        slope: Slope::Implicit,
        most: None,
        make: || lambda(LambdaMeasure::Err),
    },
    Entry {
        card: lambda::LOSS,
        shift_invariant: true,
        slope: Slope::Implicit,
        most: None,
        make: || Box::new(Lambda::of_lambda_loss()),
    },
    Entry {
        card: pair_logistic::CARD,
        shift_invariant: true,
        slope: Slope::Smooth,
        most: None,
        make: || Box::new(PairLogistic::default()),
    },
    Entry {
        card: listwise::LIST_NET,
        shift_invariant: true,
        slope: Slope::Smooth,
        most: None,
        make: || Box::new(ListNet),
    },
    Entry {
        card: listwise::LIST_MLE,
        shift_invariant: true,
        slope: Slope::Smooth,
        most: None,
        make: || Box::new(ListMle),
    },
    Entry {
        card: listwise::RANK_COSINE,
        shift_invariant: true,
        slope: Slope::Smooth,
        most: Some(1.0),
        make: || Box::new(RankCosine::default()),
    },
    Entry {
        card: listwise::SOFT_RANK,
        shift_invariant: true,
        slope: Slope::Smooth,
        most: Some(1.0),
        make: || Box::new(SoftRank::default()),
    },
    Entry {
        card: listwise::BOLTZ_RANK,
        shift_invariant: true,
        slope: Slope::Smooth,
        most: None,
        make: || Box::new(BoltzRank::default()),
    },
    Entry {
        card: listwise::APPROX_NDCG,
        shift_invariant: true,
        slope: Slope::Smooth,
        most: Some(1.0),
        make: || Box::new(ApproxNdcg::default()),
    },
    Entry {
        card: listwise::XE_NDCG,
        shift_invariant: true,
        slope: Slope::Smooth,
        most: None,
        make: || Box::new(XeNdcg),
    },
];

fn lambda(measure: LambdaMeasure) -> Box<dyn QueryLoss> {
    Box::new(Lambda::of(measure))
}

/// The loss called `name`.
pub fn find(name: &str) -> Result<&'static Entry> {
    card::find(LOSSES, |e| &e.card, "loss", name)
}
