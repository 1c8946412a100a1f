//! Running an experiment: data sets × folds × systems × settings × repeats.
//!
//! Settings are chosen on validation queries. Only the chosen one is evaluated on the test queries, in a job of its own.
//! Jobs of one fold run in parallel on the current thread pool, unless the experiment asks for one at a time. Every
//! finished job is written to the journal.

use super::directory::{JOURNAL, write_manifest};
use super::findings::{Chosen, Findings, Times, Trial};
use super::job::Setting;
use super::journal::{JobResult, Journal, TestResult, TrialResult, ValidValues};
use super::kept_models::KeptModels;
use super::prepared::{FoldData, PreparedData, checksums};
use super::results::{DataResults, FoldResults, RunResults, SystemRun};
use super::search::{Attempt, Candidates, Choice};
use super::spec::{DataSpec, Spec};
use crate::card;
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::{Conventions, Metric, parse, parse_list, preset};
use crate::parallel;
use crate::recipe::Recipe;
use crate::rng;
use crate::watch::Stop;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

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
    pub(super) spec: Spec,
    pub(super) metrics: Vec<Box<dyn Metric>>,
    pub(super) shown: usize,
    pub(super) selection: usize,
    pub(super) conventions: Conventions,
    pub(super) data: Vec<PreparedData>,
    pub(super) systems: Vec<LearnerSystem>,
    manifest: Manifest,
}

/// A learner and the settings to try.
pub(super) struct LearnerSystem {
    /// The learner's name.
    pub(super) learner: String,
    candidates: Candidates,
}

impl LearnerSystem {
    /// Whether parameters are searched for.
    fn is_searched(&self) -> bool {
        self.candidates.varied.len() > 1
    }

    /// Jobs per fold and repeat.
    fn jobs(&self) -> usize {
        if self.is_searched() { self.candidates.trials() + 1 } else { 1 }
    }
}

impl Experiment {
    /// Reads the data of an experiment and checks everything that can be checked before running it. `program` names
    /// the build that will run it.
    pub fn load(spec: Spec, program: &str) -> Result<Experiment> {
        let mut conventions = preset(&spec.preset)?;
        for (key, value) in &spec.conventions {
            conventions.set(key, convention_text(value).as_str())?;
        }
        let MetricList { metrics, shown, selection } = MetricList::of(&spec, &conventions)?;
        let names: Vec<String> = metrics.iter().map(|m| m.name()).collect();
        if let Some(other) = spec.expectations.iter().find(|e| !names.contains(&e.metric)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            return Err(card::unknown("metric in [[expect]]", &other.metric, &names));
        }
        let systems = spec.learners.iter().map(|l| {
            let recipe = Recipe::new(&l.name).set_all(l.set.clone());
            let recipe = recipe.metric(&spec.selection).conventions(conventions.clone());
            let candidates = Candidates::new(&recipe, &l.grid, &spec.search, spec.seed)?;
            Ok(LearnerSystem { learner: l.name.clone(), candidates })
        });
        let systems: Vec<LearnerSystem> = systems.collect::<Result<_>>()?;
        let data = spec.data.iter().map(|d| PreparedData::load(d, spec.seed)).collect::<Result<Vec<_>>>()?;
        data.iter().try_for_each(|data| data.check_relevance(&metrics))?;
        if let Some(blind) = data.iter().find(|d| !d.has_validation())
            && systems.iter().any(LearnerSystem::is_searched)
        {
            return Err(Error::parameter(format!(
                "data set `{}` has no validation queries, so no parameter can be chosen on it; add `valid` files, or \
                 give each learner a single setting",
                blind.name
            )));
        }
        let files = spec.data.iter().map(checksums).collect::<Result<Vec<_>>>()?.concat();
        let (version, program) = (env!("CARGO_PKG_VERSION"), program.to_owned());
        let manifest = Manifest { version, program, experiment: spec.clone(), files };
        Ok(Experiment { spec, metrics, shown, selection, conventions, data, systems, manifest })
    }

    /// A sentence for every data set and learner that may take very long, with what to do about it. Times are rough,
    /// for one thread; there is none where each training has a time limit.
    pub fn forecast(&self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for data in self.data.iter().filter(|_| self.spec.time_limit.is_none()) {
            let (train, repeats) = (data.fold(0)?.train, data.folds() * self.spec.repeats);
            for system in &self.systems {
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

    /// Runs all jobs that the journal does not have, and summarises the results of all of them.
    ///
    /// With `keep_models`, a job whose model is not in its file any more is run again.
    pub fn run(&self, options: &RunOptions<'_>, observer: &Observer<'_>) -> Result<(Findings, Times)> {
        let path = options.directory.join(JOURNAL);
        let journal = Journal::open(&path, &self.fingerprint(), options.fresh)?;
        write_manifest(options.directory, &self.manifest, options.command)?;
        let kept = options.keep_models.map(|directory| KeptModels::new(directory, &self.spec));
        let results = self.run_jobs(journal, kept, observer)?;
        self.assemble(&results)
    }

    fn run_jobs(
        &self,
        journal: Journal,
        kept: Option<KeptModels>,
        observer: &Observer<'_>,
    ) -> Result<RunResults> {
        let (done, total) = (AtomicUsize::new(0), self.jobs());
        let run = RunInProgress { experiment: self, journal, kept, observer, done, total };
        let of_data = |(number, data): (usize, &PreparedData)| {
            let folds = (0..data.folds()).map(|fold| run.fold(number, fold)).collect::<Result<_>>()?;
            Ok(DataResults { folds })
        };
        Ok(RunResults { data: self.data.iter().enumerate().map(of_data).collect::<Result<_>>()? })
    }

    /// A checksum of everything that all jobs depend on; files by name and checksum, whatever their directory.
    fn fingerprint(&self) -> String {
        let spec = &self.spec;
        let data: Vec<_> = spec.data.iter().map(DataSpec::without_directories).collect();
        let checksums: Vec<&String> = self.manifest.files.iter().map(|(_, sum)| sum).collect();
        let metrics: Vec<String> = self.metrics.iter().map(|m| m.name()).collect();
        let all = serde_json::json!([
            self.manifest.program,
            spec.name,
            spec.seed,
            spec.repeats,
            metrics,
            self.selection,
            self.conventions,
            data,
            checksums,
            spec.time_limit,
        ]);
        format!("xxh3:{:016x}", xxhash_rust::xxh3::xxh3_64(all.to_string().as_bytes()))
    }

    fn jobs(&self) -> usize {
        let folds: usize = self.data.iter().map(PreparedData::folds).sum();
        folds * self.spec.repeats * self.systems.iter().map(LearnerSystem::jobs).sum::<usize>()
    }

    /// The seed of all jobs of one fold in one repeat.
    pub(super) fn job_seed(&self, data: usize, fold: usize, repeat: usize) -> u64 {
        rng::derive(self.spec.seed, &[data as u64, fold as u64, repeat as u64])
    }
}

/// The value of a convention as [`Conventions::set`] reads it.
pub(super) fn convention_text(value: &toml::Value) -> String {
    value.to_string().trim_matches('"').to_owned()
}

/// The metrics: those asked for, before them the selection metric if it is not one of them, then NDCG@1 to 10 for the
/// curves.
struct MetricList {
    metrics: Vec<Box<dyn Metric>>,
    /// How many are shown in tables.
    shown: usize,
    /// The selection metric.
    selection: usize,
}

impl MetricList {
    fn of(spec: &Spec, conventions: &Conventions) -> Result<MetricList> {
        let mut metrics = parse_list(&spec.metrics, conventions)?;
        let selecting = parse(&spec.selection, conventions)?.name();
        let place = |metrics: &[Box<dyn Metric>], name: &str| metrics.iter().position(|m| m.name() == name);
        if place(&metrics, &selecting).is_none() {
            metrics.insert(0, parse(&spec.selection, conventions)?);
        }
        let shown = metrics.len();
        for metric in parse_list("ndcg@1..10", conventions)? {
            if place(&metrics, &metric.name()).is_none() {
                metrics.push(metric);
            }
        }
        let selection = place(&metrics, &selecting).unwrap_or(0);
        Ok(MetricList { metrics, shown, selection })
    }
}

/// A run in progress.
struct RunInProgress<'a> {
    experiment: &'a Experiment,
    journal: Journal,
    kept: Option<KeptModels>,
    observer: &'a Observer<'a>,
    done: AtomicUsize,
    total: usize,
}

/// What a job works on.
#[derive(Clone, Copy)]
struct JobPlace<'a> {
    data: usize,
    fold: usize,
    system: usize,
    repeat: usize,
    fold_data: &'a FoldData<'a>,
}

impl RunInProgress<'_> {
    /// All learners and repeats of one fold.
    fn fold(&self, data: usize, fold: usize) -> Result<FoldResults> {
        let experiment = self.experiment;
        let fold_data = &experiment.data[data].fold(fold)?;
        let repeats = experiment.spec.repeats;
        let jobs: Vec<JobPlace<'_>> = (0..experiment.systems.len())
            .flat_map(|system| (0..repeats).map(move |repeat| (system, repeat)))
            .map(|(system, repeat)| JobPlace { data, fold, system, repeat, fold_data })
            .collect();
        let run = |at: &JobPlace<'_>| self.system(*at);
        let mut results: Vec<Result<SystemRun>> = if experiment.spec.one_at_a_time {
            jobs.iter().map(run).collect()
        } else {
            parallel::map(&jobs, run)
        };
        if self.observer.stop.requested() {
            return Err(Error::interrupted("stopped; the same command continues from here"));
        }
        // A result that cannot be written to the journal would be lost, and one that cannot be read from it is not
        // this run's: both end the run.
        if let Some(place) = results.iter().position(|r| r.as_ref().is_err_and(|e| e.kind() == ErrorKind::Io))
        {
            return Err(results.swap_remove(place).err().unwrap_or_else(|| Error::data("a job failed")));
        }
        Ok(FoldResults::new(repeats, results))
    }

    /// One learner: search, choice, test.
    fn system(&self, at: JobPlace<'_>) -> Result<SystemRun> {
        let system = &self.experiment.systems[at.system];
        let candidates = &system.candidates;
        let choice = if system.is_searched() {
            let attempt = |setting: usize, fraction: f64| self.trial(at, setting, fraction);
            candidates.search(self.experiment.spec.one_at_a_time, attempt)?
        } else {
            Choice::only()
        };
        let mut tested = self.test(at, choice.winner)?;
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
        Ok(SystemRun {
            chosen: Chosen { fold: at.fold, repeat: at.repeat, parameters, valid: tested.valid },
            trials: choice.trials.iter().map(trial).collect(),
            search_seconds: tried().map(|trial| trial.seconds).sum::<f64>() + 0.0,
            cut_short: tested.cut_short || tried().any(|trial| trial.cut_short),
            failures: choice.failures,
            tested,
        })
    }

    fn trial(&self, at: JobPlace<'_>, setting: usize, fraction: f64) -> Result<TrialResult> {
        let job = format!("{} fraction {fraction}", self.job_name(at, setting));
        let result = match self.journal.trial(&job, &self.valid_values(at))? {
            Some(result) => Ok(result.clone()),
            None => {
                let (train, valid) = (&at.fold_data.train, at.fold_data.valid.as_deref());
                let result = self.setting(at, setting).try_out(train, valid, fraction, self.observer.stop);
                result.and_then(|result| {
                    self.journal.add(&job, &JobResult::Trial(result.clone())).map(|()| result)
                })
            }
        };
        self.report(&job, result.as_ref().ok().and_then(|trial| trial.valid));
        result
    }

    /// Trains the chosen setting, tests it and keeps its model where that was asked for.
    fn test(&self, at: JobPlace<'_>, setting: usize) -> Result<TestResult> {
        let job = format!("{} test", self.job_name(at, setting));
        let model = self.kept.as_ref().map(|kept| kept.path(at.data, at.system, at.fold, at.repeat));
        let is_kept = |result: &TestResult| {
            let file = model.as_ref().map(|path| KeptModels::checksum(path));
            file.is_none_or(|checksum| checksum.is_some() && checksum == result.model)
        };
        let result = match self.journal.test(&job, &self.valid_values(at))? {
            Some(result) if is_kept(result) => result.clone(),
            _ => {
                let (mut result, ranker) =
                    self.setting(at, setting).test(at.fold_data, self.observer.stop)?;
                result.model = model.map(|path| KeptModels::write(&path, &ranker)).transpose()?;
                self.journal.add(&job, &JobResult::Test(result.clone()))?;
                result
            }
        };
        self.report(&job, result.valid);
        Ok(result)
    }

    /// What the values of a job in the journal must look like.
    fn valid_values(&self, at: JobPlace<'_>) -> ValidValues<'_> {
        let Experiment { metrics, selection, .. } = self.experiment;
        ValidValues { metrics, selection: *selection, queries: at.fold_data.test.query_count() }
    }

    /// A name that no other job of the experiment has.
    fn job_name(&self, at: JobPlace<'_>, setting: usize) -> String {
        let system = &self.experiment.systems[at.system];
        let parameters = system.candidates.trainers[setting].parameters();
        let parameters = serde_json::to_string(parameters).unwrap_or_default();
        let (data, learner) = (&self.experiment.data[at.data].name, &system.learner);
        format!("{data} fold {} repeat {} {learner} {parameters}", at.fold + 1, at.repeat)
    }

    fn setting(&self, at: JobPlace<'_>, setting: usize) -> Setting<'_> {
        let experiment = self.experiment;
        let system = &experiment.systems[at.system];
        Setting {
            trainer: system.candidates.trainers[setting]
                .with_seed(experiment.job_seed(at.data, at.fold, at.repeat))
                .with_normalizer(experiment.data[at.data].normalizer.clone()),
            metrics: &experiment.metrics,
            selection: experiment.selection,
            time_limit: experiment.spec.time_limit.map(Duration::from_secs_f64),
            alone: experiment.spec.one_at_a_time,
        }
    }

    fn report(&self, what: &str, value: Option<f64>) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.observer.done)(JobDone { done, total: self.total, what, value });
    }
}
