//! The cutting-plane (bundle) method, with a slack for each part of the risk (after Joachims, Finley and Yu,
//! Machine Learning 2009).
//!
//! ```text
//! min_w  ½‖w‖² + C·R(w) ,      R = Σ_p R_p, each convex and ≥ 0, known by value and subgradient
//! ```
//!
//! Each round adds the plane that touches each `R_p` at the weights of the round before, and minimises with the
//! highest of its planes in place of `R_p`. That minimum is a lower bound, so the gap to the best value seen is a
//! certificate. A plane for each of several parts of the queries, instead of one for all, saves many rounds.

use super::certified::CertifiedFit;
use super::objective::Objective;
use super::planes::Planes;
use super::vectors::dot;
use crate::watch::{Step, Watch};

/// How hard the quadratic problem of a round is solved, as a share of the gap it is to close.
const INNER_SHARE: f64 = 0.05;

/// What to solve, and how far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bundle {
    /// The weight C > 0 of the risk.
    pub c: f64,
    /// The relative duality gap at which to stop.
    pub gap: f64,
    /// The most rounds to make.
    pub rounds: u64,
}

impl Bundle {
    /// Minimises from `w = 0`; asked to stop, gives the best so far.
    pub fn minimize(&self, risk: &impl Objective, watch: &mut dyn Watch) -> CertifiedFit {
        self.minimize_from(risk, &mut Planes::under(risk), watch)
    }

    /// Minimises with the planes found for another `C` of the same risk as a start, and adds to them.
    pub fn minimize_from(
        &self,
        risk: &impl Objective,
        planes: &mut Planes,
        watch: &mut dyn Watch,
    ) -> CertifiedFit {
        let mut w = vec![0.0; risk.dim()];
        let mut touching = risk.by_part(&w);
        let mut best = CertifiedFit {
            weights: w.clone(),
            primal: self.c * value_of(&touching),
            dual: 0.0,
            rounds: 0,
            converged: false,
        };
        while best.rounds < self.rounds && best.gap() > self.gap && !watch.stop().requested() {
            for (part, (value, slope)) in touching.iter().enumerate() {
                planes.add(part, slope, value - dot(slope, &w));
            }
            planes.solve(self.c, INNER_SHARE * (best.primal - best.dual), watch.stop());
            planes.weights(self.c, &mut w);
            best.dual = best.dual.max(planes.dual(self.c, &w));
            touching = risk.by_part(&w);
            let primal = 0.5 * dot(&w, &w) + self.c * value_of(&touching);
            best.rounds += 1;
            if primal < best.primal {
                best.primal = primal;
                best.weights.copy_from_slice(&w);
            }
            let (done, gap) = (best.rounds, best.gap());
            watch.step(Step { done, total: None, what: "duality gap", value: gap });
            if !self.is_exact(primal, best.primal) {
                break;
            }
        }
        best.converged = best.gap() <= self.gap;
        best
    }

    /// Whether a plane at weights of this value has an offset with digits to spare for the gap wanted. With huge
    /// features or C it may not have, and a lower bound from it would be noise.
    fn is_exact(&self, primal: f64, best: f64) -> bool {
        primal * f64::EPSILON < 0.01 * self.gap * best
    }
}

/// The whole of what is known by its parts.
fn value_of(parts: &[(f64, Vec<f64>)]) -> f64 {
    parts.iter().map(|(value, _)| value).sum()
}
