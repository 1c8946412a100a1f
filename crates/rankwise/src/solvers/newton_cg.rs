//! Truncated Newton: conjugate gradients for the direction, a line search for the length (Lin, Weng and Keerthi 2008;
//! for ranking, Lee and Lin 2014).
//!
//! ```text
//! min_w  F(w) = ½‖w‖² + C·R(w) ,      R convex and ≥ 0, with a generalised second derivative
//! ```
//!
//! Because of the first term, `F(v) ≥ F(w) + ∇F(w)·(v − w) + ½‖v − w‖²` for any `v`, and the right side is at least
//! `F(w) − ½‖∇F(w)‖²`. This is a lower bound on the optimum at no extra cost. For the squared hinge, it is the value
//! of the dual problem at the multipliers `2C·[1 − margin]₊`.

use super::certified::CertifiedFit;
use super::conjugate_gradient;
use super::line_search::{LineSearch, Trial};
use super::objective::{Curvature, Objective, Regularized};
use crate::sums::{add_scaled, dot};
use crate::watch::{Progress, Stop, Watch};

/// The relative residual at which conjugate gradients stop at first. Later it shrinks with the square root of the
/// gradient norm.
const LOOSEST: f64 = 0.1;

/// The truncated Newton solver and its stopping criteria.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewtonCg {
    /// The weight C > 0 of the risk.
    pub c: f64,
    /// The relative duality gap at which to stop.
    pub gap: f64,
    /// The maximum number of Newton steps.
    pub rounds: u64,
}

impl NewtonCg {
    /// Minimises from `w = 0`. If asked to stop, returns the best weights so far.
    pub fn minimize(&self, risk: &impl Curvature, watch: &mut dyn Watch) -> CertifiedFit {
        let objective = Regularized { risk, c: self.c };
        let mut w = vec![0.0; risk.dim()];
        let mut gradient = vec![0.0; risk.dim()];
        let mut value = objective.value_and_gradient(&w, &mut gradient);
        let first_norm = dot(&gradient, &gradient).sqrt();
        let (mut rounds, mut dual) = (0, 0.0);
        loop {
            let squared = dot(&gradient, &gradient);
            dual = f64::max(dual, value - 0.5 * squared);
            let mut fit = CertifiedFit { weights: Vec::new(), primal: value, dual, rounds, converged: false };
            watch.step(Progress { done: rounds, total: None, what: "duality gap", value: fit.gap() });
            fit.converged = fit.gap() <= self.gap;
            let over = fit.converged || rounds == self.rounds || watch.stop().requested();
            let looseness = LOOSEST.min((squared.sqrt() / first_norm).sqrt());
            if over || !step(&objective, &mut w, &mut value, &mut gradient, looseness, watch.stop()) {
                fit.weights = w;
                return fit;
            }
            rounds += 1;
        }
    }
}

/// Takes one Newton step. Returns false and changes nothing if no decrease is possible within rounding errors.
fn step<R: Curvature>(
    objective: &Regularized<'_, R>,
    w: &mut Vec<f64>,
    value: &mut f64,
    gradient: &mut Vec<f64>,
    looseness: f64,
    stop: &Stop,
) -> bool {
    let downhill: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let most = 100 + 2 * w.len() as u64;
    let (direction, _, _) = {
        let product = objective.hessian(w);
        conjugate_gradient(product, &downhill, looseness, most, |_, _| !stop.requested())
    };
    let start = Trial { step: 0.0, value: *value, slope: dot(gradient, &direction) };
    if start.slope >= 0.0 {
        return false;
    }
    let (mut there, mut slopes) = (w.clone(), gradient.clone());
    let found = LineSearch::default().search(start, 1.0, |step| {
        there.copy_from_slice(w);
        add_scaled(&mut there, step, &direction);
        let value = objective.value_and_gradient(&there, &mut slopes);
        Trial { step, value, slope: dot(&slopes, &direction) }
    });
    let Some(trial) = found else { return false };
    std::mem::swap(w, &mut there);
    std::mem::swap(gradient, &mut slopes);
    *value = trial.value;
    true
}
