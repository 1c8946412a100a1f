use crate::input::Input;
use crate::{output, table};
use anyhow::{Result, bail, ensure};
use clap::Args;
use rankwise::data::{CleanReport, Cleaner, Format, Normalizer, write};
use std::path::PathBuf;

/// Clean and scale data, and report what was dropped.
#[derive(Args)]
#[command(
    after_help = "With both --clean and --normalize, the data is scaled first: cleaning compares the features that are learned from.\n\n\
    Examples:\n  rankwise prepare train.txt -o scaled.txt --normalize min-max\n  \
    rankwise prepare train.txt -o clean.txt \\\n      --clean zero-rows,conflicts,empty-queries\n  \
    rankwise prepare train.txt -o clean.txt --clean near:side=bad:cosine=0.995"
)]
pub(crate) struct Prepare {
    /// The data to prepare
    #[arg(value_name = "FILE")]
    input: PathBuf,

    /// The file to write
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// Scale the features within each query: min-max, z-score, log, or several separated by commas
    #[arg(long, value_name = "HOW")]
    normalize: Option<String>,

    /// Drop documents and queries in these steps, separated by commas: zero-rows, conflicts, near, empty-queries; or
    /// papers for all four. A step may have options, as in near:side=bad:cosine=0.995
    #[arg(long, value_name = "STEPS")]
    clean: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    reading: Input,
}

impl Prepare {
    pub(crate) fn run(self) -> Result<()> {
        if self.normalize.is_none() && self.clean.is_none() {
            bail!("choose what to do: --normalize min-max, --clean papers, or both");
        }
        ensure!(
            !(self.json && self.output.as_os_str() == "-"),
            "--json and `-o -` would both write to standard output; give -o a file"
        );
        let normalizer = self.normalize.as_deref().map(Normalizer::parse).transpose()?;
        let cleaner = self.clean.as_deref().map(Cleaner::parse).transpose()?;
        Format::to_write(&self.output)?;
        output::prepare_to_write(&self.output, &[("the data", &self.input)])?;
        let mut data = self.reading.read(&self.input)?;
        if let Some(normalizer) = normalizer {
            // Scaled features are no longer those that a search computes.
            data = normalizer.apply(data)?.with_source(None)?;
        }
        let mut report = None;
        if let Some(cleaner) = cleaner {
            let (cleaned, what_went) = cleaner.clean(data)?;
            data = cleaned;
            report = Some(what_went);
        }
        output::notes(&write(&data, &self.output, None)?);
        match report {
            report if self.json => output::print_json(&serde_json::json!({
                "documents": data.len(), "queries": data.query_count(), "cleaning": report,
            })),
            Some(report) if self.output.as_os_str() == "-" => {
                output::note(table_of(&report).trim_end());
                Ok(())
            }
            Some(report) => output::print(&table_of(&report)),
            None => Ok(()),
        }
    }
}

fn table_of(report: &CleanReport) -> String {
    let mut table = table::Columns::new(&["dropped by", ">documents", ">queries", "by label", "options"]);
    for dropped in &report.steps {
        let grades: Vec<String> = dropped.grades.iter().map(|(g, n)| format!("{g}: {n}")).collect();
        let (name, options) = dropped.step.split_once(':').unwrap_or((&dropped.step, ""));
        table.row([
            name.to_string(),
            output::thousands(dropped.documents),
            output::thousands(dropped.queries),
            grades.join(", "),
            options.replace(':', " "),
        ]);
    }
    format!(
        "{}\n{} of {} and {} of {} remain.\n",
        table.render(),
        output::thousands(report.documents_after),
        output::count(report.documents_before, "document", "documents"),
        output::thousands(report.queries_after),
        output::count(report.queries_before, "query", "queries")
    )
}
