//! The journal: every finished job is written to disk at once, so that a killed run can be resumed.
//!
//! One JSON document per line. The first line identifies the experiment; an incomplete last line is dropped.

use super::findings::{Curve, WorstQuery};
use super::values::PerQuery;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The result of a finished job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum JobResult {
    /// A setting was tried.
    Trial(TrialResult),
    /// The chosen setting was trained and tested.
    Test(TestResult),
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
    before: HashMap<String, JobResult>,
    file: Mutex<File>,
}

impl Journal {
    /// Opens the journal at `path` to continue it, or creates one. `experiment` is a fingerprint of everything that
    /// all jobs depend on; a journal with another fingerprint is rejected.
    pub(super) fn open(path: &Path, experiment: &str) -> Result<Journal> {
        let refused = |e| Error::io("use the journal", path, e);
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path).map_err(refused)?;
        if file.try_lock().is_err() {
            return Err(Error::data(format!("{} is in use: another run is writing to it", path.display())));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(refused)?;
        bytes.truncate(bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1));
        let before = read(&bytes, path, experiment)?;
        file.set_len(bytes.len() as u64).map_err(refused)?;
        if bytes.is_empty() {
            let head = Head { rankwise_journal: 1, experiment: experiment.to_owned() };
            put(&mut file, &head).map_err(refused)?;
        }
        Ok(Journal { path: path.to_owned(), before, file: Mutex::new(file) })
    }

    /// The result of `job`, if it finished in an earlier run.
    pub(super) fn finished(&self, job: &str) -> Option<&JobResult> {
        self.before.get(job)
    }

    /// Writes the result of a finished job to disk. A later result of the same job replaces an earlier one.
    pub(super) fn add(&self, job: &str, finished: &JobResult) -> Result<()> {
        let line = Line { job: job.to_owned(), finished: finished.clone() };
        let mut file = self.file.lock().unwrap_or_else(|e| e.into_inner());
        put(&mut file, &line).map_err(|e| Error::io("add to the journal", &self.path, e))
    }
}

fn put(file: &mut File, line: &impl Serialize) -> std::io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    file.write_all(&text)?;
    file.sync_data()
}

fn read(bytes: &[u8], path: &Path, experiment: &str) -> Result<HashMap<String, JobResult>> {
    let damaged = |line: usize| {
        Error::data(format!(
            "{}:{line}:1: the journal is damaged here; delete it to start over",
            path.display()
        ))
    };
    let mut lines = bytes.split(|b| *b == b'\n').enumerate().filter(|(_, l)| !l.is_empty());
    if let Some((_, first)) = lines.next() {
        let head: Head = serde_json::from_slice(first).map_err(|_| damaged(1))?;
        if head.experiment != experiment {
            return Err(Error::data(format!(
                "{} belongs to another experiment, other data or another build of Rankwise; write to another \
                 directory, or delete it to start over",
                path.display()
            )));
        }
    }
    let mut before = HashMap::new();
    for (i, line) in lines {
        let line: Line = serde_json::from_slice(line).map_err(|_| damaged(i + 1))?;
        before.insert(line.job, line.finished);
    }
    Ok(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(value: f64) -> JobResult {
        JobResult::Trial(TrialResult {
            valid: Some(value),
            seconds: 0.25,
            cut_short: false,
            folds: Vec::new(),
        })
    }

    #[test]
    fn a_journal_cut_anywhere_continues_after_its_last_complete_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let journal = Journal::open(&path, "x").unwrap();
        journal.add("a", &trial(1.0 / 3.0)).unwrap();
        journal.add("b", &trial(0.5)).unwrap();
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        let ends: Vec<usize> = (0..whole.len()).filter(|&i| whole[i] == b'\n').map(|i| i + 1).collect();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let journal = Journal::open(&path, "x").unwrap();
            assert_eq!(journal.finished("a").is_some(), cut >= ends[1], "cut at {cut}");
            assert_eq!(journal.finished("b").is_some(), cut >= ends[2], "cut at {cut}");
            journal.add("c", &trial(0.75)).unwrap();
            drop(journal);
            let again = Journal::open(&path, "x").unwrap();
            assert_eq!(again.finished("c"), Some(&trial(0.75)), "cut at {cut}");
            assert!(again.finished("a").is_none_or(|f| *f == trial(1.0 / 3.0)));
        }
    }

    #[test]
    fn a_journal_of_another_experiment_or_a_damaged_one_is_rejected() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        Journal::open(&path, "x").unwrap().add("a", &trial(0.5)).unwrap();
        let other = Journal::open(&path, "y").err().unwrap().to_string();
        assert!(other.contains("another experiment"), "{other}");
        let held = Journal::open(&path, "x").unwrap();
        let second = Journal::open(&path, "x").err().unwrap().to_string();
        assert!(second.contains("another run is writing"), "{second}");
        drop(held);
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() - 20;
        bytes[middle] = b'\xff';
        bytes.extend_from_slice(b"{}\n");
        std::fs::write(&path, bytes).unwrap();
        let damage = Journal::open(&path, "x").err().unwrap().to_string();
        assert!(damage.contains("journal:2:1: the journal is damaged here"), "{damage}");
    }
}
