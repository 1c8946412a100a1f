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
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

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
    /// Buffers to use again: ranking is faster for those that ranked something before.
    trials: Mutex<Vec<Trial>>,
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
        Hill { metric, terrain: Terrain::new(data, metric), seed, trials: Mutex::default() }
    }

    /// The first `count` starts. The very first weights each feature by its correlation with the labels; the others
    /// are random directions. (On OHSUMED, starts with the signs of the correlations ended neither higher nor
    /// lower.)
    pub(super) fn starts(&self, count: u64) -> Vec<Climb> {
        let mut climbs: Vec<Climb> = (0..count).map(|start| self.start(start)).collect();
        self.settle(&mut climbs.iter_mut().collect::<Vec<_>>());
        climbs
    }

    fn start(&self, start: u64) -> Climb {
        let mut random = rng::stream(self.seed, &[START_STREAM, start]);
        let mut weight = |c: usize| match self.terrain.scales[c] {
            0.0 => 0.0,
            scale if start == 0 => self.terrain.correlations[c] / scale,
            scale => random.random_range(-1.0..1.0) / scale,
        };
        Climb {
            start,
            weights: (0..self.terrain.data.width()).map(&mut weight).collect(),
            scores: vec![0.0; self.terrain.data.len()],
            values: vec![0.0; self.terrain.data.query_count()],
            height: 0.0,
            length: 0.0,
        }
    }

    /// One pass of every climb over all coordinates, each in a random order of its own, unless asked to stop. The climbs
    /// move side by side, so that the gains of all come from one sum over the queries.
    pub(super) fn pass(&self, climbs: &mut [&mut Climb], pass: u64, learner: &CoordinateAscent, stop: &Stop) {
        let orders: Vec<Vec<usize>> = climbs.iter().map(|climb| self.order(climb.start, pass)).collect();
        let mut room: Vec<Varying> = climbs.iter().map(|_| Varying::default()).collect();
        for place in 0..self.terrain.varying_columns().len() {
            if stop.requested() {
                break;
            }
            let planned = climbs.iter().zip(&orders).zip(room);
            let moves: Vec<Move> = parallel::map(planned, |((climb, order), varying)| {
                self.plan(climb, order[place], varying, learner)
            });
            let gains = self.gains(climbs, &moves);
            let climbing = climbs.iter_mut().zip(moves.iter().zip(&gains));
            parallel::for_each(climbing, |(climb, (planned, gains))| self.make(climb, planned, gains));
            room = moves.into_iter().map(|planned| planned.varying).collect();
        }
        self.settle(climbs);
    }

    /// The columns that vary, in the order of this pass.
    pub(super) fn order(&self, start: u64, pass: u64) -> Vec<usize> {
        let mut order = self.terrain.varying_columns();
        order.shuffle(&mut rng::stream(self.seed, &[ORDER_STREAM, start, pass]));
        order
    }

    /// The candidate changes of one weight. `varying` is reusable memory.
    fn plan(&self, climb: &Climb, column: usize, mut varying: Varying, learner: &CoordinateAscent) -> Move {
        self.terrain.varying(column, &mut varying);
        let unit = if climb.length > 0.0 { climb.length } else { 1.0 } / self.terrain.scales[column];
        Move { column, varying, steps: learner.steps_from(climb.weights[column], unit) }
    }

    /// Changes the weight by the best of the candidate steps, if any improves the metric.
    fn make(&self, climb: &mut Climb, planned: &Move, gains: &[f64]) {
        let Move { column, varying, steps } = planned;
        let Some(step) = best_step(steps, gains) else {
            return;
        };
        let values = parallel::map_with(&varying.queries, Trial::default, |trial, &at| {
            trial.value(self, climb, varying, at, step)
        });
        for (&(q, _), value) in varying.queries.iter().zip(values) {
            climb.values[q] = value;
        }
        varying.add_to(&mut climb.scores, self.terrain.data, step);
        let before = climb.weights[*column];
        climb.weights[*column] += step;
        climb.length += (climb.weights[*column].abs() - before.abs()) * self.terrain.scales[*column];
    }

    /// The gain in the mean of each climb for each of its steps.
    fn gains(&self, climbs: &[&mut Climb], moves: &[Move]) -> Vec<Vec<f64>> {
        let trials = || self.trials.lock().unwrap_or_else(PoisonError::into_inner);
        self.terrain.data.total(|queries| {
            let mut trial = trials().pop().unwrap_or_default();
            let pairs = climbs.iter().zip(moves);
            let gains = pairs.map(|(climb, planned)| self.gains_in(&queries, climb, planned, &mut trial));
            let gains = gains.collect::<Vec<_>>();
            trials().push(trial);
            gains
        })
    }

    /// The terms of some adjacent queries in the gain for each step.
    fn gains_in(&self, queries: &Range<usize>, climb: &Climb, planned: &Move, trial: &mut Trial) -> Vec<f64> {
        let Move { varying, steps, .. } = planned;
        let mut gains = vec![0.0; steps.len()];
        for &at in varying.within(queries) {
            for (gain, &step) in gains.iter_mut().zip(steps) {
                let value = trial.value(self, climb, varying, at, step);
                *gain += self.terrain.shares[at.0] * (value - climb.values[at.0]);
            }
        }
        gains
    }

    /// Scales the absolute sum of the weights to 1 and recomputes scores, values and height from them, so
    /// that the reported value is that of the model itself, without the rounding errors of many small steps.
    fn settle(&self, climbs: &mut [&mut Climb]) {
        parallel::for_each(climbs.iter_mut(), |climb| self.recompute(climb));
        let values: Vec<&[f64]> = climbs.iter().map(|climb| climb.values.as_slice()).collect();
        let heights = self.terrain.means(&values);
        climbs.iter_mut().zip(heights).for_each(|(climb, height)| climb.height = height);
    }

    /// Everything but the height.
    fn recompute(&self, climb: &mut Climb) {
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
    }
}

/// The next coordinate of a climb, where it varies, and the candidate changes of its weight.
struct Move {
    column: usize,
    varying: Varying,
    steps: Vec<f64>,
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
