//! Linear models of convex losses, solved to a certified duality gap: by cutting planes or, if the loss has a
//! second derivative, by truncated Newton steps.

use super::{LinearParameters, RegularizationPath};
use crate::error::{Error, Result};
use crate::learners::{Fitted, Task};
use crate::losses::{QueryLoss, SecondOrder};
use crate::models::{Model, Outcome, Record};
use crate::solvers::{
    BlockAscent, Bundle, CertifiedFit, CuttingPlanes, LinearRisk, NewtonCg, Objective, QueryPlanes,
};
use crate::watch::{Stop, Watch};

/// The gap below which zero weights count as the optimum.
const CERTAIN: f64 = 1e-6;

/// With more features than this, every query of many gets cutting planes of its own.
const MANY_FEATURES: usize = 1000;
/// With so few queries, the problem of all planes is best solved as a whole.
const FEW_QUERIES: usize = 16;

/// Fits the linear model of a convex loss by cutting planes.
pub(super) fn fit(
    loss: impl QueryLoss,
    linear: &LinearParameters,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Result<Fitted> {
    Ok(fits(&linear.risk(loss, task), &[linear.c], linear, watch)?.remove(0))
}

/// The linear models for each C in turn, each starting from the cutting planes of those before.
pub(super) fn fit_path(
    loss: impl QueryLoss,
    cs: &[f64],
    linear: &LinearParameters,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Result<RegularizationPath> {
    let risk = linear.risk(loss, task);
    let zero = vec![0.0; risk.dim()];
    let loss_of_zero = risk.value_and_gradient(&zero, &mut zero.clone());
    Ok(RegularizationPath { loss_of_zero, fits: fits(&risk, cs, linear, watch)? })
}

/// One fit per C. If a stop was requested, the last fit is the interrupted one.
fn fits<L: QueryLoss>(
    risk: &LinearRisk<'_, L>,
    cs: &[f64],
    linear: &LinearParameters,
    watch: &mut dyn Watch,
) -> Result<Vec<Fitted>> {
    let mut planes = Planes::under(risk)?;
    let mut fits = Vec::with_capacity(cs.len());
    for &c in cs {
        let linear = LinearParameters { c, ..linear.clone() };
        let fit = planes.minimize(risk, &linear, watch);
        let record = record(&fit, &linear, watch.stop());
        let interrupted = record.outcome == Outcome::Interrupted;
        fits.push(fitted(risk, &fit, record));
        if interrupted {
            break;
        }
    }
    Ok(fits)
}

/// The cutting planes of the method that suits the number of features.
enum Planes {
    /// Planes below the mean loss of many queries, a number for every feature each. A few suffice if there are few
    /// features.
    OfPieces(CuttingPlanes),
    /// Planes below the loss of each query, a number for each of its documents.
    OfQueries(QueryPlanes),
}

impl Planes {
    fn under<L: QueryLoss>(risk: &LinearRisk<'_, L>) -> Result<Planes> {
        match risk.dim() > MANY_FEATURES && risk.used() > FEW_QUERIES {
            true if risk.is_divided() => Err(Error::parameter(format!(
                "a linear max-margin model of more than {MANY_FEATURES} features is optimised query by query, which \
                 cannot be divided among workers, and there are {} features; use scorer trees, a smooth loss such as \
                 list-net, fewer features, or one machine",
                risk.dim()
            ))),
            true => Ok(Planes::OfQueries(QueryPlanes::under(risk))),
            false => Ok(Planes::OfPieces(CuttingPlanes::under(risk))),
        }
    }

    fn minimize<L: QueryLoss>(
        &mut self,
        risk: &LinearRisk<'_, L>,
        linear: &LinearParameters,
        watch: &mut dyn Watch,
    ) -> CertifiedFit {
        let &LinearParameters { c, tolerance: gap, iterations: rounds, .. } = linear;
        match self {
            Planes::OfPieces(planes) => Bundle { c, gap, rounds }.minimize_from(risk, planes, watch),
            Planes::OfQueries(planes) => BlockAscent { c, gap, rounds }.minimize_from(risk, planes, watch),
        }
    }
}

/// Fits the linear model of a loss with a second derivative by Newton steps.
pub(super) fn fit_by_newton(
    loss: impl SecondOrder,
    linear: &LinearParameters,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Fitted {
    let risk = linear.risk(loss, task);
    let &LinearParameters { c, iterations: rounds, tolerance: gap, .. } = linear;
    let fit = NewtonCg { c, gap, rounds }.minimize(&risk, watch);
    fitted(&risk, &fit, record(&fit, linear, watch.stop()))
}

fn fitted<L: QueryLoss>(risk: &LinearRisk<'_, L>, fit: &CertifiedFit, mut record: Record) -> Fitted {
    record.notes.extend(super::skipped_note(risk.skipped()));
    let weights = risk.in_data_units(&fit.weights).into_owned();
    Fitted { model: Model::linear(weights, 0.0), record }
}

/// The record of how the weights that minimise `½‖w‖² + C·R(w)` were found.
pub(in crate::learners) fn record(fit: &CertifiedFit, asked: &LinearParameters, stop: &Stop) -> Record {
    let mut notes = Vec::new();
    let outcome = match (fit.converged, stop.requested()) {
        (true, _) => Outcome::Converged,
        (false, true) => Outcome::Interrupted,
        (false, false) => Outcome::RoundsUsedUp,
    };
    if outcome == Outcome::RoundsUsedUp && fit.rounds < asked.iterations {
        notes.push(
            "features or c are so large that rounding hides the optimum; normalise the features, or lower c"
                .into(),
        );
    }
    if fit.weights.iter().all(|w| *w == 0.0) && fit.primal != 0.0 {
        notes.push(why_zero(fit, outcome).into());
    }
    Record { outcome, rounds: fit.rounds, figures: figures(fit, asked), notes }
}

/// Why all weights are 0, and what to do about it.
fn why_zero(fit: &CertifiedFit, outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Converged if fit.gap() <= CERTAIN => {
            "zero weights have the smallest loss; try another loss, or cleaner data"
        }
        Outcome::Converged => {
            "zero weights are within the tolerance of the optimum; try a larger c or a smaller tolerance"
        }
        _ => "no weights better than zero have been found yet; allow more iterations",
    }
}

/// The certificate, and the terms of the objective.
fn figures(fit: &CertifiedFit, asked: &LinearParameters) -> Vec<(String, f64)> {
    let half_norm = 0.5 * fit.weights.iter().map(|w| w * w).sum::<f64>();
    let norm = if asked.scale { "norm of the scaled weights" } else { "norm of the weights" };
    let named = [
        ("primal objective", fit.primal),
        ("dual objective", fit.dual),
        ("relative duality gap", fit.gap()),
        ("mean loss", (fit.primal - half_norm) / asked.c),
        (norm, (2.0 * half_norm).sqrt()),
    ];
    named.map(|(name, value)| (name.to_string(), value)).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::losses::PairHinge;

    #[test]
    fn queries_have_planes_of_their_own_if_there_are_many_features_and_queries() {
        for (queries, width, of_queries) in [(17, 1001, true), (16, 1001, false), (17, 1000, false)] {
            let values = (0..2 * queries * width).map(|i| (i % 7) as f32).collect();
            let labels = (0..2 * queries).map(|i| (i % 2) as f32).collect();
            let data = Dataset::dense(values, width, labels, &vec![2; queries]).unwrap();
            let planes = Planes::under(&LinearRisk::new(&data, PairHinge::default(), 1)).unwrap();
            assert_eq!(
                matches!(planes, Planes::OfQueries(_)),
                of_queries,
                "{queries} queries, {width} features"
            );
        }
    }
}
