//! Running an experiment: data sets × folds × systems × settings × repeats.
//!
//! Settings are chosen on validation queries. Only the chosen one is evaluated on the test queries, in a job of its own.
//! Jobs of one fold run in parallel on the current thread pool, unless the experiment asks for one at a time. Every
//! finished job is written to the journal.

use super::directory::{JOURNAL, write_manifest};
use super::findings::{Chosen, Findings, Times, Trial};
use super::journal::{JobResult, Journal, TestResult, ValidValues};
use super::kept_models::KeptModels;
use super::plan::{Job, JobKind, JobPlace, LearnerSystem, Plan};
use super::prepared::{FoldData, PreparedData, checksums};
use super::results::{DataResults, FoldResults, RunResults, SystemRun};
use super::search::{Attempt, Choice};
use super::spec::{DataSpec, Spec};
use crate::error::{Error, ErrorKind, Result};
use crate::models::Ranker;
use crate::parallel;
use crate::watch::Stop;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A job that has just finished, for a progress display.
#[derive(Debug, Clone, Copy)]
pub struct JobDone<'a> {
    /// Jobs finished, those of earlier runs included.
    pub done: usize,
    /// Jobs in all.
    pub total: usize,
    /// What it was: data set, fold, repeat, learner and parameters.
    pub what: &'a str,
    /// The selection metric on the validation queries.
    pub value: Option<f64>,
}

/// Watches an experiment run.
pub struct Observer<'a> {
    /// Raised to end the run; finished jobs are in the journal.
    pub stop: &'a Stop,
    /// Called for every job that finishes, from several threads.
    pub done: &'a (dyn Fn(JobDone<'_>) + Sync),
}

/// Where a run writes.
#[derive(Debug, Clone, Copy)]
pub struct RunOptions<'a> {
    /// The directory of the journal and the manifest.
    pub directory: &'a Path,
    /// The command that was typed, for the manifest.
    pub command: &'a str,
    /// Where to keep the chosen model of every data set, system, fold and repeat, as
    /// `DATA/SYSTEM/fold-N.json`, or `DATA/SYSTEM/fold-N-repeat-M.json` with repeats. None keeps no models.
    pub keep_models: Option<&'a Path>,
    /// Start over: forget the jobs that finished in earlier runs.
    pub fresh: bool,
}

/// What a run was made from: enough to repeat it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Manifest {
    /// The version of Rankwise.
    pub version: &'static str,
    /// The build of the program; a run of another build is not resumed.
    pub program: String,
    /// The experiment as it was read, defaults included.
    pub experiment: Spec,
    /// Every data file with its checksum.
    pub files: Vec<(PathBuf, String)>,
}

/// An experiment, loaded and checked.
pub struct Experiment {
    pub(super) plan: Plan,
    pub(super) data: Vec<PreparedData>,
    manifest: Manifest,
    /// The checksums of the files of each data set.
    checksums: Vec<Vec<String>>,
}

impl Experiment {
    /// Reads the data of an experiment and checks everything that can be checked before running it. `program` names
    /// the build that will run it.
    pub fn load(spec: Spec, program: &str) -> Result<Experiment> {
        let plan = Plan::new(spec)?;
        let spec = &plan.spec;
        let data = spec.data.iter().map(|d| PreparedData::load(d, spec.seed)).collect::<Result<Vec<_>>>()?;
        data.iter().try_for_each(|data| data.check_relevance(&plan.metrics))?;
        if let Some(blind) = data.iter().find(|d| !d.has_validation())
            && plan.systems.iter().any(LearnerSystem::is_searched)
        {
            return Err(Error::parameter(format!(
                "data set `{}` has no validation queries, so no parameter can be chosen on it; add `valid` files, or \
                 give each learner a single setting",
                blind.name
            )));
        }
        let files = spec.data.iter().map(checksums).collect::<Result<Vec<_>>>()?;
        let checksums = files.iter().map(|of_data| of_data.iter().map(|(_, sum)| sum.clone()).collect());
        let (checksums, files) = (checksums.collect(), files.concat());
        let (version, program) = (env!("CARGO_PKG_VERSION"), program.to_owned());
        let manifest = Manifest { version, program, experiment: spec.clone(), files };
        Ok(Experiment { plan, data, manifest, checksums })
    }

    /// A sentence for every data set and learner that may take very long, with what to do about it. Times are rough,
    /// for one thread; there is none where each training has a time limit.
    pub fn forecast(&self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for data in self.data.iter().filter(|_| self.plan.spec.time_limit.is_none()) {
            let (train, repeats) = (data.fold(0)?.train, data.folds() * self.plan.spec.repeats);
            for system in &self.plan.systems {
                let (trials, finals) = if system.is_searched() { (repeats, repeats) } else { (repeats, 0) };
                let time = system.candidates.time(&train, trials, finals);
                found.extend(time.forecast(&format!("{} on `{}`", system.learner, data.name)));
            }
        }
        Ok(found)
    }

    /// What it is made from.
    pub(super) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The checksums of the files of a data set.
    pub(super) fn checksums(&self, data: usize) -> &[String] {
        &self.checksums[data]
    }

    /// Runs all jobs that the journal does not have, and summarises the results of all of them.
    ///
    /// With `keep_models`, a job whose model is not in its file any more is run again.
    pub fn run(&self, options: &RunOptions<'_>, observer: &Observer<'_>) -> Result<(Findings, Times)> {
        let run = self.start(options, observer)?;
        let of_data = |(number, data): (usize, &PreparedData)| {
            let folds = (0..data.folds()).map(|fold| run.fold(number, fold)).collect::<Result<_>>()?;
            Ok(DataResults { folds })
        };
        let data = self.data.iter().enumerate().map(of_data).collect::<Result<_>>()?;
        self.assemble(&RunResults { data })
    }

    /// Opens the journal and writes the manifest.
    pub(super) fn start<'a>(
        &'a self,
        options: &RunOptions<'_>,
        observer: &'a Observer<'a>,
    ) -> Result<RunInProgress<'a>> {
        let path = options.directory.join(JOURNAL);
        let journal = Journal::open(&path, &self.fingerprint(), options.fresh)?;
        write_manifest(options.directory, &self.manifest, options.command)?;
        let kept = options.keep_models.map(|directory| KeptModels::new(directory, &self.plan.spec));
        let (done, total) = (AtomicUsize::new(0), self.jobs());
        Ok(RunInProgress { experiment: self, journal, kept, observer, done, total })
    }

    /// A checksum of everything that all jobs depend on; files by name and checksum, whatever their directory.
    fn fingerprint(&self) -> String {
        let spec = &self.plan.spec;
        let data: Vec<_> = spec.data.iter().map(DataSpec::without_directories).collect();
        let checksums: Vec<&String> = self.manifest.files.iter().map(|(_, sum)| sum).collect();
        let metrics: Vec<String> = self.plan.metrics.iter().map(|m| m.name()).collect();
        let all = serde_json::json!([
            self.manifest.program,
            spec.name,
            spec.seed,
            spec.repeats,
            metrics,
            self.plan.selection,
            self.plan.conventions,
            data,
            checksums,
            spec.time_limit,
        ]);
        format!("xxh3:{:016x}", xxhash_rust::xxh3::xxh3_64(all.to_string().as_bytes()))
    }

    fn jobs(&self) -> usize {
        let folds: usize = self.data.iter().map(PreparedData::folds).sum();
        folds * self.plan.spec.repeats * self.plan.systems.iter().map(LearnerSystem::jobs).sum::<usize>()
    }
}

/// A run in progress: the journal, the models kept, and the count of finished jobs.
pub(super) struct RunInProgress<'a> {
    pub(super) experiment: &'a Experiment,
    journal: Journal,
    kept: Option<KeptModels>,
    pub(super) observer: &'a Observer<'a>,
    done: AtomicUsize,
    total: usize,
}

/// The result of a job, and the bytes of its model's file where models are kept.
pub(super) struct Performed {
    pub(super) result: JobResult,
    pub(super) model: Option<Vec<u8>>,
}

impl RunInProgress<'_> {
    /// The places of one fold, in the order of its results: every learner in every repeat.
    pub(super) fn places(&self, data: usize, fold: usize) -> Vec<JobPlace> {
        let Plan { systems, spec, .. } = &self.experiment.plan;
        (0..systems.len())
            .flat_map(|system| (0..spec.repeats).map(move |repeat| JobPlace { data, fold, system, repeat }))
            .collect()
    }

    /// All learners and repeats of one fold.
    fn fold(&self, data: usize, fold: usize) -> Result<FoldResults> {
        let spec = &self.experiment.plan.spec;
        let fold_data = &self.experiment.data[data].fold(fold)?;
        let run = |at: &JobPlace| self.system(*at, fold_data);
        let places = self.places(data, fold);
        let mut results: Vec<Result<SystemRun>> =
            if spec.one_at_a_time { places.iter().map(run).collect() } else { parallel::map(&places, run) };
        if self.observer.stop.requested() {
            return Err(stopped());
        }
        // A result that cannot be written to the journal would be lost, and one that cannot be read from it is not
        // this run's: both end the run.
        if let Some(place) = results.iter().position(|r| r.as_ref().is_err_and(|e| e.kind() == ErrorKind::Io))
        {
            return Err(results.swap_remove(place).err().unwrap_or_else(|| Error::data("a job failed")));
        }
        Ok(FoldResults::new(spec.repeats, results))
    }

    /// One learner: search, choice, test.
    fn system(&self, at: JobPlace, fold_data: &FoldData<'_>) -> Result<SystemRun> {
        let Plan { systems, spec, .. } = &self.experiment.plan;
        let system = &systems[at.system];
        let choice = if system.is_searched() {
            let attempt = |setting: usize, fraction: f64| {
                let job = Job { at, setting, kind: JobKind::Trial { fraction } };
                self.job(&job, fold_data)?.trial()
            };
            system.candidates.search(spec.one_at_a_time, attempt)?
        } else {
            Choice::only()
        };
        let test = Job { at, setting: choice.winner, kind: JobKind::Test };
        let tested = self.job(&test, fold_data)?.test()?;
        Ok(self.system_run(at, choice, tested))
    }

    /// Runs a job, unless it finished before.
    fn job(&self, job: &Job, fold_data: &FoldData<'_>) -> Result<JobResult> {
        if let Some(finished) = self.finished_before(job)? {
            return Ok(finished);
        }
        let (data, stop) = (&self.experiment.data[job.at.data], self.observer.stop);
        let performed = self.experiment.plan.perform(job, data, fold_data, stop);
        let kept = |ranker: Option<Ranker>| ranker.filter(|_| self.keeps_models()).map(|r| r.to_bytes());
        self.finish(job, performed.map(|(result, ranker)| Performed { result, model: kept(ranker) }))
    }

    /// The result of a job that an earlier run finished and whose model, if models are kept, is in its file.
    pub(super) fn finished_before(&self, job: &Job) -> Result<Option<JobResult>> {
        let name = self.experiment.plan.job_name(job);
        let finished = match job.kind {
            JobKind::Trial { .. } => {
                self.journal.trial(&name, &self.valid_values(job))?.cloned().map(JobResult::Trial)
            }
            JobKind::Test => {
                let before = self.journal.test(&name, &self.valid_values(job))?;
                before.filter(|result| self.is_kept(job, result)).cloned().map(JobResult::Test)
            }
        };
        if let Some(result) = &finished {
            self.report(&name, result.valid());
        }
        Ok(finished)
    }

    fn is_kept(&self, job: &Job, result: &TestResult) -> bool {
        let file = self.kept.as_ref().map(|kept| KeptModels::checksum(&kept.path(job.at)));
        file.is_none_or(|checksum| checksum.is_some() && checksum == result.model)
    }

    /// Writes down what became of a job, keeps its model where that was asked for, and reports it.
    pub(super) fn finish(&self, job: &Job, performed: Result<Performed>) -> Result<JobResult> {
        let name = self.experiment.plan.job_name(job);
        let result = performed.and_then(|Performed { mut result, model }| {
            if let (JobResult::Test(tested), Some(kept), Some(model)) = (&mut result, &self.kept, model) {
                tested.model = Some(KeptModels::write(&kept.path(job.at), &model)?);
            }
            self.journal.add(&name, &result).map(|()| result)
        });
        // A test that failed is not done: the failure of its system is reported at the end.
        if result.is_ok() || matches!(job.kind, JobKind::Trial { .. }) {
            self.report(&name, result.as_ref().ok().and_then(JobResult::valid));
        }
        result
    }

    /// Whether the models of tests are kept.
    pub(super) fn keeps_models(&self) -> bool {
        self.kept.is_some()
    }

    /// The result of a learner's search and test.
    pub(super) fn system_run(&self, at: JobPlace, choice: Choice, mut tested: TestResult) -> SystemRun {
        let candidates = &self.experiment.plan.systems[at.system].candidates;
        if let Some(curve) = &mut tested.curve {
            (curve.fold, curve.repeat) = (at.fold, at.repeat);
        }
        let parameters = candidates.trainers[choice.winner].parameters().clone();
        let trial = |attempt: &Attempt| Trial {
            fold: at.fold,
            repeat: at.repeat,
            parameters: candidates.varied[attempt.setting].clone(),
            fraction: attempt.fraction,
            valid: attempt.result.as_ref().and_then(|trial| trial.valid),
        };
        let tried = || choice.trials.iter().filter_map(|attempt| attempt.result.as_ref());
        SystemRun {
            chosen: Chosen { fold: at.fold, repeat: at.repeat, parameters, valid: tested.valid },
            trials: choice.trials.iter().map(trial).collect(),
            search_seconds: tried().map(|trial| trial.seconds).sum::<f64>() + 0.0,
            cut_short: tested.cut_short || tried().any(|trial| trial.cut_short),
            failures: choice.failures,
            tested,
        }
    }

    /// What the values of a job must look like.
    pub(super) fn valid_values(&self, job: &Job) -> ValidValues<'_> {
        let Experiment { plan, data, .. } = self.experiment;
        plan.valid_values(data[job.at.data].test_queries(job.at.fold).count())
    }

    fn report(&self, what: &str, value: Option<f64>) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.observer.done)(JobDone { done, total: self.total, what, value });
    }
}

/// The error of a run that was asked to stop.
pub(super) fn stopped() -> Error {
    Error::interrupted("stopped; the same command continues from here")
}
