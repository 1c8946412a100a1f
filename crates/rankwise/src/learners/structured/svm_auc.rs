//! SVM-AUC: structured SVM for the area under the ROC curve (Joachims, ICML 2005).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q max_y [ 1 − AUC(y) − w·(φ(y*) − φ(y)) ]₊ ,   φ = φ_po
//! ```
//!
//! Queries whose documents are all relevant or all non-relevant are skipped.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::parameters::check_above_zero;
use crate::learners::{LinearParameters, LossKind, LossLearner, ScorerKind};
use crate::losses::structured::{AucSearch, StructuredHinge};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Max-margin loss for the area under the ROC curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SvmAuc {
    /// Smallest label of a relevant document, above 0.
    pub threshold: f32,
}

impl Default for SvmAuc {
    fn default() -> Self {
        SvmAuc { threshold: 1.0 }
    }
}

impl LossLearner for SvmAuc {
    const CARD: Card = Card {
        name: "svm-auc",
        title: "SVM-AUC",
        summary: "Max-margin (structured SVM) loss for AUC, over pairs of a relevant and a non-relevant \
                  document; its linear models are solved to a certified duality gap.",
        citations: &["joachims2005support", "joachims2009cutting"],
    };

    type Linear = LinearParameters;

    fn check(&self, _: ScorerKind) -> Result<()> {
        check_above_zero("threshold", self.threshold.into())
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        Ok(LossKind::Convex(Box::new(StructuredHinge(AucSearch { threshold: self.threshold }))))
    }
}
