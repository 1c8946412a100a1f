//! The cutting-plane (bundle) method, with one slack per term of the risk (after Joachims, Finley and Yu, Machine
//! Learning 2009).
//!
//! ```text
//! min_w  ½‖w‖² + C·R(w) ,      R = Σ_p R_p, each convex and ≥ 0, given by value and subgradient
//! ```
//!
//! Each round adds the plane that touches `R_p` at the current weights, for every `p`, and then minimises with the
//! maximum of its planes in place of `R_p`. That minimum is a lower bound, so the gap to the best value found is a
//! certificate. One plane per term, where a term covers a fixed subset of the queries, needs far fewer rounds than a
//! single plane for all queries.

use super::certified::CertifiedFit;
use super::objective::Objective;
use super::planes::CuttingPlanes;
use crate::sums::dot;
use crate::watch::{Progress, Watch};

/// How precisely the quadratic problem of a round is solved, as a fraction of the current gap.
const INNER_FRACTION: f64 = 0.05;

/// The bundle solver and its stopping criteria.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bundle {
    /// The weight C > 0 of the risk.
    pub c: f64,
    /// The relative duality gap at which to stop.
    pub gap: f64,
    /// The maximum number of rounds.
    pub rounds: u64,
}

impl Bundle {
    /// Minimises from `w = 0`. If asked to stop, returns the best weights so far.
    pub fn minimize(&self, risk: &impl Objective, watch: &mut dyn Watch) -> CertifiedFit {
        self.minimize_from(risk, &mut CuttingPlanes::under(risk), watch)
    }

    /// Minimises starting from the planes found for another `C` of the same risk, and adds to them.
    pub fn minimize_from(
        &self,
        risk: &impl Objective,
        planes: &mut CuttingPlanes,
        watch: &mut dyn Watch,
    ) -> CertifiedFit {
        let mut w = vec![0.0; risk.dim()];
        let mut touching = risk.by_term(&w);
        let mut best = CertifiedFit {
            weights: w.clone(),
            primal: self.c * value_of(&touching),
            dual: 0.0,
            rounds: 0,
            converged: false,
        };
        while best.rounds < self.rounds && best.gap() > self.gap && !watch.stop().requested() {
            let offset = |value: f64, slope: &[f64]| value - dot(slope, &w);
            let touched = touching.iter().map(|(value, slope)| (slope.as_slice(), offset(*value, slope)));
            planes.add(&touched.collect::<Vec<_>>());
            planes.solve(self.c, INNER_FRACTION * (best.primal - best.dual), watch.stop());
            planes.weights(self.c, &mut w);
            best.dual = best.dual.max(planes.dual(self.c, &w));
            touching = risk.by_term(&w);
            if watch.stop().requested() {
                // The evaluation may have been cut short.
                break;
            }
            let primal = 0.5 * dot(&w, &w) + self.c * value_of(&touching);
            best.rounds += 1;
            if primal < best.primal {
                best.primal = primal;
                best.weights.copy_from_slice(&w);
            }
            let (done, gap) = (best.rounds, best.gap());
            watch.step(Progress { done, total: None, what: "duality gap", value: gap });
            if !self.is_exact(primal, best.primal) {
                break;
            }
        }
        best.converged = best.gap() <= self.gap;
        best
    }

    /// Whether the offset of a plane at weights of this value is precise enough for the requested gap. With huge
    /// features or a huge C it may not be, and its lower bound would be noise.
    fn is_exact(&self, primal: f64, best: f64) -> bool {
        primal * f64::EPSILON < 0.01 * self.gap * best
    }
}

/// The sum of the values of all terms.
fn value_of(terms: &[(f64, Vec<f64>)]) -> f64 {
    terms.iter().map(|(value, _)| value).sum()
}
