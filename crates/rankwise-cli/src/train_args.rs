//! The arguments that `train` and `tune` share.

use crate::click_args::{ClickArgs, are_logs};
use crate::input::Input;
use crate::metric_args::MetricArgs;
use crate::output;
use anyhow::{Result, ensure};
use clap::Args;
use rankwise::Recipe;
use rankwise::data::{Dataset, Normalizer, shared_queries_note};
use rankwise::distributed::{Source, TrainJob};
use rankwise::learners::parse_setting;
use rankwise::metrics::Metric;
use rankwise::models::Ranker;
use std::path::{Path, PathBuf};
use toml::Table;

/// What to train, on what, and where to write it.
#[derive(Args)]
pub(crate) struct TrainArgs {
    /// The learner: see `rankwise learners`
    learner: String,

    /// Training data, or a search log whose sessions have features; several files are read as one
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    train: Vec<PathBuf>,

    /// The metric to optimise or choose by
    #[arg(long, default_value = "ndcg@10", value_name = "METRIC")]
    metric: String,

    /// Set a parameter of the learner or its scorer; repeat for more
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<String>,

    /// How scores depend on features: linear, trees or network; the learner's default when not given
    #[arg(long, value_name = "SCORER")]
    scorer: Option<String>,

    /// Normalise features per query: min-max, z-score, log, or several separated by commas. Kept in the model
    #[arg(long, value_name = "METHOD")]
    normalize: Option<String>,

    /// Seed of all random choices
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// Model file to write
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    clicks: ClickArgs,

    #[command(flatten)]
    metric_args: MetricArgs,

    #[command(flatten)]
    reading: Input,
}

impl TrainArgs {
    /// The recipe that the arguments describe.
    pub(crate) fn recipe(&self) -> Result<Recipe> {
        ensure!(
            !(self.json && self.output.as_os_str() == "-"),
            "--json and -o - both write to standard output"
        );
        let mut set = settings(&self.settings)?;
        if let Some(scorer) = &self.scorer {
            ensure!(!set.contains_key("scorer"), "`scorer` is given twice");
            set.insert("scorer".into(), scorer.as_str().into());
        }
        let normalizer = self.normalize.as_deref().map(Normalizer::parse).transpose()?;
        let recipe = Recipe::new(&self.learner).set_all(set).normalizer(normalizer).seed(self.seed);
        Ok(recipe.metric(&self.metric).conventions(self.metric_args.conventions()?))
    }

    /// The metric to report.
    pub(crate) fn metric(&self) -> Result<Box<dyn Metric>> {
        self.metric_args.metric(&self.metric)
    }

    /// Reads training and validation data with the same columns. Before, checks that the model can be written, so that
    /// training is not in vain.
    pub(crate) fn read(&self, valid: &[PathBuf]) -> Result<(Dataset, Option<Dataset>)> {
        self.will_write(&self.output, valid)?;
        let train = self.read_clicks(&self.train)?;
        if valid.is_empty() {
            return Ok((train, None));
        }
        let valid = match are_logs(valid)? {
            true => self.read_clicks(valid)?,
            false => self.clicks.weighted(self.reading.read_all(valid)?)?,
        };
        let mut aligned = Dataset::align_columns(vec![train, valid])?.into_iter();
        let (train, valid) = aligned.next().zip(aligned.next()).expect("as many as were given");
        let shared = valid.queries_shared_with(&train);
        output::notes(&Vec::from_iter(shared_queries_note(shared, valid.query_count())));
        Ok((train, Some(valid)))
    }

    /// Reads a log, or data on whose documents there may be a log.
    fn read_clicks(&self, files: &[PathBuf]) -> Result<Dataset> {
        let sees_positions = self.recipe()?.check()?.sees_positions();
        self.clicks.read(files, sees_positions, || self.reading.read_all(files))
    }

    /// The same training as a job for workers, which read the data. Checks that the model can be written.
    pub(crate) fn job(&self, valid: &[PathBuf], workers: usize) -> Result<TrainJob> {
        self.will_write(&self.output, valid)?;
        ensure!(
            !self.clicks.are_given() && !are_logs(&self.train)? && !are_logs(valid)?,
            "clicks are read as a whole, which --workers cannot divide; train in one process"
        );
        let source = |files: &[PathBuf]| Source { files: files.to_vec(), options: self.reading.options() };
        let valid = (!valid.is_empty()).then(|| source(valid));
        Ok(TrainJob::new(&self.recipe()?, source(&self.train), valid, workers)?)
    }

    /// The name of the learner, as it was typed.
    pub(crate) fn learner(&self) -> &str {
        &self.learner
    }

    /// Prepares to write `path`, which must not be one of the data files.
    pub(crate) fn will_write(&self, path: &Path, valid: &[PathBuf]) -> Result<()> {
        let train = self.train.iter().map(|file| ("the training data", &**file));
        let valid = valid.iter().map(|file| ("the validation data", &**file));
        output::prepare_to_write(path, &train.chain(valid).chain(self.clicks.files()).collect::<Vec<_>>())
    }

    /// A model to start from, with its first feature as the user gave it, where its file does not decide that.
    pub(crate) fn number(&self, ranker: Ranker) -> Result<Ranker> {
        self.reading.number(ranker)
    }

    /// Writes the model.
    pub(crate) fn save(&self, ranker: &Ranker) -> Result<()> {
        Ok(ranker.save(&self.output)?)
    }

    /// Where the model goes, unless to standard output.
    pub(crate) fn file(&self) -> Option<&Path> {
        (self.output.as_os_str() != "-").then_some(&*self.output)
    }
}

/// A table of settings as they were typed.
pub(crate) fn settings(typed: &[String]) -> Result<Table> {
    let mut table = Table::new();
    for text in typed {
        let (key, value) = parse_setting(text)?;
        ensure!(table.insert(key.clone(), value).is_none(), "`{key}` is given twice");
    }
    Ok(table)
}
