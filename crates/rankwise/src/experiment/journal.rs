//! The journal: every finished job, on disk before the next begins, so that a killed run can go on.
//!
//! One JSON document a line. The first line says which experiment it is; a last line that was cut off is dropped.

use super::findings::{Curve, RankedDocument};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// What a finished job left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Finished {
    /// A setting was tried.
    Trial(Tried),
    /// The chosen setting was trained and tested.
    Test(Tested),
}

/// How a setting did on the validation queries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Tried {
    /// The selection measure; none where it skips every query, or there are none.
    pub(super) valid: Option<f64>,
    pub(super) seconds: f64,
    pub(super) cut_short: bool,
}

/// How a chosen setting did on the test queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Tested {
    /// `[metric][query]`.
    pub(super) values: Vec<Vec<Option<f64>>>,
    /// The worst queries by number in the fold, the worst first.
    pub(super) worst: Vec<Worst>,
    pub(super) curve: Option<Curve>,
    pub(super) valid: Option<f64>,
    pub(super) cut_short: bool,
    /// How many threads worked, and whether on this job alone: what its times are worth.
    pub(super) threads: usize,
    pub(super) alone: bool,
    pub(super) train_seconds: f64,
    pub(super) score_seconds: f64,
}

/// A query that went badly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Worst {
    pub(super) query: usize,
    pub(super) value: f64,
    pub(super) top: Vec<RankedDocument>,
    pub(super) best_grades: Vec<f32>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    rankwise_journal: u32,
    experiment: String,
}

#[derive(Serialize, Deserialize)]
struct Line {
    job: String,
    finished: Finished,
}

/// The jobs finished before, and a file that takes those finished now.
pub(super) struct Journal {
    path: PathBuf,
    before: HashMap<String, Finished>,
    file: Mutex<File>,
}

impl Journal {
    /// Opens the journal at `path` and goes on with it; begins one where there is none. `experiment` stands for
    /// everything that all jobs depend on: a journal of another one is refused.
    pub(super) fn open(path: &Path, experiment: &str) -> Result<Journal> {
        let refused = |e| Error::io("use the journal", path, e);
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path).map_err(refused)?;
        if file.try_lock().is_err() {
            return Err(Error::data(format!("{} is in use: another run is under way there", path.display())));
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

    /// What `job` left, if it finished in an earlier run.
    pub(super) fn finished(&self, job: &str) -> Option<&Finished> {
        self.before.get(job)
    }

    /// Notes, on disk, that a job has finished.
    pub(super) fn add(&self, job: &str, finished: &Finished) -> Result<()> {
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

fn read(bytes: &[u8], path: &Path, experiment: &str) -> Result<HashMap<String, Finished>> {
    let damaged = |line: usize| {
        Error::data(format!(
            "{}:{line}:1: the journal is damaged here; begin anew with --fresh",
            path.display()
        ))
    };
    let mut lines = bytes.split(|b| *b == b'\n').enumerate().filter(|(_, l)| !l.is_empty());
    if let Some((_, first)) = lines.next() {
        let head: Head = serde_json::from_slice(first).map_err(|_| damaged(1))?;
        if head.experiment != experiment {
            return Err(Error::data(format!(
                "{} belongs to another experiment, other data or another version of Rankwise; write to another \
                 directory, or begin anew with --fresh",
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

    fn trial(value: f64) -> Finished {
        Finished::Trial(Tried { valid: Some(value), seconds: 0.25, cut_short: false })
    }

    #[test]
    fn a_journal_cut_anywhere_goes_on_from_its_last_whole_line() {
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
    fn another_experiment_and_damage_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        Journal::open(&path, "x").unwrap().add("a", &trial(0.5)).unwrap();
        let other = Journal::open(&path, "y").err().unwrap().to_string();
        assert!(other.contains("another experiment"), "{other}");
        let held = Journal::open(&path, "x").unwrap();
        let second = Journal::open(&path, "x").err().unwrap().to_string();
        assert!(second.contains("another run is under way"), "{second}");
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
