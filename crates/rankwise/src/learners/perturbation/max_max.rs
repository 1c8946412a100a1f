//! Max-margin loss against every perfect ranking of a query (Yang, Tewari and Ravikumar, AISTATS 2012, their
//! baseline "MaxMax").
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q [ max_y { 1 − NDCG@k(y) + f(s,y) } − min_{z perfect} f(s,z) ] ,   s = X_q·w ,
//! f(s,y) = Σᵢ (1 + yᵢ)^−decay · sᵢ ,   yᵢ the position of document i, from 0
//! ```

use super::Version;
use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::parameters::{check_above_zero, check_sets};
use crate::learners::{LinearParameters, LossKind, LossLearner, ScorerKind};
use crate::losses::Subsampled;
use crate::losses::perturbation::MaxMax as Loss;
use crate::losses::structured::DormSearch;
use crate::metrics::Discount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Max-margin loss for NDCG against all perfect rankings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MaxMax {
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

impl Default for MaxMax {
    fn default() -> Self {
        let DormSearch { k, discount, decay, cut_off, .. } = DormSearch::default();
        let version = Version::Full;
        MaxMax { version, k, discount, decay, cut_off, documents: 3, draws: 100 }
    }
}

impl LossLearner for MaxMax {
    const CARD: Card = Card {
        name: "max-max",
        title: "MaxMax",
        summary: "Max-margin loss for NDCG that separates all perfect rankings of a query from the others; \
                  its linear models are solved to a certified duality gap.",
        citations: &["yang2012perturbation", "joachims2009cutting"],
    };

    type Linear = LinearParameters;

    fn check(&self, _: ScorerKind) -> Result<()> {
        check_sets(self.documents, self.draws)?;
        check_above_zero("decay", self.decay)
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        let &MaxMax { k, discount, decay, cut_off, .. } = self;
        let loss = Loss(self.version.of(DormSearch { k, discount, decay, cut_off, ..DormSearch::default() }));
        Ok(LossKind::Convex(Box::new(Subsampled { loss, documents: self.documents, draws: self.draws })))
    }
}
