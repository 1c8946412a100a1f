//! Large margin to one perfect ranking of each query, ties broken at random (Yang, Tewari and Ravikumar, AISTATS 2012,
//! their rival "Random").
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q max_y { 1 − NDCG@k(y) + f(s,y) − f(s,ỹ) } ,   s = X_q·w ,   f(s,y) = Σᵢ (1 + yᵢ)^−decay · sᵢ
//! ```
//!
//! with `yᵢ` the place of document i, from 0, and `ỹ` drawn once for each query from the seed.

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

/// A linear large-margin ranker for NDCG that breaks ties at random.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TieRandom {
    /// How much of a ranking counts: `full`, as k, discount, decay and cut_off say, or `top`, the first place alone.
    pub version: Version,
    /// Places that count in the NDCG; 0 for all of them.
    pub k: usize,
    /// What a place is worth: `log2` (1/log₂(1 + rank)) or `letor` (1 at ranks 1 and 2, then 1/log₂(rank)).
    pub discount: Discount,
    /// How fast the weight (1 + place)^−decay of a place falls in f, above 0.
    pub decay: f64,
    /// Places that weigh anything in f; 0 for all of them.
    pub cut_off: usize,
    /// Documents in each random set of a query's that the loss is taken over, at least 2; 0 for all at once.
    pub documents: usize,
    /// Random sets of each query, at least 1.
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
        summary: "A linear model of large margin to one perfect ranking of each query, in which ties are broken at random.",
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
