//! SVM-Combo: structured SVM for several metrics at once (Chakrabarti, Khanna, Sawant and Bhattacharyya,
//! KDD 2008).
//!
//! ```text
//! separate slacks:  min_w ½‖w‖² + C/Q Σ_q Σ_l a_l·L_l(X_q w)
//! shared slack:     min_w ½‖w‖² + C/Q Σ_q max_l a_l·L_l(X_q w)        L_l: the structured hinge of metric l
//! ```
//!
//! Queries whose documents are all relevant or all non-relevant are skipped.

use super::svm_mrr::MrrMap;
use crate::card::Card;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::learners::parameters::check_above_zero;
use crate::learners::{LinearParameters, LossKind, LossLearner, ScorerKind};
use crate::losses::structured::{AucSearch, MapSearch, NdcgSearch, StructuredHinge};
use crate::losses::{Combined, QueryLoss};
use crate::metrics::Discount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Max-margin loss for several metrics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SvmCombo {
    /// Smallest label of a relevant document, above 0.
    pub threshold: f32,
    /// The metrics: `auc`, `map`, `mrr`, `ndcg`, the last two also with a cutoff such as `ndcg@10`.
    pub metrics: Vec<String>,
    /// One weight per metric, finite and at least 0; empty for 1 each.
    pub weights: Vec<f64>,
    /// How the losses of a query are combined: `separate` (their sum) or `shared` (their maximum).
    pub slacks: Slacks,
    /// Features of a ranking for MRR: `pair-order` (each relevant document against each non-relevant one) or `first-good` (the first relevant document against the non-relevant ones above it).
    pub mrr_map: MrrMap,
    /// Discount of a rank in NDCG: `log2` (1/log₂(1 + rank)) or `letor` (1 at ranks 1 and 2, then 1/log₂(rank)).
    pub discount: Discount,
}

/// How the losses of one query are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Slacks {
    /// Their sum.
    Separate,
    /// Their maximum.
    Shared,
}

impl Default for SvmCombo {
    fn default() -> Self {
        SvmCombo {
            threshold: 1.0,
            metrics: ["auc", "map", "mrr", "ndcg"].map(String::from).to_vec(),
            weights: Vec::new(),
            slacks: Slacks::Separate,
            mrr_map: MrrMap::PairOrder,
            discount: Discount::Log2,
        }
    }
}

impl LossLearner for SvmCombo {
    const CARD: Card = Card {
        name: "svm-combo",
        title: "SVM-Combo",
        summary: "Max-margin (structured SVM) loss for several metrics at once; its linear models are solved \
                  to a certified duality gap.",
        citations: &["chakrabarti2008structured", "joachims2009cutting"],
    };

    type Linear = LinearParameters;

    fn check(&self, _: ScorerKind) -> Result<()> {
        check_above_zero("threshold", self.threshold.into())?;
        self.parts()?;
        if self.weights.iter().any(|w| !(*w >= 0.0 && w.is_finite())) {
            return Err(Error::parameter("weights must be finite and at least 0"));
        }
        if !self.weights.is_empty() && self.weights.iter().all(|w| *w == 0.0) {
            return Err(Error::parameter("weights are all 0; at least one must be above 0"));
        }
        Ok(())
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        let combined = Combined { parts: self.parts()?, shared: self.slacks == Slacks::Shared };
        Ok(LossKind::Convex(Box::new(combined)))
    }
}

impl SvmCombo {
    fn parts(&self) -> Result<Vec<(f64, Box<dyn QueryLoss>)>> {
        if self.metrics.is_empty() {
            return Err(Error::parameter("metrics is empty; it must name at least one metric"));
        }
        if !self.weights.is_empty() && self.weights.len() != self.metrics.len() {
            return Err(Error::parameter(format!(
                "weights has {} values for {} metrics",
                self.weights.len(),
                self.metrics.len()
            )));
        }
        let weights = self.weights.iter().copied().chain(std::iter::repeat(1.0));
        self.metrics.iter().zip(weights).map(|(name, weight)| Ok((weight, self.hinge(name)?))).collect()
    }

    fn hinge(&self, metric: &str) -> Result<Box<dyn QueryLoss>> {
        let threshold = self.threshold;
        let (name, cut) = metric.split_once('@').map_or((metric, None), |(name, k)| (name, Some(k)));
        let k = match cut {
            None => 0,
            Some(k) => k.parse().ok().filter(|k| *k > 0).ok_or_else(|| unknown(metric))?,
        };
        Ok(match (name, k) {
            ("auc", 0) => Box::new(StructuredHinge(AucSearch { threshold })),
            ("map", 0) => Box::new(StructuredHinge(MapSearch { threshold })),
            ("mrr", k) => self.mrr_map.hinge(threshold, k),
            ("ndcg", k) => Box::new(StructuredHinge(NdcgSearch { threshold, k, discount: self.discount })),
            _ => return Err(unknown(metric)),
        })
    }
}

fn unknown(metric: &str) -> Error {
    Error::parameter(format!(
        "`{metric}` in metrics has no structured hinge; available are auc, map, mrr, mrr@k, ndcg and ndcg@k"
    ))
}
