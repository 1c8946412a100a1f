use crate::input::Input;
use crate::measuring::Measuring;
use crate::progress::{Jobs, Progress};
use crate::{interrupt, output, table};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use rankwise::data::Normalizer;
use rankwise::experiment::spec::{Method, Search};
use rankwise::experiment::{Tuned, Tuning};
use rankwise::learners::{self, parse_setting};
use rankwise::models::Ranker;
use std::path::PathBuf;

/// Search a learner's parameters on validation queries and write the best model.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  rankwise tune regression --train train.txt --valid valid.txt \\\n      \
    --grid 'ridge=[1e-6, 1e-3, 1.0]' -o model.json\n  \
    rankwise tune regression --train train.txt --valid valid.txt --method random --draws 30 \\\n      \
    --grid 'ridge={ from = 1e-9, to = 1e3, log = true }' -o model.json"
)]
pub(crate) struct Tune {
    /// The learner: see `rankwise learners`
    learner: String,

    /// The data to learn from; several files are taken together
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    train: Vec<PathBuf>,

    /// The data to choose on
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    valid: Vec<PathBuf>,

    /// A parameter and its values, a list or a range; repeat for more
    #[arg(long, required = true, value_name = "KEY=VALUES")]
    grid: Vec<String>,

    /// Fix a parameter; repeat for more
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,

    /// All combinations, random draws, or draws thinned out on growing shares of the queries
    #[arg(long, default_value = "grid")]
    method: MethodName,

    /// Settings to draw, for random and halving
    #[arg(long, default_value_t = 20, value_name = "N")]
    draws: usize,

    /// The measure to choose by
    #[arg(long, default_value = "ndcg@10", value_name = "MEASURE")]
    metric: String,

    /// Scale each query's features: min-max, z-score, log, or several with commas. Kept in the model
    #[arg(long, value_name = "HOW")]
    normalize: Option<String>,

    /// The seed of all random choices
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// The model file to write
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,

    /// Tell the outcome for machines
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    measuring: Measuring,

    #[command(flatten)]
    reading: Input,
}

#[derive(ValueEnum, Clone, Copy)]
enum MethodName {
    Grid,
    Random,
    Halving,
}

impl Tune {
    pub(crate) fn run(self) -> Result<()> {
        let learner = learners::find(&self.learner)?;
        let table =
            |settings: &[String]| settings.iter().map(|s| parse_setting(s)).collect::<rankwise::Result<_>>();
        let (set, grid): (toml::Table, toml::Table) = (table(&self.settings)?, table(&self.grid)?);
        let metric = [self.measuring.metric(&self.metric)?];
        let normalizer = self.normalize.as_deref().map(Normalizer::parse).transpose()?;
        if self.draws == 0 {
            bail!("--draws 0 tries nothing");
        }
        let (train, valid) = self.reading.read_pair(&self.train, &self.valid)?;
        let columns = train.columns().clone();
        let scaled = |data| match &normalizer {
            Some(normalizer) => normalizer.apply(data),
            None => Ok(data),
        };
        let (train, valid) = (scaled(train)?, scaled(valid)?);
        let method = match self.method {
            MethodName::Grid => Method::Grid,
            MethodName::Random => Method::Random,
            MethodName::Halving => Method::Halving,
        };
        let search = Search { method, draws: self.draws, ..Search::default() };
        let (train, valid, metric) = (&train, &valid, &metric);
        let tuning = Tuning {
            learner,
            set: &set,
            grid: &grid,
            search: &search,
            train,
            valid,
            metric,
            seed: self.seed,
        };
        let tuned = interrupt::stoppable(|stop| {
            let jobs = Jobs::new();
            tuning.run(&|job| jobs.done(job), &mut Progress::new(learner.card.name, stop))
        })?;
        let ranker = Ranker {
            learner: (&learner.card).into(),
            parameters: tuned.parameters.clone(),
            metric: metric[0].name(),
            conventions: metric[0].conventions().clone(),
            seed: self.seed,
            normalizer: normalizer.clone(),
            columns,
            record: tuned.fitted.record.clone(),
            model: tuned.fitted.model.clone(),
        };
        interrupt::will_write(&self.output);
        ranker.save(&self.output)?;
        self.report(&tuned)
    }

    fn report(&self, tuned: &Tuned) -> Result<()> {
        if self.json {
            return output::print_json(&serde_json::json!({
                "model": self.output, "parameters": tuned.parameters, "trials": tuned.trials,
            }));
        }
        let mut trials: Vec<_> = tuned.trials.iter().collect();
        trials.sort_by(|a, b| {
            b.share
                .total_cmp(&a.share)
                .then(b.valid.unwrap_or(f64::MIN).total_cmp(&a.valid.unwrap_or(f64::MIN)))
        });
        let mut table =
            table::Columns::new(&["setting", ">share of queries", &format!(">{} (valid)", self.metric)]);
        for trial in trials {
            let setting: Vec<String> = trial.parameters.iter().map(|(k, v)| format!("{k}={v}")).collect();
            let value = trial.valid.map_or("failed".into(), table::four);
            table.row([setting.join(" "), format!("{:.0} %", 100.0 * trial.share), value]);
        }
        let text = format!("{}\nwrote the first to {}\n", table.render(), self.output.display());
        if self.output.as_os_str() == "-" {
            output::note(text.trim_end());
            return Ok(());
        }
        output::print(&text)
    }
}
