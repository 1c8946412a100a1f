//! SVM-MAP: structured SVM for average precision (Yue, Finley, Radlinski and Joachims, SIGIR 2007).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q max_y [ 1 − AP(y) − w·(φ(y*) − φ(y)) ]₊ ,   φ = φ_po
//! ```
//!
//! Queries whose documents are all relevant or all non-relevant are skipped.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::parameters::check_above_zero;
use crate::learners::{LinearParameters, LossKind, LossLearner, ScorerKind};
use crate::losses::structured::{MapSearch, StructuredHinge};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Max-margin loss for average precision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SvmMap {
    /// Smallest label of a relevant document, above 0.
    pub threshold: f32,
}

impl Default for SvmMap {
    fn default() -> Self {
        SvmMap { threshold: 1.0 }
    }
}

impl LossLearner for SvmMap {
    const CARD: Card = Card {
        name: "svm-map",
        title: "SVM-MAP",
        summary: "Max-margin (structured SVM) loss for average precision; its linear models are solved to a \
                  certified duality gap.",
        citations: &["yue2007support", "joachims2009cutting"],
    };

    type Linear = LinearParameters;

    fn check(&self, _: ScorerKind) -> Result<()> {
        check_above_zero("threshold", self.threshold.into())
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        Ok(LossKind::Convex(Box::new(StructuredHinge(MapSearch { threshold: self.threshold }))))
    }
}
