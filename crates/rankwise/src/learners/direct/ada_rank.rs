//! AdaRank: boosting of single features by the metric itself (Xu and Li, SIGIR 2007; `xu2007adarank`).
//!
//! ```text
//! P_1(q) = v_q ,   P_{t+1}(q) ∝ v_q exp(−E_q(f_t))            v_q: query weights, E_q: the metric of query q
//! h_t = argmax_h φ_t ,   φ_t = Σ_q P_t(q) E_q(h)              h: one feature, upwards or downwards
//! α_t = ½ ln Σ_q P_t(q)(1 + E_q(h_t)) / Σ_q P_t(q)(1 − E_q(h_t)) = artanh φ_t ,   f_t = f_{t−1} + α_t h_t
//! ```
//!
//! Queries that `f_t` ranks badly gain weight, so the next feature is one that helps there. The metric of a
//! single feature never changes: it is computed once per query, and a round then takes a weighted mean per
//! feature and scores the documents again. A sum of single features is a linear model, and is kept as one.
//!
//! `exp(−E)` lies between 1/e and 1, so weights change little, and a strong feature tends to be chosen
//! repeatedly. As in RankLib, a feature may be chosen a few times in a row and is then excluded for a round.
//! The paper adds features as they are; dividing them by their standard deviation within queries makes `α`
//! mean the same for all.

mod rounds;
#[cfg(test)]
mod tests;

use super::columns::{Columns, Varying};
use crate::card::Card;
use crate::data::{Dataset, Query};
use crate::error::{Error, Result};
use crate::learners::validation::{mean_metric, mean_metric_of_scores};
use crate::learners::{Fitted, Learner, Task};
use crate::metrics::Metric;
use crate::models::{Model, Outcome, Record};
use crate::rank::Ranking;
use crate::watch::{Progress, Watch};
use rounds::{Boosted, Chosen};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of AdaRank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AdaRank {
    /// Maximum number of iterations, each of which adds one feature; at least 1.
    pub iterations: u64,
    /// How many iterations in a row may choose the same feature; 0 for no limit.
    pub max_repeats: u64,
    /// Stop after this many iterations without progress on the validation queries, or without them on the training queries; 0 for never.
    pub early_stopping_rounds: u64,
    /// Smallest increase of the metric that counts as progress, at least 0.
    pub tolerance: f64,
    /// Whether features are divided by their standard deviation within queries; `false` adds them as they are, as published.
    pub scale: bool,
}

impl Default for AdaRank {
    fn default() -> Self {
        AdaRank { iterations: 500, max_repeats: 1, early_stopping_rounds: 50, tolerance: 0.0, scale: true }
    }
}

impl Learner for AdaRank {
    const CARD: Card = Card {
        name: "ada-rank",
        title: "AdaRank",
        summary: "Linear model that boosts single features by query weights, for any metric with a maximum \
                  of 1.",
        citations: &["xu2007adarank"],
    };
    const DISTRIBUTES: bool = true;

    fn check(&self) -> Result<()> {
        if self.iterations == 0 {
            return Err(Error::parameter("`iterations` is 0; it must be at least 1"));
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return Err(Error::parameter(format!("`tolerance` is {}; it must be 0 or more", self.tolerance)));
        }
        Ok(())
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        refuse_values_above_one(task.train, task.metric)?;
        let mut boosted = Boosted::new(task.train, task.metric, self.scale);
        let mut valid = task.valid.map(Chooser::new);
        let judged_by = if valid.is_some() { "valid" } else { "train" };
        let what = format!("{} ({judged_by})", task.metric.name());
        let mut progress = TrainingState::new(boosted.weights.clone());
        let outcome = loop {
            if watch.stop().requested() {
                break Outcome::Interrupted;
            }
            if progress.rounds >= self.iterations {
                break Outcome::RoundsUsedUp;
            }
            if self.early_stopping_rounds > 0
                && progress.rounds - progress.last_gain >= self.early_stopping_rounds
            {
                break if valid.is_some() { Outcome::StoppedEarly } else { Outcome::Converged };
            }
            let Some(chosen) = boosted.round(self.max_repeats) else {
                break Outcome::Converged;
            };
            let value = match &mut valid {
                Some(valid) => valid.measure_with(&chosen, task.metric),
                None => boosted.mean(),
            };
            progress.note(value, &boosted.weights, self.tolerance);
            watch.step(Progress { done: progress.rounds, total: Some(self.iterations), what: &what, value });
        };
        Ok(finish(progress, outcome, &boosted, task))
    }
}

/// The theory, and `α` itself, need a metric of at most 1; the ranking by the labels has the highest value.
fn refuse_values_above_one(data: &Dataset, metric: &dyn Metric) -> Result<()> {
    let too_high = |query: Query<'_>| {
        let grades: Vec<f64> = query.labels().iter().map(|&l| f64::from(l)).collect();
        let best = metric.value(query.labels(), &Ranking::by_scores(&grades)).unwrap_or(0.0);
        (best > 1.0 + 1e-9).then(|| (best, query.id().to_string()))
    };
    let first = data.decide(|| data.queries().find_map(too_high), |found| found.into_iter().flatten().next());
    match first {
        Some((best, query)) => Err(Error::parameter(format!(
            "ada-rank needs a metric of at most 1, but {} is {best} on training query {query}; use another \
             metric, such as ndcg@10 or map",
            metric.name(),
        ))),
        None => Ok(()),
    }
}

fn finish(progress: TrainingState, outcome: Outcome, boosted: &Boosted<'_>, task: &Task<'_>) -> Fitted {
    let TrainingState { rounds, best_round, weights, .. } = progress;
    let name = task.metric.name();
    // Computed from the model itself, without the rounding errors of adding features one by one.
    let mut figures = vec![("best round".to_string(), best_round as f64)];
    figures.push((format!("{name} (train)"), mean_metric(task.train, task.metric, &weights)));
    figures.extend(task.valid.map(|v| (format!("{name} (valid)"), mean_metric(v, task.metric, &weights))));
    figures.push(("features used".into(), weights.iter().filter(|w| **w != 0.0).count() as f64));
    let record = Record { outcome, rounds, figures, notes: boosted.notes() };
    Fitted { model: Model::linear(weights, 0.0), record }
}

/// The state of training, and its best round.
struct TrainingState {
    rounds: u64,
    best: f64,
    /// From 1; 0 before any round.
    best_round: u64,
    weights: Vec<f64>,
    /// The reference value for the next progress, and the round of the last progress.
    mark: f64,
    last_gain: u64,
}

impl TrainingState {
    fn new(weights: Vec<f64>) -> Self {
        let none = f64::NEG_INFINITY;
        TrainingState { rounds: 0, best: none, best_round: 0, weights, mark: none, last_gain: 0 }
    }

    fn note(&mut self, value: f64, weights: &[f64], tolerance: f64) {
        self.rounds += 1;
        if value > self.best {
            (self.best, self.best_round) = (value, self.rounds);
            self.weights.copy_from_slice(weights);
        }
        if value > self.mark + tolerance {
            (self.mark, self.last_gain) = (value, self.rounds);
        }
    }
}

/// Validation queries and their current scores.
struct Chooser<'a> {
    data: &'a Dataset,
    columns: Columns<'a>,
    scores: Vec<f64>,
    varying: Varying,
}

impl<'a> Chooser<'a> {
    fn new(data: &'a Dataset) -> Self {
        let scores = vec![0.0; data.len()];
        Chooser { data, columns: Columns::new(data), scores, varying: Varying::default() }
    }

    /// Adds the feature chosen in a round; returns the metric afterwards.
    fn measure_with(&mut self, chosen: &Chosen, metric: &dyn Metric) -> f64 {
        // Features that only the training queries have are 0 here.
        if chosen.column < self.data.width() {
            self.columns.varying(chosen.column, |_| true, &mut self.varying);
            self.varying.add_to(&mut self.scores, self.data, chosen.step);
        }
        mean_metric_of_scores(self.data, metric, &self.scores)
    }
}
