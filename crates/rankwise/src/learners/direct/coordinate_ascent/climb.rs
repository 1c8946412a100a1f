//! Climbing one measure by one coordinate at a time, recomputing only what a step can change.

use super::CoordinateAscent;
use super::columns::{Columns, Varying};
use crate::data::{Dataset, Query};
use crate::metrics::{Empty, Metric};
use crate::rank::Sorter;
use crate::rng;
use crate::watch::Stop;
use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;

/// Queries that one task evaluates; fixed, so that sums do not depend on the number of threads.
const QUERIES_PER_CHUNK: usize = 16;

/// A gain below this is rounding, not progress.
const LEAST_GAIN: f64 = 1e-12;

/// First parts of the random streams' paths.
const START_STREAM: u64 = 1;
const ORDER_STREAM: u64 = 2;

/// Everything that all climbs from their several starts share.
pub(super) struct Hill<'a> {
    pub metric: &'a dyn Metric,
    data: &'a Dataset,
    columns: Columns<'a>,
    /// Each query's share of the mean; 0 for queries the measure skips.
    shares: Vec<f64>,
    /// Each column's standard deviation within queries: steps are in units of it, so that they mean the same for
    /// features of any scale. 0 for a column that never varies.
    scales: Vec<f64>,
    /// Each column's correlation with the grades within queries.
    correlations: Vec<f64>,
    seed: u64,
}

/// Where one climb stands.
#[derive(Clone)]
pub(super) struct Climb {
    start: u64,
    pub weights: Vec<f64>,
    /// Scores of all documents by `weights`.
    scores: Vec<f64>,
    /// The measure on each query by `scores`.
    values: Vec<f64>,
    /// The mean of `values`.
    pub height: f64,
    /// `Σ |weight|·scale`: the length in which steps are measured.
    length: f64,
}

impl<'a> Hill<'a> {
    pub fn new(data: &'a Dataset, metric: &'a dyn Metric, seed: u64) -> Self {
        let shares = shares(data, metric);
        let columns = Columns::new(data);
        let spread = |c: usize| {
            let mut varying = Varying::default();
            columns.varying(c, |q| shares[q] > 0.0, &mut varying);
            spread(data, &varying)
        };
        let spreads: Vec<(f64, f64)> = (0..data.width()).into_par_iter().map(spread).collect();
        let (scales, correlations) = spreads.into_iter().unzip();
        Hill { metric, data, columns, shares, scales, correlations, seed }
    }

    /// How many queries the measure skips, or have no weight.
    pub fn skipped(&self) -> usize {
        self.shares.iter().filter(|s| **s == 0.0).count()
    }

    /// How many columns are the same for all documents of every query.
    pub fn constant_columns(&self) -> usize {
        self.scales.iter().filter(|s| **s == 0.0).count()
    }

    /// Start number `start`. The first weighs each feature by its correlation with the grades; the others point in
    /// random directions. (On OHSUMED, starts with the correlations' signs ended neither higher nor lower.)
    pub fn start(&self, start: u64) -> Climb {
        let mut random = rng::stream(self.seed, &[START_STREAM, start]);
        let mut weight = |c: usize| match self.scales[c] {
            0.0 => 0.0,
            scale if start == 0 => self.correlations[c] / scale,
            scale => random.random_range(-1.0..1.0) / scale,
        };
        let mut climb = Climb {
            start,
            weights: (0..self.data.width()).map(&mut weight).collect(),
            scores: vec![0.0; self.data.len()],
            values: vec![0.0; self.data.query_count()],
            height: 0.0,
            length: 0.0,
        };
        self.settle(&mut climb);
        climb
    }

    /// Goes once through all coordinates in a random order, unless asked to stop.
    pub fn pass(&self, climb: &mut Climb, pass: u64, learner: &CoordinateAscent, stop: &Stop) {
        let mut varying = Varying::default();
        for column in self.order(climb.start, pass) {
            if stop.requested() {
                break;
            }
            self.columns.varying(column, |q| self.shares[q] > 0.0, &mut varying);
            self.move_along(climb, column, &varying, learner);
        }
        self.settle(climb);
    }

    /// The columns that vary, in the order of this pass.
    pub(super) fn order(&self, start: u64, pass: u64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.data.width()).filter(|&c| self.scales[c] > 0.0).collect();
        order.shuffle(&mut rng::stream(self.seed, &[ORDER_STREAM, start, pass]));
        order
    }

    /// Changes one weight by the best of the learner's steps, if any is better than none.
    fn move_along(&self, climb: &mut Climb, column: usize, varying: &Varying, learner: &CoordinateAscent) {
        let scale = self.scales[column];
        let unit = if climb.length > 0.0 { climb.length } else { 1.0 } / scale;
        let steps = learner.steps_from(climb.weights[column], unit);
        let Some(step) = best_step(&steps, &self.gains(climb, varying, &steps)) else {
            return;
        };
        let values = self.map_chunks(varying, |trial, chunk| {
            chunk.iter().map(|&at| trial.value(self, climb, varying, at, step)).collect::<Vec<_>>()
        });
        for (&(q, start), value) in varying.queries.iter().zip(values.into_iter().flatten()) {
            climb.values[q] = value;
            let scores = &mut climb.scores[self.data.query(q).range()];
            for (s, &x) in scores.iter_mut().zip(varying.values(start, self.data.query(q).len())) {
                *s += step * f64::from(x);
            }
        }
        let before = climb.weights[column];
        climb.weights[column] += step;
        climb.length += (climb.weights[column].abs() - before.abs()) * scale;
    }

    /// What each step would add to the mean.
    fn gains(&self, climb: &Climb, varying: &Varying, steps: &[f64]) -> Vec<f64> {
        let chunks = self.map_chunks(varying, |trial, chunk| {
            let mut gains = vec![0.0; steps.len()];
            for &at in chunk {
                for (gain, &step) in gains.iter_mut().zip(steps) {
                    let value = trial.value(self, climb, varying, at, step);
                    *gain += self.shares[at.0] * (value - climb.values[at.0]);
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

    /// `work` on fixed chunks of the varying queries, results in order.
    fn map_chunks<T: Send>(
        &self,
        varying: &Varying,
        work: impl Fn(&mut Trial, &[(usize, usize)]) -> T + Sync + Send,
    ) -> Vec<T> {
        varying.queries.par_chunks(QUERIES_PER_CHUNK).map_init(Trial::default, work).collect()
    }

    /// Makes the weights' absolute sum 1 and computes scores, values and height from them afresh: what is reported
    /// is what the model itself gives, with no rounding left from the many small steps.
    fn settle(&self, climb: &mut Climb) {
        normalise(&mut climb.weights);
        climb.length = climb.weights.iter().zip(&self.scales).map(|(w, s)| w.abs() * s).sum();
        let (weights, mut rest) = (&climb.weights, climb.scores.as_mut_slice());
        let mut scores = Vec::with_capacity(self.data.query_count());
        for query in self.data.queries() {
            let (own, others) = rest.split_at_mut(query.len());
            scores.push(own);
            rest = others;
        }
        let queries = scores.par_iter_mut().zip(&mut climb.values).enumerate();
        queries.for_each_init(Sorter::default, |sorter, (q, (scores, value))| {
            let query = self.data.query(q);
            query.dot(weights, scores);
            *value = self.metric.value_of_scores(query.labels(), scores, sorter).unwrap_or(0.0);
        });
        climb.height = self.shares.iter().zip(&climb.values).map(|(s, v)| s * v).sum();
    }
}

/// Memory for trying steps.
#[derive(Default)]
struct Trial {
    scores: Vec<f64>,
    sorter: Sorter,
}

impl Trial {
    /// The measure on query `q` after a step along the column whose values there start at `start`.
    fn value(
        &mut self,
        hill: &Hill<'_>,
        climb: &Climb,
        varying: &Varying,
        (q, start): (usize, usize),
        step: f64,
    ) -> f64 {
        let query = hill.data.query(q);
        let moved = climb.scores[query.range()].iter().zip(varying.values(start, query.len()));
        self.scores.clear();
        self.scores.extend(moved.map(|(s, &x)| s + step * f64::from(x)));
        hill.metric.value_of_scores(query.labels(), &self.scores, &mut self.sorter).unwrap_or(0.0)
    }
}

/// Each query's part in the weighted mean.
fn shares(data: &Dataset, metric: &dyn Metric) -> Vec<f64> {
    let is_skipped = |q: Query<'_>| metric.empty() == Empty::Skip && metric.is_undefined(q.labels());
    let weight = |q: Query<'_>| if is_skipped(q) { 0.0 } else { q.weight() };
    let weights: Vec<f64> = data.queries().map(weight).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|w| if total > 0.0 { w / total } else { 0.0 }).collect()
}

/// Standard deviation of a column within queries, and its correlation with the grades there.
fn spread(data: &Dataset, varying: &Varying) -> (f64, f64) {
    let (mut xx, mut xr, mut rr) = (0.0, 0.0, 0.0);
    for &(q, start) in &varying.queries {
        let query = data.query(q);
        let x = varying.values(start, query.len());
        let mean = |v: &[f32]| v.iter().map(|&v| f64::from(v)).sum::<f64>() / v.len() as f64;
        let (mean_x, mean_r) = (mean(x), mean(query.labels()));
        for (&x, &r) in x.iter().zip(query.labels()) {
            let (x, r) = (f64::from(x) - mean_x, f64::from(r) - mean_r);
            xx += x * x;
            xr += x * r;
            rr += r * r;
        }
    }
    let scale = (xx / data.len() as f64).sqrt();
    if scale > 0.0 && scale.is_finite() {
        (scale, if rr > 0.0 { xr / (xx * rr).sqrt() } else { 0.0 })
    } else {
        (0.0, 0.0)
    }
}

/// The step of greatest gain, the shorter of equals; none when no step gains anything.
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
