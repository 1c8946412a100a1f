//! Findings as files and tables for other programs and for papers.
//!
//! All tables of systems come from [`sections`], so that they show the same numbers. CSV and Parquet files hold exact
//! numbers; tables round to four decimals.

mod csv;
mod latex;
mod markdown;
#[cfg(feature = "parquet")]
mod parquet;

pub(super) use csv::Sheet;
pub use csv::{per_query_csv, times_csv, trials_csv};
pub use latex::latex;
pub use markdown::markdown;
pub(super) use markdown::{escaped, table};
#[cfg(feature = "parquet")]
pub use parquet::write_per_query_parquet;

use super::ComparisonOptions;
use super::findings::{DataFindings, Findings, Standing, Times};
use crate::significance::ConfidenceInterval;

/// A system with a p below this level is marked as worse than the best.
pub const LEVEL: f64 = 0.05;

/// One table of systems: a data set, or all of them together.
#[derive(Debug, Clone, PartialEq)]
pub struct Section<'a> {
    /// The data set's name; none for all of them together.
    pub data: Option<&'a str>,
    /// Test queries.
    pub queries: usize,
    /// Folds, of all data sets where they are taken together.
    pub folds: usize,
    /// The systems, best first; those that failed last, in the order of the experiment.
    pub rows: Vec<SystemRow<'a>>,
}

/// One system in a table.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemRow<'a> {
    /// The system's name.
    pub system: &'a str,
    /// Whether it failed; then there are no values.
    pub failed: bool,
    /// Its mean over queries for each of the [`tabulated`] metrics.
    pub means: Vec<Option<f64>>,
    /// The 95 % confidence interval of the selection metric's mean.
    pub interval: Option<ConfidenceInterval>,
    /// p against the best by the selection metric, with Holm's correction for all pairs; none for the best itself.
    pub p: Option<f64>,
    /// Whether it is worse than the best at the [`LEVEL`].
    pub worse: bool,
    /// Seconds of training with the chosen settings.
    pub seconds: Option<f64>,
}

impl Section<'_> {
    /// The data set's name, or `all data sets together`.
    pub fn title(&self) -> &str {
        self.data.unwrap_or("all data sets together")
    }

    /// The highest mean of each metric, as [shown](four) in tables.
    pub fn best(&self) -> Vec<Option<String>> {
        let columns = self.rows.first().map_or(0, |row| row.means.len());
        let highest = |m: usize| self.rows.iter().filter_map(|row| row.means[m]).max_by(f64::total_cmp);
        (0..columns).map(|m| highest(m).map(four)).collect()
    }
}

/// The numbers of the metrics that tables show: those asked for, in that order, preceded by the selection metric where
/// it is not one of them.
pub fn tabulated(findings: &Findings) -> Vec<usize> {
    let selection = findings.metrics.iter().position(|m| *m == findings.selection);
    let selection = selection.filter(|&s| s >= findings.shown);
    selection.into_iter().chain(0..findings.shown.min(findings.metrics.len())).collect()
}

/// Every table: one per data set, then one for all of them where there are several.
pub fn sections<'a>(findings: &'a Findings, times: &Times) -> Vec<Section<'a>> {
    let of_data = |data: &'a DataFindings| Section {
        data: Some(&data.name),
        queries: data.standing.queries,
        folds: data.folds,
        rows: rows(findings, &data.standing, times, Some(&data.name)),
    };
    let of_all = |standing| Section {
        data: None,
        queries: findings.data.iter().map(|data| data.standing.queries).sum(),
        folds: findings.data.iter().map(|data| data.folds).sum(),
        rows: rows(findings, standing, times, None),
    };
    findings.data.iter().map(of_data).chain(findings.pooled.iter().map(of_all)).collect()
}

fn rows<'a>(
    findings: &'a Findings,
    standing: &Standing,
    times: &Times,
    data: Option<&str>,
) -> Vec<SystemRow<'a>> {
    let columns = tabulated(findings);
    let failed = (0..findings.systems.len()).filter(|system| !standing.order.contains(system));
    let row = |system: usize| {
        let name = findings.systems[system].name.as_str();
        let pair = standing.against_best_of(system);
        SystemRow {
            system: name,
            failed: !standing.order.contains(&system),
            means: columns.iter().map(|&m| standing.means.get(system, m)).collect(),
            interval: standing.intervals[system],
            p: pair.map(|pair| pair.p_permutation_holm),
            worse: pair.is_some_and(|pair| pair.difference < 0.0 && pair.p_permutation_holm < LEVEL),
            seconds: train_seconds(times, data, name),
        }
    };
    standing.order.iter().copied().chain(failed).map(row).collect()
}

/// Seconds of training on one data set or on all; none where any of them is unknown.
fn train_seconds(times: &Times, data: Option<&str>, system: &str) -> Option<f64> {
    let wanted = |name: &str| data.is_none_or(|data| data == name);
    let known: Vec<Option<f64>> = times
        .systems
        .iter()
        .filter(|t| t.system == system && wanted(&t.data))
        .map(|t| t.train_seconds)
        .collect();
    if known.is_empty() { None } else { known.into_iter().sum() }
}

/// Notes to print below the tables: how the numbers were computed.
pub fn notes(findings: &Findings, times: &Times) -> Vec<String> {
    let (selection, options) = (&findings.selection, ComparisonOptions::default());
    let repeats = match findings.repeats {
        0 | 1 => String::new(),
        n => format!(", each the mean of {n} repeats with different seeds"),
    };
    let mut notes = vec![
        format!("Values are means over the test queries{}{repeats}; the best are bold.", weighted(findings)),
        format!(
            "{} % CI: bootstrap confidence interval of the mean of {selection} ({} resamples of the queries).",
            100.0 * options.confidence,
            options.resamples
        ),
    ];
    if findings.data.iter().any(|data| data.standing.all_pairs.is_some()) {
        notes.push(format!(
            "p: paired randomisation test of {selection} against the best system ({} random sign assignments, or all \
             of them where few queries differ), with Holm's correction for all pairs of systems.",
            options.permutations
        ));
    }
    if findings.has_choices() {
        notes.push(format!("Parameters were chosen by {selection} on validation queries only."));
    }
    notes.push(format!(
        "Metrics use the preset {} ({}). Seed {}; Rankwise {}.",
        findings.preset,
        findings.conventions.describe().join(", "),
        findings.seed,
        findings.version
    ));
    notes.extend(time_note(times));
    notes.extend(cut_short(findings));
    notes
}

/// How means are weighted, in a few words; nothing where every query counts alike.
pub fn weighted(findings: &Findings) -> &'static str {
    let has_weights = findings.data.iter().any(|data| data.query_weights.is_some());
    if has_weights { ", weighted by query weight, as are tests and intervals" } else { "" }
}

fn time_note(times: &Times) -> Option<String> {
    times.systems.iter().find(|t| t.train_seconds.is_some())?;
    let threads = if times.threads == 1 { "1 thread".into() } else { format!("{} threads", times.threads) };
    let parallel =
        if times.one_at_a_time { "" } else { "; jobs ran in parallel, so compare them only roughly" };
    Some(format!(
        "Seconds: training with the chosen parameters, summed over folds and repeats, on {threads}{parallel}."
    ))
}

/// A sentence that names the systems which a time limit cut short.
pub fn cut_short(findings: &Findings) -> Option<String> {
    let of_data = |data: &DataFindings| -> Vec<String> {
        let cut = data.systems.iter().zip(&findings.systems).filter(|(found, _)| found.cut_short);
        cut.map(|(_, system)| format!("{} on {}", system.name, data.name)).collect()
    };
    let cut: Vec<String> = findings.data.iter().flat_map(of_data).collect();
    let sentence = || {
        format!("A time limit cut training short, so these results depend on the clock: {}.", cut.join(", "))
    };
    (!cut.is_empty()).then(sentence)
}

/// The value of a metric for one system on one query; none where the query is skipped or the system failed.
fn value(data: &DataFindings, system: usize, metric: usize, query: usize) -> Option<f64> {
    data.systems[system].values.get(metric, query)
}

/// The value of a metric with four decimals.
pub fn four(value: f64) -> String {
    format!("{value:.4}")
}

/// Seconds with three digits or so.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 9.995 => format!("{s:.2}"),
        s if s < 99.95 => format!("{s:.1}"),
        s => format!("{s:.0}"),
    }
}

/// A probability; a small one is shown as `<0.0001`, not as 0.
pub fn probability(p: f64) -> String {
    if p > 0.0 && p < 0.0001 { "<0.0001".into() } else { four(p) }
}

/// The two ends of a confidence interval.
pub fn range(interval: ConfidenceInterval) -> String {
    format!("{:.4}…{:.4}", interval.low, interval.high)
}
