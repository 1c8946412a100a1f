//! Models for the learning to rank of Elasticsearch and OpenSearch: the body of `_createmodel`.
//!
//! ```text
//! {"model": {"name": …, "model": {"type": "model/linear", "definition": "{\"bm25\": 0.3}"}}}
//! ```
//!
//! The definition is a text: weights by name; or an array of trees as XGBoost dumps them, where a value goes to `yes`
//! if it is below the condition and a missing one to `missing`; or RankLib's text, whose feature n is the n-th of the
//! feature set. XGBoost's base is not read, so it goes into the first tree. All is in single precision.

use super::foreign::{plain, quoted};
use super::forest::{Engine, Grown, Names, Node, Test};
use super::nested::{Nested, ROOT};
use super::xgboost_writer::{Levels, below_what};
use super::{
    EngineModel, Exported, in_single, leave_out_bias, missing_unlike_zero, ranklib, ranklib_reader,
    unique_names, with_base_in_first,
};
use crate::data::Columns;
use crate::error::{Error, Result};
use crate::models::Ranker;
use crate::trees::{Child, Tree};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::fmt::Write;

const LINEAR: &str = "model/linear";
const XGBOOST: &str = "model/xgboost+json";
pub(super) const RANKLIB: &str = "model/ranklib";

/// How many objects and lists the engines' JSON readers take within each other.
const MOST_NESTED: usize = 1000;

/// The engine whose plugin takes the file.
#[derive(Clone, Copy)]
pub(super) enum Plugin {
    Elasticsearch,
    OpenSearch,
}

impl Plugin {
    fn name(self) -> &'static str {
        match self {
            Plugin::Elasticsearch => "Elasticsearch",
            Plugin::OpenSearch => "OpenSearch",
        }
    }

    /// Since when its plugin follows `missing`.
    fn missing_since(self) -> &'static str {
        match self {
            Plugin::Elasticsearch => "2024 (Elasticsearch LTR, pull request 482)",
            Plugin::OpenSearch => "2026 (OpenSearch LTR, issue 378)",
        }
    }
}

/// The model as weights, or as trees in XGBoost's form, stored as `name`.
pub(super) fn write(ranker: &Ranker, name: &str, plugin: Plugin, out: &mut Exported) -> Result<Vec<u8>> {
    let names = unique_names(ranker, &mut out.notes)?;
    match ranker.model.shape().engine_model()? {
        EngineModel::Linear { weights, bias } => {
            in_single(plugin.name(), weights, &mut out.notes)?;
            leave_out_bias(plugin.name(), bias, out);
            let said: Map<String, Value> = names
                .into_iter()
                .zip(weights)
                .filter(|(_, weight)| **weight as f32 != 0.0)
                .map(|(name, weight)| (name, number(*weight as f32).into()))
                .collect();
            Ok(request(name, LINEAR, &Value::Object(said).to_string()))
        }
        EngineModel::Trees(ensemble) => {
            let trees = with_base_in_first(ensemble);
            in_single(plugin.name(), trees.iter().flat_map(|tree| &tree.values), &mut out.notes)?;
            missing_note(&trees, plugin, &mut out.notes);
            depth_note(&trees, plugin, &mut out.notes);
            let trees: Vec<String> = trees.iter().map(|tree| nested(tree, &names)).collect();
            Ok(request(name, XGBOOST, &format!("[{}]", trees.join(","))))
        }
        EngineModel::Network(_) => Err(super::no_place_for_networks()),
    }
}

/// The model's trees in RankLib's form, stored as `name`.
pub(super) fn write_ranklib(ranker: &Ranker, name: &str, out: &mut Exported) -> Result<Vec<u8>> {
    let text = ranklib::text(ranker.model.shape().sum_of_trees()?, 1, out)?;
    out.notes.push(format!(
        "features go by their place in the feature set: {} must be the first of {}, and so on in the model's order",
        quoted(&ranker.columns.name(0)),
        ranker.model.width()
    ));
    Ok(request(name, RANKLIB, &String::from_utf8_lossy(&text)))
}

fn request(name: &str, kind: &str, definition: &str) -> Vec<u8> {
    let model = json!({ "type": kind, "definition": definition });
    let body = json!({ "model": { "name": name, "model": model } });
    format!("{body:#}\n").into_bytes()
}

fn missing_note(trees: &[Tree], plugin: Plugin, notes: &mut Vec<String>) {
    if missing_unlike_zero(trees) > 0 || trees.iter().any(|tree| tree.missing_left.contains(&true)) {
        notes.push(format!(
            "the plugin follows where a test sends missing values since {}; older ones take missing values as 0 or send \
             them all to `no`",
            plugin.missing_since()
        ));
    }
}

/// A tree of depth d is an object in an array for each level, in the array of all trees.
fn depth_note(trees: &[Tree], plugin: Plugin, notes: &mut Vec<String>) {
    let deepest = trees.iter().map(levels).max().unwrap_or(0);
    if 2 * deepest + 2 > MOST_NESTED {
        notes.push(format!(
            "the deepest tree has {deepest} levels, and {} reads at most {}: train with a smaller depth, or use RankLib's \
             form",
            plugin.name(),
            MOST_NESTED / 2 - 1
        ));
    }
}

/// The number of tests on the longest way through a tree.
fn levels(tree: &Tree) -> usize {
    let mut before = vec![1; tree.features.len()];
    for node in 0..before.len() {
        for code in [tree.left[node], tree.right[node]] {
            if let Child::Node(child) = Child::of(code) {
                before[child] = before[node] + 1;
            }
        }
    }
    before.into_iter().max().unwrap_or(0)
}

/// Single precision in digits that are read back as the same number, by way of double precision too.
fn number(x: f32) -> f64 {
    f64::from(x)
}

/// A tree as nested objects, written without recursion, since trees may be deep.
fn nested(tree: &Tree, names: &[String]) -> String {
    enum WalkStep {
        Open { id: usize, depth: usize },
        Put(&'static str),
    }
    let levels = Levels::of(tree);
    let (mut text, mut steps) = (String::new(), vec![WalkStep::Open { id: 0, depth: 0 }]);
    while let Some(step) = steps.pop() {
        let (id, depth) = match step {
            WalkStep::Put(sign) => {
                text.push_str(sign);
                continue;
            }
            WalkStep::Open { id, depth } => (id, depth),
        };
        match levels.order[id] {
            Child::Leaf(leaf) => {
                text.push_str(&json!({ "nodeid": id, "leaf": number(tree.values[leaf] as f32) }).to_string());
            }
            Child::Node(node) => {
                let (condition, swapped) = below_what(tree.thresholds[node]);
                let (yes, no) = (levels.left[id] as usize, levels.right[id] as usize);
                let missing = if tree.missing_left[node] != swapped { yes } else { no };
                write!(
                    text,
                    "{{\"nodeid\":{id},\"depth\":{depth},\"split\":{},\"split_condition\":{},\"yes\":{yes},\"no\":{no},\
                     \"missing\":{missing},\"children\":[",
                    Value::from(names[tree.features[node] as usize].as_str()),
                    Value::from(number(condition)),
                )
                .expect("a String takes all that is written");
                let depth = depth + 1;
                steps.push(WalkStep::Put("]}"));
                steps.push(WalkStep::Open { id: no, depth });
                steps.push(WalkStep::Put(","));
                steps.push(WalkStep::Open { id: yes, depth });
            }
        }
    }
    text
}

#[derive(Deserialize)]
struct Request {
    model: Named,
}

#[derive(Deserialize)]
struct Named {
    model: Typed,
}

#[derive(Deserialize)]
struct Typed {
    r#type: String,
    definition: String,
}

/// Reads a body of `_createmodel` as the engines do.
pub(super) fn read(bytes: &[u8], columns: &Columns, width: usize) -> Result<Engine> {
    let request: Request = serde_json::from_slice(bytes).map_err(not_as_it_should_be)?;
    let Typed { r#type: kind, definition } = request.model.model;
    let names = Names::of(columns, width);
    match kind.as_str() {
        LINEAR => {
            let weights: Map<String, Value> =
                serde_json::from_str(&definition).map_err(not_as_it_should_be)?;
            let weight = |(name, value): (&String, &Value)| match value.as_f64() {
                Some(weight) => Ok((names.column(name)?, weight as f32)),
                None => Err(Error::model(format!("its weight of {} is not a number", quoted(name)))),
            };
            Ok(Engine::Linear(weights.iter().map(weight).collect::<Result<_>>()?))
        }
        XGBOOST => {
            let dump = Nested::read(definition.as_bytes()).map_err(not_as_it_should_be)?;
            if dump.depth > MOST_NESTED {
                return Err(Error::model(format!(
                    "its trees are nested {} times in JSON, and the engines read at most {MOST_NESTED}",
                    dump.depth
                )));
            }
            let trees = dump.list(ROOT).filter(|trees| !trees.is_empty());
            let trees = trees.ok_or_else(|| Error::model("it has no trees, and the engines ask for one"))?;
            let reader = DumpReader { dump: &dump, names: &names };
            let grown = |&tree: &usize| Ok((1.0, reader.grown(tree)?));
            Ok(Engine::Forest(trees.iter().map(grown).collect::<Result<_>>()?))
        }
        RANKLIB => ranklib_reader::read(&definition, 1),
        other => Err(Error::model(format!("it is of type {}", quoted(other)))),
    }
}

/// Reads trees as XGBoost dumps them.
struct DumpReader<'a> {
    dump: &'a Nested,
    names: &'a Names,
}

impl DumpReader<'_> {
    /// A tree; kept as a stack, since trees may be deep.
    fn grown(&self, root: usize) -> Result<Grown> {
        let mut nodes = vec![Node::Leaf(0.0)];
        let mut waiting = vec![(root, 0)];
        while let Some((at, place)) = waiting.pop() {
            self.number(at, "nodeid")?;
            if self.dump.field(at, "leaf").is_some() {
                nodes[place] = Node::Leaf(self.number(at, "leaf")? as f32);
                continue;
            }
            let (left, right) = (nodes.len(), nodes.len() + 1);
            let [yes, no] = self.children(at)?;
            nodes.extend([Node::Leaf(0.0), Node::Leaf(0.0)]);
            nodes[place] = Node::Split {
                column: self.names.column(self.split(at)?)?,
                threshold: self.number(at, "split_condition")? as f32,
                test: Test::Below,
                missing_left: Some(self.missing_left(at)?),
                left,
                right,
            };
            waiting.extend([(no, right), (yes, left)]);
        }
        Ok(Grown(nodes))
    }

    fn number(&self, at: usize, key: &str) -> Result<f64> {
        let place = self.dump.field(at, key);
        let number = place.and_then(|place| self.dump.number(place));
        number.ok_or_else(|| Error::model(format!("one of its nodes lacks the number `{key}`")))
    }

    fn split(&self, at: usize) -> Result<&str> {
        self.number(at, "depth")?;
        let place = self.dump.field(at, "split");
        let name = place.and_then(|place| self.dump.text(place));
        name.ok_or_else(|| Error::model("one of its nodes lacks the feature that it splits by"))
    }

    /// The children, `yes` before `no`.
    fn children(&self, at: usize) -> Result<[usize; 2]> {
        let place = self.dump.field(at, "children");
        let Some(&[yes, no]) = place.and_then(|place| self.dump.list(place)) else {
            return Err(Error::model("one of its nodes has not two children"));
        };
        for (key, child) in [("yes", yes), ("no", no)] {
            if self.number(at, key)? != self.number(child, "nodeid")? {
                return Err(Error::model("one of its nodes points beside its children"));
            }
        }
        Ok([yes, no])
    }

    /// Whether missing values go to `yes`; they go to `no` if that is not said.
    fn missing_left(&self, at: usize) -> Result<bool> {
        if self.dump.field(at, "missing").is_none() {
            return Ok(false);
        }
        let (missing, yes, no) =
            (self.number(at, "missing")?, self.number(at, "yes")?, self.number(at, "no")?);
        if missing != yes && missing != no {
            return Err(Error::model("one of its nodes points beside its children"));
        }
        Ok(missing == yes)
    }
}

fn not_as_it_should_be(error: serde_json::Error) -> Error {
    Error::model(format!("it is not as a model for Elasticsearch should be: {}", plain(error)))
}
