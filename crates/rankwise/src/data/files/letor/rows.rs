//! Feature rows as they are read, before their width and first id are known.

use crate::data::{Features, Layout};
use crate::error::{Error, Result};

/// Rows are dense if at least one value in this many is given (or not 0).
const SPARSEST_DENSE: usize = 4;

/// Memory that statistics, training and writing tables take per column, roughly.
const COLUMN_BYTES: usize = 1 << 10;

/// Cells that a dense matrix may always waste, because few rows do not show the density.
const SLACK: usize = 1 << 16;

/// The expected shape of the next rows. It makes reading faster but does not change the result.
#[derive(Debug, Clone, Copy)]
pub(super) struct MatrixShape {
    first: u32,
    width: usize,
    /// `None` when sparse.
    stride: Option<usize>,
}

/// How large a matrix is: what decides whether it is dense, and whether it is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::data::files) struct MatrixSize {
    /// Number of rows.
    pub(in crate::data::files) count: usize,
    /// Number of columns.
    pub(in crate::data::files) width: usize,
    /// Number of values that are not 0.
    pub(in crate::data::files) filled: usize,
    /// The id of column 0 in the text.
    pub(in crate::data::files) first: u32,
}

/// A growing matrix. It starts dense, and becomes sparse if too few values are given. The result of
/// [`finish`](RowBuffer::finish) does not depend on that.
#[derive(Debug, Clone)]
pub(super) struct RowBuffer {
    /// The id of column 0 in the text.
    first: u32,
    /// One more than the last column seen.
    width: usize,
    count: usize,
    /// Number of values that are not 0, or, in rows not yet counted, that were given.
    filled: usize,
    store: Store,
}

#[derive(Debug, Clone)]
enum Store {
    /// `stride ≥ width` cells per row; the reserve makes widening rare.
    Dense { stride: usize, values: Vec<f32> },
    /// No zeros are stored.
    Sparse { starts: Vec<usize>, columns: Vec<u32>, values: Vec<f32> },
}

impl RowBuffer {
    /// An empty matrix. Ids start at `first` unless a lower one occurs.
    pub(super) fn new(first: u32) -> Self {
        RowBuffer {
            first,
            width: 0,
            count: 0,
            filled: 0,
            store: Store::Dense { stride: 0, values: Vec::new() },
        }
    }

    /// The expected shape of the next rows.
    pub(super) fn shape(&self) -> MatrixShape {
        let stride = match &self.store {
            Store::Dense { stride, .. } => Some(*stride),
            Store::Sparse { .. } => None,
        };
        MatrixShape { first: self.first, width: self.width, stride }
    }

    /// Removes all rows and keeps the memory, prepared for rows of this shape.
    pub(super) fn reset(&mut self, shape: MatrixShape) {
        (self.first, self.width, self.count, self.filled) = (shape.first, shape.width, 0, 0);
        match (&mut self.store, shape.stride) {
            (Store::Dense { stride, values }, Some(wanted)) => {
                *stride = wanted;
                values.clear();
            }
            (Store::Sparse { starts, columns, values }, None) => {
                starts.truncate(1);
                columns.clear();
                values.clear();
            }
            (store, Some(stride)) => *store = Store::Dense { stride, values: Vec::new() },
            (store, None) => *store = Store::no_rows(),
        }
    }

    /// The id of column 0.
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// Number of columns so far.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// A new row of zeros to write to, if rows are dense. It becomes part of the matrix when
    /// [`keep_row`](RowBuffer::keep_row) is called.
    pub(super) fn open_row(&mut self) -> Option<&mut [f32]> {
        let Store::Dense { stride, values } = &mut self.store else { return None };
        let start = self.count * *stride;
        let end = start + *stride;
        if end > SPARSEST_DENSE * self.filled + SLACK {
            return None;
        }
        values.truncate(start);
        values.resize(end, 0.0);
        // Only known columns can be written; the reserve behind them would widen the matrix unnoticed.
        Some(&mut values[start..start + self.width])
    }

    /// Keeps the row opened last, with `given` values written.
    pub(super) fn keep_row(&mut self, given: usize) {
        self.count += 1;
        self.filled += given;
    }

    /// Adds a row of `(id, value)`, ids ascending.
    pub(super) fn push(&mut self, row: &[(u32, f32)]) {
        if let Some(&(id, _)) = row.first() {
            self.lower_first(id);
        }
        let first = self.first;
        let width = row.last().map_or(0, |&(id, _)| (id - first) as usize + 1);
        self.make_room(1, width, row.len());
        match &mut self.store {
            Store::Dense { stride, values } => {
                let start = self.count * *stride;
                values.truncate(start);
                values.resize(start + *stride, 0.0);
                for &(id, value) in row {
                    values[start + (id - first) as usize] = value;
                }
            }
            Store::Sparse { starts, columns, values } => {
                for &(id, value) in row.iter().filter(|&&(_, value)| value != 0.0) {
                    columns.push(id - first);
                    values.push(value);
                }
                starts.push(values.len());
            }
        }
        self.keep_row(row.len());
    }

    /// Adds all rows of `other`, whose [`count_filled`](RowBuffer::count_filled) has been called.
    pub(super) fn append(&mut self, other: &RowBuffer) {
        self.lower_first(other.first);
        let offset = (other.first - self.first) as usize;
        self.make_room(other.count, other.width + offset, other.filled);
        match (&mut self.store, &other.store) {
            (Store::Dense { stride, values }, Store::Dense { stride: other_stride, values: more }) => {
                if *stride == *other_stride && offset == 0 {
                    values.extend_from_slice(more);
                } else {
                    for row in rows_of(more, *other_stride, other.count) {
                        let start = values.len();
                        values.resize(start + *stride, 0.0);
                        values[start + offset..][..other.width].copy_from_slice(&row[..other.width]);
                    }
                }
            }
            (Store::Dense { stride, values }, Store::Sparse { starts, columns, values: more }) => {
                for bounds in starts.windows(2) {
                    let start = values.len();
                    values.resize(start + *stride, 0.0);
                    for i in bounds[0]..bounds[1] {
                        values[start + offset + columns[i] as usize] = more[i];
                    }
                }
            }
            (Store::Sparse { .. }, Store::Dense { stride, values: more }) => {
                for row in rows_of(more, *stride, other.count) {
                    self.store.push_nonzeros(row, offset);
                }
            }
            (
                Store::Sparse { starts, columns, values },
                Store::Sparse { starts: s, columns: c, values: v },
            ) => {
                let before = values.len();
                starts.extend(s[1..].iter().map(|start| start + before));
                columns.extend(c.iter().map(|column| column + offset as u32));
                values.extend_from_slice(v);
            }
        }
        self.count += other.count;
        self.filled += other.filled;
    }

    /// Drops a row that was opened but not kept, and counts the values that are not 0.
    pub(super) fn count_filled(&mut self) {
        match &mut self.store {
            Store::Dense { stride, values } => {
                values.truncate(self.count * *stride);
                self.filled = values.iter().filter(|&&v| v != 0.0).count();
            }
            Store::Sparse { values, .. } => self.filled = values.len(),
        }
    }

    /// The finished matrix and the id of its first column. Whether it is dense depends only on the rows and `layout`. It
    /// is an error if it takes more memory than `limit` for what the text does not have.
    pub(super) fn finish(mut self, layout: Layout, limit: u64) -> Result<(Features, u32)> {
        let size =
            MatrixSize { count: self.count, width: self.width, filled: self.filled, first: self.first };
        size.check_cost(layout, limit)?;
        let dense = size.is_dense(layout);
        let width = self.width;
        if !dense {
            self.make_sparse();
        }
        let features = match self.store {
            Store::Dense { stride, mut values } => {
                narrow(&mut values, stride, width, self.count);
                values.shrink_to_fit();
                Features::dense(width, values)
            }
            Store::Sparse { starts, columns, values } if dense => {
                Features::dense(width, spread(&starts, &columns, &values, width)?)
            }
            Store::Sparse { mut starts, mut columns, mut values } => {
                starts.shrink_to_fit();
                columns.shrink_to_fit();
                values.shrink_to_fit();
                Features::Sparse { width, starts, columns, values }
            }
        };
        Ok((features, self.first))
    }

    /// Makes `id` a column; moves all columns up if it is below the first.
    fn lower_first(&mut self, id: u32) {
        let Some(shift) = self.first.checked_sub(id).filter(|&shift| shift > 0) else { return };
        self.first = id;
        if self.width > 0 {
            self.width += shift as usize;
        }
        match &mut self.store {
            Store::Dense { stride, values } => {
                widen(values, *stride, *stride + shift as usize, shift as usize, self.count);
                *stride += shift as usize;
            }
            Store::Sparse { columns, .. } => columns.iter_mut().for_each(|c| *c += shift),
        }
    }

    /// Prepares for `count` rows of `width` columns with `filled` values among them.
    fn make_room(&mut self, count: usize, width: usize, filled: usize) {
        self.width = self.width.max(width);
        let Store::Dense { stride, values } = &mut self.store else { return };
        let wanted = match self.width <= *stride {
            true => *stride,
            // The first rows indicate the width of the rest; later widening gets a reserve.
            false if self.count == 0 => self.width,
            false => self.width + self.width / 16,
        };
        let most = SPARSEST_DENSE * (self.filled + filled) + SLACK;
        if (self.count + count).saturating_mul(wanted) > most {
            self.make_sparse();
        } else if wanted > *stride {
            widen(values, *stride, wanted, 0, self.count);
            *stride = wanted;
        }
    }

    fn make_sparse(&mut self) {
        let Store::Dense { stride, values } = &mut self.store else { return };
        let (stride, values) = (*stride, std::mem::take(values));
        self.store = Store::no_rows();
        for row in rows_of(&values, stride, self.count) {
            self.store.push_nonzeros(row, 0);
        }
    }
}

impl MatrixSize {
    /// Whether rows are stored with their zeros.
    pub(in crate::data::files) fn is_dense(self, layout: Layout) -> bool {
        match layout {
            Layout::Auto => {
                self.count.saturating_mul(self.width) <= self.filled.saturating_mul(SPARSEST_DENSE)
            }
            Layout::Dense => true,
            Layout::Sparse => false,
        }
    }

    /// An error if the matrix takes more memory than `limit` for what the text does not have.
    pub(in crate::data::files) fn check_cost(self, layout: Layout, limit: u64) -> Result<()> {
        let MatrixSize { count, width, filled, first } = self;
        let cells = count.saturating_mul(width);
        let wasteful = layout == Layout::Dense && cells > filled.saturating_mul(SPARSEST_DENSE);
        let dense = if wasteful { cells.saturating_mul(size_of::<f32>()) } else { 0 };
        let columns = width.saturating_mul(COLUMN_BYTES);
        if columns.saturating_add(dense) as u64 <= limit {
            return Ok(());
        }
        let gibibytes = |bytes: u64| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30));
        let values = if filled == 1 { "1 value".to_owned() } else { format!("{filled} values") };
        Err(Error::data(if dense > columns {
            format!(
                "{count} dense rows of {width} columns would take {} for {values}, more than the memory limit of {}; keep \
                 them sparse, or raise the limit",
                gibibytes(dense as u64),
                gibibytes(limit)
            )
        } else {
            format!(
                "the highest feature id is {}, which makes {width} columns for {values}; work with them may take {}, more \
                 than the memory limit of {}. Correct the id, or raise the limit",
                width as u64 + u64::from(first) - 1,
                gibibytes(columns as u64),
                gibibytes(limit)
            )
        }))
    }
}

impl Store {
    fn no_rows() -> Store {
        Store::Sparse { starts: vec![0], columns: Vec::new(), values: Vec::new() }
    }

    /// Adds a dense row, its columns moved up by `offset`, to a sparse matrix.
    fn push_nonzeros(&mut self, row: &[f32], offset: usize) {
        let Store::Sparse { starts, columns, values } = self else { return };
        for (column, &value) in row.iter().enumerate().filter(|&(_, &value)| value != 0.0) {
            columns.push((column + offset) as u32);
            values.push(value);
        }
        starts.push(values.len());
    }
}

/// The rows of a dense matrix, even if they have no columns.
fn rows_of(values: &[f32], stride: usize, count: usize) -> impl Iterator<Item = &[f32]> {
    (0..count).map(move |row| &values[row * stride..(row + 1) * stride])
}

/// Widens rows in place from `old` to `new ≥ old + offset` cells, their values moved up by `offset`.
fn widen(values: &mut Vec<f32>, old: usize, new: usize, offset: usize, count: usize) {
    values.truncate(count * old);
    values.resize(count * new, 0.0);
    for row in (0..count).rev() {
        let start = row * new + offset;
        values.copy_within(row * old..(row + 1) * old, start);
        values[row * new..start].fill(0.0);
        values[start + old..(row + 1) * new].fill(0.0);
    }
}

/// Narrows rows in place from `old` to `new` cells.
fn narrow(values: &mut Vec<f32>, old: usize, new: usize, count: usize) {
    if old != new {
        for row in 0..count {
            values.copy_within(row * old..row * old + new, row * new);
        }
        values.truncate(count * new);
    }
}

/// Sparse rows as dense ones; an error if they do not fit in memory.
fn spread(starts: &[usize], columns: &[u32], values: &[f32], width: usize) -> Result<Vec<f32>> {
    let count = starts.len() - 1;
    let mut dense: Vec<f32> = Vec::new();
    let cells = count.saturating_mul(width);
    if dense.try_reserve_exact(cells).is_err() {
        return Err(Error::data(format!(
            "{count} dense rows of {width} columns do not fit in memory; keep them sparse"
        )));
    }
    dense.resize(cells, 0.0);
    for (row, bounds) in starts.windows(2).enumerate() {
        for i in bounds[0]..bounds[1] {
            dense[row * width + columns[i] as usize] = values[i];
        }
    }
    Ok(dense)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Row;
    use proptest::prelude::*;

    type Given = Vec<(u32, f32)>;

    /// Rows with ids from 0 or 1; now and then one so high that a matrix with it is sparse on the way.
    fn rows() -> impl Strategy<Value = Vec<Given>> {
        let ids = prop_oneof![8 => 1..6u32, 1 => Just(0u32), 1 => Just(70_000u32)];
        let value = prop_oneof![1 => Just(0.0f32), 4 => 1.0..9.0f32];
        let row = proptest::collection::btree_map(ids, value, 0..6).prop_map(|row| row.into_iter().collect());
        proptest::collection::vec(row, 1..12)
    }

    fn pushed(rows: &[Given]) -> RowBuffer {
        let mut matrix = RowBuffer::new(1);
        rows.iter().for_each(|row| matrix.push(row));
        matrix.count_filled();
        matrix
    }

    /// Compares the matrix with the rows it was made of, value for value.
    fn check(matrix: RowBuffer, rows: &[Given], layout: Layout) {
        let all = || rows.iter().flatten();
        let (features, first) = matrix.finish(layout, u64::MAX).unwrap();
        assert_eq!(first, u32::from(all().all(|&(id, _)| id != 0)));
        assert_eq!(features.width(), all().map(|&(id, _)| (id - first) as usize + 1).max().unwrap_or(0));
        for (index, given) in rows.iter().enumerate() {
            let row = features.row(index);
            let nonzero: Vec<(usize, f32)> = row.iter().filter(|&(_, value)| value != 0.0).collect();
            let given = given.iter().filter(|&&(_, value)| value != 0.0);
            assert_eq!(nonzero, given.map(|&(id, value)| ((id - first) as usize, value)).collect::<Vec<_>>());
            assert_eq!(matches!(row, Row::Dense(_)), layout == Layout::Dense);
        }
    }

    proptest! {
        #[test]
        fn rows_come_out_as_they_went_in_however_they_are_joined(rows in rows(), cuts in any::<[bool; 12]>()) {
            let mut joined = RowBuffer::new(1);
            let mut start = 0;
            for end in 1..=rows.len() {
                if cuts[end - 1] || end == rows.len() {
                    let mut part = pushed(&rows[start..end]);
                    if cuts[start] {
                        part.make_sparse();
                    }
                    joined.append(&part);
                    start = end;
                }
            }
            for layout in [Layout::Dense, Layout::Sparse] {
                check(joined.clone(), &rows, layout);
                check(pushed(&rows), &rows, layout);
            }
        }
    }
}
