//! Trees on data that is divided among workers.
//!
//! Every worker bins, partitions and sums its own documents. The driver adds their histograms, subtracts, searches for
//! splits and says which it found. Sums are integers, so the trees are those of one machine.

use super::bins::{FeatureBins, sampled, sampled_of};
use super::gradients::GradientSums;
use super::grow::{Context, Grower, Leaf, Sides, TreeInProgress, Wish};
use super::histogram::{Histogram, Members};
use super::search::{Node, Split};
use crate::data::{Dataset, Row};
use crate::exchange::Bytes;
use crate::parallel;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The number of sampled values that the workers send at a time, all together.
const VALUES_AT_ONCE: usize = 1 << 24;

/// The sampled values of a column.
#[derive(Default, Serialize, Deserialize)]
struct Column {
    values: Vec<f32>,
    /// The number of further values, which are 0.
    zeros: usize,
    /// Whether any document, sampled or not, lacks the value.
    missing: bool,
}

/// The bins of all columns, by the documents that one machine would sample.
pub(super) fn cut(data: &Dataset, max_bins: usize) -> Vec<FeatureBins> {
    let at_once = (VALUES_AT_ONCE / sampled(data.whole().documents).len().max(1)).max(1);
    let mut all = Vec::with_capacity(data.width());
    for first in (0..data.width()).step_by(at_once) {
        let columns = first..(first + at_once).min(data.width());
        let width = columns.len();
        all.extend(data.decide(
            || columns_of(data, columns),
            |workers| {
                let bins = |c: Column| FeatureBins::with_zeros(c.values, c.zeros, c.missing, max_bins);
                parallel::map(joined(workers, width), bins)
            },
        ));
    }
    all
}

/// The sampled values of some columns of this worker's documents.
fn columns_of(data: &Dataset, columns: Range<usize>) -> Vec<Column> {
    let mut found: Vec<Column> = columns.clone().map(|_| Column::default()).collect();
    let mut sample = sampled_of(data.whole(), data.len()).peekable();
    for row in 0..data.len() {
        let is_sampled = sample.next_if_eq(&row).is_some();
        let mut put = |column: usize, x: f32| {
            let found = &mut found[column - columns.start];
            found.missing |= x.is_nan();
            if is_sampled && x != 0.0 {
                found.values.push(x);
            }
        };
        match data.row(row) {
            Row::Dense(values) => columns.clone().for_each(|column| put(column, values[column])),
            Row::Sparse(stored, values) => {
                let from = stored.partition_point(|&column| (column as usize) < columns.start);
                let inside = stored.iter().zip(values).skip(from);
                let inside = inside.take_while(|(column, _)| (**column as usize) < columns.end);
                inside.for_each(|(&column, &x)| put(column as usize, x));
            }
        }
    }
    let taken = sampled_of(data.whole(), data.len()).len();
    found.iter_mut().for_each(|column| column.zeros = taken - column.values.len());
    found
}

/// The columns of all workers as one.
fn joined(workers: Vec<Vec<Column>>, width: usize) -> Vec<Column> {
    let mut whole: Vec<Column> = (0..width).map(|_| Column::default()).collect();
    for (at, part) in workers.into_iter().flat_map(|columns| columns.into_iter().enumerate()) {
        whole[at].values.extend(part.values);
        whole[at].zeros += part.zeros;
        whole[at].missing |= part.missing;
    }
    whole
}

/// The number of bins of a block.
const BLOCK: usize = 64;

/// The number of bins that the driver adds as one task.
const PART: usize = 32 * BLOCK;

/// A histogram in parts, as bytes.
fn pack(histogram: &[GradientSums]) -> Vec<Bytes> {
    histogram.chunks(PART).map(pack_part).collect()
}

/// Bins without those that are empty: for each block, which of them are not empty, and these.
fn pack_part(histogram: &[GradientSums]) -> Bytes {
    let mut bytes = Vec::with_capacity(size_of_val(histogram) / 2);
    for block in histogram.chunks(BLOCK) {
        let used = block.iter().enumerate().filter(|(_, bin)| **bin != GradientSums::default());
        let used = used.fold(0u64, |used, (place, _)| used | 1 << place);
        bytes.extend_from_slice(&used.to_le_bytes());
        let inside = block.iter().enumerate().filter(|(place, _)| used >> place & 1 == 1);
        inside.for_each(|(_, bin)| bytes.extend_from_slice(&bin.to_bytes()));
    }
    Bytes(bytes)
}

/// Adds a packed part of a histogram.
fn add_packed(sums: &mut [GradientSums], mut packed: &[u8]) {
    for block in sums.chunks_mut(BLOCK) {
        let (used, rest) = packed.split_first_chunk().expect("a block begins with the bins in use");
        let mut used = u64::from_le_bytes(*used);
        packed = rest;
        while used != 0 {
            let (bin, rest) = packed.split_first_chunk().expect("every bin in use has its sums");
            block[used.trailing_zeros() as usize] += GradientSums::from_bytes(*bin);
            packed = rest;
            used &= used - 1;
        }
    }
}

impl Grower<'_> {
    /// Lets the driver decide by the sums of histograms, and of totals, to which every worker contributes.
    #[track_caller]
    pub(super) fn decide_by_sums<R: Serialize + DeserializeOwned>(
        &self,
        own: impl FnOnce() -> (Vec<Histogram>, GradientSums),
        decide: impl FnOnce(Vec<Histogram>, GradientSums) -> R,
    ) -> R {
        let shard = self.parts().0.pieces().shard();
        if shard.exchange.is_none() {
            let (histograms, total) = own();
            return decide(histograms, total);
        }
        let contribute = || {
            let (histograms, total) = own();
            (parallel::map(&histograms, |histogram| pack(histogram)), total)
        };
        shard.decide(contribute, |workers: Vec<(Vec<Vec<Bytes>>, GradientSums)>| {
            let total = workers.iter().fold(GradientSums::default(), |sum, (_, total)| sum + *total);
            let count = workers.first().map_or(0, |(packed, _)| packed.len());
            let bins = self.parts().0.total_bins();
            let sums = parallel::map(0..count, |place| {
                let mut sums = vec![GradientSums::default(); bins];
                parallel::for_each(sums.chunks_mut(PART).enumerate(), |(part, sums)| {
                    workers.iter().for_each(|(packed, _)| add_packed(sums, &packed[place][part].0));
                });
                sums
            });
            decide(sums, total)
        })
    }

    /// The root with all documents.
    pub(super) fn root_of_all(&self, context: &Context<'_>, own: Members<'_>) -> Leaf {
        let mut kept = Histogram::new();
        let (total, best) = self.decide_by_sums(
            || {
                let (histogram, total) = self.histogram_of(own);
                (vec![histogram], total)
            },
            |mut sums, total| {
                kept = sums.pop().expect("one histogram");
                (total, self.search_all(context, Node::root(total), &kept))
            },
        );
        let mut root = Leaf::new(0..own.rows.len(), Node::root(total), 0);
        root.best = best;
        root.histogram = Some(kept);
        root
    }

    /// Finds what the leaves `chosen` become when they are split. Where the driver keeps a histogram, workers have an empty
    /// one, so that all agree on which there are.
    pub(super) fn plan_for_all(
        &self,
        context: &Context<'_>,
        growing: &mut TreeInProgress,
        chosen: &[usize],
        wish: Wish,
    ) {
        let mut sides: Vec<Sides> = Vec::with_capacity(chosen.len());
        let (mut parents, mut ranges) = (Vec::new(), Vec::new());
        for &leaf in chosen {
            let histogram = growing.leaves[leaf].histogram.take();
            let range = growing.leaves[leaf].rows.clone();
            let mut rows = growing.rows.slices_mut(vec![range.clone()]).pop().expect("one slice");
            let both = self.part(context, &growing.leaves[leaf], &mut rows, wish);
            if both.are_wanted() {
                ranges.extend(histogram.is_none().then_some(range));
                ranges.push(both.children[both.small].rows.clone());
            }
            sides.push(both);
            parents.push(histogram);
        }
        if sides.iter().any(Sides::are_wanted) {
            self.search_for_all(context, growing, &mut sides, parents, ranges, wish);
        }
        for (&leaf, both) in chosen.iter().zip(sides) {
            growing.leaves[leaf].children = Some(Box::new(both.children));
        }
    }

    /// Finds the best splits of the children in `sides`. `ranges` are the rows whose histograms are needed: of every
    /// parent without one, and of every smaller child.
    fn search_for_all(
        &self,
        context: &Context<'_>,
        growing: &TreeInProgress,
        sides: &mut [Sides],
        parents: Vec<Option<Histogram>>,
        ranges: Vec<Range<usize>>,
        wish: Wish,
    ) {
        let own = || {
            let of = |range| self.histogram_of(growing.rows.members(range, context.gradients)).0;
            (ranges.into_iter().map(of).collect(), GradientSums::default())
        };
        let found: Vec<[Option<Split>; 2]> = self.decide_by_sums(own, |sums, _| {
            let mut sums = sums.into_iter();
            for (both, parent) in sides.iter_mut().zip(parents).filter(|(both, _)| both.are_wanted()) {
                let mut next = || sums.next().expect("a histogram for each range");
                let of_large = parent.unwrap_or_else(&mut next);
                self.search_sides(context, both, [next(), of_large], wish, |_, _| ());
            }
            sides.iter().map(Sides::bests).collect()
        });
        for (both, bests) in sides.iter_mut().zip(found) {
            for (child, best) in both.children.iter_mut().zip(bests) {
                child.best = best;
                if best.is_some() && wish.keep {
                    child.histogram.get_or_insert_default();
                }
            }
        }
    }
}
