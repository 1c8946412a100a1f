//! The parameters of neural networks.

use crate::error::{Error, Result};
use crate::learners::holdout::{FRACTION, check_fraction};
use crate::learners::parameters::{check_above_zero, check_not_negative};
use crate::models::Activation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Maximum number of units of a layer; two such layers have a gigabyte of weights between them.
const MAX_UNITS: usize = 1 << 14;

/// Maximum number of hidden layers.
const MAX_LAYERS: usize = 100;

/// The shape of a neural network, and how it is trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(inline)]
pub struct NetworkParameters {
    /// Units of the hidden layers, from the features to the score, as `256-128-64`.
    #[schemars(with = "String")]
    pub layers: Layers,
    /// Activation of the hidden units: `relu` or `tanh`.
    pub activation: Activation,
    /// Fraction of hidden units dropped at random for each document in training, at least 0 and below 1.
    pub dropout: f64,
    /// Queries per batch, at least 1.
    pub batch_size: usize,
    /// Maximum number of passes over all queries, at least 1; early stopping may end training before.
    pub epochs: u64,
    /// Step size of the optimizer, above 0.
    pub learning_rate: f64,
    /// The optimizer: `adam` or `sgd`.
    pub optimizer: Optimizer,
    /// Momentum of `sgd`, at least 0 and below 1; `adam` has its own.
    pub momentum: f64,
    /// How the learning rate changes: `constant`, `linear` (down to 0) or `cosine` (down to 0 along half a cosine).
    pub schedule: Schedule,
    /// Decoupled weight decay, at least 0: each step multiplies weights, but not biases, by 1 − learning_rate·weight_decay.
    pub weight_decay: f64,
    /// Maximum norm of a step's gradient; longer ones are scaled down to it. 0 for no limit.
    pub clip: f64,
    /// Stop after this many epochs without a better value on the validation queries; 0 for never.
    pub early_stopping_rounds: u64,
    /// Fraction of the training queries held out for early stopping if there is no validation data and there are at least 30, 0 to 0.5; 0 for none.
    pub validation_fraction: f64,
}

/// How gradients become steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Optimizer {
    /// Each weight's mean gradient, divided by its root mean square (`kingma2015adam`).
    Adam,
    /// The gradient, with momentum.
    Sgd,
}

/// How the learning rate changes from the first step to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Schedule {
    /// Constant.
    Constant,
    /// Linearly down to 0.
    Linear,
    /// Down to 0 along half a cosine.
    Cosine,
}

/// Units of the hidden layers; written as `256-128-64`, also read from one number or a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "String")]
pub struct Layers(pub Vec<usize>);

#[derive(Deserialize)]
#[serde(untagged, expecting = "layers must have the form 256-128-64")]
enum Written {
    Text(String),
    One(usize),
    List(Vec<usize>),
}

impl TryFrom<Written> for Layers {
    type Error = String;

    fn try_from(written: Written) -> std::result::Result<Self, String> {
        let text = match written {
            Written::One(units) => return Ok(Layers(vec![units])),
            Written::List(units) => return Ok(Layers(units)),
            Written::Text(text) => text,
        };
        let units = text.split('-').map(|units| units.trim().parse());
        units.collect::<std::result::Result<_, _>>().map(Layers).map_err(|_| {
            format!("`{text}` must be the numbers of units of the hidden layers, as in 256-128-64")
        })
    }
}

impl From<Layers> for String {
    fn from(layers: Layers) -> String {
        layers.to_string()
    }
}

impl fmt::Display for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units: Vec<String> = self.0.iter().map(usize::to_string).collect();
        f.write_str(&units.join("-"))
    }
}

impl Default for NetworkParameters {
    fn default() -> Self {
        NetworkParameters {
            layers: Layers(vec![128, 64]),
            activation: Activation::Relu,
            dropout: 0.0,
            batch_size: 16,
            epochs: 100,
            learning_rate: 1e-3,
            optimizer: Optimizer::Adam,
            momentum: 0.9,
            schedule: Schedule::Constant,
            weight_decay: 0.0,
            clip: 0.0,
            early_stopping_rounds: 20,
            validation_fraction: FRACTION,
        }
    }
}

impl NetworkParameters {
    /// Rejects parameters that are out of range.
    pub fn check(&self) -> Result<()> {
        let refuse = |text: String| Err(Error::parameter(text));
        let units = &self.layers.0;
        if units.is_empty() || units.len() > MAX_LAYERS {
            return refuse(format!(
                "layers has {}; there must be from 1 to {MAX_LAYERS} hidden layers",
                units.len()
            ));
        }
        if let Some(units) = units.iter().find(|units| !(1..=MAX_UNITS).contains(*units)) {
            return refuse(format!(
                "layers has a layer of {units} units; it must have from 1 to {MAX_UNITS}"
            ));
        }
        for (name, share) in [("dropout", self.dropout), ("momentum", self.momentum)] {
            if !(0.0..1.0).contains(&share) {
                return refuse(format!("{name} is {share}; it must be at least 0 and below 1"));
            }
        }
        for (name, count) in [("batch_size", self.batch_size as u64), ("epochs", self.epochs)] {
            if count == 0 {
                return refuse(format!("{name} is 0; it must be at least 1"));
            }
        }
        check_above_zero("learning_rate", self.learning_rate)?;
        check_not_negative("weight_decay", self.weight_decay)?;
        check_not_negative("clip", self.clip)?;
        check_fraction(self.validation_fraction)
    }
}
