//! The data set: labelled feature rows in queries.

use super::rows::{any_infinite, infinite_value};
use super::{Categories, ClickLabels, FeatureSource, Features, MAX_FEATURES, Query, Row, Rows, Shard, Texts};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

/// The names of the feature columns of a data set, which of them are categorical, and how they were computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    /// The number that text formats give the first column: 1 in LETOR files, 0 in some SVMlight ones.
    pub first_id: u32,
    /// Names, if the source has them (a CSV header).
    pub names: Option<Vec<String>>,
    /// The categorical columns.
    #[serde(default, skip_serializing_if = "Categories::is_empty")]
    pub categories: Categories,
    /// How the features were computed from documents, if that is known. Columns that it does not define come from
    /// elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<FeatureSource>,
}

impl Default for Columns {
    fn default() -> Self {
        Columns { first_id: 1, names: None, categories: Categories::default(), source: None }
    }
}

impl Columns {
    /// The name of `column` (from 0), or its id in text files if it has no name.
    pub fn name(&self, column: usize) -> String {
        match &self.names {
            Some(names) => names[column].clone(),
            None => (column as u64 + u64::from(self.first_id)).to_string(),
        }
    }
}

/// The parts of a data set before they are checked. See [`Dataset::new`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parts {
    /// One row per document.
    pub features: Features,
    /// One relevance label per document: any finite number.
    pub labels: Vec<f32>,
    /// Where each query starts, from 0 to the number of documents: one entry more than there are queries.
    pub bounds: Vec<usize>,
    /// One id per query, all different.
    pub query_ids: Texts,
    /// The names of the feature columns.
    pub columns: Columns,
    /// What followed `#` on each line, if any line had it.
    pub comments: Option<Texts>,
    /// One id per document, if the source has them.
    pub document_ids: Option<Texts>,
    /// One weight per query: finite and not negative.
    pub query_weights: Option<Vec<f32>>,
    /// The position at which each document was shown, from 1; 0 if it is not known.
    pub positions: Option<Vec<u32>>,
    /// How the labels were made from clicks, if they were.
    pub clicks: Option<ClickLabels>,
}

/// Labelled documents with feature rows, grouped in queries, in the order of their source.
///
/// ```
/// use rankwise::data::Dataset;
/// let values = vec![0.1, 0.9, 0.4, 0.0, 0.7, 0.2];
/// let data = Dataset::dense(values, 2, vec![1.0, 0.0, 2.0], &[2, 1])?.with_query_ids(["apple", "pear"])?;
/// assert_eq!(data.queries().map(|q| q.len()).collect::<Vec<_>>(), [2, 1]);
/// assert_eq!(data.query(1).id(), "pear");
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    parts: Parts,
    /// Its place in the whole, if it is only part of the data.
    pub(super) shard: Option<Arc<Shard>>,
}

impl Dataset {
    /// Puts the parts together. Fails if they do not fit.
    pub fn new(parts: Parts) -> Result<Self> {
        check_bounds(&parts)?;
        check_features(&parts)?;
        check_optional(&parts)?;
        let data = Dataset { parts, shard: None };
        data.check_categories()?;
        Ok(data)
    }

    /// Documents with `width` feature values each, one after the other, and a label each. Query `q` has the next
    /// `sizes[q]` documents. Query ids are `1`, `2` and so on, until [`with_query_ids`](Dataset::with_query_ids).
    pub fn dense(values: Vec<f32>, width: usize, labels: Vec<f32>, sizes: &[usize]) -> Result<Self> {
        Dataset::from_features(Features::dense(width, values), labels, sizes)
    }

    /// The same with sparse rows over `width` columns (CSR): document `d` has the columns and values at
    /// `starts[d]..starts[d + 1]`, with its columns ascending. Values that are not given are 0.
    pub fn sparse(
        starts: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f32>,
        width: usize,
        labels: Vec<f32>,
        sizes: &[usize],
    ) -> Result<Self> {
        Dataset::from_features(Features::Sparse { width, starts, columns, values }, labels, sizes)
    }

    /// The same with features in either layout.
    pub fn from_features(features: Features, labels: Vec<f32>, sizes: &[usize]) -> Result<Self> {
        let bounds = bounds_of(sizes, labels.len())?;
        let query_ids = (1..=sizes.len()).map(|q| q.to_string()).collect();
        Dataset::new(Parts { features, labels, bounds, query_ids, ..Parts::default() })
    }

    /// Sets the ids of the queries.
    pub fn with_query_ids<T: AsRef<str>>(self, ids: impl IntoIterator<Item = T>) -> Result<Self> {
        self.with(|parts| parts.query_ids = ids.into_iter().collect())
    }

    /// Sets one weight per query.
    pub fn with_query_weights(self, weights: Vec<f32>) -> Result<Self> {
        self.with(|parts| parts.query_weights = Some(weights))
    }

    /// Sets the names of the feature columns, the number of the first, and which are categorical.
    pub fn with_columns(self, columns: Columns) -> Result<Self> {
        self.with(|parts| parts.columns = columns)
    }

    /// Sets how the features were computed; `None` if they are no longer what they were.
    pub fn with_source(self, source: Option<FeatureSource>) -> Result<Self> {
        self.with(|parts| parts.columns.source = source)
    }

    /// Sets the names of the feature columns.
    pub fn with_feature_names<T: Into<String>>(self, names: impl IntoIterator<Item = T>) -> Result<Self> {
        self.with(|parts| parts.columns.names = Some(names.into_iter().map(Into::into).collect()))
    }

    /// Sets the ids of the documents.
    pub fn with_document_ids<T: AsRef<str>>(self, ids: impl IntoIterator<Item = T>) -> Result<Self> {
        self.with(|parts| parts.document_ids = Some(ids.into_iter().collect()))
    }

    /// Sets the positions at which documents were shown, from 1; 0 if a position is not known.
    pub fn with_positions(self, positions: Vec<u32>) -> Result<Self> {
        self.with(|parts| parts.positions = Some(positions))
    }

    pub(super) fn with(mut self, change: impl FnOnce(&mut Parts)) -> Result<Self> {
        change(&mut self.parts);
        check_bounds(&self.parts)?;
        check_names(&self.parts)?;
        check_optional(&self.parts)?;
        self.check_categories()?;
        Ok(self)
    }

    /// Takes the data set apart, to change it and put it together again.
    pub fn into_parts(self) -> Parts {
        self.parts
    }

    /// The parts.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The features of all documents, for scoring.
    pub fn rows(&self) -> Rows<'_> {
        Rows::of_features(&self.parts.features, self.len())
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.parts.labels.len()
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.parts.labels.is_empty()
    }

    /// Number of feature columns.
    pub fn width(&self) -> usize {
        self.parts.features.width()
    }

    /// The label of every document.
    #[inline]
    pub fn labels(&self) -> &[f32] {
        &self.parts.labels
    }

    /// The features of document `index`.
    #[inline]
    pub fn row(&self, index: usize) -> Row<'_> {
        self.parts.features.row(index)
    }

    /// The names of the feature columns.
    pub fn columns(&self) -> &Columns {
        &self.parts.columns
    }

    /// Where each query starts: one entry more than there are queries.
    pub fn bounds(&self) -> &[usize] {
        &self.parts.bounds
    }

    /// Number of queries.
    pub fn query_count(&self) -> usize {
        self.parts.bounds.len() - 1
    }

    /// Query number `index`, from 0. Panics if there is none.
    #[inline]
    pub fn query(&self, index: usize) -> Query<'_> {
        assert!(index < self.query_count(), "query {index} of {}", self.query_count());
        Query { data: self, index }
    }

    /// The query of document `index`, as its number from 0.
    pub fn query_of(&self, index: usize) -> usize {
        self.parts.bounds.partition_point(|&start| start <= index) - 1
    }

    /// All queries in order.
    pub fn queries(&self) -> impl ExactSizeIterator<Item = Query<'_>> {
        (0..self.query_count()).map(|index| Query { data: self, index })
    }

    /// The id of document `index`: its own, or the one in its comment (`docid = …`).
    pub fn document_id(&self, index: usize) -> Option<&str> {
        match &self.parts.document_ids {
            Some(ids) => Some(ids.get(index)),
            None => document_id_in(self.parts.comments.as_ref()?.get(index)),
        }
    }

    /// The comment of document `index`, if the source has comments.
    pub fn comment(&self, index: usize) -> Option<&str> {
        self.parts.comments.as_ref().map(|c| c.get(index))
    }

    /// The queries with the numbers `chosen`, in that order, with all their documents.
    pub fn select_queries(&self, chosen: &[usize]) -> Dataset {
        let rows: Vec<usize> =
            chosen.iter().flat_map(|&q| self.parts.bounds[q]..self.parts.bounds[q + 1]).collect();
        self.select_rows(&rows)
    }

    /// The data with its queries in the order of their ids: shorter ids first, ids of the same length by their text.
    /// Whole numbers, with or without a common prefix, are then in the order of their values.
    pub fn by_query_id(&self) -> Cow<'_, Dataset> {
        let id = |q: &usize| {
            let id = self.parts.query_ids.get(*q);
            (id.len(), id)
        };
        let mut order: Vec<usize> = (0..self.query_count()).collect();
        if order.is_sorted_by_key(id) {
            return Cow::Borrowed(self);
        }
        order.sort_unstable_by(|a, b| id(a).cmp(&id(b)));
        Cow::Owned(self.select_queries(&order))
    }

    /// The documents with the numbers `rows`, in that order. Those of one query must be adjacent. Queries without
    /// documents are left out.
    pub fn select_rows(&self, rows: &[usize]) -> Dataset {
        let p = &self.parts;
        let texts = |t: &Texts| rows.iter().map(|&r| t.get(r)).collect::<Texts>();
        let (mut bounds, mut chosen) = (Vec::new(), Vec::new());
        for (i, &r) in rows.iter().enumerate() {
            let query = p.bounds.partition_point(|&b| b <= r) - 1;
            if chosen.last() != Some(&query) {
                bounds.push(i);
                chosen.push(query);
            }
        }
        bounds.push(rows.len());
        let parts = Parts {
            features: p.features.select(rows),
            labels: rows.iter().map(|&r| p.labels[r]).collect(),
            bounds,
            query_ids: chosen.iter().map(|&q| p.query_ids.get(q)).collect(),
            columns: p.columns.clone(),
            comments: p.comments.as_ref().map(texts),
            document_ids: p.document_ids.as_ref().map(texts),
            query_weights: p.query_weights.as_ref().map(|w| chosen.iter().map(|&q| w[q]).collect()),
            positions: p.positions.as_ref().map(|x| rows.iter().map(|&r| x[r]).collect()),
            clicks: p.clicks.clone(),
        };
        Dataset { parts, shard: None }
    }
}

/// The document id in a LETOR comment such as `docid = GX008-86-4444840 inc = 1 prob = 0.086622`.
pub(super) fn document_id_in(comment: &str) -> Option<&str> {
    let (_, after) = comment.split_once("docid")?;
    after.trim_start().strip_prefix('=')?.split_whitespace().next()
}

/// Where each query starts, of queries with these numbers of documents.
pub(crate) fn bounds_of(sizes: &[usize], documents: usize) -> Result<Vec<usize>> {
    let mut bounds = Vec::with_capacity(sizes.len() + 1);
    bounds.push(0);
    let mut end = 0usize;
    for (q, &size) in sizes.iter().enumerate() {
        if size == 0 {
            return Err(Error::data(format!("query {} has no documents", q + 1)));
        }
        end = end.saturating_add(size);
        bounds.push(end);
    }
    match end == documents {
        true => Ok(bounds),
        false => {
            Err(Error::data(format!("the queries have {end} documents in total, and the data {documents}")))
        }
    }
}

fn check_bounds(parts: &Parts) -> Result<()> {
    let (n, bounds) = (parts.labels.len(), &parts.bounds);
    let ascending = bounds.windows(2).all(|w| w[0] < w[1]);
    if bounds.first() != Some(&0) || bounds.last() != Some(&n) || !ascending {
        return Err(Error::data(format!("the query bounds do not run from 0 to {n} without empty queries")));
    }
    if parts.query_ids.len() != bounds.len() - 1 {
        return Err(Error::data(format!(
            "{} query ids for {} queries",
            parts.query_ids.len(),
            bounds.len() - 1
        )));
    }
    match parts.labels.iter().position(|l| !l.is_finite()) {
        Some(i) => Err(Error::data(format!("the label of document {} is {}", i + 1, parts.labels[i]))),
        None => Ok(()),
    }
}

fn check_features(parts: &Parts) -> Result<()> {
    let (n, width) = (parts.labels.len(), parts.features.width());
    if width > MAX_FEATURES {
        return Err(Error::data(format!("{width} feature columns are more than the {MAX_FEATURES} allowed")));
    }
    let fits = match &parts.features {
        Features::Dense { width, values } => n.checked_mul(*width) == Some(values.len()),
        Features::Sparse { starts, columns, values, .. } => {
            starts.len() == n + 1
                && starts[0] == 0
                && starts[n] == values.len()
                && columns.len() == values.len()
                && starts.windows(2).all(|s| s[0] <= s[1])
                && starts.windows(2).all(|s| columns[s[0]..s[1]].windows(2).all(|c| c[0] < c[1]))
                && columns.iter().all(|&c| (c as usize) < width)
        }
    };
    if !fits {
        return Err(Error::data(format!("the feature matrix does not have {n} rows of {width} columns")));
    }
    if any_infinite(parts.features.values()) {
        return Err(infinite_value());
    }
    check_names(parts)
}

fn check_names(parts: &Parts) -> Result<()> {
    let width = parts.features.width();
    match &parts.columns.names {
        Some(names) if names.len() != width => {
            Err(Error::data(format!("{} feature names for {width} columns", names.len())))
        }
        _ => Ok(()),
    }
}

fn check_optional(parts: &Parts) -> Result<()> {
    let (n, queries) = (parts.labels.len(), parts.bounds.len() - 1);
    let lengths = [
        ("comments", parts.comments.as_ref().map(Texts::len), n),
        ("document ids", parts.document_ids.as_ref().map(Texts::len), n),
        ("positions", parts.positions.as_ref().map(Vec::len), n),
        ("query weights", parts.query_weights.as_ref().map(Vec::len), queries),
    ];
    for (what, length, expected) in lengths {
        if length.is_some_and(|l| l != expected) {
            return Err(Error::data(format!("{} {what} where {expected} are needed", length.unwrap_or(0))));
        }
    }
    match parts.query_weights.iter().flatten().find(|w| !w.is_finite() || **w < 0.0) {
        Some(w) => Err(Error::data(format!("a query weight is {w}; weights are finite and not negative"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three_queries() -> Dataset {
        let (starts, columns) = (vec![0, 1, 3, 3, 4], vec![2, 0, 1, 1]);
        let (values, labels) = (vec![0.5, 1.0, 2.0, 3.0], vec![0.0, 1.0, 2.0, 0.0]);
        Dataset::sparse(starts, columns, values, 3, labels, &[2, 1, 1])
            .and_then(|data| data.with_query_ids(["a", "b", "c"]))
            .and_then(|data| data.with_query_weights(vec![1.0, 2.0, 3.0]))
            .and_then(|data| {
                let comments = ["docid = x1 inc = 1", "", "docid=x3", "note"];
                data.with(|parts| parts.comments = Some(comments.into_iter().collect()))
            })
            .unwrap()
    }

    #[test]
    fn data_is_made_of_values_labels_and_sizes() {
        let data =
            |values: &[f32], sizes: &[usize]| Dataset::dense(values.to_vec(), 2, vec![1.0, 0.0, 2.0], sizes);
        let values = [0.1, 0.9, 0.4, 0.0, 0.7, 0.2];
        let made = data(&values, &[2, 1]).unwrap();
        assert_eq!(made.bounds(), [0, 2, 3]);
        assert_eq!(made.parts().query_ids.iter().collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(made.rows().row(2), Row::Dense(&[0.7, 0.2]));
        let refused = |data: Result<Dataset>| data.unwrap_err().to_string();
        assert!(refused(data(&values, &[2, 2])).contains("4 documents in total, and the data 3"));
        assert!(refused(data(&values, &[3, 0])).contains("query 2 has no documents"));
        assert!(refused(data(&values[..4], &[3])).contains("3 rows of 2 columns"));
        assert!(refused(made.clone().with_query_ids(["a"])).contains("1 query ids for 2 queries"));
        assert!(refused(made.clone().with_feature_names(["a"])).contains("1 feature names for 2 columns"));
        assert!(refused(made.with_document_ids(["a"])).contains("1 document ids where 3"));
    }

    #[test]
    fn selecting_rows_keeps_everything_beside_them() {
        let chosen = three_queries().select_rows(&[1, 3]);
        assert_eq!(chosen.labels(), [1.0, 0.0]);
        assert_eq!(chosen.bounds(), [0, 1, 2]);
        assert_eq!(chosen.parts().query_ids.iter().collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(chosen.parts().query_weights, Some(vec![1.0, 3.0]));
        assert_eq!(chosen.row(0), Row::Sparse(&[0, 1], &[1.0, 2.0]));
        assert_eq!(chosen.comment(1), Some("note"));
        assert_eq!(three_queries().select_queries(&[2, 0]).labels(), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn queries_are_put_in_the_order_of_their_ids() {
        let sorted = |ids: [&str; 3]| {
            let data = three_queries().with_query_ids(ids).unwrap();
            let sorted = data.by_query_id();
            let ids: Vec<String> = sorted.parts().query_ids.iter().map(String::from).collect();
            (ids, sorted.parts().query_weights.clone().unwrap(), matches!(sorted, Cow::Borrowed(_)))
        };
        let texts = |ids: [&str; 3]| ids.map(String::from).to_vec();
        assert_eq!(sorted(["2", "10", "9"]), (texts(["2", "9", "10"]), vec![1.0, 3.0, 2.0], false));
        assert_eq!(sorted(["q10", "q2", "q1"]), (texts(["q1", "q2", "q10"]), vec![3.0, 2.0, 1.0], false));
        assert_eq!(sorted(["a", "b", "aa"]), (texts(["a", "b", "aa"]), vec![1.0, 2.0, 3.0], true));
    }

    #[test]
    fn document_ids_come_from_letor_comments() {
        let data = three_queries();
        let ids: Vec<_> = (0..4).map(|i| data.document_id(i)).collect();
        assert_eq!(ids, [Some("x1"), None, Some("x3"), None]);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let broken = |change: fn(&mut Parts)| {
            let mut parts = three_queries().into_parts();
            change(&mut parts);
            Dataset::new(parts).unwrap_err().to_string()
        };
        assert!(broken(|p| p.bounds = vec![0, 2, 2, 4]).contains("query bounds"));
        assert!(broken(|p| p.bounds = Vec::new()).contains("query bounds"));
        assert!(broken(|p| p.labels[1] = f32::NAN).contains("label of document 2"));
        assert!(broken(|p| p.query_weights = Some(vec![1.0, -1.0, 0.0])).contains("query weight"));
        assert!(broken(|p| p.positions = Some(vec![1])).contains("1 positions where 4"));
        assert!(broken(|p| p.columns.names = Some(vec!["x".into()])).contains("1 feature names"));
        let swap = |p: &mut Parts| {
            if let Features::Sparse { columns, .. } = &mut p.features {
                columns.swap(1, 2);
            }
        };
        assert!(broken(swap).contains("feature matrix"));
        assert!(broken(|p| p.features.values_mut()[3] = f32::NEG_INFINITY).contains("infinite"));
    }
}
