use crate::input::Input;
use crate::measuring::Measuring;
use crate::progress::Progress;
use crate::{interrupt, output, table};
use anyhow::Result;
use clap::Args;
use rankwise::data::{Dataset, Normalizer};
use rankwise::learners::{self, Task, parse_setting};
use rankwise::metrics::{Metric, evaluate};
use rankwise::models::{Outcome, Ranker};
use std::path::PathBuf;
use std::process::ExitCode;

/// Train a learner and write its model.
#[derive(Args)]
#[command(
    after_help = "Ctrl-C stops training and keeps the best model so far; a second one ends the program.\n\n\
    Examples:\n  rankwise train regression --train train.txt -o model.json\n  \
    rankwise train coordinate-ascent --train S1.txt S2.txt S3.txt --valid S4.txt \\\n      \
    --metric ndcg@10 --set restarts=3 --seed 7 -o model.json"
)]
pub(crate) struct Train {
    /// The learner: see `rankwise learners`
    learner: String,

    /// The data to learn from; several files are taken together
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    train: Vec<PathBuf>,

    /// The data to choose by, where the learner chooses
    #[arg(long, num_args = 1.., value_name = "FILE")]
    valid: Vec<PathBuf>,

    /// The measure to optimise or choose by
    #[arg(long, default_value = "ndcg@10", value_name = "MEASURE")]
    metric: String,

    /// Set a parameter of the learner; repeat for more
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,

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

impl Train {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let learner = learners::find(&self.learner)?;
        let given = self.settings.iter().map(|s| parse_setting(s)).collect::<rankwise::Result<_>>()?;
        let parameters = learner.complete(&given)?;
        let metric = self.measuring.metric(&self.metric)?;
        let normalizer = self.normalize.as_deref().map(Normalizer::parse).transpose()?;
        let (raw_train, raw_valid) = match self.valid.as_slice() {
            [] => (self.reading.read_all(&self.train)?, None),
            valid => self.reading.read_pair(&self.train, valid).map(|(train, valid)| (train, Some(valid)))?,
        };
        let columns = raw_train.columns().clone();
        let train = scaled(raw_train, normalizer.as_ref())?;
        let valid = raw_valid.map(|data| scaled(data, normalizer.as_ref())).transpose()?;

        let task = Task { train: &train, valid: valid.as_ref(), metric: metric.as_ref(), seed: self.seed };
        let fitted = interrupt::stoppable(|stop| {
            learner.fit(&parameters, &task, &mut Progress::new(learner.card.name, stop))
        })?;
        let ranker = Ranker {
            learner: (&learner.card).into(),
            parameters,
            metric: metric.name(),
            conventions: metric.conventions().clone(),
            seed: self.seed,
            normalizer,
            columns,
            record: fitted.record,
            model: fitted.model,
        };
        interrupt::will_write(&self.output);
        ranker.save(&self.output)?;
        self.report(&ranker, &train, valid.as_ref(), metric)?;
        let interrupted = ranker.record.outcome == Outcome::Interrupted;
        Ok(if interrupted { ExitCode::from(interrupt::INTERRUPTED) } else { ExitCode::SUCCESS })
    }

    fn report(
        &self,
        ranker: &Ranker,
        train: &Dataset,
        valid: Option<&Dataset>,
        metric: Box<dyn Metric>,
    ) -> Result<()> {
        let metrics = [metric];
        let value = |data: &Dataset| -> Result<Option<f64>> {
            Ok(evaluate(data, &ranker.model.scores(data)?, &metrics)?.mean(0))
        };
        let (on_train, on_valid) = (value(train)?, valid.map(value).transpose()?.flatten());
        output::notes(&ranker.record.notes);
        if self.json {
            return output::print_json(&serde_json::json!({
                "model": self.output, "learner": ranker.learner.name, "metric": ranker.metric,
                "train": on_train, "valid": on_valid, "record": ranker.record,
            }));
        }
        let mut text = format!(
            "{} {} after {}; {} is {} on the training queries",
            ranker.learner.name,
            ranker.record.outcome.in_words(),
            output::count(ranker.record.rounds as usize, "round", "rounds"),
            ranker.metric,
            on_train.map_or("undefined".into(), table::four)
        );
        if let Some(on_valid) = on_valid {
            text.push_str(&format!(", {} on the validation queries", table::four(on_valid)));
        }
        if self.output.as_os_str() == "-" {
            output::note(text);
            return Ok(());
        }
        output::print(&format!("{text}\nwrote {}\n", self.output.display()))
    }
}

fn scaled(data: Dataset, normalizer: Option<&Normalizer>) -> Result<Dataset> {
    Ok(match normalizer {
        Some(normalizer) => normalizer.apply(data)?,
        None => data,
    })
}
