//! The rule that picks the documents worth most.

use crate::data::Dataset;
use crate::error::Result;
use crate::trees::{Binned, Grower, Growth, MAX_BINS, Midpoints, Tree};
use rayon::prelude::*;

/// A sum this small beside those of its terms is rounding.
const LEAST_EDGE: f64 = 1e-12;

/// What a weak ranker is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weak {
    /// One test of one feature.
    Stump,
    /// A tree of so many leaves at most.
    Tree {
        /// At least 2.
        leaves: usize,
    },
}

/// A rule found: a tree whose leaves say 0 or 1.
pub(super) struct Rule {
    pub(super) tree: Tree,
    /// The training documents it picks.
    pub(super) chosen: Vec<bool>,
}

impl Rule {
    /// The rule that picks nothing.
    pub(super) fn empty(documents: usize) -> Rule {
        Rule { tree: Tree::constant(0.0, documents as f32), chosen: vec![false; documents] }
    }
}

/// Finds rules for the documents of one data set.
pub(super) struct Finder<'a> {
    data: &'a Dataset,
    way: Way<'a>,
}

enum Way<'a> {
    /// Histograms of the values' bins.
    Binned { binned: Binned, growth: Growth },
    /// All thresholds.
    All(Midpoints<'a>),
}

impl<'a> Finder<'a> {
    /// With `thresholds` for each feature, or all there are if 0; for trees then as many as there are codes for.
    pub(super) fn new(data: &'a Dataset, weak: Weak, thresholds: usize) -> Finder<'a> {
        // Without curvature and with l2 = 1 a split of worths that cancel out gains twice the square of either side:
        // the engine's best split is then the rule that picks the documents worth most.
        let growth = Growth {
            num_leaves: 2,
            min_data_in_leaf: 1,
            min_child_weight: 0.0,
            l2: 1.0,
            ..Growth::default()
        };
        let bins = if thresholds == 0 { MAX_BINS } else { thresholds + 1 };
        let way = match (weak, thresholds) {
            (Weak::Stump, 0) => Way::All(Midpoints::new(data)),
            (Weak::Stump, _) => Way::Binned { binned: Binned::new(data, bins), growth },
            (Weak::Tree { leaves }, _) => {
                let growth = Growth { num_leaves: leaves, l2: 0.0, ..growth };
                Way::Binned { binned: Binned::new(data, bins), growth }
            }
        };
        Finder { data, way }
    }

    /// The best rule; none where nothing parts the documents or no rule picks more than it leaves.
    pub(super) fn find(&self, worths: &[f64]) -> Result<Option<Rule>> {
        let rule = match &self.way {
            Way::All(midpoints) => midpoints.best(worths).map(|tree| self.rule_of(tree)),
            Way::Binned { binned, growth } => {
                let slopes: Vec<f64> = worths.iter().map(|w| -w).collect();
                // In a larger tree a leaf's value is the balance of its documents: the sign says which way they go.
                let curvatures: Vec<f64> = match growth.num_leaves {
                    2 => vec![0.0; worths.len()],
                    _ => worths.iter().map(|w| w.abs()).collect(),
                };
                let mut grown = Grower::new(binned, growth).grow(&slopes, &curvatures, None, 0)?;
                let mut chosen = vec![false; worths.len()];
                for (leaf, rows) in grown.leaves() {
                    let is_chosen = grown.tree.values[leaf] > 0.0;
                    rows.iter().for_each(|&row| chosen[row as usize] = is_chosen);
                }
                round_values(&mut grown.tree);
                Some(Rule { tree: grown.tree, chosen })
            }
        };
        Ok(rule.filter(|rule| is_worth_something(worths, &rule.chosen)))
    }

    fn rule_of(&self, mut tree: Tree) -> Rule {
        let leaves: Vec<usize> =
            (0..self.data.len()).into_par_iter().map(|d| tree.leaf(self.data.row(d))).collect();
        leaves.iter().for_each(|&leaf| tree.covers[leaf] += 1.0);
        let chosen = leaves.into_iter().map(|leaf| tree.values[leaf] > 0.0).collect();
        round_values(&mut tree);
        Rule { tree, chosen }
    }
}

/// Yes where the documents of a leaf are worth something together.
fn round_values(tree: &mut Tree) {
    tree.values.iter_mut().for_each(|value| *value = f64::from(u8::from(*value > 0.0)));
}

fn is_worth_something(worths: &[f64], chosen: &[bool]) -> bool {
    let picked = worths.iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(w, _)| w);
    let (sum, size) = picked.fold((0.0, 0.0), |(sum, size), w| (sum + w, size + w.abs()));
    sum > LEAST_EDGE * size
}
