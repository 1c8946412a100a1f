//! An index that changes while it is searched.

use crate::client::Client;
use crate::place::{Running, demo, reopened};
use rankwise_search::{Analyzer, Document, Field, Index, Schema, Value};
use rankwise_server::Settings;
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

/// Asks until the answer is as it should be.
fn wait_for(client: &mut Client, path: &str, is_right: impl Fn(&serde_json::Value) -> bool) {
    let begun = Instant::now();
    loop {
        let answer = client.get(path).json();
        if is_right(&answer) {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{path}: {answer}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Whoever deletes all documents does not want to see them any more.
#[test]
fn an_index_that_was_emptied_finds_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("docs.idx");
    copy(&demo().path("docs.idx"), &path);
    let start = || Running::start(Settings { index: Some(path.clone()), ..demo().settings() });
    let server = start();
    let mut writer = Index::open(&path).unwrap().writer(Default::default()).unwrap();
    writer.delete_all().unwrap();
    writer.commit().unwrap();
    drop(writer);
    wait_for(&mut server.client(), "/ready", |answer| answer["documents"] == 0);
    server.end();
    let server = start();
    assert!(server.notes.iter().any(|note| note.contains("no documents yet")), "{:?}", server.notes);
    for model in ["trees", "linear", "bm25"] {
        let path = format!("/search?q=lighthouse&explain=1&snippets=1&model={model}");
        assert_eq!(server.client().get(&path).json()["hits"], json!([]), "{model}");
    }
}

#[test]
fn what_is_added_to_the_index_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("docs.idx");
    copy(&demo().path("docs.idx"), &path);
    let server = Running::start(Settings { index: Some(path.clone()), ..demo().settings() });
    let mut client = server.client();
    let documents = client.get("/ready").json()["documents"].as_u64().unwrap();
    assert_eq!(client.get("/search?q=zanzibarite").json()["hits"], json!([]));

    let mut writer = Index::open(&path).unwrap().writer(Default::default()).unwrap();
    let text = Value::Text("The zanzibarite lamp".to_owned());
    writer.add(Document { id: "new".to_owned(), fields: vec![("title".to_owned(), text)] }).unwrap();
    writer.commit().unwrap();
    drop(writer);
    wait_for(&mut client, "/ready", |answer| answer["documents"] == documents + 1);
    // By all models, as the library ranks.
    for model in ["trees", "linear", "bm25"] {
        let hits = client.get(&format!("/search?q=zanzibarite&model={model}")).json()["hits"].clone();
        assert_eq!(hits[0]["id"], "new", "{model}");
    }
    let ranker = std::sync::Arc::new(demo().ranker("trees.json"));
    let search = rankwise_search::Search::new(reopened(&path), Default::default());
    let search = search.with_model(ranker, rankwise_search::search::DEPTH).unwrap();
    let found = search.run(&rankwise_search::Query::words("lamp"), 10).unwrap();
    let hits = client.get("/search?q=lamp&model=trees&k=10").json()["hits"].clone();
    let ids: Vec<&str> = hits.as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap()).collect();
    assert_eq!(ids, found.iter().map(|found| found.id.as_str()).collect::<Vec<_>>());

    // An index that the models do not fit is not searched.
    std::fs::remove_dir_all(&path).unwrap();
    let schema = Schema::new([Field::text("name", Analyzer::English)]).unwrap();
    let mut writer = Index::create(&path, &schema).unwrap().writer(Default::default()).unwrap();
    let text = Value::Text("zanzibarite".to_owned());
    writer.add(Document { id: "other".to_owned(), fields: vec![("name".to_owned(), text)] }).unwrap();
    writer.commit().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(client.get("/search?q=zanzibarite").json()["hits"][0]["id"], "new");
}
