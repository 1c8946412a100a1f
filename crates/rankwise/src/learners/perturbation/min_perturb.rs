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
use crate::learners::margin::{self, LargeMargin, Margin, check_above_zero, check_sets};
use crate::learners::{Fitted, Learner, Task};
use crate::losses::Subsampled;
use crate::losses::perturbation::{MarginSpacing, MinPerturb as Loss};
use crate::metrics::Discount;
use crate::solvers::Bundle;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A linear large-margin ranker by the least perturbation that makes a ranking perfect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MinPerturb {
    /// Weight C > 0 of the mean loss against ½‖w‖²: larger fits the training queries closer.
    pub c: f64,
    /// Relative duality gap, between 0 and 1, at which the solution counts as found.
    pub gap: f64,
    /// The most cutting planes to add, at least 1.
    pub rounds: u64,
    /// Whether w is in units of the features' standard deviations; false for features as they stand.
    pub scale: bool,
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
        MinPerturb {
            c: 1.0,
            gap: 1e-3,
            rounds: 2000,
            scale: true,
            margin,
            spacing,
            k,
            discount,
            documents: 3,
            draws: 100,
        }
    }
}

impl Learner for MinPerturb {
    const CARD: Card = Card {
        name: "min-perturb",
        title: "Least perturbation",
        summary: "A linear model by how far scores must be raised to set the grades apart, solved to a certified gap.",
        citations: &["yang2012perturbation", "joachims2009cutting"],
    };

    fn check(&self) -> Result<()> {
        self.solver().check()?;
        check_sets(self.documents, self.draws)?;
        check_above_zero("margin", self.margin)
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(margin::fit(self, task, watch))
    }
}

impl LargeMargin for MinPerturb {
    type Loss = Subsampled<Loss>;

    fn loss(&self, _: &Dataset) -> Self::Loss {
        let &MinPerturb { margin, spacing, k, discount, .. } = self;
        let loss = Loss { margin, spacing, k, discount };
        Subsampled { loss, documents: self.documents, draws: self.draws }
    }

    fn solver(&self) -> Margin {
        let bundle = Bundle { c: self.c, gap: self.gap, rounds: self.rounds };
        Margin { bundle, scale: self.scale }
    }
}
