mod agree;
mod merge;

use anyhow::Result;
use clap::{Args, Subcommand};
use rankwise::labels::{JudgmentColumns, Judgments};
use std::path::{Path, PathBuf};

/// Labels from several judges: how well they agree, and one label per document.
#[derive(Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Judgments are a table with the columns query, document, judge and grade, and perhaps note and time.\n\n\
    Examples:\n  rankwise labels agree judgments.csv --json\n  \
    rankwise labels merge judgments.csv --by dawid-skene -o qrels.txt"
)]
pub(crate) struct Labels {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Agree(agree::Agree),
    Merge(merge::Merge),
}

impl Labels {
    pub(crate) fn run(self) -> Result<()> {
        match self.command {
            Command::Agree(command) => command.run(),
            Command::Merge(command) => command.run(),
        }
    }
}

/// Where judgments are.
#[derive(Args)]
struct JudgmentArgs {
    /// The judgments: CSV, or TSV by name, plain, .gz or .zst; several files are read as one table
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Column with the query. Default: query, qid or query_id
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    query: Option<String>,

    /// Column with the document. Default: document, doc, docid, doc_id, docno or document_id
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    document: Option<String>,

    /// Column with the judge. Default: judge, assessor, annotator or worker
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    judge: Option<String>,

    /// Column with the grade. Default: grade, label, rating, rel or relevance
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    grade: Option<String>,
}

impl JudgmentArgs {
    /// The judgments, once notes on what was left out are printed.
    fn read(&self) -> Result<Judgments> {
        let columns = JudgmentColumns {
            query: self.query.clone(),
            document: self.document.clone(),
            judge: self.judge.clone(),
            grade: self.grade.clone(),
            ..JudgmentColumns::default()
        };
        let judgments = Judgments::read_all(&self.files, &columns)?;
        crate::output::notes(&judgments.notes());
        Ok(judgments)
    }

    fn paths(&self) -> Vec<(&'static str, &Path)> {
        self.files.iter().map(|path| ("the judgments", path.as_path())).collect()
    }
}
