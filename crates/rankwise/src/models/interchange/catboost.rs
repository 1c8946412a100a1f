//! Reads CatBoost's models in JSON (`save_model(format="json")`).
//!
//! ```text
//! {"features_info": {"float_features": [{"flat_feature_index": 0, "nan_value_treatment": "AsIs", …}, …]},
//!  "oblivious_trees": [{"splits": [{"border": 0.5, "float_feature_index": 0, …}, …], "leaf_values": […]}, …],
//!  "scale_and_bias": [1, [0]]}
//! ```
//!
//! A value goes right where it is above the border. Split `i` of an oblivious tree is bit `i` of the leaf's number.
//! Trees of other growth policies are nested objects under `trees`. The score is `scale · Σ leaves + bias`.

use super::foreign::{Foreign, at_or_below, plain, quoted, with_finite};
use crate::data::Columns;
use crate::error::{Error, Result};
use crate::models::{Model, Numbering, Ranker, TreeEnsemble};
use crate::trees::{Child, Tree};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::HashMap;

/// Oblivious trees with more tests are refused; CatBoost itself allows 16.
const MAX_DEPTH: usize = 24;

/// Whether `bytes` are a JSON object with the field that CatBoost's models have at the top.
pub(super) fn looks_like(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Top {
        features_info: Option<IgnoredAny>,
    }
    // The usual first key settles it without parsing the file twice. A struct may also be read from an array.
    let Some(rest) = bytes.trim_ascii_start().strip_prefix(b"{") else { return false };
    rest.trim_ascii_start().starts_with(b"\"features_info\"")
        || serde_json::from_slice::<Top>(bytes).is_ok_and(|top| top.features_info.is_some())
}

/// Reads a model.
pub(super) fn read(bytes: &[u8]) -> Result<Ranker> {
    let document: Document = serde_json::from_slice(bytes)
        .map_err(|e| Error::model(format!("it is not as a CatBoost model should be: {}", plain(e))))?;
    document.into_ranker()
}

#[derive(Deserialize)]
struct Document {
    features_info: FeaturesInfo,
    #[serde(default)]
    model_info: Value,
    oblivious_trees: Option<Vec<Oblivious>>,
    trees: Option<Vec<Nested>>,
    scale_and_bias: Option<(f64, Value)>,
}

#[derive(Deserialize)]
struct FeaturesInfo {
    #[serde(default)]
    float_features: Vec<FloatFeature>,
    #[serde(default)]
    categorical_features: Vec<OtherFeature>,
    #[serde(default)]
    text_features: Vec<OtherFeature>,
    #[serde(default)]
    embedding_features: Vec<OtherFeature>,
}

#[derive(Deserialize)]
struct FloatFeature {
    #[serde(default)]
    feature_id: String,
    feature_index: usize,
    flat_feature_index: usize,
    nan_value_treatment: Option<String>,
}

/// A feature that our trees do not test. It takes up a column all the same.
#[derive(Deserialize)]
struct OtherFeature {
    #[serde(default)]
    feature_id: String,
    flat_feature_index: usize,
}

#[derive(Deserialize)]
struct Oblivious {
    leaf_values: Vec<f64>,
    #[serde(default)]
    leaf_weights: Vec<f32>,
    splits: Option<Vec<Split>>,
}

#[derive(Deserialize)]
struct Split {
    split_type: Option<String>,
    border: Option<f64>,
    float_feature_index: Option<usize>,
}

/// A node of a tree that is not oblivious: a leaf has a value, the others a split.
#[derive(Deserialize)]
struct Nested {
    split: Option<Split>,
    left: Option<Box<Nested>>,
    right: Option<Box<Nested>>,
    value: Option<Value>,
    weight: Option<f32>,
}

/// Where a numerical feature is found, and where its missing values go.
struct Place {
    column: u32,
    missing_left: bool,
}

type Places = HashMap<usize, Place>;

impl Document {
    fn into_ranker(self) -> Result<Ranker> {
        let (width, columns, numbering) = self.features_info.columns()?;
        let places = self.features_info.places()?;
        let (scale, base) = self
            .scale_and_bias
            .map_or(Ok((1.0, 0.0)), |(scale, bias)| only_number(&bias).map(|bias| (scale, bias)))?;
        let mut trees = match (self.oblivious_trees, self.trees) {
            (Some(trees), None) => numbered(trees, |tree| tree.into_tree(&places))?,
            (None, Some(trees)) => numbered(trees, |tree| tree.into_tree(&places))?,
            _ => return Err(Error::model("it is a CatBoost model without trees")),
        };
        trees.iter_mut().for_each(|tree| tree.scale(scale));
        let objective = loss_function(&self.model_info);
        Foreign {
            tool: "CatBoost",
            citations: &["prokhorenkova2018catboost"],
            version: String::new(),
            notes: transform_note(&objective).into_iter().collect(),
            objective,
            columns,
            numbering,
            rounds: trees.len(),
            model: Model::Trees(TreeEnsemble::sum(width, base, trees)?),
        }
        .into_ranker()
    }
}

fn numbered<T>(trees: Vec<T>, read: impl Fn(T) -> Result<Tree>) -> Result<Vec<Tree>> {
    let read = |(t, tree)| read(tree).map_err(|e| Error::model(format!("tree {t} {e}")));
    trees.into_iter().enumerate().map(read).collect()
}

fn loss_function(info: &Value) -> String {
    plain(info["params"]["loss_function"]["type"].as_str().unwrap_or("no objective"))
}

/// `predict` gives these another form, by a function that rises with the score.
fn transform_note(objective: &str) -> Option<String> {
    let transformed = ["Logloss", "CrossEntropy", "Poisson", "Tweedie"];
    transformed
        .contains(&objective)
        .then(|| "scores are CatBoost's raw values (prediction_type=\"RawFormulaVal\")".to_string())
}

/// The one number of a bias or a leaf, which may stand in a list.
fn only_number(value: &Value) -> Result<f64> {
    let number = match value {
        Value::Array(list) if list.len() == 1 => list[0].as_f64(),
        other => other.as_f64(),
    };
    number.ok_or_else(|| {
        Error::model("it is a CatBoost model of several outputs, and a ranking needs one score")
    })
}

impl FeaturesInfo {
    /// The number of columns, and what they are called.
    fn columns(&self) -> Result<(usize, Columns, Numbering)> {
        let floats = self.float_features.iter().map(|f| (f.flat_feature_index, &f.feature_id));
        let others = [&self.categorical_features, &self.text_features, &self.embedding_features];
        let others = others.into_iter().flatten().map(|f| (f.flat_feature_index, &f.feature_id));
        let named: HashMap<usize, &String> = floats.chain(others).collect();
        let count = self.float_features.len()
            + self.categorical_features.len()
            + self.text_features.len()
            + self.embedding_features.len();
        // Every column is there once, so no number in the file can ask for more columns than the file describes.
        if named.len() != count || !(0..count).all(|column| named.contains_key(&column)) {
            return Err(Error::model("its features do not have the columns 0, 1, 2 … without gaps"));
        }
        if named.values().all(|name| name.is_empty()) {
            return Ok((count, Columns::default(), Numbering::Undecided));
        }
        let name = |column: usize| match named[&column].as_str() {
            "" => column.to_string(),
            name => name.to_string(),
        };
        let names = Some((0..count).map(name).collect());
        Ok((count, Columns { names, ..Columns::default() }, Numbering::Known))
    }

    /// The numerical features by the number that splits use.
    fn places(&self) -> Result<Places> {
        let place = |feature: &FloatFeature| {
            let missing_left = match feature.nan_value_treatment.as_deref() {
                // A comparison with NaN is false, and what is not above the border goes left.
                None | Some("AsIs" | "AsFalse") => true,
                Some("AsTrue") => false,
                Some(other) => {
                    return Err(Error::model(format!(
                        "it treats missing values {}, which is not known",
                        quoted(other)
                    )));
                }
            };
            let column = feature.flat_feature_index as u32;
            Ok((feature.feature_index, Place { column, missing_left }))
        };
        self.float_features.iter().map(place).collect()
    }
}

impl Split {
    /// Adds the test to `tree` as its next node, whose children are still to be set. Returns whether its sides are
    /// swapped: then values at most the border go right.
    fn add_to(&self, tree: &mut Tree, places: &Places) -> Result<bool> {
        let kind = self.split_type.as_deref().unwrap_or("FloatFeature");
        if kind != "FloatFeature" {
            return Err(Error::model(format!(
                "has a split of the kind {}, and only splits of numerical features can be read: train without \
                 categorical, text and embedding features",
                quoted(kind)
            )));
        }
        let (Some(border), Some(index)) = (self.border, self.float_feature_index) else {
            return Err(Error::model("has a split without a border or a feature"));
        };
        let place = places.get(&index).ok_or_else(|| {
            Error::model(format!("tests the numerical feature {index}, which is not there"))
        })?;
        let (threshold, swapped) = with_finite(at_or_below(border));
        tree.features.push(place.column);
        tree.thresholds.push(threshold);
        tree.missing_left.push(place.missing_left != swapped);
        tree.left.push(0);
        tree.right.push(0);
        tree.gains.push(0.0);
        Ok(swapped)
    }
}

/// Makes `child` a child of `parent`: its right one, or its left one.
fn link(tree: &mut Tree, parent: usize, right: bool, child: Child) {
    let children = if right { &mut tree.right } else { &mut tree.left };
    children[parent] = child.code();
}

impl Oblivious {
    /// The tree with one node per test and side: the root asks for the highest bit, so leaves stay in order.
    fn into_tree(self, places: &Places) -> Result<Tree> {
        let splits = self.splits.unwrap_or_default();
        let leaves = self.leaf_values.len();
        if splits.len() > MAX_DEPTH || leaves != 1 << splits.len() {
            return Err(Error::model(format!(
                "has {leaves} leaf values for {} splits, and a ranking needs one for each of their outcomes",
                splits.len()
            )));
        }
        let covers = match self.leaf_weights.len() == leaves {
            true => self.leaf_weights.iter().map(|&w| known(w)).collect(),
            false => vec![0.0; leaves],
        };
        let mut tree = Tree { values: self.leaf_values, covers, ..Tree::default() };
        for (depth, split) in splits.iter().rev().enumerate() {
            let first_below = (2 << depth) - 1;
            for place in 0..1usize << depth {
                let swapped = split.add_to(&mut tree, places)?;
                for side in 0..2 {
                    let child = match depth + 1 == splits.len() {
                        true => Child::Leaf(2 * place + side),
                        false => Child::Node(first_below + 2 * place + side),
                    };
                    let parent = tree.features.len() - 1;
                    link(&mut tree, parent, (side == 1) != swapped, child);
                }
            }
        }
        Ok(tree)
    }
}

impl Nested {
    /// The nodes, parents before their children. JSON is read to a bounded depth.
    fn into_tree(self, places: &Places) -> Result<Tree> {
        let (mut tree, mut open) = (Tree::default(), vec![(self, None)]);
        while let Some((node, above)) = open.pop() {
            let child = match &node.split {
                Some(split) => {
                    let swapped = split.add_to(&mut tree, places)?;
                    let place = tree.features.len() - 1;
                    let (Some(left), Some(right)) = (node.left, node.right) else {
                        return Err(Error::model("has a split without two branches"));
                    };
                    open.extend([(*right, Some((place, !swapped))), (*left, Some((place, swapped)))]);
                    Child::Node(place)
                }
                None => {
                    node.put_leaf(&mut tree)?;
                    Child::Leaf(tree.values.len() - 1)
                }
            };
            if let Some((parent, right)) = above {
                link(&mut tree, parent, right, child);
            }
        }
        Ok(tree)
    }

    fn put_leaf(&self, tree: &mut Tree) -> Result<()> {
        let value = self.value.as_ref().ok_or_else(|| Error::model("has a leaf without a value"))?;
        tree.values.push(only_number(value)?);
        tree.covers.push(known(self.weight.unwrap_or(0.0)));
        Ok(())
    }
}

fn known(weight: f32) -> f32 {
    if weight.is_finite() { weight } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Row;
    use crate::models::interchange::samples::CATBOOST;

    fn score(ranker: &Ranker, row: &[f32]) -> f64 {
        let Model::Trees(ensemble) = &ranker.model else { panic!("not trees") };
        let mut out = [0.0];
        ensemble.outputs(Row::Dense(row), &mut out);
        out[0]
    }

    /// Bit 0 is `x₀ > 0.5` and bit 1 `x₁ > −1`, where what is missing is above; twice the leaf, and a quarter.
    #[test]
    fn leaves_are_numbered_by_the_tests_that_hold() {
        let ranker = read(CATBOOST[0].as_bytes()).unwrap();
        let nan = f32::NAN;
        for (row, leaf) in
            [([0.5, -1.0], 1.0), ([0.6, -1.0], 2.0), ([nan, -0.9], 3.0), ([0.6, nan], 4.0), ([nan, nan], 3.0)]
        {
            assert_eq!(score(&ranker, &row), 2.0 * leaf + 0.25, "{row:?}");
        }
        assert_eq!(ranker.learner.title, "CatBoost model (YetiRank)");
        let nested = read(CATBOOST[1].as_bytes()).unwrap();
        assert_eq!([0.5, 2.5, 2.6, nan].map(|x| score(&nested, &[x])), [1.0, 3.0, 5.0, 1.0]);
        assert_eq!(nested.columns.names, Some(vec!["a".into()]));
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_its_reason() {
        let [plain, nested] = CATBOOST;
        for (text, reason) in [
            (plain.replacen("FloatFeature", "OnlineCtr", 1), "tree 0 has a split of the kind `OnlineCtr`"),
            (plain.replace("[1,2,3,4]", "[1,2,3]"), "3 leaf values for 2 splits"),
            (plain.replace("[0.25]", "[0.25,1]"), "several outputs"),
            (plain.replace("AsTrue", "AsMaybe"), "missing values `AsMaybe`"),
            (plain.replace("\"flat_feature_index\":1", "\"flat_feature_index\":16777215"), "without gaps"),
            (plain.replacen("\"float_feature_index\":1", "\"float_feature_index\":7", 1), "feature 7"),
            (plain.replace("oblivious_trees", "trees_of_oblivion"), "without trees"),
            (nested.replace("\"value\":5,", ""), "a leaf without a value"),
            (nested.replace("\"value\":5", "\"value\":[5,6]"), "several outputs"),
        ] {
            let told = read(text.as_bytes()).unwrap_err().to_string();
            assert!(told.contains(reason), "{reason}: {told}");
        }
    }
}
