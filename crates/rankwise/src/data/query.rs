//! One query of a data set.

use super::{Dataset, Row};

/// One query: its documents' labels, features and ids. A cheap view; copy it freely.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    pub(super) data: &'a Dataset,
    pub(super) index: usize,
}

impl<'a> Query<'a> {
    /// Its number in the data set, from 0.
    pub fn index(self) -> usize {
        self.index
    }

    /// Its number among all queries, of which those of the data set may be a part: the name of its random streams.
    pub(crate) fn number(self) -> u64 {
        (self.data.whole().first_query + self.index) as u64
    }

    /// The data set it belongs to.
    pub fn data(self) -> &'a Dataset {
        self.data
    }

    /// Its id.
    pub fn id(self) -> &'a str {
        self.data.parts().query_ids.get(self.index)
    }

    /// The numbers of its documents in the data set.
    #[inline]
    pub fn range(self) -> std::ops::Range<usize> {
        self.data.bounds()[self.index]..self.data.bounds()[self.index + 1]
    }

    /// Number of documents; never 0.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> usize {
        self.range().len()
    }

    /// Labels of its documents.
    #[inline]
    pub fn labels(self) -> &'a [f32] {
        &self.data.labels()[self.range()]
    }

    /// Its weight; 1 if the data set has none.
    pub fn weight(self) -> f64 {
        self.data.parts().query_weights.as_ref().map_or(1.0, |w| f64::from(w[self.index]))
    }

    /// Features of its `i`-th document.
    #[inline]
    pub fn row(self, i: usize) -> Row<'a> {
        self.data.row(self.range().start + i)
    }

    /// Features of all its documents.
    pub fn rows(self) -> impl ExactSizeIterator<Item = Row<'a>> {
        self.range().map(move |r| self.data.row(r))
    }

    /// Id of its `i`-th document, if it has one.
    pub fn document_id(self, i: usize) -> Option<&'a str> {
        self.data.document_id(self.range().start + i)
    }

    /// `out = X w`: one score per document.
    pub fn dot(self, w: &[f64], out: &mut [f64]) {
        for (o, row) in out.iter_mut().zip(self.rows()) {
            *o = row.dot(w);
        }
    }

    /// `out += Xᵀ r`.
    pub fn add_transposed_dot(self, r: &[f64], out: &mut [f64]) {
        // Most documents do not contribute to the subgradient of a structured loss.
        for (&r, row) in r.iter().zip(self.rows()).filter(|(r, _)| **r != 0.0) {
            row.add_scaled(r, out);
        }
    }
}
