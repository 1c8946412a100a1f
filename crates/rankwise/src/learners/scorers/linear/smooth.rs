//! Linear models of smooth losses: the weights that minimise `½‖w‖² + C·R(w)`, by L-BFGS.
//!
//! A convex risk has one minimum, searched for from zero weights. A non-convex risk may have several, of
//! which one near a good order is wanted, so the search starts at the minimum of ListNet's convex risk with
//! the same C. λ-gradients are not the derivative of any function, but with the order of the documents fixed
//! they are that of a convex one: that is lowered a little, then the order is updated.

use super::LinearParameters;
use crate::learners::validation::mean_metric;
use crate::learners::{Fitted, Task};
use crate::losses::listwise::{ListNet, WeightedSoftmax};
use crate::losses::{QueryLoss, Reweighted};
use crate::models::{Model, Outcome, Record};
use crate::solvers::{Lbfgs, LbfgsFit, LinearRisk, Objective, Regularized, Termination};
use crate::watch::Watch;

/// Relative norm of the gradient at which an intermediate minimum counts as found.
const ROUGH: f64 = 1e-2;

impl LinearParameters {
    /// The optimiser of a smooth loss.
    pub(crate) fn lbfgs(&self) -> Lbfgs {
        Lbfgs { tolerance: self.tolerance, rounds: self.iterations, ..Lbfgs::default() }
    }
}

/// Fits the linear model of a smooth convex loss.
pub(super) fn fit_convex(
    loss: impl QueryLoss,
    linear: &LinearParameters,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Fitted {
    let zero = vec![0.0; task.train.width()];
    fit_from(zero, 0, loss, linear, task, watch)
}

/// Fits the linear model of a smooth loss that may have several minima.
pub(super) fn fit_non_convex(
    loss: impl QueryLoss,
    linear: &LinearParameters,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Fitted {
    let (start, done) = warm_start(linear, task, watch);
    fit_from(start, done, loss, linear, task, watch)
}

/// Continues from weights that took `done` iterations to find.
fn fit_from(
    start: Vec<f64>,
    done: u64,
    loss: impl QueryLoss,
    linear: &LinearParameters,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Fitted {
    let risk = linear.risk(loss, task);
    let objective = Regularized { risk: &risk, c: linear.c };
    let optimiser = Lbfgs { rounds: linear.iterations - done, ..linear.lbfgs() };
    let mut fit = optimiser.minimize(&objective, start, watch);
    fit.rounds += done;
    fitted(&risk, fit, watch)
}

/// Fits a linear model by λ-gradients: up to `reorderings` times, the loss is lowered with pairs weighted by the
/// order under the current weights, until the λ-gradient is small under the order that it leads to. Validation
/// queries, if there are any, choose among these models by the metric.
pub(super) fn fit_reweighted(
    loss: impl Reweighted,
    reorderings: u64,
    linear: &LinearParameters,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Fitted {
    let risk = linear.risk(loss, task);
    let at = |weights: Vec<f64>| InOwnOrder::at(&risk, linear.c, weights);
    let (start, mut rounds) = warm_start(linear, task, watch);
    let mut now = at(start);
    let (mut best, mut evaluations): (Option<(f64, InOwnOrder)>, u64) = (None, 2);
    for order in 0..reorderings {
        let held = risk.in_order_of(&now.weights);
        let objective = Regularized { risk: &held, c: linear.c };
        let allowed = (linear.iterations - rounds).div_ceil(reorderings - order);
        let tolerance = (linear.tolerance / now.fraction()).max(ROUGH);
        let optimiser = Lbfgs { rounds: allowed, tolerance, ..Lbfgs::default() };
        let fit = optimiser.minimize(&objective, now.weights, watch);
        rounds += fit.rounds;
        evaluations += fit.evaluations + 2;
        let (moved, stalled) = (fit.rounds > 0, fit.rounds == 0 && fit.ending == Termination::Stalled);
        now = match watch.stop().requested() {
            // An evaluation could be cut short; these are of the order before.
            true => {
                InOwnOrder { weights: fit.weights, value: fit.value, gradient_norm: fit.gradient_norm, ..now }
            }
            false => at(fit.weights),
        };
        now.converged = stalled || now.gradient_norm <= linear.tolerance * now.norm_of_zero;
        let in_data_units = risk.in_data_units(&now.weights);
        let value = task.valid.map_or(0.0, |valid| mean_metric(valid, task.metric, &in_data_units));
        if best.as_ref().is_none_or(|(highest, _)| value >= *highest) {
            best = Some((value, now.clone()));
        }
        if now.converged || !moved || watch.stop().requested() {
            break;
        }
    }
    let (_, best) = best.expect("at least one order");
    let ending = match (best.converged, best.weights == now.weights) {
        (true, _) => Outcome::Converged,
        (false, true) => Outcome::RoundsUsedUp,
        (false, false) => Outcome::StoppedEarly,
    };
    let fraction = best.fraction();
    let mut fitted = fitted(&risk, best.into_fit(rounds, evaluations), watch);
    if fitted.record.outcome != Outcome::Interrupted {
        fitted.record.outcome = ending;
        fitted.record.notes.extend((ending == Outcome::RoundsUsedUp).then(|| {
            format!(
                "the λ-gradient is still {:.1} % of that of zero weights; allow more reorderings or iterations",
                100.0 * fraction
            )
        }));
    }
    fitted
}

/// Weights with the loss and the λ-gradient of the order that they give.
#[derive(Clone)]
struct InOwnOrder {
    weights: Vec<f64>,
    value: f64,
    gradient_norm: f64,
    /// The norm of the gradient at zero weights, in the order that these weights give: zero weights tie all documents,
    /// so their own order would be that of the file.
    norm_of_zero: f64,
    converged: bool,
}

impl InOwnOrder {
    fn at<L: Reweighted>(risk: &LinearRisk<'_, L>, c: f64, weights: Vec<f64>) -> InOwnOrder {
        let (value, gradient_norm) = value_and_norm(risk, c, &weights, &weights);
        let (_, norm_of_zero) = value_and_norm(risk, c, &weights, &vec![0.0; weights.len()]);
        InOwnOrder { weights, value, gradient_norm, norm_of_zero, converged: false }
    }

    /// The norm of the gradient as a fraction of that at zero weights; NaN if both are 0.
    fn fraction(&self) -> f64 {
        self.gradient_norm / self.norm_of_zero
    }

    fn into_fit(self, rounds: u64, evaluations: u64) -> LbfgsFit {
        let InOwnOrder { weights, value, gradient_norm, .. } = self;
        LbfgsFit { weights, value, gradient_norm, rounds, evaluations, ending: Termination::Converged }
    }
}

/// The objective at `weights` and the norm of its gradient, with pairs weighted by the order that `order` gives.
fn value_and_norm<L: Reweighted>(
    risk: &LinearRisk<'_, L>,
    c: f64,
    order: &[f64],
    weights: &[f64],
) -> (f64, f64) {
    let held = risk.in_order_of(order);
    let mut gradient = vec![0.0; weights.len()];
    let value = Regularized { risk: &held, c }.value_and_gradient(weights, &mut gradient);
    (value, gradient.iter().map(|g| g * g).sum::<f64>().sqrt())
}

/// Weights near the minimum of ListNet's risk, and the iterations they took; at most half of those allowed.
fn warm_start(linear: &LinearParameters, task: &Task<'_>, watch: &mut dyn Watch) -> (Vec<f64>, u64) {
    let loss: Box<dyn QueryLoss> = match task.train.click_labels() {
        None => Box::new(ListNet),
        Some(_) => Box::new(WeightedSoftmax),
    };
    let risk = linear.risk(loss, task);
    let objective = Regularized { risk: &risk, c: linear.c };
    let rough = Lbfgs { tolerance: ROUGH, rounds: linear.iterations / 2, ..Lbfgs::default() };
    let fit = rough.minimize(&objective, vec![0.0; risk.dim()], watch);
    (fit.weights, fit.rounds)
}

fn fitted<L: QueryLoss>(risk: &LinearRisk<'_, L>, fit: LbfgsFit, watch: &dyn Watch) -> Fitted {
    let outcome = match fit.ending {
        _ if watch.stop().requested() => Outcome::Interrupted,
        Termination::RoundsUsedUp => Outcome::RoundsUsedUp,
        _ => Outcome::Converged,
    };
    let figures = [
        ("objective", fit.value),
        ("norm of the gradient", fit.gradient_norm),
        ("evaluations", fit.evaluations as f64),
    ];
    let figures = figures.map(|(name, value)| (name.to_string(), value)).to_vec();
    let weights = risk.in_data_units(&fit.weights).into_owned();
    let notes = super::skipped_note(risk.skipped()).into_iter().collect();
    let record = Record { outcome, rounds: fit.rounds, figures, notes };
    Fitted { model: Model::linear(weights, 0.0), record }
}
