//! The report of an experiment: one self-contained HTML file that loads nothing from the network.
//!
//! The page is a fixed template with inlined style sheet and scripts. It holds the findings as JSON, and the scripts
//! draw them. Scripts insert names as text, never as markup.

use super::findings::{Curve, DataFindings, Findings, SystemFindings, Times};
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter};
use std::io;

const TEMPLATE: &str = include_str!("report/report.html");
const STYLE: &str = include_str!("report/report.css");
/// The order matters: each file uses only what earlier ones define, and the last one draws the page.
const SCRIPTS: [&str; 8] = [
    include_str!("report/base.js"),
    include_str!("report/chart.js"),
    include_str!("report/leaderboard.js"),
    include_str!("report/lines.js"),
    include_str!("report/queries.js"),
    include_str!("report/search.js"),
    include_str!("report/about.js"),
    include_str!("report/page.js"),
];

/// Numbers are rounded to this many significant digits, so that different values of a metric stay different.
const DIGITS: usize = 8;

/// A training curve keeps at most about this many points, more than a screen shows.
const CURVE_POINTS: usize = 250;

/// The report as one self-contained HTML file.
pub fn html(findings: &Findings, times: &Times) -> String {
    let json = embed(findings, times);
    let scripts = SCRIPTS.concat();
    let mut page = String::with_capacity(TEMPLATE.len() + STYLE.len() + scripts.len() + json.len() + 256);
    let mut rest = TEMPLATE;
    let title = escape_markup(&findings.title);
    for (marker, text) in [
        ("{{title}}", title.as_str()),
        ("{{style}}", STYLE),
        ("{{findings}}", &json),
        ("{{scripts}}", &scripts),
    ] {
        let (before, after) =
            rest.split_once(marker).expect("the template holds every marker, in this order");
        page.push_str(before);
        page.push_str(text);
        rest = after;
    }
    page.push_str(rest);
    page
}

/// The data that the scripts read.
#[derive(Serialize)]
struct Embedded<'a> {
    findings: Findings,
    times: &'a Times,
    /// The seed as text: scripts hold numbers as f64, which cannot hold every u64.
    seed: String,
}

/// The JSON, safe inside a `script` element: `<`, `>`, `&` and line separators occur only within strings, where they
/// are escaped.
fn embed(findings: &Findings, times: &Times) -> String {
    let embedded = Embedded { findings: essentials(findings), times, seed: findings.seed.to_string() };
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Rounding);
    // By way of a value, so that the types of the findings are compiled for one kind of output only.
    let value = serde_json::to_value(&embedded).expect("findings are plain data");
    value.serialize(&mut serializer).expect("memory takes every write");
    let json = String::from_utf8(bytes).expect("JSON is UTF-8");
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => safe.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => safe.push(c),
        }
    }
    safe
}

/// The findings without what the report does not show: per-query values of all metrics but the selection metric, and
/// most points of long training curves.
fn essentials(findings: &Findings) -> Findings {
    let selection = findings.metrics.iter().position(|m| *m == findings.selection);
    Findings {
        name: findings.name.clone(),
        title: findings.title.clone(),
        about: findings.about.clone(),
        version: findings.version.clone(),
        seed: findings.seed,
        repeats: findings.repeats,
        selection: findings.selection.clone(),
        metrics: findings.metrics.clone(),
        shown: findings.shown,
        preset: findings.preset.clone(),
        conventions: findings.conventions.clone(),
        baseline: findings.baseline,
        systems: findings.systems.clone(),
        data: findings.data.iter().map(|d| data_essentials(d, selection)).collect(),
        pooled: findings.pooled.clone(),
        expectations: findings.expectations.clone(),
        failures: findings.failures.clone(),
    }
}

fn data_essentials(data: &DataFindings, selection: Option<usize>) -> DataFindings {
    DataFindings {
        name: data.name.clone(),
        summary: data.summary.clone(),
        folds: data.folds,
        query_ids: data.query_ids.clone(),
        query_folds: data.query_folds.clone(),
        query_weights: data.query_weights.clone(),
        standing: data.standing.clone(),
        systems: data.systems.iter().map(|s| system_essentials(s, selection)).collect(),
    }
}

fn system_essentials(system: &SystemFindings, selection: Option<usize>) -> SystemFindings {
    SystemFindings {
        values: system.values.only(selection),
        chosen: system.chosen.clone(),
        trials: system.trials.clone(),
        curves: system.curves.iter().map(thinned).collect(),
        worst: system.worst.clone(),
        cut_short: system.cut_short,
    }
}

/// Every n-th point, and always the last.
fn thinned(curve: &Curve) -> Curve {
    let step = curve.points.len().div_ceil(CURVE_POINTS).max(1);
    let last = curve.points.len().saturating_sub(1);
    let kept = curve.points.iter().enumerate().filter(|(i, _)| i % step == 0 || *i == last);
    Curve { what: curve.what.clone(), points: kept.map(|(_, point)| *point).collect(), ..*curve }
}

/// Writes compact JSON with numbers rounded to [`DIGITS`].
struct Rounding;

impl Formatter for Rounding {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        let rounded: f64 =
            format!("{value:.*e}", DIGITS - 1).parse().expect("Rust reads the numbers it writes");
        CompactFormatter.write_f64(writer, rounded)
    }
}

/// Text escaped for an element or a quoted attribute.
fn escape_markup(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(c),
        }
    }
    escaped
}
