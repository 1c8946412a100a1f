//! Feature importance: by the splits of trees, and by the drop of a metric when a feature is shuffled.

use super::value;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::metrics::{Metric, evaluate};
use crate::models::Model;
use crate::parallel;
use crate::rng;
use crate::watch::{Progress, Watch};
use rand::seq::SliceRandom;
use serde::Serialize;
use std::sync::Mutex;

/// Names the streams of shuffled columns: `(this, feature, repeat)`.
const SHUFFLE_STREAM: u64 = 0x7368_7566;

/// Shuffles of one column that are scored together: their scores are in memory at a time.
const TOGETHER: usize = 8;

/// How the trees of a model use one feature.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Splits {
    /// How many nodes test it.
    pub count: u64,
    /// How much those splits lowered the objective in training, in all; 0 where that is not known.
    pub gain: f64,
}

/// How often the trees of `model` test each feature column; `None` if it has no trees.
pub fn splits(model: &Model) -> Option<Vec<Splits>> {
    model.shape().splits()
}

/// Importance by permutation: how far a metric drops when the values of one feature are shuffled over all documents
/// (`breiman2001random`).
///
/// Over all documents, not within each query: a feature that is the same for a whole query can matter to trees, and
/// a shuffle within queries would not touch it.
pub struct Permutation {
    /// The metric.
    pub metric: Box<dyn Metric>,
    /// How often each feature is shuffled; at least 1.
    pub repeats: usize,
    /// The seed of the shuffles.
    pub seed: u64,
}

/// How far a metric drops when features are shuffled.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PermutationImportance {
    /// The metric's name.
    pub metric: String,
    /// Its mean on the data as it is.
    pub value: f64,
    /// Its drop for each feature column.
    pub drops: Vec<Drop>,
}

/// How far a metric dropped over several shuffles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Drop {
    /// The mean; negative where the shuffle helped, exactly 0 for a feature that the model does not use.
    pub mean: f64,
    /// The standard deviation of a single shuffle's drop; `None` after one shuffle alone.
    pub deviation: Option<f64>,
}

/// The most shuffles of a feature.
const MAX_REPEATS: usize = 10_000;

impl Permutation {
    /// The importance of every feature of `model` on `data`, which is as the model sees it. The same for any number
    /// of threads. A step of `watch` is a feature that the model uses.
    pub fn importance(
        &self,
        model: &Model,
        data: &Dataset,
        watch: &mut (dyn Watch + Send),
    ) -> Result<PermutationImportance> {
        if !(1..=MAX_REPEATS).contains(&self.repeats) {
            return Err(Error::parameter(format!(
                "`repeats` is {}; each feature is shuffled from 1 to {MAX_REPEATS} times",
                self.repeats
            )));
        }
        model.check_width(data.width())?;
        let value = self.evaluate(data, &model.scores(data)?)?;
        let mut used = model.shape().used_columns();
        // Columns that the data lacks are 0 for all documents, shuffled or not.
        used[data.width()..].fill(false);
        let steps = Steps::new(watch, used.iter().filter(|used| **used).count());
        let drops = parallel::map(used.into_iter().enumerate(), |(column, used)| match used {
            true => steps.report(self.drop(model, data, column, value)?),
            false => Ok(self.none()),
        });
        let drops = drops.into_iter().collect::<Result<Vec<Drop>>>()?;
        Ok(PermutationImportance { metric: self.metric.name(), value, drops })
    }

    /// The drop of a feature that cannot change a score.
    fn none(&self) -> Drop {
        Drop { mean: 0.0, deviation: (self.repeats > 1).then_some(0.0) }
    }

    /// The drop of one feature.
    fn drop(&self, model: &Model, data: &Dataset, column: usize, value: f64) -> Result<Drop> {
        let mut drops = Vec::with_capacity(self.repeats);
        for first in (0..self.repeats).step_by(TOGETHER) {
            let repeats = first..self.repeats.min(first + TOGETHER);
            for scores in self.scores_when_shuffled(model, data, column, repeats) {
                drops.push(value - self.evaluate(data, &scores)?);
            }
        }
        let count = drops.len() as f64;
        let mean = drops.iter().sum::<f64>() / count;
        let squares: f64 = drops.iter().map(|d| (d - mean).powi(2)).sum();
        Ok(Drop { mean, deviation: (drops.len() > 1).then(|| (squares / (count - 1.0)).sqrt()) })
    }

    /// All scores, once for each of the `repeats`.
    fn scores_when_shuffled(
        &self,
        model: &Model,
        data: &Dataset,
        column: usize,
        repeats: std::ops::Range<usize>,
    ) -> Vec<Vec<f64>> {
        let values: Vec<f32> = (0..data.len()).map(|i| value(data.row(i), column)).collect();
        let shuffled: Vec<Vec<f32>> = repeats
            .map(|repeat| {
                let mut values = values.clone();
                values.shuffle(&mut rng::stream(self.seed, &[SHUFFLE_STREAM, column as u64, repeat as u64]));
                values
            })
            .collect();
        let columns = [column];
        let mut substitute = model.shape().substitute(&columns);
        let mut scores = vec![vec![0.0; data.len()]; shuffled.len()];
        let (mut candidates, mut found) = (vec![0.0; shuffled.len()], vec![0.0; shuffled.len()]);
        for i in 0..data.len() {
            candidates.iter_mut().zip(&shuffled).for_each(|(x, values)| *x = values[i]);
            substitute.scores(data.row(i), &candidates, &mut found);
            scores.iter_mut().zip(&found).for_each(|(scores, score)| scores[i] = *score);
        }
        scores
    }

    fn evaluate(&self, data: &Dataset, scores: &[f64]) -> Result<f64> {
        evaluate(data, scores, std::slice::from_ref(&self.metric))?.mean(0).ok_or_else(|| {
            Error::data(format!(
                "{} is not defined for any query of the data, so importance cannot be measured by it",
                self.metric.name()
            ))
        })
    }
}

/// Reports the features that several threads finish.
struct Steps<'a> {
    watch: Mutex<Watched<'a>>,
    total: u64,
}

struct Watched<'a> {
    watch: &'a mut (dyn Watch + Send),
    done: u64,
    largest: f64,
}

impl<'a> Steps<'a> {
    fn new(watch: &'a mut (dyn Watch + Send), total: usize) -> Self {
        let watch = Mutex::new(Watched { watch, done: 0, largest: f64::NEG_INFINITY });
        Steps { watch, total: total as u64 }
    }

    /// Counts one more feature with this drop. Fails if a stop was requested.
    fn report(&self, drop: Drop) -> Result<Drop> {
        let mut watched = self.watch.lock().unwrap_or_else(|e| e.into_inner());
        watched.done += 1;
        watched.largest = watched.largest.max(drop.mean);
        let (done, value) = (watched.done, watched.largest);
        watched.watch.step(Progress { done, total: Some(self.total), what: "largest drop", value });
        match watched.watch.stop().requested() {
            true => Err(Error::interrupted("stopped before the importance of every feature was known")),
            false => Ok(drop),
        }
    }
}
