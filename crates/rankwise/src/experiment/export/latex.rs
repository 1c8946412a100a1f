//! Tables in LaTeX, for a paper: `\input` the file where `\usepackage{booktabs}` is loaded.

use super::super::findings::{Findings, Times};
use super::{LEVEL, Section, SystemRow, four, notes, seconds, sections, tabulated};

const DAGGER: &str = r"$^\dagger$";

/// One table per data set and one for all of them, the best values bold. A dagger marks systems that are worse than
/// the best by the selection metric at the [`LEVEL`], with Holm's correction for all pairs.
pub fn latex(findings: &Findings, times: &Times) -> String {
    let mut text = format!(
        "% {}, made by Rankwise {}. Needs \\usepackage{{booktabs}}.\n",
        one_line(&findings.title),
        one_line(&findings.version)
    );
    notes(findings, times).iter().for_each(|note| text += &format!("% {}\n", one_line(note)));
    sections(findings, times).iter().for_each(|section| text += &table(findings, section));
    text
}

fn table(findings: &Findings, section: &Section<'_>) -> String {
    let has_seconds = section.rows.iter().any(|row| row.seconds.is_some());
    let metrics = tabulated(findings);
    let mut header = vec!["System".to_owned()];
    header.extend(metrics.iter().map(|&m| escaped(&findings.metrics[m])));
    header.extend(has_seconds.then(|| "Seconds".into()));
    let alignment = format!("l{}", "r".repeat(header.len() - 1));
    let selection = metrics.iter().position(|&m| findings.metrics[m] == findings.selection);
    let best = section.best();
    let line = |cells: Vec<String>| format!("    {} \\\\\n", cells.join(" & "));
    let rows: String =
        section.rows.iter().map(|row| line(cells(row, &best, selection, has_seconds))).collect();
    format!(
        "\n\\begin{{table}}\n  \\centering\n  \\caption{{{}}}\n  \\label{{tab:{}}}\n  \\begin{{tabular}}{{{alignment}}}\n    \
         \\toprule\n{}    \\midrule\n{rows}    \\bottomrule\n  \\end{{tabular}}\n\\end{{table}}\n",
        caption(findings, section),
        label(&format!("{} {}", findings.name, section.data.unwrap_or("all"))),
        line(header)
    )
}

fn cells(
    row: &SystemRow<'_>,
    best: &[Option<String>],
    selection: Option<usize>,
    has_seconds: bool,
) -> Vec<String> {
    let mut cells = vec![escaped(row.system)];
    for (column, (mean, best)) in row.means.iter().zip(best).enumerate() {
        let shown = or_dash(mean.map(four));
        let mut cell = if Some(&shown) == best.as_ref() { format!("\\textbf{{{shown}}}") } else { shown };
        if row.worse && Some(column) == selection {
            cell += DAGGER;
        }
        cells.push(cell);
    }
    cells.extend(has_seconds.then(|| or_dash(row.seconds.map(seconds))));
    cells
}

fn or_dash(cell: Option<String>) -> String {
    cell.unwrap_or_else(|| "--".into())
}

fn caption(findings: &Findings, section: &Section<'_>) -> String {
    let mut caption = format!(
        "{}: {} (queries: {}, folds: {}). The best values are bold.",
        escaped(&findings.title),
        escaped(section.title()),
        section.queries,
        section.folds
    );
    if section.rows.iter().any(|row| row.worse) {
        caption += &format!(
            " {DAGGER}: worse than the best by {} (paired randomisation test with Holm's correction for all pairs, $p < {LEVEL}$).",
            escaped(&findings.selection)
        );
    }
    caption
}

/// A label of letters, digits and hyphens only.
fn label(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// Text for a comment, which ends with its line.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Text escaped for LaTeX, also in a table cell: `[` and `*` would be read as options of the row before, and two
/// hyphens as a dash.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => shown.extend(['\\', c]),
            '\\' => shown += r"\textbackslash{}",
            '~' => shown += r"\textasciitilde{}",
            '^' => shown += r"\textasciicircum{}",
            '<' => shown += r"\textless{}",
            '>' => shown += r"\textgreater{}",
            '|' => shown += r"\textbar{}",
            '[' | ']' | '*' => shown.extend(['{', c, '}']),
            '-' if shown.ends_with('-') => shown += "{}-",
            c if c.is_control() => shown.push(' '),
            c => shown.push(c),
        }
    }
    shown
}
