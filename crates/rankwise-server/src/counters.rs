//! What happened, for `/metrics` in the text format of Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the buckets of times, in seconds.
const BOUNDS: [f64; 14] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5];

/// Counts of requests to one route.
#[derive(Default)]
pub(crate) struct RouteCounters {
    /// By the first digit of the status, from 1 to 5.
    by_class: [AtomicU64; 5],
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

/// Counts that no route has.
#[derive(Default)]
pub(crate) struct Counters {
    /// Requests that were refused because there were too many.
    pub(crate) refused: AtomicU64,
    /// Lists that were shown and logged.
    pub(crate) sessions: AtomicU64,
    /// Clicks that were acknowledged.
    pub(crate) clicks: AtomicU64,
    /// Judgments that were acknowledged.
    pub(crate) judgments: AtomicU64,
    /// Events that could not be written.
    pub(crate) unwritten: AtomicU64,
    /// Work in the background that failed.
    pub(crate) failures: AtomicU64,
    /// Rankings by the shadow model.
    pub(crate) shadows: AtomicU64,
    /// Connections that are open.
    pub(crate) connections: AtomicU64,
    /// Versions of models that were accepted.
    pub(crate) swaps: AtomicU64,
}

/// Counts one more.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl RouteCounters {
    pub(crate) fn observe(&self, status: u16, took: Duration) {
        let class = usize::from(status / 100).clamp(1, 5) - 1;
        count(&self.by_class[class]);
        let seconds = took.as_secs_f64();
        count(&self.buckets[BOUNDS.partition_point(|bound| *bound < seconds)]);
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// The lines of this route, which is called `route`.
    fn write(&self, text: &mut String, route: &str) {
        let mut total = 0;
        for (bucket, bound) in self.buckets.iter().zip(BOUNDS.map(Some).into_iter().chain([None])) {
            total += bucket.load(Ordering::Relaxed);
            let bound = bound.map_or("+Inf".to_owned(), |bound| bound.to_string());
            let _ =
                writeln!(text, "rankwise_request_seconds_bucket{{route=\"{route}\",le=\"{bound}\"}} {total}");
        }
        let seconds = self.nanoseconds.load(Ordering::Relaxed) as f64 / 1e9;
        let _ = writeln!(text, "rankwise_request_seconds_sum{{route=\"{route}\"}} {seconds}");
        let _ = writeln!(text, "rankwise_request_seconds_count{{route=\"{route}\"}} {total}");
    }
}

/// The lines of all routes that were asked for. `routes` has their names.
pub(crate) fn write_routes(text: &mut String, routes: &[(String, RouteCounters)]) {
    let was_asked =
        |counters: &RouteCounters| counters.by_class.iter().any(|n| n.load(Ordering::Relaxed) > 0);
    let asked: Vec<_> = routes.iter().filter(|(_, counters)| was_asked(counters)).collect();
    header(text, "rankwise_requests_total", "counter", "Requests by route and class of status.");
    for (route, counters) in &asked {
        for (class, count) in (1..).zip(&counters.by_class) {
            let count = count.load(Ordering::Relaxed);
            if count > 0 {
                let _ = writeln!(
                    text,
                    "rankwise_requests_total{{route=\"{route}\",status=\"{class}xx\"}} {count}"
                );
            }
        }
    }
    header(text, "rankwise_request_seconds", "histogram", "Time from the head of a request to its answer.");
    asked.iter().for_each(|(route, counters)| counters.write(text, route));
}

/// One number without labels.
pub(crate) fn write_one(
    text: &mut String,
    name: &str,
    kind: &str,
    help: &str,
    value: impl std::fmt::Display,
) {
    header(text, name, kind, help);
    let _ = writeln!(text, "{name} {value}");
}

/// What Prometheus wants to know of a metric.
pub(crate) fn header(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cumulative() {
        let counters = RouteCounters::default();
        for (status, micros) in [(200, 50), (200, 100), (404, 3000), (503, 9_000_000)] {
            counters.observe(status, Duration::from_micros(micros));
        }
        let mut text = String::new();
        write_routes(
            &mut text,
            &[("GET /x".to_owned(), counters), ("GET /y".to_owned(), RouteCounters::default())],
        );
        for line in [
            "rankwise_requests_total{route=\"GET /x\",status=\"2xx\"} 2",
            "rankwise_requests_total{route=\"GET /x\",status=\"4xx\"} 1",
            "rankwise_request_seconds_bucket{route=\"GET /x\",le=\"0.0001\"} 2",
            "rankwise_request_seconds_bucket{route=\"GET /x\",le=\"0.005\"} 3",
            "rankwise_request_seconds_bucket{route=\"GET /x\",le=\"2.5\"} 3",
            "rankwise_request_seconds_bucket{route=\"GET /x\",le=\"+Inf\"} 4",
            "rankwise_request_seconds_sum{route=\"GET /x\"} 9.00315",
            "rankwise_request_seconds_count{route=\"GET /x\"} 4",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("/y"));
    }
}
