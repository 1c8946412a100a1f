//! Sessions and clicks: what is acknowledged is in the log, and the log says what happened.

use crate::client::Client;
use crate::place::{Running, demo, settings};
use rankwise::clicks::interleave::InterleavingTallies;
use rankwise::clicks::{LogProblem, LogReader, Session};
use rankwise_server::{Durability, Settings, Traffic};
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A directory with the files of a server.
pub(crate) struct Files(pub(crate) tempfile::TempDir);

impl Files {
    pub(crate) fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.0.path().join("clicks.jsonl")
    }

    pub(crate) fn judgments(&self) -> PathBuf {
        self.0.path().join("judgments.csv")
    }

    pub(crate) fn settings(&self) -> Settings {
        let queries = self.0.path().join("queries.tsv");
        std::fs::write(&queries, "q1\tlighthouse Wexholm\nq2\tcoast walk\n").unwrap();
        Settings {
            log: Some(self.log()),
            judgments: Some(self.judgments()),
            queries: Some(queries),
            judges: 2,
            pool: 3,
            ..demo().settings()
        }
    }

    fn sessions(&self) -> Vec<Session> {
        LogReader::open(&self.log()).unwrap().map(Result::unwrap).collect()
    }
}

/// Searches, and returns the session and the ids shown.
pub(crate) fn search(client: &mut Client, path: &str) -> (String, Vec<String>) {
    let answer = client.get(path).json();
    let ids = answer["hits"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap().to_owned());
    (answer["session"].as_str().unwrap().to_owned(), ids.collect())
}

fn click(session: &str, document: &str) -> Value {
    json!({ "session": session, "clicks": [{ "doc": document }] })
}

#[test]
fn lists_and_clicks_are_logged_as_they_were_shown() {
    let files = Files::new();
    let server = Running::start(Settings { log_features: true, ..files.settings() });
    let mut client = server.client();
    let (first, shown) = search(&mut client, "/search?q=lighthouse&k=4");
    let (second, further) = search(&mut client, "/search?q=lighthouse&k=4&offset=4&model=bm25");
    assert_eq!(client.post("/feedback", &click(&first, &shown[2])).json()["accepted"], 1);
    let later =
        json!({ "session": second, "clicks": [{ "doc": further[0], "time": 2.5 }, { "doc": further[0] }] });
    assert_eq!(client.post("/v1/feedback", &later).json()["accepted"], 2);
    let features = vec![0.5; demo().ranker("trees.json").model.width()];
    let documents = json!([{ "id": "x", "features": features }, { "id": "y", "features": features }]);
    let body = json!({ "query": "elsewhere", "documents": documents, "log": true });
    let third = client.post("/rank", &body).json()["session"].as_str().unwrap().to_owned();
    assert_eq!(client.post("/feedback", &click(&third, "y")).json()["accepted"], 1);
    let live = client.get("/live").json();
    server.end();
    let sessions = files.sessions();
    assert_eq!(sessions.iter().map(|s| s.id.clone()).collect::<Vec<_>>(), [first, second, third]);
    assert_eq!((&sessions[0].shown, sessions[0].clicked()), (&shown, vec![false, false, true, false]));
    assert_eq!(
        (&sessions[0].query, sessions[0].ranker.as_deref()),
        (&"lighthouse".to_owned(), Some("trees@1"))
    );
    assert_eq!(sessions[1].positions, Some(vec![5, 6, 7, 8]));
    assert!((sessions[1].clicks[1].time.unwrap() - sessions[1].time.unwrap() - 2.5).abs() < 1e-6);
    assert_eq!((sessions[1].clicks.len(), &sessions[1].features), (2, &None));
    assert_eq!(sessions[2].features, Some(vec![features.clone(), features]));
    // What was logged is what the model saw.
    let ranker = demo().ranker("trees.json");
    let rows: Vec<f32> = sessions[0].features.iter().flatten().flatten().copied().collect();
    let mut scores = vec![0.0; 4];
    let rows = rankwise::data::Rows::dense(&rows, ranker.model.width()).unwrap();
    ranker.score_query_rows(rows, &mut scores).unwrap();
    assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]), "{scores:?}");
    for (ranker, count, clicked) in [("trees@1", 2, 2), ("bm25", 1, 1)] {
        let found = live["rankers"].as_array().unwrap().iter().find(|of| of["ranker"] == ranker).unwrap();
        assert_eq!(
            (&found["sessions"], &found["clicked_sessions"]),
            (&json!(count), &json!(clicked)),
            "{live}"
        );
    }
}

#[test]
fn only_sessions_that_were_handed_out_take_clicks_on_what_they_showed() {
    let files = Files::new();
    let server = Running::start(files.settings());
    let mut client = server.client();
    let (session, shown) = search(&mut client, "/search?q=lighthouse&k=3");
    let mut refused = |body: Value, status, part: &str| {
        let detail = client.post("/feedback", &body).problem(status);
        assert!(detail.contains(part), "{detail}");
    };
    refused(click("0123456789abcdef0123456789abcdef", &shown[0]), 404, "no such session");
    refused(click(&session, "skerrow-and-more"), 422, "did not show");
    refused(json!({ "session": session, "clicks": [] }), 422, "0 clicks");
    refused(json!({ "session": session, "clicks": [{ "doc": shown[0], "time": -1 }] }), 422, "seconds after");
    refused(json!({ "session": session }), 422, "missing field `clicks`");
    let many: Vec<Value> = vec![json!({ "doc": shown[0] }); 101];
    refused(json!({ "session": session, "clicks": many }), 422, "101 clicks");
    // Pages of other sites can send forms and text, but not JSON.
    let text = click(&session, &shown[0]).to_string();
    client.send("POST", "/feedback", &[("content-type", "text/plain")], text.as_bytes()).problem(415);
    server.end();
    assert!(files.sessions()[0].clicks.is_empty());
}

#[test]
fn lists_still_take_clicks_after_another_start() {
    let files = Files::new();
    let server = Running::start(files.settings());
    let (session, shown) = search(&mut server.client(), "/search?q=lighthouse&k=3");
    server.client().post("/feedback", &click(&session, &shown[0])).json();
    let before = server.client().get("/live").json();
    server.end();
    // A power failure in the middle of a line.
    let whole = std::fs::read(files.log()).unwrap();
    let mut file = OpenOptions::new().append(true).open(files.log()).unwrap();
    file.write_all(&whole[..whole.len() / 3]).unwrap();
    let server = Running::start(files.settings());
    assert!(server.notes.iter().any(|note| note.contains("were cut off")), "{:?}", server.notes);
    assert_eq!(server.client().get("/live").json(), before);
    server.client().post("/feedback", &click(&session, &shown[1])).json();
    server.end();
    let sessions = files.sessions();
    assert_eq!((sessions.len(), sessions[0].clicked()), (1, vec![true, true, false]));
}

#[test]
fn one_log_has_one_server() {
    let files = Files::new();
    let _server = Running::start(files.settings());
    let error = rankwise_server::Server::start(files.settings()).err().unwrap();
    assert!(error.to_string().contains("another server writes to"), "{error}");
}

#[test]
fn users_keep_their_model_and_interleaved_lists_are_credited() {
    let files = Files::new();
    let portions = vec![("trees".to_owned(), 50.0), ("bm25".to_owned(), 50.0)];
    let server = Running::start(Settings { traffic: Traffic::Split(portions), ..files.settings() });
    let mut client = server.client();
    let mut model_of = |user: usize| {
        client.get(&format!("/search?q=lighthouse&user=u{user}")).json()["model"].as_str().unwrap().to_owned()
    };
    let models: Vec<String> = (0..40).map(&mut model_of).collect();
    assert_eq!(models, (0..40).map(&mut model_of).collect::<Vec<_>>());
    assert!(models.contains(&"trees".to_owned()) && models.contains(&"bm25".to_owned()));
    drop(server);
    std::fs::remove_file(files.log()).unwrap();

    let both = ["trees".to_owned(), "bm25".to_owned()];
    let server = Running::start(Settings { traffic: Traffic::Interleave(both), ..files.settings() });
    let mut client = server.client();
    let rankings = ["trees", "bm25"]
        .map(|model| search(&mut client, &format!("/search?q=lighthouse+Wexholm&k=6&model={model}")).1);
    for user in 0..30 {
        let page = |offset: usize| format!("/search?q=lighthouse+Wexholm&k=3&offset={offset}&user=u{user}");
        let (session, mut shown) = search(&mut client, &page(0));
        let whole = search(&mut client, &format!("/search?q=lighthouse+Wexholm&k=6&user=u{user}")).1;
        shown.extend(search(&mut client, &page(3)).1);
        assert_eq!(shown, whole, "the second page continues the first");
        assert!(rankings.iter().any(|ranking| ranking[0] == whole[0]));
        client.post("/feedback", &click(&session, &whole[user % 3])).json();
    }
    let live = client.get("/live").json();
    let answer = client.get("/search?q=lighthouse&why_not=x").json();
    assert_eq!((&answer["model"], &answer["ranker"]), (&json!("trees+bm25"), &json!("trees@1+bm25")));
    server.end();
    let mut tallies = InterleavingTallies::default();
    let sessions = files.sessions();
    sessions.iter().for_each(|session| tallies.add(session));
    let results = tallies.results(0.95).unwrap();
    assert_eq!((tallies.not_interleaved(), results[0].sessions), (2, 90));
    assert_eq!(live["interleaving"], serde_json::to_value(&results).unwrap());
    let credited = sessions.iter().filter_map(|session| Some((session, session.interleaved.as_ref()?)));
    for (session, interleaved) in credited {
        assert_eq!(session.ranker.as_deref(), Some("trees@1+bm25"));
        assert_eq!(interleaved.rankers, ["trees@1", "bm25"]);
        for (document, credit) in session.shown.iter().zip(&interleaved.credit) {
            let ranking = &rankings[usize::from(*credit < 0.5)];
            assert!(ranking.contains(document), "a document is credited to the ranker that has it");
        }
    }
}

#[test]
fn rankings_without_a_user_are_divided_too() {
    let portions = vec![("trees".to_owned(), 50.0), ("linear".to_owned(), 50.0)];
    let server = Running::start(Settings { traffic: Traffic::Split(portions), ..demo().settings() });
    let mut client = server.client();
    let ids: Vec<String> = client.get("/search?q=lighthouse&k=3").json()["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["id"].as_str().unwrap().to_owned())
        .collect();
    let body = json!({ "query": "lighthouse", "ids": ids });
    let mut models: Vec<Value> =
        (0..60).map(|_| client.post("/rank", &body).json()["ranker"].clone()).collect();
    models.sort_by_key(Value::to_string);
    models.dedup();
    // All of sixty get the same model with a probability of 2^-59.
    assert_eq!(models, [json!("linear@1"), json!("trees@1")]);
}

#[test]
fn interleaved_lists_are_logged_with_the_features_of_a_model() {
    let files = Files::new();
    let both = ["bm25".to_owned(), "trees".to_owned()];
    let traffic = Traffic::Interleave(both);
    let server = Running::start(Settings { log_features: true, traffic, ..files.settings() });
    let (_, shown) = search(&mut server.client(), "/search?q=lighthouse&k=4&user=u");
    let expected = server
        .client()
        .post("/rank", &json!({ "query": "lighthouse", "ids": shown, "model": "trees", "log": true }));
    let expected = expected.json();
    server.end();
    let sessions = files.sessions();
    let row_of = |session: &Session, id: &str| {
        let place = session.shown.iter().position(|shown| shown == id).unwrap();
        session.features.as_ref().unwrap()[place].clone()
    };
    let width = demo().ranker("trees.json").model.width();
    for hit in expected["hits"].as_array().unwrap() {
        let id = hit["id"].as_str().unwrap();
        let row = row_of(&sessions[0], id);
        assert_eq!(row.len(), width);
        let same = row.iter().zip(row_of(&sessions[1], id)).all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same, "the features of {id}");
    }
}

#[test]
fn lists_in_the_log_are_limited() {
    let files = Files::new();
    let server = Running::start(files.settings());
    let mut client = server.client();
    let width = demo().ranker("trees.json").model.width();
    let documents = |count: usize, name: &str| -> Vec<Value> {
        (0..count).map(|id| json!({ "id": format!("{name}{id}"), "features": vec![0.5; width] })).collect()
    };
    let body = |documents: Vec<Value>, k: usize| json!({ "query": "q", "documents": documents, "k": k, "log": true });
    let refused = client.post("/rank", &body(documents(1001, "d"), 1001)).problem(422);
    assert!(refused.contains("at most 1000 documents"), "{refused}");
    let refused = client.post("/rank", &body(documents(1, &"d".repeat(1024)), 1)).problem(422);
    assert!(refused.contains("more than 1024 bytes"), "{refused}");
    assert!(client.post("/rank", &body(documents(1001, "d"), 1000)).json()["session"].is_string());
}

#[test]
fn without_an_index_nothing_is_interleaved_or_shadowed() {
    let models = demo().settings().models;
    let both = ["trees".to_owned(), "linear".to_owned()];
    for (traffic, shadow) in
        [(Traffic::Interleave(both), None), (Traffic::Default, Some("linear".to_owned()))]
    {
        let settings = Settings { models: models.clone(), traffic, shadow, ..settings() };
        let error = rankwise_server::Server::start(settings).err().unwrap();
        assert!(error.to_string().contains("without an index"), "{error}");
    }
}

#[test]
fn a_shadow_ranks_for_the_log_only() {
    let files = Files::new();
    let server = Running::start(Settings { shadow: Some("linear".to_owned()), ..files.settings() });
    let mut client = server.client();
    let (session, _) = search(&mut client, "/search?q=lighthouse&k=5");
    let expected = search(&mut client, "/search?q=lighthouse&k=5&model=linear").1;
    let deadline = Instant::now() + Duration::from_secs(20);
    while !client.get("/metrics").text().contains("rankwise_shadow_rankings_total 2") {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(20));
    }
    server.end();
    let text = std::fs::read_to_string(files.log()).unwrap();
    let shadow: Vec<Value> = text
        .lines()
        .filter(|l| l.starts_with("{\"shadow\""))
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    // Threads write when they are ready.
    let of_first = shadow.iter().find(|line| line["session"] == json!(session)).unwrap();
    assert_eq!(of_first["ranking"], json!(expected));
    let mut reader = LogReader::open(&files.log()).unwrap();
    assert_eq!(reader.by_ref().count(), 2);
    assert_eq!(reader.report().count(LogProblem::OtherEvent), 2);
}

/// Lists that are compared, and answers of which only the head is asked for, are not used by anybody.
#[test]
fn lists_that_nobody_uses_are_not_logged() {
    let files = Files::new();
    let server = Running::start(files.settings());
    let mut client = server.client();
    let compared = client.get("/search?q=lighthouse&log=0").json();
    assert_eq!((&compared["session"], compared["hits"].as_array().unwrap().len()), (&Value::Null, 10));
    // Its answer has no body to wait for.
    let mut head = server.client();
    head.write(b"HEAD /search?q=lighthouse HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    head.finish_writing();
    head.reply();
    let (used, _) = search(&mut client, "/search?q=lighthouse&log=1");
    let live = client.get("/live").json();
    assert_eq!((live["rankers"].as_array().unwrap().len(), &live["rankers"][0]["sessions"]), (1, &json!(1)));
    client.get("/search?q=lighthouse&log=2").problem(400);
    server.end();
    assert_eq!(files.sessions().iter().map(|session| &session.id).collect::<Vec<_>>(), [&used]);
}

/// A file that is not a log may be the only copy of something.
#[test]
fn other_files_are_not_taken_for_a_log() {
    let files = Files::new();
    let model = std::fs::read(demo().path("trees.json")).unwrap();
    for text in [model.as_slice(), b"{\"a\":1}\n{\"b\":2}", b"1 0 184 1\n"] {
        std::fs::write(files.log(), text).unwrap();
        let error = rankwise_server::Server::start(files.settings()).err().unwrap().to_string();
        assert!(error.contains("clicks.jsonl is not a log of clicks"), "{error}");
        assert_eq!(std::fs::read(files.log()).unwrap(), text);
    }
}

#[test]
fn a_document_that_is_not_in_an_interleaved_list_is_explained_by_both_models() {
    let both = ["trees".to_owned(), "bm25".to_owned()];
    let files = Files::new();
    let server = Running::start(Settings { traffic: Traffic::Interleave(both), ..files.settings() });
    let mut client = server.client();
    let path = "/search?q=coast+walk+in+Saltergate&k=5&user=u";
    let shown = search(&mut client, path).1;
    let mut why = |id: &str| client.get(&format!("{path}&why_not={id}")).json()["why_not"].clone();
    for (at, id) in shown.iter().enumerate() {
        let answer = why(id);
        assert_eq!((&answer["reason"], &answer["rank"]), (&json!("shown"), &json!(at + 1)), "{answer}");
    }
    // Such a document is at the first ranks of a model, and still not in the list.
    let of_model = |model: &str| {
        search(&mut server.client(), &format!("/search?q=coast+walk+in+Saltergate&k=5&model={model}")).1
    };
    let (trees, bm25) = (of_model("trees"), of_model("bm25"));
    let missed: Vec<&String> = trees.iter().chain(&bm25).filter(|id| !shown.contains(id)).collect();
    assert!(!missed.is_empty(), "the models must differ for this test to say something");
    for id in missed {
        let answer = why(id);
        let sentence = answer["sentence"].as_str().unwrap();
        assert!(sentence.starts_with(&format!("`{id}` is not in the list")), "{sentence}");
        assert!(sentence.contains("`trees`: ") && sentence.contains("`bm25`: "), "{sentence}");
        for (model, ranking) in [("trees", &trees), ("bm25", &bm25)] {
            let of_model = &answer["models"][model];
            match ranking.iter().position(|other| other == id) {
                Some(at) => assert_eq!(
                    (&of_model["reason"], &of_model["rank"]),
                    (&json!("other-model"), &json!(at + 1))
                ),
                None => assert_eq!(of_model["reason"], "ranked-below"),
            }
        }
    }
    assert_eq!(why("nothing")["reason"], "not-in-index");
    // Documents of an earlier page are shown there.
    let page = client
        .get(&format!("/search?q=coast+walk+in+Saltergate&k=2&offset=3&user=u&why_not={}", shown[0]))
        .json();
    assert_eq!(page["why_not"]["rank"], 1);
}

/// `/dev/full` refuses every byte, as a full disk does.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_turns_writing_off_and_searching_goes_on() {
    let files = Files::new();
    let full = Settings {
        log: Some(Path::new("/dev/full").to_owned()),
        judgments: None,
        queries: None,
        ..files.settings()
    };
    let server = Running::start(full.clone());
    let mut client = server.client();
    // The first list is only known to be lost after it was shown.
    let first = client.get("/search?q=lighthouse").json();
    let deadline = Instant::now() + Duration::from_secs(20);
    while !client.get("/metrics").text().contains("rankwise_unwritten_events_total 1") {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(10));
    }
    let body = click(first["session"].as_str().unwrap(), first["hits"][0]["id"].as_str().unwrap());
    client.post("/feedback", &body).problem(404);
    drop(server);
    let server = Running::start(Settings { durability: Durability::Always, ..full });
    let mut client = server.client();
    for _ in 0..3 {
        let answer = client.get("/search?q=lighthouse").json();
        assert_eq!((&answer["session"], answer["hits"].as_array().unwrap().len()), (&Value::Null, 10));
    }
}
