//! The output directory of an experiment: manifest, findings, tables and report.

use super::export::{latex, markdown, per_query_csv, times_csv, trials_csv};
use super::findings::{Findings, Times};
use super::report;
use super::run::Manifest;
use crate::data::AtomicFile;
use crate::error::{Error, Result};
use serde::Serialize;
use std::path::Path;

/// The journal's name in the directory.
pub(super) const JOURNAL: &str = "journal.jsonl";

/// The report's name in the directory.
pub const REPORT: &str = "report.html";

/// Every file that a run may write there, except the journal and the models.
pub const FILES: [&str; 10] = [
    "manifest.json",
    "findings.json",
    "per_query.csv",
    "per_query.parquet",
    "trials.csv",
    "times.csv",
    "times.json",
    "leaderboard.md",
    "leaderboard.tex",
    REPORT,
];

/// Writes `manifest.json`; `command` is the command that was typed.
pub(super) fn write_manifest(directory: &Path, manifest: &Manifest, command: &str) -> Result<()> {
    #[derive(Serialize)]
    struct Written<'a> {
        command: &'a str,
        #[serde(flatten)]
        manifest: &'a Manifest,
    }
    put(directory, "manifest.json", &json(&Written { command, manifest })?)
}

/// Writes everything except the manifest and the journal. Two runs of the same experiment differ only in files that
/// show times: `times.csv`, `times.json`, the tables and the report.
pub fn write_results(directory: &Path, findings: &Findings, times: &Times) -> Result<()> {
    put(directory, "findings.json", &json(findings)?)?;
    put(directory, "per_query.csv", &per_query_csv(findings))?;
    put(directory, "trials.csv", &trials_csv(findings))?;
    put(directory, "times.csv", &times_csv(times))?;
    put(directory, "times.json", &json(times)?)?;
    put(directory, "leaderboard.md", &markdown(findings, times))?;
    put(directory, "leaderboard.tex", &latex(findings, times))?;
    put(directory, REPORT, &report::html(findings, times))?;
    #[cfg(feature = "parquet")]
    super::export::write_per_query_parquet(findings, &directory.join("per_query.parquet"))?;
    Ok(())
}

pub(super) fn json(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value);
    Ok(text.map_err(|e| Error::data(format!("the findings cannot be written as JSON: {e}")))? + "\n")
}

pub(super) fn put(directory: &Path, name: &str, text: &str) -> Result<()> {
    let mut file = AtomicFile::create(&directory.join(name))?;
    file.put(text.as_bytes())?;
    file.commit()
}
