//! Running an experiment: data sets × folds × systems × settings × repeats.
//!
//! Settings are chosen on validation queries; only the chosen one meets the test queries, in a job of its own. Jobs
//! of one fold run side by side on the current thread pool, and inside each other's gaps, unless the experiment
//! asks for one at a time. Every finished job is journaled.

use super::directory::{JOURNAL, write_manifest};
use super::findings::{Chosen, Findings, Times, Trial};
use super::job::Setting;
use super::journal::{Finished, Journal, Tested, Tried};
use super::material::{FoldData, Material, checksums};
use super::search::{self, Rung};
use super::spec::{DataSpec, Spec};
use crate::card;
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::{Conventions, Metric, parse, parse_list, preset};
use crate::recipe::{Recipe, Trainer};
use crate::rng;
use crate::watch::Stop;
use rayon::prelude::*;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use toml::Table;

/// A job that has just finished, for a progress display.
#[derive(Debug, Clone, Copy)]
pub struct JobDone<'a> {
    /// Jobs finished, those of earlier runs included.
    pub done: usize,
    /// Jobs in all.
    pub total: usize,
    /// What it was: data set, fold, repeat, learner and parameters.
    pub what: &'a str,
    /// The selection measure it reached on the validation queries.
    pub value: Option<f64>,
}

/// Who watches an experiment run.
pub struct Observer<'a> {
    /// Raised to end the run; what is finished is journaled.
    pub stop: &'a Stop,
    /// Told of every job that finishes, from several threads.
    pub done: &'a (dyn Fn(JobDone<'_>) + Sync),
}

/// What the run was made from: enough to make it again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Manifest {
    /// The version of Rankwise.
    pub version: &'static str,
    /// Which build of the program ran it: results of another build are not gone on with.
    pub program: String,
    /// The experiment as it was read, defaults included.
    pub experiment: Spec,
    /// Every data file with its checksum.
    pub files: Vec<(PathBuf, String)>,
}

/// The parts of an experiment, loaded and checked.
pub struct Experiment {
    pub(super) spec: Spec,
    pub(super) metrics: Vec<Box<dyn Metric>>,
    pub(super) shown: usize,
    pub(super) selection: usize,
    pub(super) conventions: Conventions,
    pub(super) material: Vec<Material>,
    candidates: Vec<Candidates>,
    manifest: Manifest,
}

/// A learner and the settings to try.
struct Candidates {
    /// What each setting changes.
    varied: Vec<Table>,
    /// Each setting, ready to train.
    trainers: Vec<Trainer>,
    rungs: Vec<Rung>,
}

/// What a run left, before it is summed up: `[data][fold][learner][repeat]`.
pub(super) type Raw = Vec<Vec<Vec<Vec<Result<SystemRun>>>>>;

/// One system on one fold in one repeat.
pub(super) struct SystemRun {
    pub(super) chosen: Chosen,
    pub(super) trials: Vec<Trial>,
    /// Settings that failed, a sentence each.
    pub(super) failures: Vec<String>,
    pub(super) search_seconds: f64,
    /// Whether a time limit cut any training short, in the search or after it.
    pub(super) cut_short: bool,
    pub(super) tested: Tested,
}

impl Experiment {
    /// Reads the data of an experiment and checks everything that can be checked before running it. `program` names
    /// the build that will run it.
    pub fn load(spec: Spec, program: &str) -> Result<Experiment> {
        let mut conventions = preset(&spec.preset)?;
        for (key, value) in &spec.conventions {
            conventions.set(key, value.to_string().trim_matches('"'))?;
        }
        let Measures { metrics, shown, selection } = Measures::of(&spec, &conventions)?;
        let names: Vec<String> = metrics.iter().map(|m| m.name()).collect();
        if let Some(other) = spec.expectations.iter().find(|e| !names.contains(&e.metric)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            return Err(card::unknown("measure in [[expect]]", &other.metric, &names));
        }
        let candidates = spec.learners.iter().map(|l| {
            let varied = search::settings(&spec.search, &l.grid, rng::derive(spec.seed, &[SEARCH]))?;
            let trainer = |over: &Table| {
                let recipe = Recipe::new(&l.name).set_all(overlaid(&l.set, over));
                recipe.metric(&spec.selection).conventions(conventions.clone()).check()
            };
            let trainers = varied.iter().map(trainer).collect::<Result<_>>()?;
            let rungs = search::rungs(&spec.search, varied.len());
            Ok(Candidates { varied, trainers, rungs })
        });
        let candidates: Vec<Candidates> = candidates.collect::<Result<_>>()?;
        let material = spec.data.iter().map(|d| Material::load(d, spec.seed)).collect::<Result<Vec<_>>>()?;
        if let Some(blind) = material.iter().find(|m| !m.can_choose())
            && candidates.iter().any(|c| c.varied.len() > 1)
        {
            return Err(Error::parameter(format!(
                "data set `{}` has no validation queries, so no parameter can be chosen on it: give `valid`, or \
                 one setting per learner",
                blind.name
            )));
        }
        let files = spec.data.iter().map(checksums).collect::<Result<Vec<_>>>()?.concat();
        let (version, program) = (env!("CARGO_PKG_VERSION"), program.to_owned());
        let manifest = Manifest { version, program, experiment: spec.clone(), files };
        Ok(Experiment { spec, metrics, shown, selection, conventions, material, candidates, manifest })
    }

    /// What it is made from.
    pub(super) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Runs all jobs that the journal in `directory` does not have, and sums up what all of them found. `command` is
    /// what was typed, for the manifest.
    pub fn run(&self, directory: &Path, command: &str, observer: &Observer<'_>) -> Result<(Findings, Times)> {
        let journal = Journal::open(&directory.join(JOURNAL), &self.fingerprint())?;
        write_manifest(directory, &self.manifest, command)?;
        let raw = self.run_jobs(journal, observer)?;
        self.assemble(&raw)
    }

    fn run_jobs(&self, journal: Journal, observer: &Observer<'_>) -> Result<Raw> {
        let run = Run { experiment: self, journal, observer, done: AtomicUsize::new(0), total: self.jobs() };
        let each = |(d, material): (usize, &Material)| -> Result<_> {
            (0..material.folds()).map(|fold| run.fold(d, material, fold)).collect()
        };
        self.material.iter().enumerate().map(each).collect()
    }

    /// Everything that all jobs depend on; files by name and checksum, wherever they are.
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
        let folds: usize = self.material.iter().map(Material::folds).sum();
        let of = |c: &Candidates| {
            if c.varied.len() == 1 { 1 } else { c.rungs.iter().map(|r| r.settings).sum::<usize>() + 1 }
        };
        folds * self.spec.repeats * self.candidates.iter().map(of).sum::<usize>()
    }
}

/// What the seed of a search's draws is for.
const SEARCH: u64 = 0x7365_6172;

/// The measures: those asked for, the selection measure first if it is not among them, then NDCG@1 to 10 for the
/// curves.
struct Measures {
    metrics: Vec<Box<dyn Metric>>,
    /// How many were asked for.
    shown: usize,
    /// Which one selects.
    selection: usize,
}

impl Measures {
    fn of(spec: &Spec, conventions: &Conventions) -> Result<Measures> {
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
        Ok(Measures { metrics, shown, selection })
    }
}

/// A setting as it could be typed.
pub(super) fn shown(setting: &Table) -> String {
    let pairs: Vec<String> = setting.iter().map(|(key, value)| format!("{key}={value}")).collect();
    pairs.join(" ")
}

fn overlaid(base: &Table, over: &Table) -> Table {
    let mut table = base.clone();
    table.extend(over.clone());
    table
}

/// A run under way.
struct Run<'a> {
    experiment: &'a Experiment,
    journal: Journal,
    observer: &'a Observer<'a>,
    done: AtomicUsize,
    total: usize,
}

/// Where a job stands.
#[derive(Clone, Copy)]
struct At<'a> {
    data: usize,
    fold: usize,
    system: usize,
    repeat: usize,
    folded: &'a FoldData,
}

impl Run<'_> {
    /// All learners and repeats of one fold: `[learner][repeat]`.
    fn fold(&self, data: usize, material: &Material, fold: usize) -> Result<Vec<Vec<Result<SystemRun>>>> {
        let folded = material.fold(fold)?;
        let repeats = self.experiment.spec.repeats;
        let jobs: Vec<At<'_>> = (0..self.experiment.candidates.len())
            .flat_map(|system| (0..repeats).map(move |repeat| (system, repeat)))
            .map(|(system, repeat)| At { data, fold, system, repeat, folded: &folded })
            .collect();
        let run = |at: &At<'_>| self.system(*at, material);
        let mut results: Vec<Result<SystemRun>> = if self.experiment.spec.one_at_a_time {
            jobs.iter().map(run).collect()
        } else {
            jobs.par_iter().map(run).collect()
        };
        if self.observer.stop.requested() {
            return Err(Error::interrupted("stopped; the same command goes on from here"));
        }
        // What could not be journaled would be lost: a full disk ends the run.
        if let Some(place) = results.iter().position(|r| r.as_ref().is_err_and(|e| e.kind() == ErrorKind::Io))
        {
            return Err(results.swap_remove(place).err().unwrap_or_else(|| Error::data("a job failed")));
        }
        let mut results = results.into_iter();
        Ok((0..self.experiment.candidates.len()).map(|_| results.by_ref().take(repeats).collect()).collect())
    }

    /// One learner: search, choice, test.
    fn system(&self, at: At<'_>, material: &Material) -> Result<SystemRun> {
        let candidates = &self.experiment.candidates[at.system];
        let mut alive: Vec<usize> = (0..candidates.varied.len()).collect();
        let (mut trials, mut failures) = (Vec::new(), Vec::new());
        let (mut search_seconds, mut cut_short) = (0.0, false);
        if alive.len() > 1 {
            for rung in &candidates.rungs {
                alive.truncate(rung.settings);
                let tried = self.rung(at, material, &alive, rung.share)?;
                for (&c, tried) in alive.iter().zip(&tried) {
                    search_seconds += tried.as_ref().map_or(0.0, |t| t.seconds);
                    cut_short |= tried.as_ref().is_ok_and(|t| t.cut_short);
                    failures.extend(
                        tried.as_ref().err().map(|e| format!("{}: {e}", shown(&candidates.varied[c]))),
                    );
                }
                let values: Vec<Option<f64>> =
                    tried.iter().map(|t| t.as_ref().ok().and_then(|t| t.valid)).collect();
                if values.iter().all(Option::is_none) {
                    return Err(Error::data("the selection measure skips every validation query"));
                }
                trials.extend(alive.iter().zip(&values).map(|(&c, &valid)| Trial {
                    fold: at.fold,
                    repeat: at.repeat,
                    parameters: candidates.varied[c].clone(),
                    share: rung.share,
                    valid,
                }));
                alive = search::best(&values, alive.len()).into_iter().map(|i| alive[i]).collect();
            }
        }
        let winner = alive[0];
        let mut tested = self.test(at, material, winner)?;
        if let Some(curve) = &mut tested.curve {
            (curve.fold, curve.repeat) = (at.fold, at.repeat);
        }
        let parameters = candidates.trainers[winner].parameters().clone();
        let chosen = Chosen { fold: at.fold, repeat: at.repeat, parameters, valid: tested.valid };
        cut_short |= tested.cut_short;
        Ok(SystemRun { chosen, trials, failures, search_seconds, cut_short, tested })
    }

    /// Tries the settings in `alive`. When all fail, the first failure is the search's.
    fn rung(
        &self,
        at: At<'_>,
        material: &Material,
        alive: &[usize],
        share: f64,
    ) -> Result<Vec<Result<Tried>>> {
        let one = |&c: &usize| self.trial(at, material, c, share);
        let mut tried: Vec<Result<Tried>> = if self.experiment.spec.one_at_a_time {
            alive.iter().map(one).collect()
        } else {
            alive.par_iter().map(one).collect()
        };
        let all_failed = tried.iter().all(|t| t.is_err());
        let fatal = |e: &Error| all_failed || matches!(e.kind(), ErrorKind::Io | ErrorKind::Interrupted);
        match tried.iter().position(|t| t.as_ref().is_err_and(fatal)) {
            Some(place) => tried.swap_remove(place).map(|_| Vec::new()),
            None => Ok(tried),
        }
    }

    fn trial(&self, at: At<'_>, material: &Material, candidate: usize, share: f64) -> Result<Tried> {
        let job = format!("{} share {share}", self.job_name(at, material, candidate));
        let tried = match self.journal.finished(&job) {
            Some(Finished::Trial(tried)) => Ok(*tried),
            _ => {
                let (train, valid) = (&at.folded.train, at.folded.valid.as_ref());
                let tried = self.setting(at, candidate).try_out(train, valid, share, self.observer.stop);
                tried.and_then(|tried| self.journal.add(&job, &Finished::Trial(tried)).map(|()| tried))
            }
        };
        self.tell(&job, tried.as_ref().ok().and_then(|t| t.valid));
        tried
    }

    fn test(&self, at: At<'_>, material: &Material, candidate: usize) -> Result<Tested> {
        let job = format!("{} test", self.job_name(at, material, candidate));
        let tested = match self.journal.finished(&job) {
            Some(Finished::Test(tested)) => tested.clone(),
            _ => {
                let tested = self.setting(at, candidate).test(at.folded, self.observer.stop)?;
                self.journal.add(&job, &Finished::Test(tested.clone()))?;
                tested
            }
        };
        self.tell(&job, tested.valid);
        Ok(tested)
    }

    /// Everything that tells this job from every other of the experiment.
    fn job_name(&self, at: At<'_>, material: &Material, candidate: usize) -> String {
        let candidates = &self.experiment.candidates[at.system];
        let trainer = &candidates.trainers[candidate];
        let parameters = serde_json::to_string(trainer.parameters()).unwrap_or_default();
        let (learner, fold) = (trainer.learner(), at.fold + 1);
        format!("{} fold {fold} repeat {} {learner} {parameters}", material.name, at.repeat)
    }

    fn setting(&self, at: At<'_>, candidate: usize) -> Setting<'_> {
        let experiment = self.experiment;
        let candidates = &experiment.candidates[at.system];
        Setting {
            trainer: &candidates.trainers[candidate],
            metrics: &experiment.metrics,
            selection: experiment.selection,
            seed: rng::derive(experiment.spec.seed, &[at.data as u64, at.fold as u64, at.repeat as u64]),
            time_limit: experiment.spec.time_limit.map(Duration::from_secs_f64),
            alone: experiment.spec.one_at_a_time,
        }
    }

    fn tell(&self, what: &str, value: Option<f64>) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.observer.done)(JobDone { done, total: self.total, what, value });
    }
}
