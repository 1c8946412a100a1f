//! SVM-AUC: structured SVM for the area under the ROC curve (Joachims, ICML 2005).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q max_y [ 1 − AUC(y) − w·(φ(y*) − φ(y)) ]₊ ,   φ = φ_po
//! ```
//!
//! Queries whose documents are all good or all bad say nothing and are skipped.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::margin::{self, LargeMargin, Margin, check_above_zero};
use crate::learners::{Fitted, Learner, Task};
use crate::losses::structured::{AucSearch, StructuredHinge};
use crate::solvers::Bundle;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A linear large-margin ranker for the area under the ROC curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SvmAuc {
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
}

impl Default for SvmAuc {
    fn default() -> Self {
        SvmAuc { c: 1.0, gap: 1e-3, rounds: 2000, scale: true, threshold: 1.0 }
    }
}

impl Learner for SvmAuc {
    const CARD: Card = Card {
        name: "svm-auc",
        title: "SVM-AUC",
        summary: "A linear model of large margin for pairs of a good and a bad document, solved to a certified gap.",
        citations: &["joachims2005support", "joachims2009cutting"],
    };

    fn check(&self) -> Result<()> {
        self.solver().check()?;
        check_above_zero("threshold", self.threshold.into())
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(margin::fit(self, task, watch))
    }
}

impl LargeMargin for SvmAuc {
    type Loss = StructuredHinge<AucSearch>;

    fn loss(&self, _: &Dataset) -> Self::Loss {
        StructuredHinge(AucSearch { threshold: self.threshold })
    }

    fn solver(&self) -> Margin {
        let bundle = Bundle { c: self.c, gap: self.gap, rounds: self.rounds };
        Margin { bundle, scale: self.scale }
    }
}
