//! `serve` as operators run it: started, asked, killed and started again.

use crate::place::{BINARY, Place};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

const TOKEN: &str = "a-token-of-the-tests-0123456789";

/// A server in a process of its own.
struct Served {
    process: Child,
    address: String,
    /// What it said before it listened.
    notes: String,
}

impl Served {
    fn start(place: &Place, arguments: &str) -> Served {
        Served::of(place, "serve", arguments)
    }

    /// Starts a command that serves.
    fn of(place: &Place, command: &str, arguments: &str) -> Served {
        let mut process = Command::new(BINARY)
            .arg(command)
            .args(arguments.split_whitespace())
            .args(["--listen", "127.0.0.1:0", "--token-file", "token"])
            .current_dir(place.directory())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let mut notes = String::new();
        let address = loop {
            let line = lines.next().unwrap_or_else(|| panic!("the server ended: {notes}")).unwrap();
            if let Some((_, address)) = line.split_once("listening on http://") {
                break address.to_owned();
            }
            notes += &line;
        };
        // What it says later must not fill a pipe.
        std::thread::spawn(move || lines.count());
        Served { process, address, notes }
    }

    /// The status and the body of an answer; nothing if the connection ended.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Option<(u16, Value)> {
        self.send(method, path, &body.to_string())
    }

    fn send(&self, method: &str, path: &str, body: &str) -> Option<(u16, Value)> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {TOKEN}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        let (head, body) = text.split_once("\r\n\r\n")?;
        Some((head.split(' ').nth(1)?.parse().ok()?, serde_json::from_str(body).ok()?))
    }

    fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn place() -> Place {
    let place = Place::new();
    let documents: String = (0..30)
        .map(|id| format!("{{\"id\": \"d{id}\", \"title\": \"time sharing {id}\", \"body\": \"a system of {id} users\"}}\n"))
        .collect();
    place.write("docs.jsonl", documents);
    place.write("q.tsv", "q1\ttime sharing\nq2\tsystem\n");
    place.write("token", format!("{TOKEN}\n"));
    place.ok("index docs.jsonl -o docs.idx");
    place
}

/// What clients were told is safe.
#[derive(Default)]
struct Acknowledged {
    clicks: HashSet<(String, String)>,
    judgments: HashSet<(String, String)>,
}

/// Searches, clicks and judges until the server is gone.
fn use_server(server: &Served, worker: usize, run: usize, acknowledged: &Mutex<Acknowledged>) -> Option<()> {
    for number in 0.. {
        let (_, answer) = server.ask("GET", "/search?q=time+sharing+system&k=5", &json!({}))?;
        let session = answer["session"].as_str()?.to_owned();
        let document = answer["hits"][number % 5]["id"].as_str()?.to_owned();
        let click = json!({ "session": session, "clicks": [{ "doc": document }] });
        if server.ask("POST", "/feedback", &click)?.0 == 200 {
            acknowledged.lock().unwrap().clicks.insert((session, document.clone()));
        }
        let judge = format!("judge {run} {worker} {number}");
        let judgment = json!({ "query": "q1", "document": document, "judge": judge, "grade": 1 });
        if server.ask("POST", "/judgments", &judgment)?.0 == 201 {
            acknowledged.lock().unwrap().judgments.insert((judge, document));
        }
    }
    Some(())
}

/// Whenever the server is killed, everything that was acknowledged is in the files, and it starts again.
/// `RANKWISE_KILLS=100` makes it a long test. The moments are random.
#[test]
fn nothing_acknowledged_is_lost_when_the_server_is_killed() {
    let kills = std::env::var("RANKWISE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(4);
    let place = place();
    let arguments = "docs.idx --log clicks.jsonl --judgments judgments.csv --queries q.tsv";
    let acknowledged = Mutex::new(Acknowledged::default());
    let seed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as u64;
    eprintln!("seed {seed}");
    let mut random = SmallRng::seed_from_u64(seed);
    for run in 0..kills {
        let server = Served::start(&place, arguments);
        let moment = Duration::from_micros(random.random_range(20_000..500_000));
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let (server, acknowledged) = (&server, &acknowledged);
                scope.spawn(move || use_server(server, worker, run, acknowledged));
            }
            std::thread::sleep(moment);
            let killed =
                Command::new("kill").args(["-9", &server.process.id().to_string()]).status().unwrap();
            assert!(killed.success());
        });
        server.kill();
    }
    Served::start(&place, arguments).kill();
    let Acknowledged { clicks, judgments } = acknowledged.into_inner().unwrap();
    assert!(clicks.len() > kills && judgments.len() > kills, "{} {}", clicks.len(), judgments.len());
    let mut logged = HashSet::new();
    let mut log = rankwise::clicks::LogReader::open(&place.path("clicks.jsonl")).unwrap();
    for session in log.by_ref() {
        let session = session.unwrap();
        logged.extend(session.clicks.into_iter().map(|click| (session.id.clone(), click.doc)));
    }
    assert!(log.report().problems.is_empty(), "{}", log.report());
    assert!(clicks.is_subset(&logged), "{:?}", clicks.difference(&logged).next());
    let table = rankwise::labels::JudgmentColumns::default();
    let table = rankwise::labels::Judgments::read(&place.path("judgments.csv"), &table).unwrap();
    let judged =
        table.all().iter().map(|judgment| (judgment.judge.clone(), judgment.document.clone())).collect();
    assert!(judgments.is_subset(&judged), "{:?}", judgments.difference(&judged).next());
}

#[test]
fn a_torn_line_is_cut_off_with_a_message() {
    let place = place();
    let arguments = "docs.idx --log clicks.jsonl --judgments judgments.csv";
    let server = Served::start(&place, arguments);
    server.ask("GET", "/search?q=time", &json!({})).unwrap();
    let judgment = json!({ "query": "q1", "document": "d1", "judge": "ann", "grade": 1 });
    assert_eq!(server.ask("POST", "/judgments", &judgment).unwrap().0, 201);
    server.kill();
    for name in ["clicks.jsonl", "judgments.csv"] {
        place.write(name, format!("{}{}", place.read(name), &place.read(name)[..20]));
    }
    let server = Served::start(&place, arguments);
    assert_eq!(
        server.notes.matches("were not written completely, and were cut off").count(),
        2,
        "{}",
        server.notes
    );
    assert!(!server.notes.contains(TOKEN));
    server.kill();
    assert!(place.read("clicks.jsonl").ends_with("}\n"));
    assert_eq!(place.read("judgments.csv").lines().count(), 2);
}

#[test]
fn what_cannot_be_served_is_said_before_anything_listens() {
    let place = place();
    for (arguments, part) in [
        ("serve docs.idx --listen 0.0.0.0:0", "token"),
        ("serve docs.idx --model prod", "as in prod=model.json"),
        ("serve docs.idx --default learned", "learned"),
        ("serve docs.idx --split bm25=50", "100 %"),
        ("serve docs.idx --interleave bm25,bm25 --log c.jsonl", "cannot be interleaved with itself"),
        ("serve docs.idx --interleave bm25,next", "--log"),
        ("serve docs.idx --model bm25=docs.jsonl", "bm25"),
        ("serve", "nothing to serve"),
        ("serve docs.idx --model a=x.json --model a=y.json", "two models are called `a`"),
        ("serve docs.idx --log both --judgments ./both", "they need a file each"),
        ("serve docs.idx --log docs.jsonl", "docs.jsonl is not a log of clicks"),
        ("serve missing.idx", "cannot open the index missing.idx"),
        ("serve docs.idx --queries q.tsv", "--judgments"),
    ] {
        let error = place.fails(arguments);
        assert!(error.contains(part), "{arguments}: {error}");
    }
    place.write("rankwise-demo-serve", "a file where the directory of the demo is to be\n");
    assert!(place.fails("serve --demo").contains("in which you may write"));
    place.write("short", "abc\n");
    assert!(place.fails("serve docs.idx --token-file short").contains("at least 16 characters"));
}

#[cfg(unix)]
#[test]
fn a_token_file_is_made_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    std::fs::remove_file(place.path("token")).unwrap();
    Served::start(&place, "docs.idx").kill();
    assert_eq!(place.read("token").trim().len(), 64);
    let mode = std::fs::metadata(place.path("token")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn documents_of_runs_are_judged() {
    let place = place();
    place.write("a.run", "q1 Q0 d7 1 2.0 a\nq1 Q0 d9 2 1.0 a\nq2 Q0 d8 1 1.0 a\n");
    place.write("b.run", "q1 Q0 d7 1 2.0 b\nq2 Q0 d3 1 1.0 b\n");
    let arguments = "docs.idx --queries q.tsv --pool a.run,b.run --depth 1 -o judgments.csv";
    let server = Served::of(&place, "judge", arguments);
    let next = || {
        let start = Instant::now();
        loop {
            match server.ask("GET", "/judge/next?judge=ann", &json!({})).unwrap() {
                (503, _) if start.elapsed() < Duration::from_secs(20) => {
                    std::thread::sleep(Duration::from_millis(20))
                }
                (status, answer) => break (status, answer),
            }
        }
    };
    let mut judged = Vec::new();
    while let (200, Value::Object(answer)) = next()
        && let Value::Object(task) = &answer["task"]
    {
        let (query, document) = (&task["query"]["id"], &task["document"]["id"]);
        judged.push(format!("{}-{}", query.as_str().unwrap(), document.as_str().unwrap()));
        let judgment = json!({ "query": query, "document": document, "judge": "ann", "grade": 2 });
        assert_eq!(server.ask("POST", "/judgments", &judgment).unwrap().0, 201);
    }
    judged.sort();
    assert_eq!(judged, ["q1-d7", "q2-d3", "q2-d8"]);
    server.kill();
    assert!(place.ok("labels merge judgments.csv -o -").contains("q1 0 d7 2"));
    let error = place.fails("judge docs.idx --queries q.tsv -o judgments.csv --listen 127.0.0.1:0");
    assert!(error.contains("--token-file"), "{error}");
}

#[test]
fn a_request_to_end_is_followed() {
    let place = place();
    let mut server = Served::start(&place, "docs.idx --log clicks.jsonl");
    server.ask("GET", "/search?q=time", &json!({})).unwrap();
    let id = server.process.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(server.process.wait().unwrap().success());
    assert_eq!(place.read("clicks.jsonl").lines().count(), 1);
}

/// The memory of a process, in bytes.
#[cfg(target_os = "linux")]
fn memory(process: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// All kinds of requests, mistakes and another version of the model now and then. Returns how many there were.
#[cfg(target_os = "linux")]
fn use_everything(server: &Served, model: &str, features: usize, number: usize) -> usize {
    let ids: Vec<String> = (0..30).map(|id| format!("d{}", (id + number) % 30)).collect();
    let row = vec![number as f64; features];
    let ranked = json!({ "query": "system time", "ids": ids, "model": "m" }).to_string();
    let scored = json!({ "rows": vec![row; 100], "model": "m" }).to_string();
    let wrong = json!({ "rows": [[1]], "model": "m" }).to_string();
    let mut requests = vec![
        ("GET", "/search?q=time+sharing&k=10&model=m&explain=1&snippets=1", "", 200),
        ("POST", "/rank", &*ranked, 200),
        ("POST", "/explain", &ranked, 200),
        ("POST", "/score", &scored, 200),
        ("POST", "/score", &wrong, 422),
        ("POST", "/score", "{", 400),
        ("GET", "/nowhere", "", 404),
    ];
    if number.is_multiple_of(20) {
        requests.extend([("PUT", "/models/m", model, 200), ("GET", "/models", "", 200)]);
    }
    for (method, path, body, status) in &requests {
        let answer = server.send(method, path, body);
        assert_eq!(answer.as_ref().map(|answer| answer.0), Some(*status), "{method} {path}: {answer:?}");
    }
    requests.len()
}

/// After a while, the memory of a server that is used stays what it is. `RANKWISE_SOAK=3600` makes it a test of an hour.
/// What is remembered of lists in the log of clicks has a limit of its own, and a test in the server's crate.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_requests() {
    const WARM: usize = 200;
    let time = std::env::var("RANKWISE_SOAK").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(5);
    let place = place();
    place.write("qrels", "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 1\nq2 0 d4 0\n");
    place.ok("features docs.idx --queries q.tsv --qrels qrels -o train.csv");
    place.ok("train lambda-mart --set iterations=20 --set min_data_in_leaf=1 --train train.csv -o m.json");
    let model = place.read("m.json");
    // A machine that does other things meanwhile must not make requests late.
    let server = Served::start(&place, "docs.idx --model m=m.json --deadline-ms 60000");
    let features =
        server.ask("GET", "/models", &json!({})).unwrap().1["models"][1]["features"].as_u64().unwrap();
    let use_everything = |number| use_everything(&server, &model, features as usize, number);
    assert!((0..WARM).map(use_everything).sum::<usize>() > WARM);
    let (before, start, mut requests, mut minutes) = (memory(&server.process), Instant::now(), 0, 0);
    for number in WARM.. {
        requests += use_everything(number);
        std::thread::sleep(Duration::from_millis(2));
        let passed = start.elapsed().as_secs();
        if passed / 60 > minutes {
            minutes = passed / 60;
            eprintln!("{minutes} min: {requests} requests, {} KiB", memory(&server.process) >> 10);
        }
        if passed >= time {
            break;
        }
    }
    let after = memory(&server.process);
    assert!(after < before + (8 << 20), "{before} bytes, and {after} after {requests} requests");
    server.kill();
}
