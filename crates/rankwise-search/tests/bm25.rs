//! BM25 is what counting words by hand gives, whatever happened to the index before.

mod common;

use common::{Built, Change, Texts, WORDS, naive_bm25, schema};
use proptest::prelude::*;
use rankwise_search::{Analyzer, Bm25, Field, Hit, Query, Schema, Snapshot};
use serde::Deserialize;
use std::collections::BTreeMap;

const VOCABULARY: [&str; 12] =
    ["run", "running", "runs", "The", "of", "dog", "dogs", "cat", "straße", "STRASSE", "x-ray", "3.5"];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&VOCABULARY[..]), 0..12).prop_map(|words| words.join(" "))
}

fn texts() -> impl Strategy<Value = Texts> {
    let field = prop::sample::select(&["title", "body", "note", "tag"][..]);
    prop::collection::vec((field.prop_map(str::to_owned), text()), 0..5)
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        6 => (0u8..20, texts()).prop_map(|(number, texts)| Change::Put(number, texts)),
        1 => (0u8..20).prop_map(Change::Delete),
        1 => Just(Change::Commit),
    ];
    prop::collection::vec(change, 0..50)
}

/// `x-ray` is two words, which `naive_bm25` would see as one.
fn query() -> impl Strategy<Value = String> {
    let words = VOCABULARY.iter().copied().filter(|word| *word != "x-ray").collect::<Vec<_>>();
    prop::collection::vec(prop::sample::select(words), 0..8).prop_map(|words| words.join(" "))
}

fn ranker() -> impl Strategy<Value = (f64, f64, Vec<(usize, f64)>)> {
    let weights = prop::collection::btree_map(0..WORDS.len(), prop_oneof![Just(1.0), 0.1..5.0], 0..4);
    let k1 = prop_oneof![Just(0.0), 0.1..3.0];
    (k1, 0.0..=1.0, weights.prop_map(|weights| weights.into_iter().collect()))
}

/// The expected order: by score, then by id.
fn in_order(hits: &[Hit]) -> bool {
    hits.windows(2).all(|pair| {
        pair[0].score > pair[1].score || (pair[0].score == pair[1].score && pair[0].id < pair[1].id)
    })
}

fn check_ids(snapshot: &Snapshot, hits: &[Hit]) {
    for hit in hits {
        assert_eq!(snapshot.find(&hit.id).unwrap(), Some(hit.address));
        assert_eq!(snapshot.id(hit.address).unwrap(), hit.id);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn scores_are_those_of_counting(changes in changes(), query in query(), (k1, b, chosen) in ranker(), k in 0usize..25) {
        let built = Built::by_changes(&schema(), &changes);
        let weights = chosen.iter().map(|&(field, weight)| (WORDS[field].1.to_owned(), weight)).collect();
        let bm25 = Bm25 { k1, b, weights };
        let snapshot = built.snapshot();
        prop_assert_eq!(snapshot.len(), built.live.len() as u64);
        let hits = snapshot.search(&Query::words(&query), &bm25, 100).unwrap();

        let all = [(0, 1.0), (1, 1.0), (2, 1.0)];
        let named = if chosen.is_empty() { &all[..] } else { &chosen };
        let weights: Vec<_> = named.iter().map(|&(field, weight)| (WORDS[field].1, WORDS[field].2, weight)).collect();
        let expected = naive_bm25(&built.live, &query, k1, b, &weights);
        prop_assert_eq!(hits.len(), expected.len());
        for hit in &hits {
            prop_assert!((hit.score - expected[&hit.id]).abs() < 1e-9, "{:?} {}", hit, expected[&hit.id]);
        }
        prop_assert!(in_order(&hits));
        check_ids(&snapshot, &hits);

        let first = snapshot.search(&Query::words(&query), &bm25, k).unwrap();
        prop_assert_eq!(&first[..], &hits[..k.min(hits.len())]);
    }

    #[test]
    fn an_index_after_changes_ranks_like_a_new_one(changes in changes(), query in query(), (k1, b, chosen) in ranker()) {
        let changed = Built::by_changes(&schema(), &changes);
        let anew = Built::anew(&schema(), &changed.live);
        let weights = chosen.iter().map(|&(field, weight)| (WORDS[field].1.to_owned(), weight)).collect();
        let bm25 = Bm25 { k1, b, weights };
        for query in [Query::words(&query), Query::parse("run OR *", &schema()).unwrap()] {
            let found = |built: &Built| -> Vec<(String, u64)> {
                let hits = built.snapshot().search(&query, &bm25, 10).unwrap();
                hits.into_iter().map(|hit| (hit.id, hit.score.to_bits())).collect()
            };
            prop_assert_eq!(found(&changed), found(&anew));
        }
    }
}

#[derive(Deserialize)]
struct Stored {
    documents: Vec<String>,
    queries: Vec<String>,
    answers: Vec<Answer>,
}

#[derive(Deserialize)]
struct Answer {
    k1: f64,
    b: f64,
    scores: Vec<Vec<f64>>,
}

/// `testdata/search/bm25.py` made the answers.
#[test]
fn scores_are_those_of_bm25s() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/search/bm25s.json");
    let stored: Stored = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let schema = Schema::new([Field::text("text", Analyzer::Plain)]).unwrap();
    let text =
        |(number, text): (usize, &String)| (format!("{number}"), vec![("text".to_owned(), text.clone())]);
    let live: BTreeMap<String, Texts> = stored.documents.iter().enumerate().map(text).collect();
    let snapshot = Built::anew(&schema, &live).snapshot();
    let mut compared = 0;
    for Answer { k1, b, scores } in &stored.answers {
        for (query, expected) in stored.queries.iter().zip(scores) {
            let bm25 = Bm25 { k1: *k1, b: *b, weights: Vec::new() };
            let mut found = vec![0.0; expected.len()];
            for hit in snapshot.search(&Query::words(query), &bm25, 1000).unwrap() {
                found[hit.id.parse::<usize>().unwrap()] = hit.score;
            }
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-5, "{query}: {found}, but bm25s has {expected}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 4 * 10 * 40);
}
