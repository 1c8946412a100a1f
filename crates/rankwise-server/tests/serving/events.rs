//! Sessions, clicks and judgments: what is acknowledged is in the files, and the files say what happened.

use crate::client::Client;
use crate::place::{ADMIN, JUDGE, Running, bearer, demo, settings};
use rankwise::clicks::interleave::InterleavingTallies;
use rankwise::clicks::{LogProblem, LogReader, Session};
use rankwise::labels::{JudgmentColumns, Judgments};
use rankwise_server::{Durability, Settings, Traffic};
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A directory with the files of a server.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    fn log(&self) -> PathBuf {
        self.0.path().join("clicks.jsonl")
    }

    fn judgments(&self) -> PathBuf {
        self.0.path().join("judgments.csv")
    }

    fn settings(&self) -> Settings {
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
fn search(client: &mut Client, path: &str) -> (String, Vec<String>) {
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
fn documents_of_runs_are_judged_instead_of_those_of_models() {
    let files = Files::new();
    let path = |name: &str| files.0.path().join(name);
    let ids = search(&mut Running::start(files.settings()).client(), "/search?q=coast&k=4&model=bm25").1;
    // Two of the first run and two of the second, one of them in both; what the index does not have cannot be shown.
    let lines = |ids: &[&String]| -> String {
        ids.iter().enumerate().map(|(at, id)| format!("q2 Q0 {id} {at} {} x\n", 9 - at)).collect()
    };
    let missing = "not-in-the-index".to_owned();
    std::fs::write(path("a.run"), lines(&[&ids[0], &ids[1], &ids[3]])).unwrap();
    std::fs::write(path("b.run"), lines(&[&ids[1], &ids[2]])).unwrap();
    std::fs::write(path("c.run"), lines(&[&missing])).unwrap();
    let runs: Vec<PathBuf> = ["a.run", "b.run", "c.run"].map(path).to_vec();
    let server = Running::start(Settings { runs, pool: 2, ..files.settings() });
    assert!(server.notes.iter().any(|note| note.contains("1 of 2 queries")), "{:?}", server.notes);
    let mut client = server.client();
    let mut judged = Vec::new();
    loop {
        let task = next(&mut client, "ann")["task"].clone();
        let Some(document) = task["document"]["id"].as_str() else { break };
        let body = json!({ "query": task["query"]["id"], "document": document, "judge": "ann", "grade": 1 });
        let token = [("authorization", &*bearer(JUDGE)), ("content-type", "application/json")];
        assert_eq!(client.send("POST", "/judgments", &token, body.to_string().as_bytes()).status, 201);
        judged.push(document.to_owned());
    }
    judged.sort();
    let mut expected = ids[..3].to_vec();
    expected.sort();
    assert_eq!(judged, expected);
    drop(server);
    std::fs::write(path("a.run"), "q77 Q0 x 1 1.0 x\n").unwrap();
    let settings = Settings { runs: vec![path("a.run")], ..files.settings() };
    let error = rankwise_server::Server::start(settings).err().unwrap();
    assert!(error.to_string().contains("no query has documents in the runs"), "{error}");
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
    assert_eq!((&shadow[0]["session"], &shadow[0]["ranking"]), (&json!(session), &json!(expected)));
    let mut reader = LogReader::open(&files.log()).unwrap();
    assert_eq!(reader.by_ref().count(), 2);
    assert_eq!(reader.report().count(LogProblem::OtherEvent), 2);
}

fn judge(client: &mut Client, body: &Value, token: &str) -> u16 {
    let headers = [("content-type", "application/json"), ("authorization", &bearer(token))];
    client.send("POST", "/v1/judgments", &headers, body.to_string().as_bytes()).status
}

fn next(client: &mut Client, judge: &str) -> Value {
    let path = format!("/judge/next?judge={judge}");
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let reply = client.send("GET", &path, &[("authorization", &bearer(JUDGE))], b"");
        if reply.status != 503 {
            return reply.json();
        }
        // The documents are being collected.
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn judges_see_every_document_once_and_no_more_judges_than_asked_for() {
    let files = Files::new();
    let server = Running::start(files.settings());
    let mut client = server.client();
    let pool = next(&mut client, "ann")["progress"]["pool"].as_u64().unwrap() as usize;
    assert!((6..=18).contains(&pool), "{pool}");
    let mut of_ann = Vec::new();
    while let task @ Value::Object(_) = &next(&mut client, "ann")["task"] {
        let pair = (task["query"]["id"].clone(), task["document"]["id"].clone());
        let body = json!({ "query": pair.0, "document": pair.1, "judge": "ann", "grade": of_ann.len() % 4 });
        assert_eq!(judge(&mut client, &body, JUDGE), 201);
        assert!(!of_ann.contains(&pair));
        of_ann.push(pair);
    }
    assert_eq!(of_ann.len(), pool);
    // Two more judges begin: the cap of two is reached for what one of them has open.
    let first = next(&mut client, "bob")["task"]["document"]["id"].clone();
    assert_ne!(next(&mut client, "eve")["task"]["document"]["id"], first);
    // One takes a judgment back.
    let back = json!({ "query": of_ann[0].0, "document": of_ann[0].1, "judge": "ann", "grade": null });
    assert_eq!(judge(&mut client, &back, ADMIN), 201);
    assert_eq!(next(&mut client, "ann")["task"]["document"]["id"], of_ann[0].1);
    let listed = client.send("GET", "/judgments?judge=ann", &[("authorization", &bearer(JUDGE))], b"").json();
    assert_eq!(listed["total"], pool - 1);
    let board = client.get("/leaderboard").json();
    assert_eq!(board["models"].as_array().unwrap().len(), 3, "{board}");
    let by_query = board["by_query"].as_array().unwrap();
    assert_eq!(by_query.len() as u64, board["queries"].as_u64().unwrap());
    for model in board["models"].as_array().unwrap() {
        let value = |query: &Value| query["values"][model["name"].as_str().unwrap()].as_f64().unwrap();
        let mean = by_query.iter().map(value).sum::<f64>() / by_query.len() as f64;
        assert!((mean - model["metrics"]["ndcg@10"]["mean"].as_f64().unwrap()).abs() < 1e-12, "{board}");
    }
    drop(server);
    let judgments = Judgments::read(&files.judgments(), &JudgmentColumns::default()).unwrap();
    assert_eq!(judgments.all().len(), pool - 1);
    let again = Running::start(files.settings());
    assert_eq!(next(&mut again.client(), "ann")["progress"]["judged"], pool - 1);
    // The board is made from the same judgments.
    assert_eq!(again.client().get("/leaderboard").json(), board);
}

#[test]
fn a_judge_can_leave_a_document_for_later() {
    let files = Files::new();
    let server = Running::start(files.settings());
    let mut client = server.client();
    let pool = next(&mut client, "ann")["progress"]["pool"].as_u64().unwrap() as usize;
    let mut seen = vec![next(&mut client, "ann")["task"].clone()];
    for _ in 1..=pool {
        let last = &seen[seen.len() - 1];
        let (query, document) =
            (last["query"]["id"].as_str().unwrap(), last["document"]["id"].as_str().unwrap());
        let path = format!("ann&after_query={query}&after_document={document}");
        seen.push(next(&mut client, &path)["task"].clone());
    }
    let ids: std::collections::HashSet<String> = seen.iter().map(Value::to_string).collect();
    assert_eq!((ids.len(), &seen[0]), (pool, &seen[pool]), "each once, and then the first again");
    // What was left is not kept for this judge: two others may have it.
    assert_eq!(next(&mut client, "bob")["progress"]["left"], pool);
}

#[test]
fn judgments_are_checked() {
    let files = Files::new();
    let server = Running::start(files.settings());
    let mut client = server.client();
    let body = |query: &str, document: &str, name: &str, grade: Value| json!({ "query": query, "document": document, "judge": name, "grade": grade });
    let document = "wexholm-lighthouse";
    for (body, status) in [
        (body("q1", document, "ann", json!(2)), 201),
        (body("q9", document, "ann", json!(2)), 422),
        (body("q1", "no page", "ann", json!(2)), 422),
        (body("q1", document, "ann", json!(7)), 422),
        (body("q1", document, "ann", json!(1.5)), 422),
        (body("q1", document, "", json!(2)), 422),
        (body("q1", document, "a\nb", json!(2)), 422),
        (body("q1", document, &"a".repeat(65), json!(2)), 422),
    ] {
        assert_eq!(judge(&mut client, &body, JUDGE), status, "{body}");
    }
    let note =
        json!({ "query": "q2", "document": document, "judge": "=ann", "grade": 0, "note": "a,\n \"b\"" });
    assert_eq!(judge(&mut client, &note, JUDGE), 201);
    drop(server);
    let judgments = Judgments::read(&files.judgments(), &JudgmentColumns::default()).unwrap();
    assert_eq!((judgments.all().len(), judgments.all()[1].note.as_deref()), (2, Some("a, \"b\"")));
}

/// A file of judgments from elsewhere gets checksums; one that was damaged between others is not used silently.
#[test]
fn judgments_of_other_programs_are_taken_up() {
    let files = Files::new();
    std::fs::write(files.judgments(), "query,document,judge,grade\nq1,skerrow,bob,1\nq2,skerrow,bob,2\n")
        .unwrap();
    let server = Running::start(files.settings());
    assert!(server.notes.iter().any(|note| note.contains("has no checksums")), "{:?}", server.notes);
    drop(server);
    let text = std::fs::read_to_string(files.judgments()).unwrap();
    assert!(text.starts_with("query,document,judge,grade,note,time,check\nq1,skerrow,bob,1,,,"), "{text}");
    std::fs::write(files.judgments(), text.replace("bob,1,", "bob,3,")).unwrap();
    let error = rankwise_server::Server::start(files.settings()).err().unwrap();
    assert!(error.to_string().contains("1 damaged lines"), "{error}");
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
