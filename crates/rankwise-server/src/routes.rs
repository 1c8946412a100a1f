//! Which request goes where. Every path is also there with `/v1` in front.

use crate::app::App;
use crate::call::Call;
use crate::counters::count;
use crate::pool::Place;
use crate::problem::{Answer, Problem};
use crate::tokens::Role;
use crate::{admin, clicking, hosts, judged, leaderboard, page, ranking, score, searching, status};
use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams, Request};
use axum::http::header::{AUTHORIZATION, CONNECTION, X_CONTENT_TYPE_OPTIONS};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Response, StatusCode};
use axum::routing::{MethodFilter, on};
use http_body_util::{BodyExt, Limited};
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How much of the body of a request that is refused is read, and for how long.
const DISCARDED: usize = 1 << 20;
const DISCARD_TIME: Duration = Duration::from_secs(1);

/// What paths begin with, so that later versions can have paths of their own.
const PREFIX: &str = "/v1";

type Answering = Pin<Box<dyn Future<Output = Answer<Response<Body>>> + Send>>;

/// A kind of request.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) role: Role,
    load: Load,
    answer: fn(Arc<App>, Call) -> Answering,
}

/// What a request costs, and so when it is refused.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Load {
    /// Nothing: it is answered however many others there are, and while the server ends.
    None,
    /// Little: it is refused if there are too many at once.
    Light,
    /// It computes: it is refused as well if the server is overloaded.
    Heavy,
}

/// A kind of request in one line.
macro_rules! route {
    ($method:ident $path:literal, $role:ident => $answer:path) => {
        route!($method $path, $role, Light => $answer)
    };
    ($method:ident $path:literal, $role:ident, $load:ident => $answer:path) => {
        Route {
            method: stringify!($method),
            path: $path,
            role: Role::$role,
            load: Load::$load,
            answer: |app, call| Box::pin($answer(app, call)),
        }
    };
}

/// All kinds of requests.
pub(crate) static ROUTES: &[Route] = &[
    route!(GET "/search", Anyone, Heavy => searching::search),
    route!(POST "/rank", Anyone, Heavy => ranking::rank),
    route!(POST "/explain", Anyone, Heavy => ranking::explain),
    route!(POST "/score", Anyone, Heavy => score::score),
    route!(POST "/feedback", Anyone => clicking::feedback),
    route!(GET "/live", Anyone => clicking::live),
    route!(POST "/judgments", Judge => judged::judge),
    route!(GET "/judgments", Judge => judged::list),
    route!(GET "/judge", Anyone => judged::about),
    route!(GET "/judge/next", Judge => judged::next),
    route!(GET "/leaderboard", Anyone => leaderboard::leaderboard),
    route!(GET "/models", Anyone => admin::list),
    route!(PUT "/models/{name}", Admin => admin::put),
    route!(DELETE "/models/{name}", Admin => admin::remove),
    route!(POST "/models/{name}/promote", Admin => admin::promote),
    route!(POST "/models/{name}/rollback", Admin => admin::roll_back),
    route!(GET "/health", Anyone, None => status::health),
    route!(GET "/ready", Anyone, None => status::ready),
    route!(GET "/metrics", Anyone, None => status::metrics),
    route!(GET "/openapi.json", Anyone => page::openapi),
    route!(GET "/", Anyone => page::page),
    route!(GET "/page/{name}", Anyone => page::file),
];

/// All kinds of requests, as in `GET /search`.
pub fn requests() -> impl Iterator<Item = String> {
    ROUTES.iter().map(|route| format!("{} {}", route.method, route.path))
}

/// Answers all requests.
pub(crate) fn router(app: &Arc<App>) -> Router {
    let mut router = Router::new();
    for prefix in ["", PREFIX] {
        for (number, route) in ROUTES.iter().enumerate() {
            let app = Arc::clone(app);
            let handler = move |request: Request| respond(app, number, request);
            router = router.route(&format!("{prefix}{}", route.path), on(filter(route.method), handler));
        }
    }
    let listen = app.settings.listen;
    router
        .fallback(move |request: Request| async move { nowhere(listen, &request.into_parts().0).response() })
        .method_not_allowed_fallback(move |request: Request| async move {
            no_such_method(listen, &request.into_parts().0).response()
        })
}

/// Why a request for a path that there is not fails.
fn nowhere(listen: SocketAddr, head: &Parts) -> Problem {
    let missing = || {
        let path = head.uri.path();
        Problem::not_found(format!("there is no {path}; /openapi.json lists what there is"))
    };
    hosts::check(listen, head).err().unwrap_or_else(missing)
}

/// Why a request with a method that the path does not have fails.
fn no_such_method(listen: SocketAddr, head: &Parts) -> Problem {
    let missing = || {
        let (method, path) = (&head.method, head.uri.path());
        let allow = methods_of(path);
        let detail = format!("{path} has no method {method}; it has {allow}");
        Problem { allow: Some(allow), ..Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail) }
    };
    hosts::check(listen, head).err().unwrap_or_else(missing)
}

fn filter(method: &str) -> MethodFilter {
    match method {
        "POST" => MethodFilter::POST,
        "PUT" => MethodFilter::PUT,
        "DELETE" => MethodFilter::DELETE,
        _ => MethodFilter::GET,
    }
}

/// The methods of a path.
fn methods_of(path: &str) -> String {
    let path = path.strip_prefix(PREFIX).unwrap_or(path);
    let fits = |route: &&Route| {
        let (mut parts, mut wanted) = (path.split('/'), route.path.split('/'));
        let same = parts
            .by_ref()
            .zip(wanted.by_ref())
            .all(|(part, wanted)| part == wanted || wanted.starts_with('{'));
        same && path.split('/').count() == route.path.split('/').count()
    };
    ROUTES.iter().filter(fits).map(|route| route.method).collect::<Vec<_>>().join(", ")
}

async fn respond(app: Arc<App>, number: usize, request: Request) -> Response<Body> {
    let started = Instant::now();
    let draining = app.draining.load(Ordering::Relaxed);
    let mut response = match answer(&app, &ROUTES[number], request).await {
        Ok(response) => response,
        Err(problem) => {
            if problem.status == StatusCode::SERVICE_UNAVAILABLE && !draining {
                count(&app.counters.refused);
            }
            problem.response()
        }
    };
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if draining {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    app.routes[number].1.observe(response.status().as_u16(), started.elapsed());
    response
}

async fn answer(app: &Arc<App>, route: &Route, request: Request) -> Answer<Response<Body>> {
    let (mut head, body) = request.into_parts();
    let _place = match admitted(app, route, &head) {
        Ok(place) => place,
        Err(problem) => {
            discard(body).await;
            return Err(problem);
        }
    };
    let name = match route.path.contains('{') {
        true => open_part(&mut head).await?,
        false => String::new(),
    };
    let settings = &app.settings;
    let call = Call::new(head, body, name, settings.max_body, settings.deadline);
    (route.answer)(Arc::clone(app), call).await
}

/// A place for the request, if it may be answered now. Some requests need none.
fn admitted(app: &App, route: &Route, head: &Parts) -> Answer<Option<Place>> {
    hosts::check(app.settings.listen, head)?;
    let bearer = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    app.tokens.check(route.role, bearer)?;
    if route.load == Load::None {
        return Ok(None);
    }
    if app.draining.load(Ordering::Relaxed) {
        return Err(Problem::busy("the server is about to end; send the request again"));
    }
    let place = app.pool.enter().and_then(|place| match route.load {
        Load::Heavy => app.pool.check_load().map(|()| place),
        _ => Ok(place),
    });
    place.map(Some)
}

/// Reads what the client is about to send, unless it is much, so that it gets to read the answer.
async fn discard(body: Body) {
    let mut body = Limited::new(body, DISCARDED);
    let whole = async { while let Some(Ok(_)) = body.frame().await {} };
    // What takes longer is cut off.
    let _ = tokio::time::timeout(DISCARD_TIME, whole).await;
}

/// The part of the path that the route leaves open.
async fn open_part(head: &mut Parts) -> Answer<String> {
    let parameters = RawPathParams::from_request_parts(head, &())
        .await
        .map_err(|_| Problem::bad_request("the path is not UTF-8"))?;
    Ok(parameters.iter().next().map(|(_, value)| value.to_owned()).unwrap_or_default())
}
