//! The output files of a study: JSON with everything, the table as CSV, the charts, and a Markdown page.

use super::super::directory::{json, put};
use super::super::export::{escaped, table};
use super::svg::svg;
use super::{Study, StudyEntry};
use crate::error::{Error, Result};
use serde::Serialize;
use std::path::Path;

/// Rows of the table that the page shows.
const ROWS_SHOWN: usize = 32;
/// The first key of a study's JSON, by which its directory is known again, and the format's version.
const MARK: &str = "rankwise_study";
const VERSION: u32 = 1;

/// The files of the study called `name`; the first one identifies it.
pub fn file_names(name: &str) -> [String; 4] {
    ["json", "csv", "svg", "md"].map(|extension| format!("{name}.{extension}"))
}

/// Rejects a directory with files of these names that are not from an earlier run of `study`.
pub fn check_directory(directory: &Path, study: &StudyEntry) -> Result<()> {
    let names = file_names(study.card.name);
    let Some(there) = names.iter().find(|name| directory.join(name).exists()) else { return Ok(()) };
    let is_ours = || {
        let text = std::fs::read(directory.join(&names[0])).ok()?;
        let value: serde_json::Value = serde_json::from_slice(&text).ok()?;
        Some(value.get(MARK).is_some() && value.get("study")?.as_str()? == study.card.name)
    };
    if is_ours() == Some(true) {
        return Ok(());
    }
    Err(Error::data(format!(
        "{} exists and is not from an earlier run of study {}; choose another directory, or move the file away",
        directory.join(there).display(),
        study.card.name
    )))
}

/// Writes the files of a study into `directory`, in place of those of an earlier run of it.
pub fn write(directory: &Path, study: &Study) -> Result<()> {
    #[derive(Serialize)]
    struct Marked<'a> {
        rankwise_study: u32,
        #[serde(flatten)]
        study: &'a Study,
    }
    check_directory(directory, super::find(study.study)?)?;
    let texts = [
        json(&Marked { rankwise_study: VERSION, study })?,
        study.table.csv(),
        svg(&study.title, &study.table, &study.charts),
        markdown(study),
    ];
    file_names(study.study).iter().zip(&texts).try_for_each(|(name, text)| put(directory, name, text))
}

/// The page: conclusions, the paper's statements, charts, and an excerpt of the table.
pub fn markdown(study: &Study) -> String {
    let [_, csv, svg, _] = file_names(study.study);
    let list = |sentences: &[String]| -> String {
        sentences.iter().map(|sentence| format!("- {}\n", escaped(sentence))).collect()
    };
    let paper: Vec<String> =
        study.paper.iter().map(|c| format!("{} ({}): {}", c.citation, c.place, c.says)).collect();
    let shown = study.table.excerpt(ROWS_SHOWN);
    let header = study.table.columns.iter().map(|c| escaped(&c.name)).collect();
    let mut lines: Vec<Vec<String>> = vec![header];
    lines.extend(shown.iter().map(|row| row.iter().map(|cell| escaped(&cell.shown())).collect()));
    let meanings: Vec<String> =
        study.table.columns.iter().map(|c| format!("{}: {}", c.name, c.meaning)).collect();
    format!(
        "# {title}\n\n{interrupted}## Found\n\n{found}\n## In the paper\n\n{paper}\n![{title}]({svg})\n\n## Numbers\n\n\
         {count} of {all} rows; all of them, to the last digit, are in [{csv}]({csv}).\n\n{table}\n{meanings}\n\
         ## How it was made\n\n{made}",
        title = escaped(&study.title),
        interrupted = if study.interrupted { "**It was stopped before it was complete.**\n\n" } else { "" },
        found = list(&study.conclusion),
        paper = list(&paper),
        count = shown.len(),
        all = study.table.rows.len(),
        table = table(&lines, 1),
        meanings = list(&meanings),
        made = list(&study.made),
    )
}
