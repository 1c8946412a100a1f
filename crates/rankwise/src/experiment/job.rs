//! One job: train a setting, and measure it on validation or test queries.

use super::findings::{Curve, RankedDocument};
use super::journal::{Tested, Tried, Worst};
use super::material::FoldData;
use crate::data::{Dataset, Query, SplitOrder, split};
use crate::error::{Error, Result};
use crate::metrics::{Metric, evaluate};
use crate::models::Outcome;
use crate::models::Ranker;
use crate::rank::Ranking;
use crate::recipe::{Start, Trainer};
use crate::watch::{Step, Stop, Watch};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// How many of the worst queries are kept, and how many documents of each.
pub(super) const WORST: usize = 10;

/// The most points kept of a training curve.
const CURVE_POINTS: usize = 400;

/// What training needs beside the data.
pub(super) struct Setting<'a> {
    pub(super) trainer: &'a Trainer,
    pub(super) metrics: &'a [Box<dyn Metric>],
    /// Which of the measures parameters are chosen by.
    pub(super) selection: usize,
    pub(super) seed: u64,
    pub(super) time_limit: Option<Duration>,
    /// Whether no other job runs beside it.
    pub(super) alone: bool,
}

/// A model and how it was come by.
struct Trained {
    fitted: Ranker,
    recorder: Recorder,
    seconds: f64,
}

impl Trained {
    fn cut_short(&self) -> bool {
        self.fitted.record.outcome == Outcome::Interrupted
    }
}

impl Setting<'_> {
    /// The selection measure on the validation queries after training on a `share` of the training queries.
    pub(super) fn try_out(
        &self,
        train: &Dataset,
        valid: Option<&Dataset>,
        share: f64,
        stop: &Stop,
    ) -> Result<Tried> {
        let (all, few) =
            (train.query_count(), (share * train.query_count() as f64).round().max(1.0) as usize);
        let some;
        let used = if few < all {
            let counts = [few as f64, (all - few) as f64];
            some = split(train, &counts, SplitOrder::Shuffled(self.seed))?.swap_remove(0);
            &some
        } else {
            train
        };
        let trained = self.train(used, valid, stop)?;
        let valid = self.selection_on(&trained, valid)?;
        Ok(Tried { valid, seconds: trained.seconds, cut_short: trained.cut_short() })
    }

    /// How the setting does on the test queries after training on all training queries.
    pub(super) fn test(&self, data: &FoldData, stop: &Stop) -> Result<Tested> {
        let trained = self.train(&data.train, data.valid.as_ref(), stop)?;
        let (valid, cut_short) = (self.selection_on(&trained, data.valid.as_ref())?, trained.cut_short());
        let begun = Instant::now();
        let scores = trained.fitted.model.scores(&data.test)?;
        let score_seconds = begun.elapsed().as_secs_f64();
        let values = evaluate(&data.test, &scores, self.metrics)?.values;
        Ok(Tested {
            worst: worst(&data.test, &scores, &values[self.selection]),
            values,
            curve: trained.recorder.curve(),
            valid,
            cut_short,
            threads: rayon::current_num_threads(),
            alone: self.alone,
            train_seconds: trained.seconds,
            score_seconds,
        })
    }

    fn train(&self, train: &Dataset, valid: Option<&Dataset>, stop: &Stop) -> Result<Trained> {
        let begun = Instant::now();
        let deadline = self.time_limit.map(|limit| begun + limit);
        let mut recorder = Recorder::new(stop.until(deadline));
        let trainer = self.trainer.with_seed(self.seed);
        // A learner that panics has a bug; the other jobs are none the worse for it.
        let fitted = catch_unwind(AssertUnwindSafe(|| {
            trainer.fit_prepared(train, valid, Start::default(), &mut recorder)
        }))
        .unwrap_or_else(|panic| Err(Error::data(format!("the learner broke down: {}", words_of(&panic)))))?;
        if stop.requested() {
            return Err(Error::interrupted("stopped"));
        }
        Ok(Trained { fitted, recorder, seconds: begun.elapsed().as_secs_f64() })
    }

    fn selection_on(&self, trained: &Trained, data: Option<&Dataset>) -> Result<Option<f64>> {
        let Some(data) = data else { return Ok(None) };
        let scores = trained.fitted.model.scores(data)?;
        Ok(evaluate(data, &scores, &self.metrics[self.selection..=self.selection])?.mean(0))
    }
}

/// What a panic said.
fn words_of(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it does not say why")
}

/// The worst queries with the documents ranked first.
fn worst(test: &Dataset, scores: &[f64], values: &[Option<f64>]) -> Vec<Worst> {
    let mut order: Vec<(f64, usize)> =
        values.iter().enumerate().filter_map(|(q, value)| value.map(|v| (v, q))).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    order.truncate(WORST);
    order
        .into_iter()
        .map(|(value, q)| worst_query(test.query(q), &scores[test.query(q).range()], value))
        .collect()
}

fn worst_query(query: Query<'_>, scores: &[f64], value: f64) -> Worst {
    let labels = query.labels();
    let ranking = Ranking::by_scores(scores);
    let document = |&d: &u32| {
        let d = d as usize;
        let id = query.document_id(d).map_or_else(|| (d + 1).to_string(), str::to_owned);
        RankedDocument { id, grade: labels[d], score: scores[d] }
    };
    let mut best_grades = labels.to_vec();
    best_grades.sort_by(|a, b| b.total_cmp(a));
    best_grades.truncate(WORST);
    Worst {
        query: query.index(),
        value,
        top: ranking.order().iter().take(WORST).map(document).collect(),
        best_grades,
    }
}

/// Keeps the steps of a training, every one at first and ever fewer as they grow many.
struct Recorder {
    stop: Stop,
    what: String,
    points: Vec<(u64, f64)>,
    seen: u64,
    stride: u64,
}

impl Recorder {
    fn new(stop: Stop) -> Self {
        Recorder { stop, what: String::new(), points: Vec::new(), seen: 0, stride: 1 }
    }

    fn curve(self) -> Option<Curve> {
        (self.points.len() > 1).then_some(Curve { fold: 0, repeat: 0, what: self.what, points: self.points })
    }
}

impl Watch for Recorder {
    fn step(&mut self, step: Step<'_>) {
        if self.what != step.what {
            self.what = step.what.to_owned();
        }
        if self.seen.is_multiple_of(self.stride) && step.value.is_finite() {
            self.points.push((step.done, step.value));
        }
        self.seen += 1;
        if self.points.len() > CURVE_POINTS {
            let mut number = 0;
            self.points.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.stride *= 2;
        }
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_curve_is_thinned_evenly() {
        let mut recorder = Recorder::new(Stop::default());
        for done in 0..10_000 {
            recorder.step(Step { done, total: None, what: "x", value: done as f64 });
        }
        let curve = recorder.curve().unwrap();
        assert!((150..=CURVE_POINTS).contains(&curve.points.len()), "{}", curve.points.len());
        let gaps: Vec<u64> = curve.points.windows(2).map(|w| w[1].0 - w[0].0).collect();
        assert!(gaps.iter().all(|g| *g == gaps[0]), "{gaps:?}");
    }
}
