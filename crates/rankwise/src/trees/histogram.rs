//! Histograms: the sums of gradients of a leaf's documents, for every feature and bin.

use super::binned::{BLOCK, Binned, Codes};
use super::bundles::Bundles;
use super::gradients::GradientSums;
use super::prefetch::prefetch;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The maximum number of codes of one bundle.
const CODES: usize = 256;

/// The minimum number of documents for a task of its own.
const ROWS_PER_TASK: usize = 1 << 12;

/// The number of documents that a task fetches at a time.
const PIECE: usize = 1 << 11;

/// The bins of all features in one array; each feature starts at its own offset.
pub(super) type Histogram = Vec<GradientSums>;

/// The documents of a leaf in ascending order, and the gradients of all documents.
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
        Members { rows: &self.rows[range], ..self }
    }

    /// The sum over all of them.
    pub(super) fn total(self) -> GradientSums {
        self.rows.iter().fold(GradientSums::default(), |sum, &row| sum + self.gradients[row as usize])
    }
}

/// Features that are processed together, and the range of their bins.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) features: Range<usize>,
    pub(super) bins: Range<usize>,
}

impl Binned {
    /// The features in groups, one task per group. Groups have about the same size, and there are enough of
    /// them for all threads. Sums are exact, so the grouping does not affect the result.
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

    /// Sums the gradients of `members`; `total` is the sum over all of them, which every feature has in common. The
    /// bins of dense data are still to be filled in.
    pub(super) fn sum(
        &self,
        members: Members<'_>,
        total: GradientSums,
        spare: &Spare<Tables>,
        out: &mut [GradientSums],
    ) -> Summed {
        match self.codes() {
            Codes::Dense { bundles, rows, blocks, wide, .. } => {
                let wide = wide.par_iter().map(|(place, codes)| {
                    let mut sums = vec![GradientSums::default(); self.features()[*place].bins.codes()];
                    members.rows.iter().for_each(|&row| {
                        sums[usize::from(codes[row as usize])] += members.gradients[row as usize];
                    });
                    (*place, sums)
                });
                let wide = wide.collect();
                Summed { wide, ..Summed::of(RowCodes { bundles, rows, blocks: *blocks }, members, spare) }
            }
            Codes::Sparse { starts, places } => {
                add_sparse(starts, places, members, out);
                self.add_zeros(total, out);
                Summed { tables: Vec::new(), sides: 1, blocks: 0, wide: Vec::new() }
            }
        }
    }

    /// Fills in the bins of the features in `group`.
    pub(super) fn fill(&self, summed: &Summed, group: &Group, out: &mut [GradientSums]) {
        let Codes::Dense { bundles, .. } = self.codes() else { return };
        for place in group.features.clone() {
            let feature = &self.features()[place];
            let out = &mut out[feature.start - group.bins.start..][..feature.bins.codes()];
            let Some((home, part)) = bundles.home(place) else {
                let found = summed.wide.binary_search_by_key(&place, |(wide, _)| *wide);
                out.copy_from_slice(&summed.wide[found.expect("every wide feature was summed")].1);
                continue;
            };
            let is_alone = bundles.list[home].parts.len() == 1;
            out.fill(GradientSums::default());
            summed.of_bundle(home).for_each(|sums| add_part(sums, &part.code_of, is_alone, out));
        }
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

/// Dense codes, row by row.
#[derive(Clone, Copy)]
struct RowCodes<'a> {
    bundles: &'a Bundles,
    rows: &'a [[u8; BLOCK]],
    blocks: usize,
}

/// The sums of a leaf's gradients by bundle and code, in parts that are still to be added.
pub(super) struct Summed {
    /// The tables of every task; tasks take the sides in turn.
    tables: Vec<Tables>,
    /// The blocks are divided among this many sides.
    sides: usize,
    blocks: usize,
    /// The sums of the features that are in no bundle.
    wide: Vec<(usize, Histogram)>,
}

impl Summed {
    /// Work is divided by documents first, because all codes of one document are adjacent, and by bundles only if
    /// there are few documents. Tasks fetch pieces of the documents until none is left, so that a slow processor holds
    /// up nobody. Sums are exact, so it does not matter who adds what.
    fn of(codes: RowCodes<'_>, members: Members<'_>, spare: &Spare<Tables>) -> Summed {
        let (threads, blocks) = (rayon::current_num_threads(), codes.blocks);
        let shares = (members.rows.len() / ROWS_PER_TASK).clamp(1, threads);
        let sides = (threads / shares).clamp(1, blocks.max(1));
        let piece = if shares == 1 { members.rows.len().max(1) } else { PIECE };
        let taken: Vec<AtomicUsize> = (0..sides).map(|_| AtomicUsize::new(0)).collect();
        let summed = |task: usize| {
            let side = task % sides;
            let mut tables = spare.take().unwrap_or_default();
            tables.clear(codes.bundles, side_of(side, sides, blocks));
            while let Some(rows) = members.rows.chunks(piece).nth(taken[side].fetch_add(1, Relaxed)) {
                tables.add(codes, rows, members.gradients);
            }
            tables
        };
        let tables = (0..shares * sides).into_par_iter().map(summed).collect();
        Summed { tables, sides, blocks, wide: Vec::new() }
    }

    /// The sums of one bundle, of every task that has some.
    fn of_bundle(&self, bundle: usize) -> impl Iterator<Item = &[GradientSums; ROOM]> {
        let (block, lane) = (bundle / BLOCK, bundle % BLOCK);
        let holds = |side: &usize| side_of(*side, self.sides, self.blocks).contains(&block);
        let side = (0..self.sides).find(holds).expect("every block has a side");
        let tasks = self.tables.iter().skip(side).step_by(self.sides).filter(|task| task.is_used);
        tasks.map(move |task| &task.tables[block - task.wanted.start][lane])
    }

    /// Gives the tables back for reuse.
    pub(super) fn spare(self, spare: &Spare<Tables>) {
        spare.give_back(self.tables);
    }
}

/// The blocks of a side.
fn side_of(side: usize, sides: usize, blocks: usize) -> Range<usize> {
    side * blocks / sides..(side + 1) * blocks / sides
}

/// Adds the sums of a bundle's codes to the bins of one of its features.
fn add_part(table: &[GradientSums; ROOM], code_of: &[u8], is_alone: bool, out: &mut [GradientSums]) {
    if is_alone {
        out.iter_mut().zip(table).for_each(|(sum, &more)| *sum += more);
    } else {
        code_of.iter().zip(table).for_each(|(&code, &more)| out[usize::from(code)] += more);
    }
}

/// The room for the sums of one bundle. It is longer than a bundle's codes: if it were 4,096 bytes long, equal codes of
/// adjacent bundles would differ in the upper bits of their addresses only, which processors compare last, and the
/// next addition would wait for the one before.
const ROOM: usize = CODES + 4;

/// Sums by bundle and code, for a block of bundles.
type Table = [[GradientSums; ROOM]; BLOCK];

/// The number of documents summed for one block before the next block, so that their codes and gradients stay in the
/// first-level cache.
const CHUNK: usize = 1 << 9;

/// The room for the codes of a chunk; not a power of two, for the same reason as [`ROOM`].
const STRIDE: usize = CHUNK + 24;

/// The number of blocks in a cache line.
const BLOCKS_PER_LINE: usize = 64 / BLOCK;

/// The sums of a task, and what it needs to compute them.
#[derive(Default)]
pub(super) struct Tables {
    /// The blocks of the sums.
    wanted: Range<usize>,
    tables: Vec<Table>,
    /// Whether anything was added.
    is_used: bool,
    /// The codes of a chunk of documents, block by block.
    codes: Vec<[[u8; BLOCK]; STRIDE]>,
    /// The gradients of these documents.
    gradients: Vec<GradientSums>,
}

/// Memory for reuse: new memory would have to be mapped and cleared for every leaf.
pub(super) struct Spare<T>(Mutex<Vec<T>>);

impl<T> Default for Spare<T> {
    fn default() -> Self {
        Spare(Mutex::new(Vec::new()))
    }
}

impl<T> Spare<T> {
    pub(super) fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    pub(super) fn give_back(&self, items: impl IntoIterator<Item = T>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(items);
    }
}

impl Tables {
    /// Makes room for the blocks in `wanted`, and sets the sums that they use to 0.
    fn clear(&mut self, bundles: &Bundles, wanted: Range<usize>) {
        self.tables.resize(wanted.len(), [[GradientSums::default(); ROOM]; BLOCK]);
        self.codes.resize(wanted.len(), [[0; BLOCK]; STRIDE]);
        self.gradients.resize(CHUNK, GradientSums::default());
        let rooms = self.tables.iter_mut().flatten();
        for (room, bundle) in rooms.zip(bundles.list.iter().skip(wanted.start * BLOCK)) {
            room[..bundle.codes].fill(GradientSums::default());
        }
        self.wanted = wanted;
        self.is_used = false;
    }

    /// Adds the documents in `rows`.
    fn add(&mut self, all: RowCodes<'_>, rows: &[u32], gradients: &[GradientSums]) {
        self.is_used = true;
        let mut chunks = rows.chunks(CHUNK).peekable();
        while let Some(chunk) = chunks.next() {
            self.gather(all, chunk, gradients);
            let next = chunks.peek().copied().unwrap_or_default();
            let (here, blocks) = (&self.gradients[..chunk.len()], self.tables.len());
            for (at, (table, codes)) in self.tables.iter_mut().zip(&self.codes).enumerate() {
                // A row starts anywhere in a line, so its last block may be in one line more.
                if at % BLOCKS_PER_LINE == 0 || at + 1 == blocks {
                    let block = self.wanted.start + at;
                    add_chunk(table, codes, here, |i| {
                        if let Some(&row) = next.get(i) {
                            prefetch(&all.rows[row as usize * all.blocks + block]);
                        }
                    });
                } else if at == 1 {
                    add_chunk(table, codes, here, |i| {
                        if let Some(&row) = next.get(i) {
                            prefetch(&gradients[row as usize]);
                        }
                    });
                } else {
                    add_chunk(table, codes, here, |_| ());
                }
            }
        }
    }

    /// Copies the codes and gradients of some documents. Many cache misses are in flight at once here; summation
    /// keeps the processor too busy to look ahead, and prefetches the documents of the next chunk for this reason.
    fn gather(&mut self, all: RowCodes<'_>, chunk: &[u32], gradients: &[GradientSums]) {
        for (i, &row) in chunk.iter().enumerate() {
            self.gradients[i] = gradients[row as usize];
            let row = &all.rows[row as usize * all.blocks..][self.wanted.clone()];
            for (codes, of_row) in self.codes.iter_mut().zip(row) {
                codes[i] = *of_row;
            }
        }
    }
}

/// Adds a chunk of documents to the sums of a block; `ahead` is called with the place of each, to prefetch something.
#[inline(always)]
fn add_chunk(
    table: &mut Table,
    codes: &[[u8; BLOCK]; STRIDE],
    gradients: &[GradientSums],
    ahead: impl Fn(usize),
) {
    for (i, (codes, &gradient)) in codes.iter().zip(gradients).enumerate() {
        ahead(i);
        add_document(table, *codes, gradient);
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
    for &row in members.rows {
        let gradient = members.gradients[row as usize];
        for &place in &places[starts[row as usize]..starts[row as usize + 1]] {
            out[place as usize] += gradient;
        }
    }
}
