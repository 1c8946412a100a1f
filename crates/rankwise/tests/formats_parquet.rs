//! Parquet files of other tools, and damaged ones.
#![cfg(feature = "parquet")]

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int8Array, Int64Array, LargeStringArray, NullArray, RecordBatch,
    StringArray, UInt32Array,
};
use parquet::arrow::ArrowWriter;
use rankwise::Error;
use rankwise::data::{Columns, Dataset, ReadOptions, read, write};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

fn file(columns: Vec<(&str, ArrayRef)>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let nullable = columns.into_iter().map(|(name, array)| (name, array, true));
    let batch = RecordBatch::try_from_iter_with_nullable(nullable).unwrap();
    let mut writer = ArrowWriter::try_new(fs::File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    (folder, path)
}

fn labels() -> ArrayRef {
    Arc::new(Int64Array::from(vec![2, 0, 1]))
}

fn queries() -> ArrayRef {
    Arc::new(Int64Array::from(vec![7, 7, -8]))
}

fn refusal(columns: Vec<(&str, ArrayRef)>) -> String {
    let (folder, path) = file(columns);
    let error: Error = read(&path, &ReadOptions::default()).unwrap_err();
    error.to_string().replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn columns_of_many_types_are_read() {
    let (_folder, path) = file(vec![
        ("label", labels()),
        ("docid", Arc::new(LargeStringArray::from(vec![Some("x"), None, Some("z")]))),
        ("qid", queries()),
        ("a", Arc::new(Float64Array::from(vec![Some(0.1), None, Some(f64::NAN)]))),
        ("b", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("c", Arc::new(Int8Array::from(vec![-3, 4, 5]))),
        ("d", Arc::new(StringArray::from(vec!["1.5", "NULL", ""]))),
        ("e", Arc::new(NullArray::new(3))),
        ("position", Arc::new(UInt32Array::from(vec![Some(2), None, Some(1)]))),
    ]);
    let data = read(&path, &ReadOptions::default()).unwrap().data;
    assert_eq!((data.labels(), data.bounds()), (&[2.0, 0.0, 1.0][..], &[0, 2, 3][..]));
    assert_eq!(data.parts().query_ids.iter().collect::<Vec<_>>(), ["7", "-8"]);
    assert_eq!(data.document_id(1), Some(""));
    assert_eq!(data.parts().positions, Some(vec![2, 0, 1]));
    let row = |i: usize| data.row(i).iter().map(|(_, v)| v.to_string()).collect::<Vec<_>>().join(" ");
    assert_eq!([row(0), row(1), row(2)], ["0.1 1 -3 1.5 NaN", "NaN 0 4 NaN NaN", "NaN 1 5 NaN NaN"]);
}

#[test]
fn errors_name_row_and_column() {
    let a: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let missing: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(2)]));
    let words: ArrayRef = Arc::new(StringArray::from(vec!["1", "2", "three"]));
    let infinite: ArrayRef = Arc::new(Float64Array::from(vec![1.0, f64::INFINITY, 0.0]));
    let negative: ArrayRef = Arc::new(Int64Array::from(vec![1, 1, -1]));
    assert_eq!(
        refusal(vec![("label", labels()), ("session", queries()), ("a", a.clone())]),
        "a.parquet: there is no column `qid` for the query id; name the column that holds it. The columns are `label`, `session`, `a`"
    );
    assert_eq!(
        refusal(vec![("label", missing.clone()), ("qid", queries()), ("a", a.clone())]),
        "a.parquet: row 2, column `label`: expected a finite label, found NaN"
    );
    assert_eq!(
        refusal(vec![("label", labels()), ("qid", missing), ("a", a.clone())]),
        "a.parquet: row 2, column `qid`: no query id"
    );
    assert_eq!(
        refusal(vec![("label", labels()), ("qid", queries()), ("a", words)]),
        "a.parquet: row 3, column `a`: expected a number, found `three`; columns with categories can be read as categorical, and columns that are not features can be ignored: `a`"
    );
    assert_eq!(
        refusal(vec![("label", labels()), ("qid", queries()), ("a", infinite)]),
        "a.parquet: row 2, column `a`: inf is not a finite number in single precision, which goes up to 3.4e38"
    );
    let large: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 0.0, 1e39]));
    for columns in [
        vec![("label", labels()), ("qid", queries()), ("a", large.clone())],
        vec![("label", large), ("qid", queries()), ("a", labels())],
    ] {
        assert!(refusal(columns).contains("is not a finite number in single precision"));
    }
    assert_eq!(
        refusal(vec![("label", labels()), ("qid", queries()), ("a", a), ("weight", negative)]),
        "a.parquet: row 3, column `weight`: expected a weight of 0 or more, found -1"
    );
}

#[test]
fn the_first_feature_id_is_kept_with_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let columns = Columns { first_id: 0, names: Some(vec!["bm25".into()]), ..Columns::default() };
    let data = Dataset::dense(vec![1.0], 1, vec![1.0], &[1]).unwrap().with_columns(columns).unwrap();
    write(&data, &path, None).unwrap();
    assert_eq!(read(&path, &ReadOptions::default()).unwrap().data, data);
}

#[test]
fn damaged_files_are_refused() {
    let (_folder, path) = file(vec![("label", labels()), ("qid", queries()), ("a", labels())]);
    let good = fs::read(&path).unwrap();
    for length in 0..good.len() {
        fs::write(&path, &good[..length]).unwrap();
        let error = read(&path, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("a.parquet is not a Parquet file, or a damaged one: "), "{error}");
    }
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 0x55;
        fs::write(&path, &bytes).unwrap();
        if let Err(error) = read(&path, &ReadOptions::default()) {
            assert!(error.to_string().contains("a.parquet"), "{error}");
        }
    }
}
