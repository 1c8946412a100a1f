//! Least perturbation of scores (Yang, Tewari and Ravikumar, AISTATS 2012).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q min { Σᵢ νᵢ·δᵢ : δ ≥ 0 , sᵢ + δᵢ ≥ sⱼ + δⱼ + Δ where rᵢ > rⱼ } ,   s = X_q·w
//! ```
//!
//! The inner problem has a closed form, so a round is little more than two passes over the data. The loss is Δ times
//! that of the scores over Δ with margin 1: a linear model's rankings depend on C/Δ alone, and it is enough to tune
//! one of the two.
//!
//! Goods are raised over the highest bad of their query. Where no direction puts them above it in the weighted mean,
//! as with the many documents and noisy features of OHSUMED, the optimum is `w = 0` at any C. So the loss is taken over
//! small random sets of documents unless `documents` is 0.

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

/// A linear large-margin ranker by the least perturbation that makes a ranking perfect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MinPerturb {
    /// The margin Δ > 0 between documents of different grades; of a linear model only C/Δ matters.
    pub margin: f64,
    /// Whether the margin is the same between any two grades (`equal`) or in proportion to their difference (`gap`).
    pub spacing: MarginSpacing,
    /// Places in the ideal DCG by which each query's loss is divided; 0 for all of them.
    pub k: usize,
    /// What a place is worth: `log2` (1/log₂(1 + rank)) or `letor` (1 at ranks 1 and 2, then 1/log₂(rank)).
    pub discount: Discount,
    /// Documents in each random set of a query's that the loss is taken over, at least 2; 0 for all at once.
    pub documents: usize,
    /// Random sets of each query, at least 1.
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
        summary: "A linear model by how far scores must be raised to set the grades apart, solved to a certified gap.",
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
