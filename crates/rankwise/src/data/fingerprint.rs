//! The fingerprint of a data set.

use super::{Dataset, Query, Row};
use crate::parallel;
use std::ops::Range;
use xxhash_rust::xxh3::Xxh3;

impl Dataset {
    /// A fingerprint of everything that learning looks at: features, labels and whether they are clicks, queries, their
    /// weights, and categories. It is
    /// the same for dense and sparse rows, and for any number of workers that divide the data among them.
    pub fn fingerprint(&self) -> String {
        let mut hash = Xxh3::new();
        let mut put = |bytes: &[u8]| hash.update(bytes);
        let digests = self.gather(|| parallel::map(self.own_pieces(), |piece| self.digest_of_queries(piece)));
        digests.iter().for_each(|digest| put(&digest.to_le_bytes()));
        if self.has_categories() {
            put(&serde_json::to_vec(&self.columns().categories).expect("categories are plain data"));
        }
        if let Some(clicks) = self.click_labels() {
            put(&serde_json::to_vec(clicks).expect("numbers and texts are plain data"));
        }
        format!("xxh3:{:016x}:{}", hash.digest(), self.width())
    }

    /// The hash of some queries.
    fn digest_of_queries(&self, queries: Range<usize>) -> u128 {
        let (mut hash, mut bytes) = (Xxh3::new(), Vec::new());
        for query in queries.map(|index| self.query(index)) {
            hash.update(&(query.len() as u64).to_le_bytes());
            hash.update(&query.weight().to_le_bytes());
            query.labels().iter().for_each(|label| hash.update(&label.to_le_bytes()));
            self.put_rows(query, &mut hash, &mut bytes);
        }
        hash.digest128()
    }

    /// Adds the columns and values that are not 0.
    fn put_rows(&self, query: Query<'_>, hash: &mut Xxh3, bytes: &mut Vec<u8>) {
        for row in query.rows() {
            bytes.resize(8 * self.width().max(1), 0);
            let mut end = 0;
            let mut put = |column: usize, value: f32| {
                // Branch-free: a zero is overwritten by what comes next.
                bytes[end..end + 4].copy_from_slice(&(column as u32).to_le_bytes());
                bytes[end + 4..end + 8].copy_from_slice(&value.to_le_bytes());
                end += if value == 0.0 { 0 } else { 8 };
            };
            match row {
                Row::Dense(values) => values.iter().enumerate().for_each(|(column, &x)| put(column, x)),
                Row::Sparse(columns, values) => {
                    columns.iter().zip(values).for_each(|(&column, &x)| put(column as usize, x));
                }
            }
            hash.update(&(end as u64).to_le_bytes());
            hash.update(&bytes[..end]);
        }
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
