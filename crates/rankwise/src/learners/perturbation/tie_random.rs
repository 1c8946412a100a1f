//! Max-margin loss against one perfect ranking per query, with ties broken at random (Yang, Tewari and
//! Ravikumar, AISTATS 2012, their baseline "Random").
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q max_y { 1 − NDCG@k(y) + f(s,y) − f(s,ỹ) } ,   s = X_q·w ,   f(s,y) = Σᵢ (1 + yᵢ)^−decay · sᵢ
//! ```
//!
//! where `yᵢ` is the position of document i, from 0, and `ỹ` is drawn once per query from the seed.

use super::Version;
use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::parameters::{check_above_zero, check_sets};
use crate::learners::{LinearParameters, LossKind, LossLearner, ScorerKind};
use crate::losses::Subsampled;
use crate::losses::perturbation::TieRandom as Loss;
use crate::losses::structured::DormSearch;
use crate::metrics::Discount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Max-margin loss for NDCG against one perfect ranking, with ties broken at random.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TieRandom {
    /// Which positions count: `full` (as given by k, discount, decay and cut_off) or `top` (the first position only).
    pub version: Version,
    /// Cutoff of NDCG; 0 for none.
    pub k: usize,
    /// Discount of a rank: `log2` (1/log₂(1 + rank)) or `letor` (1 at ranks 1 and 2, then 1/log₂(rank)).
    pub discount: Discount,
    /// Exponent of the weight (1 + position)^−decay of a position, above 0.
    pub decay: f64,
    /// Number of positions with a weight; 0 for all.
    pub cut_off: usize,
    /// Documents in each random subset of a query that the loss is computed on, at least 2; 0 for all documents.
    pub documents: usize,
    /// Random subsets per query, at least 1.
    pub draws: usize,
}

impl Default for TieRandom {
    fn default() -> Self {
        let DormSearch { k, discount, decay, cut_off, .. } = DormSearch::default();
        let version = Version::Full;
        TieRandom { version, k, discount, decay, cut_off, documents: 3, draws: 100 }
    }
}

impl LossLearner for TieRandom {
    const CARD: Card = Card {
        name: "tie-random",
        title: "Random tie-breaking",
        summary: "Max-margin loss for NDCG against one perfect ranking per query, with ties broken at \
                  random; its linear models are solved to a certified duality gap.",
        citations: &["yang2012perturbation", "le2007direct", "joachims2009cutting"],
    };

    type Linear = LinearParameters;

    fn check(&self, _: ScorerKind) -> Result<()> {
        check_sets(self.documents, self.draws)?;
        check_above_zero("decay", self.decay)
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        let &TieRandom { k, discount, decay, cut_off, .. } = self;
        let loss = Loss(self.version.of(DormSearch { k, discount, decay, cut_off, ..DormSearch::default() }));
        Ok(LossKind::Convex(Box::new(Subsampled { loss, documents: self.documents, draws: self.draws })))
    }
}
