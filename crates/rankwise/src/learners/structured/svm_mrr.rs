//! SVM-MRR: structured SVM for the reciprocal rank (Chakrabarti, Khanna, Sawant and Bhattacharyya, KDD 2008).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q max_y [ 1 − RR@k(y) − w·(φ(y*) − φ(y)) ]₊ ,   φ = φ_mrr or φ_po
//! ```
//!
//! Queries whose documents are all relevant or all non-relevant are skipped. φ_mrr is the paper's own, but
//! under it the worst ranking puts all non-relevant documents above the lowest relevant one. Unless no
//! relevant document scores below the mean of the non-relevant ones, the loss is above that of `w = 0`, which
//! is then the exact optimum (as on OHSUMED and ClueWeb09, at any C). Therefore φ_po is the default.
//!
//! The first relevant document of a long list says little about the others, so by default the loss is the mean
//! over random subsets of a query's documents; `documents = 0` is the paper's problem.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::parameters::{check_above_zero, check_sets};
use crate::learners::{LinearParameters, LossKind, LossLearner, ScorerKind};
use crate::losses::structured::{MrrPairSearch, MrrSearch, StructuredHinge};
use crate::losses::{QueryLoss, Subsampled};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Max-margin loss for the reciprocal rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SvmMrr {
    /// Smallest label of a relevant document, above 0.
    pub threshold: f32,
    /// Cutoff of the reciprocal rank; 0 for none.
    pub k: usize,
    /// Features of a ranking: `pair-order` (each relevant document against each non-relevant one) or `first-good` (the first relevant document against the non-relevant ones above it).
    pub map: MrrMap,
    /// Documents in each random subset of a query that the loss is computed on, at least 2; 0 for all documents.
    pub documents: usize,
    /// Random subsets per query, at least 1.
    pub draws: usize,
}

/// The features of a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MrrMap {
    /// φ_mrr: the first relevant document against the non-relevant ones above it.
    FirstGood,
    /// φ_po: every relevant document against every non-relevant one.
    PairOrder,
}

impl MrrMap {
    /// The structured hinge of the reciprocal rank at `k` with these features.
    pub(super) fn hinge(self, threshold: f32, k: usize) -> Box<dyn QueryLoss> {
        match self {
            MrrMap::FirstGood => Box::new(StructuredHinge(MrrSearch { threshold, k })),
            MrrMap::PairOrder => Box::new(StructuredHinge(MrrPairSearch { threshold, k })),
        }
    }
}

impl Default for SvmMrr {
    fn default() -> Self {
        let map = MrrMap::PairOrder;
        SvmMrr { threshold: 1.0, k: 0, map, documents: 5, draws: 100 }
    }
}

impl LossLearner for SvmMrr {
    const CARD: Card = Card {
        name: "svm-mrr",
        title: "SVM-MRR",
        summary: "Max-margin (structured SVM) loss for the reciprocal rank of the first relevant document; \
                  its linear models are solved to a certified duality gap.",
        citations: &["chakrabarti2008structured", "joachims2009cutting"],
    };

    type Linear = LinearParameters;

    fn check(&self, _: ScorerKind) -> Result<()> {
        check_sets(self.documents, self.draws)?;
        check_above_zero("threshold", self.threshold.into())
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        let loss = self.map.hinge(self.threshold, self.k);
        Ok(LossKind::Convex(Box::new(Subsampled { loss, documents: self.documents, draws: self.draws })))
    }
}
