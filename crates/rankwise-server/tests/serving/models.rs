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
    client.post("/score", &json!({ "rows": [[1, 0]] })).problem(404);
    post(&mut client, "/models/m/promote").json();
    assert_eq!(client.post("/score", &json!({ "rows": [[1, 0]] })).json()["scores"], json!([2.0]));
    assert_eq!(client.get("/models").json()["default"], "m");
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
