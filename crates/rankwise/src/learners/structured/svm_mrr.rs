//! SVM-MRR: structured SVM for the reciprocal rank (Chakrabarti, Khanna, Sawant and Bhattacharyya, KDD 2008).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q max_y [ 1 − RR@k(y) − w·(φ(y*) − φ(y)) ]₊ ,   φ = φ_mrr or φ_po
//! ```
//!
//! Queries whose documents are all good or all bad say nothing and are skipped. φ_mrr is the paper's own, but under it
//! the worst ranking puts all bads ahead of the lowest good: unless no good scores below the bads' mean, the loss is
//! above that of `w = 0`, which then is the exact optimum (it is on OHSUMED and ClueWeb09, whatever C). So φ_po is the
//! default.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::parameters::check_above_zero;
use crate::learners::{LinearParameters, LossKind, LossLearner, ScorerKind};
use crate::losses::QueryLoss;
use crate::losses::structured::{MrrPairSearch, MrrSearch, StructuredHinge};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A linear large-margin ranker for the reciprocal rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SvmMrr {
    /// The least grade of a good document, above 0.
    pub threshold: f32,
    /// Places that count in the reciprocal rank; 0 for all of them.
    pub k: usize,
    /// How a ranking is seen: `pair-order` (all goods against all bads) or `first-good` (bads ahead of the first good).
    pub map: MrrMap,
}

/// How SVM-MRR sees a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MrrMap {
    /// φ_mrr: the first good document against the bad ones ahead of it.
    FirstGood,
    /// φ_po: every good document against every bad one.
    PairOrder,
}

impl MrrMap {
    /// The structured hinge of the reciprocal rank at `k` under this map.
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
        SvmMrr { threshold: 1.0, k: 0, map }
    }
}

impl LossLearner for SvmMrr {
    const CARD: Card = Card {
        name: "svm-mrr",
        title: "SVM-MRR",
        summary: "A linear model of large margin for the rank of the first good document, solved to a certified gap.",
        citations: &["chakrabarti2008structured", "joachims2009cutting"],
    };

    type Linear = LinearParameters;

    fn check(&self, _: ScorerKind) -> Result<()> {
        check_above_zero("threshold", self.threshold.into())
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        Ok(LossKind::Convex(self.map.hinge(self.threshold, self.k)))
    }
}
