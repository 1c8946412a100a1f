//! What the server answers is what the library gives, bit for bit; and every request that is wrong is told why.

use crate::client::{Client, Reply};
use crate::place::{ADMIN, Running, bearer, demo, settings};
use rankwise::Recipe;
use rankwise::data::{Normalizer, Rows};
use rankwise::recipe::Start;
use rankwise::watch::Silent;
use rankwise_search::search::{DEPTH, Explained, Search, WhyNot, run_of};
use rankwise_search::{Bm25, Candidates, Extraction, FeatureSet, Query, SearchQuery, Unjudged};
use rankwise_server::Settings;
use serde_json::{Value, json};
use std::sync::Arc;

fn search_of(model: &str) -> Search {
    let search = Search::new(Arc::clone(&demo().snapshot), Bm25::default());
    match model {
        "bm25" => search,
        _ => search.with_model(Arc::new(demo().ranker(&format!("{model}.json"))), DEPTH).unwrap(),
    }
}

fn queries() -> Vec<String> {
    rankwise_search::demo::queries().unwrap().into_iter().map(|query| query.text).collect()
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

#[test]
fn a_search_is_that_of_the_library() {
    let server = Running::start(demo().settings());
    let mut client = server.client();
    for model in ["trees", "linear", "bm25"] {
        let search = search_of(model);
        for text in queries().iter().take(12) {
            let path = format!("/v1/search?q={}&k=7&offset=2&model={model}&fields=title", encoded(text));
            let answer = client.get(&path).json();
            let expected = search.run(&Query::words(text.as_str()), 9).unwrap();
            let hits = answer["hits"].as_array().unwrap();
            assert_eq!(
                (answer["model"].as_str(), hits.len()),
                (Some(model), expected.len().saturating_sub(2))
            );
            for (hit, found) in hits.iter().zip(&expected[2..]) {
                assert_eq!(hit["id"], found.id);
                assert_eq!(hit["score"].as_f64().unwrap().to_bits(), found.score.to_bits());
                assert_eq!(hit["bm25"].as_f64().unwrap().to_bits(), found.bm25.to_bits());
                assert_eq!(
                    (&hit["bm25_rank"], &hit["by_model"]),
                    (&json!(found.bm25_rank), &json!(found.by_model))
                );
                assert_eq!(hit["fields"].as_object().unwrap().keys().collect::<Vec<_>>(), ["title"]);
            }
        }
    }
}

fn check_explained(value: &Value, explained: &Explained) {
    assert_eq!(value["base"].as_f64().unwrap().to_bits(), explained.base.to_bits());
    for (value, feature) in value["features"].as_array().unwrap().iter().zip(&explained.features) {
        assert_eq!(value["name"], feature.name);
        assert_eq!(value["contribution"].as_f64(), feature.contribution);
        assert_eq!(
            value["value"].as_f64().map(|value| value as f32),
            Some(feature.value).filter(|v| !v.is_nan())
        );
    }
}

#[test]
fn explanations_and_snippets_are_those_of_the_library() {
    let server = Running::start(demo().settings());
    let mut client = server.client();
    let (text, search) = ("lighthouse Wexholm", search_of("trees"));
    let query = Query::words(text);
    let twelfth = search.run(&query, 12).unwrap().remove(11).id;
    let path = format!("/search?q={}&explain=1&snippets=1&why_not={}", encoded(text), encoded(&twelfth));
    let answer = client.get(&path).json();
    let found = search.run(&query, 10).unwrap();
    let explained = search.explain(&query, &found).unwrap();
    let snippets = demo().snapshot.snippets(&query, "body", 240).unwrap();
    for ((hit, found), explained) in answer["hits"].as_array().unwrap().iter().zip(&found).zip(&explained) {
        check_explained(&hit["explain"], explained.as_ref().unwrap());
        let snippet = snippets.of(&demo().snapshot.document(found.address).unwrap());
        assert_eq!(hit["snippet"]["text"], snippet.text);
        let characters: Vec<char> = snippet.text.chars().collect();
        let highlights = hit["snippet"]["highlights"].as_array().unwrap();
        assert_eq!(highlights.len(), snippet.highlights.len());
        for (range, bytes) in highlights.iter().zip(&snippet.highlights) {
            let (start, end) = (range[0].as_u64().unwrap() as usize, range[1].as_u64().unwrap() as usize);
            assert_eq!(characters[start..end].iter().collect::<String>(), snippet.text[bytes.clone()]);
        }
    }
    let WhyNot::Ranked { rank, .. } = search.why_not(&query, &twelfth, 10).unwrap() else {
        panic!("the document is ranked")
    };
    assert_eq!(
        (&answer["why_not"]["reason"], &answer["why_not"]["rank"]),
        (&json!("ranked-below"), &json!(rank))
    );
}

#[test]
fn ids_are_ranked_as_a_search_ranks_candidates() {
    let server = Running::start(demo().settings());
    let mut client = server.client();
    let (text, search) = ("coast walk in Saltergate", search_of("trees"));
    let query = Query::words(text);
    // The candidates of BM25, with their scores, in the order of BM25.
    let found = search_of("bm25").run(&query, DEPTH).unwrap();
    let ids: Vec<&str> = found.iter().map(|found| found.id.as_str()).chain(["no such page"]).collect();
    let scores: Vec<f64> = found.iter().map(|found| found.score).chain([0.0]).collect();
    let body = json!({ "query": text, "ids": ids, "scores": scores, "model": "trees", "k": 10 });
    let answer = client.post("/v1/rank", &body).json();
    assert_eq!(answer["unknown"], json!(["no such page"]));
    let expected = search.run(&query, 10).unwrap();
    for (hit, found) in answer["hits"].as_array().unwrap().iter().zip(&expected) {
        assert_eq!((&hit["id"], hit["score"].as_f64()), (&json!(found.id), Some(found.score)));
    }
    let explained = client.post("/v1/explain", &body).json();
    let of_library = search.explain(&query, &expected).unwrap();
    for (hit, of_library) in explained["hits"].as_array().unwrap().iter().zip(&of_library) {
        check_explained(&hit["explain"], of_library.as_ref().unwrap());
    }
}

#[test]
fn explanations_do_not_depend_on_how_many_are_shown() {
    let data = rankwise_search::demo::extract(&demo().snapshot).unwrap();
    // Every document is scaled among all that are sent.
    let recipe = Recipe::new("regression").normalizer(Some(Normalizer::ZScore));
    let ranker = recipe.fit(&data, None, Start::default(), &mut Silent::default()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("scaled.json");
    ranker.save(&path).unwrap();
    let server = Running::start(Settings { models: vec![("scaled".to_owned(), path)], ..demo().settings() });
    let mut client = server.client();
    let found = search_of("bm25").run(&Query::words("lighthouse"), 6).unwrap();
    let ids: Vec<&str> = found.iter().map(|found| found.id.as_str()).collect();
    let mut explained = |k: usize| {
        client.post("/explain", &json!({ "query": "lighthouse", "ids": ids, "k": k })).json()["hits"].clone()
    };
    let (all, first) = (explained(6), explained(2));
    assert_eq!((all[0].clone(), all[1].clone()), (first[0].clone(), first[1].clone()));
    let parts = first[0]["explain"]["features"].as_array().unwrap().iter();
    let sum: f64 = parts.map(|feature| feature["contribution"].as_f64().unwrap()).sum();
    let total = sum + first[0]["explain"]["base"].as_f64().unwrap();
    assert!((total - first[0]["score"].as_f64().unwrap()).abs() < 1e-9, "{first}");
    let width = data.width();
    let documents: Vec<Value> =
        (0..1001).map(|id| json!({ "id": id.to_string(), "features": vec![0.5; width] })).collect();
    let refused = client.post("/explain", &json!({ "documents": documents })).problem(422);
    assert!(refused.contains("at most 1000 documents"), "{refused}");
}

/// The score of a network is not a sum over features, so nothing is said to be one.
#[test]
fn nothing_is_invented_for_models_whose_scores_are_no_sums() {
    let data = rankwise_search::demo::extract(&demo().snapshot).unwrap();
    let recipe = Recipe::new("list-net").scorer("network").set("epochs", 1);
    let ranker = recipe.fit(&data, None, Start::default(), &mut Silent::default()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("network.json");
    ranker.save(&path).unwrap();
    let server = Running::start(Settings { models: vec![("network".to_owned(), path)], ..demo().settings() });
    let answer = server.client().get("/search?q=lighthouse&explain=1&k=1").json();
    let explained = &answer["hits"][0]["explain"];
    assert_eq!((&explained["base"], &explained["base_name"]), (&Value::Null, &Value::Null));
    let features = explained["features"].as_array().unwrap();
    assert_eq!(features.len(), data.width());
    assert!(features.iter().all(|feature| feature["contribution"].is_null() && !feature["name"].is_null()));
}

/// Rows of features that the demo's models take, some of them missing.
fn rows(width: usize, count: usize) -> Vec<f32> {
    let value = |at: usize| if at % 13 == 5 { f32::NAN } else { ((at * 7919) % 1000) as f32 / 97.0 - 3.0 };
    (0..width * count).map(value).collect()
}

fn as_json(values: &[f32], width: usize) -> Value {
    let number = |value: &f32| if value.is_nan() { Value::Null } else { json!(value) };
    values.chunks_exact(width).map(|row| row.iter().map(number).collect::<Value>()).collect()
}

#[test]
fn scores_are_those_of_the_library_in_every_form() {
    let models = demo().settings().models;
    let server = Running::start(Settings { models, ..settings() });
    let mut client = server.client();
    for model in ["trees", "linear"] {
        let ranker = demo().ranker(&format!("{model}.json"));
        let width = ranker.model.width();
        for count in [1, 2, 57, 1500] {
            let values = rows(width, count);
            let mut expected = vec![0.0; count];
            ranker.score_rows(Rows::dense(&values, width).unwrap(), &mut expected).unwrap();
            let answer =
                client.post("/score", &json!({ "model": model, "rows": as_json(&values, width) })).json();
            let scores: Vec<f64> =
                answer["scores"].as_array().unwrap().iter().map(|s| s.as_f64().unwrap()).collect();
            assert_eq!(scores, expected);
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            let path = format!("/v1/score?features={width}&model={model}");
            let binary = [("content-type", "application/octet-stream")];
            assert_eq!(client.send("POST", &path, &binary, &bytes).json()["scores"], answer["scores"]);
            let accept = |form| [binary[0], ("accept", form)];
            let doubles = client.send("POST", &path, &accept("application/octet-stream"), &bytes);
            assert_eq!(doubles.header("x-model"), Some(format!("{model}/1").as_str()));
            assert_eq!(
                doubles.body,
                expected.iter().flat_map(|score| score.to_le_bytes()).collect::<Vec<u8>>()
            );
            let singles = client.send("POST", &path, &accept("application/octet-stream;type=f32"), &bytes);
            let narrow = expected.iter().flat_map(|score| (*score as f32).to_le_bytes());
            assert_eq!(singles.body, narrow.collect::<Vec<u8>>());
        }
        let values = rows(width, 5);
        let mut expected = vec![0.0; 5];
        ranker.score_queries(Rows::dense(&values, width).unwrap(), &[2, 3], &mut expected).unwrap();
        let body = json!({ "model": model, "rows": as_json(&values, width), "sizes": [2, 3] });
        let answer = client.post("/score", &body).json();
        assert_eq!(answer["scores"], json!(expected));
        // Documents with features are ranked by the same scores.
        let documents: Vec<Value> = (0..5)
            .map(|at| json!({ "id": format!("d{at}"), "features": as_json(&values, width)[at] }))
            .collect();
        let mut scores = vec![0.0; 5];
        ranker.score_query_rows(Rows::dense(&values, width).unwrap(), &mut scores).unwrap();
        let answer = client.post("/rank", &json!({ "model": model, "documents": documents })).json();
        let mut order: Vec<usize> = (0..5).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        for (hit, at) in answer["hits"].as_array().unwrap().iter().zip(order) {
            assert_eq!((&hit["id"], hit["score"].as_f64()), (&json!(format!("d{at}")), Some(scores[at])));
        }
    }
}

fn problem(reply: &Reply, status: u16, part: &str) {
    let detail = reply.problem(status);
    assert!(detail.contains(part), "{part}: {detail}");
}

#[test]
fn wrong_requests_are_told_what_is_wrong() {
    let server = Running::start(demo().settings());
    let mut client = server.client();
    let cases: [(&str, u16, &str); 14] = [
        ("/search", 400, "`q`, the query, is missing"),
        ("/search?q=a&kk=3", 400, "unknown parameter `kk`"),
        ("/search?q=a&k=0", 400, "`k` is 0"),
        ("/search?q=a&k=ten", 400, "`k` is `ten`"),
        ("/search?q=a&k=10&offset=9999999999", 400, "`offset` and `k` together"),
        ("/search?q=a&q=b", 400, "`q` is given twice"),
        ("/search?q=%ff", 400, "not UTF-8"),
        ("/search?q=a&model=tree", 404, "trees"),
        ("/search?q=(a&syntax=full", 400, "cannot be read"),
        ("/search?q=a&syntax=lucene", 400, "`words` or `full`"),
        ("/nothing", 404, "there is no /nothing"),
        ("/v1/page/..%2f..%2fCargo.toml", 404, "no such file"),
        ("/feedback", 405, "it has POST"),
        ("/live", 404, "--log"),
    ];
    for (path, status, part) in cases {
        problem(&client.get(path), status, part);
    }
    let long = format!("/search?q={}", "a".repeat(5000));
    problem(&client.get(&long), 400, "more than 4096 characters");
    assert_eq!(client.get("/feedback").header("allow"), Some("POST"));
    let bodies: [(&str, Value, u16, &str); 9] = [
        ("/rank", json!({ "query": "a" }), 422, "either `ids` or `documents`"),
        ("/rank", json!({ "ids": ["a"] }), 422, "no `query`"),
        ("/rank", json!({ "query": "a", "ids": ["a", "a"] }), 422, "given twice"),
        ("/rank", json!({ "query": "a", "ids": ["a"], "scores": [] }), 422, "0 scores for 1 ids"),
        ("/rank", json!({ "query": "a", "ids": ["a"], "model": "bm25" }), 422, "BM25 is not a model"),
        ("/rank", json!({ "documents": [{ "id": "a", "features": [1] }] }), 422, "has 1 features"),
        ("/rank", json!({ "documents": [{ "id": "a", "feature": [1] }] }), 422, "unknown field `feature`"),
        ("/rank", json!([]), 422, "must be a JSON object"),
        ("/score", json!({ "rows": [[1, 2]] }), 422, "the rows have 2 features"),
    ];
    for (path, body, status, part) in bodies {
        problem(&client.post(path, &body), status, part);
    }
    problem(&client.send("POST", "/rank", &[], b"{}"), 415, "content-type");
    let json = [("content-type", "application/json")];
    problem(&client.send("POST", "/rank", &json, b"{\"query\": \"\xff\"}"), 400, "not valid JSON");
    problem(&client.send("POST", "/rank", &json, b"{\"query\": "), 400, "cut short");
    let binary = [("content-type", "application/octet-stream")];
    problem(&client.send("POST", "/score?features=21", &binary, &[0; 85]), 422, "85 bytes");
    problem(&client.send("POST", "/score", &binary, &[0; 84]), 400, "number of features");
    let infinite = f32::INFINITY.to_le_bytes().repeat(21);
    problem(&client.send("POST", "/score?features=21", &binary, &infinite), 422, "infinite");
}

#[test]
fn a_server_without_an_index_scores_and_does_not_search() {
    let server = Running::start(Settings { models: demo().settings().models, ..settings() });
    let mut client: Client = server.client();
    problem(&client.get("/search?q=a"), 404, "no index");
    problem(&client.post("/rank", &json!({ "query": "a", "ids": ["a"] })), 404, "no index");
    assert_eq!(client.get("/ready").json()["documents"], Value::Null);
    let empty = Running::start(settings());
    problem(&empty.client().get("/ready"), 503, "no model yet");
    assert_eq!(empty.client().get("/health").status, 200);
    problem(&empty.client().post("/score", &json!({ "rows": [[1]] })), 404, "no model yet");
}

/// What is described exists, and what exists is described.
#[test]
fn the_description_has_every_request() {
    let server = Running::start(settings());
    let described = server.client().get("/v1/openapi.json").json();
    let names = server.client().get("/metrics").text();
    assert!(names.contains("rankwise_uptime_seconds"));
    let mut found: Vec<String> = Vec::new();
    for (path, methods) in described["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            found.push(format!("{} {}", method.to_uppercase(), path.strip_prefix("/v1").unwrap_or(path)));
            assert!(operation["summary"].as_str().is_some_and(|summary| !summary.is_empty()), "{path}");
            assert!(
                operation["responses"].as_object().is_some_and(|responses| !responses.is_empty()),
                "{path}"
            );
        }
    }
    found.sort();
    let mut expected: Vec<String> = rankwise_server::requests().collect();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn the_page_has_a_policy_that_allows_nothing_from_elsewhere() {
    let server = Running::start(settings());
    let mut client = server.client();
    for path in ["/", "/page/page.js", "/page/page.css"] {
        let reply = client.get(path);
        let policy = reply.header("content-security-policy").unwrap();
        assert!(reply.status == 200 && policy.starts_with("default-src 'none'"), "{path}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    }
    let page = client.get("/").text();
    assert!(!page.contains("<script>") && !page.contains("style=") && !page.contains("onclick"));
}

/// A model that knows the scores of an engine, as it is trained on the engine's run.
fn of_an_engine() -> Vec<u8> {
    let snapshot = &demo().snapshot;
    let queries: Vec<SearchQuery> = rankwise_search::demo::queries()
        .unwrap()
        .into_iter()
        .map(|named| SearchQuery { id: named.id, query: Query::words(named.text) })
        .collect();
    let found = Search::new(Arc::clone(snapshot), Bm25::default()).run_all(&queries, 5, &|_| {}).unwrap();
    let named: Vec<_> = queries.iter().map(|query| query.id.clone()).zip(found).collect();
    let set = "version = 1\nname = 'engine'\nfeatures = [{ kind = 'retrieval-score' }]";
    let extraction = Extraction {
        set: FeatureSet::from_toml(set, "engine.toml", snapshot.schema()).unwrap(),
        bm25: Bm25::default(),
        candidates: Candidates::Run(run_of(&named, "engine")),
        qrels: Some(rankwise_search::demo::qrels().unwrap()),
        unjudged: Unjudged::NonRelevant,
    };
    let data = extraction.run(snapshot, &queries, &|_| {}).unwrap().data;
    let recipe = Recipe::new("regression");
    recipe.fit(&data, None, Start::default(), &mut Silent::default()).unwrap().to_bytes()
}

#[test]
fn a_model_of_another_retrieval_ranks_what_that_has_found() {
    let server = Running::start(demo().settings());
    let mut client = server.client();
    let head = [("authorization", &*bearer(ADMIN))];
    assert_eq!(client.send("PUT", "/models/engine", &head, &of_an_engine()).status, 201);
    let refused = client.get("/search?q=lighthouse&model=engine");
    assert!(refused.problem(422).contains("comes from a retrieval other than BM25"));
    let body = json!({ "query": "lighthouse", "ids": ["skerrow", "skerrow-lighthouse"], "scores": [3, 2], "model": "engine" });
    assert_eq!(client.post("/rank", &body).json()["hits"].as_array().unwrap().len(), 2);
}
