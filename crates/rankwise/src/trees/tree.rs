//! A regression tree as arrays: the form in which trees are grown, stored and scored.

use crate::data::{MAX_CATEGORY, Row, code_of};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A binary tree of tests `x[feature] ≤ threshold`, or of tests whether a category is in a set. Node 0 is the root;
/// children come after their parents.
///
/// A category in the set of a node goes left. All others go right, those that training did not see included.
///
/// This test can express those of other tools: features are single precision, so `x < t` is `x ≤` the next float
/// below `t`, and a double-precision threshold is rounded down to single precision.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// The feature column that each inner node tests.
    pub features: Vec<u32>,
    /// A document goes left if its value is at most this.
    pub thresholds: Vec<f32>,
    /// Whether a missing value (NaN) goes left.
    pub missing_left: Vec<bool>,
    /// Left children, as codes; see [`Child`].
    pub left: Vec<i32>,
    /// Right children, as codes.
    pub right: Vec<i32>,
    /// The reduction of the objective by each split; 0 if unknown.
    pub gains: Vec<f32>,
    /// The value of each leaf. A tree with a single leaf has no inner nodes.
    pub values: Vec<f64>,
    /// The number (or total weight) of training documents in each leaf; 0 if unknown.
    pub covers: Vec<f32>,
    /// For each inner node the categories that go left, ascending, and none where it tests a threshold. Empty if no
    /// node of the tree tests categories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<Vec<u32>>,
}

/// A decoded child: a code `c ≥ 0` is inner node `c`, and `c < 0` is leaf `!c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Child {
    /// An inner node.
    Node(usize),
    /// A leaf.
    Leaf(usize),
}

impl Child {
    /// Decodes a child.
    pub fn of(code: i32) -> Child {
        if code >= 0 { Child::Node(code as usize) } else { Child::Leaf(!code as usize) }
    }

    /// Encodes a child.
    pub fn code(self) -> i32 {
        match self {
            Child::Node(node) => node as i32,
            Child::Leaf(leaf) => !(leaf as i32),
        }
    }
}

impl Tree {
    /// A tree that gives every document the same value.
    pub fn constant(value: f64, cover: f32) -> Tree {
        Tree { values: vec![value], covers: vec![cover], ..Tree::default() }
    }

    /// The root.
    pub fn root(&self) -> Child {
        if self.features.is_empty() { Child::Leaf(0) } else { Child::Node(0) }
    }

    /// The categories that go left at `node`; `None` if it tests a threshold.
    #[inline]
    pub fn category_set(&self, node: usize) -> Option<&[u32]> {
        self.categories.get(node).map(Vec::as_slice).filter(|set| !set.is_empty())
    }

    /// Whether some node tests categories.
    pub fn has_categories(&self) -> bool {
        !self.categories.is_empty()
    }

    /// Whether a document with the value `x` of its feature goes left at `node`.
    #[inline]
    pub fn goes_left(&self, node: usize, x: f32) -> bool {
        if x.is_nan() {
            return self.missing_left[node];
        }
        match self.category_set(node) {
            None => x <= self.thresholds[node],
            Some(set) => code_of(x).is_some_and(|code| set.binary_search(&code).is_ok()),
        }
    }

    /// The child of `node` for a document with the value `x` of its feature.
    pub fn next(&self, node: usize, x: f32) -> Child {
        Child::of(if self.goes_left(node, x) { self.left[node] } else { self.right[node] })
    }

    /// The leaf of a document. Columns beyond the document's are 0, as in files that omit zeros.
    pub fn leaf(&self, row: Row<'_>) -> usize {
        match row {
            Row::Dense(values) => self.leaf_by(|feature| values.get(feature).copied().unwrap_or(0.0)),
            Row::Sparse(..) => self.leaf_by(|feature| row.get(feature)),
        }
    }

    /// The leaf of a document whose values are looked up by column.
    pub fn leaf_by(&self, value: impl Fn(usize) -> f32) -> usize {
        let mut at = self.root();
        loop {
            match at {
                Child::Leaf(leaf) => return leaf,
                Child::Node(node) => at = self.next(node, value(self.features[node] as usize)),
            }
        }
    }

    /// Multiplies the values of all leaves.
    pub fn scale(&mut self, factor: f64) {
        self.values.iter_mut().for_each(|value| *value *= factor);
    }

    /// Rejects arrays that do not form a tree over `width` features.
    pub fn check(&self, width: usize) -> Result<()> {
        let (nodes, leaves) = (self.features.len(), self.values.len());
        let lengths = [
            self.thresholds.len(),
            self.missing_left.len(),
            self.left.len(),
            self.right.len(),
            self.gains.len(),
        ];
        if lengths.iter().any(|&length| length != nodes) || leaves != nodes + 1 || self.covers.len() != leaves
        {
            return Err(Error::model("the arrays of a tree have inconsistent lengths"));
        }
        if self.features.iter().any(|&f| f as usize >= width) {
            return Err(Error::model(format!(
                "a tree tests a feature beyond the {width} features of the model"
            )));
        }
        if self.thresholds.iter().any(|t| t.is_nan()) || self.values.iter().any(|v| !v.is_finite()) {
            return Err(Error::model("a tree has a threshold or a leaf value that is not finite"));
        }
        self.check_categories()?;
        self.check_links()
    }

    fn check_categories(&self) -> Result<()> {
        if self.categories.is_empty() {
            return Ok(());
        }
        if self.categories.len() != self.features.len() || self.categories.iter().all(Vec::is_empty) {
            return Err(Error::model("a tree does not have one set of categories for each of its nodes"));
        }
        let is_set = |set: &Vec<u32>| {
            set.is_sorted_by(|a, b| a < b) && set.last().is_none_or(|&last| last <= MAX_CATEGORY)
        };
        match self.categories.iter().all(is_set) {
            true => Ok(()),
            false => Err(Error::model(format!(
                "the categories of a tree are not ascending whole numbers up to {MAX_CATEGORY}"
            ))),
        }
    }

    /// Every leaf, and every node except for the root, must have exactly one parent that comes before it. Then
    /// scoring ends and can reach them all.
    fn check_links(&self) -> Result<()> {
        let mut node_seen = vec![false; self.features.len()];
        let mut leaf_seen = vec![false; self.values.len()];
        if let Child::Leaf(_) = self.root() {
            return Ok(());
        }
        for parent in 0..self.features.len() {
            for code in [self.left[parent], self.right[parent]] {
                let fresh = match Child::of(code) {
                    Child::Node(node) if node > parent && node < node_seen.len() => {
                        !std::mem::replace(&mut node_seen[node], true)
                    }
                    Child::Leaf(leaf) if leaf < leaf_seen.len() => {
                        !std::mem::replace(&mut leaf_seen[leaf], true)
                    }
                    _ => false,
                };
                if !fresh {
                    return Err(Error::model(
                        "the nodes of a tree are not linked as a tree (a child is missing, repeated or out of range)",
                    ));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Feature 0 at 1.5; on the right, feature 1 at −2. Missing values go right, then left.
    pub(crate) fn sample() -> Tree {
        Tree {
            features: vec![0, 1],
            thresholds: vec![1.5, -2.0],
            missing_left: vec![false, true],
            left: vec![!0, !1],
            right: vec![1, !2],
            gains: vec![3.0, 1.0],
            values: vec![10.0, 20.0, 30.0],
            covers: vec![5.0, 3.0, 2.0],
            ..Tree::default()
        }
    }

    /// The same with categories 2 and 7 of feature 0 on the left, in place of what is at most 1.5.
    pub(crate) fn sample_of_categories() -> Tree {
        let mut tree = sample();
        tree.thresholds[0] = 0.0;
        tree.categories = vec![vec![2, 7], vec![]];
        tree
    }

    #[test]
    fn categories_by_hand() {
        let nan = f32::NAN;
        let rows = [
            ([2.0, 0.0], 0),
            ([7.0, -9.0], 0),
            ([0.0, -9.0], 1),
            // Unseen, and values that are no categories.
            ([3.0, 0.0], 2),
            ([-2.0, 0.0], 2),
            ([2.5, 0.0], 2),
            ([1e30, 0.0], 2),
            ([nan, 0.0], 2),
        ];
        let mut tree = sample_of_categories();
        for (row, leaf) in rows {
            assert_eq!(tree.leaf(Row::Dense(&row)), leaf, "{row:?}");
        }
        tree.missing_left[0] = true;
        assert_eq!(tree.leaf(Row::Dense(&[nan, 0.0])), 0);
        assert!(tree.check(2).is_ok());
        let text = serde_json::to_string(&tree).unwrap();
        assert!(text.ends_with("\"categories\":[[2,7],[]]}"), "{text}");
        assert_eq!(serde_json::from_str::<Tree>(&text).unwrap(), tree);
        assert!(!serde_json::to_string(&sample()).unwrap().contains("categories"));
    }

    #[test]
    fn leaves_by_hand() {
        let nan = f32::NAN;
        let rows = [
            ([1.5, 0.0], 0),
            ([1.6, -2.0], 1),
            ([1.6, -1.9], 2),
            ([nan, nan], 1),
            ([nan, 0.0], 2),
            ([-0.0, nan], 0),
        ];
        for (row, leaf) in rows {
            assert_eq!(sample().leaf(Row::Dense(&row)), leaf, "{row:?}");
        }
        assert_eq!(sample().leaf(Row::Sparse(&[0], &[9.0])), 2);
        assert_eq!(Tree::constant(4.0, 1.0).leaf(Row::Dense(&[])), 0);
        assert!(sample().check(2).is_ok() && Tree::constant(4.0, 1.0).check(0).is_ok());
    }

    #[test]
    fn invalid_trees_are_rejected() {
        let broken = |change: fn(&mut Tree)| {
            let mut tree = sample();
            change(&mut tree);
            tree.check(2).unwrap_err().to_string()
        };
        assert!(broken(|t| t.right[1] = 0).contains("linked"));
        assert!(broken(|t| t.right[1] = 7).contains("linked"));
        assert!(broken(|t| t.right[1] = !1).contains("linked"));
        assert!(broken(|t| t.right[1] = i32::MIN).contains("linked"));
        assert!(broken(|t| t.features[1] = 2).contains("beyond the 2"));
        assert!(broken(|t| t.thresholds[0] = f32::NAN).contains("not finite"));
        assert!(broken(|t| t.values[0] = f64::INFINITY).contains("not finite"));
        assert!(broken(|t| t.gains.truncate(1)).contains("lengths"));
        assert!(broken(|t| t.values.push(1.0)).contains("lengths"));
        assert!(broken(|t| t.categories = vec![vec![1]]).contains("one set of categories for each"));
        assert!(broken(|t| t.categories = vec![vec![], vec![]]).contains("one set of categories for each"));
        assert!(broken(|t| t.categories = vec![vec![2, 1], vec![]]).contains("ascending"));
        assert!(broken(|t| t.categories = vec![vec![1, 1], vec![]]).contains("ascending"));
        assert!(broken(|t| t.categories = vec![vec![1 << 24], vec![]]).contains("up to 16777215"));
    }
}
