//! What is minimised, in score space? Losses of one query's scores, without any knowledge of features.

mod combined;
pub mod conditional;
mod lambda;
mod pair_hinge;
pub mod perturbation;
mod squared;
pub mod structured;
mod subsampled;
mod thresholds;

use crate::card::{self, Card};
use crate::error::Result;
use crate::metrics::Discount;

pub use combined::Combined;
use conditional::{ExactAuc, Form};
pub use lambda::{Lambda, LambdaMeasure, LambdaSettings};
pub use pair_hinge::{GradeWeights, PairHinge, PairSum, PairWeights, SquaredPairHinge};
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
    /// Makes the loss with its default parameters.
    pub make: fn() -> Box<dyn QueryLoss>,
}

/// Every loss there is.
pub static LOSSES: &[Entry] = &[
    Entry { card: squared::CARD, shift_invariant: false, slope: Slope::Smooth, make: || Box::new(Squared) },
    Entry {
        card: pair_hinge::HINGE,
        shift_invariant: true,
        slope: Slope::Convex,
        make: || Box::new(PairHinge::default()),
    },
    Entry {
        card: pair_hinge::SQUARED,
        shift_invariant: true,
        slope: Slope::Smooth,
        make: || Box::new(SquaredPairHinge::default()),
    },
    Entry {
        card: structured::AUC,
        shift_invariant: true,
        slope: Slope::Convex,
        make: || Box::new(StructuredHinge(AucSearch { threshold: 1.0 })),
    },
    Entry {
        card: structured::MAP,
        shift_invariant: true,
        slope: Slope::Convex,
        make: || Box::new(StructuredHinge(MapSearch { threshold: 1.0 })),
    },
    Entry {
        card: structured::NDCG,
        shift_invariant: true,
        slope: Slope::Convex,
        make: || Box::new(StructuredHinge(NdcgSearch { threshold: 1.0, k: 10, discount: Discount::Log2 })),
    },
    Entry {
        card: structured::MRR,
        shift_invariant: true,
        slope: Slope::Convex,
        make: || Box::new(StructuredHinge(MrrSearch { threshold: 1.0, k: 0 })),
    },
    Entry {
        card: structured::MRR_PAIRS,
        shift_invariant: true,
        slope: Slope::Convex,
        make: || Box::new(StructuredHinge(MrrPairSearch { threshold: 1.0, k: 0 })),
    },
    Entry {
        card: combined::CARD,
        shift_invariant: true,
        slope: Slope::Convex,
        make: || Box::new(Combined::of_all_measures()),
    },
    Entry {
        card: structured::DORM,
        shift_invariant: true,
        slope: Slope::Convex,
        make: || Box::new(StructuredHinge(DormSearch::default())),
    },
    Entry {
        card: perturbation::MIN_PERTURB,
        shift_invariant: true,
        slope: Slope::Convex,
        make: || Box::new(MinPerturb::default()),
    },
    Entry {
        card: perturbation::TIE_RANDOM,
        shift_invariant: true,
        slope: Slope::Convex,
        make: || Box::new(TieRandom::default()),
    },
    Entry {
        card: perturbation::MAX_MAX,
        shift_invariant: true,
        slope: Slope::Convex,
        make: || Box::new(MaxMax::default()),
    },
    Entry {
        card: conditional::MLE,
        shift_invariant: true,
        slope: Slope::Smooth,
        make: || Box::new(ExactAuc::of(Form::Mle)),
    },
    Entry {
        card: conditional::EXP_GAIN,
        shift_invariant: true,
        slope: Slope::Smooth,
        make: || Box::new(ExactAuc::of(Form::ExpGain)),
    },
    Entry {
        card: conditional::L2,
        shift_invariant: true,
        slope: Slope::Smooth,
        make: || Box::new(ExactAuc::of(Form::L2)),
    },
    Entry {
        card: conditional::L3,
        shift_invariant: true,
        slope: Slope::Smooth,
        make: || Box::new(ExactAuc::of(Form::L3)),
    },
    Entry {
        card: conditional::CONVEX_LOSS,
        shift_invariant: true,
        slope: Slope::Smooth,
        make: || Box::new(ExactAuc::of(Form::ConvexLoss)),
    },
    Entry {
        card: lambda::NDCG,
        shift_invariant: true,
        slope: Slope::Implicit,
        make: || lambda(LambdaMeasure::Ndcg),
    },
    Entry {
        card: lambda::MAP,
        shift_invariant: true,
        slope: Slope::Implicit,
        make: || lambda(LambdaMeasure::Map),
    },
    Entry {
        card: lambda::MRR,
        shift_invariant: true,
        slope: Slope::Implicit,
        make: || lambda(LambdaMeasure::Mrr),
    },
    Entry {
        card: lambda::ERR,
        shift_invariant: true,
        slope: Slope::Implicit,
        make: || lambda(LambdaMeasure::Err),
    },
];

fn lambda(measure: LambdaMeasure) -> Box<dyn QueryLoss> {
    Box::new(Lambda::of(measure))
}

/// The loss called `name`.
pub fn find(name: &str) -> Result<&'static Entry> {
    card::find(LOSSES, |e| &e.card, "loss", name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use rand::RngExt;

    /// Random labels and scores, ties included: `n` documents, grades 0 to 4.
    fn random_query(seed: u64, n: usize) -> (Vec<f32>, Vec<f64>) {
        let mut random = rng::stream(seed, &[n as u64]);
        let labels = (0..n).map(|_| random.random_range(0..5) as f32).collect();
        let scores = (0..n).map(|_| f64::from(random.random_range(-20..20)) / 7.0).collect();
        (labels, scores)
    }

    #[test]
    fn every_gradient_agrees_with_finite_differences() {
        for entry in LOSSES.iter().filter(|e| e.slope == Slope::Smooth) {
            let loss = (entry.make)();
            for (seed, n) in (1..=7).flat_map(|n| (0..20).map(move |seed| (seed, n))) {
                let (labels, scores) = random_query(seed, n);
                // Off the whole numbers, where second derivatives may jump and differences are less exact.
                let scores: Vec<f64> = scores.iter().map(|s| 0.97 * s).collect();
                let mut gradient = vec![f64::NAN; n];
                let at = |scores: &[f64], g: &mut [f64]| {
                    loss.value_and_gradient(ScoredQuery { labels: &labels, scores, seed }, g)
                };
                at(&scores, &mut gradient);
                for i in 0..n {
                    let h = 1e-5;
                    let (mut up, mut down) = (scores.clone(), scores.clone());
                    up[i] += h;
                    down[i] -= h;
                    let mut scratch = vec![0.0; n];
                    let slope = (at(&up, &mut scratch) - at(&down, &mut scratch)) / (2.0 * h);
                    assert!(
                        (slope - gradient[i]).abs() <= 1e-6 * (1.0 + slope.abs()),
                        "{}: document {i} of {n}: {slope} by differences, {} by the loss",
                        entry.card.name,
                        gradient[i]
                    );
                }
            }
        }
    }

    /// `L(t) ≥ L(s) + g(s)·(t − s)` for any two score vectors, kinks and ties included.
    #[test]
    fn every_subgradient_supports_its_loss_from_below() {
        for entry in LOSSES.iter().filter(|e| e.slope == Slope::Convex) {
            let loss = (entry.make)();
            for (seed, n) in (1..=12).flat_map(|n| (0..200).map(move |seed| (seed, n))) {
                let (labels, here) = random_query(seed, n);
                let step = [0.01, 0.2, 1.0][seed as usize % 3];
                let (_, other) = random_query(seed + 1000, n);
                let there: Vec<f64> = here.iter().zip(&other).map(|(a, b)| a + step * (b - a)).collect();
                let at = |scores: &[f64]| {
                    let mut gradient = vec![f64::NAN; n];
                    let value =
                        loss.value_and_gradient(ScoredQuery { labels: &labels, scores, seed }, &mut gradient);
                    (value, gradient)
                };
                let ((value, gradient), (value_there, _)) = (at(&here), at(&there));
                let slope: f64 = (0..n).map(|i| gradient[i] * (there[i] - here[i])).sum();
                assert!(
                    value_there >= value + slope - 1e-12,
                    "{}: {labels:?} {here:?} {there:?}",
                    entry.card.name
                );
            }
        }
    }

    /// The gradient and curvature of a Newton step are those that the loss gives one by one.
    #[test]
    fn newton_steps_are_made_of_gradient_and_curvature() {
        for entry in LOSSES {
            let loss = (entry.make)();
            for n in 1..=9 {
                let (labels, scores) = random_query(7, n);
                let query = ScoredQuery { labels: &labels, scores: &scores, seed: 7 };
                let mut out = [(); 4].map(|()| vec![f64::NAN; n]);
                let [gradient, curvature, both_gradient, both_curvature] = &mut out;
                loss.value_and_gradient(query, gradient);
                loss.curvature(query, curvature);
                loss.newton(query, both_gradient, both_curvature);
                assert_eq!(gradient, both_gradient, "{}", entry.card.name);
                assert_eq!(curvature, both_curvature, "{}", entry.card.name);
            }
        }
    }

    #[test]
    fn huge_scores_stay_finite() {
        for entry in LOSSES {
            let labels = [0.0, 2.0, 1.0, 4.0];
            let scores = [1e4, -1e4, 0.0, 1e4];
            let mut out = [f64::NAN; 4];
            let query = ScoredQuery { labels: &labels, scores: &scores, seed: 1 };
            let loss = (entry.make)();
            assert!(loss.value_and_gradient(query, &mut out).is_finite(), "{}", entry.card.name);
            assert!(out.iter().all(|g| g.is_finite()), "{}", entry.card.name);
            loss.curvature(query, &mut out);
            assert!(out.iter().all(|h| h.is_finite() && *h >= 0.0), "{}", entry.card.name);
        }
    }

    /// A loss is 0 at any scores exactly where it says that the labels tell it nothing.
    #[test]
    fn queries_that_tell_nothing_are_known() {
        for entry in LOSSES {
            let loss = (entry.make)();
            for labels in
                [vec![], vec![1.0], vec![0.0; 3], vec![2.0; 3], vec![0.0, 0.0, 2.0], vec![0.0, f32::NAN]]
            {
                let scores: Vec<f64> = (0..labels.len()).map(|i| -(i as f64) - 1.0).collect();
                let query = ScoredQuery { labels: &labels, scores: &scores, seed: 1 };
                let value = loss.value_and_gradient(query, &mut vec![f64::NAN; labels.len()]);
                let told = loss.is_informed_by(&labels);
                assert_eq!(told, value != 0.0, "{} on {labels:?}: {value}", entry.card.name);
            }
        }
    }

    #[test]
    fn shift_invariance_is_as_claimed() {
        for entry in LOSSES {
            let (labels, scores) = random_query(3, 6);
            let moved: Vec<f64> = scores.iter().map(|s| s + 2.5).collect();
            let value = |scores: &[f64]| {
                let query = ScoredQuery { labels: &labels, scores, seed: 1 };
                (entry.make)().value_and_gradient(query, &mut [0.0; 6])
            };
            let same = (value(&scores) - value(&moved)).abs() < 1e-9;
            assert_eq!(same, entry.shift_invariant, "{}", entry.card.name);
        }
    }
}
