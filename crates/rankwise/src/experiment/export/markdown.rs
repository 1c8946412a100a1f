//! Tables in Markdown, for a README, an issue or a notebook.

use super::super::findings::{Expectation, Findings, Times};
use super::{Section, four, notes, probability, range, seconds, sections, tabulated};
use crate::experiment::ComparisonOptions;

/// The experiment's tables with notes on how the numbers were computed, expected figures and failures.
pub fn markdown(findings: &Findings, times: &Times) -> String {
    let mut text = format!("# {}\n", escaped(&findings.title));
    if !findings.about.is_empty() {
        text += &format!("\n{}\n", escaped(&findings.about));
    }
    for section in sections(findings, times) {
        text += &format!(
            "\n## {}\n\nQueries: {}. Folds: {}.\n\n",
            escaped(section.title()),
            section.queries,
            section.folds
        );
        text += &systems_table(findings, &section);
    }
    text.push('\n');
    notes(findings, times).iter().for_each(|note| text += &format!("- {}\n", escaped(note)));
    if !findings.expectations.is_empty() {
        text += &format!("\n## Expected figures\n\n{}", expectations_table(&findings.expectations));
    }
    if !findings.failures.is_empty() {
        text += "\n## Failures\n\n";
        findings.failures.iter().for_each(|failure| text += &format!("- {}\n", escaped(failure)));
    }
    text
}

fn systems_table(findings: &Findings, section: &Section<'_>) -> String {
    let has_seconds = section.rows.iter().any(|row| row.seconds.is_some());
    let mut header = vec!["system".to_owned()];
    header.extend(tabulated(findings).iter().map(|&m| escaped(&findings.metrics[m])));
    header.push(format!("{} % CI", 100.0 * ComparisonOptions::default().confidence));
    header.push("p".into());
    header.extend(has_seconds.then(|| "seconds".into()));
    let best = section.best();
    let mut lines = vec![header];
    for row in &section.rows {
        let failed = if row.failed { " (failed)" } else { "" };
        let mut cells = vec![escaped(row.system) + failed];
        for (mean, best) in row.means.iter().zip(&best) {
            let shown = mean.map(four);
            cells.push(match shown {
                Some(shown) if Some(&shown) == best.as_ref() => format!("**{shown}**"),
                other => or_dash(other),
            });
        }
        cells.push(or_dash(row.interval.map(range)));
        cells.push(escaped(&or_dash(row.p.map(probability))));
        cells.extend(has_seconds.then(|| or_dash(row.seconds.map(seconds))));
        lines.push(cells);
    }
    table(&lines, 1)
}

fn expectations_table(expectations: &[Expectation]) -> String {
    let header = ["data", "system", "metric", "source", "expected", "found", "met"].map(str::to_owned);
    let row = |e: &Expectation| {
        let texts = [&e.data, &e.system, &e.metric, &e.source].map(|text| escaped(text));
        let met = if e.met { "yes" } else { "no" };
        let numbers = [format!("{} ± {}", e.value, e.within), or_dash(e.found.map(four)), met.into()];
        texts.into_iter().chain(numbers).collect()
    };
    let lines: Vec<Vec<String>> =
        std::iter::once(header.to_vec()).chain(expectations.iter().map(row)).collect();
    table(&lines, 4)
}

fn or_dash(cell: Option<String>) -> String {
    cell.unwrap_or_else(|| "–".into())
}

/// A table whose first `left` columns are left-aligned and the others right-aligned. Cells are padded, so that it also
/// reads well as plain text.
pub(in crate::experiment) fn table(lines: &[Vec<String>], left: usize) -> String {
    let length = |cell: &String| cell.chars().count();
    let width = |c: usize| lines.iter().map(|line| length(&line[c])).max().unwrap_or(0).max(3);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let rule = |(c, &width): (usize, &usize)| match c < left {
        true => format!(" {} |", "-".repeat(width)),
        false => format!(" {}: |", "-".repeat(width - 1)),
    };
    let row = |line: &Vec<String>| {
        let pad = |(c, (cell, width)): (usize, (&String, &usize))| {
            let space = " ".repeat(width - length(cell));
            if c < left { format!(" {cell}{space} |") } else { format!(" {space}{cell} |") }
        };
        let cells: String = line.iter().zip(&widths).enumerate().map(pad).collect();
        format!("|{cells}\n")
    };
    let rule: String = widths.iter().enumerate().map(rule).collect();
    let body: String = lines[1..].iter().map(row).collect();
    format!("{}|{rule}\n{body}", row(&lines[0]))
}

/// Text escaped for Markdown, on one line.
pub(in crate::experiment) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '#') {
            shown.push('\\');
        }
        shown.push(if c.is_control() { ' ' } else { c });
    }
    shown
}
