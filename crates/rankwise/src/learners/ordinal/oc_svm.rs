//! OC-SVM: ordinal regression with parallel hyperplanes and a fixed margin (Shashua and Levin, NIPS 2002).
//!
//! ```text
//! min_{w, b_1 ≤ … ≤ b_{l−1}} ½‖w‖² + C Σ_r ( Σ_{i below b_r} v_i [1 + w·x_i − b_r]₊ + Σ_{i above b_r} v_i [1 − w·x_i + b_r]₊ ) / Σ v_i
//! ```
//!
//! `v_i` is the weight of the document's query. Balanced, it is divided by the fraction of documents with the
//! same grade, so that all grades have the same total weight. Unbalanced, as published, the optimum is often
//! `w = 0` and the most frequent grade for all documents if few are relevant: the hinge gains nothing where a
//! rare grade is more likely than elsewhere but still less likely than the frequent one. With explicit
//! constraints, a threshold counts the documents of its two adjacent grades; with implicit ones (Chu and
//! Keerthi, 2007) it counts all documents. The thresholds are minimised out exactly, which leaves a convex
//! risk in `w` for the cutting planes. The predicted grade of a document is the first whose threshold is
//! above its score.

use super::grading::Grading;
use crate::card::Card;
use crate::error::Result;
use crate::learners::scorers::certified_record;
use crate::learners::{Fitted, Learner, LinearParameters, Task};
use crate::losses::{ThresholdConstraints, ThresholdHinge};
use crate::models::{Model, OrdinalModel};
use crate::solvers::{Bundle, FeatureUnits, ThresholdRisk};
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A linear max-margin model of grades.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OcSvm {
    /// Documents that a threshold separates: `explicit` (those of its two adjacent grades) or `implicit` (all).
    pub constraints: ThresholdConstraints,
    /// Whether all grades have the same total weight, however many documents they have; false as published.
    pub balance: bool,
    /// How the weights are optimised; the mean loss is per document.
    #[serde(flatten)]
    pub linear: LinearParameters,
}

impl Default for OcSvm {
    fn default() -> Self {
        let constraints = ThresholdConstraints::Explicit;
        OcSvm { constraints, balance: true, linear: LinearParameters::default() }
    }
}

impl Learner for OcSvm {
    const CARD: Card = Card {
        name: "oc-svm",
        title: "OC-SVM",
        summary: "Max-margin ordinal regression: thresholds on a linear score separate adjacent grades. Also \
                  predicts the grade.",
        citations: &["shashua2002ranking", "chu2007support", "joachims2009cutting"],
    };

    const DISTRIBUTES: bool = true;

    fn check(&self) -> Result<()> {
        self.linear.check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        let data = task.train;
        let grading = Grading::of(data, Self::CARD.name)?;
        let weights = if self.balance { grading.balanced_weights() } else { grading.weights.clone() };
        let hinge = ThresholdHinge::new(data, grading.ranks.clone(), weights, self.constraints);
        let units = if self.linear.scale { FeatureUnits::deviations(data) } else { FeatureUnits::default() };
        let risk = ThresholdRisk::new(data, units, hinge);
        let &LinearParameters { c, iterations: rounds, tolerance: gap, .. } = &self.linear;
        let fit = Bundle { c, gap, rounds }.minimize(&risk, watch);
        let mut record = certified_record(&fit, &self.linear, watch.stop());
        let (weights, thresholds) = risk.in_data_units(&fit.weights);
        let model = Model::Ordinal(OrdinalModel { weights, thresholds, grades: grading.grades.clone() });
        if grading.grades.len() == 1 {
            // The note below explains more than the one about queries without preferences.
            record.notes.clear();
        }
        grading.tell(&model, data, &mut record)?;
        Ok(Fitted { model, record })
    }
}
