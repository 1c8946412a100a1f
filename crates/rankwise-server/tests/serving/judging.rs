//! Judgments: what is acknowledged is in the table, and people may edit the table.

use crate::client::Client;
use crate::events::{Files, search};
use crate::place::{ADMIN, JUDGE, Running, bearer};
use rankwise::labels::{JudgmentColumns, Judgments};
use rankwise_server::Settings;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

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

fn judged(files: &Files) -> Vec<(String, f64)> {
    let judgments = Judgments::read(&files.judgments(), &JudgmentColumns::default()).unwrap();
    judgments.all().iter().map(|judgment| (judgment.judge.clone(), judgment.grade)).collect()
}

/// A table from elsewhere gets checksums, and stays as it was beside it.
#[test]
fn judgments_of_other_programs_are_taken_up() {
    let files = Files::new();
    let table = "query,document,judge,grade,colour\nq1,skerrow,bob,1,red\nq2,skerrow,bob,2,blue\n";
    std::fs::write(files.judgments(), table).unwrap();
    let server = Running::start(files.settings());
    assert!(server.notes.iter().any(|note| note.contains("has no checksums")), "{:?}", server.notes);
    drop(server);
    let text = std::fs::read_to_string(files.judgments()).unwrap();
    assert!(text.starts_with("query,document,judge,grade,note,time,check\nq1,skerrow,bob,1,,,"), "{text}");
    assert_eq!(std::fs::read_to_string(files.0.path().join("judgments.csv.before")).unwrap(), table);
}

/// Opening a table never removes a judgment, whatever a person or a program has made of it.
#[test]
fn a_table_that_was_edited_is_counted_or_refused_but_not_cut() {
    let files = Files::new();
    let server = Running::start(files.settings());
    for (name, grade) in [("ann", 1), ("bob", 2), ("eve", 3)] {
        let body = json!({ "query": "q1", "document": "skerrow", "judge": name, "grade": grade });
        assert_eq!(judge(&mut server.client(), &body, JUDGE), 201);
    }
    drop(server);
    let written = std::fs::read_to_string(files.judgments()).unwrap();
    let refused = |text: &str, part: &str| {
        std::fs::write(files.judgments(), text).unwrap();
        let error = rankwise_server::Server::start(files.settings()).err().unwrap().to_string();
        assert!(error.contains(part) && error.contains("column `check`"), "{error}");
        assert_eq!(std::fs::read_to_string(files.judgments()).unwrap(), text);
    };
    // A program has written all times in its own way; a person has corrected the last grade.
    refused(
        &written.replace('T', " ").replace('Z', ""),
        "line 2: the row does not fit its checksum, and neither do 2 others",
    );
    let corrected = written.replace("eve,3", "eve,0");
    refused(&corrected, "line 4: the row does not fit its checksum;");
    // The ways out that the sentence names: no checksum for the row, or for none.
    let blank = |line: &str| format!("{},\n", line.rsplit_once(',').unwrap().0);
    let lines: Vec<&str> = corrected.lines().collect();
    let expected = [("ann", 1.0), ("bob", 2.0), ("eve", 0.0)].map(|(name, grade)| (name.to_owned(), grade));
    let by_hand = format!("{}\n{}\n{}\n{}", lines[0], lines[1], lines[2], blank(lines[3]));
    let without: String =
        lines.iter().map(|line| format!("{}\n", line.rsplit_once(',').unwrap().0)).collect();
    let unfinished = by_hand.trim_end().to_owned();
    for (text, note) in [
        (unfinished, "1 row without a checksum"),
        (by_hand, "1 row without a checksum"),
        (without, "has no checksums"),
    ] {
        std::fs::write(files.judgments(), text).unwrap();
        let server = Running::start(files.settings());
        assert!(server.notes.iter().any(|said| said.contains(note)), "{:?}", server.notes);
        drop(server);
        assert_eq!(judged(&files), expected);
    }
}

/// An editor saves a file by putting another one in its place.
#[cfg(unix)]
#[test]
fn judgments_are_refused_while_another_file_is_in_the_place_of_theirs() {
    let files = Files::new();
    let server = Running::start(files.settings());
    let mut client = server.client();
    let body = |name: &str| json!({ "query": "q1", "document": "skerrow", "judge": name, "grade": 2 });
    assert_eq!(judge(&mut client, &body("ann"), JUDGE), 201);
    let edited = files.0.path().join("edited");
    std::fs::copy(files.judgments(), &edited).unwrap();
    std::fs::rename(&edited, files.judgments()).unwrap();
    let headers = [("content-type", "application/json"), ("authorization", &*bearer(JUDGE))];
    let refused = client.send("POST", "/judgments", &headers, body("bob").to_string().as_bytes());
    assert!(refused.problem(507).contains("start the server again"));
    drop(server);
    let again = Running::start(files.settings());
    assert_eq!(judge(&mut again.client(), &body("bob"), JUDGE), 201);
    drop(again);
    assert_eq!(judged(&files), [("ann".to_owned(), 2.0), ("bob".to_owned(), 2.0)]);
}

/// What was done to a file is told also if the start fails after it.
#[test]
fn a_start_that_fails_tells_what_it_has_cut_off() {
    let files = Files::new();
    let log = files.settings().log.unwrap();
    std::fs::write(&log, "{\"id\":\"1\"").unwrap();
    std::fs::write(files.judgments(), "query,document,judge,grade,note,time,check\n212,77,bob,3\n").unwrap();
    let error = rankwise_server::Server::start(files.settings()).err().unwrap().to_string();
    assert!(error.contains("4 of the 7 cells") && error.contains("Before that: "), "{error}");
    assert!(error.contains("were not written completely, and were cut off"), "{error}");
}
