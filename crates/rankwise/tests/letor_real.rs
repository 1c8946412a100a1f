//! The public collections, if they are available: their documents, queries and features.

use rankwise::data::{Dataset, Features, ReadOptions, read_all};
use std::io::Write;
use std::path::{Path, PathBuf};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");

/// The five subsets of a collection as one data set; `None`, with a message, if they are not available.
fn collection(name: &str) -> Option<Dataset> {
    let part = |part: u32| Path::new(DATA).join(name).join(format!("S{part}.txt.zst"));
    let paths: Vec<PathBuf> = (1..=5).map(part).collect();
    if !paths.iter().all(|path| path.exists()) {
        // If the message cannot be printed, that is not a failure.
        let _ = writeln!(std::io::stderr(), "skipped: {name} is not in {DATA}");
        return None;
    }
    let loaded = read_all(&paths, &ReadOptions::default()).unwrap();
    assert!(loaded.notes.is_empty(), "{:?}", loaded.notes);
    Some(loaded.data)
}

fn grades(data: &Dataset) -> Vec<f32> {
    let mut grades = data.labels().to_vec();
    grades.sort_by(f32::total_cmp);
    grades.dedup();
    grades
}

#[test]
fn ohsumed_has_its_published_size() {
    let Some(data) = collection("ohsumed") else { return };
    assert_eq!((data.query_count(), data.len(), data.width()), (106, 16_140, 45));
    assert_eq!(grades(&data), [0.0, 1.0, 2.0]);
    assert_eq!(data.query(0).id(), "1");
    // The first line of S1: `… 3:0.833333 4:0.871264 5:0 … 45:0.971425 #docid = 244338`.
    assert_eq!([data.row(0).get(2), data.row(0).get(3), data.row(0).get(44)], [0.833333, 0.871264, 0.971425]);
    assert_eq!(data.document_id(0), Some("244338"));
    assert!(matches!(data.parts().features, Features::Dense { .. }));
}

#[test]
fn ohsumed_of_letor_2_has_its_published_size() {
    let Some(data) = collection("ohsumed-letor2") else { return };
    assert_eq!((data.query_count(), data.len(), data.width()), (106, 16_140, 25));
    // The first line of S1: `2 qid:1 1:3.00000000 … 5:37.33056511 … 23:-3.87098000 …`.
    assert_eq!(data.labels()[0], 2.0);
    assert_eq!([data.row(0).get(0), data.row(0).get(4), data.row(0).get(22)], [3.0, 37.330_566, -3.87098]);
}

#[test]
fn clueweb09_has_its_published_size() {
    let Some(data) = collection("clueweb09") else { return };
    assert_eq!((data.query_count(), data.len(), data.width()), (61, 26_646, 42));
    assert_eq!(grades(&data), [0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(data.document_id(0), Some("clueweb09-en0006-78-20618"));
}
