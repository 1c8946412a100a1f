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
use crate::learners::margin::{self, LargeMargin, Margin, check_above_zero};
use crate::learners::{Fitted, Learner, Task};
use crate::losses::QueryLoss;
use crate::losses::structured::{MrrPairSearch, MrrSearch, StructuredHinge};
use crate::solvers::Bundle;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A linear large-margin ranker for the reciprocal rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SvmMrr {
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
        SvmMrr { c: 1.0, gap: 1e-3, rounds: 2000, scale: true, threshold: 1.0, k: 0, map }
    }
}

impl Learner for SvmMrr {
    const CARD: Card = Card {
        name: "svm-mrr",
        title: "SVM-MRR",
        summary: "A linear model of large margin for the rank of the first good document, solved to a certified gap.",
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

impl LargeMargin for SvmMrr {
    type Loss = Box<dyn QueryLoss>;

    fn loss(&self, _: &Dataset) -> Self::Loss {
        self.map.hinge(self.threshold, self.k)
    }

    fn solver(&self) -> Margin {
        let bundle = Bundle { c: self.c, gap: self.gap, rounds: self.rounds };
        Margin { bundle, scale: self.scale }
    }
}
