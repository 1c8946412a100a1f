//! Tuning one learner on one data set: the same search as in an experiment, and a model at its end.

use super::findings::Trial;
use super::job::Setting;
use super::run::{JobDone, shown};
use super::search;
use super::spec::Search;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::metrics::Metric;
use crate::models::Ranker;
use crate::recipe::{Recipe, Start, Trainer};
use crate::watch::{Stop, Watch};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use toml::Table;

/// What to tune, on what.
pub struct Tuning<'a> {
    /// The learner with its fixed parameters.
    pub recipe: Recipe,
    /// Parameters to search, as in an experiment file.
    pub grid: &'a Table,
    /// How to search.
    pub search: &'a Search,
    /// The queries to learn from.
    pub train: &'a Dataset,
    /// The queries to choose on.
    pub valid: &'a Dataset,
    /// The measure to choose by.
    pub metric: &'a [Box<dyn Metric>; 1],
    /// The seed of everything left to chance.
    pub seed: u64,
}

/// The settings tried and the model of the best.
pub struct Tuned {
    /// All parameters of the best setting.
    pub parameters: Table,
    /// Every setting tried, in order.
    pub trials: Vec<Trial>,
    /// Settings that failed, a sentence each.
    pub failures: Vec<String>,
    /// The model of the best setting.
    pub ranker: Ranker,
}

impl Tuning<'_> {
    /// Tries all settings, tells `done` of each, and trains the best one anew under the eyes of `watch`.
    pub fn run(&self, done: &(dyn Fn(JobDone<'_>) + Sync), watch: &mut dyn Watch) -> Result<Tuned> {
        let varied = search::settings(self.search, self.grid, self.seed)?;
        let trainer = |over: &Table| self.recipe.clone().set_all(over.clone()).check();
        let trainers = varied.iter().map(trainer).collect::<Result<Vec<_>>>()?;
        let stop = watch.stop().clone();
        let (winner, trials, failures) = self.search(&varied, &trainers, done, &stop)?;
        let parameters = trainers[winner].parameters().clone();
        let ranker = trainers[winner].fit_prepared(self.train, Some(self.valid), Start::default(), watch)?;
        Ok(Tuned { parameters, trials, failures, ranker })
    }

    fn search(
        &self,
        varied: &[Table],
        trainers: &[Trainer],
        done: &(dyn Fn(JobDone<'_>) + Sync),
        stop: &Stop,
    ) -> Result<(usize, Vec<Trial>, Vec<String>)> {
        let rungs = search::rungs(self.search, varied.len());
        let total = rungs.iter().map(|r| r.settings).sum();
        let counter = AtomicUsize::new(0);
        let mut alive: Vec<usize> = (0..varied.len()).collect();
        let (mut trials, mut failures) = (Vec::new(), Vec::new());
        for rung in rungs {
            alive.truncate(rung.settings);
            let tried: Vec<Result<Option<f64>>> = alive
                .par_iter()
                .map(|&c| {
                    let setting = Setting {
                        trainer: &trainers[c],
                        metrics: self.metric,
                        selection: 0,
                        seed: self.seed,
                        time_limit: None,
                        alone: false,
                    };
                    let tried =
                        setting.try_out(self.train, Some(self.valid), rung.share, stop).map(|t| t.valid);
                    let value = tried.as_ref().ok().copied().flatten();
                    let done_now = counter.fetch_add(1, Ordering::Relaxed) + 1;
                    done(JobDone { done: done_now, total, what: &shown(&varied[c]), value });
                    tried
                })
                .collect();
            if stop.requested() {
                return Err(Error::interrupted("stopped before the search ended; nothing was written"));
            }
            if tried.iter().all(Result::is_err) {
                return Err(tried
                    .into_iter()
                    .find_map(Result::err)
                    .unwrap_or_else(|| Error::data("no settings")));
            }
            let failed = alive.iter().zip(&tried).filter_map(|(&c, t)| Some((c, t.as_ref().err()?)));
            failures.extend(failed.map(|(c, e)| format!("{}: {e}", shown(&varied[c]))));
            let values: Vec<Option<f64>> = tried.into_iter().map(|t| t.ok().flatten()).collect();
            if values.iter().all(Option::is_none) {
                return Err(Error::data("the measure skips every validation query"));
            }
            trials.extend(alive.iter().zip(&values).map(|(&c, &valid)| Trial {
                fold: 0,
                repeat: 0,
                parameters: varied[c].clone(),
                share: rung.share,
                valid,
            }));
            alive = search::best(&values, alive.len()).into_iter().map(|i| alive[i]).collect();
        }
        Ok((alive[0], trials, failures))
    }
}
