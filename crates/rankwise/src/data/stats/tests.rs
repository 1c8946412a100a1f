//! Statistics checked by hand; the counts on OHSUMED are in `tests/prepare_ohsumed.rs`.

use super::*;
use crate::data::Parts;

const NAN: f32 = f32::NAN;

/// Columns: plain, its copy, constant 3, constant in each query, missing here and there, all zeros, wide.
const ROWS: [[f32; 7]; 6] = [
    [1.0, 1.0, 3.0, 5.0, NAN, 0.0, 0.0],
    [0.0, -0.0, 3.0, 5.0, 2.0, 0.0, 2e6],
    [1.0, 1.0, 3.0, 5.0, NAN, 0.0, 0.0],
    [4.0, 4.0, 3.0, 0.0, NAN, 0.0, -1.0],
    [-2.0, -2.0, 3.0, 0.0, 0.0, 0.0, 7.0],
    [6.0, 6.0, 3.0, 8.0, 1.0, 0.0, 0.0],
];

fn dense() -> Dataset {
    let labels = vec![0.0, 1.0, 2.0, 0.0, 0.0, 31.5];
    let data = Dataset::dense(ROWS.concat(), 7, labels, &[3, 2, 1]).unwrap();
    data.with_query_ids(["7", "3", "9"]).unwrap()
}

fn sparse() -> Dataset {
    let mut parts = dense().into_parts();
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in ROWS {
        for (c, x) in row.into_iter().enumerate().filter(|(_, x)| *x != 0.0) {
            columns.push(c as u32);
            values.push(x);
        }
        starts.push(values.len());
    }
    parts.features = Features::Sparse { width: 7, starts, columns, values };
    Dataset::new(parts).unwrap()
}

#[test]
fn statistics_match_a_count_by_hand() {
    let s = stats(&dense());
    assert_eq!((s.queries, s.documents, s.features), (3, 6, 7));
    assert_eq!(s.documents_per_query, Sizes { min: 1, median: 2.0, mean: 2.0, max: 3 });
    let grades: Vec<_> = s.grades.iter().map(|g| (g.grade, g.documents)).collect();
    assert_eq!(grades, [(0.0, 3), (1.0, 1), (2.0, 1), (31.5, 1)]);
    assert_eq!(s.grades[0].fraction, 0.5);
    assert_eq!((s.queries_without_relevant, s.queries_of_one_grade, s.queries_of_one_document), (1, 1, 1));
    assert_eq!((s.missing_values, s.features_with_missing), (3, 1));
    assert_eq!(s.constant_features, [2, 5]);
    assert_eq!(s.query_features, [3]);
    assert_eq!(s.duplicate_features, [[0, 1]]);
    assert_eq!((s.duplicate_documents, s.conflicting_documents, s.zero_documents), (1, 2, 0));
    // Other than 0: 5 + 5 + 6 + 4 + 5 + 0 + 3 of 42.
    assert_eq!((s.layout, s.density), ("dense", 28.0 / 42.0));
    assert_eq!(s.memory_bytes, 4 * 42 + 4 * 6 + 8 * 4);
    let f = &s.feature_stats;
    assert_eq!((f[0].min, f[0].max, f[0].mean, f[0].zero_fraction), (-2.0, 6.0, 10.0 / 6.0, 1.0 / 6.0));
    assert_eq!((f[4].min, f[4].max, f[4].mean, f[4].missing_fraction), (0.0, 2.0, 1.0, 0.5));
    assert_eq!((f[5].min, f[5].max, f[5].mean), (0.0, 0.0, 0.0));
    assert_eq!((f[2].min, f[2].max, f[6].name.as_str()), (3.0, 3.0, "7"));
    assert!(!s.has_document_ids && !s.has_comments && !s.has_query_weights && !s.has_positions);
}

#[test]
fn a_sparse_matrix_has_the_same_statistics() {
    let (dense, mut sparse) = (stats(&dense()), stats(&sparse()));
    assert_eq!(sparse.layout, "sparse");
    assert_eq!(sparse.memory_bytes, 8 * 28 + 8 * 7 + 4 * 6 + 8 * 4);
    (sparse.layout, sparse.memory_bytes) = (dense.layout, dense.memory_bytes);
    assert_eq!(dense, sparse);
}

#[test]
fn oddities_are_reported() {
    let oddities = stats(&dense()).oddities;
    assert_eq!(
        oddities,
        [
            "1 document has a label that is not a whole number.",
            "1 document has a label above 30, for which the exponential gain 2^label − 1 is too large; use a linear gain.",
            "1 query has no relevant documents.",
            "1 query has the same label on all documents.",
            "1 query has only one document.",
            "The query ids are numbers but do not ascend.",
            "2 documents have the same features as another document of the query but a different label.",
            "Feature 7 has a range of more than a million; normalise it or take logarithms before training a linear model.",
            "1 feature equals an earlier one.",
        ]
    );
    let mut parts = dense().into_parts();
    parts.labels = vec![-1.0; 6];
    parts.query_weights = Some(vec![1.0, 0.0, 1.0]);
    let oddities = stats(&Dataset::new(parts).unwrap()).oddities;
    for expected in ["6 documents have a negative", "nothing to learn", "weight 0"] {
        assert!(oddities.iter().any(|s| s.contains(expected)), "{expected}: {oddities:?}");
    }
}

#[test]
fn columns_with_equal_sums_but_other_rows_are_not_duplicates() {
    let data = Dataset::dense(vec![1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 0.0, 0.0, 0.0], 3, vec![0.0; 3], &[3])
        .and_then(|data| data.with_document_ids(["a", "b", "c"]))
        .unwrap();
    let s = stats(&data);
    assert_eq!(s.duplicate_features, [[0, 2]]);
    assert_eq!(s.zero_documents, 1);
    assert!(s.has_document_ids && s.query_features.is_empty());
}

#[test]
fn an_empty_data_set_has_statistics() {
    let s = stats(&Dataset::new(Parts { bounds: vec![0], ..Parts::default() }).unwrap());
    assert_eq!((s.queries, s.documents, s.features, s.density), (0, 0, 0, 0.0));
}

#[test]
fn labels_below_1_are_odd() {
    let odd = |labels: Vec<f32>| {
        let data = Dataset::dense(vec![0.5; labels.len()], 1, labels, &[4]).unwrap();
        stats(&data).oddities.into_iter().find(|sentence| sentence.contains("No label reaches 1"))
    };
    let said = odd(vec![0.0, 0.2, 0.4, 0.6]).unwrap();
    assert!(said.contains("a threshold of 0.4 separates the most pairs"), "{said}");
    assert_eq!(odd(vec![0.0, 0.2, 0.4, 1.0]), None);
    assert_eq!(odd(vec![0.0; 4]), None);
}
