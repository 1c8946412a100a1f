use crate::content::load_model;
use crate::input::{Input, note_width};
use crate::{interrupt, output};
use anyhow::Result;
use clap::{Args, ValueEnum};
use rankwise::data::{write_grades, write_run, write_scores};
use std::path::PathBuf;

/// Score documents with a model: one score per document, in the order of FILE.
#[derive(Args)]
#[command(after_help = "Examples:\n  rankwise score model.json test.txt > scores.txt\n  \
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

    /// One score per line, or a TREC run
    #[arg(long, default_value = "plain", value_name = "FORMAT")]
    format: ScoreFormat,

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
    Trec,
}

impl Score {
    pub(crate) fn run(self) -> Result<()> {
        output::keep_apart("the model", &self.model, &self.output)?;
        output::keep_apart("the data", &self.file, &self.output)?;
        let ranker = self.reading.number(load_model(&self.model)?)?;
        let data = self.reading.for_model(&ranker).read_in_order(&self.file)?;
        note_width(&ranker, &data);
        if self.grades {
            let grades = ranker.grades(&data)?;
            interrupt::will_write(&self.output);
            return Ok(write_grades(&self.output, &grades)?);
        }
        let scores = ranker.score(&data)?;
        interrupt::will_write(&self.output);
        match self.format {
            ScoreFormat::Plain => write_scores(&self.output, &scores)?,
            ScoreFormat::Trec => output::notes(&write_run(&data, &scores, &self.output, &self.tag)?),
        }
        Ok(())
    }
}
