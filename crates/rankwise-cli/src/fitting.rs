//! What training one model and tuning one have in common.

use crate::input::Input;
use crate::metric_args::MetricArgs;
use crate::{interrupt, output};
use anyhow::{Result, ensure};
use clap::Args;
use rankwise::data::{Columns, Dataset, Normalizer};
use rankwise::learners::{self, Entry, Fitted, parse_setting};
use rankwise::metrics::Metric;
use rankwise::models::Ranker;
use std::path::PathBuf;
use toml::Table;

/// What to learn, from what, and where to put it.
#[derive(Args)]
pub(crate) struct Fitting {
    /// The learner: see `rankwise learners`
    learner: String,

    /// The data to learn from; several files are taken together
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    train: Vec<PathBuf>,

    /// The measure to optimise or choose by
    #[arg(long, default_value = "ndcg@10", value_name = "MEASURE")]
    metric: String,

    /// Set a parameter of the learner; repeat for more
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,

    /// What learns the scores, for learners that are a loss of scores: linear, trees or mlp (a network)
    #[arg(long, value_name = "KIND")]
    scorer: Option<String>,

    /// Scale each query's features: min-max, z-score, log, or several with commas. Kept in the model
    #[arg(long, value_name = "HOW")]
    normalize: Option<String>,

    /// The seed of all random choices
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,

    /// The model file to write
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,

    /// Tell the outcome for machines
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    measuring: MetricArgs,

    #[command(flatten)]
    reading: Input,
}

/// The same, understood and read.
pub(crate) struct Material {
    pub(crate) learner: &'static Entry,
    /// The parameters given.
    pub(crate) set: Table,
    pub(crate) metric: [Box<dyn Metric>; 1],
    pub(crate) train: Dataset,
    pub(crate) valid: Option<Dataset>,
    normalizer: Option<Normalizer>,
    columns: Columns,
}

impl Material {
    /// Refuses a model to go on from that sees its features otherwise than they will be seen now.
    pub(crate) fn check_start(&self, start: &Ranker) -> Result<()> {
        let asked = match &start.normalizer {
            Some(normalizer) => format!("give --normalize {normalizer}, as when it was trained"),
            None => "leave out --normalize, as when it was trained".to_string(),
        };
        ensure!(
            start.normalizer == self.normalizer,
            "the model to start from scales its features in another way: {asked}"
        );
        ensure!(
            start.columns == self.columns,
            "the features of the model to start from are not called what those of the training data are"
        );
        Ok(())
    }
}

impl Fitting {
    /// Understands the arguments, reads the data and scales it.
    pub(crate) fn material(&self, valid: &[PathBuf]) -> Result<Material> {
        ensure!(!(self.json && self.output.as_os_str() == "-"), "--json and -o - both want standard output");
        for (what, files) in [("the data to learn from", &self.train[..]), ("the validation data", valid)] {
            files.iter().try_for_each(|file| output::keep_apart(what, file, &self.output))?;
        }
        let learner = learners::find(&self.learner)?;
        let mut set = settings(&self.settings)?;
        if let Some(scorer) = &self.scorer {
            ensure!(!set.contains_key("scorer"), "`scorer` is given twice");
            set.insert("scorer".into(), scorer.as_str().into());
        }
        learner.complete(&set)?;
        let metric = [self.measuring.metric(&self.metric)?];
        let normalizer = self.normalize.as_deref().map(Normalizer::parse).transpose()?;
        let (train, valid) = match valid {
            [] => (self.reading.read_all(&self.train)?, None),
            valid => self.reading.read_pair(&self.train, valid).map(|(train, valid)| (train, Some(valid)))?,
        };
        let columns = train.columns().clone();
        let scaled = |data: Dataset| match &normalizer {
            Some(normalizer) => normalizer.apply(data),
            None => Ok(data),
        };
        let (train, valid) = (scaled(train)?, valid.map(scaled).transpose()?);
        Ok(Material { learner, set, metric, train, valid, normalizer, columns })
    }

    /// Writes the model and returns it.
    pub(crate) fn save(&self, material: &Material, parameters: Table, fitted: Fitted) -> Result<Ranker> {
        let ranker = Ranker {
            learner: (&material.learner.card).into(),
            parameters,
            metric: material.metric[0].name(),
            conventions: material.metric[0].conventions().clone(),
            seed: self.seed,
            normalizer: material.normalizer.clone(),
            columns: material.columns.clone(),
            record: fitted.record,
            model: fitted.model,
        };
        interrupt::will_write(&self.output);
        ranker.save(&self.output)?;
        Ok(ranker)
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
