//! SVM-NDCG: structured SVM for NDCG with binary gains (Chakrabarti, Khanna, Sawant and Bhattacharyya,
//! KDD 2008).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q max_y [ 1 − NDCG@k(y) − w·(φ(y*) − φ(y)) ]₊ ,   φ = φ_po
//! ```
//!
//! Queries whose documents are all relevant or all non-relevant are skipped. With a cutoff, `k` non-relevant
//! documents above the relevant ones lose all of NDCG@k but change φ_po very little. Unless relevant and
//! non-relevant documents are almost separable, the exact optimum is then `w = 0` (as on OHSUMED, at any C),
//! so there is no cutoff by default.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::parameters::check_above_zero;
use crate::learners::{LinearParameters, LossKind, LossLearner, ScorerKind};
use crate::losses::structured::{NdcgSearch, StructuredHinge};
use crate::metrics::Discount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Max-margin loss for NDCG with binary gains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SvmNdcg {
    /// Smallest label of a relevant document, above 0.
    pub threshold: f32,
    /// Cutoff of NDCG; 0 for none. A cutoff needs relevant and non-relevant documents that are almost separable.
    pub k: usize,
    /// Discount of a rank: `log2` (1/log₂(1 + rank)) or `letor` (1 at ranks 1 and 2, then 1/log₂(rank)).
    pub discount: Discount,
}

impl Default for SvmNdcg {
    fn default() -> Self {
        SvmNdcg { threshold: 1.0, k: 0, discount: Discount::Log2 }
    }
}

impl LossLearner for SvmNdcg {
    const CARD: Card = Card {
        name: "svm-ndcg",
        title: "SVM-NDCG",
        summary: "Max-margin (structured SVM) loss for NDCG with binary gains; its linear models are solved \
                  to a certified duality gap.",
        citations: &["chakrabarti2008structured", "joachims2009cutting"],
    };

    type Linear = LinearParameters;

    fn check(&self, _: ScorerKind) -> Result<()> {
        check_above_zero("threshold", self.threshold.into())
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        let search = NdcgSearch { threshold: self.threshold, k: self.k, discount: self.discount };
        Ok(LossKind::Convex(Box::new(StructuredHinge(search))))
    }
}
