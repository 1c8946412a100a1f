//! Models for the learning to rank of Elasticsearch and OpenSearch: the body of `_createmodel`.
//!
//! ```text
//! {"model": {"name": …, "model": {"type": "model/linear", "definition": "{\"bm25\": 0.3}"}}}
//! ```
//!
//! The definition is a text: weights by name; or an array of trees as XGBoost dumps them, where a value goes to `yes`
//! if it is below the condition and a missing one to `missing`; or RankLib's text, whose feature n is the n-th of the
//! feature set. XGBoost's base is not read, so it goes into the first tree. All is in single precision.

use super::foreign::plain;
use super::forest::{Engine, Grown, Names, Node, Test};
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

/// The engines in messages.
const TOOL: &str = "the search engine";

/// The model as weights, or as trees in XGBoost's form.
pub(super) fn write(ranker: &Ranker, out: &mut Exported) -> Result<Vec<u8>> {
    let names = unique_names(ranker, &mut out.notes)?;
    match ranker.model.shape().engine_model()? {
        EngineModel::Linear { weights, bias } => {
            in_single(TOOL, weights, &mut out.notes)?;
            leave_out_bias("Elasticsearch", bias, out);
            let said: Map<String, Value> = names
                .into_iter()
                .zip(weights)
                .filter(|(_, weight)| **weight as f32 != 0.0)
                .map(|(name, weight)| (name, number(*weight as f32).into()))
                .collect();
            Ok(request(ranker, LINEAR, &Value::Object(said).to_string()))
        }
        EngineModel::Trees(ensemble) => {
            let trees = with_base_in_first(ensemble);
            in_single(TOOL, trees.iter().flat_map(|tree| &tree.values), &mut out.notes)?;
            missing_note(&trees, &mut out.notes);
            let trees: Vec<String> = trees.iter().map(|tree| nested(tree, &names)).collect();
            Ok(request(ranker, XGBOOST, &format!("[{}]", trees.join(","))))
        }
    }
}

/// The model's trees in RankLib's form.
pub(super) fn write_ranklib(ranker: &Ranker, out: &mut Exported) -> Result<Vec<u8>> {
    let text = ranklib::text(ranker.model.shape().sum_of_trees()?, 1, out)?;
    out.notes.push(format!(
        "features go by their place in the feature set: {} must be the first of {}, and so on in the model's order",
        super::foreign::quoted(&ranker.columns.name(0)),
        ranker.model.width()
    ));
    Ok(request(ranker, RANKLIB, &String::from_utf8_lossy(&text)))
}

fn request(ranker: &Ranker, kind: &str, definition: &str) -> Vec<u8> {
    let model = json!({ "type": kind, "definition": definition });
    let body = json!({ "model": { "name": ranker.learner.name, "model": model } });
    format!("{body:#}\n").into_bytes()
}

fn missing_note(trees: &[Tree], notes: &mut Vec<String>) {
    if missing_unlike_zero(trees) > 0 || trees.iter().any(|tree| tree.missing_left.contains(&true)) {
        notes.push(
            "the plugins follow where a test sends missing values since 2024 (Elasticsearch LTR, pull request 482) \
             and 2026 (OpenSearch LTR, issue 378); older ones take missing values as 0 or send them all to `no`"
                .into(),
        );
    }
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

/// A node as XGBoost dumps it.
#[derive(Deserialize)]
struct Dumped {
    nodeid: i64,
    leaf: Option<f32>,
    split: Option<String>,
    split_condition: Option<f32>,
    yes: Option<i64>,
    no: Option<i64>,
    missing: Option<i64>,
    depth: Option<i64>,
    #[serde(default)]
    children: Vec<Dumped>,
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
                None => Err(Error::model(format!(
                    "its weight of {} is not a number",
                    super::foreign::quoted(name)
                ))),
            };
            Ok(Engine::Linear(weights.iter().map(weight).collect::<Result<_>>()?))
        }
        XGBOOST => {
            let trees: Vec<Dumped> = serde_json::from_str(&definition).map_err(not_as_it_should_be)?;
            if trees.is_empty() {
                return Err(Error::model("it has no trees, and the engines ask for one"));
            }
            let grown = |tree: Dumped| {
                let mut nodes = Vec::new();
                tree.grow(&names, &mut nodes)?;
                Ok((1.0, Grown(nodes)))
            };
            Ok(Engine::Forest(trees.into_iter().map(grown).collect::<Result<_>>()?))
        }
        RANKLIB => ranklib_reader::read(&definition, 1),
        other => Err(Error::model(format!("it is of type {}", super::foreign::quoted(other)))),
    }
}

impl Dumped {
    /// Puts the node and those below it behind `nodes`, and returns its place. JSON is read to a bounded depth.
    fn grow(self, names: &Names, nodes: &mut Vec<Node>) -> Result<usize> {
        let place = nodes.len();
        nodes.push(Node::Leaf(self.leaf.unwrap_or(0.0)));
        if self.leaf.is_some() {
            return Ok(place);
        }
        let lacking = || Error::model(format!("its node {} lacks a field that a split needs", self.nodeid));
        let name = self.split.as_deref().ok_or_else(lacking)?;
        let threshold = self.split_condition.ok_or_else(lacking)?;
        let (yes, no) = (self.yes.ok_or_else(lacking)?, self.no.ok_or_else(lacking)?);
        self.depth.ok_or_else(lacking)?;
        let column = names.column(name)?;
        let [first, second] = <[Dumped; 2]>::try_from(self.children)
            .map_err(|_| Error::model(format!("its node {} has not two children", self.nodeid)))?;
        let missing_fits = self.missing.is_none_or(|m| m == yes || m == no);
        if (first.nodeid, second.nodeid) != (yes, no) || !missing_fits {
            return Err(Error::model(format!("its node {} points beside its children", self.nodeid)));
        }
        let (left, right) = (first.grow(names, nodes)?, second.grow(names, nodes)?);
        let missing_left = Some(self.missing == Some(yes));
        nodes[place] = Node::Split { column, threshold, test: Test::Below, missing_left, left, right };
        Ok(place)
    }
}

fn not_as_it_should_be(error: serde_json::Error) -> Error {
    Error::model(format!("it is not as a model for Elasticsearch should be: {}", plain(error)))
}
