//! The documents, grouped by leaf.

use super::binned::{Binned, Codes, wide_codes};
use super::gradients::Gradients;
use super::histogram::Members;
use super::search::Split;
use rayon::prelude::*;
use std::ops::Range;

/// The minimum number of documents for a task of its own.
const CHUNK: usize = 1 << 13;

/// Row numbers, grouped by leaf and ascending within each leaf.
#[derive(Debug)]
pub(super) struct RowPartition {
    rows: Vec<u32>,
    scratch: Vec<u32>,
}

/// The rows of one leaf, and room for as many.
pub(super) struct Rows<'a> {
    pub(super) rows: &'a mut [u32],
    scratch: &'a mut [u32],
}

impl RowPartition {
    /// Starts with the given rows in ascending order, or with all of `count` rows.
    pub(super) fn new(count: usize, given: Option<&[u32]>) -> RowPartition {
        let rows = given.map_or_else(|| (0..count as u32).collect(), <[u32]>::to_vec);
        RowPartition { scratch: vec![0; rows.len()], rows }
    }

    pub(super) fn all(&self) -> &[u32] {
        &self.rows
    }

    /// The rows in `range`, with the gradients of all documents.
    pub(super) fn members<'a>(&'a self, range: Range<usize>, gradients: &'a Gradients) -> Members<'a> {
        Members { rows: &self.rows[range], gradients: gradients.documents() }
    }

    /// The rows in each of `ranges`, which are ascending and do not overlap.
    pub(super) fn slices_mut(&mut self, ranges: Vec<Range<usize>>) -> Vec<Rows<'_>> {
        let (mut rows, mut scratch, mut end) = (&mut self.rows[..], &mut self.scratch[..], 0);
        let slice = |range: Range<usize>| {
            take_front(&mut rows, range.start - end);
            take_front(&mut scratch, range.start - end);
            end = range.end;
            Rows { rows: take_front(&mut rows, range.len()), scratch: take_front(&mut scratch, range.len()) }
        };
        ranges.into_iter().map(slice).collect()
    }

    /// Moves the rows of `range` that go left to the front and keeps the order on both sides. Returns the start of
    /// the right side.
    pub(super) fn partition(&mut self, range: Range<usize>, split: &Split, binned: &Binned) -> usize {
        let mut rows =
            Rows { rows: &mut self.rows[range.clone()], scratch: &mut self.scratch[range.clone()] };
        range.start + rows.partition(split, binned)
    }

    /// Takes a partition of `range` back.
    pub(super) fn restore(&mut self, range: Range<usize>) {
        // Two ascending runs, which this sort merges.
        self.rows[range].sort();
    }
}

impl Rows<'_> {
    /// Moves the rows that go left to the front and keeps the order on both sides. Returns how many go left.
    pub(super) fn partition(&mut self, split: &Split, binned: &Binned) -> usize {
        let Rows { rows, scratch } = self;
        let sides = split.sides(binned);
        let column = Column::of(split.feature, &sides, binned);
        let lefts: Vec<usize> = rows
            .par_chunks(CHUNK)
            .zip(scratch.par_chunks_mut(CHUNK))
            .map(|(rows, parted)| match &column {
                Column::Bundle(codes, sides) => {
                    part(rows, parted, |row| sides[usize::from(codes[row as usize])])
                }
                Column::Wide(codes) => part(rows, parted, |row| sides[usize::from(codes[row as usize])]),
                Column::Sparse => {
                    part(rows, parted, |row| sides[usize::from(binned.code(row as usize, split.feature))])
                }
            })
            .collect();
        let middle: usize = lefts.iter().sum();
        let (mut left, mut right) = rows.split_at_mut(middle);
        let mut moves = Vec::with_capacity(2 * lefts.len());
        for (parted, &count) in scratch.chunks(CHUNK).zip(&lefts) {
            let (to_left, to_right) = parted.split_at(count);
            moves.push((take_front(&mut left, to_left.len()), to_left));
            moves.push((take_front(&mut right, to_right.len()), to_right));
        }
        moves.into_par_iter().with_min_len(4).for_each(|(to, from)| to.copy_from_slice(from));
        middle
    }
}

/// The codes of a feature.
enum Column<'a> {
    /// Those of its bundle, and whether each goes left.
    Bundle(&'a [u8], Box<[bool; 256]>),
    /// Its own, which do not fit a byte.
    Wide(&'a [u16]),
    /// To be looked up row by row.
    Sparse,
}

impl<'a> Column<'a> {
    /// The codes of a feature; `sides` says whether each of its own goes left.
    fn of(feature: usize, sides: &[bool], binned: &'a Binned) -> Column<'a> {
        let Codes::Dense { bundles, columns, wide, .. } = binned.codes() else { return Column::Sparse };
        let Some((home, part)) = bundles.home(feature) else {
            return Column::Wide(wide_codes(wide, feature));
        };
        let mut of_bundle = Box::new([false; 256]);
        of_bundle.iter_mut().zip(&part.code_of).for_each(|(side, &code)| *side = sides[usize::from(code)]);
        Column::Bundle(&columns[home], of_bundle)
    }
}

/// Takes the first `count` items off a slice.
fn take_front<'a>(slice: &mut &'a mut [u32], count: usize) -> &'a mut [u32] {
    let (front, rest) = std::mem::take(slice).split_at_mut(count);
    *slice = rest;
    front
}

/// Writes the rows that go left to the front of `parted` and the others to its back, then reverses the back to
/// restore their order. Branch-free: rejected entries are overwritten.
fn part(rows: &[u32], parted: &mut [u32], goes_left: impl Fn(u32) -> bool) -> usize {
    let (mut left, mut right) = (0, rows.len());
    for &row in rows {
        let goes_left = goes_left(row);
        parted[left] = row;
        parted[right - 1] = row;
        left += usize::from(goes_left);
        right -= usize::from(!goes_left);
    }
    parted[left..].reverse();
    left
}
