//! Models for Solr's learning to rank: `LinearModel`, `MultipleAdditiveTreesModel` and `NeuralNetworkModel`.
//!
//! Solr sets parameters by Java setters, which are strict about types: numbers in trees and normalizers are texts, since
//! no setter takes a number of JSON; `isNullSameAsZero` is a boolean; weights of linear models and networks are
//! numbers with a fraction or an exponent. Trees ask `x ≤ t`, with the slack of `solr_slack`. Since
//! 9.2 `missing` tells where missing values go, with `isNullSameAsZero` false; before, they are 0.

use super::ranklib::shown;
use super::solr_slack::Powers;
use super::{
    EngineModel, Exported, in_single, leave_out_bias, missing_unlike_zero, unique_names, with_base_in_first,
};
use crate::error::{Error, Result};
use crate::models::{Activation, Layer, NeuralNetwork, Ranker, TreeEnsemble};
use crate::trees::{Child, Tree};
use serde_json::{Map, Value, json};
use std::fmt::Write;

pub(super) const LINEAR: &str = "org.apache.solr.ltr.model.LinearModel";
pub(super) const TREES: &str = "org.apache.solr.ltr.model.MultipleAdditiveTreesModel";
pub(super) const NETWORK: &str = "org.apache.solr.ltr.model.NeuralNetworkModel";
pub(super) const NORMALIZER: &str = "org.apache.solr.ltr.norm.StandardNormalizer";

/// A model as Solr has it.
struct Parts {
    class: &'static str,
    features: Vec<Feature>,
    /// The parameters as JSON.
    parameters: String,
}

/// A feature of the file.
struct Feature {
    column: usize,
    /// The average and deviation of its normalizer.
    norm: Option<(f32, f32)>,
}

/// The model as Solr's document, stored there as `name`.
pub(super) fn write(ranker: &Ranker, name: &str, out: &mut Exported) -> Result<Vec<u8>> {
    let names = unique_names(ranker, &mut out.notes)?;
    let parts = match ranker.model.shape().engine_model()? {
        EngineModel::Linear { weights, bias } => linear(weights, bias, &names, out)?,
        EngineModel::Trees(ensemble) => trees(ensemble, &names, out)?,
        EngineModel::Network(network) => neural_network(network, &names, out)?,
    };
    if parts.features.len() < names.len() {
        let left_out = names.len() - parts.features.len();
        out.notes.push(format!("{left_out} features do not change the model's scores and are left out"));
    }
    let features: Vec<Value> = parts.features.iter().map(|feature| feature.shown(&names)).collect();
    Ok(format!(
        "{{\n\"class\": \"{}\",\n\"name\": {},\n\"features\": {},\n\"params\": {}\n}}\n",
        parts.class,
        Value::from(name),
        Value::from(features),
        parts.parameters,
    )
    .into_bytes())
}

impl Feature {
    fn shown(&self, names: &[String]) -> Value {
        let name = &names[self.column];
        match self.norm {
            None => json!({ "name": name }),
            Some((average, deviation)) => {
                let parameters = json!({ "avg": shown(average), "std": shown(deviation) });
                json!({ "name": name, "norm": { "class": NORMALIZER, "params": parameters } })
            }
        }
    }
}

/// The columns to list: Solr takes no model without features.
fn listed(columns: impl Iterator<Item = usize>) -> Vec<usize> {
    let columns: Vec<usize> = columns.collect();
    if columns.is_empty() { vec![0] } else { columns }
}

fn linear(weights: &[f64], bias: f64, names: &[String], out: &mut Exported) -> Result<Parts> {
    in_single("Solr", weights, &mut out.notes)?;
    leave_out_bias("Solr", bias, out);
    let used = listed((0..weights.len()).filter(|&column| weights[column] as f32 != 0.0));
    let weight = |&column: &usize| (names[column].clone(), number(weights[column] as f32));
    let weights: Map<String, Value> = used.iter().map(weight).collect();
    let features = used.iter().map(|&column| Feature { column, norm: None }).collect();
    Ok(Parts { class: LINEAR, features, parameters: json!({ "weights": weights }).to_string() })
}

fn trees(ensemble: &TreeEnsemble, names: &[String], out: &mut Exported) -> Result<Parts> {
    let trees = with_base_in_first(ensemble);
    in_single("Solr", trees.iter().flat_map(|tree| &tree.values), &mut out.notes)?;
    let powers = Powers::of(&trees);
    powers.note(&trees, out);
    let mut tested = vec![false; names.len()];
    trees.iter().flat_map(|tree| &tree.features).for_each(|&feature| tested[feature as usize] = true);
    let feature =
        |column| Feature { column, norm: powers.deviation(column).map(|deviation| (0.0, deviation)) };
    let features =
        listed((0..names.len()).filter(|&column| tested[column])).into_iter().map(feature).collect();
    let parameters = trees_parameters(&trees, names, &powers, &mut out.notes);
    Ok(Parts { class: TREES, features, parameters })
}

/// The trees, with where missing values go if that is not where 0 goes.
fn trees_parameters(trees: &[Tree], names: &[String], powers: &Powers, notes: &mut Vec<String>) -> String {
    let told = missing_unlike_zero(trees) > 0;
    if told {
        notes.push(
            "the model's tests tell missing values from 0: that takes Solr 9.2, and `\"defaultValue\": \"NaN\"` for \
             every feature of the feature store that may be missing"
                .into(),
        );
    }
    let trees: Vec<String> = trees.iter().map(|tree| nested(tree, names, powers, told)).collect();
    let null_is_zero = if told { "\"isNullSameAsZero\":false," } else { "" };
    format!("{{{null_is_zero}\"trees\":[\n{}\n]}}", trees.join(",\n"))
}

/// A tree as nested objects, written without recursion, since trees may be deep.
fn nested(tree: &Tree, names: &[String], powers: &Powers, told: bool) -> String {
    enum WalkStep {
        Open(Child),
        Put(&'static str),
    }
    let mut text = String::from("{\"weight\":\"1\",\"root\":");
    let mut steps = vec![WalkStep::Put("}"), WalkStep::Open(tree.root())];
    while let Some(step) = steps.pop() {
        match step {
            WalkStep::Put(sign) => text.push_str(sign),
            WalkStep::Open(Child::Leaf(leaf)) => {
                text.push_str(&json!({ "value": shown(tree.values[leaf] as f32) }).to_string());
            }
            WalkStep::Open(Child::Node(node)) => {
                let feature = tree.features[node];
                let name = Value::from(names[feature as usize].as_str());
                let threshold = Value::from(shown(powers.written(feature, tree.thresholds[node])));
                write!(text, "{{\"feature\":{name},\"threshold\":{threshold},")
                    .expect("a String takes all that is written");
                if told {
                    let side = if tree.missing_left[node] { "left" } else { "right" };
                    write!(text, "\"missing\":\"{side}\",").expect("a String takes all that is written");
                }
                text.push_str("\"left\":");
                steps.push(WalkStep::Put("}"));
                steps.push(WalkStep::Open(Child::of(tree.right[node])));
                steps.push(WalkStep::Put(",\"right\":"));
                steps.push(WalkStep::Open(Child::of(tree.left[node])));
            }
        }
    }
    text
}

fn neural_network(network: &NeuralNetwork, names: &[String], out: &mut Exported) -> Result<Parts> {
    let (first, rest) = network.layers().split_first().expect("a network has layers");
    let matters = |column: usize| {
        let weights = first.weights.iter().skip(column).step_by(network.width());
        network.factors()[column] != 0.0 && weights.into_iter().any(|&weight| weight != 0.0)
    };
    let used = listed((0..network.width()).filter(|&column| matters(column)));
    let features = used
        .iter()
        .map(|&column| Ok(Feature { column, norm: norm_of(network, column, &names[column])? }))
        .collect::<Result<Vec<Feature>>>()?;
    // A negative factor turns the sign of a feature, and a deviation cannot.
    let weight = |unit: usize, column: usize| {
        let factor = network.factors()[column];
        let weight = first.weights[unit * network.width() + column];
        if factor == 0.0 { 0.0 } else { weight * factor.signum() }
    };
    let matrix = (0..first.outputs).map(|unit| used.iter().map(|&column| weight(unit, column)).collect());
    let mut layers = vec![layer(matrix.collect(), first, rest.is_empty(), network.activation())];
    for (i, next) in rest.iter().enumerate() {
        let matrix = next.weights.chunks(next.weights.len() / next.outputs).map(<[f32]>::to_vec).collect();
        layers.push(layer(matrix, next, i + 1 == rest.len(), network.activation()));
    }
    out.notes.push("Solr computes in single precision: scores agree to about six digits".into());
    if used.iter().any(|&column| network.means()[column] != 0.0) {
        out.missing_as_zero = true;
        out.notes.push(
            "Solr gives a missing feature its `defaultValue`, which is 0 unless the feature store sets it, and the \
             model takes the feature's mean: for features that may be missing, set `defaultValue` to the `avg` in the \
             file"
                .into(),
        );
    }
    Ok(Parts { class: NETWORK, features, parameters: json!({ "layers": layers }).to_string() })
}

/// The mean of a feature and the inverse of its factor; nothing where the network does not look at the feature.
fn norm_of(network: &NeuralNetwork, column: usize, name: &str) -> Result<Option<(f32, f32)>> {
    let (mean, factor) = (network.means()[column], network.factors()[column]);
    if factor == 0.0 {
        return Ok(None);
    }
    let deviation = (1.0 / f64::from(factor.abs())) as f32;
    if !deviation.is_normal() {
        return Err(Error::model(format!(
            "the network multiplies feature {} by {factor:e}, which Solr's normalizer cannot hold; export it to ONNX \
             instead",
            super::foreign::quoted(name)
        )));
    }
    Ok(Some((mean, deviation)))
}

fn layer(matrix: Vec<Vec<f32>>, layer: &Layer, is_last: bool, activation: Activation) -> Value {
    let numbers = |values: &[f32]| values.iter().map(|&value| number(value)).collect::<Vec<Value>>();
    let matrix: Vec<Vec<Value>> = matrix.iter().map(|row| numbers(row)).collect();
    let activation = match activation {
        _ if is_last => "identity",
        Activation::Relu => "relu",
        Activation::Tanh => "tanh",
    };
    json!({ "matrix": matrix, "bias": numbers(&layer.biases), "activation": activation })
}

/// Single precision in digits that are read back as the same number by way of double precision. They have a fraction or
/// an exponent, since Solr takes a number without one for an integer, and no more digits than its reader takes for a
/// double.
fn number(x: f32) -> Value {
    f64::from(x).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Solr's reader (noggit) makes a double of a number if its integer digits after the first, fraction and exponent
    /// are at most 21 characters together, and there is a fraction or exponent.
    #[test]
    fn numbers_are_doubles_to_solr() {
        let mut bits = 1u32;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let x = f32::from_bits(bits);
            if !x.is_finite() {
                continue;
            }
            let text = number(x).to_string();
            assert!(text.contains(['.', 'e']) && !text.contains('E'), "{text}");
            let length = text.trim_start_matches('-').replace('.', "").len() - 1;
            assert!(length <= 21, "{text}");
            assert_eq!(text.parse::<f64>().unwrap() as f32, x);
        }
    }
}
