//! What the large-margin learners share: a linear model of least `½‖w‖² + C·R(w)` for a convex risk, by cutting planes
//! or, where the risk has a second derivative, by Newton steps.

use super::{Fitted, Learner, Task};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::losses::{QueryLoss, SecondOrder};
use crate::models::{Model, Outcome, Record};
use crate::solvers::{Bundle, CertifiedFit, LinearRisk, NewtonCg, Objective, Planes};
use crate::watch::{Stop, Watch};

/// A gap at which weights of 0 count as the best there are.
const CERTAIN: f64 = 1e-6;

/// A learner that is a convex loss of scores; the loss serves any scorer, this room makes the linear model of it.
pub trait LargeMargin: Learner {
    /// What is minimised.
    type Loss: QueryLoss;

    /// The loss; some learn a part of it from the training queries.
    fn loss(&self, train: &Dataset) -> Self::Loss;

    /// How the linear model is found.
    fn solver(&self) -> Margin;
}

/// How the linear model of a large-margin learner is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margin {
    /// Weight of the risk, gap and rounds.
    pub bundle: Bundle,
    /// Whether `w` is in units of the features' standard deviations.
    pub scale: bool,
}

impl Margin {
    /// Refuses what no solver could work with.
    pub fn check(&self) -> Result<()> {
        let Bundle { c, gap, rounds } = self.bundle;
        check_above_zero("c", c)?;
        if !(gap > 0.0 && gap < 1.0) {
            return Err(Error::parameter(format!("gap is {gap}; it must be above 0 and below 1")));
        }
        if rounds == 0 {
            return Err(Error::parameter("rounds is 0; it must be at least 1"));
        }
        Ok(())
    }
}

/// Refuses a parameter that is not finite and above 0.
pub fn check_above_zero(name: &str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::parameter(format!("{name} is {value}; it must be finite and above 0")))
}

/// Refuses sets of random documents that no loss could learn from.
pub fn check_sets(documents: usize, draws: usize) -> Result<()> {
    if documents == 1 {
        return Err(Error::parameter("documents is 1; it must be at least 2, or 0 for all"));
    }
    if draws == 0 {
        return Err(Error::parameter("draws is 0; it must be at least 1"));
    }
    Ok(())
}

/// Learns the linear model of `learner`.
pub fn fit(learner: &impl LargeMargin, task: &Task<'_>, watch: &mut dyn Watch) -> Fitted {
    fit_path(learner, &[learner.solver().bundle.c], task, watch).remove(0)
}

/// The linear models of `learner` for each C in turn, each starting from the planes of those before. Asked to stop, it
/// ends with the one that was interrupted.
pub fn fit_path(
    learner: &impl LargeMargin,
    path: &[f64],
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Vec<Fitted> {
    let margin = learner.solver();
    let risk = risk(learner.loss(task.train), margin, task);
    let mut planes = Planes::under(&risk);
    let mut fits = Vec::with_capacity(path.len());
    for &c in path {
        let margin = Margin { bundle: Bundle { c, ..margin.bundle }, ..margin };
        let fit = margin.bundle.minimize_from(&risk, &mut planes, watch);
        let record = record(&fit, margin, watch.stop());
        let interrupted = record.outcome == Outcome::Interrupted;
        fits.push(fitted(&risk, &fit, record));
        if interrupted {
            break;
        }
    }
    fits
}

/// The mean loss of `learner` at `w = 0`, where every path begins.
pub fn loss_of_zero(learner: &impl LargeMargin, task: &Task<'_>) -> f64 {
    let risk = LinearRisk::new(task.train, learner.loss(task.train), task.seed);
    let zero = vec![0.0; risk.dim()];
    risk.value_and_gradient(&zero, &mut zero.clone())
}

/// Learns the linear model of a loss with a second derivative, by Newton steps instead of cutting planes.
pub fn fit_by_newton(
    loss: impl SecondOrder,
    margin: Margin,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Fitted {
    let risk = risk(loss, margin, task);
    let Bundle { c, gap, rounds } = margin.bundle;
    let fit = NewtonCg { c, gap, rounds }.minimize(&risk, watch);
    fitted(&risk, &fit, record(&fit, margin, watch.stop()))
}

fn risk<'a, L: QueryLoss>(loss: L, margin: Margin, task: &Task<'a>) -> LinearRisk<'a, L> {
    let risk = LinearRisk::new(task.train, loss, task.seed);
    if margin.scale { risk.scaled() } else { risk }
}

/// The model, and with its record what was left out.
fn fitted<L: QueryLoss>(risk: &LinearRisk<'_, L>, fit: &CertifiedFit, mut record: Record) -> Fitted {
    if risk.skipped() > 0 {
        record.notes.push(format!(
            "queries skipped because their documents need no particular order: {}",
            risk.skipped()
        ));
    }
    let weights = risk.in_data_units(&fit.weights).into_owned();
    Fitted { model: Model::linear(weights, 0.0), record }
}

/// How the weights of least `½‖w‖² + C·R(w)` were found.
pub(super) fn record(fit: &CertifiedFit, asked: Margin, stop: &Stop) -> Record {
    let mut notes = Vec::new();
    let outcome = match (fit.converged, stop.requested()) {
        (true, _) => Outcome::Converged,
        (false, true) => Outcome::Interrupted,
        (false, false) => Outcome::RoundsUsedUp,
    };
    if outcome == Outcome::RoundsUsedUp && fit.rounds < asked.bundle.rounds {
        notes.push(
            "features or c are so large that rounding hides the optimum; normalise the features, or lower c"
                .into(),
        );
    }
    if fit.weights.iter().all(|w| *w == 0.0) {
        notes.push(why_zero(fit, outcome).into());
    }
    Record { outcome, rounds: fit.rounds, figures: figures(fit, asked), notes }
}

/// Why all weights are 0, and what to do about it.
fn why_zero(fit: &CertifiedFit, outcome: Outcome) -> &'static str {
    match outcome {
        _ if fit.primal == 0.0 => {
            "no training query asks for any order, so the model gives every document the same score"
        }
        Outcome::Converged if fit.gap() <= CERTAIN => {
            "no weights have a smaller loss than none at all, so the model gives every document the same score; \
             another loss, or cleaner data, is needed"
        }
        Outcome::Converged => {
            "weights of 0 are within the gap of the best, so the model gives every document the same score; a larger \
             c or a smaller gap may find others"
        }
        _ => {
            "no weights better than 0 were found so far, so the model gives every document the same score; it needs \
             more rounds"
        }
    }
}

/// The certificate, and what the objective is made of.
fn figures(fit: &CertifiedFit, asked: Margin) -> Vec<(String, f64)> {
    let half_norm = 0.5 * fit.weights.iter().map(|w| w * w).sum::<f64>();
    let norm = if asked.scale { "norm of the scaled weights" } else { "norm of the weights" };
    let named = [
        ("primal objective", fit.primal),
        ("dual objective", fit.dual),
        ("relative duality gap", fit.gap()),
        ("mean loss", (fit.primal - half_norm) / asked.bundle.c),
        (norm, (2.0 * half_norm).sqrt()),
    ];
    named.map(|(name, value)| (name.to_string(), value)).to_vec()
}
