//! Cutting planes under a convex risk, and the small quadratic problem of how much each of them counts.
//!
//! ```text
//! R = Σ_p R_p ,   R_p ≥ every plane of part p
//! max_β  C b·β − ½C² βᵀGβ ,   β ≥ 0 , Σβ = 1 within each part ,   G = A·Aᵀ ,   w = −C Aᵀβ
//! ```
//!
//! Solved by an active set: the planes with a share. The highest plane of each part joins, the optimum of the joined
//! planes is found as if shares could be negative, and the way there ends where the first share is used up; that
//! plane leaves. Plane `k` has the height `a_k·w + b_k`, which is also the slope of the problem by `β_k`, over `C`.

use super::objective::Objective;
use super::positive::solve_positive;
use super::vectors::{add_scaled, dot};
use crate::watch::Stop;

/// Planes that have had no share for so many rounds are dropped.
const IDLE_ROUNDS: u32 = 10;
/// Added to the diagonal of the active planes' products, as a share of the largest: planes that are combinations of
/// others make them singular. It shortens the step, not its aim, so repeated steps still reach the optimum.
const RIDGE: f64 = 1e-10;

/// The planes so far. The first of each part is its floor: a risk is never below 0. They lie under the risk whatever
/// C is, so what was found for one C serves for the next.
#[derive(Debug, Clone)]
pub struct Planes {
    /// Of which part of the risk each plane is; parts have their floors in order, then planes come as they are found.
    parts: Vec<usize>,
    slopes: Vec<Vec<f64>>,
    offsets: Vec<f64>,
    gram: Vec<Vec<f64>>,
    shares: Vec<f64>,
    idle: Vec<u32>,
}

impl Planes {
    /// The floors alone.
    pub fn under(risk: &impl Objective) -> Planes {
        let (dim, parts) = (risk.dim(), risk.parts());
        Planes {
            parts: (0..parts).collect(),
            slopes: vec![vec![0.0; dim]; parts],
            offsets: vec![0.0; parts],
            gram: vec![vec![0.0; parts]; parts],
            shares: vec![1.0; parts],
            idle: vec![0; parts],
        }
    }

    /// Adds the plane `slope·w + offset` under part `part`.
    pub(super) fn add(&mut self, part: usize, slope: &[f64], offset: f64) {
        let mut products: Vec<f64> = self.slopes.iter().map(|a| dot(a, slope)).collect();
        for (row, product) in self.gram.iter_mut().zip(&products) {
            row.push(*product);
        }
        products.push(dot(slope, slope));
        self.gram.push(products);
        self.parts.push(part);
        self.slopes.push(slope.to_vec());
        self.offsets.push(offset);
        self.shares.push(0.0);
        self.idle.push(0);
    }

    /// Improves the shares until they are within `slack` of the best, and drops planes long without one.
    pub(super) fn solve(&mut self, c: f64, slack: f64, stop: &Stop) {
        // Every plane joins once or twice; more only where rounding makes it go round in circles.
        for _ in 0..10 * self.shares.len() + 100 {
            let heights = self.heights(c);
            let tops = self.tops(&heights);
            let highest: f64 = tops.iter().map(|&k| heights[k]).sum();
            let short = c * (highest - dot(&heights, &self.shares));
            if short <= slack || stop.requested() || !self.join(c, &tops) {
                break;
            }
        }
        self.drop_idle();
    }

    /// `a_k·w + b_k` of every plane at the weights of the shares.
    fn heights(&self, c: f64) -> Vec<f64> {
        let with_share: Vec<usize> = (0..self.shares.len()).filter(|&k| self.shares[k] > 0.0).collect();
        let pulled = |row: &[f64]| with_share.iter().map(|&k| row[k] * self.shares[k]).sum::<f64>();
        self.gram.iter().zip(&self.offsets).map(|(row, offset)| offset - c * pulled(row)).collect()
    }

    /// The highest plane of every part.
    fn tops(&self, heights: &[f64]) -> Vec<usize> {
        let mut tops: Vec<usize> = self.floors().collect();
        for (k, &part) in self.parts.iter().enumerate() {
            if heights[k] > heights[tops[part]] {
                tops[part] = k;
            }
        }
        tops
    }

    fn floors(&self) -> impl Iterator<Item = usize> + use<> {
        0..self.parts.iter().max().map_or(0, |last| last + 1)
    }

    /// Gives the planes `tops` a share, to the optimum of the planes that then have one. False where rounding
    /// forbids it.
    fn join(&mut self, c: f64, tops: &[usize]) -> bool {
        let mut active: Vec<usize> =
            (0..self.shares.len()).filter(|&k| self.shares[k] > 0.0 || tops[self.parts[k]] == k).collect();
        let mut moved = false;
        loop {
            let steps = self.steps(c, &active);
            let (mut part, mut leaves) = (1.0, None);
            for (place, (&k, step)) in active.iter().zip(&steps).enumerate() {
                if *step < 0.0 && self.shares[k] + part * step <= 0.0 {
                    (part, leaves) = (self.shares[k] / -step, Some(place));
                }
            }
            for (&k, step) in active.iter().zip(&steps) {
                self.shares[k] += part * step;
            }
            moved |= part > 0.0 && steps.iter().any(|step| *step > 0.0);
            let Some(place) = leaves else { break };
            self.shares[active.remove(place)] = 0.0;
        }
        self.share_out();
        moved
    }

    /// The steps of the `active` shares to where they are best, were they allowed to be negative; those of one part
    /// sum to 0.
    ///
    /// With the step of the largest share of a part as minus the sum of the others, an unconstrained problem in the
    /// others remains.
    fn steps(&self, c: f64, active: &[usize]) -> Vec<f64> {
        let mut bases: Vec<usize> = self.floors().collect();
        for &k in active {
            let base = &mut bases[self.parts[k]];
            if self.shares[k] > self.shares[*base] {
                *base = k;
            }
        }
        let base = |k: usize| bases[self.parts[k]];
        let others: Vec<usize> = active.iter().copied().filter(|&k| k != base(k)).collect();
        let n = others.len();
        let height = |i: usize| {
            let pulled: f64 = active.iter().map(|&k| self.gram[i][k] * self.shares[k]).sum();
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
        // Planes of one slope, which differ in height alone, are all 0 here.
        let ridge = RIDGE * if largest > 0.0 { largest } else { 1.0 };
        for i in 0..n {
            matrix[i * n + i] += ridge;
        }
        let right = others.iter().map(|&i| height(i) - height(base(i))).collect();
        let (solution, _) = solve_positive(matrix, right);
        let mut steps = vec![0.0; self.shares.len()];
        for (&k, step) in others.iter().zip(&solution) {
            steps[k] += step;
            steps[base(k)] -= step;
        }
        active.iter().map(|&k| steps[k]).collect()
    }

    /// Rounding left the shares not quite non-negative, nor their sums quite 1.
    fn share_out(&mut self) {
        let mut sums = vec![0.0; self.floors().count()];
        for (share, &part) in self.shares.iter_mut().zip(&self.parts) {
            *share = share.max(0.0);
            sums[part] += *share;
        }
        for (share, &part) in self.shares.iter_mut().zip(&self.parts) {
            *share /= sums[part];
        }
    }

    fn drop_idle(&mut self) {
        let floors = self.floors().count();
        for (idle, &share) in self.idle.iter_mut().zip(&self.shares) {
            *idle = if share > 0.0 { 0 } else { *idle + 1 };
        }
        let keep: Vec<bool> =
            self.idle.iter().enumerate().map(|(k, idle)| k < floors || *idle < IDLE_ROUNDS).collect();
        if keep.iter().all(|k| *k) {
            return;
        }
        retain(&mut self.parts, &keep);
        retain(&mut self.slopes, &keep);
        retain(&mut self.offsets, &keep);
        retain(&mut self.shares, &keep);
        retain(&mut self.idle, &keep);
        retain(&mut self.gram, &keep);
        self.gram.iter_mut().for_each(|row| retain(row, &keep));
    }

    /// `w = −C Σ β_k a_k`.
    pub(super) fn weights(&self, c: f64, w: &mut [f64]) {
        w.fill(0.0);
        for (slope, share) in self.slopes.iter().zip(&self.shares).filter(|(_, s)| **s > 0.0) {
            add_scaled(-c * share, slope, w);
        }
    }

    /// The lower bound `C b·β − ½‖w‖²` of the whole problem, with `w` of these shares.
    pub(super) fn dual(&self, c: f64, w: &[f64]) -> f64 {
        c * dot(&self.offsets, &self.shares) - 0.5 * dot(w, w)
    }
}

fn retain<T>(items: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    items.retain(|_| *keep.next().expect("one flag per item"));
}
