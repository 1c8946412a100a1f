//! SVM-Combo: structured SVM for several measures at once (Chakrabarti, Khanna, Sawant and Bhattacharyya, KDD 2008).
//!
//! ```text
//! separate slacks:  min_w ½‖w‖² + C/Q Σ_q Σ_l a_l·L_l(X_q w)
//! shared slack:     min_w ½‖w‖² + C/Q Σ_q max_l a_l·L_l(X_q w)        L_l: the structured hinge of measure l
//! ```
//!
//! Queries whose documents are all good or all bad say nothing and are skipped.

use super::svm_mrr::MrrMap;
use crate::card::Card;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::learners::margin::{self, LargeMargin, Margin, check_above_zero};
use crate::learners::{Fitted, Learner, Task};
use crate::losses::structured::{AucSearch, MapSearch, NdcgSearch, StructuredHinge};
use crate::losses::{Combined, QueryLoss};
use crate::metrics::Discount;
use crate::solvers::Bundle;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A linear large-margin ranker for several measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SvmCombo {
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
    /// The measures: `auc`, `map`, `mrr`, `ndcg`, the last two also with a cut such as `ndcg@10`.
    pub measures: Vec<String>,
    /// One weight, finite and at least 0, for each measure; none for 1 each.
    pub weights: Vec<f64>,
    /// `separate`: the losses of a query add up; `shared`: only the largest counts.
    pub slacks: Slacks,
    /// How MRR sees a ranking: `pair-order` (all goods against all bads) or `first-good` (bads ahead of the first good).
    pub mrr_map: MrrMap,
    /// What a place is worth in NDCG: `log2` (1/log₂(1 + rank)) or `letor` (1 at ranks 1 and 2, then 1/log₂(rank)).
    pub discount: Discount,
}

/// How the losses of one query come together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Slacks {
    /// They add up.
    Separate,
    /// The largest counts.
    Shared,
}

impl Default for SvmCombo {
    fn default() -> Self {
        SvmCombo {
            c: 1.0,
            gap: 1e-3,
            rounds: 2000,
            scale: true,
            threshold: 1.0,
            measures: ["auc", "map", "mrr", "ndcg"].map(String::from).to_vec(),
            weights: Vec::new(),
            slacks: Slacks::Separate,
            mrr_map: MrrMap::PairOrder,
            discount: Discount::Log2,
        }
    }
}

impl Learner for SvmCombo {
    const CARD: Card = Card {
        name: "svm-combo",
        title: "SVM-Combo",
        summary: "A linear model of large margin for several measures at once, solved to a certified gap.",
        citations: &["chakrabarti2008structured", "joachims2009cutting"],
    };

    fn check(&self) -> Result<()> {
        self.solver().check()?;
        check_above_zero("threshold", self.threshold.into())?;
        self.parts()?;
        if self.weights.iter().any(|w| !(*w >= 0.0 && w.is_finite())) {
            return Err(Error::parameter("weights must be finite and at least 0"));
        }
        if !self.weights.is_empty() && self.weights.iter().all(|w| *w == 0.0) {
            return Err(Error::parameter("weights are all 0; one at least must be above 0"));
        }
        Ok(())
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(margin::fit(self, task, watch))
    }
}

impl LargeMargin for SvmCombo {
    type Loss = Combined;

    fn loss(&self, _: &Dataset) -> Self::Loss {
        let parts = self.parts().expect("checked measures");
        Combined { parts, shared: self.slacks == Slacks::Shared }
    }

    fn solver(&self) -> Margin {
        let bundle = Bundle { c: self.c, gap: self.gap, rounds: self.rounds };
        Margin { bundle, scale: self.scale }
    }
}

impl SvmCombo {
    fn parts(&self) -> Result<Vec<(f64, Box<dyn QueryLoss>)>> {
        if self.measures.is_empty() {
            return Err(Error::parameter("measures is empty; it must name at least one measure"));
        }
        if !self.weights.is_empty() && self.weights.len() != self.measures.len() {
            return Err(Error::parameter(format!(
                "weights has {} values for {} measures",
                self.weights.len(),
                self.measures.len()
            )));
        }
        let weights = self.weights.iter().copied().chain(std::iter::repeat(1.0));
        self.measures.iter().zip(weights).map(|(name, weight)| Ok((weight, self.hinge(name)?))).collect()
    }

    fn hinge(&self, measure: &str) -> Result<Box<dyn QueryLoss>> {
        let threshold = self.threshold;
        let (name, cut) = measure.split_once('@').map_or((measure, None), |(name, k)| (name, Some(k)));
        let k = match cut {
            None => 0,
            Some(k) => k.parse().ok().filter(|k| *k > 0).ok_or_else(|| unknown(measure))?,
        };
        Ok(match (name, k) {
            ("auc", 0) => Box::new(StructuredHinge(AucSearch { threshold })),
            ("map", 0) => Box::new(StructuredHinge(MapSearch { threshold })),
            ("mrr", k) => self.mrr_map.hinge(threshold, k),
            ("ndcg", k) => Box::new(StructuredHinge(NdcgSearch { threshold, k, discount: self.discount })),
            _ => return Err(unknown(measure)),
        })
    }
}

fn unknown(measure: &str) -> Error {
    Error::parameter(format!(
        "`{measure}` in measures has no structured hinge; there are auc, map, mrr, mrr@k, ndcg and ndcg@k"
    ))
}
