//! Columns of ranks for tests of categories.
//!
//! Every distinct set of a feature has a column of its own. A category in the set has rank 0 there and goes left; all
//! others have rank 255. The number of a category among those that the ensemble names is found once for each document
//! and feature, and each column looks up its rank by that number.

use super::ranks::byte;
use crate::data::code_of;
use crate::trees::Tree;
use std::collections::BTreeMap;

/// A set of categories, and whether a missing value counts as one of them.
type Set = (Vec<u32>, bool);

/// The sets that one feature is tested with.
pub(super) struct FeatureSets {
    /// The column of the data.
    pub(super) source: u32,
    /// Where its columns of ranks begin.
    first: usize,
    /// The categories that some set has, ascending.
    known: Vec<u32>,
    /// Ascending.
    sets: Vec<Set>,
    /// For each set, the ranks of all known categories, then of any other, then of a missing value.
    ranks: Vec<Vec<i8>>,
}

/// The sets of an ensemble, feature by feature, with columns of ranks from `first` on.
pub(super) fn of_trees<'a>(trees: impl Iterator<Item = &'a Tree>, first: usize) -> Vec<FeatureSets> {
    let mut by_feature: BTreeMap<u32, Vec<Set>> = BTreeMap::new();
    for tree in trees {
        for (node, &feature) in tree.features.iter().enumerate() {
            if let Some(set) = tree.category_set(node) {
                by_feature.entry(feature).or_default().push((set.to_vec(), tree.missing_left[node]));
            }
        }
    }
    let mut next = first;
    let mut feature_sets = |(source, mut sets): (u32, Vec<Set>)| {
        sets.sort_unstable();
        sets.dedup();
        let begin = next;
        next += sets.len();
        FeatureSets::new(source, begin, sets)
    };
    by_feature.into_iter().map(&mut feature_sets).collect()
}

impl FeatureSets {
    fn new(source: u32, first: usize, sets: Vec<Set>) -> FeatureSets {
        let mut known: Vec<u32> = sets.iter().flat_map(|(set, _)| set).copied().collect();
        known.sort_unstable();
        known.dedup();
        let rank = |goes_left: bool| byte(if goes_left { 0 } else { 255 });
        let ranks_of = |(set, missing_left): &Set| {
            let known = known.iter().map(|code| rank(set.binary_search(code).is_ok()));
            known.chain([rank(false), rank(*missing_left)]).collect()
        };
        let ranks = sets.iter().map(ranks_of).collect();
        FeatureSets { source, first, known, sets, ranks }
    }

    /// The number of columns of ranks.
    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }

    /// The column of ranks of a set.
    pub(super) fn column(&self, set: &[u32], missing_left: bool) -> usize {
        let order = |known: &Set| (&known.0[..], known.1).cmp(&(set, missing_left));
        self.first + self.sets.binary_search_by(order).expect("a set of the ensemble")
    }

    /// Fills the columns of ranks.
    pub(super) fn fill<const N: usize>(&self, values: &[f32; N], columns: &mut [[i8; N]]) {
        let numbers = values.map(|x| self.number(x));
        for (ranks, column) in self.ranks.iter().zip(&mut columns[self.first..]) {
            for i in 0..N {
                column[i] = ranks[numbers[i]];
            }
        }
    }

    /// Where the rank of a value is.
    fn number(&self, x: f32) -> usize {
        if x.is_nan() {
            return self.known.len() + 1;
        }
        let place = code_of(x).map(|code| self.known.binary_search(&code));
        place.and_then(Result::ok).unwrap_or(self.known.len())
    }
}
