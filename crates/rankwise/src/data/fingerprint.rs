//! The fingerprint of a data set.

use super::{Dataset, Row};
use crate::parallel;
use std::ops::Range;
use xxhash_rust::xxh3::Xxh3;

/// Documents that one task hashes; the same for any number of threads.
const CHUNK: usize = 1 << 12;

impl Dataset {
    /// A fingerprint of everything that learning looks at: features, labels, queries, their weights, and categories. It is
    /// the same for dense and sparse rows.
    pub fn fingerprint(&self) -> String {
        let mut hash = Xxh3::new();
        let mut put = |bytes: &[u8]| hash.update(bytes);
        for bound in self.bounds() {
            put(&(*bound as u64).to_le_bytes());
        }
        for query in self.queries() {
            put(&query.weight().to_le_bytes());
        }
        self.labels().iter().for_each(|label| put(&label.to_le_bytes()));
        let chunks = (0..self.len()).step_by(CHUNK).map(|start| start..self.len().min(start + CHUNK));
        for digest in parallel::map(chunks, |rows| self.digest_of_rows(rows)) {
            put(&digest.to_le_bytes());
        }
        if self.has_categories() {
            put(&serde_json::to_vec(&self.columns().categories).expect("categories are plain data"));
        }
        format!("xxh3:{:016x}:{}", hash.digest(), self.width())
    }

    /// The hash of the columns and values that are not 0.
    fn digest_of_rows(&self, rows: Range<usize>) -> u128 {
        let mut hash = Xxh3::new();
        let mut bytes = Vec::new();
        for row in rows {
            bytes.resize(8 * self.width().max(1), 0);
            let mut end = 0;
            let mut put = |column: usize, value: f32| {
                // Branch-free: a zero is overwritten by what comes next.
                bytes[end..end + 4].copy_from_slice(&(column as u32).to_le_bytes());
                bytes[end + 4..end + 8].copy_from_slice(&value.to_le_bytes());
                end += if value == 0.0 { 0 } else { 8 };
            };
            match self.row(row) {
                Row::Dense(values) => values.iter().enumerate().for_each(|(column, &x)| put(column, x)),
                Row::Sparse(columns, values) => {
                    columns.iter().zip(values).for_each(|(&column, &x)| put(column as usize, x));
                }
            }
            hash.update(&(end as u64).to_le_bytes());
            hash.update(&bytes[..end]);
        }
        hash.digest128()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_sparse_rows_have_one_fingerprint_and_every_change_another() {
        let dense =
            |values: &[f32]| Dataset::dense(values.to_vec(), 2, vec![1.0, 0.0], &[2]).unwrap().fingerprint();
        let sparse =
            Dataset::sparse(vec![0, 2, 3], vec![0, 1, 1], vec![0.0, 2.0, 3.0], 2, vec![1.0, 0.0], &[2]);
        let first = dense(&[0.0, 2.0, 0.0, 3.0]);
        assert_eq!(sparse.unwrap().fingerprint(), first);
        for other in [[2.0, 0.0, 0.0, 3.0], [0.0, 2.0, 3.0, 0.0], [0.0, 2.0, 0.0, 3.5], [0.0, 0.0, 2.0, 3.0]]
        {
            assert_ne!(dense(&other), first);
        }
    }
}
