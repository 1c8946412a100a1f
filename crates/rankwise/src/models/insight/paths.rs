//! The ways to the leaves of trees, and what the features tested there contribute.

use super::outline::{cover, depth, node_covers};
use super::quadrature::{LANES, Rule};
use super::value;
use crate::data::Row;
use crate::error::{Error, Result};
use crate::models::TreeEnsemble;
use crate::trees::{Child, Tree};

/// Deeper trees are not explained: the work for a leaf grows with the square of its depth.
const MAX_DEPTH: usize = 1000;

/// The trees of an ensemble, with what is needed to climb them from their leaves.
pub(in crate::models) struct Forest<'a> {
    trees: Vec<Climb<'a>>,
    /// The feature columns that the trees test.
    columns: Vec<usize>,
    /// For each feature column, its place among those.
    slots: Vec<usize>,
    /// `rules[g]` has `g` groups of nodes.
    rules: Vec<Rule>,
}

/// A tree that can be climbed from its leaves.
struct Climb<'a> {
    tree: &'a Tree,
    above_node: Vec<Option<PathStep>>,
    above_leaf: Vec<Option<PathStep>>,
}

/// The way from a node to one of its children.
#[derive(Clone, Copy)]
struct PathStep {
    node: usize,
    left: bool,
    /// The fraction of the node's training documents that went this way.
    share: f64,
}

/// What all tests of one feature on the way to a leaf ask of a document.
struct Condition<'a> {
    slot: usize,
    above: f32,
    at_most: f32,
    missing: bool,
    share: f64,
    /// Tests of categories: the nodes, and whether the way goes left there.
    sets: Vec<(&'a Tree, usize, bool)>,
}

impl Condition<'_> {
    fn holds(&self, x: f32) -> bool {
        if x.is_nan() {
            return self.missing;
        }
        let in_sets = || self.sets.iter().all(|&(tree, node, left)| tree.goes_left(node, x) == left);
        x > self.above && x <= self.at_most && in_sets()
    }
}

impl<'a> Forest<'a> {
    pub(in crate::models) fn new(ensemble: &'a TreeEnsemble, used: &[bool]) -> Result<Self> {
        let columns: Vec<usize> = (0..used.len()).filter(|&column| used[column]).collect();
        let mut slots = vec![usize::MAX; used.len()];
        columns.iter().enumerate().for_each(|(slot, &column)| slots[column] = slot);
        let climbs: Result<Vec<Climb<'a>>> =
            ensemble.trees().iter().enumerate().map(|(t, tree)| Climb::new(tree, t + 1)).collect();
        let deepest = ensemble.trees().iter().map(depth).max().unwrap_or(0);
        let rules = (0..=groups(deepest.min(columns.len()))).map(Rule::new).collect();
        Ok(Forest { trees: climbs?, columns, slots, rules })
    }

    /// The sum of the trees' values, averaged over training documents.
    pub(in crate::models) fn expectation(&self) -> f64 {
        self.trees.iter().map(Climb::expectation).sum()
    }

    /// Sets what every feature column contributes to the score of each of `rows`.
    pub(in crate::models) fn explain(&self, rows: &[Row<'_>], out: &mut [Vec<f64>]) {
        let count = rows.len();
        let mut values = Vec::with_capacity(self.columns.len() * count);
        for &column in &self.columns {
            values.extend(rows.iter().map(|&row| value(row, column)));
        }
        let mut sums = vec![0.0; values.len()];
        let (mut conditions, mut leaf_work) = (Vec::new(), LeafWork::default());
        for climb in &self.trees {
            for (leaf, &leaf_value) in climb.tree.values.iter().enumerate() {
                climb.conditions(leaf, &self.slots, &mut conditions);
                let rule = &self.rules[groups(conditions.len())];
                leaf_work.prepare(leaf_value, &conditions, rule);
                for i in 0..count {
                    leaf_work.add(&conditions, |slot| slot * count + i, &values, &mut sums);
                }
            }
        }
        for (&column, sums) in self.columns.iter().zip(sums.chunks_exact(count)) {
            out.iter_mut().zip(sums).for_each(|(out, &sum)| out[column] = sum);
        }
    }
}

/// How many groups of quadrature nodes suffice for this number of features: the integrand has one factor less.
fn groups(features: usize) -> usize {
    features.div_ceil(2 * LANES)
}

impl<'a> Climb<'a> {
    /// `number` is the tree's for people, from 1.
    fn new(tree: &'a Tree, number: usize) -> Result<Self> {
        if tree.covers.iter().any(|c| !(c.is_finite() && *c >= 0.0)) {
            return Err(Error::model(format!("the covers of tree {number} are not all numbers from 0")));
        }
        let covers = node_covers(tree);
        if covers.first() == Some(&0.0) {
            return Err(Error::model(format!(
                "tree {number} does not say how many documents reached its leaves, and without that its scores \
                 cannot be explained"
            )));
        }
        if depth(tree) > MAX_DEPTH {
            return Err(Error::model(format!(
                "tree {number} has more than {MAX_DEPTH} tests on the way to a leaf, too many to explain"
            )));
        }
        let mut climb =
            Climb { tree, above_node: vec![None; covers.len()], above_leaf: vec![None; tree.values.len()] };
        for node in 0..covers.len() {
            for (left, code) in [(true, tree.left[node]), (false, tree.right[node])] {
                // Where no document went, either way is as likely.
                let share = match covers[node] {
                    0.0 => 0.5,
                    all => cover(tree, &covers, code) / all,
                };
                climb.link(code, PathStep { node, left, share });
            }
        }
        Ok(climb)
    }

    fn link(&mut self, code: i32, step: PathStep) {
        match Child::of(code) {
            Child::Node(node) => self.above_node[node] = Some(step),
            Child::Leaf(leaf) => self.above_leaf[leaf] = Some(step),
        }
    }

    /// The steps from a leaf up to the root.
    fn steps(&self, leaf: usize) -> impl Iterator<Item = PathStep> {
        std::iter::successors(self.above_leaf[leaf], |step| self.above_node[step.node])
    }

    fn expectation(&self) -> f64 {
        let reached = |leaf| self.steps(leaf).map(|step| step.share).product::<f64>();
        self.tree.values.iter().enumerate().map(|(leaf, value)| value * reached(leaf)).sum()
    }

    /// What the way to `leaf` asks, one condition for each feature.
    fn conditions(&self, leaf: usize, slots: &[usize], conditions: &mut Vec<Condition<'a>>) {
        conditions.clear();
        for PathStep { node, left, share } in self.steps(leaf) {
            let (slot, threshold) = (slots[self.tree.features[node] as usize], self.tree.thresholds[node]);
            let place = conditions.iter().position(|c| c.slot == slot).unwrap_or_else(|| {
                let (above, at_most) = (f32::NEG_INFINITY, f32::INFINITY);
                let sets = Vec::new();
                conditions.push(Condition { slot, above, at_most, missing: true, share: 1.0, sets });
                conditions.len() - 1
            });
            let condition = &mut conditions[place];
            if self.tree.category_set(node).is_some() {
                condition.sets.push((self.tree, node, left));
            } else if left {
                condition.at_most = condition.at_most.min(threshold);
            } else {
                condition.above = condition.above.max(threshold);
            }
            condition.missing &= self.tree.missing_left[node] == left;
            condition.share *= share;
        }
    }
}

/// Tables for one leaf. At every quadrature node t, condition j that fails (o = 0) or holds (o = 1) has the factor
/// `z_j·(1−t) + o·t`, and `(o − z_j)` divided by that factor gives its contribution from the product of all.
#[derive(Default)]
struct LeafWork {
    groups: usize,
    /// The leaf's value times the weights of the rule.
    start: Vec<[f64; LANES]>,
    /// At `(2·j + o)·groups`.
    factors: Vec<[f64; LANES]>,
    /// Likewise.
    ratios: Vec<[f64; LANES]>,
    /// The products of one document.
    products: Vec<[f64; LANES]>,
    /// Where the factors of one document's conditions stand.
    chosen: Vec<usize>,
}

impl LeafWork {
    fn prepare(&mut self, value: f64, conditions: &[Condition<'_>], rule: &Rule) {
        self.groups = rule.nodes.len();
        self.start.clear();
        self.start.extend(rule.weights.iter().map(|weights| weights.map(|w| w * value)));
        self.factors.clear();
        self.ratios.clear();
        for z in conditions.iter().map(|c| c.share) {
            self.factors.extend(rule.nodes.iter().map(|nodes| nodes.map(|t| z * (1.0 - t))));
            self.factors.extend(rule.nodes.iter().map(|nodes| nodes.map(|t| z * (1.0 - t) + t)));
            // (0 − z)/(z·(1−t)): right for z = 0 too, since the product of all is 0 then.
            self.ratios.extend(rule.nodes.iter().map(|nodes| nodes.map(|t| -1.0 / (1.0 - t))));
            self.ratios.extend(rule.nodes.iter().map(|nodes| nodes.map(|t| (1.0 - z) / (z * (1.0 - t) + t))));
        }
    }

    /// Adds what the leaf contributes to one document, whose value and sum for each slot stand `at` a place.
    fn add(
        &mut self,
        conditions: &[Condition<'_>],
        at: impl Fn(usize) -> usize,
        values: &[f32],
        sums: &mut [f64],
    ) {
        self.products.clear();
        self.products.extend_from_slice(&self.start);
        self.chosen.clear();
        for (j, condition) in conditions.iter().enumerate() {
            let holds = usize::from(condition.holds(values[at(condition.slot)]));
            let first = (2 * j + holds) * self.groups;
            self.chosen.push(first);
            let factors = &self.factors[first..first + self.groups];
            for (product, factor) in self.products.iter_mut().zip(factors) {
                (0..LANES).for_each(|lane| product[lane] *= factor[lane]);
            }
        }
        for (condition, &first) in conditions.iter().zip(&self.chosen) {
            let mut lanes = [0.0; LANES];
            for (product, ratio) in self.products.iter().zip(&self.ratios[first..first + self.groups]) {
                (0..LANES).for_each(|lane| lanes[lane] += product[lane] * ratio[lane]);
            }
            sums[at(condition.slot)] += (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
        }
    }
}
