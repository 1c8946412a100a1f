//! How a model came about.

use serde::{Deserialize, Serialize};

/// How training went. It is saved with the model and is the same for every run of one command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Why training ended.
    pub outcome: Outcome,
    /// Rounds or iterations done.
    pub rounds: u64,
    /// Named figures: the objective's value, a duality gap, the metric on training queries.
    pub figures: Vec<(String, f64)>,
    /// What a careful user should know: queries skipped, features ignored.
    pub notes: Vec<String>,
}

/// Why training ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The learner's own criterion was met.
    #[default]
    Converged,
    /// Validation queries showed no further progress.
    StoppedEarly,
    /// All iterations allowed were used.
    RoundsUsedUp,
    /// Someone asked it to stop; the model is the best so far.
    Interrupted,
}

impl Record {
    /// Why training ended and when, in words: `stopped early after 85 iterations`.
    pub fn ending(&self) -> String {
        let iterations = match self.rounds {
            1 => "1 iteration".to_owned(),
            rounds => format!("{rounds} iterations"),
        };
        match self.outcome {
            Outcome::Converged => format!("converged after {iterations}"),
            Outcome::StoppedEarly => format!("stopped early after {iterations}"),
            Outcome::RoundsUsedUp => format!("used all {iterations}"),
            Outcome::Interrupted => format!("interrupted after {iterations}"),
        }
    }
}

impl Outcome {
    /// In words, for tables.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Outcome::Converged => "converged",
            Outcome::StoppedEarly => "stopped early",
            Outcome::RoundsUsedUp => "used all iterations",
            Outcome::Interrupted => "interrupted",
        }
    }
}
