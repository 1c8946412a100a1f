//! The memory layout of a network in training: all numbers in one array, and packed for matrix products.

use crate::models::Activation;
use crate::models::Layer;
use crate::models::network::{Panels, padded};
use crate::rng;
use rand::RngExt;
use std::ops::Range;

/// The layers of a network, including the last one with its single unit.
pub(super) struct NetworkLayout {
    pub(super) layers: Vec<Place>,
    pub(super) activation: Activation,
}

/// A layer's range in the array: one row of weights per unit, padded with zeros, then the biases. The padding
/// has gradients of 0, so it stays 0.
pub(super) struct Place {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// Length of a row.
    pub(super) stride: usize,
    at: usize,
}

impl Place {
    pub(super) fn weights(&self) -> Range<usize> {
        self.at..self.at + self.outputs * self.stride
    }

    pub(super) fn biases(&self) -> Range<usize> {
        let end = self.weights().end;
        end..end + self.outputs
    }
}

impl NetworkLayout {
    pub(super) fn new(features: usize, hidden: &[usize], activation: Activation) -> NetworkLayout {
        let (mut inputs, mut at) = (features, 0);
        let mut layers = Vec::new();
        for &outputs in hidden.iter().chain(&[1]) {
            let place = Place { inputs, outputs, stride: padded(inputs), at };
            (inputs, at) = (outputs, place.biases().end);
            layers.push(place);
        }
        NetworkLayout { layers, activation }
    }

    /// The number of all weights and biases.
    pub(super) fn len(&self) -> usize {
        self.layers.last().map_or(0, |place| place.biases().end)
    }

    pub(super) fn hidden(&self) -> &[Place] {
        &self.layers[..self.layers.len() - 1]
    }

    pub(super) fn last(&self) -> &Place {
        self.layers.last().expect("a network has a last layer")
    }

    /// Initial weights: uniform within ±1/√inputs, biases 0. That is smaller than what keeps the size of
    /// signals from layer to layer (`he2015delving`), so steps change the units' inputs sooner: on data of
    /// MSLR's shape, ListNet with 256-128-64 units had an NDCG@10 of 0.670 after ten epochs, against 0.637
    /// from the larger weights.
    pub(super) fn draw(&self, seed: u64) -> Vec<f32> {
        let mut values = vec![0.0; self.len()];
        for (number, place) in self.layers.iter().enumerate() {
            let range = (place.inputs as f32).sqrt().recip();
            let mut random = rng::stream(seed, &[number as u64]);
            for row in values[place.weights()].chunks_exact_mut(place.stride) {
                row[..place.inputs].iter_mut().for_each(|w| *w = random.random_range(-range..=range));
            }
        }
        values
    }

    /// The layers in the form of a model.
    pub(super) fn to_layers(&self, values: &[f32]) -> Vec<Layer> {
        let layer = |place: &Place| {
            let rows = values[place.weights()].chunks_exact(place.stride);
            Layer {
                outputs: place.outputs,
                weights: rows.flat_map(|row| &row[..place.inputs]).copied().collect(),
                biases: values[place.biases()].to_vec(),
            }
        };
        self.layers.iter().map(layer).collect()
    }
}

/// The weights of the hidden layers, packed for matrix products.
#[derive(Default)]
pub(super) struct Packed {
    pub(super) layers: Vec<PackedLayer>,
}

#[derive(Default)]
pub(super) struct PackedLayer {
    /// From inputs to units.
    pub(super) forward: Panels,
    /// From units to inputs.
    pub(super) backward: Panels,
    /// Padded with zeros.
    pub(super) biases: Vec<f32>,
}

impl Packed {
    /// Copies the current weights.
    pub(super) fn fill(&mut self, shape: &NetworkLayout, values: &[f32]) {
        self.layers.resize_with(shape.hidden().len(), PackedLayer::default);
        for (place, packed) in shape.hidden().iter().zip(&mut self.layers) {
            let (weights, stride) = (&values[place.weights()], place.stride);
            packed.forward.fill(place.inputs, place.outputs, |input, unit| weights[unit * stride + input]);
            packed.backward.fill_from_rows(weights, stride);
            packed.biases.clear();
            packed.biases.extend_from_slice(&values[place.biases()]);
            packed.biases.resize(packed.forward.columns(), 0.0);
        }
    }
}
