//! SVM-NDCG: structured SVM for NDCG with binary gains (Chakrabarti, Khanna, Sawant and Bhattacharyya, KDD 2008).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q max_y [ 1 − NDCG@k(y) − w·(φ(y*) − φ(y)) ]₊ ,   φ = φ_po
//! ```
//!
//! Queries whose documents are all good or all bad say nothing and are skipped. With a cut, a ranking loses all by
//! `k` bads ahead of the goods, which costs it next to nothing under φ_po: unless goods and bads are almost separable
//! the exact optimum is `w = 0` (on OHSUMED it is, whatever C), so there is no cut by default.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::parameters::check_above_zero;
use crate::learners::{LinearParameters, LossKind, LossLearner, ScorerKind};
use crate::losses::structured::{NdcgSearch, StructuredHinge};
use crate::metrics::Discount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A linear large-margin ranker for NDCG.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SvmNdcg {
    /// The least grade of a good document, above 0.
    pub threshold: f32,
    /// Places that count in the NDCG; 0 for all. A cut needs goods and bads that are almost separable.
    pub k: usize,
    /// What a place is worth: `log2` (1/log₂(1 + rank)) or `letor` (1 at ranks 1 and 2, then 1/log₂(rank)).
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
        summary: "A linear model of large margin for NDCG with binary gains, solved to a certified gap.",
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
