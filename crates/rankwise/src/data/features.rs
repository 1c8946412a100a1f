//! The feature matrix: f32 rows, dense or compressed sparse.

use crate::sums::{self, LANES};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Feature values of all documents, one row each. A value that is absent from a sparse row is 0; a value that is
/// missing (`NULL`, `NaN`, an empty cell) is stored as NaN in both layouts.
#[derive(Debug, Clone, PartialEq)]
pub enum Features {
    /// All values, row after row.
    Dense {
        /// Values per row.
        width: usize,
        /// `rows × width` values.
        values: Values,
    },
    /// Only the values given, row after row (CSR).
    Sparse {
        /// Number of columns.
        width: usize,
        /// Where each row starts in `columns` and `values`; one more than there are rows.
        starts: Vec<usize>,
        /// The column of each value, ascending within a row.
        columns: Vec<u32>,
        /// The values.
        values: Vec<f32>,
    },
}

/// One document's features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Row<'a> {
    /// A value for every column.
    Dense(&'a [f32]),
    /// Columns, ascending, and their values; all others are 0.
    Sparse(&'a [u32], &'a [f32]),
}

/// The values of a dense matrix: a vector, or the memory of someone else.
#[derive(Clone)]
pub struct Values(Memory);

#[derive(Clone)]
enum Memory {
    Owned(Vec<f32>),
    Shared(Arc<dyn AsRef<[f32]> + Send + Sync>),
}

impl Values {
    /// Values that `owner` keeps, such as an array of another language. They are not copied until they are changed, and
    /// must not change as long as they are shared.
    ///
    /// ```
    /// use rankwise::data::{Dataset, Features, Values};
    /// use std::sync::Arc;
    /// let array: Arc<[f32]> = Arc::from([0.2, 0.9, 0.4]);
    /// let features = Features::Dense { width: 1, values: Values::shared(Arc::new(array)) };
    /// let data = Dataset::from_features(features, vec![0.0, 1.0, 0.0], &[3])?;
    /// assert_eq!(data.row(1).get(0), 0.9);
    /// # Ok::<(), rankwise::Error>(())
    /// ```
    pub fn shared(owner: Arc<dyn AsRef<[f32]> + Send + Sync>) -> Values {
        Values(Memory::Shared(owner))
    }

    /// The values as a vector; copies them if they are shared.
    pub fn into_vec(self) -> Vec<f32> {
        match self.0 {
            Memory::Owned(values) => values,
            Memory::Shared(owner) => (*owner).as_ref().to_vec(),
        }
    }
}

impl Deref for Values {
    type Target = [f32];

    #[inline]
    fn deref(&self) -> &[f32] {
        match &self.0 {
            Memory::Owned(values) => values,
            Memory::Shared(owner) => (**owner).as_ref(),
        }
    }
}

impl DerefMut for Values {
    fn deref_mut(&mut self) -> &mut [f32] {
        if let Memory::Shared(owner) = &self.0 {
            self.0 = Memory::Owned((**owner).as_ref().to_vec());
        }
        match &mut self.0 {
            Memory::Owned(values) => values,
            Memory::Shared(_) => unreachable!("shared values were copied"),
        }
    }
}

impl From<Vec<f32>> for Values {
    fn from(values: Vec<f32>) -> Self {
        Values(Memory::Owned(values))
    }
}

impl FromIterator<f32> for Values {
    fn from_iter<I: IntoIterator<Item = f32>>(values: I) -> Self {
        Vec::from_iter(values).into()
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Values) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Default for Features {
    fn default() -> Self {
        Features::dense(0, Vec::new())
    }
}

impl Features {
    /// A dense matrix with `width` values per row, row after row.
    pub fn dense(width: usize, values: impl Into<Values>) -> Features {
        Features::Dense { width, values: values.into() }
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        match self {
            Features::Dense { width, .. } | Features::Sparse { width, .. } => *width,
        }
    }

    /// The stored values: all of a dense matrix, or those given in a sparse one.
    pub fn values(&self) -> &[f32] {
        match self {
            Features::Dense { values, .. } => values,
            Features::Sparse { values, .. } => values,
        }
    }

    /// Row `index`. Panics if there is none.
    #[inline]
    pub fn row(&self, index: usize) -> Row<'_> {
        match self {
            Features::Dense { width, values } => Row::Dense(&values[index * width..(index + 1) * width]),
            Features::Sparse { starts, columns, values, .. } => {
                let range = starts[index]..starts[index + 1];
                Row::Sparse(&columns[range.clone()], &values[range])
            }
        }
    }

    /// The stored values, to be changed in place.
    pub fn values_mut(&mut self) -> &mut [f32] {
        match self {
            Features::Dense { values, .. } => values,
            Features::Sparse { values, .. } => values,
        }
    }

    /// The rows with these numbers, in that order.
    pub fn select(&self, rows: &[usize]) -> Features {
        match self {
            Features::Dense { width, values } => {
                let mut chosen = Vec::with_capacity(rows.len() * width);
                for &r in rows {
                    chosen.extend_from_slice(&values[r * width..(r + 1) * width]);
                }
                Features::dense(*width, chosen)
            }
            Features::Sparse { width, starts, columns, values } => {
                let (mut s, mut c, mut v) = (vec![0], Vec::new(), Vec::new());
                for &r in rows {
                    c.extend_from_slice(&columns[starts[r]..starts[r + 1]]);
                    v.extend_from_slice(&values[starts[r]..starts[r + 1]]);
                    s.push(c.len());
                }
                Features::Sparse { width: *width, starts: s, columns: c, values: v }
            }
        }
    }
}

impl<'a> Row<'a> {
    /// The value in `column`; 0 where a sparse row has none.
    #[inline]
    pub fn get(self, column: usize) -> f32 {
        match self {
            Row::Dense(values) => values[column],
            Row::Sparse(columns, values) => {
                columns.binary_search(&(column as u32)).map_or(0.0, |i| values[i])
            }
        }
    }

    /// `(column, value)` of every stored value, columns ascending.
    #[inline]
    pub fn iter(self) -> StoredValues<'a> {
        StoredValues { row: self, next: 0 }
    }

    /// `Σ w[c]·x[c]`, summed in f64; missing values count as 0.
    pub fn dot(self, w: &[f64]) -> f64 {
        match self {
            Row::Dense(values) => sums::add_up_products(values, w, |x, w| known(x) * w),
            Row::Sparse(columns, values) => sparse_dot(columns, values, w),
        }
    }

    /// `out[c] += r·x[c]`; missing values count as 0.
    pub fn add_scaled(self, r: f64, out: &mut [f64]) {
        match self {
            Row::Dense(values) => {
                let out = &mut out[..values.len()];
                for c in 0..values.len() {
                    out[c] += r * known(values[c]);
                }
            }
            Row::Sparse(columns, values) => {
                for (&c, &x) in columns.iter().zip(values) {
                    out[c as usize] += r * known(x);
                }
            }
        }
    }

    /// `out[c] += r·x[c]·factors[c]`; missing values count as 0.
    pub(crate) fn add_scaled_by(self, r: f64, factors: &[f64], out: &mut [f64]) {
        match self {
            Row::Dense(values) => {
                let (out, factors) = (&mut out[..values.len()], &factors[..values.len()]);
                for c in 0..values.len() {
                    out[c] += r * known(values[c]) * factors[c];
                }
            }
            Row::Sparse(columns, values) => {
                for (&c, &x) in columns.iter().zip(values) {
                    out[c as usize] += r * known(x) * factors[c as usize];
                }
            }
        }
    }

    /// Sets `out[c]` to 0 for every stored value of the row.
    pub(crate) fn clear(self, out: &mut [f64]) {
        match self {
            Row::Dense(values) => out[..values.len()].fill(0.0),
            Row::Sparse(columns, _) => columns.iter().for_each(|&c| out[c as usize] = 0.0),
        }
    }
}

/// The stored values of a row: see [`Row::iter`].
#[derive(Debug, Clone)]
pub struct StoredValues<'a> {
    row: Row<'a>,
    next: usize,
}

impl Iterator for StoredValues<'_> {
    type Item = (usize, f32);

    #[inline]
    fn next(&mut self) -> Option<(usize, f32)> {
        let i = self.next;
        self.next += 1;
        match self.row {
            Row::Dense(values) => Some((i, *values.get(i)?)),
            Row::Sparse(columns, values) => Some((*columns.get(i)? as usize, *values.get(i)?)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (Row::Dense(values) | Row::Sparse(_, values)) = self.row;
        let left = values.len().saturating_sub(self.next);
        (left, Some(left))
    }
}

/// A missing value counts as 0 in a linear model.
fn known(x: f32) -> f64 {
    if x.is_nan() { 0.0 } else { f64::from(x) }
}

/// The sum of a dense row of as many columns as there are weights, in the same order. Its zeros add nothing, so both are
/// equal to the last bit, and so are the models that are learned from either.
fn sparse_dot(columns: &[u32], values: &[f32], w: &[f64]) -> f64 {
    let product = |i: usize| known(values[i]) * w[columns[i] as usize];
    let first_of_rest = w.len() - w.len() % LANES;
    let whole = columns.partition_point(|&column| (column as usize) < first_of_rest);
    let mut lanes = [0.0f64; LANES];
    for i in 0..whole {
        lanes[columns[i] as usize % LANES] += product(i);
    }
    sums::total(lanes) + (whole..columns.len()).map(product).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_sparse_rows_agree_and_skip_missing_values() {
        let dense: Vec<f32> = (0..19).map(|i| if i % 3 == 0 { 0.0 } else { i as f32 }).collect();
        let columns: Vec<u32> = (0..19).filter(|i| i % 3 != 0).collect();
        let values: Vec<f32> = columns.iter().map(|&c| c as f32).collect();
        let w: Vec<f64> = (0..19).map(|i| 1.0 / (1.0 + i as f64)).collect();
        let by_hand: f64 = dense.iter().zip(&w).map(|(&x, &w)| f64::from(x) * w).sum();
        assert!((Row::Dense(&dense).dot(&w) - by_hand).abs() < 1e-12);
        assert_eq!(Row::Sparse(&columns, &values).dot(&w), Row::Dense(&dense).dot(&w));
        assert_eq!(Row::Dense(&[f32::NAN, 2.0]).dot(&[5.0, 1.5]), 3.0);
        let mut out = vec![1.0; 2];
        Row::Sparse(&[1], &[f32::NAN]).add_scaled(3.0, &mut out);
        Row::Dense(&[2.0, 0.5]).add_scaled(2.0, &mut out);
        assert_eq!(out, [5.0, 2.0]);
    }

    #[test]
    fn shared_values_are_borrowed_until_they_are_changed() {
        let owner: Arc<Vec<f32>> = Arc::new(vec![1.0, 2.0]);
        let shared = Values::shared(owner.clone());
        assert_eq!(shared.as_ptr(), owner.as_ptr());
        assert_eq!(shared.clone().as_ptr(), owner.as_ptr());
        let mut changed = shared.clone();
        changed[0] = 5.0;
        assert_eq!(
            (&changed[..], &shared[..], &owner[..]),
            (&[5.0, 2.0][..], &[1.0, 2.0][..], &[1.0, 2.0][..])
        );
    }
}
