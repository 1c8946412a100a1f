//! The training documents as bin codes, laid out for histograms.
//!
//! Dense codes are stored twice, in bundles of features. Histograms read them row by row: all codes of a document are
//! adjacent, so the scattered documents of a leaf cost few cache misses. They are summed in blocks of eight bundles,
//! whose tables fit the first-level cache. Splitting a leaf by one feature reads them column by column. Sparse data
//! stores only the codes that differ from the code of 0, row by row.

use super::bins::{Coder, FeatureBins, MAX_BINS, sampled};
use super::bundles::{Bundles, Part};
use super::categories;
use super::divided;
use super::prefetch::prefetch;
use crate::data::{Dataset, Features, Shard};
use crate::parallel;
use crate::pieces::Term;
use std::ops::Range;
use std::sync::Arc;

/// The number of bundles in a block.
pub(super) const BLOCK: usize = 8;

/// The number of values in a cache line.
const LINE: usize = 16;

/// Sparse rows stay sparse if the fraction of non-zero values is below this: they then take less memory than one byte
/// per value.
const SPARSE_BELOW: f64 = 0.125;

/// The pieces of a data set's documents.
#[derive(Debug)]
pub(super) struct Pieces {
    shard: Arc<Shard>,
    /// The first document of every query, and the number of documents.
    bounds: Vec<usize>,
}

impl Pieces {
    pub(super) fn of(data: &Dataset) -> Pieces {
        Pieces { shard: data.shard(), bounds: data.bounds().to_vec() }
    }

    /// The sum over all documents, of this and other workers: `of` gives that over a range of rows.
    #[track_caller]
    pub(super) fn total<T: Term>(&self, of: impl Fn(Range<usize>) -> T + Sync) -> T {
        self.shard.total(|queries| of(self.bounds[queries.start]..self.bounds[queries.end]))
    }

    /// The number of all documents, of this and other workers.
    pub(super) fn documents(&self) -> usize {
        self.shard.whole.documents
    }

    pub(super) fn shard(&self) -> &Shard {
        &self.shard
    }
}

/// A data set as bin codes.
#[derive(Debug)]
pub struct Binned {
    rows: usize,
    pieces: Pieces,
    /// The features with more than one code, in ascending order. The others cannot split anything.
    features: Vec<Feature>,
    codes: Codes,
    width: usize,
}

/// A feature that can split.
#[derive(Debug)]
pub(super) struct Feature {
    /// Its column in the data.
    pub(super) column: usize,
    /// Its bins.
    pub(super) bins: FeatureBins,
    /// The index of its first bin in a histogram.
    pub(super) start: usize,
}

/// The codes of all documents.
#[derive(Debug)]
pub(super) enum Codes {
    /// One code per document and bundle.
    Dense {
        bundles: Bundles,
        /// Row by row, with `blocks` blocks per row.
        rows: Vec<[u8; BLOCK]>,
        /// Number of blocks per row.
        blocks: usize,
        /// Bundle by bundle.
        columns: Vec<Vec<u8>>,
        /// The features whose codes do not fit a byte, with their codes; they are in no bundle.
        wide: Vec<(usize, Vec<u16>)>,
    },
    /// For each document, the histogram indices of its codes, except for those of the value 0.
    Sparse {
        /// The index of each document's first entry.
        starts: Vec<usize>,
        /// Histogram indices, ascending within a document.
        places: Vec<u32>,
    },
}

impl Binned {
    /// Bins every feature of `data` into at most `max_bins` bins and encodes every document.
    pub fn new(data: &Dataset, max_bins: usize) -> Binned {
        Binned::for_leaves(data, max_bins, 1)
    }

    /// The same without the features that cannot split off `min_data` documents: in wide sparse data, most of them.
    pub fn for_leaves(data: &Dataset, max_bins: usize, min_data: u64) -> Binned {
        // Counts are those of a sample if there are too many documents.
        let documents = data.whole().documents;
        let least = if sampled(documents).len() == documents { min_data } else { 0 };
        let can_split = |bins: &FeatureBins| bins.codes() > 1 && bins.rest() as u64 >= least;
        let mut all = match &data.parts().features {
            _ if data.exchange().is_some() => divided::cut(data, max_bins),
            Features::Dense { width, values } => cut_dense(values, *width, max_bins),
            Features::Sparse { width, starts, columns, values } => {
                cut_sparse(*width, starts, columns, values, max_bins)
            }
        };
        for column in data.columns().categories.columns() {
            let (categories, missing) = categories::bins_of(data, column, max_bins.clamp(2, MAX_BINS));
            all[column] = FeatureBins::of_categories(categories, missing);
        }
        let mut start = 0;
        let mut features = Vec::new();
        for (column, bins) in all.into_iter().enumerate().filter(|(_, bins)| can_split(bins)) {
            let codes = bins.codes();
            features.push(Feature { column, bins, start });
            start += codes;
        }
        let codes = match &data.parts().features {
            Features::Sparse { width, starts, columns, values }
                if (values.len() as f64) < SPARSE_BELOW * (data.len() as f64 * *width as f64) =>
            {
                sparse_codes(&features, *width, starts, columns, values)
            }
            _ => dense_codes(&features, data),
        };
        Binned { rows: data.len(), pieces: Pieces::of(data), features, codes, width: data.width() }
    }

    /// The number of documents.
    pub fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// The number of feature columns in the data.
    pub fn width(&self) -> usize {
        self.width
    }

    pub(super) fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The number of features with more than one code: those that can split.
    pub fn feature_count(&self) -> usize {
        self.features.len()
    }

    /// The column and the bins of a feature that can split.
    pub fn feature(&self, feature: usize) -> (usize, &FeatureBins) {
        let Feature { column, bins, .. } = &self.features[feature];
        (*column, bins)
    }

    /// The sums of the documents' `weights` for each code of each feature that can split.
    pub fn sums_by_code(&self, weights: &[i64]) -> Vec<i64> {
        let total: i64 = weights.iter().sum();
        let mut sums = vec![0; self.total_bins()];
        match &self.codes {
            Codes::Dense { .. } => {
                for (place, feature) in self.features.iter().enumerate() {
                    let codes = (0..self.rows).map(|row| usize::from(self.code(row, place)));
                    codes.zip(weights).for_each(|(code, w)| sums[feature.start + code] += w);
                }
            }
            Codes::Sparse { starts, places } => {
                for (row, w) in starts.windows(2).zip(weights) {
                    places[row[0]..row[1]].iter().for_each(|&place| sums[place as usize] += w);
                }
                for Feature { bins, start, .. } in &self.features {
                    let stored: i64 = sums[*start..][..bins.codes()].iter().sum();
                    sums[start + usize::from(bins.code(0.0))] += total - stored;
                }
            }
        }
        sums
    }

    /// The largest absolute sum up to any threshold, for each feature that can split, by the sums for each code.
    pub fn largest_sums(&self, sums: &[i64]) -> Vec<i64> {
        let largest = |feature: &Feature| {
            let mut sum = 0;
            sums[feature.start..][..feature.bins.codes()].iter().fold(0, |most: i64, s| {
                sum += s;
                most.max(sum.abs())
            })
        };
        self.features.iter().map(largest).collect()
    }

    pub(super) fn codes(&self) -> &Codes {
        &self.codes
    }

    /// The total number of bins over all features.
    pub(super) fn total_bins(&self) -> usize {
        self.features.last().map_or(0, |f| f.start + f.bins.codes())
    }

    /// The code of document `row` in `feature`.
    pub fn code(&self, row: usize, feature: usize) -> u16 {
        match &self.codes {
            Codes::Dense { bundles, columns, wide, .. } => match bundles.home(feature) {
                Some((home, part)) => part.code_of[usize::from(columns[home][row])].into(),
                None => wide_codes(wide, feature)[row],
            },
            Codes::Sparse { starts, places } => {
                let Feature { bins, start, .. } = &self.features[feature];
                let row = &places[starts[row]..starts[row + 1]];
                let at = row.partition_point(|&place| (place as usize) < *start);
                match row.get(at) {
                    Some(&place) if (place as usize) < start + bins.codes() => {
                        (place as usize - start) as u16
                    }
                    _ => bins.code(0.0),
                }
            }
        }
    }
}

/// Columns are read sixteen at a time, which is one cache line of a row. Many threads would need much memory for that, so
/// they read fewer at a time.
fn cut_dense(values: &[f32], width: usize, max_bins: usize) -> Vec<FeatureBins> {
    let together = match rayon::current_num_threads() {
        0..=4 => 16,
        5..=8 => 4,
        _ => 2,
    };
    /// Rows that are loaded ahead: the processor does not foresee such large steps by itself.
    const AHEAD: usize = 32;
    let rows = values.len().checked_div(width).unwrap_or(0);
    let cut = |first: usize| {
        let columns = first..(first + together).min(width);
        let sample = sampled(rows);
        let mut taken = vec![vec![0.0; sample.len()]; columns.len()];
        let mut missing = vec![false; columns.len()];
        let is_whole = sample.len() == rows;
        for (i, row) in sample.enumerate() {
            if let Some(later) = values.get((row + AHEAD) * width + first) {
                prefetch(later);
            }
            for (c, &x) in values[row * width..][columns.clone()].iter().enumerate() {
                taken[c][i] = x;
                missing[c] |= x.is_nan();
            }
        }
        if !is_whole {
            for row in values.chunks_exact(width) {
                missing.iter_mut().zip(&row[columns.clone()]).for_each(|(missing, x)| *missing |= x.is_nan());
            }
        }
        let cut = |(column, missing)| FeatureBins::of(column, missing, max_bins);
        taken.into_iter().zip(missing).map(cut).collect::<Vec<_>>()
    };
    let starts: Vec<usize> = (0..width).step_by(together).collect();
    parallel::flat_map(starts, cut)
}

/// The same for sparse rows: a column consists of its stored values and the implied zeros.
fn cut_sparse(
    width: usize,
    starts: &[usize],
    columns: &[u32],
    values: &[f32],
    max_bins: usize,
) -> Vec<FeatureBins> {
    let rows = starts.len() - 1;
    let mut missing = vec![false; width];
    columns.iter().zip(values).for_each(|(&column, x)| missing[column as usize] |= x.is_nan());
    let mut by_column: Vec<Vec<f32>> = vec![Vec::new(); width];
    for row in sampled(rows) {
        for i in starts[row]..starts[row + 1] {
            by_column[columns[i] as usize].push(values[i]);
        }
    }
    let taken = sampled(rows).len();
    let cut = |(column, missing): (Vec<f32>, bool)| {
        let zeros = taken - column.len();
        FeatureBins::with_zeros(column, zeros, missing, max_bins)
    };
    parallel::map(by_column.into_iter().zip(missing), cut)
}

fn dense_codes(features: &[Feature], data: &Dataset) -> Codes {
    let bundles = Bundles::of(&features.iter().map(|feature| feature.bins.codes()).collect::<Vec<_>>());
    let blocks = bundles.list.len().div_ceil(BLOCK);
    let mut rows = vec![[0; BLOCK]; data.len() * blocks];
    let mut columns = vec![vec![0; data.len()]; bundles.list.len()];
    match &data.parts().features {
        Features::Dense { width, values } => {
            let value = |row: usize, column: usize| values[row * width + column];
            let ahead = |row: usize| {
                let row = values.get(row * width..).unwrap_or_default();
                row[..row.len().min(*width)].iter().step_by(LINE).for_each(prefetch);
            };
            encode(features, &bundles, value, ahead, &mut rows, &mut columns);
        }
        Features::Sparse { .. } => {
            let value = |row: usize, column: usize| data.row(row).get(column);
            encode(features, &bundles, value, |_| (), &mut rows, &mut columns);
        }
    }
    let wide = features.iter().enumerate().filter(|(_, feature)| feature.bins.is_wide());
    let wide = parallel::map(wide, |(place, feature)| {
        let codes = (0..data.len()).map(|row| feature.bins.code(data.row(row).get(feature.column)));
        (place, codes.collect::<Vec<u16>>())
    });
    Codes::Dense { bundles, rows, blocks, columns, wide }
}

/// Writes the codes of all documents, both row by row and bundle by bundle. `value` gives the value of a document in a
/// column, and `ahead` prefetches a document.
fn encode(
    features: &[Feature],
    bundles: &Bundles,
    value: impl Fn(usize, usize) -> f32 + Sync,
    ahead: impl Fn(usize) + Sync,
    rows: &mut [[u8; BLOCK]],
    columns: &mut [Vec<u8>],
) {
    /// Documents per task.
    const TASK: usize = 1 << 10;
    /// Documents whose values stay in the first-level cache while their columns are encoded.
    const NEAR: usize = 1 << 6;
    let parts: Vec<Vec<(u8, usize, Coder<'_>)>> = bundles
        .list
        .iter()
        .map(|bundle| {
            let parts = bundle.parts.iter().map(|Part { feature, unit, .. }| {
                let Feature { column, bins, .. } = &features[*feature];
                (*unit as u8, *column, bins.coder())
            });
            parts.collect()
        })
        .collect();
    let blocks = bundles.list.len().div_ceil(BLOCK);
    let mut rests: Vec<&mut [u8]> = columns.iter_mut().map(Vec::as_mut_slice).collect();
    let tasks = rows.chunks_mut(TASK * blocks.max(1)).map(|rows| {
        let count = rows.len() / blocks;
        let columns = rests.iter_mut().map(|rest| rest.split_off_mut(..count).expect("a code for each row"));
        (rows, columns.collect::<Vec<&mut [u8]>>())
    });
    parallel::for_each(tasks.enumerate(), |(task, (rows, mut columns))| {
        for (near, rows) in rows.chunks_mut(NEAR * blocks).enumerate() {
            let first = near * NEAR;
            for (at, (parts, column)) in parts.iter().zip(&mut columns).enumerate() {
                let column = &mut column[first..][..rows.len() / blocks];
                ahead(task * TASK + first + NEAR + at);
                for (unit, from, coder) in parts {
                    for (i, code) in column.iter_mut().enumerate() {
                        *code += unit * coder.code(value(task * TASK + first + i, *from));
                    }
                }
                for (codes, &code) in rows.chunks_exact_mut(blocks).zip(column.iter()) {
                    codes[at / BLOCK][at % BLOCK] = code;
                }
            }
        }
    });
}

/// The codes of a feature that is in no bundle.
pub(super) fn wide_codes(wide: &[(usize, Vec<u16>)], feature: usize) -> &[u16] {
    let place = wide.binary_search_by_key(&feature, |(place, _)| *place);
    &wide[place.expect("a feature that is in no bundle has wide codes")].1
}

fn sparse_codes(
    features: &[Feature],
    width: usize,
    starts: &[usize],
    columns: &[u32],
    values: &[f32],
) -> Codes {
    let mut used = vec![None; width];
    features.iter().for_each(|f| used[f.column] = Some((f, f.bins.code(0.0))));
    let (mut row_starts, mut places) = (vec![0], Vec::new());
    for row in starts.windows(2) {
        for i in row[0]..row[1] {
            let Some((feature, zero)) = used[columns[i] as usize] else { continue };
            let code = feature.bins.code(values[i]);
            if code != zero {
                places.push((feature.start + usize::from(code)) as u32);
            }
        }
        row_starts.push(places.len());
    }
    Codes::Sparse { starts: row_starts, places }
}
