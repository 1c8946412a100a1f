//! The feature matrix: f32 rows, dense or compressed sparse.

/// Feature values of all documents, one row each. A value that is absent from a sparse row is 0; a value that is
/// missing (`NULL`, `NaN`, an empty cell) is stored as NaN in both layouts.
#[derive(Debug, Clone, PartialEq)]
pub enum Features {
    /// All values, row after row.
    Dense {
        /// Values per row.
        width: usize,
        /// `rows × width` values.
        values: Vec<f32>,
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

impl Default for Features {
    fn default() -> Self {
        Features::Dense { width: 0, values: Vec::new() }
    }
}

impl Features {
    /// Number of columns.
    pub fn width(&self) -> usize {
        match self {
            Features::Dense { width, .. } | Features::Sparse { width, .. } => *width,
        }
    }

    /// The stored values: all of a dense matrix, or those given in a sparse one.
    pub fn values(&self) -> &[f32] {
        match self {
            Features::Dense { values, .. } | Features::Sparse { values, .. } => values,
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
            Features::Dense { values, .. } | Features::Sparse { values, .. } => values,
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
                Features::Dense { width: *width, values: chosen }
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
    pub fn iter(self) -> impl Iterator<Item = (usize, f32)> + 'a {
        let (columns, values): (Option<&[u32]>, &[f32]) = match self {
            Row::Dense(values) => (None, values),
            Row::Sparse(columns, values) => (Some(columns), values),
        };
        values.iter().enumerate().map(move |(i, &v)| (columns.map_or(i, |c| c[i] as usize), v))
    }

    /// `Σ w[c]·x[c]`, summed in f64; missing values count as 0.
    pub fn dot(self, w: &[f64]) -> f64 {
        match self {
            Row::Dense(values) => dense_dot(values, w),
            Row::Sparse(columns, values) => sparse_dot(columns, values, w),
        }
    }

    /// `out[c] += r·x[c]`; missing values count as 0.
    pub fn add_scaled(self, r: f64, out: &mut [f64]) {
        match self {
            Row::Dense(values) => {
                for (o, &x) in out.iter_mut().zip(values) {
                    *o += r * known(x);
                }
            }
            Row::Sparse(columns, values) => {
                for (&c, &x) in columns.iter().zip(values) {
                    out[c as usize] += r * known(x);
                }
            }
        }
    }
}

/// A missing value counts as 0 in a linear model.
fn known(x: f32) -> f64 {
    if x.is_nan() { 0.0 } else { f64::from(x) }
}

/// The number of partial sums of a product.
const LANES: usize = 8;

/// Eight partial sums let the compiler use vector registers; their order is fixed, so the result is too.
fn dense_dot(x: &[f32], w: &[f64]) -> f64 {
    let mut sums = [0.0f64; LANES];
    let ((x8, x_rest), (w8, w_rest)) = (x.as_chunks::<LANES>(), w[..x.len()].as_chunks::<LANES>());
    for place in 0..x8.len() {
        for i in 0..LANES {
            sums[i] += known(x8[place][i]) * w8[place][i];
        }
    }
    total(sums, x_rest.iter().zip(w_rest).map(|(&x, &w)| known(x) * w).sum())
}

/// The sum of a dense row of as many columns as there are weights, in the same order. Its zeros add nothing, so both are
/// equal to the last bit, and so are the models that are learned from either.
fn sparse_dot(columns: &[u32], values: &[f32], w: &[f64]) -> f64 {
    let product = |i: usize| known(values[i]) * w[columns[i] as usize];
    let first_of_rest = w.len() - w.len() % LANES;
    let whole = columns.partition_point(|&column| (column as usize) < first_of_rest);
    let mut sums = [0.0f64; LANES];
    for i in 0..whole {
        sums[columns[i] as usize % LANES] += product(i);
    }
    total(sums, (whole..columns.len()).map(product).sum())
}

fn total(sums: [f64; LANES], rest: f64) -> f64 {
    ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) + rest
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
}
