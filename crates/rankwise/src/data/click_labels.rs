//! Labels that were made from clicks.

use super::Dataset;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// How the labels of a data set were made from clicks.
///
/// Each label then estimates how often users who look at a document click on it. It is a weight and not a grade: a
/// document with the label 2 is not better than one with the label 1 in every session, it only received more clicks.
/// Learners treat each label as that many examples in which the document is the only relevant one, and metrics do the
/// same.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClickLabels {
    /// The propensity of each rank, from 1, by which clicks were divided; empty if they were taken as they are.
    pub propensities: Vec<f64>,
    /// How the propensities were estimated; empty if there are none.
    pub method: String,
    /// The smallest propensity that clicks were divided by.
    pub clip: f64,
    /// Whether a model filled in for what was looked at less than that (doubly robust labels).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub doubly_robust: bool,
}

impl Dataset {
    /// Marks the labels as made from clicks. Fails if one is negative.
    ///
    /// ```
    /// use rankwise::data::{ClickLabels, Dataset};
    /// let data = Dataset::dense(vec![0.5, 1.5], 1, vec![0.25, 0.0], &[2])?;
    /// let data = data.with_click_labels(ClickLabels::default())?;
    /// assert!(data.click_labels().is_some());
    /// # Ok::<(), rankwise::Error>(())
    /// ```
    pub fn with_click_labels(self, clicks: ClickLabels) -> Result<Dataset> {
        match self.labels().iter().position(|label| *label < 0.0) {
            None => self.with(|parts| parts.clicks = Some(clicks)),
            Some(i) => Err(Error::data(format!(
                "the label of document {} is {}; labels made from clicks are not negative",
                i + 1,
                self.labels()[i]
            ))),
        }
    }

    /// How the labels were made from clicks; `None` if they are judgments.
    pub fn click_labels(&self) -> Option<&ClickLabels> {
        self.parts().clicks.as_ref()
    }
}
