//! Whether the server works, and what it did.

use crate::app::App;
use crate::call::{Call, answer, json};
use crate::counters::{write_one, write_routes};
use crate::problem::{Answer, Problem};
use axum::body::Body;
use axum::http::Response;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Whether the process answers.
pub(crate) async fn health(_: Arc<App>, _: Call) -> Answer<Response<Body>> {
    json(&json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))
}

/// Whether requests should be sent to it.
pub(crate) async fn ready(app: Arc<App>, _: Call) -> Answer<Response<Body>> {
    if app.draining.load(Ordering::Relaxed) {
        return Err(Problem::busy("the server is about to end"));
    }
    let catalogue = app.models.now();
    if catalogue.all().next().is_none() {
        return Err(Problem::busy("the server has no model yet; an administrator can `PUT /v1/models/NAME`"));
    }
    let documents = catalogue.index.as_ref().map(|index| index.snapshot.len());
    json(&json!({ "status": "ready", "documents": documents, "models": catalogue.all().count() }))
}

/// Counts in the text format of Prometheus.
pub(crate) async fn metrics(app: Arc<App>, _: Call) -> Answer<Response<Body>> {
    let mut text = String::new();
    write_routes(&mut text, &app.routes);
    let counters = &app.counters;
    let counts: [(&str, &str, &AtomicU64); 8] = [
        ("refused", "Requests refused because there were too many.", &counters.refused),
        ("sessions", "Lists that were shown and logged.", &counters.sessions),
        ("clicks", "Clicks that were acknowledged.", &counters.clicks),
        ("judgments", "Judgments that were acknowledged.", &counters.judgments),
        ("unwritten_events", "Events that could not be written.", &counters.unwritten),
        ("shadow_rankings", "Rankings by the shadow model.", &counters.shadows),
        ("background_failures", "Work in the background that failed.", &counters.failures),
        ("model_swaps", "Changes of models.", &counters.swaps),
    ];
    for (name, help, counter) in counts {
        let value = counter.load(Ordering::Relaxed);
        write_one(&mut text, &format!("rankwise_{name}_total"), "counter", help, value);
    }
    let gauge =
        |text: &mut String, name: &str, help: &str, value: f64| write_one(text, name, "gauge", help, value);
    let connections = counters.connections.load(Ordering::Relaxed) as f64;
    gauge(&mut text, "rankwise_connections", "Open connections.", connections);
    gauge(
        &mut text,
        "rankwise_requests_in_flight",
        "Requests that wait or run.",
        app.pool.in_flight() as f64,
    );
    gauge(&mut text, "rankwise_uptime_seconds", "Time since the start.", app.started.elapsed().as_secs_f64());
    crate::counters::header(
        &mut text,
        "rankwise_model_version",
        "gauge",
        "The version of each model that serves.",
    );
    for served in app.models.now().all() {
        text += &format!("rankwise_model_version{{model=\"{}\"}} {}\n", served.name, served.version);
    }
    Ok(answer("text/plain; version=0.0.4; charset=utf-8", text))
}
