//! What an experiment found: everything that its tables and its report show.
//!
//! Nothing here depends on the clock or on the number of threads: the same experiment gives the same bytes.
//! Times are kept separately, in [`Times`].

use super::Comparison;
use super::values::{PerQuery, SystemMeans};
use crate::metrics::Conventions;
use crate::significance::ConfidenceInterval;
use serde::{Deserialize, Serialize};

/// Everything an experiment found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// The experiment's name.
    pub name: String,
    /// The heading of the report and the tables.
    pub title: String,
    /// What it is about, in a sentence or two; may be empty.
    pub about: String,
    /// The version of Rankwise that ran it.
    pub version: String,
    /// The seed of all random choices.
    pub seed: u64,
    /// How often everything was run, each time with another seed.
    pub repeats: usize,
    /// The metric by which parameters were chosen, on validation queries only.
    pub selection: String,
    /// All metrics, by name. The first [`shown`](Findings::shown) are those asked for; the others are for the curves.
    pub metrics: Vec<String>,
    /// How many of the metrics were asked for.
    pub shown: usize,
    /// The preset named in the experiment.
    pub preset: String,
    /// The conventions of the metrics.
    pub conventions: Conventions,
    /// The system that the others are compared with, by number: the one named in the experiment, or the best by the
    /// selection metric.
    pub baseline: usize,
    /// The systems, in the order of the experiment: learners first, then external ones.
    pub systems: Vec<SystemInfo>,
    /// One entry per data set.
    pub data: Vec<DataFindings>,
    /// All data sets together, each query counting once: the microaverage. None with a single data set, or where two
    /// data sets share a file.
    pub pooled: Option<Standing>,
    /// Expected figures, and whether they were reached.
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

/// One system: a learner with its settings, or external scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemInfo {
    /// Its unique name in tables.
    pub name: String,
    /// The learner's name; none for external scores.
    pub learner: Option<String>,
    /// The learner's title, or the description of the scores in the experiment.
    pub title: String,
}

/// What was found on one data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataFindings {
    /// The data set's name in the experiment.
    pub name: String,
    /// Its size and labels, after cleaning.
    pub summary: DataSummary,
    /// Number of folds.
    pub folds: usize,
    /// The test queries of all folds, fold after fold.
    pub query_ids: Vec<String>,
    /// The fold of each of them, from 0.
    pub query_folds: Vec<usize>,
    /// The weight of each of them, where the data has query weights. All means are weighted by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_weights: Option<Vec<f64>>,
    /// Means, confidence intervals and comparisons of the systems.
    pub standing: Standing,
    /// The results of each system, in the order of [`Findings::systems`].
    pub systems: Vec<SystemFindings>,
}

/// The size and the labels of a data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataSummary {
    /// Queries, over all splits.
    pub queries: usize,
    /// Documents, over all splits.
    pub documents: usize,
    /// Feature columns.
    pub features: usize,
    /// Every label with its number of documents, ascending. Many labels are in bins, each with its lower end.
    pub grades: Vec<(f32, usize)>,
    /// Whether the labels are in bins.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub binned: bool,
    /// Smallest, median and largest number of documents per query.
    pub documents_per_query: (usize, f64, usize),
    /// Queries without a document with a label of 1 or more.
    pub queries_without_relevant: usize,
    /// How it was normalized and cleaned, and how much was removed, a sentence each.
    pub preparation: Vec<String>,
    /// What the reader noticed in the files, a sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// Systems side by side on the same queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Number of queries.
    pub queries: usize,
    /// Means over queries, weighted where queries have weights.
    pub means: SystemMeans,
    /// Means of the folds' means, as papers report them.
    pub fold_means: SystemMeans,
    /// For each system, the 95 % confidence interval of the selection metric's mean; none where the system failed.
    pub intervals: Vec<Option<ConfidenceInterval>>,
    /// Systems that did not fail, best first by the selection metric.
    pub order: Vec<usize>,
    /// All pairs, by the selection metric; systems are numbered by their place in `order`, so pairs `against` 0 are
    /// those with the best. Every p shown anywhere is from here, with Holm's correction for all pairs.
    pub all_pairs: Option<Comparison>,
}

/// The results of one system on one data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemFindings {
    /// The values on the test queries, each the mean over repeats.
    pub values: PerQuery,
    /// The parameters chosen for each fold and repeat.
    pub chosen: Vec<Chosen>,
    /// Every setting that was tried.
    pub trials: Vec<Trial>,
    /// Training curves, for learners that report progress.
    pub curves: Vec<Curve>,
    /// The test queries with the lowest values, lowest first, at most ten; without those for which the selection metric
    /// is undefined, which have no relevant documents.
    pub worst: Vec<WorstQuery>,
    /// Whether a time limit cut training short in any fold. Such results depend on the clock.
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
    /// The selection metric on the validation queries; none where there are no validation queries.
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
    /// The fraction of the training queries used: 1, or less in successive halving.
    #[serde(alias = "share")]
    pub fraction: f64,
    /// The selection metric on the validation queries; none where training failed.
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

/// A test query on which a system did badly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorstQuery {
    /// Its number in [`DataFindings::query_ids`].
    pub query: usize,
    /// The selection metric.
    pub value: f64,
    /// The documents that the system ranked first, at most ten.
    pub top: Vec<RankedDocument>,
    /// The highest labels of the query, descending, as many as there are documents in `top`.
    pub best_grades: Vec<f32>,
}

/// A document in a ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankedDocument {
    /// Its id, or its number in the query, from 1.
    pub id: String,
    /// Its label.
    pub grade: f32,
    /// Its score.
    pub score: f64,
}

/// An expected figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// The data set's name.
    pub data: String,
    /// The system's name.
    pub system: String,
    /// The metric.
    pub metric: String,
    /// The expected mean of the folds' means.
    pub value: f64,
    /// The largest allowed difference.
    pub within: f64,
    /// Where the figure comes from; may be empty.
    pub source: String,
    /// The mean found; none where the system failed.
    pub found: Option<f64>,
    /// Whether the difference is allowed.
    pub met: bool,
}

/// Seconds and memory; different in every run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// One entry per data set and system, in the order of the experiment.
    pub systems: Vec<SystemTimes>,
    /// Threads used.
    pub threads: usize,
    /// Whether jobs ran one at a time, so that their times can be compared.
    pub one_at_a_time: bool,
    /// The peak memory of the process in bytes, where the operating system reports it.
    pub peak_bytes: Option<u64>,
}

/// The seconds of one system on one data set, summed over folds and repeats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemTimes {
    /// The data set's name.
    pub data: String,
    /// The system's name.
    pub system: String,
    /// Seconds of all trials of the search.
    pub search_seconds: f64,
    /// Seconds of training with the chosen settings; none for external scores without times.
    pub train_seconds: Option<f64>,
    /// Seconds of scoring the test queries; none for external scores.
    pub score_seconds: Option<f64>,
}
