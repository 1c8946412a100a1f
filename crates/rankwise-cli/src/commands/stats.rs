use crate::input::Input;
use crate::{output, table};
use anyhow::Result;
use clap::Args;
use rankwise::data::{self, Stats as Found};
use std::path::PathBuf;

/// Summarise data: queries, labels and features, with warnings about what looks wrong.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  rankwise stats train.txt\n  rankwise stats S1.txt S2.txt S3.txt --features\n  \
    rankwise stats train.txt --json | jq .grades"
)]
pub(crate) struct Stats {
    /// The data; several files are read as one data set
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Also show one line per feature
    #[arg(long)]
    features: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    reading: Input,
}

impl Stats {
    pub(crate) fn run(self) -> Result<()> {
        let found = data::stats(&self.reading.read_all(&self.files)?);
        if self.json {
            return output::print_json(&serde_json::to_value(found)?);
        }
        let mut text = format!("{}\n{}", summary(&found), grades(&found));
        if self.features {
            text.push('\n');
            text.push_str(&features(&found));
        }
        output::print(&text)?;
        output::notes(&found.oddities);
        Ok(())
    }
}

fn summary(found: &Found) -> String {
    let sizes = &found.documents_per_query;
    let columns = |list: &[usize]| match list {
        [] => "0".to_string(),
        _ => format!("{}: {}", list.len(), names(found, list)),
    };
    let mut lines = table::Columns::new(&["", ""]).headless();
    let mut line = |what: &str, value: String| lines.row([what.to_string(), value]);
    line("queries", output::thousands(found.queries));
    line("documents", output::thousands(found.documents));
    line(
        "documents per query",
        format!("{} to {}, median {}, mean {:.1}", sizes.min, sizes.max, sizes.median, sizes.mean),
    );
    line("queries without relevant documents", output::thousands(found.queries_without_relevant));
    line("queries with one grade only", output::thousands(found.queries_of_one_grade));
    line("queries with one document", output::thousands(found.queries_of_one_document));
    if found.distinct_labels > found.grades.len() {
        line("different labels", output::thousands(found.distinct_labels));
    }
    line("features", output::thousands(found.features));
    line("constant features", columns(&found.constant_features));
    line("features constant within queries", columns(&found.query_features));
    let groups: Vec<String> =
        found.duplicate_features.iter().map(|group| names(found, group).replace(", ", " = ")).collect();
    line("identical features", if groups.is_empty() { "0".into() } else { groups.join("; ") });
    line(
        "missing values",
        format!(
            "{} in {}",
            output::thousands(found.missing_values),
            output::count(found.features_with_missing, "feature", "features")
        ),
    );
    line("duplicate documents", output::thousands(found.duplicate_documents));
    line("  with conflicting grades", output::thousands(found.conflicting_documents));
    line("documents with all features 0", output::thousands(found.zero_documents));
    line(
        "in memory",
        format!(
            "{}, {:.0} % nonzero, {:.1} MB",
            found.layout,
            100.0 * found.density,
            found.memory_bytes as f64 / 1e6
        ),
    );
    let kept = [
        (found.has_document_ids, "document ids"),
        (found.has_comments, "comments"),
        (found.has_query_weights, "query weights"),
        (found.has_positions, "positions"),
    ];
    let kept: Vec<&str> = kept.iter().filter(|(has, _)| *has).map(|(_, what)| *what).collect();
    line("also has", if kept.is_empty() { "–".into() } else { kept.join(", ") });
    lines.render()
}

/// The names of the first ten of `columns`.
fn names(found: &Found, columns: &[usize]) -> String {
    let shown: Vec<&str> = columns.iter().take(10).map(|&c| found.feature_stats[c].name.as_str()).collect();
    format!("{}{}", shown.join(", "), if columns.len() > 10 { " …" } else { "" })
}

fn grades(found: &Found) -> String {
    let binned = found.grades.iter().any(|grade| grade.up_to.is_some());
    let header = if binned { ">label" } else { ">grade" };
    let mut table = table::Columns::new(&[header, ">documents", ">fraction"]);
    for grade in &found.grades {
        table.row([
            match grade.up_to {
                Some(end) => format!("{} to {}", significant(grade.grade.into()), significant(end.into())),
                None => grade.grade.to_string(),
            },
            output::thousands(grade.documents),
            format!("{:.2} %", 100.0 * grade.fraction),
        ]);
    }
    table.render()
}

fn features(found: &Found) -> String {
    let mut table = table::Columns::new(&["feature", ">min", ">max", ">mean", ">zero", ">missing"]);
    for f in &found.feature_stats {
        table.row([
            f.name.clone(),
            significant(f64::from(f.min)),
            significant(f64::from(f.max)),
            significant(f.mean),
            format!("{:.1} %", 100.0 * f.zero_fraction),
            format!("{:.1} %", 100.0 * f.missing_fraction),
        ]);
    }
    table.render()
}

/// Five significant digits, without trailing zeros.
fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !(1e-4..1e7).contains(&value.abs()) {
        return format!("{value:.4e}");
    }
    let digits = (4 - value.abs().log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::significant;

    #[test]
    fn numbers_are_shown_to_five_digits() {
        let shown = [0.0, 1.0, -0.123456, 1234567.0, 1.5e9, 3e-7, 100.0].map(significant);
        assert_eq!(shown, ["0", "1", "-0.12346", "1234567", "1.5000e9", "3.0000e-7", "100"]);
    }
}
