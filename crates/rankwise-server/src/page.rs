//! The page for people, and the description of the interface for programs. All files are a part of the program.

use crate::app::App;
use crate::call::{Call, answer};
use crate::problem::{Answer, Problem};
use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use axum::http::{HeaderName, HeaderValue, Response};
use std::sync::Arc;

/// A file of the page.
struct File {
    name: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
}

/// The files of the page; the first one is the page itself.
static FILES: &[File] = &[
    File {
        name: "index.html",
        content_type: "text/html; charset=utf-8",
        bytes: include_bytes!("page/index.html"),
    },
    File {
        name: "page.css",
        content_type: "text/css; charset=utf-8",
        bytes: include_bytes!("page/page.css"),
    },
    script("address.js", include_bytes!("page/address.js")),
    script("api.js", include_bytes!("page/api.js")),
    script("chart.js", include_bytes!("page/chart.js")),
    script("dom.js", include_bytes!("page/dom.js")),
    script("follow.js", include_bytes!("page/follow.js")),
    script("hit.js", include_bytes!("page/hit.js")),
    script("judge.js", include_bytes!("page/judge.js")),
    script("leaderboard.js", include_bytes!("page/leaderboard.js")),
    script("live.js", include_bytes!("page/live.js")),
    script("models.js", include_bytes!("page/models.js")),
    script("page.js", include_bytes!("page/page.js")),
    script("pending.js", include_bytes!("page/pending.js")),
    script("search.js", include_bytes!("page/search.js")),
    script("token.js", include_bytes!("page/token.js")),
    script("why.js", include_bytes!("page/why.js")),
];

const fn script(name: &'static str, bytes: &'static [u8]) -> File {
    File { name, content_type: "text/javascript; charset=utf-8", bytes }
}

/// Nothing from elsewhere, nothing inline, no frames, no forms that leave the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page.
pub(crate) async fn page(_: Arc<App>, _: Call) -> Answer<Response<Body>> {
    Ok(response(&FILES[0]))
}

/// A file of the page.
pub(crate) async fn file(_: Arc<App>, call: Call) -> Answer<Response<Body>> {
    let file = FILES.iter().find(|file| file.name == call.name);
    file.map(response).ok_or_else(|| Problem::not_found("the page has no such file"))
}

fn response(file: &File) -> Response<Body> {
    let mut response = answer(file.content_type, file.bytes);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    );
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// The description of all requests.
pub(crate) async fn openapi(_: Arc<App>, _: Call) -> Answer<Response<Body>> {
    Ok(answer("application/json", include_str!("openapi.json")))
}
