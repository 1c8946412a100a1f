//! DORM: direct optimisation of ranking metrics, for NDCG (Le and Smola, 2007).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q max_y [ 1 − NDCG@k(y) − w·(φ(y*) − φ(y)) ]₊ ,   φ(y) = Σᵢ (1 + yᵢ)^−decay · xᵢ
//! ```
//!
//! where `yᵢ` is the position of document i, from 0. Queries whose documents all have the same gain are
//! skipped.
//!
//! The margin has to outweigh the spread of scores among documents of equal gain, summed over all positions.
//! On noisy data no direction does that and the optimum is `w = 0` at any C, as Chapelle, Le and Smola (2007)
//! found on OHSUMED. Therefore the loss is taken over small random subsets of documents unless `documents` is
//! 0.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::parameters::{check_above_zero, check_sets};
use crate::learners::{LinearParameters, LossKind, LossLearner, ScorerKind};
use crate::losses::Subsampled;
use crate::losses::structured::{DormSearch, StructuredHinge};
use crate::metrics::{Discount, Gain};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Max-margin loss for NDCG with position-weighted documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dorm {
    /// Gain of a label r: `exp2` (2^r − 1), `linear` (r) or `binary` (1 from the threshold on).
    pub gain: Gain,
    /// Smallest label of a relevant document, for binary gains, above 0.
    pub threshold: f32,
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

impl Default for Dorm {
    fn default() -> Self {
        let DormSearch { gain, threshold, k, discount, decay, cut_off } = DormSearch::default();
        Dorm { gain, threshold, k, discount, decay, cut_off, documents: 3, draws: 100 }
    }
}

impl LossLearner for Dorm {
    const CARD: Card = Card {
        name: "dorm",
        title: "DORM",
        summary: "Max-margin (structured SVM) loss for NDCG that weights documents by their positions; its \
                  linear models are solved to a certified duality gap.",
        citations: &["le2007direct", "chakrabarti2008structured", "joachims2009cutting"],
    };

    type Linear = LinearParameters;

    fn check(&self, _: ScorerKind) -> Result<()> {
        check_sets(self.documents, self.draws)?;
        check_above_zero("threshold", self.threshold.into())?;
        check_above_zero("decay", self.decay)
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        let loss = StructuredHinge(DormSearch {
            gain: self.gain,
            threshold: self.threshold,
            k: self.k,
            discount: self.discount,
            decay: self.decay,
            cut_off: self.cut_off,
        });
        Ok(LossKind::Convex(Box::new(Subsampled { loss, documents: self.documents, draws: self.draws })))
    }
}
