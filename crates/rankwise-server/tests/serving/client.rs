//! A client over real sockets that sends exactly the bytes it is told to.

use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Names in small letters.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// A connection that is kept.
pub(crate) struct Client {
    stream: TcpStream,
    /// What was read beyond the last answer.
    rest: Vec<u8>,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { stream, rest: Vec::new() }
    }

    pub(crate) fn get(&mut self, path: &str) -> Reply {
        self.send("GET", path, &[], b"")
    }

    pub(crate) fn post(&mut self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, &[("content-type", "application/json")], body.to_string().as_bytes())
    }

    pub(crate) fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        self.try_send(method, path, headers, body).unwrap()
    }

    /// The answer, or nothing if the connection was closed.
    pub(crate) fn try_send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Option<Reply> {
        let mut text =
            format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n", body.len());
        headers.iter().for_each(|(name, value)| text += &format!("{name}: {value}\r\n"));
        text += "\r\n";
        self.write(&[text.as_bytes(), body].concat());
        self.reply()
    }

    /// Sends bytes as they are. The server may have closed the connection already.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// Sends nothing more.
    pub(crate) fn finish_writing(&mut self) {
        // The server may have closed the connection already.
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
    }

    /// The next answer, or nothing if the connection was closed.
    pub(crate) fn reply(&mut self) -> Option<Reply> {
        let end = loop {
            match self.rest.windows(4).position(|four| four == b"\r\n\r\n") {
                Some(at) => break at + 4,
                None => self.more()?,
            }
        };
        let head = String::from_utf8(self.rest[..end].to_vec()).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
        while self.rest.len() < end + length {
            self.more()?;
        }
        let body = self.rest[end..end + length].to_vec();
        self.rest.drain(..end + length);
        Some(Reply { status, headers, body })
    }

    fn more(&mut self) -> Option<()> {
        let mut buffer = [0; 1 << 16];
        let read = self.stream.read(&mut buffer).ok().filter(|read| *read > 0)?;
        self.rest.extend_from_slice(&buffer[..read]);
        Some(())
    }
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// The body of a successful answer.
    pub(crate) fn json(&self) -> Value {
        assert!(self.status < 300, "{} {}", self.status, self.text());
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The sentence of an answer that is a problem with this status.
    pub(crate) fn problem(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{}", self.text());
        let problem: Value = serde_json::from_slice(&self.body).unwrap();
        assert_eq!(problem["status"], status);
        problem["detail"].as_str().unwrap().to_owned()
    }
}
