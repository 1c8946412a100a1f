//! What an experiment found: all that its tables and its report are made from.
//!
//! Nothing here depends on the clock or on the number of threads: the same experiment ends with the same bytes.
//! Times are kept apart, in [`Times`].

use super::Comparison;
use super::significance::Interval;
use crate::metrics::Conventions;
use serde::{Deserialize, Serialize};

/// Everything an experiment found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// The experiment's name.
    pub name: String,
    /// A heading for people.
    pub title: String,
    /// What it is about, in a sentence or two; may be empty.
    pub about: String,
    /// The version of Rankwise that ran it.
    pub version: String,
    /// The seed of everything left to chance.
    pub seed: u64,
    /// How often everything was repeated with other seeds; 1 for once.
    pub repeats: usize,
    /// The measure by which parameters were chosen, on validation queries only.
    pub selection: String,
    /// All measures, by name; the first [`shown`](Findings::shown) are those asked for, the rest serve the curves.
    pub metrics: Vec<String>,
    /// How many of the measures were asked for.
    pub shown: usize,
    /// The preset named in the experiment.
    pub preset: String,
    /// The conventions of the measures.
    pub conventions: Conventions,
    /// The system that others are compared with, by number; the best by the selection measure unless one is named.
    pub baseline: usize,
    /// The systems, in the order of the experiment: learners first, then external ones.
    pub systems: Vec<SystemInfo>,
    /// One entry per data set.
    pub data: Vec<DataFindings>,
    /// All data sets taken together, each query counting once: the microaverage. None with a single data set, or where two share a file.
    pub pooled: Option<Standing>,
    /// Figures that were expected, and whether they came.
    pub expectations: Vec<Expectation>,
    /// Jobs that failed, a sentence each.
    pub failures: Vec<String>,
}

impl Findings {
    /// Whether any parameter was chosen, on validation queries.
    pub fn has_choices(&self) -> bool {
        self.data.iter().flat_map(|d| &d.systems).any(|s| !s.trials.is_empty())
    }
}

/// One system: a learner with its settings, or scores from elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemInfo {
    /// What tables call it; no two alike.
    pub name: String,
    /// The learner's name; none for scores from elsewhere.
    pub learner: Option<String>,
    /// The learner's title, or what the experiment says of the scores.
    pub title: String,
}

/// What was found on one data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataFindings {
    /// The data set's name in the experiment.
    pub name: String,
    /// What is in it, after cleaning.
    pub summary: DataSummary,
    /// Number of folds.
    pub folds: usize,
    /// The test queries of all folds, fold after fold.
    pub query_ids: Vec<String>,
    /// The fold of each of them, from 0.
    pub query_folds: Vec<usize>,
    /// Means, intervals and comparisons of the systems.
    pub standing: Standing,
    /// What each system did, in the order of [`Findings::systems`].
    pub systems: Vec<SystemFindings>,
}

/// What is in a data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataSummary {
    /// Queries, over all parts.
    pub queries: usize,
    /// Documents, over all parts.
    pub documents: usize,
    /// Feature columns.
    pub features: usize,
    /// Every grade with its number of documents, ascending.
    pub grades: Vec<(f32, usize)>,
    /// Least, median and greatest number of documents of a query.
    pub documents_per_query: (usize, f64, usize),
    /// Queries without a document of grade 1 or more.
    pub queries_without_relevant: usize,
    /// How it was scaled and cleaned, and what went, a sentence each.
    pub preparation: Vec<String>,
}

/// Systems beside each other on the same queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Queries they stand on.
    pub queries: usize,
    /// `means[system][metric]`, over queries; none where a system failed or the measure skips every query.
    pub means: Vec<Vec<Option<f64>>>,
    /// The same as the mean of the folds' means, as papers print it.
    pub fold_means: Vec<Vec<Option<f64>>>,
    /// `intervals[system]` of the selection measure's mean; none where the system failed.
    pub intervals: Vec<Option<Interval>>,
    /// Systems that did not fail, best first by the selection measure.
    pub order: Vec<usize>,
    /// Every other system against the best, by the selection measure; numbers count in `order`.
    pub against_best: Option<Comparison>,
    /// All pairs, by the selection measure; numbers count in `order`.
    pub all_pairs: Option<Comparison>,
}

/// What one system did on one data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemFindings {
    /// `values[metric][query]` on the test queries, the mean over repeats; none where skipped or failed.
    pub values: Vec<Vec<Option<f64>>>,
    /// What was chosen for each fold and repeat.
    pub chosen: Vec<Chosen>,
    /// Every setting that was tried.
    pub trials: Vec<Trial>,
    /// How training went, where the learner told.
    pub curves: Vec<Curve>,
    /// The test queries it did worst on, the worst first, at most ten.
    pub worst: Vec<WorstQuery>,
    /// Whether a time limit cut training short in any fold: such results depend on the clock.
    pub cut_short: bool,
}

/// Parameters chosen on the validation queries of one fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    /// The fold, from 0.
    pub fold: usize,
    /// The repeat, from 0.
    pub repeat: usize,
    /// All parameters, defaults included.
    pub parameters: toml::Table,
    /// The selection measure on the validation queries; none without any.
    pub valid: Option<f64>,
}

/// One setting tried in a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The fold, from 0.
    pub fold: usize,
    /// The repeat, from 0.
    pub repeat: usize,
    /// The parameters that the search varies.
    pub parameters: toml::Table,
    /// The share of the training queries used: 1, or less in successive halving.
    pub share: f64,
    /// The selection measure on the validation queries; none where training failed.
    pub valid: Option<f64>,
}

/// The progress of one training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The fold, from 0.
    pub fold: usize,
    /// The repeat, from 0.
    pub repeat: usize,
    /// What the values are.
    pub what: String,
    /// `(step, value)`.
    pub points: Vec<(u64, f64)>,
}

/// A query that a system did badly on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorstQuery {
    /// Its number in [`DataFindings::query_ids`].
    pub query: usize,
    /// The selection measure.
    pub value: f64,
    /// The first documents as the system ranked them, at most ten.
    pub top: Vec<RankedDocument>,
    /// The highest grades of the query, descending, as many as there are in `top`.
    pub best_grades: Vec<f32>,
}

/// A document in a ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankedDocument {
    /// Its id, or its number in the query, from 1.
    pub id: String,
    /// Its grade.
    pub grade: f32,
    /// Its score.
    pub score: f64,
}

/// A figure that was expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// The data set's name.
    pub data: String,
    /// The system's name.
    pub system: String,
    /// The measure.
    pub metric: String,
    /// What was expected of the mean of the folds' means.
    pub value: f64,
    /// How far off it may be.
    pub within: f64,
    /// Where the figure comes from; may be empty.
    pub source: String,
    /// What came; none where the system failed.
    pub found: Option<f64>,
    /// Whether it came within the limits.
    pub met: bool,
}

/// How long things took and how much memory they needed: different in every run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// One entry per data set and system, in the order of the experiment.
    pub systems: Vec<SystemTimes>,
    /// Threads used.
    pub threads: usize,
    /// Whether jobs ran one after another, so that their times can be compared.
    pub one_at_a_time: bool,
    /// The most memory the process held, in bytes, where the system tells.
    pub peak_bytes: Option<u64>,
}

/// How long one system took on one data set, summed over folds and repeats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemTimes {
    /// The data set's name.
    pub data: String,
    /// The system's name.
    pub system: String,
    /// Seconds of all trials of the search.
    pub search_seconds: f64,
    /// Seconds of training the chosen settings; none for scores from elsewhere that do not tell.
    pub train_seconds: Option<f64>,
    /// Seconds of scoring the test queries; none for scores from elsewhere.
    pub score_seconds: Option<f64>,
}
