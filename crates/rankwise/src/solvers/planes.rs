//! Cutting planes below a convex risk, and the small quadratic problem for their dual multipliers.
//!
//! ```text
//! R = Σ_p R_p ,   R_p ≥ every plane of term p
//! max_β  C b·β − ½C² βᵀGβ ,   β ≥ 0 , Σβ = 1 within each term ,   G = A·Aᵀ ,   w = −C Aᵀβ
//! ```
//!
//! Solved by an active-set method; the active planes are those with `β > 0`. The highest plane of each term becomes
//! active. The optimum of the active planes is found as if multipliers could be negative, and the step towards it
//! ends where the first multiplier reaches 0; that plane becomes inactive. Plane `k` has the height `a_k·w + b_k`,
//! which is also the derivative of the problem by `β_k`, divided by `C`.

use super::objective::Objective;
use super::positive::solve_positive;
use super::slope::{Slope, Vectors};
use crate::parallel;
use crate::sums::dot;
use crate::watch::Stop;

/// Planes that were inactive for this many rounds are dropped.
const IDLE_ROUNDS: u32 = 10;
/// Added to the diagonal of the Gram matrix of the active planes, relative to its largest entry, because linearly
/// dependent planes make it singular. It shortens steps without changing their target, so repeated steps still reach
/// the optimum.
const RIDGE: f64 = 1e-10;

/// Products of numbers per task.
const PER_TASK: usize = 1 << 17;
/// Planes per task, at least: they share what a task reads of the new planes.
const LEAST_PER_TASK: usize = 16;

/// The planes found so far. The first plane of each term is the constant 0, because a risk is never negative. The
/// planes lie below the risk for any C, so those found for one C can be reused for the next.
#[derive(Debug, Clone)]
pub struct CuttingPlanes {
    /// The term that each plane belongs to. The constant planes of all terms come first.
    terms: Vec<usize>,
    slopes: Vec<Slope>,
    offsets: Vec<f64>,
    gram: Vec<Vec<f64>>,
    multipliers: Vec<f64>,
    idle: Vec<u32>,
}

impl CuttingPlanes {
    /// Only the constant planes of the terms of `risk`.
    pub fn under(risk: &impl Objective) -> CuttingPlanes {
        let (dim, terms) = (risk.dim(), risk.terms());
        CuttingPlanes {
            terms: (0..terms).collect(),
            slopes: vec![Slope::new(&vec![0.0; dim]); terms],
            offsets: vec![0.0; terms],
            gram: vec![vec![0.0; terms]; terms],
            multipliers: vec![1.0; terms],
            idle: vec![0; terms],
        }
    }

    /// Adds a plane `slope·w + offset` below each term, in the order of the terms.
    pub(super) fn add(&mut self, planes: &[(&[f64], f64)]) {
        let vectors = Vectors::new(planes.iter().map(|(slope, _)| *slope).collect(), &self.slopes);
        let width = planes.first().map_or(0, |(slope, _)| slope.len());
        let per_task = (PER_TASK / width.max(1)).max(LEAST_PER_TASK);
        let products: Vec<Vec<f64>> =
            parallel::flat_map(self.slopes.chunks(per_task), |stored| Slope::dots(stored, &vectors));
        for (row, products) in self.gram.iter_mut().zip(&products) {
            row.extend(products);
        }
        let before = self.slopes.len();
        for (term, &(slope, offset)) in planes.iter().enumerate() {
            let mut row: Vec<f64> = products.iter().map(|products| products[term]).collect();
            row.extend(self.slopes[before..].iter().map(|stored| stored.dot(slope)));
            for (earlier, product) in self.gram[before..].iter_mut().zip(&row[before..]) {
                earlier.push(*product);
            }
            row.push(dot(slope, slope));
            self.gram.push(row);
            self.terms.push(term);
            self.slopes.push(Slope::new(slope));
            self.offsets.push(offset);
            self.multipliers.push(0.0);
            self.idle.push(0);
        }
    }

    /// Improves the multipliers until they are within `slack` of the optimum, and drops planes that have been
    /// inactive for long.
    pub(super) fn solve(&mut self, c: f64, slack: f64, stop: &Stop) {
        // A plane becomes active once or twice; more often only if rounding errors cause cycling.
        for _ in 0..10 * self.multipliers.len() + 100 {
            let heights = self.heights(c);
            let tops = self.tops(&heights);
            let highest: f64 = tops.iter().map(|&k| heights[k]).sum();
            let short = c * (highest - dot(&heights, &self.multipliers));
            if short <= slack || stop.requested() || !self.join(c, &tops) {
                break;
            }
        }
        self.drop_idle();
    }

    /// The height `a_k·w + b_k` of every plane at the current weights.
    fn heights(&self, c: f64) -> Vec<f64> {
        let active: Vec<usize> = (0..self.multipliers.len()).filter(|&k| self.multipliers[k] > 0.0).collect();
        let pulled = |row: &[f64]| active.iter().map(|&k| row[k] * self.multipliers[k]).sum::<f64>();
        self.gram.iter().zip(&self.offsets).map(|(row, offset)| offset - c * pulled(row)).collect()
    }

    /// The highest plane of every term.
    fn tops(&self, heights: &[f64]) -> Vec<usize> {
        let mut tops: Vec<usize> = self.floors().collect();
        for (k, &term) in self.terms.iter().enumerate() {
            if heights[k] > heights[tops[term]] {
                tops[term] = k;
            }
        }
        tops
    }

    fn floors(&self) -> impl Iterator<Item = usize> + use<> {
        0..self.terms.iter().max().map_or(0, |last| last + 1)
    }

    /// Activates the planes `tops` and moves to the optimum of the active planes. Returns false if rounding errors
    /// prevent any progress.
    fn join(&mut self, c: f64, tops: &[usize]) -> bool {
        let mut active: Vec<usize> = (0..self.multipliers.len())
            .filter(|&k| self.multipliers[k] > 0.0 || tops[self.terms[k]] == k)
            .collect();
        let mut moved = false;
        loop {
            let steps = self.steps(c, &active);
            let (mut fraction, mut leaves) = (1.0, None);
            for (place, (&k, step)) in active.iter().zip(&steps).enumerate() {
                if *step < 0.0 && self.multipliers[k] + fraction * step <= 0.0 {
                    (fraction, leaves) = (self.multipliers[k] / -step, Some(place));
                }
            }
            for (&k, step) in active.iter().zip(&steps) {
                self.multipliers[k] += fraction * step;
            }
            moved |= fraction > 0.0 && steps.iter().any(|step| *step > 0.0);
            let Some(place) = leaves else { break };
            self.multipliers[active.remove(place)] = 0.0;
        }
        self.normalize();
        moved
    }

    /// The step of each `active` multiplier to the optimum without the constraint `β ≥ 0`; steps within one term sum
    /// to 0.
    ///
    /// The step of the largest multiplier of a term is replaced by minus the sum of the others, which leaves an
    /// unconstrained problem.
    fn steps(&self, c: f64, active: &[usize]) -> Vec<f64> {
        let mut bases: Vec<usize> = self.floors().collect();
        for &k in active {
            let base = &mut bases[self.terms[k]];
            if self.multipliers[k] > self.multipliers[*base] {
                *base = k;
            }
        }
        let base = |k: usize| bases[self.terms[k]];
        let others: Vec<usize> = active.iter().copied().filter(|&k| k != base(k)).collect();
        let n = others.len();
        let height = |i: usize| {
            let pulled: f64 = active.iter().map(|&k| self.gram[i][k] * self.multipliers[k]).sum();
            self.offsets[i] - c * pulled
        };
        let mut matrix = Vec::with_capacity(n * n);
        for &i in &others {
            let (row, base_row) = (&self.gram[i], &self.gram[base(i)]);
            matrix.extend(
                others.iter().map(|&k| c * (row[k] - row[base(k)] - base_row[k] + base_row[base(k)])),
            );
        }
        let largest = (0..n).map(|i| matrix[i * n + i]).fold(0.0, f64::max);
        // Planes with equal slopes, which differ in height only, are all 0 here.
        let ridge = RIDGE * if largest > 0.0 { largest } else { 1.0 };
        for i in 0..n {
            matrix[i * n + i] += ridge;
        }
        let right = others.iter().map(|&i| height(i) - height(base(i))).collect();
        let (solution, _) = solve_positive(matrix, right);
        let mut steps = vec![0.0; self.multipliers.len()];
        for (&k, step) in others.iter().zip(&solution) {
            steps[k] += step;
            steps[base(k)] -= step;
        }
        active.iter().map(|&k| steps[k]).collect()
    }

    /// Corrects rounding errors: makes multipliers non-negative with sum 1 within each term.
    fn normalize(&mut self) {
        let mut sums = vec![0.0; self.floors().count()];
        for (multiplier, &term) in self.multipliers.iter_mut().zip(&self.terms) {
            *multiplier = multiplier.max(0.0);
            sums[term] += *multiplier;
        }
        for (multiplier, &term) in self.multipliers.iter_mut().zip(&self.terms) {
            *multiplier /= sums[term];
        }
    }

    fn drop_idle(&mut self) {
        let floors = self.floors().count();
        for (idle, &multiplier) in self.idle.iter_mut().zip(&self.multipliers) {
            *idle = if multiplier > 0.0 { 0 } else { *idle + 1 };
        }
        let keep: Vec<bool> =
            self.idle.iter().enumerate().map(|(k, idle)| k < floors || *idle < IDLE_ROUNDS).collect();
        if keep.iter().all(|k| *k) {
            return;
        }
        retain(&mut self.terms, &keep);
        retain(&mut self.slopes, &keep);
        retain(&mut self.offsets, &keep);
        retain(&mut self.multipliers, &keep);
        retain(&mut self.idle, &keep);
        retain(&mut self.gram, &keep);
        self.gram.iter_mut().for_each(|row| retain(row, &keep));
    }

    /// `w = −C Σ β_k a_k`.
    pub(super) fn weights(&self, c: f64, w: &mut [f64]) {
        w.fill(0.0);
        for (slope, multiplier) in self.slopes.iter().zip(&self.multipliers).filter(|(_, s)| **s > 0.0) {
            slope.add_scaled(-c * multiplier, w);
        }
    }

    /// The dual objective `C b·β − ½‖w‖²`, where `w` are the weights for the current multipliers. It is a lower bound
    /// on the optimum.
    pub(super) fn dual(&self, c: f64, w: &[f64]) -> f64 {
        c * dot(&self.offsets, &self.multipliers) - 0.5 * dot(w, w)
    }
}

fn retain<T>(items: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    items.retain(|_| *keep.next().expect("one flag per item"));
}
