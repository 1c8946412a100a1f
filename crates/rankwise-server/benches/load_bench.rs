//! Sends one request over and over, at a fixed rate or as fast as answers come, and reports latencies as a line of JSON.
//! `benches/serve.py` runs it.
//!
//! ```text
//! load_bench http://127.0.0.1:7700/score?features=136 --rate 5000 --seconds 10 --connections 32 \
//!     --body rows.f32 --header 'content-type: application/octet-stream'
//! ```
//!
//! At a fixed rate, every request has a time at which it is due. Its latency counts from then, also if the connection was
//! still busy with the request before: a slow server does not slow down the clock that measures it. A rate of 0 sends the next
//! request when the answer has come.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The time until the first request is due, in which all connections get ready.
const WAIT: Duration = Duration::from_millis(100);

struct Plan {
    address: String,
    request: Vec<u8>,
    rate: f64,
    seconds: f64,
    connections: usize,
}

#[derive(Default)]
struct Found {
    /// Of answers with status 200, in microseconds.
    accepted: Vec<f64>,
    /// The same from the moment of sending.
    served: Vec<f64>,
    /// Of answers with status 503.
    refused: Vec<f64>,
    /// Other answers, and connections that ended.
    failed: u64,
}

fn main() -> ExitCode {
    match plan(std::env::args().skip(1).collect()) {
        Ok(plan) => {
            let start = Instant::now();
            let found = run(&plan);
            report(&plan, found, start.elapsed().as_secs_f64() - WAIT.as_secs_f64());
            ExitCode::SUCCESS
        }
        Err(why) => {
            let _ = writeln!(io::stderr(), "error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn plan(arguments: Vec<String>) -> Result<Plan, String> {
    let mut arguments = arguments.into_iter();
    let url = arguments.next().ok_or("the first argument is a URL")?;
    let rest = url.strip_prefix("http://").ok_or("the URL begins with http://")?;
    let (address, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (mut rate, mut seconds, mut connections, mut body, mut headers) =
        (0.0, 10.0, 16, Vec::new(), String::new());
    let mut method = "GET";
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(format!("{name} needs a value"))?;
        let number = || value.parse::<f64>().map_err(|_| format!("{name} is no number: {value}"));
        match &*name {
            "--rate" => rate = number()?,
            "--seconds" => seconds = number()?,
            "--connections" => connections = number()? as usize,
            "--body" => {
                (method, body) = ("POST", std::fs::read(&value).map_err(|e| format!("{value}: {e}"))?)
            }
            "--header" => headers += &format!("{value}\r\n"),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    let length = body.len();
    let head =
        format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {length}\r\n{headers}\r\n");
    let request = [head.as_bytes(), &body].concat();
    Ok(Plan { address: address.to_owned(), request, rate, seconds, connections: connections.max(1) })
}

fn run(plan: &Plan) -> Found {
    let start = Instant::now() + WAIT;
    let mut all = Found::default();
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..plan.connections).map(|number| scope.spawn(move || converse(plan, number, start))).collect();
        for thread in threads {
            let found = thread.join().expect("a thread of the benchmark failed");
            all.accepted.extend(found.accepted);
            all.served.extend(found.served);
            all.refused.extend(found.refused);
            all.failed += found.failed;
        }
    });
    all
}

/// One connection, which has every `connections`-th request.
fn converse(plan: &Plan, number: usize, start: Instant) -> Found {
    let mut found = Found::default();
    let mut connection: Option<TcpStream> = None;
    let mut buffer = Vec::new();
    for turn in 0.. {
        let due = match plan.rate > 0.0 {
            true => {
                let request = (turn * plan.connections + number) as f64;
                start + Duration::from_secs_f64(request / plan.rate)
            }
            false => start.max(Instant::now()),
        };
        if due.duration_since(start).as_secs_f64() >= plan.seconds {
            break;
        }
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let stream = match &mut connection {
            Some(stream) => stream,
            none => match TcpStream::connect(&plan.address) {
                Ok(stream) => {
                    let _ = stream.set_nodelay(true);
                    none.insert(stream)
                }
                Err(_) => {
                    found.failed += 1;
                    continue;
                }
            },
        };
        let sent = Instant::now();
        let status = stream.write_all(&plan.request).and_then(|()| read_answer(stream, &mut buffer));
        let took = due.elapsed().as_secs_f64() * 1e6;
        match status {
            Ok(200) => {
                found.accepted.push(took);
                found.served.push(sent.elapsed().as_secs_f64() * 1e6);
            }
            Ok(503) => found.refused.push(took),
            _ => {
                found.failed += 1;
                connection = None;
            }
        }
    }
    found
}

/// Reads an answer and returns its status.
fn read_answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<u16> {
    buffer.clear();
    let broken = || io::Error::new(io::ErrorKind::InvalidData, "not an answer");
    let mut part = [0; 1 << 16];
    let mut whole = usize::MAX;
    while buffer.len() < whole {
        let read = stream.read(&mut part)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer.extend_from_slice(&part[..read]);
        if whole == usize::MAX
            && let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n")
        {
            let head = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            whole =
                end + 4 + length.and_then(|length| length.trim().parse::<usize>().ok()).ok_or_else(broken)?;
        }
    }
    let status = buffer.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok());
    status.and_then(|digits| digits.parse().ok()).ok_or_else(broken)
}

fn report(plan: &Plan, mut found: Found, seconds: f64) {
    let accepted = percentiles(&mut found.accepted);
    let served = percentiles(&mut found.served);
    let refused = percentiles(&mut found.refused);
    let per_second = found.accepted.len() as f64 / seconds;
    let _ = writeln!(
        io::stdout(),
        "{{\"rate\": {}, \"accepted\": {}, \"refused\": {}, \"failed\": {}, \"per_second\": {per_second:.1}, \
         \"accepted_us\": {accepted}, \"served_us\": {served}, \"refused_us\": {refused}}}",
        plan.rate,
        found.accepted.len(),
        found.refused.len(),
        found.failed
    );
}

/// Percentiles as JSON.
fn percentiles(latencies: &mut [f64]) -> String {
    if latencies.is_empty() {
        return "null".to_owned();
    }
    latencies.sort_unstable_by(f64::total_cmp);
    let at = |percent: f64| latencies[((latencies.len() - 1) as f64 * percent / 100.0).round() as usize];
    let named = [("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("p999", 99.9), ("max", 100.0)];
    let pairs: Vec<String> =
        named.iter().map(|(name, percent)| format!("\"{name}\": {:.0}", at(*percent))).collect();
    format!("{{{}}}", pairs.join(", "))
}
