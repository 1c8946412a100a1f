//! Finding the yes/no rule with the highest total worth of the documents it selects.

use crate::data::Dataset;
use crate::error::{Error, Result};
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
    pub(super) fn empty(data: &Dataset) -> Rule {
        let tree = Tree::constant(0.0, data.whole().documents as f32);
        Rule { tree, chosen: vec![false; data.len()] }
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
    /// With `thresholds` per feature, or all if 0; trees then use the maximum number of bins. Fails if all thresholds are
    /// asked for and other workers have some of the values.
    pub(super) fn new(data: &'a Dataset, weak: Weak, thresholds: usize) -> Result<Finder<'a>> {
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
            (Weak::Stump, 0) if data.exchange().is_some() => {
                return Err(Error::parameter(
                    "thresholds is 0, which compares the values of all documents with each other; data that \
                     is divided among workers needs a number from 1 to 254",
                ));
            }
            (Weak::Stump, 0) => Way::All(Midpoints::new(data)),
            (Weak::Stump, _) => Way::Binned { binned: Binned::new(data, bins), growth: Box::new(growth) },
            (Weak::Tree { leaves }, _) => {
                let growth = Box::new(Growth { num_leaves: leaves, l2: 0.0, ..growth });
                Way::Binned { binned: Binned::new(data, bins), growth }
            }
        };
        Ok(Finder { data, way })
    }

    /// The documents as bin codes; `None` if all thresholds are tried.
    pub(super) fn binned(&self) -> Option<&Binned> {
        match &self.way {
            Way::Binned { binned, .. } => Some(binned),
            Way::All(_) => None,
        }
    }

    /// The rules that trees of one test make: a leaf with a positive value selects.
    pub(super) fn rules_of(&self, trees: Vec<Tree>) -> Vec<Rule> {
        let is_right = |tree: &Tree| parallel::map(0..self.data.len(), |d| tree.leaf(self.data.row(d)) == 1);
        let sides: Vec<Vec<bool>> = trees.iter().map(is_right).collect();
        let bounds = self.data.bounds();
        let on_the_right = self.data.total(|queries| {
            let documents = bounds[queries.start]..bounds[queries.end];
            let count = |side: &Vec<bool>| side[documents.clone()].iter().filter(|right| **right).count();
            sides.iter().map(count).collect::<Vec<usize>>()
        });
        let rule = |((mut tree, side), right): ((Tree, Vec<bool>), usize)| {
            tree.covers = vec![(self.data.whole().documents - right) as f32, right as f32];
            let chosen = side.into_iter().map(|right| tree.values[usize::from(right)] > 0.0).collect();
            round_values(&mut tree);
            Rule { tree, chosen }
        };
        trees.into_iter().zip(sides).zip(on_the_right).map(rule).collect()
    }

    /// The best rule; `None` if no rule separates documents or has a positive total worth.
    pub(super) fn find(&self, worths: &[f64]) -> Result<Option<Rule>> {
        let rule = match &self.way {
            Way::All(midpoints) => self.rules_of(midpoints.best(worths).into_iter().collect()).pop(),
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
        Ok(rule.filter(|rule| self.is_worth_something(worths, &rule.chosen)))
    }

    fn is_worth_something(&self, worths: &[f64], chosen: &[bool]) -> bool {
        let bounds = self.data.bounds();
        let (sum, size) = self.data.total(|queries| {
            let documents = bounds[queries.start]..bounds[queries.end];
            let picked =
                worths[documents.clone()].iter().zip(&chosen[documents]).filter(|(_, chosen)| **chosen);
            picked.fold((0.0, 0.0), |(sum, size), (w, _)| (sum + w, size + w.abs()))
        });
        sum > LEAST_EDGE * size
    }
}

/// Sets leaves with a positive total worth to 1, the others to 0.
fn round_values(tree: &mut Tree) {
    tree.values.iter_mut().for_each(|value| *value = f64::from(u8::from(*value > 0.0)));
}
