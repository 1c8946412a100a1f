//! Finding the yes/no rule with the highest total worth of the documents it selects.

use crate::data::Dataset;
use crate::error::Result;
use crate::parallel;
use crate::trees::{Binned, Grower, Growth, MAX_BINS, Midpoints, Tree};

/// A sum this small relative to its terms is rounding.
const LEAST_EDGE: f64 = 1e-12;

/// The kind of weak ranker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weak {
    /// One test of one feature.
    Stump,
    /// A tree with a maximum number of leaves.
    Tree {
        /// At least 2.
        leaves: usize,
    },
}

/// A rule: a tree whose leaves have the value 0 or 1.
pub(super) struct Rule {
    pub(super) tree: Tree,
    /// Whether it selects each training document.
    pub(super) chosen: Vec<bool>,
}

impl Rule {
    /// The rule that selects nothing.
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
    /// Histograms over binned values.
    Binned { binned: Binned, growth: Box<Growth> },
    /// All thresholds.
    All(Midpoints<'a>),
}

impl<'a> Finder<'a> {
    /// With `thresholds` per feature, or all if 0; trees then use the maximum number of bins.
    pub(super) fn new(data: &'a Dataset, weak: Weak, thresholds: usize) -> Finder<'a> {
        // If worths sum to 0, then without curvature and with l2 = 1 the gain of a split is twice the square
        // of either side's sum. The best split is then the best yes/no rule, so weak rankers reuse the tree
        // engine as stumps.
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
            (Weak::Stump, _) => Way::Binned { binned: Binned::new(data, bins), growth: Box::new(growth) },
            (Weak::Tree { leaves }, _) => {
                let growth = Box::new(Growth { num_leaves: leaves, l2: 0.0, ..growth });
                Way::Binned { binned: Binned::new(data, bins), growth }
            }
        };
        Finder { data, way }
    }

    /// The documents as bin codes; `None` if all thresholds are tried.
    pub(super) fn binned(&self) -> Option<&Binned> {
        match &self.way {
            Way::Binned { binned, .. } => Some(binned),
            Way::All(_) => None,
        }
    }

    /// The rule that a tree of one test makes: the leaf with a positive value selects.
    pub(super) fn rule_of(&self, mut tree: Tree) -> Rule {
        let leaves: Vec<usize> = parallel::map(0..self.data.len(), |d| tree.leaf(self.data.row(d)));
        leaves.iter().for_each(|&leaf| tree.covers[leaf] += 1.0);
        let chosen = leaves.into_iter().map(|leaf| tree.values[leaf] > 0.0).collect();
        round_values(&mut tree);
        Rule { tree, chosen }
    }

    /// The best rule; `None` if no rule separates documents or has a positive total worth.
    pub(super) fn find(&self, worths: &[f64]) -> Result<Option<Rule>> {
        let rule = match &self.way {
            Way::All(midpoints) => midpoints.best(worths).map(|tree| self.rule_of(tree)),
            Way::Binned { binned, growth } => {
                let slopes: Vec<f64> = worths.iter().map(|w| -w).collect();
                // In a larger tree a leaf's value is the normalised sum of its documents' worths, of which
                // the sign is used.
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
}

/// Sets leaves with a positive total worth to 1, the others to 0.
fn round_values(tree: &mut Tree) {
    tree.values.iter_mut().for_each(|value| *value = f64::from(u8::from(*value > 0.0)));
}

fn is_worth_something(worths: &[f64], chosen: &[bool]) -> bool {
    let picked = worths.iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(w, _)| w);
    let (sum, size) = picked.fold((0.0, 0.0), |(sum, size), w| (sum + w, size + w.abs()));
    sum > LEAST_EDGE * size
}
