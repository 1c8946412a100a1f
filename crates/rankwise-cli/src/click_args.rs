//! Training from clicks: a search log, propensities, and what they become.

use crate::content::load_model;
use crate::output;
use anyhow::{Result, ensure};
use clap::Args;
use rankwise::clicks::propensity::Propensities;
use rankwise::clicks::{ClickData, ClickWeights, LogReader};
use rankwise::data::{Dataset, Peeked};
use std::path::{Path, PathBuf};

/// How clicks become training data.
#[derive(Args)]
#[command(next_help_heading = "Training from clicks")]
pub(crate) struct ClickArgs {
    /// Search log with the clicks on the documents of --train, whose labels are then not looked at. Queries and documents
    /// are matched by their ids. A log whose sessions have features can be the training data itself
    #[arg(long, num_args = 1.., value_name = "LOG")]
    clicks: Vec<PathBuf>,

    /// Propensities of ranks, from `rankwise clicks propensity`: clicks at rank r count for 1/θ. For a log, or for data
    /// with positions and clicks as labels
    #[arg(long, value_name = "FILE")]
    propensity: Option<PathBuf>,

    /// The smallest propensity to divide by. Larger values make labels of documents that were hardly looked at less
    /// variable, and too small
    #[arg(long, value_name = "THETA", default_value_t = 0.0, requires = "propensity")]
    clip: f64,

    /// Model that predicts how often users who look at a document click on it, such as one trained by `regression` on the
    /// same clicks: it fills in what --clip leaves out (doubly robust labels)
    #[arg(long, value_name = "MODEL", requires = "clip")]
    fill_in: Option<PathBuf>,
}

impl ClickArgs {
    /// The files that are read.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let logs = self.clicks.iter().map(|file| ("the log", &**file));
        let logs = logs.chain(self.propensity.iter().map(|file| ("the propensities", &**file)));
        logs.chain(self.fill_in.iter().map(|file| ("the model that fills in", &**file)))
    }

    /// Whether training is from clicks because of these arguments.
    pub(crate) fn are_given(&self) -> bool {
        !self.clicks.is_empty() || self.propensity.is_some()
    }

    /// The data of `files`, which are a log or read by `read`. With `sessions`, the queries are sessions, and a learner
    /// looks at the positions of clicks itself.
    pub(crate) fn read(
        &self,
        files: &[PathBuf],
        sessions: bool,
        read: impl FnOnce() -> Result<Dataset>,
    ) -> Result<Dataset> {
        let is_log = are_logs(files)?;
        ensure!(
            !is_log || self.clicks.is_empty(),
            "the training data is a log already; give either a log or a file of features with --clicks"
        );
        ensure!(
            !sessions || self.propensity.is_none(),
            "position_bias learns from clicks as they are, and --propensity weights them; use one of the two"
        );
        if is_log {
            return self.read_log(files, sessions, None);
        }
        let data = read()?;
        match (self.clicks.is_empty(), &self.propensity) {
            (false, _) => self.read_log(&self.clicks, sessions, Some(&data)),
            (true, Some(_)) => self.finish(self.weights()?.by_position(data)?),
            (true, None) => Ok(data),
        }
    }

    /// Validation data that is no log: its labels are judgments, unless it has positions and there are propensities for
    /// them.
    pub(crate) fn weighted(&self, data: Dataset) -> Result<Dataset> {
        let are_clicks =
            self.propensity.is_some() && self.clicks.is_empty() && data.parts().positions.is_some();
        if are_clicks { self.finish(self.weights()?.by_position(data)?) } else { Ok(data) }
    }

    fn read_log(&self, logs: &[PathBuf], sessions: bool, features: Option<&Dataset>) -> Result<Dataset> {
        let weights = self.weights()?;
        let mut log = LogReader::open_all(logs)?;
        let made = match (sessions, features) {
            (true, _) => ClickWeights::lists(log.by_ref(), features),
            (false, Some(features)) => weights.joined(log.by_ref(), features),
            (false, None) => weights.of_sessions(log.by_ref()),
        };
        // What is wrong with the log may be why nothing can be made of it.
        output::notes(&log.report().notes());
        let made = made?;
        if sessions { Ok(with_notes(made)) } else { self.finish(made) }
    }

    /// Fills in what is missing from labels, and prints the notes.
    fn finish(&self, made: ClickData) -> Result<Dataset> {
        let Some(model) = &self.fill_in else { return Ok(with_notes(made)) };
        let predictions = load_model(model)?.score(&made.data)?;
        Ok(with_notes(made.filled_in(&predictions)?))
    }

    fn weights(&self) -> Result<ClickWeights> {
        let propensities = self.propensity.as_deref().map(Propensities::read).transpose()?;
        Ok(ClickWeights { propensities, clip: self.clip })
    }
}

fn with_notes(made: ClickData) -> Dataset {
    output::notes(&made.notes);
    made.data
}

/// Whether the name ends in `.jsonl`, with or without compression.
fn is_named_as_log(file: &Path) -> bool {
    let name = file.to_string_lossy();
    [".jsonl", ".jsonl.gz", ".jsonl.zst"].iter().any(|end| name.ends_with(end))
}

/// Whether files are logs: by name, or because they are JSON, which no data file is. All must be, or none.
pub(crate) fn are_logs(files: &[PathBuf]) -> Result<bool> {
    let mut logs = Vec::with_capacity(files.len());
    for file in files {
        // Standard input cannot be read twice.
        let is_json = || -> Result<bool> {
            Ok(file.is_file() && Peeked::open(file)?.head().trim_ascii_start().starts_with(b"{"))
        };
        logs.push(is_named_as_log(file) || is_json()?);
    }
    let first = logs.first().copied().unwrap_or(false);
    ensure!(
        logs.iter().all(|is_log| *is_log == first),
        "some files of the training data are logs and others are not; use --clicks for the log of a file with features"
    );
    Ok(first)
}
