//! The parameters of every network.

use crate::error::{Error, Result};
use crate::models::Activation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The most units of a layer; two such layers have a gigabyte of weights between them.
const MAX_UNITS: usize = 1 << 14;

/// The most hidden layers.
const MAX_LAYERS: usize = 100;

/// A network, and how it is learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(inline)]
pub struct Network {
    /// Units of the hidden layers, the first of which sees the features, as `256-128-64`.
    #[schemars(with = "String")]
    pub layers: Layers,
    /// What a hidden unit makes of its sum: `relu` or `tanh`.
    pub activation: Activation,
    /// Share of hidden units left out at random for each document in training (`srivastava2014dropout`), below 1; 0 for none.
    pub dropout: f64,
    /// Queries that a step is made for, at least 1.
    pub batch: usize,
    /// The most passes over all queries, at least 1; fewer where validation queries say so.
    pub epochs: u64,
    /// How far a step goes, above 0.
    pub rate: f64,
    /// How steps are made: `adam` or `sgd`.
    pub solver: Solver,
    /// How much of the last step `sgd` keeps, at least 0 and below 1; `adam` has its own.
    pub momentum: f64,
    /// How the rate changes with the steps: `constant`, `linear` (down to 0) or `cosine` (down to 0 in half a wave).
    pub schedule: Schedule,
    /// Share of a weight, times the rate, that each step takes off it, not negative; biases keep theirs.
    pub weight_decay: f64,
    /// The greatest norm of a step's gradient, to which longer ones are cut; 0 for none.
    pub clip: f64,
    /// Epochs without a better value on the validation queries after which to stop; 0 for never.
    pub patience: u64,
}

/// How steps are made of gradients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Solver {
    /// Each weight's mean gradient, in units of its root mean square (`kingma2015adam`).
    Adam,
    /// The gradient, with momentum.
    Sgd,
}

/// How the rate changes from the first step to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Schedule {
    /// Not at all.
    Constant,
    /// Evenly down to 0.
    Linear,
    /// Half a wave down to 0.
    Cosine,
}

/// Units of the hidden layers; written as `256-128-64`, read as that, as one number or as a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "String")]
pub struct Layers(pub Vec<usize>);

#[derive(Deserialize)]
#[serde(untagged, expecting = "layers should read as 256-128-64")]
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
            format!("`{text}` should be the numbers of units of the hidden layers, as in 256-128-64")
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

impl Default for Network {
    fn default() -> Self {
        Network {
            layers: Layers(vec![128, 64]),
            activation: Activation::Relu,
            dropout: 0.0,
            batch: 16,
            epochs: 100,
            rate: 1e-3,
            solver: Solver::Adam,
            momentum: 0.9,
            schedule: Schedule::Constant,
            weight_decay: 0.0,
            clip: 0.0,
            patience: 20,
        }
    }
}

impl Network {
    /// Refuses what is out of range.
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
            return refuse(format!("layers has one of {units} units; it must have from 1 to {MAX_UNITS}"));
        }
        for (name, share) in [("dropout", self.dropout), ("momentum", self.momentum)] {
            if !(0.0..1.0).contains(&share) {
                return refuse(format!("{name} is {share}; it must be at least 0 and below 1"));
            }
        }
        for (name, count) in [("batch", self.batch as u64), ("epochs", self.epochs)] {
            if count == 0 {
                return refuse(format!("{name} is 0; it must be at least 1"));
            }
        }
        if !(self.rate > 0.0 && self.rate.is_finite()) {
            return refuse(format!("rate is {}; it must be finite and above 0", self.rate));
        }
        for (name, value) in [("weight_decay", self.weight_decay), ("clip", self.clip)] {
            if !(value >= 0.0 && value.is_finite()) {
                return refuse(format!("{name} is {value}; it must be finite and not negative"));
            }
        }
        Ok(())
    }
}
