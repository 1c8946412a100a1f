//! What an experiment is to do, without its data: metrics, systems with their settings, and the jobs.

use super::job::Setting;
use super::journal::{JobResult, ValidValues};
use super::prepared::{FoldData, PreparedData};
use super::search::Candidates;
use super::spec::Spec;
use crate::card;
use crate::error::Result;
use crate::metrics::{Conventions, Metric, parse, parse_list, preset};
use crate::models::Ranker;
use crate::recipe::Recipe;
use crate::rng;
use crate::watch::Stop;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// An experiment file, checked and complete. A job needs nothing else beside the data.
pub(super) struct Plan {
    pub(super) spec: Spec,
    pub(super) metrics: Vec<Box<dyn Metric>>,
    /// How many of the metrics are shown in tables.
    pub(super) shown: usize,
    /// Which of the metrics parameters are chosen by.
    pub(super) selection: usize,
    pub(super) conventions: Conventions,
    pub(super) systems: Vec<LearnerSystem>,
}

/// A learner and the settings to try.
pub(super) struct LearnerSystem {
    /// The learner's name.
    pub(super) learner: String,
    pub(super) candidates: Candidates,
}

impl LearnerSystem {
    /// Whether parameters are searched for.
    pub(super) fn is_searched(&self) -> bool {
        self.candidates.varied.len() > 1
    }

    /// Jobs per fold and repeat.
    pub(super) fn jobs(&self) -> usize {
        if self.is_searched() { self.candidates.trials() + 1 } else { 1 }
    }
}

/// What a job works on, by numbers from 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct JobPlace {
    pub(super) data: usize,
    pub(super) fold: usize,
    pub(super) system: usize,
    pub(super) repeat: usize,
}

/// One training and what follows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) at: JobPlace,
    /// The number of the setting.
    pub(super) setting: usize,
    pub(super) kind: JobKind,
}

/// What a job is for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum JobKind {
    /// To try a setting on a fraction of the training queries.
    Trial {
        /// That fraction.
        fraction: f64,
    },
    /// To train the chosen setting and test it.
    Test,
}

impl Plan {
    /// Checks everything that can be checked without data.
    pub(super) fn new(spec: Spec) -> Result<Plan> {
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
        Ok(Plan { spec, metrics, shown, selection, conventions, systems })
    }

    /// The seed of all jobs of one fold in one repeat.
    pub(super) fn job_seed(&self, data: usize, fold: usize, repeat: usize) -> u64 {
        rng::derive(self.spec.seed, &[data as u64, fold as u64, repeat as u64])
    }

    /// A name that no other job of the experiment has.
    pub(super) fn job_name(&self, job: &Job) -> String {
        let Job { at, setting, kind } = job;
        let LearnerSystem { learner, candidates } = &self.systems[at.system];
        let parameters = candidates.trainers[*setting].parameters();
        let parameters = serde_json::to_string(parameters).unwrap_or_default();
        let data = &self.spec.data[at.data].name;
        let what = match kind {
            JobKind::Trial { fraction } => format!("fraction {fraction}"),
            JobKind::Test => "test".to_owned(),
        };
        format!("{data} fold {} repeat {} {learner} {parameters} {what}", at.fold + 1, at.repeat)
    }

    /// Trains, and evaluates on the validation or test queries. A test returns its model too.
    pub(super) fn perform(
        &self,
        job: &Job,
        data: &PreparedData,
        fold: &FoldData<'_>,
        stop: &Stop,
    ) -> Result<(JobResult, Option<Ranker>)> {
        let setting = self.setting(job, data);
        match job.kind {
            JobKind::Trial { fraction } => {
                let tried = setting.try_out(&fold.train, fold.valid.as_deref(), fraction, stop)?;
                Ok((JobResult::Trial(tried), None))
            }
            JobKind::Test => {
                let (tested, ranker) = setting.test(fold, stop)?;
                Ok((JobResult::Test(tested), Some(ranker)))
            }
        }
    }

    /// What the values of a job must look like where the fold has so many test queries.
    pub(super) fn valid_values(&self, queries: usize) -> ValidValues<'_> {
        ValidValues { metrics: &self.metrics, selection: self.selection, queries }
    }

    fn setting(&self, job: &Job, data: &PreparedData) -> Setting<'_> {
        let at = job.at;
        Setting {
            trainer: self.systems[at.system].candidates.trainers[job.setting]
                .with_seed(self.job_seed(at.data, at.fold, at.repeat))
                .with_normalizer(data.normalizer.clone()),
            metrics: &self.metrics,
            selection: self.selection,
            time_limit: self.spec.time_limit.map(Duration::from_secs_f64),
            alone: self.spec.one_at_a_time,
        }
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
