//! Histograms: for every feature and bin, the sums of the gradients of a leaf's documents.

use super::binned::{BLOCK, Binned, Codes};
use super::gradients::Sums;
use rayon::prelude::*;
use std::ops::Range;

/// Codes of one feature.
const CODES: usize = 256;

/// Documents that are worth a thread of their own.
const ROWS_A_TASK: usize = 1 << 12;

/// The bins of all features in one array, each feature's from its start.
pub(super) type Histogram = Vec<Sums>;

/// The documents of a leaf, ascending, with their gradients beside them.
#[derive(Clone, Copy)]
pub(super) struct Members<'a> {
    pub(super) rows: &'a [u32],
    pub(super) gradients: &'a [Sums],
}

impl<'a> Members<'a> {
    /// Part `number` of `of`, as large as the others.
    fn share(self, number: usize, of: usize) -> Members<'a> {
        let count = self.rows.len();
        let range = number * count / of..(number + 1) * count / of;
        Members { rows: &self.rows[range.clone()], gradients: &self.gradients[range] }
    }
}

/// Features that are looked at together, and where their bins are.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) features: Range<usize>,
    pub(super) bins: Range<usize>,
}

impl Binned {
    /// The features in groups that make a task each: whole blocks, as many in one as in another, enough groups for the
    /// threads there are. Exact sums do not mind how features are grouped.
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

    /// The sums of `members`, of which `total` are those of any one feature.
    pub(super) fn histogram(&self, members: Members<'_>, total: Sums, out: &mut [Sums]) {
        match self.codes() {
            Codes::Dense { rows, blocks, .. } => self.dense_histogram(rows, *blocks, members, out),
            Codes::Sparse { starts, places } => {
                add_sparse(starts, places, members, out);
                self.add_zeros(total, out);
            }
        }
    }

    /// Documents are shared out first, since all codes of one are neighbours; features only where documents are few.
    fn dense_histogram(&self, rows: &[[u8; BLOCK]], blocks: usize, members: Members<'_>, out: &mut [Sums]) {
        let threads = rayon::current_num_threads();
        let shares = (members.rows.len() / ROWS_A_TASK).clamp(1, threads);
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

    /// Documents without a value in a feature have the code of 0: what is missing to the total.
    fn add_zeros(&self, total: Sums, out: &mut [Sums]) {
        for feature in self.features() {
            let bins = &mut out[feature.start..][..feature.bins.codes()];
            let given = bins.iter().fold(Sums::default(), |a, &b| a + b);
            bins[usize::from(feature.bins.code(0.0))] += total - given;
        }
    }
}

/// Cuts an array into the groups' pieces.
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

type Table = [[Sums; CODES]; BLOCK];

/// Documents added up by one block before the next block: so many rows of codes stay in the second-level cache.
const CHUNK: usize = 1 << 10;

/// Sums by feature and code, for each wanted block.
fn tables(rows: &[[u8; BLOCK]], blocks: usize, wanted: Range<usize>, members: Members<'_>) -> Vec<Table> {
    let mut tables = vec![[[Sums::default(); CODES]; BLOCK]; wanted.len()];
    for (members, gradients) in members.rows.chunks(CHUNK).zip(members.gradients.chunks(CHUNK)) {
        std::hint::black_box(touch(rows, blocks, &wanted, members));
        for (table, block) in tables.iter_mut().zip(wanted.clone()) {
            for (&row, &gradient) in members.iter().zip(gradients) {
                add_document(table, &rows[row as usize * blocks + block], gradient);
            }
        }
    }
    tables
}

/// Reads a byte of each cache line of the rows to come, so that many misses are under way at once; adding up keeps the
/// processor too busy to look far ahead.
fn touch(rows: &[[u8; BLOCK]], blocks: usize, wanted: &Range<usize>, members: &[u32]) -> u8 {
    let mut read = 0;
    for &row in members {
        for block in wanted.clone().step_by(64 / BLOCK) {
            read |= rows[row as usize * blocks + block][0];
        }
    }
    read
}

#[inline(always)]
fn add_document(table: &mut [[Sums; CODES]; BLOCK], codes: &[u8; BLOCK], gradient: Sums) {
    for lane in 0..BLOCK {
        table[lane][usize::from(codes[lane])] += gradient;
    }
}

/// Large leaves are halved between threads, and the halves added.
fn add_sparse(starts: &[usize], places: &[u32], members: Members<'_>, out: &mut [Sums]) {
    if members.rows.len() >= 2 * ROWS_A_TASK && rayon::current_num_threads() > 1 {
        let mut other = vec![Sums::default(); out.len()];
        rayon::join(
            || add_sparse(starts, places, members.share(0, 2), out),
            || add_sparse(starts, places, members.share(1, 2), &mut other),
        );
        out.iter_mut().zip(other).for_each(|(a, b)| *a += b);
        return;
    }
    out.fill(Sums::default());
    for (&row, &gradient) in members.rows.iter().zip(members.gradients) {
        for &place in &places[starts[row as usize]..starts[row as usize + 1]] {
            out[place as usize] += gradient;
        }
    }
}
