//! The forward and backward pass through the layers of a network.
//!
//! ```text
//! h_l = m_l ⊙ a(W_l·h_{l−1} + b_l)   m_l: 1, or with dropout p: 0 with probability p, else 1/(1−p)
//! δ_L = g·w ⊙ a'_L ,   δ_{l−1} = W_lᵀ·δ_l ⊙ a'_{l−1} ,   ∂/∂W_l = Σ δ_l·h_{l−1}ᵀ ,   ∂/∂b_l = Σ δ_l
//! ```
//! where `g` is the derivative of the loss with respect to the score, and `a'` follows from `h`: for relu it
//! is 1 where `h > 0`, for tanh it is `1 − h²`.

use super::shape::{NetworkLayout, Packed};
use crate::models::Activation;
use crate::models::network::{Panels, add_transposed, dot, multiply, padded};
use crate::rng;
use rand::RngExt;
use std::ops::Range;

/// Documents whose gradients are summed in single precision before they are added to the total.
const BLOCK: usize = 256;

/// Which units are dropped, for which documents.
pub(super) struct Dropout {
    /// The probability.
    pub(super) share: f64,
    /// Names the random streams of this epoch.
    pub(super) seed: u64,
}

/// The buffers of a batch of documents on their way through a network; reused for the next batch.
#[derive(Default)]
pub(super) struct Pass {
    /// The input of each layer, one row per document, padded with zeros.
    pub(super) values: Vec<Vec<f32>>,
    /// The dropout factors of each layer's inputs except the features; empty without dropout.
    masks: Vec<Vec<f32>>,
    deltas: [Vec<f32>; 2],
    panels: Panels,
    gathered: Vec<f32>,
}

impl Pass {
    /// The buffer for the standardised features of `count` documents.
    pub(super) fn features(&mut self, shape: &NetworkLayout, count: usize) -> &mut [f32] {
        self.values.resize_with(shape.layers.len(), Vec::new);
        self.masks.resize_with(shape.layers.len(), Vec::new);
        self.values[0].resize(count * shape.layers[0].stride, 0.0);
        &mut self.values[0]
    }

    /// The scores of the documents whose features are in the buffer; `documents` are their numbers, for
    /// dropout.
    pub(super) fn forward(
        &mut self,
        shape: &NetworkLayout,
        packed: &Packed,
        weights: &[f32],
        dropout: Option<&Dropout>,
        documents: impl Iterator<Item = usize> + Clone,
        scores: &mut Vec<f64>,
    ) {
        let count = self.values[0].len() / shape.layers[0].stride;
        for (l, layer) in packed.layers.iter().enumerate() {
            let (before, after) = self.values.split_at_mut(l + 1);
            let (inputs, outputs) = (&before[l], &mut after[0]);
            outputs.resize(count * layer.forward.columns(), 0.0);
            multiply(inputs, shape.layers[l].stride, &layer.forward, &layer.biases, outputs);
            shape.activation.apply(outputs);
            if let Some(dropout) = dropout {
                let (mask, stride) = (&mut self.masks[l + 1], layer.forward.columns());
                mask.resize(outputs.len(), 0.0);
                let rows = mask.chunks_exact_mut(stride).zip(outputs.chunks_exact_mut(stride));
                for (document, (mask, outputs)) in documents.clone().zip(rows) {
                    dropout.draw(document, l, mask);
                    outputs.iter_mut().zip(mask).for_each(|(h, m)| *h *= *m);
                }
            }
        }
        let last = shape.last();
        let (row, bias) = (&weights[last.weights()], f64::from(weights[last.biases()][0]));
        let inputs = self.values[shape.layers.len() - 1].chunks_exact(last.stride);
        scores.clear();
        scores.extend(inputs.map(|inputs| bias + dot(row, inputs)));
    }

    /// Adds the gradient with respect to all weights to `gradient`; `slopes` are the derivatives with respect
    /// to the scores of the documents that just went [`forward`](Pass::forward).
    pub(super) fn backward(
        &mut self,
        shape: &NetworkLayout,
        packed: &Packed,
        weights: &[f32],
        slopes: &[f64],
        gradient: &mut [f32],
    ) {
        for first in (0..slopes.len()).step_by(BLOCK) {
            let block = first..slopes.len().min(first + BLOCK);
            self.backward_block(shape, packed, weights, &slopes[block.clone()], block, gradient);
        }
    }

    fn backward_block(
        &mut self,
        shape: &NetworkLayout,
        packed: &Packed,
        weights: &[f32],
        slopes: &[f64],
        block: Range<usize>,
        gradient: &mut [f32],
    ) {
        let last = shape.last();
        let of_block = |stride: usize| block.start * stride..block.end * stride;
        self.deltas[0].clear();
        for (&slope, inputs) in
            slopes.iter().zip(self.values[shape.layers.len() - 1][of_block(last.stride)].chunks(last.stride))
        {
            let slope = slope as f32;
            add_scaled(slope, inputs, &mut gradient[last.weights()]);
            gradient[last.biases()][0] += slope;
            self.deltas[0].extend(weights[last.weights()].iter().map(|w| slope * w));
        }
        for l in (0..packed.layers.len()).rev() {
            let place = &shape.layers[l];
            let columns = padded(place.outputs);
            let [delta, next] = &mut self.deltas;
            let mask = self.masks[l + 1].get(of_block(columns));
            shape.activation.times_slope(&self.values[l + 1][of_block(columns)], mask, delta);
            self.panels.fill_from_rows(&self.values[l][of_block(place.stride)], place.stride);
            let sums = &mut gradient[place.weights()];
            add_transposed(delta, (columns, place.outputs), &self.panels, sums, &mut self.gathered);
            let biases = &mut gradient[place.biases()];
            delta.chunks_exact(columns).for_each(|delta| add_scaled(1.0, &delta[..place.outputs], biases));
            if l > 0 {
                next.resize(block.len() * place.stride, 0.0);
                let zeros = vec![0.0; place.stride];
                multiply(delta, columns, &packed.layers[l].backward, &zeros, next);
                self.deltas.swap(0, 1);
            }
        }
    }
}

impl Dropout {
    /// The dropout factors of the units of a layer, for one document.
    pub(super) fn draw(&self, document: usize, layer: usize, mask: &mut [f32]) {
        let least = (self.share * 4_294_967_296.0) as u32;
        let factor = (1.0 / (1.0 - self.share)) as f32;
        let mut random = rng::stream(self.seed, &[document as u64, layer as u64]);
        mask.iter_mut().for_each(|m| *m = if random.random::<u32>() >= least { factor } else { 0.0 });
    }
}

impl Activation {
    /// Multiplies each delta by the derivative of its unit's activation, `mask` included.
    fn times_slope(self, outputs: &[f32], mask: Option<&[f32]>, deltas: &mut [f32]) {
        let pairs = deltas.iter_mut().zip(outputs);
        match (self, mask) {
            (Activation::Relu, None) => pairs.for_each(|(d, &h)| *d = if h > 0.0 { *d } else { 0.0 }),
            (Activation::Tanh, None) => pairs.for_each(|(d, &h)| *d *= 1.0 - h * h),
            (Activation::Relu, Some(mask)) => {
                pairs.zip(mask).for_each(|((d, &h), m)| *d = if h > 0.0 { *d * m } else { 0.0 });
            }
            (Activation::Tanh, Some(mask)) => pairs.zip(mask).for_each(|((d, &h), &m)| {
                let own = if m > 0.0 { h / m } else { 1.0 };
                *d *= m * (1.0 - own * own);
            }),
        }
    }
}

/// `out += factor·values`
fn add_scaled(factor: f32, values: &[f32], out: &mut [f32]) {
    out.iter_mut().zip(values).for_each(|(out, x)| *out += factor * x);
}
