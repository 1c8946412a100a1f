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
use crate::learners::margin::{self, LargeMargin, Margin, check_above_zero};
use crate::learners::{Fitted, Learner, Task};
use crate::losses::structured::{NdcgSearch, StructuredHinge};
use crate::metrics::Discount;
use crate::solvers::Bundle;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A linear large-margin ranker for NDCG.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SvmNdcg {
    /// Weight C > 0 of the mean loss against ½‖w‖²: larger fits the training queries closer.
    pub c: f64,
    /// Relative duality gap, between 0 and 1, at which the solution counts as found.
    pub gap: f64,
    /// The most cutting planes to add, at least 1.
    pub rounds: u64,
    /// Whether w is in units of the features' standard deviations; false for features as they stand.
    pub scale: bool,
    /// The least grade of a good document, above 0.
    pub threshold: f32,
    /// Places that count in the NDCG; 0 for all. A cut needs goods and bads that are almost separable.
    pub k: usize,
    /// What a place is worth: `log2` (1/log₂(1 + rank)) or `letor` (1 at ranks 1 and 2, then 1/log₂(rank)).
    pub discount: Discount,
}

impl Default for SvmNdcg {
    fn default() -> Self {
        SvmNdcg {
            c: 1.0,
            gap: 1e-3,
            rounds: 2000,
            scale: true,
            threshold: 1.0,
            k: 0,
            discount: Discount::Log2,
        }
    }
}

impl Learner for SvmNdcg {
    const CARD: Card = Card {
        name: "svm-ndcg",
        title: "SVM-NDCG",
        summary: "A linear model of large margin for NDCG with binary gains, solved to a certified gap.",
        citations: &["chakrabarti2008structured", "joachims2009cutting"],
    };

    fn check(&self) -> Result<()> {
        self.solver().check()?;
        check_above_zero("threshold", self.threshold.into())
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(margin::fit(self, task, watch))
    }
}

impl LargeMargin for SvmNdcg {
    type Loss = StructuredHinge<NdcgSearch>;

    fn loss(&self, _: &Dataset) -> Self::Loss {
        StructuredHinge(NdcgSearch { threshold: self.threshold, k: self.k, discount: self.discount })
    }

    fn solver(&self) -> Margin {
        let bundle = Bundle { c: self.c, gap: self.gap, rounds: self.rounds };
        Margin { bundle, scale: self.scale }
    }
}
