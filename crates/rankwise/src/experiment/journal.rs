//! The journal: every finished job is written to disk at once, so that a killed run can be resumed.
//!
//! One JSON object per line, whose last field is a checksum of the rest of the line. The first line identifies the
//! experiment. An incomplete last line is dropped. Any other line that is not as it was written is refused with its
//! number, and the file stays as it is, so that no other finished job is lost.

use super::findings::{Curve, WorstQuery};
use super::values::PerQuery;
use crate::error::{Error, Result};
use crate::metrics::{Metric, value_range};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use xxhash_rust::xxh3::Xxh3;

/// The version of the format. Version 1 had no checksums; it was only read by the build that wrote it.
const VERSION: u32 = 2;

/// What precedes the 16 digits of the checksum, and what follows them.
const SEAL: (&[u8], &[u8]) = (b",\"checksum\":\"xxh3:", b"\"}");
const DIGITS: usize = 16;

/// Rounding may lift a value this far above the greatest that its metric can have.
const ROUNDING: f64 = 1e-9;

/// The result of a finished job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum JobResult {
    /// A setting was tried.
    Trial(TrialResult),
    /// The chosen setting was trained and tested.
    Test(TestResult),
}

impl JobResult {
    /// The selection metric on the validation queries.
    pub(super) fn valid(&self) -> Option<f64> {
        match self {
            JobResult::Trial(tried) => tried.valid,
            JobResult::Test(tested) => tested.valid,
        }
    }

    /// The result of a trial.
    pub(super) fn trial(self) -> Result<TrialResult> {
        match self {
            JobResult::Trial(tried) => Ok(tried),
            JobResult::Test(_) => Err(Error::data("this is the result of a test, not of a trial")),
        }
    }

    /// The result of a test.
    pub(super) fn test(self) -> Result<TestResult> {
        match self {
            JobResult::Test(tested) => Ok(tested),
            JobResult::Trial(_) => Err(Error::data("this is the result of a trial, not of a test")),
        }
    }
}

/// How a setting did on the validation queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TrialResult {
    /// The selection metric; none where it skips every query, or there are no validation queries.
    pub(super) valid: Option<f64>,
    pub(super) seconds: f64,
    pub(super) cut_short: bool,
    /// The metric on each fold and the iteration kept there, in tuning by cross-validation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) folds: Vec<FoldResult>,
}

/// How a setting did on the held-out queries of one fold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct FoldResult {
    /// The selection metric; none where it skips every query.
    pub(super) valid: Option<f64>,
    /// The iteration that early stopping kept, where the learner stops early.
    pub(super) best_iteration: Option<f64>,
}

/// How a chosen setting did on the test queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TestResult {
    pub(super) values: PerQuery,
    /// The queries with the lowest values, lowest first; numbered within the fold.
    pub(super) worst: Vec<WorstQuery>,
    pub(super) curve: Option<Curve>,
    pub(super) valid: Option<f64>,
    pub(super) cut_short: bool,
    /// The checksum of the model's file, where it was kept.
    #[serde(default)]
    pub(super) model: Option<String>,
    /// How many threads worked, and whether on this job alone: whether its times can be compared.
    pub(super) threads: usize,
    pub(super) alone: bool,
    pub(super) train_seconds: f64,
    pub(super) score_seconds: f64,
}

#[derive(Serialize, Deserialize)]
struct Head {
    rankwise_journal: u32,
    experiment: String,
}

#[derive(Serialize, Deserialize)]
struct Line {
    job: String,
    finished: JobResult,
}

/// The jobs finished before, and a file that takes those finished now.
pub(super) struct Journal {
    path: PathBuf,
    experiment: String,
    before: HashMap<String, Entry>,
    file: Mutex<File>,
}

/// A finished job and the line it is on, from 1.
struct Entry {
    line: usize,
    finished: JobResult,
}

/// What the values of a fold's jobs must look like.
pub(super) struct ValidValues<'a> {
    pub(super) metrics: &'a [Box<dyn Metric>],
    /// Which of the metrics parameters are chosen by.
    pub(super) selection: usize,
    /// Test queries of the fold.
    pub(super) queries: usize,
}

impl Journal {
    /// Opens the journal at `path` to continue it, or creates one. `experiment` is a fingerprint of everything that
    /// all jobs depend on; a journal with another fingerprint is rejected. With `fresh`, the journal is emptied first,
    /// unless another run is writing to it.
    pub(super) fn open(path: &Path, experiment: &str, fresh: bool) -> Result<Journal> {
        let refused = |e| Error::io("use the journal", path, e);
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path).map_err(refused)?;
        if file.try_lock().is_err() {
            return Err(Error::data(format!("{} is in use: another run is writing to it", path.display())));
        }
        if fresh {
            file.set_len(0).map_err(refused)?;
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(refused)?;
        let complete = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        let before = read(&bytes[..complete], path, experiment)?;
        file.set_len(complete as u64).map_err(refused)?;
        if complete == 0 {
            let head = Head { rankwise_journal: VERSION, experiment: experiment.to_owned() };
            put(&mut file, experiment, &head).map_err(refused)?;
        }
        Ok(Journal {
            path: path.to_owned(),
            experiment: experiment.to_owned(),
            before,
            file: Mutex::new(file),
        })
    }

    /// The result of a job that tries a setting, if it finished in an earlier run.
    pub(super) fn trial(&self, job: &str, values: &ValidValues<'_>) -> Result<Option<&TrialResult>> {
        let Some(Entry { line, finished }) = self.before.get(job) else { return Ok(None) };
        let refused = |why: &str| refused_line(&self.path, *line, why);
        let JobResult::Trial(result) = finished else {
            return Err(refused("this line is not the result of a trial"));
        };
        values.check_selection(result.valid).map_err(|why| refused(&why))?;
        Ok(Some(result))
    }

    /// The result of a job that tests a setting, if it finished in an earlier run.
    pub(super) fn test(&self, job: &str, values: &ValidValues<'_>) -> Result<Option<&TestResult>> {
        let Some(Entry { line, finished }) = self.before.get(job) else { return Ok(None) };
        let refused = |why: &str| refused_line(&self.path, *line, why);
        let JobResult::Test(result) = finished else {
            return Err(refused("this line is not the result of a test"));
        };
        values.check_test(result).map_err(|why| refused(&why))?;
        Ok(Some(result))
    }

    /// Writes the result of a finished job to disk. A later result of the same job replaces an earlier one.
    pub(super) fn add(&self, job: &str, finished: &JobResult) -> Result<()> {
        let line = Line { job: job.to_owned(), finished: finished.clone() };
        let mut file = self.file.lock().unwrap_or_else(|e| e.into_inner());
        put(&mut file, &self.experiment, &line).map_err(|e| Error::io("add to the journal", &self.path, e))
    }
}

impl ValidValues<'_> {
    /// Whether there is a possible value for every metric and query; why not, in words.
    pub(super) fn check_test(&self, result: &TestResult) -> std::result::Result<(), String> {
        let (metrics, queries) = (self.metrics.len(), self.queries);
        if result.values.metrics() != metrics || result.values.iter().any(|values| values.len() != queries) {
            return Err(format!(
                "this line does not have the values of {metrics} metrics on {queries} queries"
            ));
        }
        for (metric, values) in self.metrics.iter().zip(result.values.iter()) {
            values.iter().flatten().try_for_each(|&value| check_value(metric.as_ref(), value))?;
        }
        self.check_selection(result.valid)?;
        match result.worst.iter().find(|worst| worst.query >= queries) {
            Some(worst) => Err(format!("this line names query {} of {queries}", worst.query + 1)),
            None => Ok(()),
        }
    }

    pub(super) fn check_selection(&self, valid: Option<f64>) -> std::result::Result<(), String> {
        valid.map_or(Ok(()), |value| check_value(self.metrics[self.selection].as_ref(), value))
    }
}

fn check_value(metric: &dyn Metric, value: f64) -> std::result::Result<(), String> {
    let (least, greatest) = value_range(metric);
    let possible = least - ROUNDING..=greatest.unwrap_or(f64::MAX) + ROUNDING;
    match possible.contains(&value) {
        true => Ok(()),
        false => Err(format!("this line has the value {value} of {}, which is impossible", metric.name())),
    }
}

fn put(file: &mut File, experiment: &str, record: &impl Serialize) -> io::Result<()> {
    let mut line = sealed(experiment, serde_json::to_vec(record)?);
    line.push(b'\n');
    file.write_all(&line)?;
    file.sync_data()
}

/// A JSON object with its checksum as the last field.
fn sealed(experiment: &str, mut object: Vec<u8>) -> Vec<u8> {
    object.pop();
    let digits = digits(experiment, &object);
    object.extend([SEAL.0, digits.as_bytes(), SEAL.1].concat());
    object
}

/// Whether a line ends with the checksum of what it begins with.
fn is_sealed(experiment: &str, line: &[u8]) -> bool {
    let length = SEAL.0.len() + DIGITS + SEAL.1.len();
    let Some((object, seal)) = line.len().checked_sub(length).map(|at| line.split_at(at)) else {
        return false;
    };
    seal == [SEAL.0, digits(experiment, object).as_bytes(), SEAL.1].concat()
}

/// The checksum covers the experiment too, so that a line of another journal is not accepted.
fn digits(experiment: &str, object: &[u8]) -> String {
    let mut hash = Xxh3::new();
    hash.update(experiment.as_bytes());
    hash.update(object);
    format!("{:016x}", hash.digest())
}

fn read(bytes: &[u8], path: &Path, experiment: &str) -> Result<HashMap<String, Entry>> {
    let lines = bytes.split(|b| *b == b'\n').enumerate().map(|(i, line)| (i + 1, line.trim_ascii_end()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty());
    if let Some((number, first)) = lines.next() {
        check_head(first, number, path, experiment)?;
    }
    let (mut before, mut damaged) = (HashMap::new(), Vec::new());
    for (number, line) in lines {
        let record = is_sealed(experiment, line).then(|| serde_json::from_slice::<Line>(line).ok());
        match record.flatten() {
            Some(Line { job, finished }) => drop(before.insert(job, Entry { line: number, finished })),
            None => damaged.push(number),
        }
    }
    if damaged.is_empty() { Ok(before) } else { Err(damaged_lines(path, &damaged)) }
}

fn check_head(line: &[u8], number: usize, path: &Path, experiment: &str) -> Result<()> {
    let head: Option<Head> = serde_json::from_slice(line).ok();
    match head {
        Some(head) if head.rankwise_journal != VERSION || head.experiment != experiment => {
            Err(Error::data(format!(
                "{} belongs to another experiment, other data or another build of Rankwise; write to another \
                 directory, or delete it to start over",
                path.display()
            )))
        }
        Some(_) if is_sealed(experiment, line) => Ok(()),
        _ => Err(Error::data(format!(
            "{}:{number}: the first line of the journal is damaged, so it is not certain which experiment it \
             belongs to; delete the file to start over",
            path.display()
        ))),
    }
}

/// The refusal of lines that are not as they were written.
fn damaged_lines(path: &Path, lines: &[usize]) -> Error {
    const SHOWN: usize = 8;
    let mut others: Vec<String> = lines[1..].iter().take(SHOWN).map(usize::to_string).collect();
    if lines.len() > SHOWN + 1 {
        others.push("…".into());
    }
    match others.len() {
        0 => refused_line(path, lines[0], "this line is not as it was written"),
        _ => refused(
            path,
            lines[0],
            format!(
                "this line and others ({}) are not as they were written. Delete them to run their jobs again; all \
                 other finished jobs are kept",
                others.join(", ")
            ),
        ),
    }
}

/// The refusal of one line.
fn refused_line(path: &Path, line: usize, why: &str) -> Error {
    refused(
        path,
        line,
        format!("{why}. Delete the line to run its job again; all other finished jobs are kept"),
    )
}

/// An error of the kind that ends a run, as a journal that cannot be written does.
fn refused(path: &Path, line: usize, why: String) -> Error {
    let place = format!("{}:{line}", path.display());
    Error::io("use the journal", place, io::Error::new(io::ErrorKind::InvalidData, why))
}

#[cfg(test)]
mod tests;
