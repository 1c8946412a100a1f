//! What the jobs of a run returned, by data set, fold, system and repeat.

use super::findings::{Chosen, Trial};
use super::journal::TestResult;
use crate::error::{Error, Result};

/// The results of all jobs, one entry per data set.
pub(super) struct RunResults {
    pub(super) data: Vec<DataResults>,
}

/// The results on one data set, one entry per fold.
pub(super) struct DataResults {
    pub(super) folds: Vec<FoldResults>,
}

/// The results on one fold: all repeats of the first system, then of the second, and so on.
pub(super) struct FoldResults {
    repeats: usize,
    runs: Vec<Result<SystemRun>>,
}

/// One system on one fold in one repeat.
pub(super) struct SystemRun {
    pub(super) chosen: Chosen,
    pub(super) trials: Vec<Trial>,
    /// Settings that failed, a sentence each.
    pub(super) failures: Vec<String>,
    pub(super) search_seconds: f64,
    /// Whether a time limit cut any training short, in the search or after it.
    pub(super) cut_short: bool,
    pub(super) tested: TestResult,
}

/// The finished runs of one system on one data set: for each fold, its repeats.
pub(super) struct FinishedRuns<'a> {
    pub(super) folds: Vec<Vec<&'a SystemRun>>,
}

impl RunResults {
    /// Every run that finished.
    pub(super) fn finished(&self) -> impl Iterator<Item = &SystemRun> {
        self.data.iter().flat_map(|data| &data.folds).flat_map(|fold| fold.runs.iter().flatten())
    }
}

impl DataResults {
    /// The runs of a system that finished.
    pub(super) fn finished(&self, system: usize) -> FinishedRuns<'_> {
        let folds = self.folds.iter().map(|fold| fold.system(system).iter().flatten().collect());
        FinishedRuns { folds: folds.collect() }
    }

    /// The first failure of a system, with the number of its fold.
    pub(super) fn failure(&self, system: usize) -> Option<(usize, &Error)> {
        self.folds.iter().enumerate().find_map(|(number, fold)| {
            let error = fold.system(system).iter().find_map(|run| run.as_ref().err())?;
            Some((number, error))
        })
    }
}

impl FoldResults {
    /// Results in the order of systems, with `repeats` repeats of each.
    pub(super) fn new(repeats: usize, runs: Vec<Result<SystemRun>>) -> FoldResults {
        FoldResults { repeats, runs }
    }

    /// All repeats of a system.
    fn system(&self, system: usize) -> &[Result<SystemRun>] {
        &self.runs[system * self.repeats..(system + 1) * self.repeats]
    }
}

impl<'a> FinishedRuns<'a> {
    /// No runs: for systems whose scores were given.
    pub(super) fn none() -> FinishedRuns<'a> {
        FinishedRuns { folds: Vec::new() }
    }

    /// All runs, fold by fold.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a SystemRun> {
        self.folds.iter().flatten().copied()
    }
}
