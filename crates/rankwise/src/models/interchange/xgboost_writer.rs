//! Writes an ensemble as XGBoost does: nodes level by level, and everything in f32.

use super::document::Value;
use super::xgboost::FIRST_ID;
use super::{below, names};
use crate::error::{Error, Result};
use crate::models::{Numbering, Ranker, TreeEnsemble};
use crate::trees::{Child, Tree};

/// What XGBoost writes as the parent of a root.
const NO_PARENT: i32 = i32::MAX;

/// The version whose form is written.
const VERSION: [i64; 3] = [3, 2, 0];

/// Characters that XGBoost allows in no feature name.
const REFUSED: &str = "[]<";

/// The model as XGBoost's document.
pub(super) fn document(ranker: &Ranker, ensemble: &TreeEnsemble, notes: &mut Vec<String>) -> Result<Value> {
    let values = ensemble.trees().iter().flat_map(|tree| &tree.values).chain(ensemble.base());
    if let Some(large) = values.clone().find(|value| !(**value as f32).is_finite()) {
        return Err(Error::model(format!(
            "XGBoost keeps values in single precision, and {large} is too large"
        )));
    }
    if values.clone().any(|value| f64::from(*value as f32) != *value) {
        notes.push("XGBoost keeps values in single precision: scores agree to about seven digits".into());
    }
    let width = ensemble.width().to_string();
    let trees = ensemble.trees();
    let model = Value::Object(vec![
        ("gbtree_model_param", texts(&[("num_parallel_tree", "1"), ("num_trees", &trees.len().to_string())])),
        ("iteration_indptr", integers(0..=trees.len() as i64)),
        ("tree_info", integers(trees.iter().map(|_| 0))),
        ("trees", Value::List(trees.iter().enumerate().map(|(id, tree)| nodes(tree, id, &width)).collect())),
    ]);
    let base = zmij::Buffer::new().format_finite(ensemble.base()[0] as f32).to_string();
    let names = ranker.columns.names.as_deref().unwrap_or_default();
    let names: Vec<Value> = names::without(|c| REFUSED.contains(c), names, "XGBoost", notes)
        .into_iter()
        .map(Value::Text)
        .collect();
    let types = names.iter().map(|_| "float".into()).collect();
    let attributes = match (&ranker.columns.names, ranker.numbering) {
        (Some(_), _) | (None, Numbering::Undecided) => texts(&[]),
        (None, _) => texts(&[(FIRST_ID, &ranker.columns.first_id.to_string())]),
    };
    let learner = Value::Object(vec![
        ("attributes", attributes),
        ("feature_names", Value::List(names)),
        ("feature_types", Value::List(types)),
        ("gradient_booster", Value::Object(vec![("model", model), ("name", "gbtree".into())])),
        (
            "learner_model_param",
            texts(&[
                ("base_score", &base),
                ("boost_from_average", "1"),
                ("num_class", "0"),
                ("num_feature", &width),
                ("num_target", "1"),
            ]),
        ),
        ("objective", Value::Object(vec![("lambdarank_param", texts(&[])), ("name", "rank:ndcg".into())])),
    ]);
    Ok(Value::Object(vec![("learner", learner), ("version", integers(VERSION))]))
}

/// Integers as a list of values: XGBoost takes no typed array here.
fn integers(numbers: impl IntoIterator<Item = i64>) -> Value {
    Value::List(numbers.into_iter().map(Value::Integer).collect())
}

fn texts(fields: &[(&'static str, &str)]) -> Value {
    Value::Object(fields.iter().map(|&(key, text)| (key, text.into())).collect())
}

/// The nodes of a tree level by level. XGBoost takes the right child to be the one after the left.
pub(super) struct Levels {
    pub order: Vec<Child>,
    pub left: Vec<i32>,
    pub right: Vec<i32>,
    parents: Vec<i32>,
}

impl Levels {
    pub(super) fn of(tree: &Tree) -> Levels {
        let mut levels = Levels {
            order: vec![tree.root()],
            left: Vec::new(),
            right: Vec::new(),
            parents: vec![NO_PARENT],
        };
        while let Some(&child) = levels.order.get(levels.left.len()) {
            let at = levels.left.len() as i32;
            let Child::Node(node) = child else {
                levels.left.push(-1);
                levels.right.push(-1);
                continue;
            };
            let mut codes = [tree.left[node], tree.right[node]];
            if below_what(tree.thresholds[node]).1 {
                codes.reverse();
            }
            levels.left.push(levels.order.len() as i32);
            levels.right.push(levels.order.len() as i32 + 1);
            levels.order.extend(codes.map(Child::of));
            levels.parents.extend([at, at]);
        }
        levels
    }

    /// What inner nodes and leaves have, in the order of the nodes.
    fn each<T>(&self, inner: impl Fn(usize) -> T, leaf: impl Fn(usize) -> T) -> Vec<T> {
        let pick = |child: &Child| match *child {
            Child::Node(node) => inner(node),
            Child::Leaf(index) => leaf(index),
        };
        self.order.iter().map(pick).collect()
    }
}

fn nodes(tree: &Tree, id: usize, width: &str) -> Value {
    let (levels, below) = (Levels::of(tree), below(tree));
    let conditions: Vec<(f32, bool)> = tree.thresholds.iter().map(|&t| below_what(t)).collect();
    let value = |leaf: usize| tree.values[leaf] as f32;
    let default_left = |node: usize| (tree.missing_left[node] != conditions[node].1).into();
    let count = levels.order.len();
    Value::Object(vec![
        ("base_weights", Value::Floats(levels.each(|node| below[node].mean as f32, value))),
        ("categories", Value::Integers(Vec::new())),
        ("categories_nodes", Value::Integers(Vec::new())),
        ("categories_segments", Value::Longs(Vec::new())),
        ("categories_sizes", Value::Longs(Vec::new())),
        ("default_left", Value::Bytes(levels.each(default_left, |_| 0))),
        ("id", Value::Integer(id as i64)),
        ("loss_changes", Value::Floats(levels.each(|node| tree.gains[node], |_| 0.0))),
        ("split_conditions", Value::Floats(levels.each(|node| conditions[node].0, value))),
        ("split_indices", Value::Integers(levels.each(|node| tree.features[node] as i32, |_| 0))),
        ("split_type", Value::Bytes(vec![0; count])),
        (
            "sum_hessian",
            Value::Floats(levels.each(|node| below[node].cover as f32, |leaf| tree.covers[leaf])),
        ),
        ("left_children", Value::Integers(levels.left)),
        ("right_children", Value::Integers(levels.right)),
        ("parents", Value::Integers(levels.parents)),
        (
            "tree_param",
            texts(&[
                ("num_deleted", "0"),
                ("num_feature", width),
                ("num_nodes", &count.to_string()),
                ("size_leaf_vector", "1"),
            ]),
        ),
    ])
}

/// The condition `c` with `x < c` exactly where `x ≤ t`, and whether the sides are swapped.
///
/// XGBoost takes no infinite features and its JSON has no infinity, so a test that all finite numbers pass or fail
/// asks whether they are below the least of them: none is.
pub(super) fn below_what(t: f32) -> (f32, bool) {
    if t >= f32::MAX {
        (f32::MIN, true)
    } else if t == f32::NEG_INFINITY {
        (f32::MIN, false)
    } else {
        (t.next_up(), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_asks_the_same_question_of_every_finite_number() {
        let tiny = f32::from_bits(1);
        let special = [0.0, -0.0, tiny, -tiny, 0.1, -0.1, 1e-35, 16_777_216.0, f32::MAX, f32::MIN];
        let infinite = [f32::INFINITY, f32::NEG_INFINITY];
        for t in special.into_iter().chain(infinite) {
            for x in special.into_iter().chain([t, t.next_up(), t.next_down()]).filter(|x| x.is_finite()) {
                let (condition, swapped) = below_what(t);
                assert_eq!(x <= t, (x < condition) != swapped, "{x:e} against {t:e}");
            }
        }
    }
}
