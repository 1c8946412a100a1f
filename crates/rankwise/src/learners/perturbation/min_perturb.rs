//! Smallest perturbation of the scores that makes a ranking perfect (Yang, Tewari and Ravikumar,
//! AISTATS 2012).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q min { Σᵢ νᵢ·δᵢ : δ ≥ 0 , sᵢ + δᵢ ≥ sⱼ + δⱼ + Δ where rᵢ > rⱼ } ,   s = X_q·w
//! ```
//!
//! The inner problem has a closed form, so a round costs little more than two passes over the data. The loss
//! is Δ times that of the scores over Δ with margin 1: the rankings of a linear model depend only on C/Δ, so
//! it is enough to tune one of the two.
//!
//! Relevant documents are raised above the highest non-relevant one of their query. If no direction puts them
//! above it in the weighted mean, as with the many documents and noisy features of OHSUMED, the optimum is
//! `w = 0` at any C. Therefore the loss is taken over small random subsets of documents unless `documents` is
//! 0.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::parameters::{check_above_zero, check_sets};
use crate::learners::{LinearParameters, LossKind, LossLearner, ScorerKind};
use crate::losses::Subsampled;
use crate::losses::perturbation::{MarginSpacing, MinPerturb as Loss};
use crate::metrics::Discount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The smallest perturbation of the scores that makes a ranking perfect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MinPerturb {
    /// The margin Δ > 0 between documents with different labels; for linear models only C/Δ matters.
    pub margin: f64,
    /// Margin between two labels: `equal` (the same for any two) or `gap` (proportional to their difference).
    pub spacing: MarginSpacing,
    /// Cutoff of the ideal DCG by which each query's loss is divided; 0 for none.
    pub k: usize,
    /// Discount of a rank: `log2` (1/log₂(1 + rank)) or `letor` (1 at ranks 1 and 2, then 1/log₂(rank)).
    pub discount: Discount,
    /// Documents in each random subset of a query that the loss is computed on, at least 2; 0 for all documents.
    pub documents: usize,
    /// Random subsets per query, at least 1.
    pub draws: usize,
}

impl Default for MinPerturb {
    fn default() -> Self {
        let Loss { margin, spacing, k, discount } = Loss::default();
        MinPerturb { margin, spacing, k, discount, documents: 3, draws: 100 }
    }
}

impl LossLearner for MinPerturb {
    const CARD: Card = Card {
        name: "min-perturb",
        title: "Least perturbation",
        summary: "How far scores must be raised to separate documents of different labels by a margin; its \
                  linear models are solved to a certified duality gap.",
        citations: &["yang2012perturbation", "joachims2009cutting"],
    };

    type Linear = LinearParameters;

    fn check(&self, _: ScorerKind) -> Result<()> {
        check_sets(self.documents, self.draws)?;
        check_above_zero("margin", self.margin)
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        let &MinPerturb { margin, spacing, k, discount, .. } = self;
        let loss = Loss { margin, spacing, k, discount };
        Ok(LossKind::Convex(Box::new(Subsampled { loss, documents: self.documents, draws: self.draws })))
    }
}
