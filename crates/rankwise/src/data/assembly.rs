//! A data set of queries that come from several others.

use super::{Categories, Columns, Dataset, FeatureSource, Features, Parts, Query};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// What a data set is like before it has queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Assembly {
    /// The number of the first feature.
    pub(crate) first_id: u32,
    /// The names of the features.
    pub(crate) names: Option<Vec<String>>,
    /// The categorical features.
    pub(crate) categories: Categories,
    /// How the features were computed.
    pub(crate) source: Option<FeatureSource>,
    /// The number of features.
    pub(crate) width: usize,
    /// Whether rows are stored with their zeros.
    pub(crate) dense: bool,
    /// Whether queries have weights.
    pub(crate) weights: bool,
}

impl Assembly {
    /// The feature columns.
    pub(crate) fn columns(&self) -> Columns {
        Columns {
            first_id: self.first_id,
            names: self.names.clone(),
            categories: self.categories.clone(),
            source: self.source.clone(),
        }
    }

    /// The queries, in order. Those with the same id that come one after the other are one query. Numbered features are
    /// matched by number. `change` may change features before they are checked.
    pub(crate) fn collect<'a>(
        &self,
        queries: impl Iterator<Item = Query<'a>>,
        change: impl FnOnce(&mut Features),
    ) -> Result<Dataset> {
        let mut parts = Parts { columns: self.columns(), bounds: vec![0], ..Parts::default() };
        let (mut rows, mut weights) = (Rows::new(self), Vec::new());
        let mut last: Option<&str> = None;
        for query in queries {
            if last == Some(query.id()) {
                parts.bounds.pop();
            } else {
                parts.query_ids.push(query.id());
                weights.extend(query.data().parts().query_weights.as_ref().map(|w| w[query.index()]));
            }
            last = Some(query.id());
            parts.labels.extend_from_slice(query.labels());
            parts.bounds.push(parts.labels.len());
            rows.push(query);
        }
        parts.features = rows.finish();
        parts.query_weights = self.weights.then_some(weights);
        change(&mut parts.features);
        Dataset::new(parts)
    }
}

/// Rows under construction.
struct Rows<'a> {
    assembly: &'a Assembly,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl Rows<'_> {
    fn new(assembly: &Assembly) -> Rows<'_> {
        Rows { assembly, starts: vec![0], columns: Vec::new(), values: Vec::new() }
    }

    fn push(&mut self, query: Query<'_>) {
        let shift = (query.data().columns().first_id - self.assembly.first_id) as usize;
        for row in query.rows() {
            if self.assembly.dense {
                let start = self.values.len();
                self.values.resize(start + self.assembly.width, 0.0);
                row.iter().for_each(|(column, x)| self.values[start + shift + column] = x);
            } else {
                for (column, x) in row.iter().filter(|(_, x)| *x != 0.0) {
                    self.columns.push((shift + column) as u32);
                    self.values.push(x);
                }
                self.starts.push(self.values.len());
            }
        }
    }

    fn finish(self) -> Features {
        let width = self.assembly.width;
        match self.assembly.dense {
            true => Features::dense(width, self.values),
            false => {
                Features::Sparse { width, starts: self.starts, columns: self.columns, values: self.values }
            }
        }
    }
}
