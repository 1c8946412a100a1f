//! The cutting planes of one query, and the small quadratic problem for their dual multipliers.
//!
//! ```text
//! L ≥ g_k·s + b_k for every plane k ,   s = X·w/u the scores of the query
//! max_β  κ b·β − ½κ² βᵀGβ + … ,   β ≥ 0 , Σβ = 1 ,   G_kl = g_kᵀ X u⁻² Xᵀ g_l
//! ```
//!
//! The height `h_k = g_k·s + b_k` is the derivative of the problem by `β_k`, divided by `κ`. A step moves weight from the
//! lowest plane with `β > 0` to the highest plane, as far as the problem improves. It changes all heights by products of
//! planes with each other, so it needs no pass over the features.

use crate::sums::dot;

/// Planes that were inactive for this many rounds are dropped.
const IDLE_ROUNDS: u32 = 10;
/// A visit ends when the remaining gap of the query is this fraction of the gap that it began with.
const REMAINING: f64 = 0.05;
/// Steps per plane in a visit, at most.
const STEPS_PER_PLANE: usize = 10;

/// A plane `slope·s + offset` below the loss of a query.
pub(super) struct Plane {
    pub(super) slope: Vec<f64>,
    pub(super) offset: f64,
    /// `X u⁻² Xᵀ slope`.
    pub(super) bent: Vec<f64>,
}

/// The planes below the loss of one query. The first is the constant 0, because a loss is never negative.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// The slope of each plane by the scores.
    slopes: Vec<Vec<f64>>,
    offsets: Vec<f64>,
    gram: Vec<Vec<f64>>,
    multipliers: Vec<f64>,
    idle: Vec<u32>,
}

impl Block {
    /// Only the constant plane, for a query of this many documents.
    pub(super) fn new(documents: usize) -> Block {
        Block {
            slopes: vec![vec![0.0; documents]],
            offsets: vec![0.0],
            gram: vec![vec![0.0]],
            multipliers: vec![1.0],
            idle: vec![0],
        }
    }

    /// The height of every plane at these scores.
    pub(super) fn heights(&self, scores: &[f64], heights: &mut Vec<f64>) {
        heights.clear();
        heights
            .extend(self.slopes.iter().zip(&self.offsets).map(|(slope, offset)| dot(slope, scores) + offset));
    }

    /// Adds a plane, with the multiplier 0.
    pub(super) fn add(&mut self, Plane { slope, offset, bent }: Plane) {
        let mut row: Vec<f64> = self.slopes.iter().map(|other| dot(other, &bent)).collect();
        self.gram.iter_mut().zip(&row).for_each(|(other, product)| other.push(*product));
        row.push(dot(&slope, &bent));
        self.gram.push(row);
        self.slopes.push(slope);
        self.offsets.push(offset);
        self.multipliers.push(0.0);
        self.idle.push(0);
    }

    /// Improves the multipliers for planes at these heights, which it keeps up to date. Returns by how much the dual
    /// objective grows.
    pub(super) fn improve(&mut self, weight: f64, heights: &mut [f64]) -> f64 {
        let mut gained = 0.0;
        let mut enough = None;
        for _ in 0..STEPS_PER_PLANE * heights.len() {
            let (top, bottom) = self.extremes(heights);
            let lead = heights[top] - heights[bottom];
            let gap = heights[top] - dot(heights, &self.multipliers);
            if lead <= 0.0 || gap <= *enough.get_or_insert(REMAINING * gap) {
                break;
            }
            let bend = self.gram[top][top] + self.gram[bottom][bottom] - 2.0 * self.gram[top][bottom];
            let most = self.multipliers[bottom];
            // Infinite for planes of equal slopes, whose heights alone differ.
            let best = lead / (weight * bend.max(0.0));
            let step = if best < most { best } else { most };
            self.multipliers[top] += step;
            self.multipliers[bottom] = if best < most { most - step } else { 0.0 };
            let (up, down) = (&self.gram[top], &self.gram[bottom]);
            for (height, (up, down)) in heights.iter_mut().zip(up.iter().zip(down)) {
                *height -= weight * step * (up - down);
            }
            gained += weight * step * (lead - 0.5 * weight * step * bend);
        }
        gained
    }

    /// The highest plane, and the lowest with a positive multiplier.
    fn extremes(&self, heights: &[f64]) -> (usize, usize) {
        let (mut top, mut bottom) = (0, None);
        for (k, &height) in heights.iter().enumerate() {
            if height > heights[top] {
                top = k;
            }
            if self.multipliers[k] > 0.0 && bottom.is_none_or(|b: usize| height < heights[b]) {
                bottom = Some(k);
            }
        }
        (top, bottom.unwrap_or(0))
    }

    /// `Σ β_k g_k`.
    pub(super) fn slope(&self, slope: &mut Vec<f64>) {
        slope.clear();
        slope.resize(self.slopes[0].len(), 0.0);
        for (plane, &multiplier) in self.slopes.iter().zip(&self.multipliers).filter(|(_, m)| **m > 0.0) {
            slope.iter_mut().zip(plane).for_each(|(s, g)| *s += multiplier * g);
        }
    }

    /// `Σ β_k b_k`.
    pub(super) fn offset(&self) -> f64 {
        dot(&self.offsets, &self.multipliers)
    }

    /// Makes the multipliers sum to 1 despite rounding errors, and drops planes that have been inactive for long.
    pub(super) fn tidy(&mut self) {
        let sum: f64 = self.multipliers.iter().sum();
        for (idle, multiplier) in self.idle.iter_mut().zip(&mut self.multipliers) {
            *multiplier /= sum;
            *idle = if *multiplier > 0.0 { 0 } else { *idle + 1 };
        }
        let mut k = 1;
        while k < self.idle.len() {
            if self.idle[k] < IDLE_ROUNDS {
                k += 1;
                continue;
            }
            self.slopes.swap_remove(k);
            self.offsets.swap_remove(k);
            self.multipliers.swap_remove(k);
            self.idle.swap_remove(k);
            self.gram.swap_remove(k);
            self.gram.iter_mut().for_each(|row| {
                row.swap_remove(k);
            });
        }
    }
}
