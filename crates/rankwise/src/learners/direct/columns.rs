//! A data set by columns, as a step along one feature needs it.

use crate::data::{Dataset, Features, Query};
use std::ops::Range;

/// Access to single columns. Dense rows are read in place; sparse ones get a copy by columns, as large as the
/// values and column numbers of the data set itself.
pub(super) struct Columns<'a> {
    data: &'a Dataset,
    sparse: Option<ByColumn>,
}

/// Stored values column after column (CSC).
struct ByColumn {
    starts: Vec<usize>,
    documents: Vec<u32>,
    values: Vec<f32>,
}

/// The queries in which one column varies, and its values there.
#[derive(Default)]
pub(super) struct Varying {
    /// Indices of the queries, ascending, each with the offset of its values.
    pub queries: Vec<(usize, usize)>,
    values: Vec<f32>,
}

impl Varying {
    /// The values at offset `start`, of a query of `length` documents.
    pub(super) fn values(&self, start: usize, length: usize) -> &[f32] {
        &self.values[start..start + length]
    }

    /// Those of the queries that are in a range.
    pub(super) fn within(&self, queries: &Range<usize>) -> &[(usize, usize)] {
        let [from, to] =
            [queries.start, queries.end].map(|end| self.queries.partition_point(|&(q, _)| q < end));
        &self.queries[from..to]
    }

    /// Adds `step` times the column to the scores of all documents, where it varies; elsewhere it changes no
    /// order.
    pub(super) fn add_to(&self, scores: &mut [f64], data: &Dataset, step: f64) {
        for &(q, start) in &self.queries {
            let range = data.query(q).range();
            let values = self.values(start, range.len());
            for (s, &x) in scores[range].iter_mut().zip(values) {
                *s += step * f64::from(x);
            }
        }
    }

    fn clear(&mut self) {
        self.queries.clear();
        self.values.clear();
    }

    /// Keeps the values from `start` on as those of `query`, unless all are equal.
    fn keep_if_varying(&mut self, query: usize, start: usize) {
        let added = &self.values[start..];
        if added.iter().any(|x| *x != added[0]) {
            self.queries.push((query, start));
        } else {
            self.values.truncate(start);
        }
    }
}

/// A missing value counts as 0, as it does in a linear model's scores.
fn known(x: f32) -> f32 {
    if x.is_nan() { 0.0 } else { x }
}

impl<'a> Columns<'a> {
    pub(super) fn new(data: &'a Dataset) -> Self {
        let sparse = match &data.parts().features {
            Features::Dense { .. } => None,
            Features::Sparse { width, starts, columns, values } => {
                Some(ByColumn::new(*width, starts, columns, values))
            }
        };
        Columns { data, sparse }
    }

    /// Fills `out` with the queries in which `column` varies, among those that are `wanted`.
    pub(super) fn varying(&self, column: usize, wanted: impl Fn(usize) -> bool, out: &mut Varying) {
        out.clear();
        match &self.sparse {
            None => self.varying_dense(column, wanted, out),
            Some(by_column) => self.varying_sparse(by_column.column(column), wanted, out),
        }
    }

    fn varying_dense(&self, column: usize, wanted: impl Fn(usize) -> bool, out: &mut Varying) {
        for query in self.data.queries().filter(|q| wanted(q.index())) {
            let start = out.values.len();
            for row in query.range() {
                out.values.push(known(self.data.row(row).get(column)));
            }
            out.keep_if_varying(query.index(), start);
        }
    }

    /// Visits only queries that have a stored value in the column.
    fn varying_sparse(
        &self,
        (documents, values): (&[u32], &[f32]),
        wanted: impl Fn(usize) -> bool,
        out: &mut Varying,
    ) {
        let bounds = self.data.bounds();
        let mut i = 0;
        while i < documents.len() {
            let query = bounds.partition_point(|&b| b <= documents[i] as usize) - 1;
            let (first, end) = (bounds[query], bounds[query + 1]);
            let here = documents[i..].partition_point(|&d| (d as usize) < end);
            if wanted(query) {
                let start = out.values.len();
                out.values.resize(start + end - first, 0.0);
                for (&document, &x) in documents[i..i + here].iter().zip(&values[i..]) {
                    out.values[start + document as usize - first] = known(x);
                }
                out.keep_if_varying(query, start);
            }
            i += here;
        }
    }
}

/// Visits the columns that vary in a query, ascending, each with its values there.
pub(super) fn varying_in(query: Query<'_>, mut visit: impl FnMut(usize, &[f32])) {
    let mut values = vec![0.0; query.len()];
    let mut visit_if_varying = |column: usize, values: &[f32]| {
        if values.iter().any(|x| *x != values[0]) {
            visit(column, values);
        }
    };
    match &query.data().parts().features {
        Features::Dense { width, .. } => {
            for column in 0..*width {
                values.iter_mut().zip(query.rows()).for_each(|(x, row)| *x = known(row.get(column)));
                visit_if_varying(column, &values);
            }
        }
        Features::Sparse { .. } => {
            let rows = query.rows().enumerate();
            let mut stored: Vec<(usize, usize, f32)> =
                rows.flat_map(|(i, row)| row.iter().map(move |(column, x)| (column, i, known(x)))).collect();
            stored.sort_unstable_by_key(|&(column, i, _)| (column, i));
            for run in stored.chunk_by(|a, b| a.0 == b.0) {
                values.fill(0.0);
                run.iter().for_each(|&(_, i, x)| values[i] = x);
                visit_if_varying(run[0].0, &values);
            }
        }
    }
}

impl ByColumn {
    /// A counting sort by column; documents stay in order within each.
    fn new(width: usize, row_starts: &[usize], columns: &[u32], row_values: &[f32]) -> Self {
        let mut starts = vec![0usize; width + 1];
        for &c in columns {
            starts[c as usize + 1] += 1;
        }
        for c in 0..width {
            starts[c + 1] += starts[c];
        }
        let mut next = starts.clone();
        let (mut documents, mut values) = (vec![0u32; columns.len()], vec![0.0f32; columns.len()]);
        for (document, row) in row_starts.windows(2).enumerate() {
            for i in row[0]..row[1] {
                let place = &mut next[columns[i] as usize];
                documents[*place] = document as u32;
                values[*place] = row_values[i];
                *place += 1;
            }
        }
        ByColumn { starts, documents, values }
    }

    fn column(&self, column: usize) -> (&[u32], &[f32]) {
        let range = self.starts[column]..self.starts[column + 1];
        (&self.documents[range.clone()], &self.values[range])
    }
}
