//! The weights of L-BFGS after each step.

use crate::solvers::{Lbfgs, Objective};
use crate::watch::{Progress, Stop, Watch};
use std::sync::{Mutex, PoisonError};

/// Minimises, and gives the start and the weights after each step.
pub(super) fn iterates(
    solver: &Lbfgs,
    objective: &impl Objective,
    start: Vec<f64>,
    watch: &mut dyn Watch,
) -> Vec<Vec<f64>> {
    let latest = Latest { objective, weights: Mutex::new(start.clone()) };
    let mut follower = Follower { latest: &latest.weights, found: Vec::new(), watch };
    solver.minimize(&latest, start, &mut follower);
    follower.found
}

/// Remembers the last weights evaluated: a step ends at the last weights of its line search.
struct Latest<'a, O> {
    objective: &'a O,
    weights: Mutex<Vec<f64>>,
}

impl<O: Objective> Objective for Latest<'_, O> {
    fn dim(&self) -> usize {
        self.objective.dim()
    }

    fn value_and_gradient(&self, w: &[f64], gradient: &mut [f64]) -> f64 {
        self.weights.lock().unwrap_or_else(PoisonError::into_inner).copy_from_slice(w);
        self.objective.value_and_gradient(w, gradient)
    }
}

/// Records the latest weights after each step.
struct Follower<'a> {
    latest: &'a Mutex<Vec<f64>>,
    found: Vec<Vec<f64>>,
    watch: &'a mut dyn Watch,
}

impl Watch for Follower<'_> {
    fn step(&mut self, step: Progress<'_>) {
        // A failed line search is reported too, but does not count as a step.
        if step.done == self.found.len() as u64 {
            self.found.push(self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone());
        }
        self.watch.step(step);
    }

    fn stop(&self) -> &Stop {
        self.watch.stop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Silent;

    /// `x⁴ + (x − y)²`, on which L-BFGS needs some steps.
    struct Bowl;

    impl Objective for Bowl {
        fn dim(&self) -> usize {
            2
        }

        fn value_and_gradient(&self, w: &[f64], gradient: &mut [f64]) -> f64 {
            let apart = w[0] - w[1];
            gradient.copy_from_slice(&[4.0 * w[0].powi(3) + 2.0 * apart, -2.0 * apart]);
            w[0].powi(4) + apart * apart
        }
    }

    #[test]
    fn each_is_where_so_many_steps_lead() {
        let start = vec![3.0, -1.0];
        let solver = |rounds| Lbfgs { rounds, ..Lbfgs::default() };
        let found = iterates(&solver(8), &Bowl, start.clone(), &mut Silent::default());
        assert_eq!(found.len(), 9);
        for (rounds, weights) in found.iter().enumerate() {
            let alone = solver(rounds as u64).minimize(&Bowl, start.clone(), &mut Silent::default());
            assert_eq!(*weights, alone.weights, "after {rounds} steps");
        }
    }
}
