//! Too much, too slow, too strange: what the server refuses, and that it goes on.

use crate::client::Client;
use crate::place::{ADMIN, Running, bearer, demo, settings};
use rankwise_server::Settings;
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[test]
fn bodies_and_rows_are_limited() {
    let models = demo().settings().models;
    let limits = Settings { models, max_body: 20_000, max_rows: 20, ..settings() };
    let server = Running::start(limits);
    let mut client = server.client();
    let binary = [("content-type", "application/octet-stream")];
    let big = client.send("POST", "/score?features=21", &binary, &[0; 20_004]);
    assert!(big.problem(413).contains("more than 20000 bytes"));
    let mut client = server.client();
    let many = client.send("POST", "/score?features=21", &binary, &vec![0; 21 * 4 * 21]);
    assert!(many.problem(413).contains("more than 20 rows"));
    let rows = json!({ "rows": vec![vec![0; 21]; 21] });
    assert!(client.post("/score", &rows).problem(413).contains("more than 20 rows"));
    let documents: Vec<_> = (0..21).map(|id| json!({ "id": id.to_string(), "features": [0] })).collect();
    assert!(
        client.post("/rank", &json!({ "documents": documents })).problem(413).contains("more than 20 rows")
    );
    // A body without a length that grows for ever.
    let mut endless = server.client();
    endless.write(b"POST /score?features=21 HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/octet-stream\r\ntransfer-encoding: chunked\r\n\r\n");
    for _ in 0..30 {
        endless.write(b"400\r\n");
        endless.write(&[0; 1024]);
        endless.write(b"\r\n");
    }
    assert_eq!(endless.reply().map(|reply| reply.status), Some(413));
    assert_eq!(server.client().get("/health").status, 200);
}

#[test]
fn slow_bodies_do_not_keep_a_place() {
    let server = Running::start(Settings { deadline: Duration::from_millis(200), ..demo().settings() });
    let mut slow = server.client();
    slow.write(
        b"POST /score HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
    );
    let reply = slow.reply().unwrap();
    assert!(reply.problem(408).contains("did not arrive within 200 ms"));
    assert_eq!(server.client().get("/search?q=lighthouse").status, 200);
}

/// Connections are limited, so nobody may keep one for nothing.
#[test]
fn clients_that_say_nothing_or_take_nothing_are_left() {
    let server = Running::start(demo().settings());
    let mut client = server.client();
    let mut connections = || {
        let text = client.get("/metrics").text();
        let line = text.lines().find(|line| line.starts_with("rankwise_connections ")).unwrap();
        line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()
    };
    assert_eq!(connections(), 1.0);
    let _idle = server.client();
    let mut slow = server.client();
    slow.write(b"GET /health HTTP/1.1\r\nhost");
    // More answers than the system keeps for a client that does not read.
    let mut deaf = server.client();
    deaf.write("GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(1000).as_bytes());
    let start = Instant::now();
    while connections() < 4.0 {
        assert!(start.elapsed() < Duration::from_secs(10), "the connections were not accepted");
    }
    while connections() > 1.0 {
        assert!(start.elapsed() < Duration::from_secs(90), "{} connections are left", connections());
        std::thread::sleep(Duration::from_millis(200));
        slow.write(b"a");
    }
}

/// A page of another site may have its name point here.
#[test]
fn requests_for_another_host_are_refused() {
    let server = Running::start(demo().settings());
    for request in [
        "GET /search?q=lighthouse HTTP/1.1\r\nhost: example.org\r\n\r\n",
        "GET http://example.org/search?q=lighthouse HTTP/1.1\r\nhost: localhost\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: example.org:7700\r\n\r\n",
        "GET /nowhere HTTP/1.1\r\nhost: example.org\r\n\r\n",
        "DELETE /search HTTP/1.1\r\nhost: example.org\r\n\r\n",
    ] {
        let mut client = server.client();
        client.write(request.as_bytes());
        assert!(client.reply().unwrap().problem(421).contains("another host"), "{request}");
    }
    for path in ["/search?q=lighthouse", "/nowhere"] {
        let mut client = server.client();
        client
            .write(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nhost: example.org\r\n\r\n").as_bytes());
        assert!(client.reply().unwrap().problem(400).contains("several `Host` headers"), "{path}");
    }
    // Older programs name no host.
    let mut client = server.client();
    client.write(b"GET /search?q=lighthouse HTTP/1.0\r\n\r\n");
    assert_eq!(client.reply().unwrap().status, 200);
}

#[test]
fn strange_heads_are_refused_and_the_server_goes_on() {
    let server = Running::start(demo().settings());
    let many = format!("GET /health HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(1000));
    let long = format!("GET /health HTTP/1.1\r\na: {}\r\n\r\n", "b".repeat(200_000));
    let path = format!("GET /search?q={} HTTP/1.1\r\nhost: localhost\r\n\r\n", "a".repeat(100_000));
    let cases: [&[u8]; 9] = [
        many.as_bytes(),
        long.as_bytes(),
        path.as_bytes(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /search?q=\xff HTTP/1.1\r\n\r\n",
        b"POST /score HTTP/1.1\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n123456",
        b"POST /score HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST /score HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ];
    for bytes in cases {
        let mut client = server.client();
        client.write(bytes);
        let reply = client.reply();
        let refused = reply.as_ref().is_none_or(|reply| (400..500).contains(&reply.status));
        assert!(refused, "{:?}: {reply:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(60)]));
    }
    assert_eq!(server.client().get("/search?q=lighthouse").status, 200);
}

/// Bytes changed at random in requests of every kind: an answer or a closed connection, never a failure of the server.
#[test]
fn changed_requests_are_answered_or_refused() {
    use rand::rngs::SmallRng;
    use rand::{RngExt, SeedableRng};
    let cases: usize =
        std::env::var("RANKWISE_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(600);
    let directory = tempfile::tempdir().unwrap();
    let log = Some(directory.path().join("log.jsonl"));
    let judgments = Some(directory.path().join("judgments.csv"));
    let server = Running::start(Settings { log, judgments, ..demo().settings() });
    let request = |method: &str, path: &str, kind: &str, body: &str| {
        let length = body.len();
        format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: {}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}",
            bearer(ADMIN)
        )
        .into_bytes()
    };
    let json = "application/json";
    let row = json!([vec![0.25; 21]]).to_string();
    let seeds = [
        request(
            "GET",
            "/v1/search?q=light+house%20a&k=3&offset=1&explain=1&snippets=1&why_not=skerrow",
            json,
            "",
        ),
        request("GET", "/search?q=title:(a+OR+b)+-c+%22d+e%22~2+year:[1990+TO+2000]&syntax=full", json, ""),
        request("POST", "/score", json, &format!("{{\"rows\":{row},\"sizes\":[1]}}")),
        request("POST", "/score?features=21&sizes=1", "application/octet-stream", &"abcd".repeat(21)),
        request(
            "POST",
            "/rank",
            json,
            r#"{"query":"light","ids":["skerrow","a"],"scores":[1,2e0],"k":1,"log":true}"#,
        ),
        request(
            "POST",
            "/explain",
            json,
            &format!("{{\"documents\":[{{\"id\":\"a\",\"features\":{}}}]}}", &row[1..row.len() - 1]),
        ),
        request(
            "POST",
            "/feedback",
            json,
            r#"{"session":"0123456789abcdef0123456789abcdef","clicks":[{"doc":"a","time":1}]}"#,
        ),
        request(
            "POST",
            "/judgments",
            json,
            r#"{"query":"1","document":"skerrow","judge":"ann","grade":1,"note":"n"}"#,
        ),
        request("GET", "/judgments?judge=ann&query=1&k=3&offset=0", json, ""),
        request(
            "PUT",
            "/models/x",
            json,
            r#"{"format":"rankwise-model","version":2,"checksum":"xxh3:0","ranker":{}}"#,
        ),
    ];
    let mut random = SmallRng::seed_from_u64(7);
    for case in 0..cases {
        let mut bytes = seeds[case % seeds.len()].clone();
        let start = if random.random_bool(0.5) { 0 } else { bytes.len() / 2 };
        for _ in 0..random.random_range(1..5) {
            let at = random.random_range(start..bytes.len());
            match random.random_range(0..4) {
                0 => bytes[at] = random.random_range(0..=255) as u8,
                1 => bytes[at] ^= 1 << random.random_range(0..8),
                2 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b"{}[]\",:%&=0-"[random.random_range(0..12)]),
            }
        }
        let mut client = Client::new(server.address);
        client.write(&bytes);
        // What waits for more gets the end of the connection.
        client.finish_writing();
        if let Some(reply) = client.reply() {
            assert!(reply.status < 500, "{}\n{}", String::from_utf8_lossy(&bytes), reply.text());
        }
    }
    assert_eq!(server.client().get("/search?q=lighthouse").status, 200);
}

#[test]
fn more_requests_than_can_be_answered_are_refused_at_once() {
    let models = demo().settings().models;
    let server = Running::start(Settings { models, threads: 1, max_concurrent: 2, ..settings() });
    let body = vec![0u8; 21 * 4 * 10_000];
    let (accepted, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..12 {
                    let headers = [("content-type", "application/octet-stream")];
                    // A refused request may have its connection closed before its body is read.
                    let reply = server.client().try_send("POST", "/score?features=21", &headers, &body);
                    match reply {
                        Some(reply) if reply.status == 200 => accepted.fetch_add(1, Ordering::Relaxed),
                        Some(reply) => {
                            assert_eq!(reply.header("retry-after"), Some("1"));
                            reply.problem(503);
                            refused.fetch_add(1, Ordering::Relaxed)
                        }
                        None => refused.fetch_add(1, Ordering::Relaxed),
                    };
                }
            });
        }
    });
    assert!(accepted.load(Ordering::Relaxed) > 0 && refused.load(Ordering::Relaxed) > 0);
    assert_eq!(server.client().get("/ready").status, 200);
}

#[test]
fn the_end_waits_for_requests_that_are_being_answered() {
    let server = Running::start(demo().settings());
    let (mut idle, mut busy) = (server.client(), server.client());
    assert_eq!(idle.get("/health").status, 200);
    let body = json!({ "rows": vec![vec![0; 21]; 2000] }).to_string();
    let head = format!(
        "POST /score HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    busy.write(head.as_bytes());
    busy.write(&body.as_bytes()[..10]);
    std::thread::sleep(Duration::from_millis(100));
    server.begin_to_end();
    std::thread::sleep(Duration::from_millis(300));
    busy.write(&body.as_bytes()[10..]);
    let reply = busy.reply().unwrap();
    assert_eq!((reply.status, reply.header("connection")), (200, Some("close")));
    // The connection without a request was closed, and no other is taken.
    assert!(idle.reply().is_none());
    let address = server.address;
    let start = Instant::now();
    server.end();
    assert!(start.elapsed() < Duration::from_secs(5));
    let refused = TcpStream::connect(address).and_then(|mut stream| stream.write_all(b"x"));
    assert!(refused.is_err());
}
