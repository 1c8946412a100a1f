//! Tuning one learner on one data set: the same search as in an experiment, and a model at its end.
//!
//! Settings are compared on validation data, or by cross-validation:
//!
//! ```text
//! fold f of k:   train on the queries outside f, score the queries in f
//! value          the metric over all queries, each scored by the model that did not see it
//! model          the best setting, trained on all queries
//! ```
//!
//! A learner that stops early needs validation queries to know when. In cross-validation the held-out queries serve for
//! that as well, and the final training, which has none, runs for the number of iterations that the folds kept on
//! average.

use super::job::{HeldOut, Setting};
use super::journal::TrialResult;
use super::run::JobDone;
use super::search::{Attempt, Candidates, shown};
use super::spec::Search;
use crate::data::{Dataset, equal_folds};
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::{Metric, evaluate};
use crate::models::Ranker;
use crate::parallel;
use crate::recipe::{Recipe, Trainer};
use crate::watch::{Stop, Watch};
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};
use toml::Table;

/// The names that learners give to their number of iterations.
const ITERATIONS: [&str; 2] = ["iterations", "epochs"];

/// What to tune, on what data.
pub struct Tuning<'a> {
    /// The learner with its fixed parameters, and the metric to choose by.
    pub recipe: &'a Recipe,
    /// Parameters to search, as in an experiment file.
    pub grid: &'a Table,
    /// How to search.
    pub search: &'a Search,
    /// The training queries, prepared as the recipe asks for.
    pub train: &'a Dataset,
    /// The queries that settings are compared on.
    pub validation: Validation<'a>,
    /// The metric to choose by.
    pub metric: &'a [Box<dyn Metric>; 1],
}

/// The queries that settings are compared on.
#[derive(Debug, Clone, Copy)]
pub enum Validation<'a> {
    /// A data set of its own.
    Data(&'a Dataset),
    /// The training queries, by cross-validation with this many folds; at least 2.
    Folds(usize),
}

/// The settings tried and the model of the best.
#[derive(Debug)]
pub struct Tuned {
    /// The model of the best setting, with all its parameters.
    pub ranker: Ranker,
    /// The metric of the best setting on the validation queries.
    pub value: Option<f64>,
    /// Every setting tried, in order.
    pub trials: Vec<TunedTrial>,
    /// Settings that failed, a sentence each.
    pub failures: Vec<String>,
    /// The number of folds, in cross-validation.
    pub folds: Option<usize>,
    /// The iterations of the final training, where cross-validation found them.
    pub iterations: Option<TunedIterations>,
}

/// One setting tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TunedTrial {
    /// The parameters that the search varies.
    pub parameters: Table,
    /// The fraction of the training queries used: 1, or less in successive halving.
    pub fraction: f64,
    /// The metric on the validation queries; none where training failed.
    pub valid: Option<f64>,
    /// The metric on the held-out queries of each fold; empty without cross-validation.
    pub folds: Vec<Option<f64>>,
}

/// How long the final training runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TunedIterations {
    /// The parameter's name.
    pub parameter: &'static str,
    /// The mean over folds of the iteration that early stopping kept, rounded.
    pub count: u64,
}

/// The queries of one fold.
struct HeldOutFold {
    /// The queries outside the fold.
    train: Dataset,
    /// The queries of the fold.
    held_out: Dataset,
    /// Their numbers in all training data.
    queries: Vec<usize>,
}

impl Tuning<'_> {
    /// A sentence if tuning may take very long, with what to do about it. The time is rough, for one thread.
    pub fn forecast(&self) -> Result<Option<String>> {
        let trainer = self.recipe.check()?;
        let candidates = Candidates::new(self.recipe, self.grid, self.search, trainer.seed())?;
        let folds = match self.validation {
            Validation::Data(_) => 1,
            Validation::Folds(k) => k,
        };
        Ok(candidates.time(self.train, folds, 1).forecast(&format!("tuning {}", trainer.learner())))
    }

    /// Tries all settings, calls `done` after each, and trains the best one with `watch`.
    ///
    /// The result depends on the seed, but not on the number of threads.
    pub fn run(&self, done: &(dyn Fn(JobDone<'_>) + Sync), watch: &mut dyn Watch) -> Result<Tuned> {
        let candidates = Candidates::new(self.recipe, self.grid, self.search, self.recipe.check()?.seed())?;
        let folds = match self.validation {
            Validation::Data(_) => Vec::new(),
            Validation::Folds(k) => self.divided(k)?,
        };
        let (stop, counter, total) = (watch.stop().clone(), AtomicUsize::new(0), candidates.trials());
        let attempt = |setting: usize, fraction: f64| {
            let result = self.attempt(&candidates.trainers[setting], &folds, fraction, &stop);
            let value = result.as_ref().ok().and_then(|trial| trial.valid);
            let (done_now, what) =
                (counter.fetch_add(1, Ordering::Relaxed) + 1, shown(&candidates.varied[setting]));
            done(JobDone { done: done_now, total, what: &what, value });
            result
        };
        let choice = candidates.search(false, attempt).map_err(|e| match e.kind() {
            ErrorKind::Interrupted => {
                Error::interrupted("stopped before the search ended; nothing was written")
            }
            _ => e,
        })?;
        let mut trainer = candidates.trainers[choice.winner].clone();
        let iterations =
            choice.winning_trial().and_then(|trial| kept_iterations(trial, trainer.parameters()));
        if let Some(TunedIterations { parameter, count }) = iterations {
            let mut parameters = trainer.parameters().clone();
            parameters.insert(parameter.to_owned(), toml::Value::Integer(count as i64));
            trainer = self.recipe.clone().set_only(parameters).check()?;
        }
        let valid = match self.validation {
            Validation::Data(valid) => Some(valid),
            Validation::Folds(_) => None,
        };
        let ranker = self.setting(&trainer).fit(self.train, valid, watch)?;
        let trial = |attempt: &Attempt| TunedTrial {
            parameters: candidates.varied[attempt.setting].clone(),
            fraction: attempt.fraction,
            valid: attempt.result.as_ref().and_then(|trial| trial.valid),
            folds: attempt.result.iter().flat_map(|trial| &trial.folds).map(|fold| fold.valid).collect(),
        };
        Ok(Tuned {
            ranker,
            value: choice.winning_trial().and_then(|trial| trial.valid),
            trials: choice.trials.iter().map(trial).collect(),
            failures: choice.failures,
            folds: (!folds.is_empty()).then_some(folds.len()),
            iterations,
        })
    }

    fn setting(&self, trainer: &Trainer) -> Setting<'_> {
        Setting {
            trainer: trainer.clone(),
            metrics: self.metric,
            selection: 0,
            time_limit: None,
            alone: false,
        }
    }

    /// Tries a setting on the validation data, or on all folds in parallel.
    fn attempt(
        &self,
        trainer: &Trainer,
        folds: &[HeldOutFold],
        fraction: f64,
        stop: &Stop,
    ) -> Result<TrialResult> {
        let setting = self.setting(trainer);
        if let Validation::Data(valid) = self.validation {
            return setting.try_out(self.train, Some(valid), fraction, stop);
        }
        let one = |fold: &HeldOutFold| setting.score_held_out(&fold.train, &fold.held_out, fraction, stop);
        let of_folds: Vec<HeldOut> = parallel::map(folds, one).into_iter().collect::<Result<_>>()?;
        let mut scores = vec![0.0; self.train.len()];
        for (fold, held_out) in folds.iter().zip(&of_folds) {
            let mut given = held_out.scores.iter();
            for &query in &fold.queries {
                let bounds = self.train.bounds();
                scores[bounds[query]..bounds[query + 1]]
                    .iter_mut()
                    .zip(&mut given)
                    .for_each(|(s, g)| *s = *g);
            }
        }
        Ok(TrialResult {
            valid: evaluate(self.train, &scores, self.metric)?.mean(0),
            seconds: of_folds.iter().map(|fold| fold.seconds).sum(),
            cut_short: of_folds.iter().any(|fold| fold.cut_short),
            folds: of_folds.iter().map(|fold| fold.result).collect(),
        })
    }

    /// The training queries in `k` folds of equal size, shuffled by the seed.
    fn divided(&self, k: usize) -> Result<Vec<HeldOutFold>> {
        let count = self.train.query_count();
        let folds = equal_folds(count, k, self.recipe.check()?.seed())?;
        let fold = |queries: Vec<usize>| {
            let others: Vec<usize> =
                (0..count).filter(|query| queries.binary_search(query).is_err()).collect();
            let held_out = self.train.select_queries(&queries);
            HeldOutFold { train: self.train.select_queries(&others), held_out, queries }
        };
        Ok(folds.into_iter().map(fold).collect())
    }
}

/// The iterations of the final training: the mean of what the folds kept, where every fold stopped early.
fn kept_iterations(trial: &TrialResult, parameters: &Table) -> Option<TunedIterations> {
    let parameter = ITERATIONS.into_iter().find(|name| parameters.contains_key(*name))?;
    let kept: Vec<f64> = trial.folds.iter().map(|fold| fold.best_iteration).collect::<Option<_>>()?;
    if kept.is_empty() {
        return None;
    }
    let mean = kept.iter().sum::<f64>() / kept.len() as f64;
    Some(TunedIterations { parameter, count: mean.round().max(1.0) as u64 })
}
