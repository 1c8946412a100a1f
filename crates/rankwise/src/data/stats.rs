//! Statistics of a data set: counts, ranges and oddities.
//!
//! There is one pass over the rows per stripe of columns, with one accumulator per column. Nothing is transposed, a
//! sparse matrix stays sparse, and sums run in row order for any number of threads.

mod columns;
mod oddities;

use super::identical::{identical_rows, is_zero};
use super::labels::{Grade, distribution};
use super::{Dataset, Features};
use crate::parallel;
use columns::Column;
use serde::Serialize;

/// The result of [`stats`]. Columns are numbered from 0; [`FeatureStats::name`] is the name that users see.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stats {
    /// Number of queries.
    pub queries: usize,
    /// Number of documents.
    pub documents: usize,
    /// Number of feature columns.
    pub features: usize,
    /// Distribution of the number of documents per query.
    pub documents_per_query: Sizes,
    /// Number of distinct labels.
    pub distinct_labels: usize,
    /// Every label that occurs, ascending; if there are more than 30, ten bins of equal width.
    pub grades: Vec<Grade>,
    /// Queries whose labels are all below 1.
    pub queries_without_relevant: usize,
    /// Queries with more than one document whose labels are all equal.
    pub queries_of_one_grade: usize,
    /// Queries with a single document.
    pub queries_of_one_document: usize,
    /// Number of missing values.
    pub missing_values: usize,
    /// Number of columns with a missing value.
    pub features_with_missing: usize,
    /// Columns with the same value in all documents.
    pub constant_features: Vec<usize>,
    /// Other columns with the same value in all documents of each query; they describe the query.
    pub query_features: Vec<usize>,
    /// Groups of equal columns, except constant ones.
    pub duplicate_features: Vec<Vec<usize>>,
    /// Documents with the same features as an earlier document of their query.
    pub duplicate_documents: usize,
    /// Documents with the same features as another document of their query, but a different label.
    pub conflicting_documents: usize,
    /// Documents whose features are all 0.
    pub zero_documents: usize,
    /// `dense` or `sparse`.
    pub layout: &'static str,
    /// The fraction of values other than 0, including missing ones.
    pub density: f64,
    /// Memory of features, labels and query bounds, in bytes.
    pub memory_bytes: usize,
    /// Whether documents have ids, in a column or in comments.
    pub has_document_ids: bool,
    /// Whether any document has a comment.
    pub has_comments: bool,
    /// Whether queries have weights.
    pub has_query_weights: bool,
    /// Whether documents have the positions at which they were shown.
    pub has_positions: bool,
    /// One entry per column.
    pub feature_stats: Vec<FeatureStats>,
    /// What is unusual about the data, a sentence each.
    pub oddities: Vec<String>,
}

/// Minimum, median, mean and maximum of some sizes; all 0 if there are none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sizes {
    /// The minimum.
    pub min: usize,
    /// The median.
    pub median: f64,
    /// The mean.
    pub mean: f64,
    /// The maximum.
    pub max: usize,
}

/// Statistics of one column. Minimum, maximum and mean are over values that are not missing, and 0 if there are none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureStats {
    /// Its name, or its id in text files.
    pub name: String,
    /// The minimum.
    pub min: f32,
    /// The maximum.
    pub max: f32,
    /// The mean.
    pub mean: f64,
    /// The fraction of documents in which it is 0.
    pub zero_fraction: f64,
    /// The fraction of documents in which it is missing.
    pub missing_fraction: f64,
}

/// Computes statistics of a data set.
///
/// ```
/// # use rankwise::data::Dataset;
/// # let data = Dataset::dense(vec![0.1, 0.9, 0.4, 0.9], 2, vec![1.0, 0.0], &[2])?;
/// let stats = rankwise::data::stats(&data);
/// assert_eq!(stats.documents, 2);
/// assert_eq!(stats.constant_features, [1]);
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn stats(data: &Dataset) -> Stats {
    let (n, parts) = (data.len(), data.parts());
    let columns = columns::scan(data);
    let constant_features: Vec<usize> = numbers(&columns, |c| c.is_constant(n));
    let repeats = repeats(data);
    let (distinct_labels, grades) = distribution(data.labels().iter().copied());
    let missing_values = columns.iter().map(|c| c.missing).sum();
    let filled: usize = columns.iter().map(|c| c.nonzero + c.missing).sum();
    let mut stats = Stats {
        queries: data.query_count(),
        documents: n,
        features: data.width(),
        documents_per_query: sizes(data.queries().map(|q| q.len()).collect()),
        distinct_labels,
        grades,
        queries_without_relevant: data.queries().filter(|q| q.labels().iter().all(|&l| l < 1.0)).count(),
        queries_of_one_grade: data
            .queries()
            .filter(|q| q.len() > 1 && q.labels().iter().all(|&l| l == q.labels()[0]))
            .count(),
        queries_of_one_document: data.queries().filter(|q| q.len() == 1).count(),
        missing_values,
        features_with_missing: columns.iter().filter(|c| c.missing > 0).count(),
        query_features: numbers(&columns, |c| !c.varies_in_query && !c.is_constant(n)),
        duplicate_features: columns::duplicates(data, &columns),
        constant_features,
        duplicate_documents: repeats.0,
        conflicting_documents: repeats.1,
        zero_documents: parallel::map(0..n, |r| usize::from(is_zero(data.row(r)))).iter().sum(),
        layout: match parts.features {
            Features::Dense { .. } => "dense",
            Features::Sparse { .. } => "sparse",
        },
        density: fraction(filled, n * data.width()),
        memory_bytes: memory(data),
        has_document_ids: (0..n).any(|r| data.document_id(r).is_some()),
        has_comments: parts.comments.as_ref().is_some_and(|c| c.iter().any(|text| !text.is_empty())),
        has_query_weights: parts.query_weights.is_some(),
        has_positions: parts.positions.is_some(),
        feature_stats: columns.iter().enumerate().map(|(i, c)| feature_stats(data, i, c)).collect(),
        oddities: Vec::new(),
    };
    stats.oddities = oddities::sentences(data, &stats);
    stats
}

fn numbers(columns: &[Column], is: impl Fn(&Column) -> bool) -> Vec<usize> {
    (0..columns.len()).filter(|&i| is(&columns[i])).collect()
}

fn fraction(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn sizes(mut sizes: Vec<usize>) -> Sizes {
    sizes.sort_unstable();
    let n = sizes.len();
    let (Some(&min), Some(&max)) = (sizes.first(), sizes.last()) else {
        return Sizes { min: 0, median: 0.0, mean: 0.0, max: 0 };
    };
    let median = (sizes[(n - 1) / 2] + sizes[n / 2]) as f64 / 2.0;
    Sizes { min, median, mean: sizes.iter().sum::<usize>() as f64 / n as f64, max }
}

fn feature_stats(data: &Dataset, number: usize, column: &Column) -> FeatureStats {
    let n = data.len();
    let zeros = n - column.nonzero - column.missing;
    let known = n - column.missing;
    let (mut min, mut max) = (column.min, column.max);
    if zeros > 0 || known == 0 {
        (min, max) = (min.min(0.0), max.max(0.0));
    }
    if known == 0 {
        (min, max) = (0.0, 0.0);
    }
    FeatureStats {
        name: data.columns().name(number),
        min,
        max,
        mean: column.sum / known.max(1) as f64,
        zero_fraction: fraction(zeros, n),
        missing_fraction: fraction(column.missing, n),
    }
}

/// The numbers of duplicate and of conflicting documents.
fn repeats(data: &Dataset) -> (usize, usize) {
    let of_query = |q: usize| {
        let mut counts = (0, 0);
        for group in identical_rows(data, data.query(q).range()) {
            counts.0 += group.len() - 1;
            let grade = data.labels()[group[0]];
            counts.1 += if group.iter().any(|&r| data.labels()[r] != grade) { group.len() } else { 0 };
        }
        counts
    };
    let counts = parallel::map(0..data.query_count(), of_query);
    counts.iter().fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1))
}

fn memory(data: &Dataset) -> usize {
    let features = match &data.parts().features {
        Features::Dense { values, .. } => size_of_val(&values[..]),
        Features::Sparse { starts, columns, values, .. } => {
            size_of_val(&starts[..]) + size_of_val(&columns[..]) + size_of_val(&values[..])
        }
    };
    features + size_of_val(data.labels()) + size_of_val(data.bounds())
}

#[cfg(test)]
mod tests;
