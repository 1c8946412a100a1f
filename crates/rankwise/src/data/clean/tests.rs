//! Cleaning checked by hand; the counts on OHSUMED are in `tests/prepare_ohsumed.rs`.

use super::*;
use crate::data::{Features, Parts};

fn data(rows: &[(usize, f32, [f32; 2])]) -> Dataset {
    let mut bounds = vec![0];
    bounds.extend((1..rows.len()).filter(|&i| rows[i].0 != rows[i - 1].0));
    bounds.push(rows.len());
    Dataset::new(Parts {
        features: Features::Dense { width: 2, values: rows.iter().flat_map(|r| r.2).collect() },
        labels: rows.iter().map(|r| r.1).collect(),
        query_ids: (1..bounds.len()).map(|q| q.to_string()).collect(),
        bounds,
        document_ids: Some((0..rows.len()).map(|i| i.to_string()).collect()),
        ..Parts::default()
    })
    .unwrap()
}

/// The same values without the zeros.
fn sparse(data: &Dataset) -> Dataset {
    let mut parts = data.clone().into_parts();
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for r in 0..data.len() {
        for (c, x) in data.row(r).iter().filter(|(_, x)| *x != 0.0) {
            columns.push(c as u32);
            values.push(x);
        }
        starts.push(values.len());
    }
    parts.features = Features::Sparse { width: 2, starts, columns, values };
    Dataset::new(parts).unwrap()
}

/// Query 1: a conflict (0, 1), a pair that differs in label only (2, 3), rows of zeros that conflict (4, 5).
/// Query 2: the vector of documents 0 and 1 again (6), near it a non-relevant one (7), one at an angle (8).
/// Query 3: no relevant documents. Query 4: no non-relevant ones.
fn mixed() -> Dataset {
    data(&[
        (1, 0.0, [1.0, 2.0]),
        (1, 1.0, [1.0, 2.0]),
        (1, 1.0, [3.0, 0.0]),
        (1, 2.0, [3.0, 0.0]),
        (1, 0.0, [0.0, 0.0]),
        (1, 2.0, [0.0, -0.0]),
        (2, 2.0, [1.0, 2.0]),
        (2, 0.0, [1.0, 2.1]),
        (2, 0.0, [0.0, 5.0]),
        (3, 0.0, [1.0, 2.0]),
        (3, 0.0, [4.0, 4.0]),
        (4, 1.0, [1.0, -1.0]),
    ])
}

/// The documents that a cleaning drops, from both layouts.
fn dropped(spec: &str) -> Vec<usize> {
    let cleaner = Cleaner::parse(spec).unwrap();
    let kept = |data: Dataset| -> Vec<usize> {
        let (left, report) = cleaner.clean(data).unwrap();
        assert_eq!(report.documents_after, left.len());
        (0..left.len()).map(|r| left.document_id(r).unwrap().parse().unwrap()).collect()
    };
    let left = kept(mixed());
    assert_eq!(left, kept(sparse(&mixed())), "{spec}");
    (0..12).filter(|d| !left.contains(d)).collect()
}

#[test]
fn every_option_drops_the_documents_it_names() {
    assert_eq!(dropped("zero-rows"), [4, 5]);
    assert_eq!(dropped("conflicts"), [0, 1]);
    assert_eq!(dropped("conflicts:zeros=compare"), [0, 1, 4, 5]);
    assert_eq!(dropped("conflicts:side=non-relevant"), [0]);
    assert_eq!(dropped("conflicts:side=bad"), [0]);
    assert_eq!(dropped("conflicts:side=good"), [1]);
    assert_eq!(dropped("conflicts:grades=graded"), [0, 1, 2, 3]);
    assert_eq!(dropped("conflicts:grades=graded:side=bad"), [0, 2]);
    assert_eq!(dropped("conflicts:scope=data"), [0, 1, 6, 9]);
    assert_eq!(dropped("conflicts:scope=data:side=bad"), [0, 9]);
    assert_eq!(dropped("conflicts:threshold=2"), [2, 3]);
    assert_eq!(dropped("near"), [0, 1, 6, 7]);
    assert_eq!(dropped("near:side=bad"), [0, 7]);
    assert_eq!(dropped("near:side=relevant"), [1, 6]);
    assert_eq!(dropped("near:side=good"), [1, 6]);
    // cos((1, 2), (0, 5)) = 2/√5 = 0.894…
    assert_eq!(dropped("near:cosine=0.89:side=bad"), [0, 7, 8]);
    assert_eq!(dropped("near:cosine=0.895:side=bad"), [0, 7]);
    assert_eq!(dropped("empty-queries"), [9, 10]);
    assert_eq!(dropped("empty-queries:lacking=non-relevant"), [11]);
    assert_eq!(dropped("empty-queries:lacking=irrelevant"), [11]);
    assert_eq!(dropped("empty-queries:lacking=either"), [9, 10, 11]);
}

#[test]
fn steps_follow_each_other_and_are_counted() {
    // Without both documents of its near pair, query 2 has no relevant document, so document 8 is dropped too.
    let (left, report) = Cleaner::parse("papers").unwrap().clean(mixed()).unwrap();
    assert_eq!(left.query_count(), 2);
    assert_eq!((report.documents_before, report.documents_after), (12, 3));
    assert_eq!((report.queries_before, report.queries_after), (4, 2));
    let summary: Vec<_> = report.steps.iter().map(|s| (s.documents, s.queries, s.grades.clone())).collect();
    assert_eq!(
        summary,
        [
            (2, 0, vec![(0.0, 1), (2.0, 1)]),
            (2, 0, vec![(0.0, 1), (1.0, 1)]),
            (2, 0, vec![(0.0, 1), (2.0, 1)]),
            (3, 2, vec![(0.0, 3)]),
        ]
    );
}

#[test]
fn options_of_the_bundle_reach_the_steps_that_have_them() {
    let bundle = Cleaner::parse("papers:side=bad:cosine=0.995").unwrap();
    let spelled =
        Cleaner::parse("zero-rows,conflicts:side=bad,near:side=bad:cosine=0.995,empty-queries").unwrap();
    assert_eq!(bundle, spelled);
    assert_eq!(Cleaner::parse(&bundle.to_string()).unwrap(), bundle);
}

#[test]
fn every_card_is_a_step_and_mistakes_are_explained() {
    for card in CLEANING {
        assert!(!Cleaner::parse(card.name).unwrap().steps.is_empty());
    }
    let refused = |spec: &str| Cleaner::parse(spec).unwrap_err().to_string();
    assert!(refused("zero-row").contains("did you mean `zero-rows`?"));
    assert!(refused("near:cosin=1").contains("did you mean `cosine`?"));
    assert!(refused("near:side=evil").contains("known: both, non-relevant, relevant, bad, good"));
    assert!(refused("near:cosine=1.5").contains("`cosine=1.5`"));
    assert!(refused("near:cosine=nan").contains("`cosine=nan`"));
    assert!(refused("near:bad").contains("`bad` is not an option"));
    assert!(refused("zero-rows:side=bad").contains("no option `side`"));
    assert!(refused("").contains("known: zero-rows"));
}

#[test]
fn nothing_left_is_an_error() {
    let zeros = data(&[(1, 0.0, [0.0, 0.0])]);
    let error = Cleaner::parse("zero-rows").unwrap().clean(zeros).unwrap_err();
    assert_eq!(error.to_string(), "cleaning with `zero-rows` leaves no documents");
}

#[test]
fn missing_values_are_equal_and_are_not_zeros() {
    let missing = data(&[(1, 0.0, [f32::NAN, 1.0]), (1, 1.0, [-f32::NAN, 1.0]), (1, 0.0, [f32::NAN, 0.0])]);
    for data in [sparse(&missing), missing] {
        let (left, _) = Cleaner::parse("zero-rows,conflicts").unwrap().clean(data).unwrap();
        assert_eq!(left.document_id(0), Some("2"));
        assert_eq!(left.len(), 1);
    }
}

#[test]
fn labels_are_counted_in_order() {
    let labels = [2.0, -1.5, 0.0, -0.0, -3.0, 2.0];
    assert_eq!(count_grades(labels.into_iter()), [(-3.0, 1), (-1.5, 1), (0.0, 2), (2.0, 2)]);
}
