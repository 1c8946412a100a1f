//! Models for Solr's learning to rank: `LinearModel` and `MultipleAdditiveTreesModel`.
//!
//! Solr adds 1e-6 to every threshold as it reads it, in single precision, and then asks `x ≤ t`; thresholds are
//! written so that what it ends up with is the model's. Numbers in trees are texts, since Solr finds no setter that
//! takes a number of JSON; weights of a linear model are numbers. Since 9.2 `missing` tells where missing values go,
//! with `isNullSameAsZero` false; before, they are 0.

use super::foreign::{plain, quoted};
use super::forest::{Engine, Grown, Names, Node, Test};
use super::ranklib::shown;
use super::{
    Divergence, EngineModel, Exported, in_single, leave_out_bias, missing_unlike_zero, unique_names,
    with_base_in_first,
};
use crate::data::Columns;
use crate::error::{Error, Result};
use crate::models::Ranker;
use crate::trees::{Child, Tree};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::fmt::Write;

const LINEAR: &str = "org.apache.solr.ltr.model.LinearModel";
const TREES: &str = "org.apache.solr.ltr.model.MultipleAdditiveTreesModel";

/// What Solr adds to a threshold.
const SLACK: f32 = 1e-6;

/// The model as Solr's document.
pub(super) fn write(ranker: &Ranker, out: &mut Exported) -> Result<Vec<u8>> {
    let names = unique_names(ranker, &mut out.notes)?;
    let (class, used, parameters) = match ranker.model.shape().engine_model()? {
        EngineModel::Linear { weights, bias } => {
            in_single("Solr", weights, &mut out.notes)?;
            leave_out_bias("Solr", bias, out);
            let used: Vec<usize> = (0..weights.len()).filter(|&c| weights[c] as f32 != 0.0).collect();
            let used = if used.is_empty() { vec![0] } else { used };
            let weight = |&c: &usize| (names[c].clone(), f64::from(weights[c] as f32).into());
            let weights: Map<String, Value> = used.iter().map(weight).collect();
            (LINEAR, used, json!({ "weights": weights }).to_string())
        }
        EngineModel::Trees(ensemble) => {
            let trees = with_base_in_first(ensemble);
            in_single("Solr", trees.iter().flat_map(|tree| &tree.values), &mut out.notes)?;
            out.divergent = shifted(&trees);
            slack_note(out);
            let mut used: Vec<usize> =
                trees.iter().flat_map(|tree| &tree.features).map(|&f| f as usize).collect();
            used.sort_unstable();
            used.dedup();
            let used = if used.is_empty() { vec![0] } else { used };
            (TREES, used, trees_parameters(&trees, &names, &mut out.notes))
        }
    };
    if used.len() < names.len() {
        let left_out = names.len() - used.len();
        out.notes.push(format!("{left_out} features do not change the model's scores and are left out"));
    }
    let features: Vec<Value> = used.iter().map(|&column| json!({ "name": names[column] })).collect();
    Ok(format!(
        "{{\n\"class\": \"{class}\",\n\"name\": {},\n\"features\": {},\n\"params\": {parameters}\n}}\n",
        Value::from(ranker.learner.name.as_str()),
        Value::from(features),
    )
    .into_bytes())
}

/// The trees, with where missing values go if that is not where 0 goes.
fn trees_parameters(trees: &[Tree], names: &[String], notes: &mut Vec<String>) -> String {
    let told = missing_unlike_zero(trees) > 0;
    if told {
        notes.push(
            "the model's tests tell missing values from 0: that takes Solr 9.2, and `\"defaultValue\": \"NaN\"` for \
             every feature of the feature store that may be missing"
                .into(),
        );
    }
    let trees: Vec<String> = trees.iter().map(|tree| nested(tree, names, told)).collect();
    let null_is_zero = if told { "\"isNullSameAsZero\":\"false\"," } else { "" };
    format!("{{{null_is_zero}\"trees\":[\n{}\n]}}", trees.join(",\n"))
}

/// A tree as nested objects, written without recursion, since trees may be deep.
fn nested(tree: &Tree, names: &[String], told: bool) -> String {
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
                let name = Value::from(names[tree.features[node] as usize].as_str());
                let threshold = Value::from(shown(before_slack(tree.thresholds[node])));
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

/// The threshold that is `t` once Solr has added its slack; or else the least above `t`, since a value equal to `t` is
/// likelier than one just above it, but on the side of 0 where `t` is, since 0 is the likeliest of all.
fn before_slack(t: f32) -> f32 {
    let mut candidate = ((f64::from(t) - f64::from(SLACK)) as f32).next_down().next_down();
    let mut best = candidate;
    for _ in 0..5 {
        if cost(candidate, t) < cost(best, t) {
            best = candidate;
        }
        candidate = candidate.next_up();
    }
    best
}

/// How bad it is that a threshold `written` for `t` becomes what it becomes.
fn cost(written: f32, t: f32) -> (bool, bool, f64) {
    let found = written + SLACK;
    // Equal infinities are no distance apart.
    let distance = if found == t { 0.0 } else { (f64::from(found) - f64::from(t)).abs() };
    ((0.0 <= found) != (0.0 <= t), found < t, distance)
}

/// Where the threshold that Solr ends up with is not the model's: the values between the two.
fn shifted(trees: &[Tree]) -> Vec<Divergence> {
    let tests = trees.iter().flat_map(|tree| tree.features.iter().zip(&tree.thresholds));
    let apart = |(&feature, &t): (&u32, &f32)| {
        let found = before_slack(t) + SLACK;
        (found != t).then(|| Divergence {
            column: Some(feature as usize),
            above: found.min(t),
            up_to: found.max(t),
        })
    };
    tests.filter_map(apart).collect()
}

fn slack_note(out: &mut Exported) {
    let widest = out.divergent.iter().map(|a| f64::from(a.up_to) - f64::from(a.above)).fold(0.0, f64::max);
    if widest > 0.0 {
        out.notes.push(format!(
            "Solr adds 1e-6 to thresholds in single precision, and {} of the model's cannot be met exactly: they are \
             off by at most {widest:.1e}, and only values in between go another way",
            out.divergent.len()
        ));
    }
}

#[derive(Deserialize)]
struct Document {
    class: String,
    features: Vec<Feature>,
    params: Parameters,
}

#[derive(Deserialize)]
struct Feature {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parameters {
    weights: Option<Map<String, Value>>,
    trees: Option<Vec<WeightedTree>>,
    is_null_same_as_zero: Option<String>,
}

#[derive(Deserialize)]
struct WeightedTree {
    weight: String,
    root: Branch,
}

#[derive(Deserialize)]
struct Branch {
    value: Option<String>,
    feature: Option<String>,
    threshold: Option<String>,
    missing: Option<String>,
    left: Option<Box<Branch>>,
    right: Option<Box<Branch>>,
}

/// Reads a model as Solr does.
pub(super) fn read(bytes: &[u8], columns: &Columns, width: usize) -> Result<Engine> {
    let document: Document = serde_json::from_slice(bytes)
        .map_err(|e| Error::model(format!("it is not as a model for Solr should be: {}", plain(e))))?;
    if document.features.is_empty() {
        return Err(Error::model("it has no features"));
    }
    let names = Names::of(columns, width);
    let listed = |name: &str| document.features.iter().any(|feature| feature.name == name);
    match (document.class.as_str(), &document.params.weights, document.params.trees) {
        (LINEAR, Some(weights), None) => {
            let weight = |feature: &Feature| match weights.get(&feature.name).and_then(Value::as_f64) {
                Some(weight) => Ok((names.column(&feature.name)?, weight as f32)),
                None => Err(Error::model(format!("it lacks a weight of {}", quoted(&feature.name)))),
            };
            Ok(Engine::Linear(document.features.iter().map(weight).collect::<Result<_>>()?))
        }
        (TREES, None, Some(trees)) => {
            let null_is_zero = document.params.is_null_same_as_zero.as_deref() != Some("false");
            let reader = TreeReader { names: &names, null_is_zero, listed: &listed };
            let grown = |tree: WeightedTree| {
                let mut nodes = Vec::new();
                reader.grow(tree.root, &mut nodes)?;
                Ok((single(&tree.weight)?, Grown(nodes)))
            };
            Ok(Engine::Forest(trees.into_iter().map(grown).collect::<Result<_>>()?))
        }
        (class, ..) => Err(Error::model(format!("its class is {}, with other parameters", quoted(class)))),
    }
}

struct TreeReader<'a> {
    names: &'a Names,
    null_is_zero: bool,
    listed: &'a dyn Fn(&str) -> bool,
}

impl TreeReader<'_> {
    /// Puts a branch and what is below it behind `nodes`, and returns its place. JSON is read to a bounded depth.
    fn grow(&self, branch: Branch, nodes: &mut Vec<Node>) -> Result<usize> {
        let place = nodes.len();
        nodes.push(Node::Leaf(0.0));
        let Some(name) = branch.feature else {
            if branch.left.is_some() || branch.right.is_some() {
                return Err(Error::model("a leaf of it has branches"));
            }
            nodes[place] = Node::Leaf(branch.value.as_deref().map_or(Ok(0.0), single)?);
            return Ok(place);
        };
        let (Some(threshold), Some(left), Some(right)) = (branch.threshold, branch.left, branch.right) else {
            return Err(Error::model(format!("a test of {} lacks its threshold or a branch", quoted(&name))));
        };
        // Solr ends the tree with 0 at a feature that is not listed.
        if !(self.listed)(&name) {
            return Ok(place);
        }
        let column = self.names.column(&name)?;
        let missing_left = match (self.null_is_zero, branch.missing.as_deref()) {
            (true, _) => None,
            (false, Some(side @ ("left" | "right"))) => Some(side == "left"),
            (false, _) => return Err(Error::model(format!("a test of {} lacks `missing`", quoted(&name)))),
        };
        let threshold = single(&threshold)? + SLACK;
        let (left, right) = (self.grow(*left, nodes)?, self.grow(*right, nodes)?);
        nodes[place] = Node::Split { column, threshold, test: Test::AtMost, missing_left, left, right };
        Ok(place)
    }
}

/// A number that stands as a text, as Java reads it.
fn single(text: &str) -> Result<f32> {
    match text {
        "Infinity" => Ok(f32::INFINITY),
        "-Infinity" => Ok(f32::NEG_INFINITY),
        _ => text
            .parse()
            .ok()
            .filter(|x: &f32| x.is_finite())
            .ok_or_else(|| Error::model(format!("{} in it is not a number", quoted(text)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thresholds of everyday size are met exactly; others by the next float above, and never across 0.
    #[test]
    fn thresholds_survive_the_slack() {
        for t in [0.0, 0.5, 1.0, 3.25, 0.1, 1e-3, 1e6, 16_777_216.0, -3.0, f32::MAX, f32::MIN, f32::INFINITY]
        {
            assert_eq!(before_slack(t) + SLACK, t, "{t:e}");
        }
        assert_eq!(before_slack(f32::NEG_INFINITY) + SLACK, f32::NEG_INFINITY);
        for t in [1e-6f32, 1e-7, -1e-7, 1e-12, -0.5, -2e-6, f32::from_bits(1)] {
            let found = before_slack(t) + SLACK;
            let step = 1.2e-13f32.max((t.abs().next_up() - t.abs()) * 2.0);
            assert!(t <= found && found <= t + step, "{t:e} becomes {found:e}");
        }
        for t in [-f32::from_bits(1), -1e-30, -1e-14] {
            let found = before_slack(t) + SLACK;
            assert!((-1.2e-13..0.0).contains(&found), "{t:e} becomes {found:e}");
        }
        let odd = Tree {
            features: vec![4, 2],
            thresholds: vec![-f32::from_bits(1), 0.0],
            missing_left: vec![true; 2],
            left: vec![!0, !1],
            right: vec![1, !2],
            gains: vec![0.0; 2],
            values: vec![0.0; 3],
            covers: vec![0.0; 3],
        };
        let found = shifted(&[odd]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].column, found[0].up_to), (Some(4), -f32::from_bits(1)));
    }
}
