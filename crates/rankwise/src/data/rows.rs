//! Borrowed feature rows without labels, for scoring.

use super::{Features, MAX_FEATURES, Row};
use crate::error::{Error, Result};
use crate::parallel;
use std::ops::Range;

/// Values that one task checks. Fewer are checked at once, without threads.
const CHUNK: usize = 1 << 16;

/// Feature rows that someone else owns: dense f32 values, or compressed sparse rows (CSR).
///
/// Rows are checked when they are made. They hold no infinite value. NaN stands for a missing value, and a value
/// that is absent from a sparse row is 0. Copying a view copies no values.
///
/// ```
/// use rankwise::data::Rows;
/// let values = [0.1, 0.9, f32::NAN, 0.4, 0.0, 0.7];
/// let rows = Rows::dense(&values, 3)?;
/// assert_eq!((rows.len(), rows.width()), (2, 3));
/// // The first two columns of the same array.
/// let narrow = Rows::dense_strided(&values, 2, 2, 3)?;
/// assert_eq!(narrow.row(1).get(0), 0.4);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    layout: RowsLayout<'a>,
}

/// How the values of [`Rows`] lie in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RowsLayout<'a> {
    /// Row `r` is `values[r·stride..][..width]`; the values end with the last row.
    Dense { values: &'a [f32], rows: usize, width: usize, stride: usize },
    /// Row `r` has the columns and values at `starts[r]..starts[r + 1]`.
    Sparse { starts: &'a [usize], columns: &'a [u32], values: &'a [f32], width: usize },
}

impl<'a> Rows<'a> {
    /// Rows of `width` values each, one after the other.
    pub fn dense(values: &'a [f32], width: usize) -> Result<Rows<'a>> {
        if width == 0 || !values.len().is_multiple_of(width) {
            return Err(Error::data(format!(
                "{} feature values are not rows of {width} columns each",
                values.len()
            )));
        }
        Rows::dense_strided(values, values.len() / width, width, width)
    }

    /// `rows` rows of `width` values each, where each row begins `stride` values after the one before.
    pub fn dense_strided(values: &'a [f32], rows: usize, width: usize, stride: usize) -> Result<Rows<'a>> {
        check_width(width)?;
        if width == 0 || stride < width {
            return Err(Error::data(format!(
                "rows of {width} columns cannot begin every {stride} values: the stride must be at least the number \
                 of columns, and there must be columns"
            )));
        }
        let needed = match rows.checked_sub(1) {
            Some(before) => before.checked_mul(stride).and_then(|end| end.checked_add(width)),
            None => Some(0),
        };
        let Some(values) = needed.and_then(|needed| values.get(..needed)) else {
            return Err(Error::data(format!(
                "{} feature values are too few for {rows} rows of {width} columns with a stride of {stride}",
                values.len()
            )));
        };
        let infinite = if stride == width {
            any_infinite(values)
        } else {
            values.chunks(stride).any(|row| row[..width].iter().any(|x| x.is_infinite()))
        };
        if infinite {
            return Err(infinite_value());
        }
        Ok(Rows { layout: RowsLayout::Dense { values, rows, width, stride } })
    }

    /// Sparse rows over `width` columns (CSR): row `r` has the columns and values at `starts[r]..starts[r + 1]`, with
    /// its columns ascending. `starts` has one entry more than there are rows.
    pub fn sparse(
        starts: &'a [usize],
        columns: &'a [u32],
        values: &'a [f32],
        width: usize,
    ) -> Result<Rows<'a>> {
        check_width(width)?;
        check_sparse(starts, columns, values, width)?;
        if any_infinite(values) {
            return Err(infinite_value());
        }
        Ok(Rows { layout: RowsLayout::Sparse { starts, columns, values, width } })
    }

    /// The rows of features that were checked before.
    pub(crate) fn of_features(features: &'a Features, rows: usize) -> Rows<'a> {
        let layout = match features {
            Features::Dense { width, values } => {
                RowsLayout::Dense { values, rows, width: *width, stride: *width }
            }
            Features::Sparse { width, starts, columns, values } => {
                RowsLayout::Sparse { starts, columns, values, width: *width }
            }
        };
        Rows { layout }
    }

    /// Number of rows.
    pub fn len(self) -> usize {
        match self.layout {
            RowsLayout::Dense { rows, .. } => rows,
            RowsLayout::Sparse { starts, .. } => starts.len() - 1,
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Number of columns.
    pub fn width(self) -> usize {
        match self.layout {
            RowsLayout::Dense { width, .. } | RowsLayout::Sparse { width, .. } => width,
        }
    }

    /// Row `index`; panics when there is none.
    pub fn row(self, index: usize) -> Row<'a> {
        match self.layout {
            RowsLayout::Dense { values, width, stride, .. } => {
                Row::Dense(&values[index * stride..index * stride + width])
            }
            RowsLayout::Sparse { starts, columns, values, .. } => {
                let range = starts[index]..starts[index + 1];
                Row::Sparse(&columns[range.clone()], &values[range])
            }
        }
    }

    /// All rows, in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Row<'a>> {
        (0..self.len()).map(move |index| self.row(index))
    }

    /// The rows in `range`; panics where there are fewer.
    pub fn slice(self, range: Range<usize>) -> Rows<'a> {
        assert!(range.start <= range.end && range.end <= self.len(), "rows {range:?} of {}", self.len());
        let layout = match self.layout {
            RowsLayout::Dense { width, stride, .. } if range.is_empty() => {
                RowsLayout::Dense { values: &[], rows: 0, width, stride }
            }
            RowsLayout::Dense { values, width, stride, .. } => RowsLayout::Dense {
                values: &values[range.start * stride..(range.end - 1) * stride + width],
                rows: range.len(),
                width,
                stride,
            },
            RowsLayout::Sparse { starts, columns, values, width } => {
                RowsLayout::Sparse { starts: &starts[range.start..=range.end], columns, values, width }
            }
        };
        Rows { layout }
    }

    pub(crate) fn layout(self) -> RowsLayout<'a> {
        self.layout
    }

    /// A copy of the values.
    pub(crate) fn to_features(self) -> Features {
        match self.layout {
            RowsLayout::Dense { values, width, stride, .. } => {
                let values = if stride == width {
                    values.to_vec()
                } else {
                    values.chunks(stride).flat_map(|row| &row[..width]).copied().collect()
                };
                Features::dense(width, values)
            }
            RowsLayout::Sparse { starts, columns, values, width } => {
                let (first, last) = (starts[0], starts[starts.len() - 1]);
                Features::Sparse {
                    width,
                    starts: starts.iter().map(|start| start - first).collect(),
                    columns: columns[first..last].to_vec(),
                    values: values[first..last].to_vec(),
                }
            }
        }
    }
}

fn check_width(width: usize) -> Result<()> {
    match width > MAX_FEATURES {
        true => Err(Error::data(format!("{width} feature columns are more than the {MAX_FEATURES} allowed"))),
        false => Ok(()),
    }
}

/// Checks the structure of sparse rows.
fn check_sparse(starts: &[usize], columns: &[u32], values: &[f32], width: usize) -> Result<()> {
    if columns.len() != values.len() {
        return Err(Error::data(format!(
            "sparse rows have {} columns and {} values; there must be one column for each value",
            columns.len(),
            values.len()
        )));
    }
    if starts.first() != Some(&0) || starts.last() != Some(&values.len()) || !starts.is_sorted() {
        return Err(Error::data(format!(
            "the starts of sparse rows do not ascend from 0 to the number of values, {}",
            values.len()
        )));
    }
    for (row, range) in starts.windows(2).enumerate() {
        let columns = &columns[range[0]..range[1]];
        if !columns.is_sorted_by(|a, b| a < b) {
            return Err(Error::data(format!("the columns of sparse row {} do not ascend", row + 1)));
        }
        if let Some(&last) = columns.last().filter(|last| **last as usize >= width) {
            return Err(Error::data(format!(
                "sparse row {} has a value in column {last}, and there are only {width} columns, counted from 0",
                row + 1
            )));
        }
    }
    Ok(())
}

/// Small requests are checked without threads, which would allocate.
pub(super) fn any_infinite(values: &[f32]) -> bool {
    // A sum of exponents would overflow; a fold without early exit is faster than `any` on short chunks.
    let infinite = |values: &[f32]| values.iter().fold(false, |found, x| found | x.is_infinite());
    if values.len() <= CHUNK {
        infinite(values)
    } else {
        parallel::map(values.chunks(CHUNK), infinite).contains(&true)
    }
}

pub(super) fn infinite_value() -> Error {
    Error::data("a feature value is infinite; use NaN for a missing value")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strided_and_sliced_rows_are_the_rows_of_the_array() {
        let values: Vec<f32> = (0..20).map(|i| i as f32).collect();
        // 4 rows of 3 columns, 5 values apart; the array may end with the last row.
        for length in [18, 20] {
            let rows = Rows::dense_strided(&values[..length], 4, 3, 5).unwrap();
            assert_eq!((rows.len(), rows.width()), (4, 3));
            assert_eq!(rows.row(3), Row::Dense(&[15.0, 16.0, 17.0]));
            let some = rows.slice(1..3);
            assert_eq!(some.iter().collect::<Vec<_>>(), [rows.row(1), rows.row(2)]);
            assert!(rows.slice(4..4).is_empty() && some.slice(0..0).is_empty());
            let copy = some.to_features();
            assert_eq!(copy, Features::dense(3, vec![5.0, 6.0, 7.0, 10.0, 11.0, 12.0]));
        }
        assert_eq!(Rows::dense(&[], 3).unwrap().len(), 0);
    }

    #[test]
    fn slices_of_sparse_rows_share_columns_and_values() {
        let (starts, columns, values) = ([0, 1, 3, 3, 4], [2, 0, 1, 1], [0.5, 1.0, 2.0, 3.0]);
        let rows = Rows::sparse(&starts, &columns, &values, 3).unwrap();
        let some = rows.slice(1..4);
        assert_eq!(some.row(0), Row::Sparse(&[0, 1], &[1.0, 2.0]));
        assert_eq!(some.row(2), Row::Sparse(&[1], &[3.0]));
        let copy = Features::Sparse {
            width: 3,
            starts: vec![0, 2, 2, 3],
            columns: vec![0, 1, 1],
            values: vec![1.0, 2.0, 3.0],
        };
        assert_eq!(some.to_features(), copy);
    }

    #[test]
    fn rows_that_do_not_fit_are_refused() {
        let refused = |rows: Result<Rows<'_>>| rows.unwrap_err().to_string();
        assert!(refused(Rows::dense(&[1.0; 5], 2)).contains("5 feature values are not rows of 2 columns"));
        assert!(refused(Rows::dense(&[1.0; 5], 0)).contains("rows of 0 columns"));
        assert!(refused(Rows::dense_strided(&[1.0; 9], 3, 3, 4)).contains("too few for 3 rows"));
        assert!(refused(Rows::dense_strided(&[1.0; 9], usize::MAX, 3, 4)).contains("too few"));
        assert!(refused(Rows::dense_strided(&[1.0; 9], 2, 3, 2)).contains("stride"));
        assert!(refused(Rows::dense(&[1.0, f32::INFINITY], 2)).contains("infinite"));
        // What lies between rows is not looked at.
        let gap = [1.0, f32::INFINITY, 2.0];
        assert!(Rows::dense_strided(&gap, 2, 1, 2).is_ok());
        assert!(refused(Rows::dense_strided(&gap, 2, 1, 1)).contains("infinite"));
        let sparse = |starts: &[usize], columns: &[u32], values: &[f32]| {
            refused(Rows::sparse(starts, columns, values, 3))
        };
        assert!(sparse(&[0, 1], &[0, 1], &[1.0]).contains("2 columns and 1 values"));
        assert!(sparse(&[], &[], &[]).contains("starts"));
        assert!(sparse(&[0, 2, 1, 2], &[0, 1], &[1.0; 2]).contains("starts"));
        assert!(sparse(&[0, 2], &[1, 1], &[1.0; 2]).contains("columns of sparse row 1 do not ascend"));
        assert!(sparse(&[0, 1, 2], &[1, 3], &[1.0; 2]).contains("row 2 has a value in column 3"));
        assert!(sparse(&[0, 1], &[1], &[f32::NEG_INFINITY]).contains("infinite"));
    }
}
