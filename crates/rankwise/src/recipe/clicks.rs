//! Learners that labels made from clicks are for.

use super::Trainer;
use crate::data::Dataset;
use crate::error::{Error, Result};
use toml::Value;

/// The parameter of a learner that learns the bias of positions.
const POSITION_BIAS: &str = "position_bias";

impl Trainer {
    /// Whether the learner looks at the position of each click itself, so that its queries are sessions.
    pub fn sees_positions(&self) -> bool {
        let bias = self.parameters().get(POSITION_BIAS).and_then(Value::as_str);
        bias.is_some_and(|kind| kind != "none")
    }

    /// What values of the metric are, if labels are clicks.
    pub(super) fn click_note(&self, train: &Dataset, valid: Option<&Dataset>) -> Option<String> {
        let on =
            match (train.click_labels().is_some(), valid.is_some_and(|data| data.click_labels().is_some())) {
                (false, false) => return None,
                (true, false) => "training",
                (false, true) => "validation",
                (true, true) => "training and validation",
            };
        Some(format!(
            "the {on} labels are clicks: {} there is a sum over weighted clicks, as if each were the only relevant document, \
             and may exceed 1",
            self.metric.name()
        ))
    }

    /// Rejects a learner for which labels are grades if they are weighted clicks.
    pub(super) fn check_clicks(&self, train: &Dataset) -> Result<()> {
        if train.click_labels().is_none() || self.configured.takes_clicks {
            return Ok(());
        }
        let name = &self.learner.name;
        Err(Error::parameter(match self.scorer() {
            Some(kind) => format!(
                "{name} with scorer {} is fitted in a way of its own, for grades, and the labels are weighted clicks; use \
                 scorer trees or network, or another learner, such as list-net",
                kind.name()
            ),
            None => format!(
                "{name} learns from grades, and the labels are weighted clicks; use a learner that is a loss of scores, such \
                 as list-net, rank-svm or lambda-mart"
            ),
        }))
    }
}
