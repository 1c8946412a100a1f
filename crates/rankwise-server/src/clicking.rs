//! `/feedback`: clicks on lists that were shown, and `/live`: what they say.

use crate::app::App;
use crate::call::{Call, json};
use crate::counters::count;
use crate::problem::{Answer, Problem};
use crate::sessions::{ClickLog, ReportedClick, rate};
use axum::body::Body;
use axum::http::Response;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The most clicks in a request.
const MAX_CLICKS: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FeedbackBody {
    session: String,
    clicks: Vec<ReportedClick>,
}

fn log(app: &App) -> Answer<&ClickLog> {
    app.clicks
        .as_ref()
        .ok_or_else(|| Problem::not_found("this server keeps no log of clicks; start it with --log"))
}

/// Logs clicks. They are safe when the answer comes.
pub(crate) async fn feedback(app: Arc<App>, mut call: Call) -> Answer<Response<Body>> {
    let log = log(&app)?;
    call.parameters()?.end()?;
    let FeedbackBody { session, clicks } = call.json().await?;
    if !(1..=MAX_CLICKS).contains(&clicks.len()) {
        return Err(Problem::unusable(format!(
            "the request has {} clicks; it must have 1 to {MAX_CLICKS}",
            clicks.len()
        )));
    }
    let accepted = log.clicked(&session, clicks).await.inspect_err(|problem| {
        if problem.status.is_server_error() {
            count(&app.counters.unwritten);
        }
    })?;
    app.counters.clicks.fetch_add(accepted as u64, Ordering::Relaxed);
    json(&json!({ "accepted": accepted }))
}

/// Click-through by model, and which of two interleaved models wins.
pub(crate) async fn live(app: Arc<App>, call: Call) -> Answer<Response<Body>> {
    call.parameters()?.end()?;
    let live = log(&app)?.live()?;
    let rankers = live.by_ranker.iter().map(|(name, clicks)| {
        let (rate, interval) = clicks.rate();
        let by_rank = (1..).zip(&clicks.by_rank).filter(|(_, (shown, _))| *shown > 0);
        json!({
            "ranker": &**name,
            "sessions": clicks.sessions,
            "clicked_sessions": clicks.clicked,
            "clicks": clicks.clicks,
            "click_through": rate,
            "interval": interval,
            "by_rank": by_rank.map(at_rank).collect::<Vec<_>>(),
        })
    });
    json(&json!({ "rankers": rankers.collect::<Vec<_>>(), "interleaving": live.interleaving }))
}

fn at_rank((rank, &(shown, clicked)): (u32, &(u64, u64))) -> Value {
    let (click_through, interval) = rate(clicked, shown);
    json!({ "rank": rank, "shown": shown, "clicked": clicked, "click_through": click_through, "interval": interval })
}
