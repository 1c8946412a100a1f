//! Feature values as ranks among the thresholds that an ensemble tests them with.
//!
//! ```text
//! rank(x) = #{ t ∈ thresholds of the feature : t < x },   so   x ≤ t_k  ⇔  rank(x) ≤ k
//! ```
//!
//! A column of ranks holds 255 thresholds, so that a rank is a byte; a feature with more has several columns, each
//! with `rank(x) − 255·j` held within `0..=255`. A missing value has no threshold below it, rank 0, and goes left
//! everywhere; for the nodes that send it right there is a second form of the column, where it has rank 255. Bytes are
//! kept less 128, because signed ones are what processors compare.

use super::sets::{self, FeatureSets};
use crate::data::{Row, Rows, RowsLayout};
use crate::trees::Tree;
use pulp::Simd;
use std::collections::BTreeMap;
use std::ops::Range;

/// Thresholds of one column of ranks.
const COLUMN: usize = 255;

/// Thresholds that are searched as one, with a vector instruction or a few.
const GROUP: usize = 16;

/// Up to this number of thresholds, comparing a value with all of them is fastest.
const COUNT_ALL: usize = 64;

/// Up to this number, comparing it with the last of every group and then with one group; beyond, binary search.
const COUNT_GROUPS: usize = 1024;

/// The thresholds of an ensemble, feature by feature.
pub(super) struct Ranks {
    features: Vec<Feature>,
    /// Ascending for each feature, then missing values up to a whole group: nothing is above those.
    thresholds: Vec<f32>,
    /// The features whose categories are tested.
    sets: Vec<FeatureSets>,
    /// Columns of ranks, of all features.
    columns: usize,
}

struct Feature {
    /// The column of the data.
    source: u32,
    /// Where its columns of ranks begin.
    first: usize,
    /// Where its thresholds are, without what fills the last group.
    thresholds: Range<usize>,
}

/// The ranks of `N` documents.
pub(super) struct RankBlock<const N: usize> {
    missing_left: Vec<[i8; N]>,
    /// Filled where some value of the block is missing.
    missing_right: Vec<[i8; N]>,
    some_missing: Vec<bool>,
    /// The values of sparse rows, feature by feature.
    sparse: Vec<[f32; N]>,
}

impl Ranks {
    pub(super) fn new<'a, T: Iterator<Item = &'a Tree>>(trees: impl Fn() -> T) -> Ranks {
        let mut by_feature: BTreeMap<u32, Vec<f32>> = BTreeMap::new();
        for tree in trees() {
            let tests = tree.features.iter().zip(&tree.thresholds).enumerate();
            for (_, (&feature, &threshold)) in tests.filter(|(node, _)| tree.category_set(*node).is_none()) {
                by_feature.entry(feature).or_default().push(threshold);
            }
        }
        let mut ranks = Ranks { features: Vec::new(), thresholds: Vec::new(), sets: Vec::new(), columns: 0 };
        for (source, mut thresholds) in by_feature {
            thresholds.sort_unstable_by(f32::total_cmp);
            // −0 and 0 are one threshold.
            thresholds.dedup();
            let start = ranks.thresholds.len();
            let end = start + thresholds.len();
            ranks.features.push(Feature { source, first: ranks.columns, thresholds: start..end });
            ranks.columns += thresholds.len().div_ceil(COLUMN);
            ranks.thresholds.extend(thresholds);
            // At least one, so that the last of the last group is below no value.
            ranks.thresholds.resize((end / GROUP + 1) * GROUP, f32::NAN);
        }
        ranks.sets = sets::of_trees(trees(), ranks.columns);
        ranks.columns += ranks.sets.iter().map(FeatureSets::len).sum::<usize>();
        ranks
    }

    /// The column of ranks that a test looks at, and the rank up to which a value passes it.
    pub(super) fn place(&self, feature: u32, threshold: f32) -> (u32, i8) {
        let at =
            self.features.binary_search_by_key(&feature, |f| f.source).expect("a feature of the ensemble");
        let feature = &self.features[at];
        let k = self.thresholds[feature.thresholds.clone()].partition_point(|&t| t < threshold);
        ((feature.first + k / COLUMN) as u32, byte((k % COLUMN) as u32))
    }

    /// The same for a test of categories.
    pub(super) fn place_of_set(&self, feature: u32, set: &[u32], missing_left: bool) -> (u32, i8) {
        let at = self.sets.binary_search_by_key(&feature, |f| f.source).expect("a feature of the ensemble");
        (self.sets[at].column(set, missing_left) as u32, byte(0))
    }

    /// Fills `block` with the ranks of at most `N` rows.
    #[inline(always)]
    pub(super) fn fill<S: Simd, const N: usize>(&self, simd: S, rows: Rows<'_>, block: &mut RankBlock<N>) {
        match rows.layout() {
            RowsLayout::Dense { values, width, stride, .. } => {
                let column_of = |source: u32| {
                    let (mut column, source) = ([0.0; N], source as usize);
                    if source < width {
                        for i in 0..rows.len().min(N) {
                            column[i] = values[i * stride + source];
                        }
                    }
                    column
                };
                for feature in &self.features {
                    self.fill_feature(simd, feature, &column_of(feature.source), block);
                }
                for sets in &self.sets {
                    sets.fill(&column_of(sets.source), &mut block.missing_left);
                }
            }
            RowsLayout::Sparse { .. } => {
                self.spread(rows, &mut block.sparse);
                for (i, feature) in self.features.iter().enumerate() {
                    let column = block.sparse[i];
                    self.fill_feature(simd, feature, &column, block);
                }
                for (sets, column) in self.sets.iter().zip(&block.sparse[self.features.len()..]) {
                    sets.fill(column, &mut block.missing_left);
                }
            }
        }
    }

    /// The values of sparse rows, feature by feature: those with thresholds, then those with categories.
    fn spread<const N: usize>(&self, rows: Rows<'_>, columns: &mut Vec<[f32; N]>) {
        columns.clear();
        columns.resize(self.features.len() + self.sets.len(), [0.0; N]);
        let (numbers, categories) = columns.split_at_mut(self.features.len());
        for (i, row) in rows.iter().enumerate() {
            let sources = self.features.iter().map(|feature| feature.source);
            for_each_shared(row, sources, |feature, x| numbers[feature][i] = x);
            let sources = self.sets.iter().map(|sets| sets.source);
            for_each_shared(row, sources, |feature, x| categories[feature][i] = x);
        }
    }

    #[inline(always)]
    fn fill_feature<S: Simd, const N: usize>(
        &self,
        simd: S,
        feature: &Feature,
        values: &[f32; N],
        block: &mut RankBlock<N>,
    ) {
        let ranks = self.rank(simd, &feature.thresholds, values);
        let columns = feature.first..feature.first + feature.thresholds.len().div_ceil(COLUMN);
        for (j, column) in block.missing_left[columns.clone()].iter_mut().enumerate() {
            let below = (j * COLUMN) as u32;
            for i in 0..N {
                column[i] = byte(ranks[i].saturating_sub(below).min(COLUMN as u32));
            }
        }
        let missing = values.iter().fold(false, |missing, x| missing | x.is_nan());
        block.some_missing[columns.clone()].fill(missing);
        if missing {
            block.set_missing_right(columns, values);
        }
    }

    #[inline(always)]
    fn rank<S: Simd, const N: usize>(&self, simd: S, range: &Range<usize>, values: &[f32; N]) -> [u32; N] {
        let thresholds = &self.thresholds[range.clone()];
        if thresholds.len() <= COUNT_ALL {
            count_below(simd, thresholds, 1, values)
        } else if thresholds.len() <= COUNT_GROUPS {
            let padded = (thresholds.len() / GROUP + 1) * GROUP;
            let padded = &self.thresholds[range.start..][..padded];
            let groups = padded.as_chunks::<GROUP>().0;
            let mut ranks = count_below(simd, &padded[GROUP - 1..], GROUP, values);
            for i in 0..N {
                let group = &groups[ranks[i] as usize];
                ranks[i] *= GROUP as u32;
                for threshold in group {
                    ranks[i] += u32::from(*threshold < values[i]);
                }
            }
            ranks
        } else {
            values.map(|x| thresholds.partition_point(|&t| t < x) as u32)
        }
    }
}

impl<const N: usize> RankBlock<N> {
    pub(super) fn new(ranks: &Ranks) -> Self {
        RankBlock {
            missing_left: vec![[0; N]; ranks.columns],
            // Room that is used where values are missing or rows are sparse, so that later blocks allocate nothing.
            missing_right: Vec::with_capacity(ranks.columns),
            some_missing: vec![false; ranks.columns],
            sparse: Vec::with_capacity(ranks.features.len() + ranks.sets.len()),
        }
    }

    /// A column, for a node that sends missing values right or left.
    #[inline(always)]
    pub(super) fn column(&self, column: u32, missing_right: bool) -> &[i8; N] {
        let column = column as usize;
        if missing_right && self.some_missing[column] {
            &self.missing_right[column]
        } else {
            &self.missing_left[column]
        }
    }

    fn set_missing_right(&mut self, columns: Range<usize>, values: &[f32; N]) {
        self.missing_right.resize(self.missing_left.len(), [0; N]);
        for column in columns {
            self.missing_right[column] = self.missing_left[column];
            for (rank, _) in self.missing_right[column].iter_mut().zip(values).filter(|(_, x)| x.is_nan()) {
                *rank = i8::MAX;
            }
        }
    }
}

/// How many thresholds, of every `step` of them the first, are below each value.
#[inline(always)]
fn count_below<S: Simd, const N: usize>(
    simd: S,
    thresholds: &[f32],
    step: usize,
    values: &[f32; N],
) -> [u32; N] {
    let mut ranks = [0; N];
    if size_of::<S::f32s>() == size_of::<f32>() {
        let mut next = 0;
        while next < thresholds.len() {
            for i in 0..N {
                ranks[i] += u32::from(thresholds[next] < values[i]);
            }
            next += step;
        }
        return ranks;
    }
    let one = simd.splat_u32s(1);
    let values = S::as_simd_f32s(values).0.as_chunks::<4>().0;
    let vectors = S::as_mut_simd_u32s(&mut ranks).0.as_chunks_mut::<4>().0;
    for i in 0..vectors.len() {
        let mut counts = [simd.splat_u32s(0); 4];
        let mut next = 0;
        while next < thresholds.len() {
            let threshold = simd.splat_f32s(thresholds[next]);
            for j in 0..4 {
                let below = simd.less_than_f32s(threshold, values[i][j]);
                counts[j] = simd.select_u32s(below, simd.add_u32s(counts[j], one), counts[j]);
            }
            next += step;
        }
        vectors[i] = counts;
    }
    ranks
}

/// A rank of at most 255, less 128.
#[inline(always)]
pub(super) fn byte(rank: u32) -> i8 {
    (rank as u8 ^ 0x80) as i8
}

/// Calls `found` with the place of every feature, of ascending `features`, that `row` has a value for, and the value.
pub(super) fn for_each_shared(
    row: Row<'_>,
    features: impl Iterator<Item = u32>,
    mut found: impl FnMut(usize, f32),
) {
    let mut stored = row.iter().peekable();
    for (place, feature) in features.enumerate() {
        while stored.next_if(|&(column, _)| column < feature as usize).is_some() {}
        match stored.peek() {
            Some(&(column, x)) if column == feature as usize => found(place, x),
            Some(_) => {}
            None => return,
        }
    }
}
