//! Threads that write decide which documents are neighbours in an index, and nothing else.

use rankwise_search::search::{Candidates, Extraction, SearchQuery, Unjudged};
use rankwise_search::{Bm25, FeatureSet, Index, Query, demo};
use std::path::Path;
use std::sync::Arc;

/// Ids of all documents by number, and training data of all candidates with all features, as text: missing values are equal.
fn of_demo(path: &Path, threads: usize) -> (Vec<String>, String) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let index: Index = pool.install(|| demo::index(path)).unwrap();
    let snapshot = Arc::new(index.snapshot().unwrap());
    let everything = Query::parse("*", snapshot.schema()).unwrap();
    let mut all = snapshot.search(&everything, &Bm25::default(), 1_000).unwrap();
    all.sort_by_key(|hit| hit.address);
    let queries = demo::queries().unwrap().into_iter();
    let queries: Vec<_> =
        queries.map(|named| SearchQuery { id: named.id, query: Query::words(named.text) }).collect();
    let extraction = Extraction {
        set: FeatureSet::of_name("mslr", snapshot.schema()).unwrap(),
        bm25: Bm25::default(),
        candidates: Candidates::Bm25 { depth: 1_000 },
        qrels: Some(demo::qrels().unwrap()),
        unjudged: Unjudged::NonRelevant,
    };
    let data = extraction.run(&snapshot, &queries, &|_| {}).unwrap().data;
    (all.into_iter().map(|hit| hit.id).collect(), format!("{data:?}"))
}

#[test]
fn results_do_not_depend_on_the_threads_that_wrote() {
    let directory = tempfile::tempdir().unwrap();
    let (in_order, expected) = of_demo(&directory.path().join("1"), 1);
    assert!(expected.len() > 1_000_000);
    // Threads take documents as they come, so it may take several indexes until one has another order.
    let mut orders = (2..40).map(|number| {
        let (ids, data) = of_demo(&directory.path().join(number.to_string()), 4);
        assert!(data == expected, "other features, labels or candidates");
        ids
    });
    assert!(orders.any(|ids| ids != in_order), "one thread wrote everything");
}
