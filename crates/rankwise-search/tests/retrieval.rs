//! What a model remembers of the retrieval of its training data.

use rankwise::data::{Dataset, Row};
use rankwise::models::Ranker;
use rankwise::recipe::{Recipe, Start};
use rankwise::watch::Silent;
use rankwise_search::search::{Given, Retrieval, RetrievalOptions, run_of};
use rankwise_search::{
    Bm25, Candidates, Extraction, FeatureSet, Query, Search, SearchQuery, Snapshot, Unjudged, demo,
};
use std::sync::{Arc, OnceLock};

fn snapshot() -> Arc<Snapshot> {
    static SNAPSHOT: OnceLock<Arc<Snapshot>> = OnceLock::new();
    let open = || {
        let directory = tempfile::tempdir().unwrap();
        Arc::new(demo::index(&directory.path().join("demo.idx")).unwrap().snapshot().unwrap())
    };
    Arc::clone(SNAPSHOT.get_or_init(open))
}

fn queries() -> Vec<SearchQuery> {
    let queries = demo::queries().unwrap().into_iter();
    queries.map(|named| SearchQuery { id: named.id, query: Query::words(named.text) }).collect()
}

/// Training data with one feature.
fn data_of(feature: &str, bm25: Bm25, candidates: Candidates) -> Dataset {
    let snapshot = snapshot();
    let text = format!("version = 1\nname = \"one\"\nfeatures = [{feature}]");
    let extraction = Extraction {
        set: FeatureSet::from_toml(&text, "one.toml", snapshot.schema()).unwrap(),
        bm25,
        candidates,
        qrels: Some(demo::qrels().unwrap()),
        unjudged: Unjudged::NonRelevant,
    };
    extraction.run(&snapshot, &queries(), &|_| {}).unwrap().data
}

fn trained(data: &Dataset) -> Arc<Ranker> {
    Arc::new(Recipe::new("regression").fit(data, None, Start::default(), &mut Silent::default()).unwrap())
}

const SCORE: &str = "{ name = \"found\", kind = \"retrieval-score\" }";

fn weighted() -> Bm25 {
    Bm25 { k1: 0.5, b: 0.2, weights: vec![("title".into(), 5.0), ("body".into(), 1.0)] }
}

#[test]
fn a_search_finds_candidates_as_the_training_did() {
    let data = data_of(SCORE, weighted(), Candidates::Bm25 { depth: 7 });
    let model = trained(&data);
    let retrieval = Retrieval { depth: 7, bm25: weighted() };
    assert_eq!(Retrieval::of_model(&model).unwrap(), Some(retrieval));
    let search = Search::of(snapshot(), Some(Arc::clone(&model)), &RetrievalOptions::default()).unwrap();
    let mut compared = 0;
    for query in queries() {
        let found = search.run(&query.query, 7).unwrap();
        let rows = search.features(&query.query, &found).unwrap().unwrap();
        let theirs = data.queries().find(|other| other.id() == query.id).unwrap();
        assert_eq!(found.len(), theirs.len());
        for (at, found) in found.iter().enumerate() {
            let row = theirs.range().find(|row| data.document_id(*row) == Some(found.id.as_str())).unwrap();
            assert_eq!(data.row(row), Row::Dense(&rows[at..=at]));
            compared += 1;
        }
    }
    assert!(compared > 100);
}

#[test]
fn other_parameters_are_refused_where_they_change_a_feature() {
    let options = RetrievalOptions { k1: Some(0.9), depth: Some(3), ..RetrievalOptions::default() };
    let model = trained(&data_of(SCORE, weighted(), Candidates::Bm25 { depth: 7 }));
    let error = Search::of(snapshot(), Some(model), &options).err().unwrap().to_string();
    assert!(
        error.contains(
            "feature `found` was computed from BM25 with k1 = 0.5, b = 0.2 and weights title=5,body=1"
        ),
        "{error}"
    );
    assert!(error.contains("this search has k1 = 0.9, b = 0.2"), "{error}");
    // Other features do not depend on how a document was found.
    let covered = "{ kind = \"covered\", field = \"title\" }";
    let model = trained(&data_of(covered, weighted(), Candidates::Bm25 { depth: 7 }));
    let search = Search::of(snapshot(), Some(model), &options).unwrap();
    let by_model = search.run(&Query::words("lighthouse"), 10).unwrap().iter().filter(|f| f.by_model).count();
    assert_eq!(by_model, 3);
    search.check_candidates().unwrap();
    // Judged documents were not found by BM25.
    let rank = "{ name = \"place\", kind = \"retrieval-rank\" }";
    let found = Search::new(snapshot(), Bm25::default()).run_all(&queries(), 5, &|_| {}).unwrap();
    let named: Vec<_> = queries().into_iter().map(|query| query.id).zip(found).collect();
    let run = Candidates::Run(run_of(&named, "other"));
    let model = trained(&data_of(&format!("{covered}, {rank}"), weighted(), run));
    assert_eq!(Retrieval::of_model(&model).unwrap(), None);
    let search = Search::of(snapshot(), Some(model), &RetrievalOptions::default()).unwrap();
    let error = search.check_candidates().unwrap_err().to_string();
    assert!(error.contains("feature `place` comes from a retrieval other than BM25"), "{error}");
    let given = vec![Given { id: "skerrow".into(), score: 3.0 }];
    assert_eq!(search.rank(&Query::words("ferry"), given).unwrap().found.len(), 1);
}

#[test]
fn documents_that_a_model_takes_for_equal_stay_in_the_order_of_bm25() {
    let covered = "{ kind = \"covered\", field = \"title\" }";
    let model = trained(&data_of(covered, Bm25::default(), Candidates::Bm25 { depth: 100 }));
    let search = Search::of(snapshot(), Some(model), &RetrievalOptions::default()).unwrap();
    let query = Query::words("lighthouse on the coast");
    let found = search.run(&query, 100).unwrap();
    let ties = found.windows(2).filter(|pair| pair[0].score == pair[1].score);
    let in_order = ties.map(|pair| pair[0].bm25_rank < pair[1].bm25_rank).collect::<Vec<bool>>();
    assert!(in_order.len() > 10 && in_order.into_iter().all(|is| is));
    // Tools that order a run by its scores have the same order.
    let run = run_of(&[("1".to_owned(), found.clone())], "x");
    assert!(run.topics[0].values.windows(2).all(|pair| pair[0] > pair[1]));
    assert!(run.topics[0].values.iter().zip(&found).all(|(value, found)| (value - found.score).abs() < 1e-9));
}
