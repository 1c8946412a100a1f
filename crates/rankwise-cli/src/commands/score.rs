use crate::content::load_model;
use crate::input::{Input, note_width};
use crate::output;
use anyhow::Result;
use clap::{Args, ValueEnum};
use rankwise::data::{Format, write_grades, write_run, write_score_table, write_scores};
use std::path::{Path, PathBuf};

/// Score documents with a model: one score per document, in the order of FILE.
#[derive(Args)]
#[command(after_help = "Examples:\n  rankwise score model.json test.txt > scores.txt\n  \
    rankwise score model.json test.csv -o scores.csv\n  \
    rankwise score model.json test.txt --format trec -o test.run\n  \
    rankwise score model.json test.txt --grades -o grades.txt")]
pub(crate) struct Score {
    /// The model
    model: PathBuf,

    /// The data to score
    file: PathBuf,

    /// The file to write. Default: standard output
    #[arg(short, long, default_value = "-", hide_default_value = true, value_name = "OUT")]
    output: PathBuf,

    /// One score per line (plain), a table with query and document ids (csv), or a TREC run (trec). Default: csv if OUT
    /// ends in .csv or .tsv, else plain
    #[arg(long, value_name = "FORMAT")]
    format: Option<ScoreFormat>,

    /// The name of the system in a TREC run
    #[arg(long, default_value = "rankwise", value_name = "TAG")]
    tag: String,

    /// Write predicted grades instead of scores; for models with thresholds (oc-svm, prank)
    #[arg(long, conflicts_with_all = ["format", "tag"])]
    grades: bool,

    #[command(flatten)]
    reading: Input,
}

#[derive(ValueEnum, Clone, Copy, PartialEq)]
enum ScoreFormat {
    Plain,
    Csv,
    Trec,
}

impl ScoreFormat {
    fn of_path(path: &Path) -> ScoreFormat {
        match Format::of_path(path) {
            Format::Csv | Format::Tsv => ScoreFormat::Csv,
            Format::Letor | Format::Parquet => ScoreFormat::Plain,
        }
    }
}

impl Score {
    pub(crate) fn run(self) -> Result<()> {
        let read = [("the model", &*self.model), ("the data", &*self.file)];
        output::prepare_to_write(&self.output, &read)?;
        let ranker = self.reading.number(load_model(&self.model)?)?;
        let data = self.reading.for_model(&ranker).unlabelled().read_in_order(&self.file)?;
        note_width(&ranker, &data);
        if self.grades {
            return Ok(write_grades(&self.output, &ranker.grades(&data)?)?);
        }
        let scores = ranker.score(&data)?;
        match self.format.unwrap_or_else(|| ScoreFormat::of_path(&self.output)) {
            ScoreFormat::Plain => write_scores(&self.output, &scores)?,
            ScoreFormat::Csv => write_score_table(&data, &scores, &self.output)?,
            ScoreFormat::Trec => output::notes(&write_run(&data, &scores, &self.output, &self.tag)?),
        }
        Ok(())
    }
}
