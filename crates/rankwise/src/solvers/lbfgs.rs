//! L-BFGS: a quasi-Newton method with limited memory (Liu and Nocedal, Mathematical Programming 1989).
//!
//! It needs only values and gradients, and no convexity. Every step meets the strong Wolfe conditions, which keeps
//! the estimated curvature positive, so every direction is a descent direction.

use super::line_search::{LineSearch, Trial};
use super::objective::Objective;
use crate::sums::{add_scaled, dot};
use crate::watch::{Progress, Stop, Watch};
use std::collections::VecDeque;

/// The L-BFGS solver and its stopping criteria.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lbfgs {
    /// The number of past steps to use, at least 1.
    pub memory: usize,
    /// Stop when the norm of the gradient, relative to its initial norm, is at most this.
    pub tolerance: f64,
    /// The maximum number of steps.
    pub rounds: u64,
    /// The maximum number of evaluations (value and gradient).
    pub evaluations: u64,
    /// The acceptance criteria of a step.
    pub line_search: LineSearch,
}

impl Default for Lbfgs {
    fn default() -> Self {
        Lbfgs {
            memory: 10,
            tolerance: 1e-6,
            rounds: 1000,
            evaluations: 10_000,
            line_search: LineSearch::default(),
        }
    }
}

/// Why the minimisation stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Termination {
    /// The gradient is small enough.
    Converged,
    /// No further decrease is possible within rounding errors, or there is no minimum.
    Stalled,
    /// The maximum number of rounds or evaluations was reached.
    RoundsUsedUp,
    /// It was asked to stop.
    Interrupted,
}

/// The result of a minimisation.
#[derive(Debug, Clone, PartialEq)]
pub struct LbfgsFit {
    /// The weights.
    pub weights: Vec<f64>,
    /// The objective at these weights.
    pub value: f64,
    /// The norm of the gradient at these weights.
    pub gradient_norm: f64,
    /// The number of steps.
    pub rounds: u64,
    /// The number of evaluations.
    pub evaluations: u64,
    /// Why it stopped.
    pub ending: Termination,
}

impl Lbfgs {
    /// Minimises from `start`, where the value must be finite. If asked to stop, returns the current weights.
    pub fn minimize(&self, objective: &impl Objective, start: Vec<f64>, watch: &mut dyn Watch) -> LbfgsFit {
        let mut point = Point::new(objective, start);
        let (mut memory, first_norm) = (Memory::new(self.memory), point.norm());
        let (mut rounds, mut evaluations) = (0, 1);
        let fit = |point: Point, rounds, evaluations, ending| {
            let gradient_norm = point.norm();
            LbfgsFit { weights: point.w, value: point.value, gradient_norm, rounds, evaluations, ending }
        };
        loop {
            let norm = point.norm();
            watch.step(Progress { done: rounds, total: None, what: "gradient norm", value: norm });
            let ending = if !norm.is_finite() || !point.value.is_finite() {
                Some(Termination::Stalled)
            } else if norm <= self.tolerance * first_norm {
                Some(Termination::Converged)
            } else if watch.stop().requested() {
                Some(Termination::Interrupted)
            } else if rounds == self.rounds || evaluations >= self.evaluations {
                Some(Termination::RoundsUsedUp)
            } else {
                None
            };
            if let Some(ending) = ending {
                return fit(point, rounds, evaluations, ending);
            }
            let mut direction: Vec<f64> = point.gradient.iter().map(|g| -g).collect();
            memory.apply_inverse_hessian(&mut direction);
            let first = if memory.is_empty() { 1.0 / norm } else { 1.0 };
            let left = self.evaluations - evaluations;
            let search =
                LineSearch { evaluations: self.line_search.evaluations.min(left), ..self.line_search };
            match point.step(objective, &direction, first, search, &mut evaluations, watch.stop()) {
                Some(next) => {
                    memory.remember(&point, &next);
                    point = next;
                    rounds += 1;
                }
                // The memory may be misleading; steepest descent is the last resort.
                None if !memory.is_empty() => memory.clear(),
                None if evaluations >= self.evaluations || watch.stop().requested() => {}
                None => return fit(point, rounds, evaluations, Termination::Stalled),
            }
        }
    }
}

/// Weights with their value and gradient.
struct Point {
    w: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

impl Point {
    fn new(objective: &impl Objective, w: Vec<f64>) -> Point {
        let mut gradient = vec![0.0; w.len()];
        let value = objective.value_and_gradient(&w, &mut gradient);
        Point { w, value, gradient }
    }

    fn norm(&self) -> f64 {
        dot(&self.gradient, &self.gradient).sqrt()
    }

    /// The next point along `direction`, if the line search finds one.
    fn step(
        &self,
        objective: &impl Objective,
        direction: &[f64],
        first: f64,
        search: LineSearch,
        evaluations: &mut u64,
        stop: &Stop,
    ) -> Option<Point> {
        let start = Trial { step: 0.0, value: self.value, slope: dot(&self.gradient, direction) };
        if start.slope >= 0.0 || !start.slope.is_finite() {
            return None;
        }
        let mut next = Point { w: self.w.clone(), value: self.value, gradient: self.gradient.clone() };
        search.search(start, first, |step| {
            // If asked to stop, nothing more is evaluated, and no step is found.
            if stop.requested() {
                return Trial { step, value: f64::NAN, slope: f64::NAN };
            }
            next.w.copy_from_slice(&self.w);
            add_scaled(&mut next.w, step, direction);
            next.value = objective.value_and_gradient(&next.w, &mut next.gradient);
            *evaluations += 1;
            // The evaluation may have been cut short.
            if stop.requested() {
                return Trial { step, value: f64::NAN, slope: f64::NAN };
            }
            Trial { step, value: next.value, slope: dot(&next.gradient, direction) }
        })?;
        Some(next)
    }
}

/// The last steps, oldest first.
struct Memory {
    size: usize,
    steps: VecDeque<Remembered>,
}

struct Remembered {
    /// The change of the weights.
    moved: Vec<f64>,
    /// The change of the gradient.
    turned: Vec<f64>,
    /// `moved·turned`, which is positive.
    along: f64,
}

impl Memory {
    fn new(size: usize) -> Memory {
        Memory { size, steps: VecDeque::with_capacity(size) }
    }

    fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    fn clear(&mut self) {
        self.steps.clear();
    }

    fn remember(&mut self, from: &Point, to: &Point) {
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<f64>>();
        let (moved, turned) = (difference(&to.w, &from.w), difference(&to.gradient, &from.gradient));
        let along = dot(&moved, &turned);
        // The line search makes it positive, except for rounding errors.
        if along <= f64::EPSILON * dot(&turned, &turned).sqrt() * dot(&moved, &moved).sqrt() {
            return;
        }
        if self.steps.len() == self.size {
            self.steps.pop_front();
        }
        self.steps.push_back(Remembered { moved, turned, along });
    }

    /// Multiplies by the approximate inverse Hessian (two-loop recursion).
    fn apply_inverse_hessian(&self, direction: &mut [f64]) {
        let mut shares = Vec::with_capacity(self.steps.len());
        for step in self.steps.iter().rev() {
            let share = dot(&step.moved, direction) / step.along;
            add_scaled(direction, -share, &step.turned);
            shares.push(share);
        }
        if let Some(latest) = self.steps.back() {
            let scale = latest.along / dot(&latest.turned, &latest.turned);
            direction.iter_mut().for_each(|d| *d *= scale);
        }
        for (step, share) in self.steps.iter().zip(shares.into_iter().rev()) {
            let back = dot(&step.turned, direction) / step.along;
            add_scaled(direction, share - back, &step.moved);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use crate::watch::Silent;
    use rand::RngExt;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// An objective given as a closure that fills in the gradient.
    struct Function<F> {
        dim: usize,
        f: F,
    }

    impl<F: Fn(&[f64], &mut [f64]) -> f64 + Sync> Objective for Function<F> {
        fn dim(&self) -> usize {
            self.dim
        }

        fn value_and_gradient(&self, w: &[f64], gradient: &mut [f64]) -> f64 {
            (self.f)(w, gradient)
        }
    }

    fn minimize(solver: Lbfgs, f: impl Fn(&[f64], &mut [f64]) -> f64 + Sync, start: Vec<f64>) -> LbfgsFit {
        solver.minimize(&Function { dim: start.len(), f }, start, &mut Silent::default())
    }

    fn rosenbrock(w: &[f64], g: &mut [f64]) -> f64 {
        let (a, b) = (1.0 - w[0], w[1] - w[0] * w[0]);
        g[0] = -2.0 * a - 400.0 * w[0] * b;
        g[1] = 200.0 * b;
        a * a + 100.0 * b * b
    }

    /// `½ Σ dᵢ (wᵢ − tᵢ)²` with `d` from 1 to 10⁴.
    #[test]
    fn an_ill_conditioned_quadratic_is_minimised() {
        let mut random = rng::stream(1, &[]);
        let n = 30;
        let target: Vec<f64> = (0..n).map(|_| random.random::<f64>() * 4.0 - 2.0).collect();
        let bend = |i: usize| 10_f64.powf(4.0 * i as f64 / (n - 1) as f64);
        let f = |w: &[f64], g: &mut [f64]| {
            (0..n).for_each(|i| g[i] = bend(i) * (w[i] - target[i]));
            0.5 * (0..n).map(|i| g[i] * (w[i] - target[i])).sum::<f64>()
        };
        let fit = minimize(Lbfgs { tolerance: 1e-12, ..Lbfgs::default() }, f, vec![0.0; n]);
        assert_eq!(fit.ending, Termination::Converged, "{fit:?}");
        assert!(fit.weights.iter().zip(&target).all(|(w, t)| (w - t).abs() < 1e-7), "{fit:?}");
    }

    #[test]
    fn the_rosenbrock_function_is_minimised() {
        for start in [vec![-1.2, 1.0], vec![10.0, -10.0], vec![0.0, 0.0]] {
            for memory in [1, 3, 10] {
                let solver = Lbfgs { tolerance: 1e-12, memory, ..Lbfgs::default() };
                let fit = minimize(solver, rosenbrock, start.clone());
                assert_eq!(fit.ending, Termination::Converged, "{fit:?}");
                assert!(fit.weights.iter().all(|w| (w - 1.0).abs() < 1e-9), "{fit:?}");
            }
        }
    }

    /// `w − log w` is undefined at and below 0, where the first step from far out leads.
    #[test]
    fn undefined_values_are_backtracked_from() {
        let f = |w: &[f64], g: &mut [f64]| {
            g[0] = 1.0 - 1.0 / w[0];
            w[0] - w[0].ln()
        };
        for start in [0.5, 1e-3, 30.0] {
            let fit = minimize(Lbfgs { tolerance: 1e-10, ..Lbfgs::default() }, f, vec![start]);
            assert_eq!(fit.ending, Termination::Converged, "{fit:?}");
            assert!((fit.weights[0] - 1.0).abs() < 1e-8, "{fit:?}");
        }
        let fit = minimize(Lbfgs::default(), f, vec![-1.0]);
        assert_eq!((fit.ending, fit.evaluations), (Termination::Stalled, 1));
    }

    #[test]
    fn no_minimum_and_a_start_at_the_minimum_both_terminate() {
        let slope = |_: &[f64], g: &mut [f64]| {
            g[0] = -1.0;
            f64::NAN
        };
        assert_eq!(minimize(Lbfgs::default(), slope, vec![0.0]).ending, Termination::Stalled);
        let down = |w: &[f64], g: &mut [f64]| {
            g[0] = -1.0;
            -w[0]
        };
        assert_eq!(minimize(Lbfgs::default(), down, vec![0.0]).ending, Termination::Stalled);
        let flat = |_: &[f64], g: &mut [f64]| {
            g.fill(0.0);
            5.0
        };
        let fit = minimize(Lbfgs::default(), flat, vec![3.0]);
        assert_eq!((fit.ending, fit.rounds, fit.value), (Termination::Converged, 0, 5.0));
    }

    #[test]
    fn limits_and_requests_to_stop_are_respected() {
        let start = vec![-1.2, 1.0];
        let fit = minimize(Lbfgs { rounds: 3, ..Lbfgs::default() }, rosenbrock, start.clone());
        assert_eq!((fit.ending, fit.rounds), (Termination::RoundsUsedUp, 3));
        for evaluations in [1, 2, 5, 9] {
            let calls = AtomicU64::new(0);
            let counted = |w: &[f64], g: &mut [f64]| {
                calls.fetch_add(1, Ordering::Relaxed);
                rosenbrock(w, g)
            };
            let fit = minimize(Lbfgs { evaluations, ..Lbfgs::default() }, counted, start.clone());
            assert_eq!((fit.ending, fit.evaluations), (Termination::RoundsUsedUp, evaluations));
            assert_eq!(calls.into_inner(), evaluations);
        }
        let stop = Stop::default();
        stop.request();
        let objective = Function { dim: 2, f: rosenbrock };
        let fit = Lbfgs::default().minimize(&objective, start.clone(), &mut Silent(stop));
        assert_eq!((fit.ending, fit.weights), (Termination::Interrupted, start));
    }
}
