//! The optimizers.
//!
//! ```text
//! sgd    u ← μ·u + g ,                                     w ← w − ρ·u
//! adam   u ← β₁·u + (1−β₁)·g ,  v ← β₂·v + (1−β₂)·g² ,      w ← w − ρ·(u/(1−β₁ᵗ)) / (√(v/(1−β₂ᵗ)) + ε)
//! decay  w ← (1 − ρ·λ)·w  before either, for weights but not for biases
//! ```
//! Adam is that of `kingma2015adam`, decoupled decay that of `loshchilov2019decoupled`.

use super::parameters::{NetworkParameters, Optimizer, Schedule};
use super::shape::NetworkLayout;
use crate::models::network::dot;
use crate::parallel;

const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f32 = 1e-8;

/// Longer gradients are always scaled down to this norm, so that their squares do not overflow.
const LONGEST: f64 = 1e15;

/// Numbers updated by one task.
const CHUNK: usize = 1 << 13;

/// The state of an optimizer.
pub(super) struct Steps<'a> {
    network: &'a NetworkParameters,
    /// The total number of steps.
    total: u64,
    done: u64,
    /// u and, for adam, v.
    means: Vec<f32>,
    squares: Vec<f32>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(network: &'a NetworkParameters, numbers: usize, total: u64) -> Steps<'a> {
        let squares = match network.optimizer {
            Optimizer::Adam => vec![0.0; numbers],
            Optimizer::Sgd => Vec::new(),
        };
        Steps { network, total, done: 0, means: vec![0.0; numbers], squares }
    }

    /// The learning rate of the next step.
    fn rate(&self) -> f64 {
        let share = self.done as f64 / self.total as f64;
        self.network.learning_rate
            * match self.network.schedule {
                Schedule::Constant => 1.0,
                Schedule::Linear => 1.0 - share,
                Schedule::Cosine => 0.5 * (1.0 + (std::f64::consts::PI * share).cos()),
            }
    }

    /// One step along `gradient`, which is clipped if it is too long; returns false, without a step, if it is
    /// not finite.
    pub(super) fn step(&mut self, shape: &NetworkLayout, weights: &mut [f32], gradient: &mut [f32]) -> bool {
        let norm = dot(gradient, gradient).sqrt();
        if !norm.is_finite() {
            return false;
        }
        let limit = if self.network.clip > 0.0 { self.network.clip.min(LONGEST) } else { LONGEST };
        if norm > limit {
            let factor = (limit / norm) as f32;
            gradient.iter_mut().for_each(|g| *g *= factor);
        }
        let rate = self.rate();
        self.done += 1;
        self.decay(shape, weights, rate);
        match self.network.optimizer {
            Optimizer::Adam => self.adam(weights, gradient, rate),
            Optimizer::Sgd => self.sgd(weights, gradient, rate),
        }
        true
    }

    fn decay(&self, shape: &NetworkLayout, weights: &mut [f32], rate: f64) {
        if self.network.weight_decay == 0.0 {
            return;
        }
        let factor = (1.0 - rate * self.network.weight_decay) as f32;
        for place in &shape.layers {
            weights[place.weights()].iter_mut().for_each(|w| *w *= factor);
        }
    }

    fn sgd(&mut self, weights: &mut [f32], gradient: &[f32], rate: f64) {
        let (rate, momentum) = (rate as f32, self.network.momentum as f32);
        for ((w, &g), mean) in weights.iter_mut().zip(gradient).zip(&mut self.means) {
            *mean = momentum * *mean + g;
            *w -= rate * *mean;
        }
    }

    fn adam(&mut self, weights: &mut [f32], gradient: &[f32], rate: f64) {
        let steps = self.done as f64;
        let rate = (rate / (1.0 - BETA_1.powf(steps))) as f32;
        let shrink = (1.0 / (1.0 - BETA_2.powf(steps)).sqrt()) as f32;
        let (keep_1, keep_2) = (BETA_1 as f32, BETA_2 as f32);
        let (add_1, add_2) = ((1.0 - BETA_1) as f32, (1.0 - BETA_2) as f32);
        let chunks = weights
            .chunks_mut(CHUNK)
            .zip(gradient.chunks(CHUNK))
            .zip(self.means.chunks_mut(CHUNK))
            .zip(self.squares.chunks_mut(CHUNK));
        parallel::for_each(chunks, |(((weights, gradient), means), squares)| {
            for (((w, &g), mean), square) in weights.iter_mut().zip(gradient).zip(means).zip(squares) {
                *mean = keep_1 * *mean + add_1 * g;
                *square = keep_2 * *square + add_2 * g * g;
                *w -= rate * *mean / (square.sqrt() * shrink + EPSILON);
            }
        });
    }
}
