//! Conditional models whose rankings are sampled repeatedly from the model's own distribution.
//!
//! At weights `v`, rankings `y₁ … y_m` are drawn from `Pr_v(y) ∝ exp(−v·δφ(y))`, over all `y` that are
//! rankings. Importance weights give the sums at other weights:
//!
//! ```text
//! Σ_y exp(−w·δφ(y))·f(y) = Z_v · E_v[ exp(−(w−v)·δφ(y))·f(y) ]
//!                        ≈ Z_v · Σᵢ ωᵢ exp(−w·δφ(yᵢ))·f(yᵢ) ,      ωᵢ = exp(v·δφ(yᵢ)) / m
//! ```
//!
//! with `f = 1`, `exp(Δ)` or `1 − Δ`, depending on the form. As `m` grows, the right side and its derivatives
//! converge to the left for any `w`. `log Z_v` is not known, but it is constant in `w`, and cancels if a form
//! is a ratio. So between two draws there is one smooth function for L-BFGS to minimise, as for a sample
//! drawn once. Far from `v` a few rankings outweigh all others and the function is unbounded below. Therefore
//! the function minimised between two draws is
//!
//! ```text
//! ‖w‖²/C + 1/Q Σ_q [ F̂_q(w) + ½ Var_v((w−v)·δφ) ]
//! ```
//!
//! The damping has value and gradient 0 at `v`, so weights that another draw does not change are those of the
//! objective itself. The variance is the second derivative of `log Z` along `w − v`: where sums of
//! exponentials dominate, each draw makes between half a Newton step and a whole one.

use super::fitting::{figures, start_at, units};
use super::parameters::{Conditional, ConditionalLinearParameters};
use crate::learners::scorers::skipped_note;
use crate::learners::{Fitted, LinearParameters, Task};
use crate::losses::conditional::ConditionalObjective;
use crate::models::{Model, Outcome, Record};
use crate::rng;
use crate::solvers::{
    DrawnRankings, FeatureUnits, Lbfgs, LbfgsFit, Objective, Regularized, SampledObjective, SampledRisk,
};
use crate::watch::{Stop, Watch};

/// L-BFGS steps per draw.
const STEPS: u64 = 10;
/// The factor of the variance in the damping.
const DAMPING: f64 = 1.0;
/// Draws that lower the objective by less than this fraction of the largest decrease count as converged.
const LITTLE: f64 = 0.01;
/// The number of last draws that must do so.
const LAST: usize = 2;
/// Decreases that a note shows: this many of the first draws, and as many of the last.
const SHOWN: usize = 5;

/// The result of repeated draws from one start.
struct AdaptiveFit {
    fit: LbfgsFit,
    /// The decrease of the objective in each draw, as estimated on that draw.
    fell: Vec<f64>,
    evaluations: u64,
    skipped: usize,
    rankings: usize,
    /// The effective fraction of the last draw's rankings at the final weights.
    share: f64,
    data_weights: Vec<f64>,
}

/// Fits the linear model that minimises `‖w‖²/C + R(w)`, with rankings sampled from the current distribution.
///
/// Starts can be compared if the form is a ratio, free of the unknown constant; with other forms only the first start
/// is used.
pub(super) fn fit_adaptively(
    parameters: &Conditional,
    optimisation: &ConditionalLinearParameters,
    form: ConditionalObjective,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Fitted {
    let ConditionalLinearParameters { linear, starts } = optimisation;
    let mut best: Option<AdaptiveFit> = None;
    let starts = if form == ConditionalObjective::ExpGain { *starts } else { 1 };
    for start in 0..starts {
        if start > 0 && watch.stop().requested() {
            break;
        }
        let path = follow(parameters, linear, form, start, task, watch);
        if best.as_ref().is_none_or(|best| path.fit.value < best.fit.value) {
            best = Some(path);
        }
    }
    let mut fitted = best.expect("at least one start").into_fitted(linear.c, watch.stop());
    if optimisation.starts > starts {
        fitted.record.notes.push(
            "only the first start was used: with method adaptive, the minima of several starts of this objective \
             cannot be compared"
                .into(),
        );
    }
    fitted
}

/// Draws and minimises in turn.
fn follow(
    parameters: &Conditional,
    linear: &LinearParameters,
    form: ConditionalObjective,
    start: u64,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> AdaptiveFit {
    let c = linear.c;
    let mut w = start_at(start, task.train.width(), task.seed);
    let (mut fell, mut evaluations) = (Vec::new(), 0);
    loop {
        let draw = fell.len() as u64;
        let seed = rng::derive(task.seed, &[start, draw]);
        let risk = risk_at(parameters, units(linear.scale, task), form, &w, seed, task, watch.stop());
        let objective = Regularized { risk: &risk, c: 0.5 * c };
        let before = objective.value_and_gradient(&w, &mut vec![0.0; w.len()]);
        let solver = Lbfgs { rounds: STEPS.min(linear.iterations), ..linear.lbfgs() };
        let fit = solver.minimize(&objective, w.clone(), watch);
        evaluations += fit.evaluations + 1;
        fell.push((before - fit.value) * 2.0 / c);
        if fell.len() as u64 == parameters.redraws || watch.stop().requested() {
            let data_weights = risk.in_data_units(&fit.weights).into_owned();
            let (skipped, rankings) = (risk.skipped(), risk.rankings());
            let share = risk.effective_fraction(&fit.weights);
            return AdaptiveFit { fit, fell, evaluations, skipped, rankings, share, data_weights };
        }
        w = fit.weights;
    }
}

/// The risk over rankings drawn from the distribution at `v`. The perfect ranking that samples begin with was
/// not drawn, and does not count.
fn risk_at<'a>(
    parameters: &Conditional,
    units: FeatureUnits,
    form: ConditionalObjective,
    v: &[f64],
    seed: u64,
    task: &Task<'a>,
    stop: &Stop,
) -> SampledRisk<'a> {
    let weights = units.in_data_units(v).into_owned();
    let law = SampledObjective { form, kappa: parameters.kappa, threshold: parameters.threshold };
    SampledRisk::new(task.train, units, law, stop, |query, goods, bads| {
        let twice_kappa = 2.0 * parameters.kappa.of(goods.len(), bads.len());
        let exponents = |class: &[usize]| {
            class.iter().map(|&i| twice_kappa * query.row(i).dot(&weights)).collect::<Vec<f64>>()
        };
        let (good, bad) = (exponents(goods), exponents(bads));
        let sample = parameters.chain().draw(&good, &bad, rng::derive(seed, &[query.number()]));
        let loss = parameters.ranking_loss().of(goods.len(), bads.len());
        let losses: Vec<f64> = (0..sample.len()).map(|i| loss.at(sample.state(i).places())).collect();
        let product = |exponents: &[f64], counts: &[u32]| {
            exponents.iter().zip(counts).map(|(e, c)| e * f64::from(*c)).sum::<f64>()
        };
        // log ω = v·δφ(y) − log m.
        let log_size = (parameters.samples as f64).ln();
        let log_weight = |i: usize| {
            let state = sample.state(i);
            product(&good, state.non_relevant_ahead()) - product(&bad, state.relevant_behind()) - log_size
        };
        let drawn = (1..sample.len()).map(log_weight);
        let log_weights = std::iter::once(f64::NEG_INFINITY).chain(drawn).collect();
        DrawnRankings { sample, losses, log_weights }
    })
    .damped(DAMPING)
}

impl AdaptiveFit {
    fn into_fitted(self, c: f64, stop: &Stop) -> Fitted {
        let total: f64 = self.fell.iter().sum();
        let outcome = if stop.requested() {
            Outcome::Interrupted
        } else if is_flat(&self.fell) {
            Outcome::Converged
        } else {
            Outcome::RoundsUsedUp
        };
        let mut figures = figures(&self.fit, c);
        // Up to the unknown constant, which cancels only in a ratio.
        figures[0].0 = "objective over the last draw".into();
        figures[1].0 = "mean loss over the last draw".into();
        figures.push(("objective fell by, all draws together".into(), total));
        figures.push(("evaluations".into(), self.evaluations as f64));
        figures.push(("rankings in the last draw".into(), self.rankings as f64));
        figures.push(("share of these that count at the end".into(), self.share));
        let mut notes: Vec<String> = skipped_note(self.skipped).into_iter().collect();
        notes.push(format!("the objective fell from draw to draw by {}", shown(&self.fell)));
        let model = Model::linear(self.data_weights, 0.0);
        Fitted { model, record: Record { outcome, rounds: self.fell.len() as u64, figures, notes } }
    }
}

/// Whether the objective hardly fell any more in the last draws. The total says nothing about that: it grows with the
/// number of draws.
fn is_flat(fell: &[f64]) -> bool {
    let largest = fell.iter().copied().fold(0.0, f64::max);
    fell.len() > LAST && fell[fell.len() - LAST..].iter().all(|fall| *fall <= LITTLE * largest)
}

/// The first and the last decreases.
fn shown(fell: &[f64]) -> String {
    let list = |fell: &[f64]| fell.iter().map(|f| format!("{f:.3e}")).collect::<Vec<_>>().join(", ");
    if fell.len() <= 2 * SHOWN {
        return list(fell);
    }
    format!("{}, …, {}", list(&fell[..SHOWN]), list(&fell[fell.len() - SHOWN..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_objective_that_falls_as_much_as_ever_has_not_converged() {
        assert!(!is_flat(&[1e-3; 200]));
        assert!(!is_flat(&[1.0, 0.5, 0.02, 0.02]));
        assert!(!is_flat(&[1.0, 0.5, 0.02, 0.001]));
        assert!(!is_flat(&[0.0, 0.0]));
        assert!(is_flat(&[1.0, 0.5, 0.001, -0.002]));
        assert!(is_flat(&[0.0; 3]));
    }

    #[test]
    fn many_decreases_are_cut_in_the_middle() {
        assert_eq!(shown(&[1.0, 0.5]), "1.000e0, 5.000e-1");
        let many = shown(&[1.0; 40]);
        assert_eq!((many.matches("1.000e0").count(), many.matches('…').count()), (10, 1));
    }
}
