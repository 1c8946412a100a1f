//! `/models`: which models serve, and changes of them.

use crate::app::App;
use crate::call::{Call, json, json_with};
use crate::catalogue::{Models, Served};
use crate::problem::{Answer, Problem};
use crate::traffic;
use axum::body::Body;
use axum::http::{Response, StatusCode};
use std::sync::Arc;
use std::time::Duration;

/// The largest model file that can be sent.
const MAX_MODEL: usize = 256 << 20;

/// How long a model file may take to arrive.
const UPLOAD_TIME: Duration = Duration::from_secs(300);

/// The models and their versions.
pub(crate) async fn list(app: Arc<App>, call: Call) -> Answer<Response<Body>> {
    call.parameters()?.end()?;
    json(&app.models.now().as_json())
}

/// A model file as the next version of a model. It is read and checked apart from requests, and then serves.
pub(crate) async fn put(app: Arc<App>, mut call: Call) -> Answer<Response<Body>> {
    call.parameters()?.end()?;
    let Ok(_one_at_a_time) = app.uploading.try_lock() else {
        return Err(Problem {
            retry_after: Some(5),
            ..Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "another model is being loaded; try again when it serves",
            )
        });
    };
    (call.max_body, call.deadline) = (MAX_MODEL, UPLOAD_TIME);
    let bytes = call.bytes().await?;
    let (shared, name) = (Arc::clone(&app), std::mem::take(&mut call.name));
    let served = blocking(move || shared.models.put(&name, &bytes)).await?;
    app.changed();
    let status = if served.version == 1 { StatusCode::CREATED } else { StatusCode::OK };
    json_with(status, &served.as_json())
}

/// Makes a model the default.
pub(crate) async fn promote(app: Arc<App>, call: Call) -> Answer<Response<Body>> {
    change(app, call, Models::promote).await
}

/// Returns to the version before.
pub(crate) async fn roll_back(app: Arc<App>, call: Call) -> Answer<Response<Body>> {
    change(app, call, Models::roll_back).await
}

/// Removes a model that nobody is sent to.
pub(crate) async fn remove(app: Arc<App>, call: Call) -> Answer<Response<Body>> {
    if traffic::names(&app.settings).any(|name| *name == call.name) {
        let detail = format!("the server was started to show `{}` to users, so it stays", call.name);
        return Err(Problem::new(StatusCode::CONFLICT, detail));
    }
    change(app, call, Models::remove).await
}

async fn change(
    app: Arc<App>,
    call: Call,
    change: fn(&Models, &str) -> Answer<Arc<Served>>,
) -> Answer<Response<Body>> {
    call.parameters()?.end()?;
    let shared = Arc::clone(&app);
    let served = blocking(move || change(&shared.models, &call.name)).await?;
    app.changed();
    json(&served.as_json())
}

/// Runs what takes long on a thread of its own.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Answer<T> + Send + 'static,
) -> Answer<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(answer) => answer,
        Err(_) => Err(Problem::internal("the request failed in a way that was not foreseen")),
    }
}
