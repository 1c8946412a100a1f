//! Histograms: the sums of gradients of a leaf's documents, for every feature and bin.

use super::binned::{BLOCK, Binned, Codes};
use super::gradients::GradientSums;
use rayon::prelude::*;
use std::ops::Range;

/// The maximum number of codes of one feature.
const CODES: usize = 256;

/// The minimum number of documents for a task of its own.
const ROWS_PER_TASK: usize = 1 << 12;

/// The bins of all features in one array; each feature starts at its own offset.
pub(super) type Histogram = Vec<GradientSums>;

/// The documents of a leaf in ascending order, with their gradients.
#[derive(Clone, Copy)]
pub(super) struct Members<'a> {
    pub(super) rows: &'a [u32],
    pub(super) gradients: &'a [GradientSums],
}

impl<'a> Members<'a> {
    /// Part `number` out of `of` parts of equal size.
    fn share(self, number: usize, of: usize) -> Members<'a> {
        let count = self.rows.len();
        let range = number * count / of..(number + 1) * count / of;
        Members { rows: &self.rows[range.clone()], gradients: &self.gradients[range] }
    }
}

/// Features that are processed together, and the range of their bins.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) features: Range<usize>,
    pub(super) bins: Range<usize>,
}

impl Binned {
    /// The features in groups, one task per group. Groups consist of whole blocks, have about the same size, and
    /// there are enough of them for all threads. Sums are exact, so the grouping does not affect the result.
    pub(super) fn groups(&self) -> Vec<Group> {
        let features = self.features();
        let blocks = features.len().div_ceil(BLOCK);
        let threads = rayon::current_num_threads();
        let tasks = if threads == 1 { 1 } else { (2 * threads).min(blocks) };
        let end_of = |f: usize| features[f - 1].start + features[f - 1].bins.codes();
        (0..if blocks == 0 { 0 } else { tasks })
            .map(|task| {
                let first = task * blocks / tasks * BLOCK;
                let last = ((task + 1) * blocks / tasks * BLOCK).min(features.len());
                Group { features: first..last, bins: features[first].start..end_of(last) }
            })
            .collect()
    }

    /// The histogram of `members`; `total` is the sum over all of them, which every feature has in common.
    pub(super) fn histogram(&self, members: Members<'_>, total: GradientSums, out: &mut [GradientSums]) {
        match self.codes() {
            Codes::Dense { rows, blocks, .. } => self.dense_histogram(rows, *blocks, members, out),
            Codes::Sparse { starts, places } => {
                add_sparse(starts, places, members, out);
                self.add_zeros(total, out);
            }
        }
    }

    /// Work is divided by documents first, because all codes of one document are adjacent, and by features only if
    /// there are few documents.
    fn dense_histogram(
        &self,
        rows: &[[u8; BLOCK]],
        blocks: usize,
        members: Members<'_>,
        out: &mut [GradientSums],
    ) {
        let threads = rayon::current_num_threads();
        let shares = (members.rows.len() / ROWS_PER_TASK).clamp(1, threads);
        let sides = (threads / shares).clamp(1, blocks.max(1));
        let side = |i: usize| i * blocks / sides..(i + 1) * blocks / sides;
        let tables: Vec<Vec<Table>> = (0..shares * sides)
            .into_par_iter()
            .map(|task| tables(rows, blocks, side(task % sides), members.share(task / sides, shares)))
            .collect();
        let groups = self.groups();
        let pieces = split(out, &groups);
        groups.par_iter().zip(pieces).for_each(|(group, out)| {
            for place in group.features.clone() {
                let feature = &self.features()[place];
                let out = &mut out[feature.start - group.bins.start..][..feature.bins.codes()];
                let (block, lane) = (place / BLOCK, place % BLOCK);
                let at = (0..sides).position(|i| side(i).contains(&block)).expect("every block has a side");
                let table = |share: usize| &tables[share * sides + at][block - side(at).start][lane];
                out.copy_from_slice(&table(0)[..out.len()]);
                for share in 1..shares {
                    out.iter_mut().zip(table(share)).for_each(|(sum, &more)| *sum += more);
                }
            }
        });
    }

    /// Documents without a stored value have the code of 0, so its bin is the total minus all other bins.
    fn add_zeros(&self, total: GradientSums, out: &mut [GradientSums]) {
        for feature in self.features() {
            let bins = &mut out[feature.start..][..feature.bins.codes()];
            let given = bins.iter().fold(GradientSums::default(), |a, &b| a + b);
            bins[usize::from(feature.bins.code(0.0))] += total - given;
        }
    }
}

/// Splits an array into the ranges of the groups.
pub(super) fn split<'a, T>(mut whole: &'a mut [T], groups: &[Group]) -> Vec<&'a mut [T]> {
    groups
        .iter()
        .map(|group| {
            let (piece, rest) = std::mem::take(&mut whole).split_at_mut(group.bins.len());
            whole = rest;
            piece
        })
        .collect()
}

/// Sums by feature and code. A feature's part is longer than its codes: if it were 4,096 bytes long, equal codes of
/// adjacent features would differ in the upper bits of their addresses only, which processors compare last, and the
/// next addition would wait for the one before.
type Table = [[GradientSums; CODES + 4]; BLOCK];

/// The number of documents summed for one block before the next block, so that their codes and gradients stay in the
/// first-level cache.
const CHUNK: usize = 1 << 9;

/// The room for the codes of a chunk; not a power of two, for the same reason as in [`Table`].
const STRIDE: usize = CHUNK + 24;

/// The sums by feature and code, for each requested block.
fn tables(rows: &[[u8; BLOCK]], blocks: usize, wanted: Range<usize>, members: Members<'_>) -> Vec<Table> {
    let mut tables = vec![[[GradientSums::default(); CODES + 4]; BLOCK]; wanted.len()];
    let mut codes = vec![[0; BLOCK]; wanted.len() * STRIDE];
    for (members, gradients) in members.rows.chunks(CHUNK).zip(members.gradients.chunks(CHUNK)) {
        gather(rows, blocks, &wanted, members, &mut codes);
        for (table, codes) in tables.iter_mut().zip(codes.chunks_exact(STRIDE)) {
            for (codes, &gradient) in codes.iter().zip(gradients) {
                add_document(table, *codes, gradient);
            }
        }
    }
    tables
}

/// Copies the codes of some documents, block by block. Many cache misses are in flight at once here; summation keeps
/// the processor too busy to look ahead.
fn gather(
    rows: &[[u8; BLOCK]],
    blocks: usize,
    wanted: &Range<usize>,
    members: &[u32],
    codes: &mut [[u8; BLOCK]],
) {
    for (i, &row) in members.iter().enumerate() {
        let row = &rows[row as usize * blocks..][wanted.clone()];
        for (block, of_row) in row.iter().enumerate() {
            codes[block * STRIDE + i] = *of_row;
        }
    }
}

/// The eight codes are loaded as one number: fewer loads have to be compared with the stores before them.
#[inline(always)]
fn add_document(table: &mut Table, codes: [u8; BLOCK], gradient: GradientSums) {
    let codes = u64::from_le_bytes(codes);
    for lane in 0..BLOCK {
        table[lane][usize::from((codes >> (8 * lane)) as u8)] += gradient;
    }
}

/// Large leaves are halved between threads, and the halves added.
fn add_sparse(starts: &[usize], places: &[u32], members: Members<'_>, out: &mut [GradientSums]) {
    if members.rows.len() >= 2 * ROWS_PER_TASK && rayon::current_num_threads() > 1 {
        let mut other = vec![GradientSums::default(); out.len()];
        rayon::join(
            || add_sparse(starts, places, members.share(0, 2), out),
            || add_sparse(starts, places, members.share(1, 2), &mut other),
        );
        out.iter_mut().zip(other).for_each(|(a, b)| *a += b);
        return;
    }
    out.fill(GradientSums::default());
    for (&row, &gradient) in members.rows.iter().zip(members.gradients) {
        for &place in &places[starts[row as usize]..starts[row as usize + 1]] {
            out[place as usize] += gradient;
        }
    }
}
