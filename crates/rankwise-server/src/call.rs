//! A request with what is needed to answer it: its query string, its body, and answers in JSON.

use crate::problem::{Answer, Problem};
use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::str::FromStr;
use std::time::Duration;

/// Bytes without a form of their own.
pub(crate) const BINARY: &str = "application/octet-stream";

/// The most parameters in a query string.
const MAX_PARAMETERS: usize = 32;

/// A request.
pub(crate) struct Call {
    pub(crate) head: Parts,
    body: Body,
    /// The part of the path that a route leaves open.
    pub(crate) name: String,
    /// How many bytes the body may have.
    pub(crate) max_body: usize,
    /// How long it may take to arrive.
    pub(crate) deadline: Duration,
}

impl Call {
    pub(crate) fn new(head: Parts, body: Body, name: String, max_body: usize, deadline: Duration) -> Call {
        Call { head, body, name, max_body, deadline }
    }

    /// The parameters of the query string.
    pub(crate) fn parameters(&self) -> Answer<Parameters> {
        Parameters::parse(self.head.uri.query().unwrap_or_default())
    }

    /// A header as text.
    pub(crate) fn header(&self, name: &HeaderName) -> Option<&str> {
        self.head.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Whether the body is said to be of this type.
    pub(crate) fn is_of_type(&self, wanted: &str) -> bool {
        let essence = self.header(&CONTENT_TYPE).and_then(|value| value.split(';').next());
        essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(wanted))
    }

    /// The type that the client asks for, if it is not JSON.
    pub(crate) fn accepts(&self) -> &str {
        self.header(&ACCEPT).unwrap_or_default()
    }

    /// The body, if it is not too large and arrives in time.
    pub(crate) async fn bytes(&mut self) -> Answer<Bytes> {
        let body = std::mem::replace(&mut self.body, Body::empty());
        let limit = self.max_body;
        match tokio::time::timeout(self.deadline, Limited::new(body, limit).collect()).await {
            Ok(Ok(collected)) => Ok(collected.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Problem::too_large(format!(
                "the body has more than {limit} bytes, which is the most that this server reads"
            ))),
            Ok(Err(_)) => Err(Problem::bad_request("the body ended before it was complete")),
            Err(_) => Err(Problem::new(
                StatusCode::REQUEST_TIMEOUT,
                format!("the body did not arrive within {} ms", self.deadline.as_millis()),
            )),
        }
    }

    /// The body as JSON.
    pub(crate) async fn json<T: DeserializeOwned>(&mut self) -> Answer<T> {
        self.check_json()?;
        from_json(&self.bytes().await?)
    }

    /// Rejects bodies that are not said to be JSON. A page of another site cannot send JSON without being asked whether it may.
    pub(crate) fn check_json(&self) -> Answer<()> {
        match self.is_of_type("application/json") {
            true => Ok(()),
            false => Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "the body must be JSON; send it with the header `content-type: application/json`",
            )),
        }
    }
}

/// Reads an object in JSON.
pub(crate) fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Answer<T> {
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(Problem::unusable("the body is a list; it must be a JSON object"));
    }
    serde_json::from_slice(bytes).map_err(|error| not_json(&error))
}

/// Why a body is not the JSON that is needed.
pub(crate) fn not_json(error: &serde_json::Error) -> Problem {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(&*text, |(reason, _)| reason);
    let place = match error.line() {
        0 => String::new(),
        line => format!(" (line {line}, column {})", error.column()),
    };
    match error.classify() {
        serde_json::error::Category::Data => {
            Problem::unusable(format!("the body does not have the form that is needed: {reason}{place}"))
        }
        serde_json::error::Category::Eof => Problem::bad_request("the JSON in the body is cut short"),
        _ => Problem::bad_request(format!("the body is not valid JSON: {reason}{place}")),
    }
}

/// An answer in JSON.
pub(crate) fn json(value: &impl Serialize) -> Answer<Response<Body>> {
    json_with(StatusCode::OK, value)
}

/// An answer in JSON with a status.
pub(crate) fn json_with(status: StatusCode, value: &impl Serialize) -> Answer<Response<Body>> {
    let body = serde_json::to_vec(value)
        .map_err(|error| Problem::internal(format!("the answer cannot be written as JSON: {error}")))?;
    let mut response = answer("application/json", body);
    *response.status_mut() = status;
    Ok(response)
}

/// An answer of some type, not to be kept by anybody.
pub(crate) fn answer(content_type: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The parameters of a query string. What is taken is known; what is left at the end is not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Parameters {
    left: Vec<(String, String)>,
    taken: Vec<&'static str>,
}

impl Parameters {
    pub(crate) fn parse(query: &str) -> Answer<Parameters> {
        let mut left: Vec<(String, String)> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decoded(name)?, decoded(value)?);
            if left.iter().any(|(other, _)| *other == name) {
                return Err(Problem::bad_request(format!("the parameter `{name}` is given twice")));
            }
            if left.len() == MAX_PARAMETERS {
                return Err(Problem::bad_request(format!("there are more than {MAX_PARAMETERS} parameters")));
            }
            left.push((name, value));
        }
        Ok(Parameters { left, taken: Vec::new() })
    }

    /// The value of a parameter, if it is given.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<String> {
        self.taken.push(name);
        let at = self.left.iter().position(|(other, _)| other == name)?;
        Some(self.left.swap_remove(at).1)
    }

    /// The value of a parameter as a number, or another number if it is not given.
    pub(crate) fn number<T: FromStr>(&mut self, name: &'static str, or: T) -> Answer<T> {
        match self.take(name) {
            None => Ok(or),
            Some(text) => text.parse().map_err(|_| {
                Problem::bad_request(format!("the parameter `{name}` is `{text}`; it must be a whole number"))
            }),
        }
    }

    /// Whether a parameter is `1` or `true`, or something else if it is not given.
    pub(crate) fn flag(&mut self, name: &'static str, or: bool) -> Answer<bool> {
        match self.take(name).as_deref() {
            None => Ok(or),
            Some("0" | "false") => Ok(false),
            Some("1" | "true") => Ok(true),
            Some(other) => {
                Err(Problem::bad_request(format!("the parameter `{name}` is `{other}`; it must be 0 or 1")))
            }
        }
    }

    /// Rejects parameters that nobody has asked for.
    pub(crate) fn end(self) -> Answer<()> {
        match self.left.first() {
            None => Ok(()),
            Some((name, _)) => Err(rankwise::card::unknown("parameter", name, &self.taken).into()),
        }
    }
}

/// A part of a query string as text: `+` is a space and `%20` the byte 32.
fn decoded(text: &str) -> Answer<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        rest = others;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let byte = others.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
                let byte = byte.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
                let byte = byte.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                bytes.push(byte.ok_or_else(|| {
                    Problem::bad_request(
                        "the query string has a `%` without two hexadecimal digits behind it",
                    )
                })?);
                rest = &others[2..];
            }
            other => bytes.push(*other),
        }
    }
    String::from_utf8(bytes).map_err(|_| Problem::bad_request("the query string is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(query: &str) -> Vec<(String, String)> {
        Parameters::parse(query).unwrap().left
    }

    #[test]
    fn query_strings_are_decoded() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            parsed("q=a+b%20c%C3%A9&k=3&&flag"),
            [pair("q", "a b cé"), pair("k", "3"), pair("flag", "")]
        );
        for (query, part) in [
            ("q=%", "`%`"),
            ("q=%+1", "`%`"),
            ("q=%C3", "UTF-8"),
            ("q=1&q=2", "given twice"),
            ("%ff=1", "UTF-8"),
        ] {
            let problem = Parameters::parse(query).unwrap_err();
            assert!(problem.status == 400 && problem.detail.contains(part), "{query}: {}", problem.detail);
        }
    }

    #[test]
    fn unknown_parameters_are_refused() {
        let mut parameters = Parameters::parse("limit=3&explain=1&log=0&modle=x").unwrap();
        assert!(parameters.flag("explain", false).unwrap() && parameters.flag("other", true).unwrap());
        assert!(!parameters.flag("log", true).unwrap() && !parameters.flag("another", false).unwrap());
        assert_eq!(parameters.number("limit", 10).unwrap(), 3);
        assert_eq!(parameters.take("model"), None);
        let problem = parameters.end().unwrap_err();
        assert!(problem.detail.contains("`modle`") && problem.detail.contains("model"), "{}", problem.detail);
    }
}
