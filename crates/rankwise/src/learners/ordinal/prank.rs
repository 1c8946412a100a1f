//! PRank: a perceptron with thresholds between the grades (Crammer and Singer, NIPS 2001).
//!
//! ```text
//! for a document x of grade y whose predicted grade min{r : w·x < b_r} is another, with y_r = +1 if y > r else −1:
//!     τ_r = y_r  if (w·x − b_r)·y_r ≤ 0  else 0 ,        w ← w + (Σ_r τ_r)·x ,        b_r ← b_r − τ_r
//! ```
//!
//! The thresholds stay in order by themselves. A query's weight multiplies the steps of its documents; if
//! weights differ, that could break the order. Sorting restores it and never moves the thresholds further
//! from any ordered ones, so the bound on the number of mistakes still holds. The averaged model is the mean
//! over all documents seen: it is more stable than the last one if no model is free of mistakes.
//!
//! Two things help on real data. If most documents have the lowest grade, steps of the same size for all teach
//! little else, so documents of rare grades take larger ones (`balance`). And features whose mean is far from 0
//! make steps along `x` fight with those of the thresholds, so `x` is less its mean, and the thresholds are
//! shifted by `w·mean` in the end.

use super::grading::Grading;
use crate::card::Card;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::learners::validation::mean_metric;
use crate::learners::{Fitted, Learner, Task};
use crate::models::{Model, OrdinalModel, Outcome, Record};
use crate::rng;
use crate::solvers::FeatureUnits;
use crate::watch::{Progress, Stop, Watch};
use rand::seq::SliceRandom;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Documents between two checks for a request to stop.
const DOCUMENTS_PER_LOOK: usize = 256;

/// A perceptron for grades.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Prank {
    /// Maximum number of passes over the documents, at least 1; a pass without a mistake is the last.
    pub passes: u64,
    /// Whether the model is the mean of the models after each document; false for the last one.
    pub averaged: bool,
    /// Rare grades are weighted up to the total of the commonest one, but a document at most this many times as much as one of that grade, at least 1; 1 for the same weight each, as published.
    pub balance: f64,
    /// Whether every pass takes the documents in a new random order; false for the order of the data.
    pub shuffle: bool,
    /// Whether features are standardised: less their mean, divided by their standard deviation; false for the features as they are.
    pub scale: bool,
}

impl Default for Prank {
    fn default() -> Self {
        Prank { passes: 20, averaged: true, balance: 5.0, shuffle: true, scale: true }
    }
}

impl Learner for Prank {
    const CARD: Card = Card {
        name: "prank",
        title: "PRank",
        summary: "Perceptron with thresholds between the grades; also predicts the grade. With validation \
                  queries, the best pass is kept.",
        citations: &["crammer2001pranking"],
    };

    fn check(&self) -> Result<()> {
        if self.passes == 0 {
            return Err(Error::parameter("passes is 0; it must be at least 1"));
        }
        if !(self.balance >= 1.0 && self.balance.is_finite()) {
            return Err(Error::parameter(format!(
                "balance is {}; it must be finite and at least 1",
                self.balance
            )));
        }
        Ok(())
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        let grading = Grading::of(task.train, Self::CARD.name)?;
        let weights = grading.balanced_up_to(self.balance);
        let mut order: Vec<usize> = (0..task.train.len()).filter(|&i| weights[i] > 0.0).collect();
        let mut perceptron = Perceptron::new(task.train, &grading, weights, self.scale);
        let mut kept = Kept::new(perceptron.planes(self.averaged), task);
        let (stop, mut passes, mut clean) = (watch.stop().clone(), 0, false);
        while passes < self.passes && !clean && !stop.requested() {
            if self.shuffle {
                order.shuffle(&mut rng::stream(task.seed, &[passes]));
            }
            let mistakes = perceptron.pass(&order, &stop);
            passes += 1;
            kept.offer(perceptron.planes(self.averaged), passes, task);
            let Some(mistakes) = mistakes else { break };
            clean = mistakes == 0;
            let value = mistakes as f64 / order.len() as f64;
            watch.step(Progress {
                done: passes,
                total: Some(self.passes),
                what: "fraction of mistakes",
                value,
            });
        }
        let outcome = match (clean, stop.requested()) {
            (true, _) => Outcome::Converged,
            (false, true) => Outcome::Interrupted,
            (false, false) => Outcome::RoundsUsedUp,
        };
        let mut record = Record { outcome, rounds: passes, figures: kept.figures(task), notes: Vec::new() };
        let Planes { weights, thresholds } = kept.planes;
        let model = Model::Ordinal(OrdinalModel { weights, thresholds, grades: grading.grades.clone() });
        grading.tell(&model, task.train, &mut record)?;
        Ok(Fitted { model, record })
    }
}

/// Parallel planes between the grades; weights are in the units of the data.
#[derive(Debug, Clone, PartialEq)]
struct Planes {
    weights: Vec<f64>,
    thresholds: Vec<f64>,
}

/// The current planes, and the sums from which their mean is computed.
struct Perceptron<'a> {
    data: &'a Dataset,
    grading: &'a Grading,
    /// The weight of each document.
    weights: Vec<f64>,
    /// The step of a feature's weight for a feature value of 1: 1/u² with features in units of u.
    pace: Vec<f64>,
    standard: Standard,
    now: Planes,
    /// Σ over all moves of `move · (documents seen before it)`: the mean over T documents is `now − late/T`.
    late: Planes,
    seen: u64,
}

/// How features less their mean μ are learned from without touching absent values: the weights are `v − t·m`,
/// where `v` sums the steps along `x`, `t` their sizes, and `m` is μ times the pace.
#[derive(Default)]
struct Standard {
    mean: Vec<f64>,
    /// `m`
    paced_mean: Vec<f64>,
    /// `m·μ` and `v·μ`
    products: (f64, f64),
    /// `t`, and Σ over all steps of `size · (documents seen before it)`.
    steps: (f64, f64),
}

impl Standard {
    fn of(data: &Dataset, pace: &[f64]) -> Standard {
        let mean = FeatureUnits::means(data);
        let paced_mean: Vec<f64> = mean.iter().zip(pace).map(|(m, p)| m * p).collect();
        let product = mean.iter().zip(&paced_mean).map(|(a, b)| a * b).sum();
        Standard { mean, paced_mean, products: (product, 0.0), steps: (0.0, 0.0) }
    }

    /// What centring adds to the score `v·x`, with `m·x` of the document.
    fn correction(&self, product: f64) -> f64 {
        self.steps.0 * (self.products.0 - product) - self.products.1
    }

    fn step(&mut self, push: f64, product: f64, seen: u64) {
        self.products.1 += push * product;
        self.steps.0 += push;
        self.steps.1 += push * seen as f64;
    }

    /// Planes for the features as they are.
    fn in_data_units(&self, planes: Planes, steps: f64) -> Planes {
        let Planes { mut weights, mut thresholds } = planes;
        weights.iter_mut().zip(&self.paced_mean).for_each(|(w, m)| *w -= steps * m);
        let shift: f64 = weights.iter().zip(&self.mean).map(|(w, m)| w * m).sum();
        thresholds.iter_mut().for_each(|b| *b += shift);
        Planes { weights, thresholds }
    }
}

impl<'a> Perceptron<'a> {
    fn new(data: &'a Dataset, grading: &'a Grading, weights: Vec<f64>, scale: bool) -> Self {
        let units = if scale { FeatureUnits::deviations(data) } else { FeatureUnits::default() };
        let pace = units.in_data_units(&units.in_data_units(&vec![1.0; data.width()])).into_owned();
        let zero =
            Planes { weights: vec![0.0; data.width()], thresholds: vec![0.0; grading.grades.len() - 1] };
        let standard = if scale { Standard::of(data, &pace) } else { Standard::default() };
        Perceptron { data, grading, weights, pace, standard, now: zero.clone(), late: zero, seen: 0 }
    }

    /// One pass over the documents in `order`; the number of mistakes, or `None` if it was asked to stop.
    fn pass(&mut self, order: &[usize], stop: &Stop) -> Option<usize> {
        let mut mistakes = 0;
        for documents in order.chunks(DOCUMENTS_PER_LOOK) {
            if stop.requested() {
                return None;
            }
            mistakes += documents.iter().filter(|&&document| self.see(document)).count();
        }
        Some(mistakes)
    }

    /// Learns from one document; returns whether its grade was predicted wrong.
    fn see(&mut self, document: usize) -> bool {
        let (row, rank) = (self.data.row(document), self.grading.ranks[document]);
        let product = if self.standard.mean.is_empty() { 0.0 } else { row.dot(&self.standard.paced_mean) };
        let score = row.dot(&self.now.weights) + self.standard.correction(product);
        let mistaken = self.now.thresholds.partition_point(|b| *b <= score) != rank;
        if mistaken {
            let push = self.move_thresholds(score, rank, self.weights[document]);
            for (column, x) in row.iter().filter(|(_, x)| !x.is_nan()) {
                let step = push * self.pace[column] * f64::from(x);
                self.now.weights[column] += step;
                self.late.weights[column] += step * self.seen as f64;
            }
            self.standard.step(push, product, self.seen);
        }
        self.seen += 1;
        mistaken
    }

    /// Moves the thresholds on the wrong side of the score by `step`; returns `step·Σ τ_r`.
    fn move_thresholds(&mut self, score: f64, rank: usize, step: f64) -> f64 {
        let (mut moved, mut push) = (self.now.thresholds.clone(), 0.0);
        for (r, threshold) in moved.iter_mut().enumerate() {
            let side = if rank > r { 1.0 } else { -1.0 };
            if (score - *threshold) * side <= 0.0 {
                *threshold -= side * step;
                push += side * step;
            }
        }
        moved.sort_by(f64::total_cmp);
        for ((late, now), new) in self.late.thresholds.iter_mut().zip(&self.now.thresholds).zip(&moved) {
            *late += (new - now) * self.seen as f64;
        }
        self.now.thresholds = moved;
        push
    }

    fn planes(&self, averaged: bool) -> Planes {
        let (steps, late_steps) = self.standard.steps;
        if !averaged || self.seen == 0 {
            return self.standard.in_data_units(self.now.clone(), steps);
        }
        let mean = |now: &[f64], late: &[f64]| -> Vec<f64> {
            now.iter().zip(late).map(|(now, late)| now - late / self.seen as f64).collect()
        };
        let weights = mean(&self.now.weights, &self.late.weights);
        let mut thresholds = mean(&self.now.thresholds, &self.late.thresholds);
        // The mean of ordered thresholds is ordered, up to rounding.
        thresholds.sort_by(f64::total_cmp);
        let planes = Planes { weights, thresholds };
        self.standard.in_data_units(planes, steps - late_steps / self.seen as f64)
    }
}

/// The planes of the best pass on the validation queries; without any, those of the last pass.
struct Kept {
    planes: Planes,
    pass: u64,
    criterion: f64,
}

impl Kept {
    fn new(planes: Planes, task: &Task<'_>) -> Self {
        let criterion = criterion(&planes, task);
        Kept { planes, pass: 0, criterion }
    }

    fn offer(&mut self, planes: Planes, pass: u64, task: &Task<'_>) {
        let criterion = criterion(&planes, task);
        if task.valid.is_none() || self.pass == 0 || criterion > self.criterion {
            *self = Kept { planes, pass, criterion };
        }
    }

    fn figures(&self, task: &Task<'_>) -> Vec<(String, f64)> {
        if task.valid.is_none() {
            return Vec::new();
        }
        let metric = format!("{} (valid)", task.metric.name());
        vec![(metric, self.criterion), ("pass kept".into(), self.pass as f64)]
    }
}

/// The metric on the validation queries; 0 without any.
fn criterion(planes: &Planes, task: &Task<'_>) -> f64 {
    task.valid.map_or(0.0, |valid| mean_metric(valid, task.metric, &planes.weights))
}
