//! The relevance threshold of a learner, where the labels are not the grades that its default is made for.

use super::Trainer;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::metrics::Conventions;
use std::sync::Arc;
use toml::Value;

/// The parameter with the smallest label of a relevant document.
const THRESHOLD: &str = "threshold";

impl Trainer {
    /// The trainer for these labels, and a note where it differs.
    ///
    /// If no training query has both relevant and non-relevant documents under the default threshold, the threshold
    /// becomes [`separating_threshold`](crate::data::separating_threshold). If another threshold was asked for, or none is possible, that is an error.
    pub(super) fn for_labels(&self, train: &Dataset) -> Result<(Trainer, Option<String>)> {
        let unchanged = || Ok((self.clone(), None));
        let Some(threshold) = self.parameters().get(THRESHOLD).and_then(Value::as_float) else {
            return unchanged();
        };
        // The labels of a click are 0 and 1, whatever its weight.
        if train.click_labels().is_some() || self.has_signal(train)? || !labels_differ(train) {
            return unchanged();
        }
        let name = &self.learner.name;
        let Some(chosen) = train.separating_threshold(|query| query.weight() > 0.0) else {
            return Err(Error::data(format!(
                "{name} needs relevant documents, whose labels are above 0, and non-relevant ones in the same query; \
                 no training query has both, so add a constant to the labels or use another learner"
            )));
        };
        let Some(changed) = self.with_parameter(THRESHOLD, f64::from(chosen)).transpose()? else {
            return unchanged();
        };
        // With some losses the threshold plays no part.
        if !changed.has_signal(train)? {
            return unchanged();
        }
        if threshold != f64::from(Conventions::default().threshold) {
            return Err(Error::data(format!(
                "no training query has documents with labels both from {THRESHOLD} {threshold} on and below; a \
                 {THRESHOLD} of {chosen} separates the most pairs"
            )));
        }
        let note = format!(
            "no training query has documents with labels both from {threshold} on and below, so documents count as \
             relevant from label {chosen} on, which separates the most pairs; set {THRESHOLD} to choose another"
        );
        Ok((changed, Some(note)))
    }

    /// Whether a training query contributes to the loss; true for learners that are no loss.
    pub(super) fn has_signal(&self, train: &Dataset) -> Result<bool> {
        let Some(loss) = self.loss(train)? else { return Ok(true) };
        let loss = loss.into_loss();
        Ok(train.any(|| weighted(train).any(|labels| loss.has_signal(labels))))
    }

    fn with_parameter(&self, name: &str, value: f64) -> Option<Result<Trainer>> {
        let configured = self.configured.with(name, value.into())?;
        Some(configured.map(|configured| Trainer { configured: Arc::new(configured), ..self.clone() }))
    }
}

/// The labels of the queries that count, of this worker.
pub(super) fn weighted(train: &Dataset) -> impl Iterator<Item = &[f32]> {
    train.queries().filter(|query| query.weight() > 0.0).map(|query| query.labels())
}

/// Whether documents of a training query have different labels.
pub(super) fn labels_differ(train: &Dataset) -> bool {
    train.any(|| weighted(train).any(|labels| labels.iter().any(|label| *label != labels[0])))
}
