//! Equality of feature rows across layouts, and groups of equal rows.

use super::{Dataset, Query, Row};
use crate::parallel;
use std::collections::HashMap;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// The bits by which values are compared: all missing values are equal, and so are 0 and −0.
pub(super) fn canonical_bits(x: f32) -> u32 {
    if x.is_nan() {
        f32::NAN.to_bits()
    } else if x == 0.0 {
        0
    } else {
        x.to_bits()
    }
}

/// The values of a row other than 0, in an order that does not depend on the layout.
fn nonzeros(row: Row<'_>) -> impl Iterator<Item = (usize, u32)> {
    row.iter().map(|(c, x)| (c, canonical_bits(x))).filter(|&(_, bits)| bits != 0)
}

/// Whether all values of a row are 0; a missing value is not 0.
pub(super) fn is_zero(row: Row<'_>) -> bool {
    nonzeros(row).next().is_none()
}

/// Whether two rows have the same values. Missing values are equal, and so are 0 and −0.
pub(crate) fn equal_rows(a: Row<'_>, b: Row<'_>) -> bool {
    nonzeros(a).eq(nonzeros(b))
}

/// `cells` is there to be used again.
fn hash(row: Row<'_>, cells: &mut Vec<u8>) -> u64 {
    cells.clear();
    for (column, x) in row.iter() {
        let bits = canonical_bits(x);
        if bits != 0 {
            let cell = (column as u64) << 32 | u64::from(bits);
            cells.extend_from_slice(&cell.to_le_bytes());
        }
    }
    xxh3_64(cells)
}

impl Dataset {
    /// Number of queries that are also in `other`: with the same id, labels and features.
    pub fn queries_shared_with(&self, other: &Dataset) -> usize {
        let by_id: HashMap<&str, usize> = other.queries().map(|query| (query.id(), query.index())).collect();
        let is_same = |mine: Query<'_>, theirs: Query<'_>| {
            let row = |(a, b): (usize, usize)| nonzeros(self.row(a)).eq(nonzeros(other.row(b)));
            mine.labels() == theirs.labels() && mine.range().zip(theirs.range()).all(row)
        };
        let found = |query: &Query<'_>| {
            by_id.get(query.id()).is_some_and(|&index| is_same(*query, other.query(index)))
        };
        self.queries().filter(found).count()
    }

    /// A number for each query that depends on its id, labels and features: equal for queries that are
    /// [shared](Dataset::queries_shared_with), and almost never for others.
    pub(crate) fn query_fingerprints(&self) -> Vec<u64> {
        let mut cells = Vec::new();
        let mut of_query = |query: Query<'_>| {
            let mut all = query.id().as_bytes().to_vec();
            for (row, label) in query.range().zip(query.labels()) {
                all.extend(hash(self.row(row), &mut cells).to_le_bytes());
                all.extend(canonical_bits(*label).to_le_bytes());
            }
            xxh3_64(&all)
        };
        self.queries().map(&mut of_query).collect()
    }
}

/// A note on validation queries that are also training queries, if there are any.
pub fn shared_queries_note(shared: usize, all: usize) -> Option<String> {
    let queries = if all == 1 { "query" } else { "queries" };
    (shared > 0).then(|| {
        format!(
            "{shared} of {all} validation {queries} are also training queries, so their values are too good and settings \
             chosen by them overfit; use other queries to validate"
        )
    })
}

/// Groups of two or more equal rows among the documents numbered `rows`. Rows ascend within a group, and groups by
/// their first row.
pub(super) fn identical_rows(data: &Dataset, rows: Range<usize>) -> Vec<Vec<usize>> {
    let mut hashed: Vec<(u64, usize)> =
        parallel::map_with(rows, Vec::new, |cells, r| (hash(data.row(r), cells), r));
    hashed.sort_unstable();
    let mut groups = Vec::new();
    for run in hashed.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
        // Hashes may collide: only rows that are equal value for value share a group.
        let mut found: Vec<Vec<usize>> = Vec::new();
        for &(_, r) in run {
            match found.iter_mut().find(|g| equal_rows(data.row(g[0]), data.row(r))) {
                Some(group) => group.push(r),
                None => found.push(vec![r]),
            }
        }
        groups.extend(found.into_iter().filter(|g| g.len() > 1));
    }
    groups.sort_unstable();
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_queries_have_the_same_id_labels_and_features() {
        let data = |values: Vec<f32>, ids: [&str; 2]| {
            Dataset::dense(values, 2, vec![1.0, 0.0], &[1, 1]).unwrap().with_query_ids(ids).unwrap()
        };
        let one = data(vec![1.0, f32::NAN, 0.0, 2.0], ["a", "b"]);
        let sparse = Dataset::sparse(
            vec![0, 2, 3],
            vec![0, 1, 1],
            vec![1.0, f32::NAN, 2.0],
            2,
            vec![1.0, 0.0],
            &[1, 1],
        );
        assert_eq!(one.queries_shared_with(&sparse.unwrap().with_query_ids(["a", "b"]).unwrap()), 2);
        let other = data(vec![1.0, f32::NAN, 0.0, 2.5], ["a", "b"]);
        assert_eq!(one.queries_shared_with(&other), 1);
        let equal = |place: usize| one.query_fingerprints()[place] == other.query_fingerprints()[place];
        assert!(equal(0) && !equal(1));
        assert_eq!(one.queries_shared_with(&data(vec![1.0, f32::NAN, 0.0, 2.0], ["c", "d"])), 0);
    }
}
