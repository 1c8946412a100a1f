//! Reads XGBoost's models in JSON and UBJSON.
//!
//! Trees are parallel arrays over nodes; a node without a left child is a leaf whose value is in `split_conditions`.
//! A value goes left where it is below the condition, NaN by `default_left`. All is in f32; the base is kept as the
//! objective's own answer (a probability for logistic ones), and the trees add to what it stands for.

use super::foreign::{Foreign, plain, quoted, with_finite};
use super::loose::{Flag, Loose};
use super::ubjson;
use crate::data::Columns;
use crate::error::{Error, Result};
use crate::models::{Model, Numbering, Ranker, TreeEnsemble};
use crate::trees::{Child, Tree};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::HashMap;

/// Whether `bytes` are a JSON object with the one field that XGBoost's models have at the top.
pub(super) fn looks_like_json(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Top {
        learner: Option<IgnoredAny>,
    }
    // A struct may also be read from an array, which no model is.
    // The usual first key settles it without parsing the file twice.
    let Some(rest) = bytes.trim_ascii_start().strip_prefix(b"{") else { return false };
    rest.trim_ascii_start().starts_with(b"\"learner\"")
        || serde_json::from_slice::<Top>(bytes).is_ok_and(|top| top.learner.is_some())
}

/// Reads a model in JSON.
pub(super) fn read_json(bytes: &[u8]) -> Result<Ranker> {
    let document: Document = serde_json::from_slice(bytes)
        .map_err(|e| Error::model(format!("it is not as an XGBoost model should be: {}", plain(e))))?;
    document.into_ranker()
}

/// Reads a model in UBJSON.
pub(super) fn read_ubjson(bytes: &[u8]) -> Result<Ranker> {
    ubjson::from_bytes::<Document>(bytes)?.into_ranker()
}

#[derive(Deserialize)]
struct Document {
    learner: Learner,
    #[serde(default)]
    version: Vec<u64>,
}

#[derive(Deserialize)]
struct Learner {
    #[serde(default)]
    attributes: HashMap<String, Loose>,
    #[serde(default)]
    feature_names: Vec<String>,
    gradient_booster: Booster,
    learner_model_param: Parameters,
    objective: Objective,
}

#[derive(Deserialize)]
struct Booster {
    name: String,
    model: Option<Trees>,
    /// The trees of DART, whose weights stand beside them.
    gbtree: Option<Inner>,
    #[serde(default)]
    weight_drop: Vec<f32>,
}

#[derive(Deserialize)]
struct Inner {
    model: Trees,
}

#[derive(Deserialize)]
struct Trees {
    /// Other boosters have none.
    trees: Option<Vec<Nodes>>,
    #[serde(default)]
    tree_info: Vec<i64>,
}

#[derive(Deserialize)]
struct Parameters {
    base_score: Loose,
    num_class: Option<Loose>,
    num_feature: Loose,
    num_target: Option<Loose>,
}

#[derive(Deserialize)]
struct Objective {
    name: String,
}

/// One tree.
#[derive(Deserialize)]
struct Nodes {
    left_children: Vec<i32>,
    right_children: Vec<i32>,
    split_indices: Vec<i64>,
    split_conditions: Vec<f32>,
    default_left: Vec<Flag>,
    #[serde(default)]
    split_type: Vec<u8>,
    #[serde(default)]
    loss_changes: Vec<f32>,
    #[serde(default)]
    sum_hessian: Vec<f32>,
    tree_param: TreeParameters,
}

#[derive(Deserialize)]
struct TreeParameters {
    size_leaf_vector: Option<Loose>,
}

impl Document {
    fn into_ranker(self) -> Result<Ranker> {
        let Learner { attributes, feature_names, gradient_booster, learner_model_param, objective } =
            self.learner;
        learner_model_param.check_outputs()?;
        let width: usize = learner_model_param.num_feature.number("num_feature")?;
        if !feature_names.is_empty() && feature_names.len() != width {
            return Err(Error::model(format!(
                "it names {} features and says it has {width}",
                feature_names.len()
            )));
        }
        let mut notes: Vec<String> = transform_note(&objective.name).into_iter().collect();
        if let Some(best) = attributes.get("best_iteration") {
            notes.push(format!("its best_iteration is {}, and all its trees are used", quoted(&best.0)));
        }
        let trees = gradient_booster.trees(&feature_names)?;
        let (columns, numbering) = columns(feature_names, &attributes, &trees);
        let base = margin(learner_model_param.base()?, &objective.name)?;
        let version: Vec<String> = self.version.iter().take(3).map(u64::to_string).collect();
        Foreign {
            tool: "XGBoost",
            citations: &["chen2016xgboost"],
            version: version.join("."),
            objective: plain(objective.name),
            columns,
            numbering,
            rounds: trees.len(),
            model: Model::Trees(TreeEnsemble::sum(width, base, trees)?),
            notes,
        }
        .into_ranker()
    }
}

impl Parameters {
    fn check_outputs(&self) -> Result<()> {
        for (key, value) in [("num_class", &self.num_class), ("num_target", &self.num_target)] {
            let outputs: u64 = value.as_ref().map_or(Ok(1), |v| v.number(key))?;
            if outputs > 1 {
                return Err(Error::model(format!(
                    "it is an XGBoost model of several outputs ({key}={outputs}), and a ranking needs one score"
                )));
            }
        }
        Ok(())
    }

    /// `5E-1`, or since XGBoost 3.1 `[5E-1]`.
    fn base(&self) -> Result<f64> {
        let text = self.base_score.0.trim();
        let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
        let base: f32 = Loose(inner.trim().into()).number("base_score")?;
        Ok(base.into())
    }
}

/// What the trees add to, when `base` is in the space of the objective's answers.
fn margin(base: f64, objective: &str) -> Result<f64> {
    let margin = match objective {
        "binary:logistic" | "reg:logistic" => -(1.0 / base - 1.0).ln(),
        "count:poisson" | "reg:gamma" | "reg:tweedie" | "survival:cox" | "survival:aft" => base.ln(),
        _ => base,
    };
    if margin.is_finite() {
        return Ok(margin);
    }
    Err(Error::model(format!("its base_score is {base}, which {} cannot have", quoted(objective))))
}

/// `predict` gives these another form, by a function that rises with the score.
fn transform_note(objective: &str) -> Option<String> {
    let plain = ["rank:", "reg:squared", "reg:linear", "reg:absolute", "reg:pseudohuber", "reg:quantile"];
    let as_is = plain.iter().any(|start| objective.starts_with(start)) || objective == "binary:logitraw";
    (!as_is).then(|| {
        "scores are XGBoost's margins (output_margin=True), before its objective transforms them".to_string()
    })
}

/// The attribute in which our own files say what the first feature without a name is called.
pub(super) const FIRST_ID: &str = "rankwise_first_id";

/// The features' names, unless they only count. `f0`, `f1` … are columns of a matrix, as no names are: the first may be
/// feature 0 or 1. A first column that no test asks about may be id 0 of a text file that counts from 1, or not.
fn columns(names: Vec<String>, attributes: &HashMap<String, Loose>, trees: &[Tree]) -> (Columns, Numbering) {
    let counts_from =
        |first: usize| names.iter().enumerate().all(|(i, name)| *name == format!("f{}", i + first));
    let numbered = |first_id, numbering| (Columns { first_id, names: None, ..Columns::default() }, numbering);
    if !names.is_empty() && counts_from(1) {
        return numbered(1, Numbering::Known);
    }
    if !counts_from(0) {
        return (Columns { names: Some(names), ..Columns::default() }, Numbering::Known);
    }
    let told = attributes.get(FIRST_ID).and_then(|told| told.0.parse::<u32>().ok()).filter(|&id| id <= 1);
    if let Some(first_id) = told {
        return numbered(first_id, Numbering::Known);
    }
    let mut tested = trees.iter().flat_map(|tree| &tree.features).peekable();
    let first_is_idle = tested.peek().is_some() && tested.all(|&feature| feature != 0);
    numbered(u32::from(!first_is_idle), Numbering::Undecided)
}

impl Booster {
    fn trees(self, names: &[String]) -> Result<Vec<Tree>> {
        let model = self.model.or(self.gbtree.map(|inner| inner.model));
        let Some((trees, outputs)) = model.and_then(|model| Some((model.trees?, model.tree_info))) else {
            return Err(Error::model(format!(
                "it is an XGBoost model of the booster {}, without the trees that gbtree and dart have",
                quoted(&self.name)
            )));
        };
        if outputs.iter().any(|&output| output != 0) {
            return Err(Error::model("its trees add to several outputs, and a ranking needs one score"));
        }
        let weighted = self.name == "dart";
        if weighted && self.weight_drop.len() != trees.len() {
            return Err(Error::model("it does not have as many weights (weight_drop) as trees"));
        }
        let read = |(t, nodes): (usize, Nodes)| {
            let mut tree = nodes.into_tree(names).map_err(|e| Error::model(format!("tree {t} {e}")))?;
            if weighted {
                tree.scale(self.weight_drop[t].into());
            }
            Ok(tree)
        };
        trees.into_iter().enumerate().map(read).collect()
    }
}

impl Nodes {
    fn into_tree(self, names: &[String]) -> Result<Tree> {
        let count = self.left_children.len();
        let lengths = [
            self.right_children.len(),
            self.split_indices.len(),
            self.split_conditions.len(),
            self.default_left.len(),
        ];
        let known = [self.split_type.len(), self.loss_changes.len(), self.sum_hessian.len()];
        if count == 0
            || lengths.iter().any(|&length| length != count)
            || known.iter().any(|&length| length != 0 && length != count)
        {
            return Err(Error::model("has arrays of different lengths"));
        }
        if let Some(size) = &self.tree_param.size_leaf_vector
            && size.number::<u64>("size_leaf_vector")? > 1
        {
            return Err(Error::model("has leaves of several values, and a ranking needs one score"));
        }
        let order = self.order()?;
        let (inner, leaves): (Vec<usize>, Vec<usize>) =
            order.iter().partition(|&&n| self.left_children[n] >= 0);
        let mut codes = HashMap::new();
        codes.extend(inner.iter().enumerate().map(|(i, &node)| (node, Child::Node(i).code())));
        codes.extend(leaves.iter().enumerate().map(|(i, &node)| (node, Child::Leaf(i).code())));
        let known_at =
            |values: &[f32], n: usize| values.get(n).copied().filter(|x| x.is_finite()).unwrap_or(0.0);
        let mut tree = Tree {
            values: leaves.iter().map(|&n| self.split_conditions[n].into()).collect(),
            covers: leaves.iter().map(|&n| known_at(&self.sum_hessian, n)).collect(),
            ..Tree::default()
        };
        for node in inner {
            let feature = self.feature(node, names)?;
            let (threshold, swapped) = at_most(self.split_conditions[node])?;
            let children =
                [self.left_children[node], self.right_children[node]].map(|c| codes[&(c as usize)]);
            tree.features.push(feature);
            tree.thresholds.push(threshold);
            tree.missing_left.push(self.default_left[node].0 != swapped);
            tree.left.push(children[usize::from(swapped)]);
            tree.right.push(children[usize::from(!swapped)]);
            tree.gains.push(known_at(&self.loss_changes, node));
        }
        Ok(tree)
    }

    /// The nodes that can be reached, parents before children. Nodes that were pruned away may lie between them.
    fn order(&self) -> Result<Vec<usize>> {
        let count = self.left_children.len();
        let (mut seen, mut found) = (vec![false; count], vec![0]);
        seen[0] = true;
        let mut in_order = true;
        let mut next = 0;
        while let Some(&node) = found.get(next) {
            next += 1;
            if self.left_children[node] < 0 {
                continue;
            }
            for child in [self.left_children[node], self.right_children[node]] {
                let child = usize::try_from(child).ok().filter(|&c| c < count && !seen[c]);
                let child = child.ok_or_else(|| Error::model("has nodes that are not linked as a tree"))?;
                seen[child] = true;
                in_order &= child > node;
                found.push(child);
            }
        }
        if in_order {
            found.sort_unstable();
        }
        Ok(found)
    }

    fn feature(&self, node: usize, names: &[String]) -> Result<u32> {
        let index = self.split_indices[node];
        let name = usize::try_from(index).ok().and_then(|i| names.get(i));
        let name = || name.map_or(format!("feature f{index}"), |name| quoted(name));
        if self.split_type.get(node).is_some_and(|&kind| kind != 0) {
            return Err(Error::model(format!(
                "splits {} by categories, which cannot be read: train without categorical features",
                name()
            )));
        }
        u32::try_from(index).map_err(|_| Error::model(format!("tests {}, which cannot be", name())))
    }
}

/// The threshold `u` with `x ≤ u` exactly where `x < t`, and whether the sides are swapped.
fn at_most(t: f32) -> Result<(f32, bool)> {
    if t.is_nan() {
        return Err(Error::model("has a split condition that is not a number"));
    }
    Ok(with_finite(t.next_down()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_asks_what_below_asked() {
        let tiny = f32::from_bits(1);
        let special =
            [0.0, -0.0, tiny, -tiny, 0.1, -0.1, 1e-35, f32::MAX, f32::MIN, f32::INFINITY, f32::NEG_INFINITY];
        for t in special {
            let (threshold, swapped) = at_most(t).unwrap();
            for x in special.into_iter().chain([t.next_up(), t.next_down()]).filter(|x| x.is_finite()) {
                assert_eq!(x < t, (x <= threshold) != swapped, "{x:e} against {t:e}");
            }
        }
        assert!(at_most(f32::NAN).is_err());
    }

    /// −ln(1/0.2 − 1) = ln ¼, as the log odds of 1 to 4 are.
    #[test]
    fn the_base_is_moved_to_where_the_trees_add() {
        assert!((margin(0.2, "binary:logistic").unwrap() - 0.25f64.ln()).abs() < 1e-15);
        assert!((margin(0.2, "count:poisson").unwrap() - 0.2f64.ln()).abs() < 1e-15);
        assert_eq!(margin(0.2, "rank:ndcg").unwrap(), 0.2);
        assert!(margin(1.0, "reg:logistic").unwrap_err().to_string().contains("reg:logistic"));
        assert!(margin(0.0, "reg:gamma").is_err());
    }

    /// Node 0 has children 3 and 1, and 1 has 2 and 4: the numbers do not come after their parents' everywhere.
    #[test]
    fn nodes_in_any_order_are_read() {
        let nodes = |left: &[i32], right: &[i32]| Nodes {
            left_children: left.to_vec(),
            right_children: right.to_vec(),
            split_indices: vec![7; left.len()],
            split_conditions: (0..left.len()).map(|i| i as f32).collect(),
            default_left: left.iter().map(|_| Flag(true)).collect(),
            split_type: Vec::new(),
            loss_changes: Vec::new(),
            sum_hessian: Vec::new(),
            tree_param: TreeParameters { size_leaf_vector: None },
        };
        let tree = nodes(&[3, 2, -1, -1, -1], &[1, 4, -1, -1, -1]).into_tree(&[]).unwrap();
        assert!(tree.check(8).is_ok());
        assert_eq!([-1.0, 0.0, 1.0].map(|x| tree.values[tree.leaf_by(|_| x)]), [3.0, 2.0, 4.0]);
        let tree = nodes(&[3, -1, -1, 2], &[1, -1, -1, 4]);
        assert!(tree.into_tree(&[]).unwrap_err().to_string().contains("not linked"));
        let tree = nodes(&[4, -1, -1, 2, 3], &[1, -1, -1, 5, 6]);
        assert!(tree.into_tree(&[]).is_err());
        let tree = nodes(&[4, -1, -1, 2, 1, -1], &[3, -1, -1, 5, 2, -1]);
        assert!(tree.into_tree(&[]).is_err());
        let tree = nodes(&[4, -1, -1, 1, 3], &[2, -1, -1, 5, 6]);
        assert!(tree.into_tree(&[]).is_err());
        let late = nodes(&[4, -1, -1, -1, 1], &[2, -1, -1, -1, 3]).into_tree(&[]).unwrap();
        // The root, then node 4 with leaves 1 and 3.
        assert!(late.check(8).is_ok());
        assert_eq!([-1.0, 0.0, 2.0].map(|x| late.values[late.leaf_by(|_| x)]), [1.0, 2.0, 2.0]);
    }
}
