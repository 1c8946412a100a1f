//! Reads LightGBM's text models, versions 3 and 4.
//!
//! ```text
//! tree                        the first line
//! feature_names=a b           key=value, up to the first tree
//!
//! Tree=0                      one block a tree: arrays over inner nodes or leaves; child c < 0 is leaf !c
//! split_feature=1 0
//! …
//! end of trees                what follows is not needed to score
//! ```
//!
//! A value goes left where it is at most the threshold. Bits of `decision_type`: 0 a test of categories, 1 missing
//! goes left, 2 and 3 what is missing: nothing (NaN counts as 0), zero (and NaN), or NaN. LightGBM takes every value
//! within 1e-35 of 0 as 0.
//!
//! A test of categories has the number of its set in place of a threshold. Set `k` is the bits of `cat_threshold` from word
//! `cat_boundaries[k]` to `cat_boundaries[k + 1]`. Categories in the set go left, all others and missing ones right. Where
//! the data was a pandas table, the line `pandas_categorical` has the categories of each categorical column by code.

use super::foreign::{Foreign, at_or_below, plain, quoted, with_finite};
use crate::data::{Categories, Columns, MAX_CATEGORY};
use crate::error::{Error, Result};
use crate::models::{Model, Numbering, Ranker, TreeEnsemble};
use crate::trees::Tree;
use std::collections::{BTreeSet, HashMap};
use std::str::FromStr;

/// Values up to this far from 0 are 0 to LightGBM.
pub(super) const ZERO: f32 = 1e-35;

pub(super) const CATEGORICAL: u8 = 1;
pub(super) const DEFAULT_LEFT: u8 = 2;

/// Whether `bytes` begin as such a model does.
pub(super) fn looks_like(bytes: &[u8]) -> bool {
    bytes.starts_with(b"tree\n") || bytes.starts_with(b"tree\r\n")
}

/// Reads a model.
pub(super) fn read(bytes: &[u8]) -> Result<Ranker> {
    let text = std::str::from_utf8(bytes)
        .map_err(|e| Error::model(format!("it looks like LightGBM's text and is not UTF-8: {}", plain(e))))?;
    let (head, trees) = sections(text)?;
    let version = head.text("version")?;
    if !["v3", "v4"].contains(&version) {
        return Err(Error::model(format!(
            "it is of LightGBM's format {}; v3 and v4 are read",
            quoted(version)
        )));
    }
    for key in ["num_class", "num_tree_per_iteration"] {
        let outputs: usize = head.number(key)?;
        if outputs != 1 {
            return Err(Error::model(format!(
                "it is a LightGBM model of several outputs ({key}={outputs}), and a ranking needs one score"
            )));
        }
    }
    let names: Vec<&str> = head.text("feature_names")?.split_ascii_whitespace().collect();
    let width = head.number::<usize>("max_feature_idx")?.saturating_add(1);
    if names.len() != width {
        return Err(Error::model(format!("it names {} features and says it has {width}", names.len())));
    }
    let mut trees = trees.iter().map(|block| block.tree(&names)).collect::<Result<Vec<Tree>>>()?;
    if head.0.contains_key("average_output") {
        let share = 1.0 / trees.len().max(1) as f64;
        trees.iter_mut().for_each(|tree| tree.scale(share));
    }
    let (mut columns, numbering) = columns(&names, &head);
    columns.categories = categories(&head, &trees, text)?;
    let objective = plain(head.0.get("objective").copied().unwrap_or("no objective"));
    Foreign {
        tool: "LightGBM",
        citations: &["ke2017lightgbm"],
        version: version.to_string(),
        notes: transform_note(&objective).into_iter().chain([PRECISION.to_string()]).collect(),
        objective,
        columns,
        numbering,
        rounds: trees.len(),
        model: Model::Trees(TreeEnsemble::sum(width, 0.0, trees)?),
    }
    .into_ranker()
}

/// The features' names, unless they are those that LightGBM makes up. Then the first column may be feature 0 or 1: a
/// column without values may be id 0 of a text file that counts from 1, or a feature without values.
fn columns(names: &[&str], head: &Block<'_>) -> (Columns, Numbering) {
    if names.iter().enumerate().any(|(i, name)| *name != format!("Column_{i}")) {
        let names = Some(names.iter().map(|n| n.to_string()).collect());
        return (Columns { names, ..Columns::default() }, Numbering::Known);
    }
    let infos = head.0.get("feature_infos").copied().unwrap_or_default();
    let first_is_empty = infos.split_ascii_whitespace().next() == Some("none");
    (
        Columns { first_id: u32::from(!first_is_empty), names: None, ..Columns::default() },
        Numbering::Undecided,
    )
}

/// The categorical columns: those whose `feature_infos` is a list of categories, and those that a tree tests so.
fn categories(head: &Block<'_>, trees: &[Tree], text: &str) -> Result<Categories> {
    let infos = head.0.get("feature_infos").copied().unwrap_or_default().split_ascii_whitespace();
    let listed = infos.enumerate().filter(|(_, info)| !info.starts_with('[') && *info != "none");
    let mut columns: BTreeSet<usize> = listed.map(|(column, _)| column).collect();
    for tree in trees {
        let tested = (0..tree.features.len()).filter(|&node| tree.category_set(node).is_some());
        columns.extend(tested.map(|node| tree.features[node] as usize));
    }
    let categories = Categories::default().with_numbers(columns.iter().copied());
    let line = text.lines().rev().find_map(|line| line.strip_prefix(PANDAS));
    let Some(lists) = line.map(texts_of_pandas).transpose()?.flatten() else { return Ok(categories) };
    if lists.len() != columns.len() {
        return Ok(categories);
    }
    columns.into_iter().zip(lists).try_fold(categories, |all, (column, texts)| all.with(column, texts))
}

/// The categories of each pandas column, by code; `None` where there are none, or some are not text or whole numbers.
fn texts_of_pandas(line: &str) -> Result<Option<Vec<Vec<String>>>> {
    let lists: Option<Vec<Vec<serde_json::Value>>> = serde_json::from_str(line.trim())
        .map_err(|e| Error::model(format!("its `{PANDAS}` is not a list of lists: {}", plain(e))))?;
    let text = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Number(number) if number.is_u64() => Some(number.to_string()),
        _ => None,
    };
    let texts = |list: &Vec<serde_json::Value>| -> Option<Vec<String>> {
        // Numbers that are their own codes need no texts.
        let are_codes = list.iter().enumerate().all(|(code, value)| value.as_u64() == Some(code as u64));
        if are_codes { Some(Vec::new()) } else { list.iter().map(text).collect() }
    };
    Ok(lists.and_then(|lists| lists.iter().map(texts).collect()))
}

/// What begins the line with the categories of pandas.
pub(super) const PANDAS: &str = "pandas_categorical:";

/// What is true of every LightGBM model here.
const PRECISION: &str = "LightGBM compares 64-bit values and features here have 32 bits: scores are LightGBM's for 32-bit data, and a \
                         value that differs from a threshold only beyond 32 bits may go the other way";

/// `predict` gives these another form, by a function that rises with the score.
fn transform_note(objective: &str) -> Option<String> {
    let mut words = objective.split_ascii_whitespace();
    let name = words.next().unwrap_or_default();
    let transformed = ["binary", "cross_entropy", "cross_entropy_lambda", "poisson", "gamma", "tweedie"];
    (transformed.contains(&name) || words.any(|word| word == "sqrt")).then(|| {
        "scores are LightGBM's raw scores (raw_score=True), before its objective transforms them".into()
    })
}

/// The lines `key=value` of the head or of one tree.
struct Block<'a>(HashMap<&'a str, &'a str>, Option<usize>);

/// The head, and the trees.
fn sections(text: &str) -> Result<(Block<'_>, Vec<Block<'_>>)> {
    let mut blocks = vec![Block(HashMap::new(), None)];
    let mut ended = false;
    for line in text.lines().skip(1).map(str::trim_end).filter(|line| !line.is_empty()) {
        if line == "end of trees" {
            ended = true;
            break;
        }
        if line.starts_with("Tree=") {
            blocks.push(Block(HashMap::new(), Some(blocks.len() - 1)));
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let place = blocks.len() - 1;
        if blocks[place].0.insert(key, value).is_some() {
            return Err(blocks[place].error(format!("has {} twice", quoted(key))));
        }
    }
    if !ended {
        return Err(Error::model("it is a LightGBM model that is cut short: `end of trees` is not there"));
    }
    let trees = blocks.split_off(1);
    Ok((blocks.remove(0), trees))
}

impl<'a> Block<'a> {
    fn error(&self, problem: impl std::fmt::Display) -> Error {
        Error::model(match self.1 {
            Some(tree) => format!("Tree={tree} {problem}"),
            None => format!("the head of the LightGBM model {problem}"),
        })
    }

    fn text(&self, key: &str) -> Result<&'a str> {
        self.0.get(key).copied().ok_or_else(|| self.error(format!("has no `{key}`")))
    }

    fn number<T: FromStr>(&self, key: &str) -> Result<T> {
        let text = self.text(key)?;
        text.parse().map_err(|_| self.error(format!("has {} as `{key}`", quoted(text))))
    }

    /// The numbers of `key`; there must be `count`.
    fn numbers<T: FromStr>(&self, key: &str, count: usize) -> Result<Vec<T>> {
        let parse = |word: &str| {
            word.parse().map_err(|_| self.error(format!("has {} among its `{key}`", quoted(word))))
        };
        let numbers = self.text(key)?.split_ascii_whitespace().map(parse).collect::<Result<Vec<T>>>()?;
        if numbers.len() != count {
            return Err(self.error(format!("has {} `{key}` where {count} are needed", numbers.len())));
        }
        Ok(numbers)
    }

    /// The same, or zeros where the file does not say.
    fn known_or_zero(&self, key: &str, count: usize) -> Result<Vec<f32>> {
        if !self.0.contains_key(key) || (count == 1 && self.text(key)?.is_empty()) {
            return Ok(vec![0.0; count]);
        }
        let numbers: Vec<f32> = self.numbers(key, count)?;
        Ok(numbers.into_iter().map(|x| if x.is_finite() { x } else { 0.0 }).collect())
    }

    fn tree(&self, names: &[&str]) -> Result<Tree> {
        if self.0.get("is_linear").is_some_and(|flag| *flag != "0") {
            return Err(self.error(
                "has linear functions in its leaves, which cannot be read: train with linear_tree=false",
            ));
        }
        let leaves: usize = self.number("num_leaves")?;
        let nodes = leaves.checked_sub(1).ok_or_else(|| self.error("has no leaves"))?;
        let values: Vec<f64> = self.numbers("leaf_value", leaves)?;
        let covers = self.covers(leaves)?;
        if nodes == 0 {
            return Ok(Tree { values, covers, ..Tree::default() });
        }
        let features: Vec<u32> = self.numbers("split_feature", nodes)?;
        let bounds: Vec<f64> = self.numbers("threshold", nodes)?;
        let kinds: Vec<u8> = self.numbers("decision_type", nodes)?;
        let mut tests = Vec::with_capacity(nodes);
        let sets =
            if kinds.iter().any(|kind| kind & CATEGORICAL != 0) { self.category_sets()? } else { Vec::new() };
        let mut categories = vec![Vec::new(); nodes];
        for (node, ((&feature, &bound), &kind)) in features.iter().zip(&bounds).zip(&kinds).enumerate() {
            let name = || quoted(names.get(feature as usize).copied().unwrap_or("?"));
            if kind & CATEGORICAL != 0 {
                let set = (bound >= 0.0 && bound.fract() == 0.0).then(|| sets.get(bound as usize)).flatten();
                let unknown = || self.error(format!("tests a set of categories that is not there ({bound})"));
                categories[node].clone_from(set.ok_or_else(unknown)?);
                // A set without categories sends all to the right, as a threshold below all categories does.
                tests.push((if categories[node].is_empty() { f32::MIN } else { 0.0 }, false, false));
                continue;
            }
            tests.push(test(bound, kind).map_err(|why| self.error(format!("tests {}: {why}", name())))?);
        }
        let (mut left, mut right) = (self.numbers("left_child", nodes)?, self.numbers("right_child", nodes)?);
        for (node, _) in tests.iter().enumerate().filter(|(_, test)| test.2) {
            std::mem::swap(&mut left[node], &mut right[node]);
        }
        Ok(Tree {
            features,
            thresholds: tests.iter().map(|test| test.0).collect(),
            missing_left: tests.iter().map(|test| test.1).collect(),
            left,
            right,
            gains: self.known_or_zero("split_gain", nodes)?,
            values,
            covers,
            categories: if categories.iter().all(Vec::is_empty) { Vec::new() } else { categories },
        })
    }

    /// The sets of categories, each ascending.
    fn category_sets(&self) -> Result<Vec<Vec<u32>>> {
        let count: usize = self.number("num_cat")?;
        let starts: Vec<usize> = self.numbers("cat_boundaries", count.saturating_add(1))?;
        let words: Vec<u32> = self.numbers("cat_threshold", starts.last().copied().unwrap_or_default())?;
        let set = |range: &[usize]| match words.get(range[0]..range[1]) {
            Some(words) => self.categories_in(words),
            None => Err(self.error("has `cat_boundaries` that do not ascend")),
        };
        starts.windows(2).map(set).collect()
    }

    /// The numbers of the bits that are set.
    fn categories_in(&self, words: &[u32]) -> Result<Vec<u32>> {
        let bits = words.iter().enumerate().flat_map(|(i, word)| {
            (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 32 * i as u64 + bit)
        });
        let codes = bits.map(|code| u32::try_from(code).ok().filter(|code| *code <= MAX_CATEGORY));
        codes.collect::<Option<_>>().ok_or_else(|| {
            self.error(format!(
                "tests a category above {MAX_CATEGORY}, which is the largest that can be read"
            ))
        })
    }

    /// Documents by leaf, or their weight where only that is known.
    fn covers(&self, leaves: usize) -> Result<Vec<f32>> {
        let counts = self.known_or_zero("leaf_count", leaves)?;
        if counts.iter().any(|&count| count > 0.0) {
            Ok(counts)
        } else {
            self.known_or_zero("leaf_weight", leaves)
        }
    }
}

/// The threshold and the way of missing values that ask of every f32 what LightGBM asks with `bound` and `kind`; and
/// whether left and right are swapped.
fn test(bound: f64, kind: u8) -> std::result::Result<(f32, bool, bool), &'static str> {
    let default_left = kind & DEFAULT_LEFT != 0;
    let (zero_left, missing_left) = match (kind >> 2) & 3 {
        0 => (0.0 <= bound, 0.0 <= bound),
        1 => (default_left, default_left),
        2 => (0.0 <= bound, default_left),
        _ => return Err("its decision_type is not known"),
    };
    // All that is 0 to LightGBM goes one way. Where the threshold lies among it, it moves to that side's end.
    let zero = f64::from(ZERO);
    if bound.abs() <= zero {
        return Ok((if zero_left { ZERO } else { (-ZERO).next_down() }, missing_left, false));
    }
    if zero_left != (0.0 <= bound) {
        return Err(
            "zero goes another way than its neighbours (zero_as_missing=true), which cannot be read: train with \
             NaN for what is missing",
        );
    }
    let (threshold, swapped) = with_finite(at_or_below(bound));
    Ok((threshold, missing_left != swapped, swapped))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What LightGBM does with one value, word by word.
    fn goes_left(x: f32, bound: f64, kind: u8) -> bool {
        let mut x = if x.abs() <= ZERO { 0.0 } else { f64::from(x) };
        let missing = (kind >> 2) & 3;
        if x.is_nan() && missing != 2 {
            x = 0.0;
        }
        let is_missing = (missing == 1 && x == 0.0) || (missing == 2 && x.is_nan());
        if is_missing { kind & 2 != 0 } else { x <= bound }
    }

    #[test]
    fn every_kind_of_test_asks_the_same_question_or_is_refused() {
        let zero = f64::from(ZERO);
        let specials = [0.0, -0.0, 1e-40, -1e-40, ZERO, -ZERO, 1.0, -1.0, f32::MAX, f32::MIN, f32::NAN];
        let bounds = [
            0.0,
            -0.0,
            zero,
            -zero,
            1e-37,
            -1e-37,
            1e-30,
            -1e-30,
            0.1,
            -0.1,
            1e300,
            -1e300,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ];
        let (mut asked, mut refused) = (0, Vec::new());
        for bound in bounds.iter().flat_map(|b| [*b, b.next_up(), b.next_down()]) {
            for kind in [0, 2, 4, 6, 8, 10] {
                let Ok((threshold, missing_left, swapped)) = test(bound, kind) else {
                    refused.push((bound, kind));
                    continue;
                };
                let near = bound as f32;
                for x in specials.into_iter().chain([near, near.next_up(), near.next_down()]) {
                    for x in [x, x.next_up(), x.next_down()].into_iter().filter(|x| !x.is_infinite()) {
                        let ours = if x.is_nan() { missing_left } else { x <= threshold } != swapped;
                        assert_eq!(ours, goes_left(x, bound, kind), "{x:e} against {bound:e}, kind {kind}");
                        asked += 1;
                    }
                }
            }
        }
        assert!(asked > 5000, "{asked}");
        // Only where zero is missing, and sent to the other side than the numbers around it.
        assert!(refused.iter().all(|&(bound, kind)| kind == if bound > 0.0 { 4 } else { 6 }), "{refused:?}");
        assert!(refused.contains(&(0.1, 4)) && refused.contains(&(-0.1, 6)));
        assert!(test(0.5, 12).is_err());
    }
}
