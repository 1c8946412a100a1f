//! The experiment file: what to run, as TOML.
//!
//! ```toml
//! name = "ohsumed"
//! selection = "ndcg@10"                       # the metric to choose parameters by, on validation queries only
//! metrics = "ndcg@10,map,mrr@10"
//! preset = "letor"
//!
//! [[data]]
//! name = "ohsumed"
//! splits = ["S1.txt", "S2.txt", "S3.txt", "S4.txt", "S5.txt"]    # rotated: 3 to train, 1 to validate, 1 to test
//! normalize = "min-max"
//!
//! [[learner]]
//! name = "regression"
//! grid = { ridge = [1e-6, 1e-3, 1.0] }
//! ```
//!
//! Paths are relative to the directory of the file.

use crate::card;
use crate::data::ColumnRoles;
use crate::error::{Error, Place, Result};
use crate::recipe::Recipe;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use toml::Table;

/// The longest name, in bytes; directories allow 255.
const MAX_NAME: usize = 200;

/// The most splits to divide a data set into.
const MAX_SPLITS: usize = 10_000;

/// An experiment file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// A short name, for directories and headings.
    pub name: String,
    /// The heading of the report and the tables; the name when not given.
    #[serde(default)]
    pub title: String,
    /// What it is about.
    #[serde(default)]
    pub about: String,
    /// The seed of all random choices.
    #[serde(default = "one")]
    pub seed: u64,
    /// How often to run everything, each time with another seed.
    #[serde(default = "once")]
    pub repeats: usize,
    /// The metric by which parameters are chosen, on validation queries.
    #[serde(default = "default_selection")]
    pub selection: String,
    /// The metrics to report, separated by commas.
    #[serde(default = "default_metrics")]
    pub metrics: String,
    /// The conventions of the metrics: the name of a preset.
    #[serde(default = "default_preset")]
    pub preset: String,
    /// Conventions that differ from the preset, by name.
    #[serde(default)]
    pub conventions: BTreeMap<String, toml::Value>,
    /// The system to show wins and losses against; the best system when not given.
    #[serde(default)]
    pub baseline: Option<String>,
    /// Seconds after which training stops; the best model so far is used. Jobs that run at the same time share the
    /// machine, so use it with `one_at_a_time`. Results cut short by it are marked, since they depend on the clock.
    #[serde(default)]
    pub time_limit: Option<f64>,
    /// Run jobs one at a time, so that their times can be compared.
    #[serde(default)]
    pub one_at_a_time: bool,
    /// How settings are searched, for all learners alike.
    #[serde(default)]
    pub search: Search,
    /// The data sets.
    pub data: Vec<DataSpec>,
    /// The learners.
    #[serde(default, rename = "learner")]
    pub learners: Vec<LearnerSpec>,
    /// External systems, given by their scores.
    #[serde(default, rename = "external")]
    pub externals: Vec<ExternalSpec>,
    /// Expected figures.
    #[serde(default, rename = "expect")]
    pub expectations: Vec<ExpectSpec>,
}

/// How settings are searched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Search {
    /// All combinations, random draws, or successive halving of random draws.
    pub method: SearchMethod,
    /// Settings drawn, for `random` and `halving`.
    pub draws: usize,
    /// For `halving`: one in this many settings survives a round, and the next round uses this many times more
    /// queries; at least 2.
    pub keep_one_in: usize,
    /// For `halving`: the fraction of the training queries in the first round; above 0, at most 1.
    #[serde(alias = "first_share")]
    pub first_fraction: f64,
}

impl Default for Search {
    fn default() -> Self {
        Search { method: SearchMethod::Grid, draws: 20, keep_one_in: 3, first_fraction: 1.0 / 9.0 }
    }
}

/// A search method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchMethod {
    /// All combinations of the lists.
    Grid,
    /// Random draws from lists and ranges.
    Random,
    /// Successive halving: many settings on few queries, then the best of them on more.
    Halving,
}

/// A data set: splits to rotate, folds, files to divide, one train/valid/test split, or a synthetic set to divide.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataSpec {
    /// Its name in tables.
    pub name: String,
    /// Files to rotate, one per split: in each fold one is for testing, one for validation, and the others for
    /// training.
    #[serde(alias = "parts")]
    pub splits: Vec<PathBuf>,
    /// Folds with their files.
    pub folds: Vec<FoldSpec>,
    /// Files to divide by query into `k` splits, which are rotated.
    pub files: Vec<PathBuf>,
    /// A synthetic data set to divide in the same way.
    pub synth: Option<SynthSpec>,
    /// Number of splits to divide into; 5 when not given.
    pub k: Option<usize>,
    /// The training files.
    pub train: Vec<PathBuf>,
    /// The validation files, for early stopping and choosing parameters.
    pub valid: Vec<PathBuf>,
    /// The test files.
    pub test: Vec<PathBuf>,
    /// How to normalize features within each query, such as `min-max`.
    pub normalize: Option<String>,
    /// How to clean the data, such as `empty-queries`.
    pub clean: Option<String>,
    /// Allow rows of a query that are not consecutive.
    pub group: bool,
    /// The label column in CSV, TSV and Parquet: short for `columns.label`.
    pub label: Option<String>,
    /// The query id column in CSV, TSV and Parquet: short for `columns.query`.
    pub qid: Option<String>,
    /// The roles of the columns in CSV, TSV and Parquet.
    #[serde(default)]
    pub columns: ColumnRoles,
    /// Where the data comes from and where to put it, in a sentence: shown when a file is absent.
    pub source: Option<String>,
    /// The number of the first feature in LETOR text; detected when not given.
    pub first_id: Option<u32>,
    /// Most memory for empty columns and the zeros of dense rows, in GiB; 1 when not given.
    pub memory_limit: Option<f64>,
}

/// The files of one fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoldSpec {
    /// The training files.
    pub train: Vec<PathBuf>,
    /// The validation files, for early stopping and choosing parameters.
    #[serde(default)]
    pub valid: Vec<PathBuf>,
    /// The test files.
    pub test: Vec<PathBuf>,
}

/// A synthetic data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SynthSpec {
    /// The data set to resemble.
    pub shape: String,
    /// Queries.
    #[serde(default)]
    pub queries: Option<usize>,
    /// Documents per query, on average.
    #[serde(default)]
    pub documents: Option<usize>,
    /// Features.
    #[serde(default)]
    pub features: Option<usize>,
    /// The seed of the data.
    #[serde(default = "one")]
    pub seed: u64,
}

/// A learner with its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnerSpec {
    /// The learner's name.
    pub name: String,
    /// Its name in tables; the learner's name when not given.
    #[serde(default)]
    pub label: Option<String>,
    /// Fixed parameters.
    #[serde(default)]
    pub set: Table,
    /// Parameters to search: lists, or ranges such as `{ from = 1e-3, to = 1e3, log = true }`.
    #[serde(default)]
    pub grid: Table,
}

impl LearnerSpec {
    /// Its name in tables.
    pub fn label(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }
}

/// An external system: one score file per fold, with a score per test document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalSpec {
    /// Its name in tables.
    pub name: String,
    /// A description.
    #[serde(default)]
    pub title: String,
    /// The score files; `{data}` stands for the data set's name and `{fold}` for the fold, from 1.
    pub scores: String,
    /// A CSV file with columns `system`, `fold`, `search_seconds`, `train_seconds`; `{data}` as above.
    #[serde(default)]
    pub times: Option<String>,
}

/// An expected figure: a mean of the folds' means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectSpec {
    /// The data set's name; the first when not given.
    #[serde(default)]
    pub data: Option<String>,
    /// The system's name in tables.
    pub system: String,
    /// The metric.
    pub metric: String,
    /// The figure.
    pub value: f64,
    /// The largest allowed difference.
    pub within: f64,
    /// Where it comes from.
    #[serde(default)]
    pub source: String,
}

fn one() -> u64 {
    1
}

fn once() -> usize {
    1
}

fn default_selection() -> String {
    "ndcg@10".into()
}

fn default_metrics() -> String {
    "ndcg@10,map,mrr".into()
}

fn default_preset() -> String {
    "default".into()
}

impl Spec {
    /// Reads an experiment file and checks what can be checked without its data.
    pub fn load(path: &Path) -> Result<Spec> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))?;
        let mut spec = Spec::parse(&text, &path.display().to_string())?;
        spec.resolve(path.parent().unwrap_or(Path::new("")));
        Ok(spec)
    }

    /// Reads an experiment's text; `name` is for messages.
    pub fn parse(text: &str, name: &str) -> Result<Spec> {
        let spec: Spec = toml::from_str(text).map_err(|e| at_its_place(&e, text, name))?;
        spec.check().map_err(|e| at_its_key(&e, text, name))?;
        Ok(spec)
    }

    /// Makes paths relative to `directory`, unless they are absolute.
    fn resolve(&mut self, directory: &Path) {
        self.data.iter_mut().for_each(|data| data.each_path(|path| *path = directory.join(&*path)));
        let join = |path: &String| directory.join(path).to_string_lossy().into_owned();
        for external in &mut self.externals {
            external.scores = join(&external.scores);
            external.times = external.times.as_ref().map(join);
        }
    }

    /// The same experiment as TOML with absolute paths, for processes that run in another directory.
    pub(super) fn self_contained(&self) -> Result<String> {
        let here = std::env::current_dir().map_err(|e| Error::io("find", "the working directory", e))?;
        let mut spec = self.clone();
        spec.resolve(&here);
        toml::to_string(&spec).map_err(|e| Error::parameter(format!("the experiment cannot be sent: {e}")))
    }

    /// Whether the queries of all data sets can be pooled: there are several, and no two use the same file, whose
    /// queries would count twice.
    pub fn can_pool(&self) -> bool {
        let mut seen = BTreeSet::new();
        let mut new = |data: &DataSpec| {
            let mut files = BTreeSet::new();
            data.clone().each_path(|path| {
                files.insert(path.clone());
            });
            files.into_iter().all(|file| seen.insert(file))
        };
        self.data.len() > 1 && self.data.iter().all(&mut new)
    }

    /// Every system's name, learners first.
    pub fn systems(&self) -> Vec<String> {
        let learners = self.learners.iter().map(|l| l.label().to_owned());
        learners.chain(self.externals.iter().map(|e| e.name.clone())).collect()
    }

    fn check(&self) -> Result<()> {
        let range = |what: &str, good: bool, range: &str| {
            if good { Ok(()) } else { Err(Error::parameter(format!("`{what}` must be {range}"))) }
        };
        check_name(&self.name).map_err(|why| Error::parameter(format!("`name` {why}")))?;
        range("repeats", (1..=1000).contains(&self.repeats), "1 to 1000")?;
        range(
            "time_limit",
            self.time_limit.is_none_or(|s| s > 0.0 && s < 1e9),
            "seconds, above 0 and below 1e9",
        )?;
        range("search.draws", (1..=100_000).contains(&self.search.draws), "1 to 100000")?;
        range("search.keep_one_in", (2..=100).contains(&self.search.keep_one_in), "2 to 100")?;
        let fraction = self.search.first_fraction;
        range("search.first_fraction", fraction > 0.0 && fraction <= 1.0, "above 0 and at most 1")?;
        range("data", !self.data.is_empty(), "given: an experiment needs at least one [[data]]")?;
        let systems = self.systems();
        range("learner", !systems.is_empty(), "given: an experiment needs a [[learner]] or [[external]]")?;
        distinct("system", &systems)?;
        distinct("data set", &self.data.iter().map(|d| d.name.clone()).collect::<Vec<_>>())?;
        for learner in &self.learners {
            Recipe::new(&learner.name).set_all(learner.set.clone()).check()?;
        }
        self.data.iter().try_for_each(DataSpec::check)?;
        if !self.externals.is_empty() && self.data.iter().any(|d| d.group) {
            return Err(Error::parameter(
                "external scores are matched by row, so data with `group = true` cannot have any",
            ));
        }
        self.check_names(&systems)
    }

    /// Rejects a baseline or an expectation that names an unknown system or data set.
    fn check_names(&self, systems: &[String]) -> Result<()> {
        let known = |what: &str, name: &str, names: &[String]| match names.iter().any(|n| n == name) {
            true => Ok(()),
            false => Err(card::unknown(what, name, &names.iter().map(String::as_str).collect::<Vec<_>>())),
        };
        let data: Vec<String> = self.data.iter().map(|d| d.name.clone()).collect();
        for expected in &self.expectations {
            known("system in [[expect]]", &expected.system, systems)?;
            expected.data.iter().try_for_each(|name| known("data set in [[expect]]", name, &data))?;
        }
        self.baseline.iter().try_for_each(|name| known("baseline", name, systems))
    }
}

impl DataSpec {
    /// The roles of the columns, those of `label` and `qid` included.
    pub(super) fn column_roles(&self) -> ColumnRoles {
        let mut columns = self.columns.clone();
        columns.label = columns.label.or_else(|| self.label.clone());
        columns.query = columns.query.or_else(|| self.qid.clone());
        columns
    }

    fn each_path(&mut self, mut change: impl FnMut(&mut PathBuf)) {
        let lists = [&mut self.splits, &mut self.files, &mut self.train, &mut self.valid, &mut self.test];
        lists.into_iter().flatten().for_each(&mut change);
        for fold in &mut self.folds {
            [&mut fold.train, &mut fold.valid, &mut fold.test].into_iter().flatten().for_each(&mut change);
        }
    }

    /// The same, with the files' names without their directories.
    pub(super) fn without_directories(&self) -> DataSpec {
        let mut plain = self.clone();
        plain.each_path(|path| *path = path.file_name().map(PathBuf::from).unwrap_or_default());
        plain.source = None;
        plain
    }

    fn check(&self) -> Result<()> {
        let refuse = |why: &str| Err(Error::parameter(format!("data set `{}`: {why}", self.name)));
        if let Err(why) = check_name(&self.name) {
            return refuse(&format!("its `name` {why}"));
        }
        let split = !self.train.is_empty() || !self.valid.is_empty() || !self.test.is_empty();
        let ways = [
            !self.splits.is_empty(),
            !self.folds.is_empty(),
            !self.files.is_empty(),
            self.synth.is_some(),
            split,
        ];
        if ways.iter().filter(|w| **w).count() != 1 {
            return refuse("give one of `splits`, `folds`, `files`, `synth`, or `train`, `valid` and `test`");
        }
        if split && (self.train.is_empty() || self.test.is_empty()) {
            return refuse("`train` and `test` are both needed");
        }
        if !self.splits.is_empty() && self.splits.len() < 3 {
            return refuse("at least three `splits` are needed: for training, validation and testing");
        }
        if self.k.is_some() && self.files.is_empty() && self.synth.is_none() {
            return refuse("`k` is only used with `files` or `synth`");
        }
        if self.k.is_some_and(|k| !(3..=MAX_SPLITS).contains(&k)) {
            return refuse("`k` must be 3 to 10000");
        }
        if self.memory_limit.is_some_and(|limit| !(limit > 0.0 && limit <= 1e6)) {
            return refuse("`memory_limit` must be a number of GiB above 0 and up to 1e6");
        }
        Ok(())
    }
}

/// Whether a name can be that of a directory, anywhere; why not, in words.
fn check_name(name: &str) -> std::result::Result<(), &'static str> {
    match name {
        "" => Err("must be given"),
        "." | ".." => Err("is a directory that exists already; give another"),
        _ if name.contains(['/', '\\']) => Err("must not contain slashes, because it names a directory"),
        _ if name.contains(char::is_control) => Err("must be on one line and contain no control characters"),
        _ if name.len() > MAX_NAME => Err("is too long; 200 bytes are allowed"),
        _ => Ok(()),
    }
}

fn distinct(what: &str, names: &[String]) -> Result<()> {
    match names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        Some((_, name)) => Err(Error::parameter(format!("two {what}s are called `{name}`"))),
        None => Ok(()),
    }
}

/// The TOML reader's error with its line and column, and the nearest name for an unknown key.
fn at_its_place(error: &toml::de::Error, text: &str, name: &str) -> Error {
    let place = place_of(error.span().map_or(0, |s| s.start), text, name);
    let message = error.message();
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let sentence = match quoted.split_first() {
        Some((key, known)) if message.starts_with("unknown field") => {
            card::unknown("key", key, known).message().to_owned()
        }
        _ => message.to_owned(),
    };
    Error::parse(place, sentence)
}

/// The line and column of the byte `at`.
fn place_of(at: usize, text: &str, name: &str) -> Place {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() as u64 + 1;
    let column = (before.len() - before.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1)) as u64 + 1;
    Place { file: name.to_owned(), line, column }
}

/// An error of a value with the line and column of its key, the first that the message quotes. If it names a data set,
/// the key is looked for behind that name.
fn at_its_key(error: &Error, text: &str, name: &str) -> Error {
    let message = error.to_string();
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let in_data = message.starts_with("data set ") && quoted.len() > 1;
    let start = if in_data { text.find(&format!("\"{}\"", quoted[0])).unwrap_or(0) } else { 0 };
    let key = quoted.get(usize::from(in_data)).and_then(|key| key.rsplit('.').next());
    match key.and_then(|key| key_position(&text[start..], key)) {
        Some(at) => Error::parse(place_of(start + at, text, name), message),
        None => Error::parameter(format!("{name}: {message}")),
    }
}

/// Where `key =` stands in `text`.
fn key_position(text: &str, key: &str) -> Option<usize> {
    let is_key = |&(at, _): &(usize, &str)| {
        let before = text[..at].chars().next_back();
        let starts = before.is_none_or(|c| c.is_whitespace() || c == '{' || c == ',');
        starts && text[at + key.len()..].trim_start_matches(' ').starts_with('=')
    };
    text.match_indices(key).find(is_key).map(|(at, _)| at)
}

#[cfg(test)]
mod tests;
