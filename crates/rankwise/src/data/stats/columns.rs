//! The pass over the columns of a data set, and equal columns.

use crate::data::identical::canonical_bits;
use crate::data::{Dataset, Row};
use crate::parallel;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// What the pass over the rows accumulates for one column.
#[derive(Debug, Clone)]
pub(super) struct Column {
    /// Minimum and maximum of the values other than 0.
    pub(super) min: f32,
    pub(super) max: f32,
    pub(super) sum: f64,
    /// Documents with a value other than 0 that is not missing.
    pub(super) nonzero: usize,
    pub(super) missing: usize,
    /// Whether two documents of one query differ.
    pub(super) varies_in_query: bool,
    /// Whether two values other than 0 differ.
    varies: bool,
    /// A hash of the values other than 0 and their rows.
    hash: u64,
    /// The first value other than 0, as canonical bits.
    first: u32,
    /// The current query, and the canonical bits and number of its values other than 0.
    run: (usize, u32, usize),
}

impl Column {
    fn new() -> Self {
        Column {
            min: f32::INFINITY,
            max: f32::NEG_INFINITY,
            sum: 0.0,
            nonzero: 0,
            missing: 0,
            varies_in_query: false,
            varies: false,
            hash: 0,
            first: 0,
            run: (usize::MAX, 0, 0),
        }
    }

    /// Whether all `documents` values are the same.
    pub(super) fn is_constant(&self, documents: usize) -> bool {
        let other_than_zero = self.nonzero + self.missing;
        !self.varies && (other_than_zero == 0 || other_than_zero == documents)
    }

    fn add(&mut self, data: &Dataset, query: usize, row: usize, x: f32) {
        let bits = canonical_bits(x);
        if bits == 0 {
            return;
        }
        if x.is_nan() {
            self.missing += 1;
        } else {
            self.nonzero += 1;
            self.min = self.min.min(x);
            self.max = self.max.max(x);
            self.sum += f64::from(x);
        }
        if self.first == 0 {
            self.first = bits;
        }
        self.varies |= bits != self.first;
        self.hash = self.hash.wrapping_add(mix((row as u64) << 32 ^ mix(u64::from(bits))));
        if self.run.0 == query {
            self.varies_in_query |= bits != self.run.1;
            self.run.2 += 1;
        } else {
            self.end_run(data);
            self.run = (query, bits, 1);
        }
    }

    /// A column also varies in a query if only some documents have a value other than 0.
    fn end_run(&mut self, data: &Dataset) {
        let (query, _, count) = self.run;
        self.varies_in_query |= query != usize::MAX && count != data.query(query).len();
    }
}

/// The finaliser of MurmurHash3: a bijection that spreads every bit.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    z = (z ^ (z >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    z ^ (z >> 33)
}

/// Columns per stripe: 16 f32 fill a cache line, and 16 stripes are enough for the threads.
fn stripe_width(width: usize) -> usize {
    width.div_ceil(16).max(16)
}

/// Scans all columns, stripes in parallel.
pub(super) fn scan(data: &Dataset) -> Vec<Column> {
    let (width, stripe) = (data.width(), stripe_width(data.width()));
    let starts: Vec<usize> = (0..width).step_by(stripe).collect();
    parallel::flat_map(starts, |start| scan_stripe(data, start..(start + stripe).min(width)))
}

fn scan_stripe(data: &Dataset, range: Range<usize>) -> Vec<Column> {
    let mut columns = vec![Column::new(); range.len()];
    for query in data.queries() {
        for row in query.range() {
            for (c, x) in within(data.row(row), &range) {
                columns[c - range.start].add(data, query.index(), row, x);
            }
        }
    }
    columns.iter_mut().for_each(|c| c.end_run(data));
    columns
}

/// The stored values of a row whose columns lie in `range`.
fn within<'a>(row: Row<'a>, range: &Range<usize>) -> impl Iterator<Item = (usize, f32)> + use<'a> {
    let (offset, part) = match row {
        Row::Dense(values) => (range.start, Row::Dense(&values[range.clone()])),
        Row::Sparse(columns, values) => {
            let cut = |end: usize| columns.partition_point(|&c| (c as usize) < end);
            let kept = cut(range.start)..cut(range.end);
            (0, Row::Sparse(&columns[kept.clone()], &values[kept]))
        }
    };
    part.iter().map(move |(c, x)| (c + offset, x))
}

/// Groups of equal columns, except constant ones: found by hash, then compared value by value.
pub(super) fn duplicates(data: &Dataset, columns: &[Column]) -> Vec<Vec<usize>> {
    let mut first_with = HashMap::new();
    let mut like: Vec<usize> = (0..columns.len()).collect();
    for (i, c) in columns.iter().enumerate().filter(|(_, c)| !c.is_constant(data.len())) {
        like[i] = *first_with.entry((c.hash, c.nonzero, c.missing)).or_insert(i);
    }
    // Both columns have equally many values other than 0, so comparing those of one is enough.
    let unlike: Vec<usize> = parallel::flat_map(0..data.len(), |r| {
        let (row, like) = (data.row(r), &like);
        row.iter()
            .filter(move |&(c, x)| {
                like[c] != c && canonical_bits(x) != canonical_bits(row.get(like[c])) && x != 0.0
            })
            .map(|(c, _)| c)
    });
    unlike.into_iter().for_each(|c| like[c] = c);
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (c, &first) in like.iter().enumerate().filter(|&(c, &first)| c != first) {
        groups.entry(first).or_insert_with(|| vec![first]).push(c);
    }
    groups.into_values().collect()
}
