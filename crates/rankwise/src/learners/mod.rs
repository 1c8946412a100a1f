//! The algorithms: everything that has a paper and parameters, by family.
//!
//! A learner is one file with one plain parameter struct. It is listed once, in [`LEARNERS`]; the command line,
//! the help, the tables and the tests that walk the list pick it up from there.

pub mod direct;

use crate::card::{self, Card};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::metrics::Metric;
use crate::models::Model;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What is to be learned, and from what.
pub struct Task<'a> {
    /// The queries to learn from.
    pub train: &'a Dataset,
    /// Queries to choose by, where a learner stops early or chooses among several results.
    pub valid: Option<&'a Dataset>,
    /// The measure to choose by, and to optimise where the learner can.
    pub metric: &'a dyn Metric,
    /// The seed of all random choices.
    pub seed: u64,
}

/// A learned model and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// What was learned.
    pub model: Model,
    /// How it went.
    pub record: Record,
}

/// How training went; kept in the model's file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Why it ended: `converged`, `rounds used up`, `interrupted`.
    pub outcome: String,
    /// Rounds or iterations done.
    pub rounds: u64,
    /// Named figures: the objective's value, a duality gap, the measure on training queries.
    pub figures: Vec<(String, f64)>,
    /// Things a careful user should know: queries skipped, features ignored.
    pub notes: Vec<String>,
}

/// An algorithm: its parameters are the struct itself.
///
/// One doc line per field says its meaning and range; [`check`](Learner::check) enforces the range.
pub trait Learner: Default + Serialize + DeserializeOwned + JsonSchema {
    /// Name, title, meaning and source.
    const CARD: Card;

    /// Refuses parameters that are out of range.
    fn check(&self) -> Result<()>;

    /// Learns. Called with checked parameters and data that has documents and features.
    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted>;
}
