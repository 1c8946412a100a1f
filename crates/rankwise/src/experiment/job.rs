//! One job: train a setting, and evaluate it on validation or test queries.

use super::findings::{Curve, RankedDocument, WorstQuery};
use super::journal::{FoldResult, TestResult, TrialResult};
use super::prepared::FoldData;
use super::values::PerQuery;
use crate::data::{Dataset, Query, SplitOrder, split};
use crate::error::{Error, Result};
use crate::metrics::{Metric, evaluate};
use crate::models::{Outcome, Ranker};
use crate::rank::Ranking;
use crate::recipe::{Start, Trainer};
use crate::watch::{Progress, Stop, Watch};
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// How many of the worst queries are kept, and how many documents of each.
pub(super) const WORST: usize = 10;

/// The most points kept of a training curve.
const CURVE_POINTS: usize = 400;

/// Names of the figure in a model's record that is the iteration kept by early stopping.
const BEST_ITERATION: [&str; 2] = ["best iteration", "best round"];

/// What training needs beside the data.
pub(super) struct Setting<'a> {
    pub(super) trainer: Trainer,
    pub(super) metrics: &'a [Box<dyn Metric>],
    /// Which of the metrics parameters are chosen by.
    pub(super) selection: usize,
    pub(super) time_limit: Option<Duration>,
    /// Whether no other job runs at the same time.
    pub(super) alone: bool,
}

/// A trained model and how training went.
pub(super) struct Trained {
    pub(super) ranker: Ranker,
    recorder: Recorder,
    seconds: f64,
}

impl Trained {
    fn cut_short(&self) -> bool {
        self.ranker.record.outcome == Outcome::Interrupted
    }

    fn best_iteration(&self) -> Option<f64> {
        let figures = &self.ranker.record.figures;
        figures.iter().find(|(name, _)| BEST_ITERATION.contains(&name.as_str())).map(|(_, value)| *value)
    }
}

impl Setting<'_> {
    /// Trains a model: the only place of experiments and tuning where that happens. The data is normalized already;
    /// the ranker remembers how.
    pub(super) fn fit(
        &self,
        train: &Dataset,
        valid: Option<&Dataset>,
        watch: &mut dyn Watch,
    ) -> Result<Ranker> {
        self.trainer.fit_prepared(train, valid, Start::default(), watch)
    }

    /// The selection metric on the validation queries after training on a `fraction` of the training queries.
    pub(super) fn try_out(
        &self,
        train: &Dataset,
        valid: Option<&Dataset>,
        fraction: f64,
        stop: &Stop,
    ) -> Result<TrialResult> {
        let sample = self.sample(train, fraction)?;
        let trained = self.train(&sample, valid, stop)?;
        Ok(TrialResult {
            valid: self.selection_on(&trained, valid)?,
            seconds: trained.seconds,
            cut_short: trained.cut_short(),
            folds: Vec::new(),
        })
    }

    /// The scores of held-out queries after training on a `fraction` of the training queries, and how it went.
    pub(super) fn score_held_out(
        &self,
        train: &Dataset,
        held_out: &Dataset,
        fraction: f64,
        stop: &Stop,
    ) -> Result<HeldOut> {
        let sample = self.sample(train, fraction)?;
        let trained = self.train(&sample, Some(held_out), stop)?;
        let result = FoldResult {
            valid: self.selection_on(&trained, Some(held_out))?,
            best_iteration: trained.best_iteration(),
        };
        Ok(HeldOut {
            scores: trained.ranker.model.scores(held_out)?,
            result,
            seconds: trained.seconds,
            cut_short: trained.cut_short(),
        })
    }

    /// Trains on all training queries and evaluates on the test queries.
    pub(super) fn test(&self, data: &FoldData<'_>, stop: &Stop) -> Result<(TestResult, Ranker)> {
        let trained = self.train(&data.train, data.valid.as_deref(), stop)?;
        let (valid, cut_short) = (self.selection_on(&trained, data.valid.as_deref())?, trained.cut_short());
        let started = Instant::now();
        let scores = trained.ranker.model.scores(&data.test)?;
        let score_seconds = started.elapsed().as_secs_f64();
        let values = PerQuery::new(evaluate(&data.test, &scores, self.metrics)?.values);
        let result = TestResult {
            worst: self.worst(&data.test, &scores, values.metric(self.selection)),
            values,
            curve: trained.recorder.curve(),
            valid,
            cut_short,
            model: None,
            threads: rayon::current_num_threads(),
            alone: self.alone,
            train_seconds: trained.seconds,
            score_seconds,
        };
        Ok((result, trained.ranker))
    }

    fn train(&self, train: &Dataset, valid: Option<&Dataset>, stop: &Stop) -> Result<Trained> {
        let started = Instant::now();
        let deadline = self.time_limit.map(|limit| started + limit);
        let mut recorder = Recorder::new(stop.until(deadline));
        // A panic is a bug in the learner. It must not end the other jobs.
        let fit = || self.fit(train, valid, &mut recorder);
        let ranker = catch_unwind(AssertUnwindSafe(fit)).unwrap_or_else(|panic| {
            Err(Error::data(format!("the learner panicked: {}", panic_message(&*panic))))
        })?;
        if stop.requested() {
            return Err(Error::interrupted("stopped"));
        }
        Ok(Trained { ranker, recorder, seconds: started.elapsed().as_secs_f64() })
    }

    /// A random `fraction` of the queries, at least one.
    fn sample<'d>(&self, train: &'d Dataset, fraction: f64) -> Result<Cow<'d, Dataset>> {
        let all = train.query_count();
        let few = (fraction * all as f64).round().max(1.0) as usize;
        if few >= all {
            return Ok(Cow::Borrowed(train));
        }
        let counts = [few as f64, (all - few) as f64];
        Ok(Cow::Owned(split(train, &counts, SplitOrder::Shuffled(self.trainer.seed()))?.swap_remove(0)))
    }

    /// The worst queries with the documents ranked first. Queries for which the metric is undefined, usually because
    /// they have no relevant documents, are left out: no ranking of them is better than another.
    fn worst(&self, test: &Dataset, scores: &[f64], values: &[Option<f64>]) -> Vec<WorstQuery> {
        let metric = &self.metrics[self.selection];
        let mut order: Vec<(f64, usize)> = (0..values.len())
            .filter(|&q| !metric.is_undefined(test.query(q).labels()))
            .filter_map(|q| Some((values[q]?, q)))
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        order.truncate(WORST);
        let one = |(value, q)| worst_query(test.query(q), &scores[test.query(q).range()], value);
        order.into_iter().map(one).collect()
    }

    fn selection_on(&self, trained: &Trained, data: Option<&Dataset>) -> Result<Option<f64>> {
        let Some(data) = data else { return Ok(None) };
        let scores = trained.ranker.model.scores(data)?;
        Ok(evaluate(data, &scores, &self.metrics[self.selection..=self.selection])?.mean(0))
    }
}

/// The scores of held-out queries and how training went.
pub(super) struct HeldOut {
    pub(super) scores: Vec<f64>,
    pub(super) result: FoldResult,
    pub(super) seconds: f64,
    pub(super) cut_short: bool,
}

/// The message of a panic.
fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it gave no message")
}

fn worst_query(query: Query<'_>, scores: &[f64], value: f64) -> WorstQuery {
    let labels = query.labels();
    let ranking = Ranking::by_scores(scores);
    let document = |&d: &u32| {
        let d = d as usize;
        let id = query.document_id(d).map_or_else(|| (d + 1).to_string(), str::to_owned);
        // JSON has no infinity.
        RankedDocument { id, grade: labels[d], score: scores[d].clamp(f64::MIN, f64::MAX) }
    };
    let mut best_grades = labels.to_vec();
    best_grades.sort_by(|a, b| b.total_cmp(a));
    best_grades.truncate(WORST);
    WorstQuery {
        query: query.index(),
        value,
        top: ranking.order().iter().take(WORST).map(document).collect(),
        best_grades,
    }
}

/// Records the progress of training: every step at first, then ever fewer so that memory stays bounded.
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
    fn step(&mut self, step: Progress<'_>) {
        // A learner may show another figure before the value, as in "loss 0.25, ndcg@10 (valid)".
        let what = step.what.rsplit(", ").next().unwrap_or_default();
        if self.what != what {
            self.what = what.to_owned();
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
    fn a_curve_is_named_by_its_value_alone() {
        let mut recorder = Recorder::new(Stop::default());
        for done in 0..3 {
            let what = format!("exponential loss {:.6}, ndcg@10 (valid)", 1.0 / (1 + done) as f64);
            recorder.step(Progress { done, total: None, what: &what, value: 0.5 });
        }
        assert_eq!(recorder.curve().unwrap().what, "ndcg@10 (valid)");
    }

    #[test]
    fn a_long_curve_is_thinned_evenly() {
        let mut recorder = Recorder::new(Stop::default());
        for done in 0..10_000 {
            recorder.step(Progress { done, total: None, what: "x", value: done as f64 });
        }
        let curve = recorder.curve().unwrap();
        assert!((150..=CURVE_POINTS).contains(&curve.points.len()), "{}", curve.points.len());
        let gaps: Vec<u64> = curve.points.windows(2).map(|w| w[1].0 - w[0].0).collect();
        assert!(gaps.iter().all(|g| *g == gaps[0]), "{gaps:?}");
    }
}
