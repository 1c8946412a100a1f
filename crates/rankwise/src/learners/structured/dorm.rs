//! DORM: direct optimisation of ranking measures, for NDCG (Le and Smola, 2007).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q max_y [ 1 − NDCG@k(y) − w·(φ(y*) − φ(y)) ]₊ ,   φ(y) = Σᵢ (1 + yᵢ)^−decay · xᵢ
//! ```
//!
//! with `yᵢ` the place of document i, from 0. Queries whose documents all have the same gain are skipped.
//!
//! The margin has to outweigh how far scores spread among documents of equal gain, summed over all places. On noisy
//! data no direction does that and the optimum is `w = 0` at any C, as Chapelle, Le and Smola (2007) saw on OHSUMED.
//! So the loss is taken over small random sets of documents unless `documents` is 0.

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

/// A linear large-margin ranker for NDCG that weighs documents by their places.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dorm {
    /// What a grade r is worth: `exp2` (2^r − 1), `linear` (r) or `binary` (1 from the threshold on).
    pub gain: Gain,
    /// The least grade of a good document, above 0; for binary gains.
    pub threshold: f32,
    /// Places that count in the NDCG; 0 for all of them.
    pub k: usize,
    /// What a place is worth: `log2` (1/log₂(1 + rank)) or `letor` (1 at ranks 1 and 2, then 1/log₂(rank)).
    pub discount: Discount,
    /// How fast the weight (1 + place)^−decay of a place falls in the features, above 0.
    pub decay: f64,
    /// Places that weigh anything in the features; 0 for all of them.
    pub cut_off: usize,
    /// Documents in each random set of a query's that the loss is taken over, at least 2; 0 for all at once.
    pub documents: usize,
    /// Random sets of each query, at least 1.
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
        summary: "A linear model of large margin for NDCG that weighs documents by their places, solved to a certified gap.",
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
