//! Models that change while the server answers.

use crate::client::{Client, Reply};
use crate::place::{ADMIN, JUDGE, Running, bearer, demo, reopened, settings};
use rankwise::data::Columns;
use rankwise::models::{Model, Ranker};
use rankwise_server::Settings;
use serde_json::json;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

fn put(client: &mut Client, name: &str, bytes: &[u8], token: &str) -> Reply {
    client.send("PUT", &format!("/models/{name}"), &[("authorization", &bearer(token))], bytes)
}

fn post(client: &mut Client, path: &str) -> Reply {
    client.send("POST", path, &[("authorization", &bearer(ADMIN))], b"")
}

/// A model whose scores are the first feature plus a number.
fn plus(number: f64) -> Vec<u8> {
    Ranker::of_model(Model::linear(vec![1.0, 0.0], number), Columns::default()).unwrap().to_bytes()
}

#[test]
fn models_have_versions_that_can_be_returned_to() {
    let server = Running::start(settings());
    let mut client = server.client();
    let score = |client: &mut Client| {
        let answer = client.post("/score", &json!({ "rows": [[1, 0]], "model": "m" })).json();
        (answer["version"].as_u64().unwrap(), answer["scores"][0].as_f64().unwrap())
    };
    for (version, status) in [(1, 201), (2, 200), (3, 200)] {
        let reply = put(&mut client, "m", &plus(f64::from(version)), ADMIN);
        assert_eq!((reply.status, &reply.json()["version"]), (status, &json!(version)));
        assert_eq!(score(&mut client), (version as u64, 1.0 + f64::from(version)));
    }
    assert_eq!(post(&mut client, "/v1/models/m/rollback").json()["version"], 2);
    assert_eq!(score(&mut client), (2, 3.0));
    // A version has one content for ever.
    assert_eq!(put(&mut client, "m", &plus(9.0), ADMIN).json()["version"], 4);
    assert_eq!(
        (0..2).map(|_| post(&mut client, "/models/m/rollback").json()["version"].clone()).collect::<Vec<_>>(),
        [2, 1]
    );
    post(&mut client, "/models/m/rollback").problem(409);
    put(&mut client, "other", &plus(5.0), ADMIN).json();
    assert_eq!(client.post("/score", &json!({ "rows": [[1, 0]] })).json()["scores"], json!([2.0]));
    post(&mut client, "/models/other/promote").json();
    assert_eq!(client.post("/score", &json!({ "rows": [[1, 0]] })).json()["scores"], json!([6.0]));
    assert_eq!(client.get("/models").json()["default"], "other");
}

#[test]
fn what_cannot_serve_is_refused_and_changes_nothing() {
    let server = Running::start(demo().settings());
    let mut client = server.client();
    let trees = std::fs::read(demo().path("trees.json")).unwrap();
    let before = client.get("/models").json();
    assert!(put(&mut client, "x", b"not a model", ADMIN).problem(422).contains("not a model"));
    assert!(put(&mut client, "x", &trees[..trees.len() / 2], ADMIN).problem(422).contains("cut short"));
    let damaged =
        String::from_utf8(trees.clone()).unwrap().replacen("\"seed\":", "\"seed\": ", 1).into_bytes();
    assert!(put(&mut client, "x", &damaged, ADMIN).problem(422).contains("checksum"));
    // It knows nothing of an index.
    assert!(put(&mut client, "x", &plus(1.0), ADMIN).problem(422).contains("features were computed"));
    assert!(put(&mut client, "bm25", &trees, ADMIN).problem(409).contains("bm25"));
    for name in ["..", ".hidden", "a%2fb", "..%2f..%2fetc%2fpasswd", "a%00b", "%C3%A9", &"a".repeat(65)] {
        put(&mut client, name, &trees, ADMIN).problem(400);
    }
    put(&mut client, "a/b", &trees, ADMIN).problem(404);
    assert_eq!(client.get("/models").json(), before);
    assert_eq!(put(&mut client, "trees", &trees, ADMIN).json()["version"], 2);
}

#[test]
fn only_administrators_change_models() {
    let server = Running::start(demo().settings());
    let trees = std::fs::read(demo().path("trees.json")).unwrap();
    // The body of a refused request is not read, so its connection ends.
    put(&mut server.client(), "x", &trees, "wrong-token-0123456789").problem(401);
    put(&mut server.client(), "x", &trees, JUDGE).problem(403);
    let without = server.client().send("PUT", "/models/x", &[], &trees);
    assert_eq!(without.header("www-authenticate"), Some("Bearer"));
    without.problem(401);
    let mut client = server.client();
    for path in ["/models/trees/promote", "/models/trees/rollback"] {
        client.send("POST", path, &[], b"").problem(401);
    }
    for path in ["/judgments", "/judge/next?judge=ann"] {
        client.get(path).problem(401);
    }
    // Nobody, if there are no tokens.
    let open = Running::start(Settings { admin_tokens: vec![], judge_tokens: vec![], ..demo().settings() });
    put(&mut open.client(), "x", &trees, ADMIN).problem(403);
    let everywhere =
        Settings { listen: "0.0.0.0:0".parse().unwrap(), admin_tokens: vec![], ..demo().settings() };
    let error = rankwise_server::Server::start(everywhere).err().unwrap();
    assert!(error.to_string().contains("token"), "{error}");
}

fn remove(client: &mut Client, name: &str) -> Reply {
    client.send("DELETE", &format!("/models/{name}"), &[("authorization", &bearer(ADMIN))], b"")
}

#[test]
fn models_are_removed_if_nobody_is_sent_to_them() {
    let directory = tempfile::tempdir().unwrap();
    let server = Running::start(Settings {
        log: Some(directory.path().join("clicks.jsonl")),
        shadow: Some("linear".to_owned()),
        ..demo().settings()
    });
    let mut client = server.client();
    let trees = std::fs::read(demo().path("trees.json")).unwrap();
    put(&mut client, "more", &trees, ADMIN).json();
    assert!(remove(&mut client, "trees").problem(409).contains("default"));
    assert!(remove(&mut client, "linear").problem(409).contains("users"));
    assert!(remove(&mut client, "bm25").problem(409).contains("bm25"));
    assert!(remove(&mut client, "mor").problem(404).contains("more"));
    assert_eq!(remove(&mut client, "more").json()["name"], "more");
    client.get("/search?q=lamp&model=more").problem(404);
    client.send("DELETE", "/models/trees", &[], b"").problem(401);
}

#[test]
fn models_that_were_sent_serve_after_another_start() {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("models");
    let start = || Running::start(Settings { model_store: Some(store.clone()), ..settings() });
    let files = || {
        let entries = std::fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "model")).count()
    };
    let server = start();
    let mut client = server.client();
    for number in 1..=3 {
        put(&mut client, "m", &plus(f64::from(number)), ADMIN).json();
    }
    put(&mut client, "other", &plus(9.0), ADMIN).json();
    put(&mut client, "wrong", &plus(8.0), ADMIN).json();
    post(&mut client, "/models/other/promote").json();
    post(&mut client, "/models/m/rollback").json();
    remove(&mut client, "wrong").json();
    let before = client.get("/models").json();
    assert_eq!(files(), 3);
    // One server has it.
    let second = rankwise_server::Server::start(Settings { model_store: Some(store.clone()), ..settings() });
    assert!(second.err().unwrap().to_string().contains("another server"));
    server.end();

    let server = start();
    let mut client = server.client();
    assert_eq!(client.get("/models").json(), before);
    let score = |client: &mut Client, model: &str| {
        client.post("/score", &json!({ "rows": [[0, 0]], "model": model })).json()["scores"][0].clone()
    };
    assert_eq!((score(&mut client, "m"), score(&mut client, "other")), (json!(2.0), json!(9.0)));
    // The number of a version is never used again.
    assert_eq!(put(&mut client, "m", &plus(4.0), ADMIN).json()["version"], 4);
    assert_eq!(post(&mut client, "/models/m/rollback").json()["version"], 2);
    assert_eq!(post(&mut client, "/models/m/rollback").json()["version"], 1);

    // What cannot be kept does not happen.
    let before = client.get("/models").json();
    std::fs::remove_dir_all(&store).unwrap();
    assert!(put(&mut client, "m", &plus(5.0), ADMIN).problem(507).contains("nothing has changed"));
    post(&mut client, "/models/m/promote").problem(507);
    assert_eq!(client.get("/models").json(), before);
    assert_eq!(score(&mut client, "m"), 1.0);
}

#[test]
fn a_file_that_was_given_before_does_not_undo_what_was_sent() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("m.json");
    std::fs::write(&file, plus(1.0)).unwrap();
    let start = || {
        Running::start(Settings {
            model_store: Some(directory.path().join("models")),
            models: vec![("m".to_owned(), file.clone())],
            ..settings()
        })
    };
    let serves = |server: &Running| {
        let answer = server.client().post("/score", &json!({ "rows": [[0, 0]] })).json();
        (answer["model"].clone(), answer["version"].clone(), answer["scores"][0].clone())
    };
    let server = start();
    assert_eq!(serves(&server), (json!("m"), json!(1), json!(1.0)));
    put(&mut server.client(), "m", &plus(2.0), ADMIN).json();
    server.end();

    let server = start();
    assert_eq!(serves(&server), (json!("m"), json!(2), json!(2.0)));
    assert!(server.notes[0].contains("version 2 of `m` serves"), "{:?}", server.notes);
    put(&mut server.client(), "next", &plus(3.0), ADMIN).json();
    post(&mut server.client(), "/models/next/promote").json();
    server.end();

    let server = start();
    assert_eq!(serves(&server), (json!("next"), json!(1), json!(3.0)));
    server.end();

    // What was removed stays away.
    let server = start();
    assert_eq!(
        server.client().send("DELETE", "/models/m", &[("authorization", &bearer(ADMIN))], b"").status,
        200
    );
    server.end();
    let server = start();
    assert!(server.notes.iter().any(|note| note.contains("`m` does not serve")), "{:?}", server.notes);
    let body = json!({ "rows": [[0, 0]], "model": "m" });
    assert!(server.client().post("/score", &body).problem(404).contains("`m`"));
    server.end();

    // Another file is a wish.
    std::fs::write(&file, plus(7.0)).unwrap();
    let server = start();
    let answer = server.client().post("/score", &json!({ "rows": [[0, 0]], "model": "m" })).json();
    assert_eq!((&answer["version"], &answer["scores"][0]), (&json!(3), &json!(7.0)));
    assert_eq!(serves(&server).0, "next");
    server.end();

    // A damaged store is not guessed at.
    for entry in std::fs::read_dir(directory.path().join("models")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "model") {
            std::fs::write(path, plus(6.0)).unwrap();
        }
    }
    let damaged = rankwise_server::Server::start(Settings {
        model_store: Some(directory.path().join("models")),
        ..settings()
    });
    assert!(damaged.err().unwrap().to_string().contains("damaged"));
    for (text, part) in [
        ("{\"format\": 1, \"def", "damaged"),
        (
            "{\"format\": 2, \"default\": null, \"models\": {}, \"last\": {}, \"given\": {\"default\": null, \"models\": {}}}",
            "format 2",
        ),
    ] {
        std::fs::write(directory.path().join("models/models.json"), text).unwrap();
        let settings = Settings { model_store: Some(directory.path().join("models")), ..settings() };
        let error = rankwise_server::Server::start(settings).err().unwrap();
        assert!(error.to_string().contains(part), "{error}");
    }
}

/// Requests while models are swapped are answered by one version each: every score is that of the version that is named.
#[test]
fn swaps_under_load_fail_no_request_and_mix_no_versions() {
    let swaps = std::env::var("RANKWISE_SWAPS").ok().and_then(|swaps| swaps.parse().ok()).unwrap_or(60);
    let server = Running::start(settings());
    let mut client = server.client();
    put(&mut client, "m", &plus(1.0), ADMIN).json();
    post(&mut client, "/models/m/promote").json();
    let (done, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut client = server.client();
                let body = json!({ "rows": vec![[0.5, 0.0]; 40] });
                while !done.load(Ordering::Relaxed) {
                    let answer = client.post("/score", &body).json();
                    let expected = 0.5 + answer["version"].as_f64().unwrap();
                    assert!(
                        answer["scores"].as_array().unwrap().iter().all(|score| *score == expected),
                        "{answer}"
                    );
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for version in 2..=swaps {
            assert_eq!(put(&mut client, "m", &plus(f64::from(version)), ADMIN).json()["version"], version);
            // Every version answers something; if none does, a thread above has failed and says why.
            let begun = Instant::now();
            while answered.load(Ordering::Relaxed) < version as usize && begun.elapsed().as_secs() < 10 {
                std::thread::yield_now();
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(answered.load(Ordering::Relaxed) >= swaps as usize);
}

/// Searches name one version of one model, also while it is swapped.
#[test]
fn searches_under_swaps_are_those_of_one_version() {
    let server = Running::start(demo().settings());
    let models = ["trees", "linear"].map(|name| std::fs::read(demo().path(&format!("{name}.json"))).unwrap());
    let expected = ["trees", "linear"].map(|model| {
        server.client().get(&format!("/search?q=lighthouse+Wexholm&model={model}")).json()["hits"].clone()
    });
    assert_ne!(expected[0], expected[1]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut client = server.client();
                while !done.load(Ordering::Relaxed) {
                    let answer = client.get("/search?q=lighthouse+Wexholm&model=trees").json();
                    // Odd versions are the trees.
                    let version = answer["version"].as_u64().unwrap() as usize;
                    assert_eq!(answer["hits"], expected[1 - version % 2]);
                }
            });
        }
        let mut client = server.client();
        for swap in 1..30 {
            put(&mut client, "trees", &models[swap % 2], ADMIN).json();
        }
        done.store(true, Ordering::Relaxed);
    });
    // The index that was opened apart gives the same.
    assert_eq!(reopened(&demo().path("docs.idx")).len(), demo().snapshot.len());
}

/// A model that is sent to a server without one serves at once.
#[test]
fn the_first_model_that_is_sent_is_the_default() {
    let server = Running::start(settings());
    let mut client = server.client();
    assert_eq!(client.get("/ready").status, 503);
    put(&mut client, "m", &plus(1.0), ADMIN).json();
    put(&mut client, "other", &plus(2.0), ADMIN).json();
    assert_eq!(client.get("/ready").json()["models"], 2);
    assert_eq!(client.post("/score", &json!({ "rows": [[0, 0]] })).json()["model"], "m");
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let refused = |settings: Settings, part: &str| {
        let error = rankwise_server::Server::start(settings).err().unwrap().to_string();
        assert!(error.contains(part), "{error}");
    };
    refused(Settings { admin_tokens: vec![], ..settings() }, "nothing to serve");
    let mut models = demo().settings().models;
    models[1].0 = "trees".to_owned();
    refused(Settings { models, ..settings() }, "two models are called `trees`");
    let directory = tempfile::tempdir().unwrap();
    let (log, judgments) = (directory.path().join("file"), directory.path().join(".").join("file"));
    let both = Settings { log: Some(log.clone()), judgments: Some(judgments), ..demo().settings() };
    refused(both, "they need a file each");
    assert!(!log.exists());
}
