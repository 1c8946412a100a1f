//! Sums over queries that do not depend on who adds.
//!
//! The queries are cut into pieces, by their sizes and the number of features alone. A sum is taken piece by piece. The sums
//! of the pieces are then added pairwise, as in a complete binary tree whose leaves are the pieces:
//!
//! ```text
//! ((p0 + p1) + (p2 + p3)) + ((p4 + p5) + (p6 + p7))
//! ```
//!
//! Threads and workers on other machines own pieces. An owner adds up whole branches of the tree and passes on their
//! sums, so the result has the same bits for any number of owners.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::ops::Range;

/// The maximum number of pieces, and thereby of workers that have something to do.
const MOST: usize = 1 << 10;

/// Pieces of fewer documents would cost more than they are worth.
const LEAST_DOCUMENTS: usize = 64;
/// A sum may have a number per feature, so a piece also has a document for every so many features.
const FEATURES_PER_DOCUMENT: usize = 16;
/// So many pieces are made of small data, too.
const FEW: usize = 16;

/// The number of pieces for this many queries, documents and features; a power of two.
fn count(queries: usize, documents: usize, width: usize) -> usize {
    let least = LEAST_DOCUMENTS.max(width / FEATURES_PER_DOCUMENT);
    let most = MOST.min(queries).min((documents / least).max(FEW));
    1 << most.max(1).ilog2()
}

/// The first query of each piece, and the number of queries: pieces have about the same number of documents. `bounds`
/// says where each query starts, and `width` is the number of features.
pub(crate) fn cut(bounds: &[usize], width: usize) -> Vec<usize> {
    let (queries, documents) = (bounds.len() - 1, bounds[bounds.len() - 1]);
    let pieces = count(queries, documents, width);
    let first = |piece: usize| {
        let start = (piece as u128 * documents as u128).div_ceil(pieces as u128) as usize;
        bounds[..queries].partition_point(|&bound| bound < start)
    };
    (0..pieces).map(first).chain([queries]).collect()
}

/// What can be summed over queries, and sent to another machine.
pub(crate) trait Term: Send + Serialize + DeserializeOwned {
    /// `self += other`
    fn add(&mut self, other: &Self);
}

/// The sum over the pieces of one branch.
pub(crate) fn branch_sum<T: Term>(pieces: Range<usize>, of: &(impl Fn(usize) -> T + Sync)) -> T {
    if pieces.len() == 1 {
        return of(pieces.start);
    }
    let middle = pieces.start + pieces.len() / 2;
    let (mut sum, right) =
        rayon::join(|| branch_sum(pieces.start..middle, of), || branch_sum(middle..pieces.end, of));
    sum.add(&right);
    sum
}

/// The largest branches of at most `most` pieces that cover `own` pieces.
pub(crate) fn branches(own: Range<usize>, most: usize) -> Vec<Range<usize>> {
    let (mut start, mut all) = (own.start, Vec::new());
    while start < own.end {
        let aligned = if start == 0 { usize::MAX } else { 1 << start.trailing_zeros() };
        let left = 1 << (own.end - start).ilog2();
        let end = start + aligned.min(left).min(most);
        all.push(start..end);
        start = end;
    }
    all
}

/// The sum of a branch, by the sums of smaller ones, which are listed with their first piece and number of pieces.
pub(crate) fn joined_sum<T: Term>(pieces: Range<usize>, known: &mut BTreeMap<(usize, usize), T>) -> T {
    if let Some(sum) = known.remove(&(pieces.start, pieces.len())) {
        return sum;
    }
    assert!(pieces.len() > 1, "piece {} has an owner", pieces.start);
    let middle = pieces.start + pieces.len() / 2;
    let mut sum = joined_sum(pieces.start..middle, known);
    sum.add(&joined_sum(middle..pieces.end, known));
    sum
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Term for $number {
            fn add(&mut self, other: &Self) {
                *self += *other;
            }
        }
    )*};
}
numbers!(f64, u64, usize);

/// Element by element.
impl<T: Term> Term for Vec<T> {
    fn add(&mut self, other: &Self) {
        assert_eq!(self.len(), other.len(), "terms of one sum have the same length");
        self.iter_mut().zip(other).for_each(|(a, b)| a.add(b));
    }
}

macro_rules! tuples {
    ($(($($part:ident $place:tt),*))*) => {$(
        impl<$($part: Term),*> Term for ($($part,)*) {
            fn add(&mut self, other: &Self) {
                $(self.$place.add(&other.$place);)*
            }
        }
    )*};
}
tuples!((A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3));

#[cfg(test)]
mod tests;
