//! What the learners of smooth losses share: a linear model of least `½‖w‖² + C·R(w)` by L-BFGS.
//!
//! Where R is convex there is one minimum, sought from `w = 0`. Where it is not, the search starts near the minimum of
//! ListNet's convex risk at the same C: of the minima that there may be, the one that a good order leads to is wanted.
//! λ-gradients are no function's derivative, but with the order of the documents held fast they are that of a convex
//! one: it is lowered a little, then the order is taken anew.

use super::margin::check_above_zero;
use super::validation::measure;
use super::{Fitted, Task};
use crate::error::{Error, Result};
use crate::losses::listwise::ListNet;
use crate::losses::{QueryLoss, Reweighted};
use crate::models::{Model, Outcome, Record};
use crate::solvers::{Ending, Lbfgs, LbfgsFit, LinearRisk, Objective, Regularized};
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The relative norm of the gradient at which a minimum is near enough that is not the one sought.
const NEAR: f64 = 1e-2;

/// How the linear model of a smooth loss is found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(inline)]
pub struct Smooth {
    /// Weight C > 0 of the mean loss against ½‖w‖²: larger fits the training queries closer.
    pub c: f64,
    /// The most steps of the optimiser, at least 1.
    pub rounds: u64,
    /// The norm of the gradient at which to stop, relative to that at the start, above 0 and below 1.
    pub tolerance: f64,
    /// Whether w is in units of the features' standard deviations; false for features as they stand.
    pub scale: bool,
}

impl Default for Smooth {
    fn default() -> Self {
        Smooth { c: 1.0, rounds: 200, tolerance: 1e-4, scale: true }
    }
}

/// What is known of a loss's minima.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// There is one.
    Convex,
    /// There may be several.
    Hilly,
}

impl Smooth {
    /// Refuses what is out of range.
    pub fn check(&self) -> Result<()> {
        check_above_zero("c", self.c)?;
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            let tolerance = self.tolerance;
            return Err(Error::parameter(format!(
                "tolerance is {tolerance}; it must be above 0 and below 1"
            )));
        }
        check_count("rounds", self.rounds)
    }

    /// Whether the parameter is one of these, and not of a loss.
    pub fn has(parameter: &str) -> bool {
        ["c", "rounds", "tolerance", "scale"].contains(&parameter)
    }

    fn optimiser(&self) -> Lbfgs {
        Lbfgs { tolerance: self.tolerance, rounds: self.rounds, ..Lbfgs::default() }
    }

    fn risk<'a, L: QueryLoss>(&self, loss: L, task: &Task<'a>) -> LinearRisk<'a, L> {
        let risk = LinearRisk::new(task.train, loss, task.seed);
        if self.scale { risk.scaled() } else { risk }
    }
}

/// Refuses a count of 0.
pub(super) fn check_count(name: &str, count: u64) -> Result<()> {
    if count > 0 {
        return Ok(());
    }
    Err(Error::parameter(format!("{name} is 0; it must be at least 1")))
}

/// Learns the linear model of a smooth loss.
pub(super) fn fit(
    loss: impl QueryLoss,
    shape: Shape,
    smooth: &Smooth,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Fitted {
    let risk = smooth.risk(loss, task);
    let objective = Regularized { risk: &risk, c: smooth.c };
    let (start, done) = match shape {
        Shape::Convex => (vec![0.0; risk.dim()], 0),
        Shape::Hilly => warm_start(smooth, task, watch),
    };
    let optimiser = Lbfgs { rounds: smooth.rounds - done, ..smooth.optimiser() };
    let mut fit = optimiser.minimize(&objective, start, watch);
    fit.rounds += done;
    fitted(&risk, fit, watch)
}

/// Learns a linear model by λ-gradients: `orders` times the loss is lowered in the order that the weights give. Where
/// there are validation queries, they choose among these models by the measure.
pub(super) fn fit_reweighted(
    loss: impl Reweighted,
    orders: u64,
    smooth: &Smooth,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Fitted {
    let risk = smooth.risk(loss, task);
    let (mut weights, mut rounds) = warm_start(smooth, task, watch);
    let (mut best, mut evaluations): (Option<(f64, LbfgsFit)>, u64) = (None, 0);
    for order in 0..orders {
        let held = risk.held_at(&weights);
        let objective = Regularized { risk: &held, c: smooth.c };
        let share = (smooth.rounds - rounds).div_ceil(orders - order);
        let optimiser = Lbfgs { rounds: share, tolerance: NEAR, ..Lbfgs::default() };
        let fit = optimiser.minimize(&objective, weights, watch);
        weights = fit.weights.clone();
        rounds += fit.rounds;
        evaluations += fit.evaluations;
        let is_last = fit.rounds == 0 || watch.stop().requested();
        let in_data_units = risk.in_data_units(&weights);
        let value = task.valid.map_or(0.0, |valid| measure(valid, task.metric, &in_data_units));
        if best.as_ref().is_none_or(|(highest, _)| value >= *highest) {
            best = Some((value, fit));
        }
        if is_last {
            break;
        }
    }
    let (_, fit) = best.expect("at least one order");
    fitted(&risk, LbfgsFit { rounds, evaluations, ..fit }, watch)
}

/// Near the minimum of ListNet's risk, and how many steps led there; at most half of those allowed.
fn warm_start(smooth: &Smooth, task: &Task<'_>, watch: &mut dyn Watch) -> (Vec<f64>, u64) {
    let risk = smooth.risk(ListNet, task);
    let objective = Regularized { risk: &risk, c: smooth.c };
    let rough = Lbfgs { tolerance: NEAR, rounds: smooth.rounds / 2, ..Lbfgs::default() };
    let fit = rough.minimize(&objective, vec![0.0; risk.dim()], watch);
    (fit.weights, fit.rounds)
}

/// The model, and how it came about.
fn fitted<L: QueryLoss>(risk: &LinearRisk<'_, L>, fit: LbfgsFit, watch: &dyn Watch) -> Fitted {
    let outcome = match fit.ending {
        _ if watch.stop().requested() => Outcome::Interrupted,
        Ending::RoundsUsedUp => Outcome::RoundsUsedUp,
        _ => Outcome::Converged,
    };
    let mut notes = Vec::new();
    if risk.skipped() > 0 {
        notes.push(format!(
            "queries skipped because their documents need no particular order: {}",
            risk.skipped()
        ));
    }
    let figures = [
        ("objective", fit.value),
        ("norm of the gradient", fit.gradient_norm),
        ("evaluations", fit.evaluations as f64),
    ];
    let figures = figures.map(|(name, value)| (name.to_string(), value)).to_vec();
    let weights = risk.in_data_units(&fit.weights).into_owned();
    let record = Record { outcome, rounds: fit.rounds, figures, notes };
    Fitted { model: Model::linear(weights, 0.0), record }
}
