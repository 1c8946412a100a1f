//! Maximising one metric along one coordinate at a time, recomputing only what a step can change.

use super::CoordinateAscent;
use crate::data::Dataset;
use crate::learners::direct::columns::Varying;
use crate::learners::direct::terrain::Terrain;
use crate::metrics::Metric;
use crate::parallel;
use crate::rank::Sorter;
use crate::rng;
use crate::watch::Stop;
use rand::RngExt;
use rand::seq::SliceRandom;

/// Queries per task; constant, so that sums do not depend on the number of threads.
const QUERIES_PER_CHUNK: usize = 16;

/// A gain below this is rounding, not progress.
const LEAST_GAIN: f64 = 1e-12;

/// First parts of the paths of the random streams.
const START_STREAM: u64 = 1;
const ORDER_STREAM: u64 = 2;

/// The data shared by the climbs from all starts.
pub(super) struct Hill<'a> {
    pub metric: &'a dyn Metric,
    pub terrain: Terrain<'a>,
    seed: u64,
}

/// The state of one climb.
#[derive(Clone)]
pub(super) struct Climb {
    start: u64,
    pub weights: Vec<f64>,
    /// Scores of all documents with `weights`.
    scores: Vec<f64>,
    /// The metric of each query with `scores`.
    values: Vec<f64>,
    /// The mean of `values`.
    pub height: f64,
    /// `Σ |weight|·scale`: the unit of the steps.
    length: f64,
}

impl<'a> Hill<'a> {
    pub(super) fn new(data: &'a Dataset, metric: &'a dyn Metric, seed: u64) -> Self {
        Hill { metric, terrain: Terrain::new(data, metric), seed }
    }

    /// Start number `start`. The first weights each feature by its correlation with the labels; the others
    /// are random directions. (On OHSUMED, starts with the signs of the correlations ended neither higher nor
    /// lower.)
    pub(super) fn start(&self, start: u64) -> Climb {
        let mut random = rng::stream(self.seed, &[START_STREAM, start]);
        let mut weight = |c: usize| match self.terrain.scales[c] {
            0.0 => 0.0,
            scale if start == 0 => self.terrain.correlations[c] / scale,
            scale => random.random_range(-1.0..1.0) / scale,
        };
        let mut climb = Climb {
            start,
            weights: (0..self.terrain.data.width()).map(&mut weight).collect(),
            scores: vec![0.0; self.terrain.data.len()],
            values: vec![0.0; self.terrain.data.query_count()],
            height: 0.0,
            length: 0.0,
        };
        self.settle(&mut climb);
        climb
    }

    /// One pass over all coordinates in a random order, unless asked to stop.
    pub(super) fn pass(&self, climb: &mut Climb, pass: u64, learner: &CoordinateAscent, stop: &Stop) {
        let mut varying = Varying::default();
        for column in self.order(climb.start, pass) {
            if stop.requested() {
                break;
            }
            self.terrain.varying(column, &mut varying);
            self.move_along(climb, column, &varying, learner);
        }
        self.settle(climb);
    }

    /// The columns that vary, in the order of this pass.
    pub(super) fn order(&self, start: u64, pass: u64) -> Vec<usize> {
        let mut order = self.terrain.varying_columns();
        order.shuffle(&mut rng::stream(self.seed, &[ORDER_STREAM, start, pass]));
        order
    }

    /// Changes one weight by the best of the candidate steps, if any improves the metric.
    fn move_along(&self, climb: &mut Climb, column: usize, varying: &Varying, learner: &CoordinateAscent) {
        let scale = self.terrain.scales[column];
        let unit = if climb.length > 0.0 { climb.length } else { 1.0 } / scale;
        let steps = learner.steps_from(climb.weights[column], unit);
        let Some(step) = best_step(&steps, &self.gains(climb, varying, &steps)) else {
            return;
        };
        let values = self.map_chunks(varying, |trial, chunk| {
            chunk.iter().map(|&at| trial.value(self, climb, varying, at, step)).collect::<Vec<_>>()
        });
        for (&(q, _), value) in varying.queries.iter().zip(values.into_iter().flatten()) {
            climb.values[q] = value;
        }
        varying.add_to(&mut climb.scores, self.terrain.data, step);
        let before = climb.weights[column];
        climb.weights[column] += step;
        climb.length += (climb.weights[column].abs() - before.abs()) * scale;
    }

    /// The gain in the mean for each step.
    fn gains(&self, climb: &Climb, varying: &Varying, steps: &[f64]) -> Vec<f64> {
        let chunks = self.map_chunks(varying, |trial, chunk| {
            let mut gains = vec![0.0; steps.len()];
            for &at in chunk {
                for (gain, &step) in gains.iter_mut().zip(steps) {
                    let value = trial.value(self, climb, varying, at, step);
                    *gain += self.terrain.shares[at.0] * (value - climb.values[at.0]);
                }
            }
            gains
        });
        let mut total = vec![0.0; steps.len()];
        for chunk in chunks {
            total.iter_mut().zip(chunk).for_each(|(t, g)| *t += g);
        }
        total
    }

    /// Runs `work` on fixed chunks of the varying queries and returns the results in order.
    fn map_chunks<T: Send>(
        &self,
        varying: &Varying,
        work: impl Fn(&mut Trial, &[(usize, usize)]) -> T + Sync + Send,
    ) -> Vec<T> {
        parallel::map_with(varying.queries.chunks(QUERIES_PER_CHUNK), Trial::default, work)
    }

    /// Scales the absolute sum of the weights to 1 and recomputes scores, values and height from them, so
    /// that the reported value is that of the model itself, without the rounding errors of many small steps.
    fn settle(&self, climb: &mut Climb) {
        normalise(&mut climb.weights);
        climb.length = climb.weights.iter().zip(&self.terrain.scales).map(|(w, s)| w.abs() * s).sum();
        let (weights, mut rest) = (&climb.weights, climb.scores.as_mut_slice());
        let mut scores = Vec::with_capacity(self.terrain.data.query_count());
        for query in self.terrain.data.queries() {
            let (own, others) = rest.split_at_mut(query.len());
            scores.push(own);
            rest = others;
        }
        climb.values =
            parallel::map_with(scores.into_iter().enumerate(), Sorter::default, |sorter, (q, scores)| {
                let query = self.terrain.data.query(q);
                query.dot(weights, scores);
                self.metric.value_of_scores(query.labels(), scores, sorter).unwrap_or(0.0)
            });
        climb.height = self.terrain.mean(&climb.values);
    }
}

/// Buffers for trying steps.
#[derive(Default)]
struct Trial {
    scores: Vec<f64>,
    sorter: Sorter,
}

impl Trial {
    /// The metric of query `q` after a step along the column whose values there start at `start`.
    fn value(
        &mut self,
        hill: &Hill<'_>,
        climb: &Climb,
        varying: &Varying,
        (q, start): (usize, usize),
        step: f64,
    ) -> f64 {
        let query = hill.terrain.data.query(q);
        let (scores, values) = (&climb.scores[query.range()], varying.values(start, query.len()));
        self.scores.resize(scores.len(), 0.0);
        for i in 0..scores.len() {
            self.scores[i] = scores[i] + step * f64::from(values[i]);
        }
        let (labels, metric) = (query.labels(), hill.metric);
        let ranking = self.sorter.rank_top(&self.scores, labels, metric.rank_rule(), metric.depth());
        metric.value_beside(hill.terrain.ideals[q], labels, ranking).unwrap_or(0.0)
    }
}

/// The step with the highest gain, the shorter of equals; `None` if no step gains anything.
pub(super) fn best_step(steps: &[f64], gains: &[f64]) -> Option<f64> {
    let better = |a: &(f64, f64), b: &(f64, f64)| a.1 > b.1 || (a.1 == b.1 && a.0.abs() < b.0.abs());
    let pairs = steps.iter().copied().zip(gains.iter().copied());
    let best = pairs.reduce(|best, next| if better(&next, &best) { next } else { best });
    best.filter(|(_, gain)| *gain > LEAST_GAIN).map(|(step, _)| step)
}

/// Divides by the sum of absolute values, which changes no order.
pub(super) fn normalise(weights: &mut [f64]) {
    let sum: f64 = weights.iter().map(|w| w.abs()).sum();
    if sum > 0.0 {
        weights.iter_mut().for_each(|w| *w /= sum);
    }
}
