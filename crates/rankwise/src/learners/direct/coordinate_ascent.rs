//! Coordinate ascent: a linear model that maximises the metric itself (Metzler and Croft, 2007;
//! `metzler2007linear`).
//!
//! ```text
//! max_w Σ_q v_q M_q(X_q w) / Σ_q v_q ,   one weight at a time:   w_c ← w_c + argmax_δ M(w + δ e_c)
//! ```
//!
//! A ranking metric is piecewise constant in `δ`, so each search tries growing steps in both directions, and
//! a weight of 0. Passes go through the features in random order until a pass gains too little. The metric
//! has many local optima, so there are several starts; the best one on the validation queries, if there are
//! any, is kept.
//!
//! Steps are measured in standard deviations of the feature within queries: rescaling a feature changes
//! nothing. A step changes scores only by `δ x_c`, and only in queries in which feature `c` varies; all
//! others keep their value.

mod climb;
#[cfg(test)]
mod tests;

use crate::card::Card;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::learners::validation::mean_metric;
use crate::learners::{Fitted, Learner, Task};
use crate::metrics::MetricOfLabels;
use crate::models::{Model, Outcome, Record};
use crate::watch::{Progress, Stop, Watch};
use climb::{Climb, Hill};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Elementary steps per document of a query that is ranked again, for a forecast.
const STEPS_PER_DOCUMENT: f64 = 20.0;

/// Parameters of coordinate ascent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CoordinateAscent {
    /// Number of starting points, 1 to 1000: the first from the features' correlations with the labels, the others random.
    pub restarts: u32,
    /// Maximum number of passes through all features from each start, 0 to 10000.
    pub passes: u32,
    /// Smallest increase of the metric on the training queries in a pass for another pass to follow, at least 0.
    pub tolerance: f64,
    /// Smallest step, relative to the norm of the weights, with features in standard deviations; above 0.
    pub step: f64,
    /// Number of steps tried in each direction, each twice as long as the one before, 1 to 50.
    pub steps: u32,
}

impl Default for CoordinateAscent {
    fn default() -> Self {
        CoordinateAscent { restarts: 5, passes: 25, tolerance: 1e-3, step: 0.02, steps: 7 }
    }
}

impl Learner for CoordinateAscent {
    const CARD: Card = Card {
        name: "coordinate-ascent",
        title: "Coordinate ascent",
        summary: "Linear model that maximises any metric directly, one weight at a time, from several \
                  starts.",
        citations: &["metzler2007linear"],
    };
    const DISTRIBUTES: bool = true;
    const TAKES_CLICKS: bool = true;

    fn check(&self) -> Result<()> {
        let ranges = [
            ("restarts", f64::from(self.restarts), (1..=1000).contains(&self.restarts), "1 to 1000"),
            ("passes", f64::from(self.passes), self.passes <= 10_000, "0 to 10000"),
            ("tolerance", self.tolerance, self.tolerance >= 0.0 && self.tolerance.is_finite(), "0 or more"),
            ("step", self.step, self.step > 0.0 && self.step.is_finite(), "above 0"),
            ("steps", f64::from(self.steps), (1..=50).contains(&self.steps), "1 to 50"),
        ];
        match ranges.iter().find(|r| !r.2) {
            Some((name, value, _, range)) => {
                Err(Error::parameter(format!("`{name}` is {value}; it must be {range}")))
            }
            None => Ok(()),
        }
    }

    /// Every step of a weight ranks the documents again of the queries in which its feature varies.
    fn steps(&self, train: &Dataset) -> f64 {
        let searches = f64::from(self.restarts) * f64::from(self.passes) * train.width() as f64;
        let values = train.parts().features.values().len() as f64 / train.width().max(1) as f64;
        let queries = values.min(train.query_count() as f64);
        let documents = queries * train.len() as f64 / train.query_count().max(1) as f64;
        searches * f64::from(2 * self.steps + 1) * documents.max(1.0) * STEPS_PER_DOCUMENT
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        let metric = MetricOfLabels::of(task.train, task.metric);
        let hill = Hill::new(task.train, &*metric, task.seed);
        let starts = hill.starts(self.restarts.into());
        let mut climbers: Vec<Climber> = starts.into_iter().map(|climb| Climber::new(climb, task)).collect();
        let what = format!("{} (train)", task.metric.name());
        let stop = watch.stop().clone();
        let mut passes = 0;
        while passes < u64::from(self.passes) && !stop.requested() && climbers.iter().any(|c| !c.converged) {
            self.pass(&hill, &mut climbers, passes, task, &stop);
            passes += 1;
            let value = climbers.iter().map(|c| c.climb.height).fold(f64::MIN, f64::max);
            watch.step(Progress { done: passes, total: Some(u64::from(self.passes)), what: &what, value });
        }
        let outcome = match (stop.requested(), climbers.iter().all(|c| c.converged)) {
            (true, _) => Outcome::Interrupted,
            (false, true) => Outcome::Converged,
            (false, false) => Outcome::RoundsUsedUp,
        };
        Ok(self.finish(&hill, &climbers, task, passes, outcome))
    }
}

impl CoordinateAscent {
    /// The candidate changes of a weight: back to 0, and growing steps up and down.
    fn steps_from(&self, weight: f64, unit: f64) -> Vec<f64> {
        let lengths = (0..self.steps).map(|k| self.step * unit * 2f64.powi(k as i32));
        let ups = lengths.clone();
        std::iter::once(-weight).chain(ups).chain(lengths.map(|l| -l)).collect()
    }

    /// One pass of the climbers that have not converged.
    fn pass(&self, hill: &Hill<'_>, climbers: &mut [Climber], pass: u64, task: &Task<'_>, stop: &Stop) {
        let mut climbing: Vec<&mut Climber> = climbers.iter_mut().filter(|c| !c.converged).collect();
        let before: Vec<f64> = climbing.iter().map(|c| c.climb.height).collect();
        let mut climbs: Vec<&mut Climb> = climbing.iter_mut().map(|c| &mut c.climb).collect();
        hill.pass(&mut climbs, pass, self, stop);
        for (climber, before) in climbing.into_iter().zip(before) {
            let gain = climber.climb.height - before;
            climber.converged = gain < self.tolerance || gain <= 0.0;
            climber.keep_if_best(task);
        }
    }

    fn finish(
        &self,
        hill: &Hill<'_>,
        climbers: &[Climber],
        task: &Task<'_>,
        passes: u64,
        outcome: Outcome,
    ) -> Fitted {
        let better = |a: &Best, b: &Best| a.criterion > b.criterion;
        let best = climbers.iter().map(|c| &c.best).reduce(|a, b| if better(b, a) { b } else { a });
        let best = best.expect("at least one start");
        let close = |c: &&Climber| c.best.criterion >= best.criterion - self.tolerance;
        let name = task.metric.name();
        let mut figures = vec![(format!("{name} (train)"), best.train)];
        figures.extend(task.valid.map(|_| (format!("{name} (valid)"), best.criterion)));
        figures.push((
            "starts as good within the tolerance".into(),
            climbers.iter().filter(close).count() as f64,
        ));
        let used = best.weights.iter().filter(|w| **w != 0.0).count();
        figures.push(("features used".into(), used as f64));
        let record = Record { outcome, rounds: passes, figures, notes: hill.terrain.notes() };
        Fitted { model: Model::linear(best.weights.clone(), 0.0), record }
    }
}

/// A climb and its best point so far.
struct Climber {
    climb: Climb,
    converged: bool,
    best: Best,
}

struct Best {
    /// The metric on the validation queries, or without them on the training queries.
    criterion: f64,
    train: f64,
    weights: Vec<f64>,
}

impl Climber {
    fn new(climb: Climb, task: &Task<'_>) -> Self {
        let best = Best { criterion: f64::NEG_INFINITY, train: 0.0, weights: Vec::new() };
        let mut climber = Climber { climb, converged: false, best };
        climber.keep_if_best(task);
        climber
    }

    fn keep_if_best(&mut self, task: &Task<'_>) {
        let Climb { weights, height, .. } = &self.climb;
        let criterion = task.valid.map_or(*height, |valid| mean_metric(valid, task.metric, weights));
        if criterion > self.best.criterion {
            self.best = Best { criterion, train: *height, weights: weights.clone() };
        }
    }
}
