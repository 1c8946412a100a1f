use crate::content::load_model;
use crate::progress::ProgressBar;
use crate::train_args::TrainArgs;
use crate::{interrupt, output, table};
use anyhow::Result;
use clap::Args;
use rankwise::data::Dataset;
use rankwise::error::Error;
use rankwise::learners::boosting::Checkpoint;
use rankwise::metrics::evaluate;
use rankwise::models::{Outcome, Ranker};
use rankwise::recipe::Start;
use std::path::PathBuf;
use std::process::ExitCode;

/// Train a model.
#[derive(Args)]
#[command(
    after_help = "Ctrl-C stops training and keeps the best model so far; a second Ctrl-C ends the program.\n\n\
    Examples:\n  rankwise train regression --train train.txt -o model.json\n  \
    rankwise train lambda-mart --train S1.txt S2.txt S3.txt --valid S4.txt \\\n      \
    --metric ndcg@10 --set learning_rate=0.05 --seed 7 -o model.json\n  \
    rankwise train lambda-mart --train train.txt --valid valid.txt \\\n      \
    --set iterations=500 --checkpoint state.json -o model.json\n  \
    rankwise train svm-map --scorer trees --train train.txt -o model.json\n  \
    rankwise train list-net --scorer network --set layers=64-32 \\\n      \
    --train train.txt --valid valid.txt -o model.json"
)]
pub(crate) struct Train {
    /// Validation data for early stopping and model selection
    #[arg(long, num_args = 1.., value_name = "FILE")]
    valid: Vec<PathBuf>,

    /// Model of boosted trees to start from: `iterations` more are added to it
    #[arg(long, value_name = "MODEL")]
    start: Option<PathBuf>,

    /// Keep the state of training in this file; after a crash, the same command resumes from it and ends with the same bytes
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    /// Iterations between two checkpoints
    #[arg(long, value_name = "N", default_value_t = 10, requires = "checkpoint",
        value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_every: u64,

    #[command(flatten)]
    training: TrainArgs,
}

impl Train {
    pub(crate) fn run(self) -> Result<ExitCode> {
        if let Some(checkpoint) = &self.checkpoint {
            output::keep_apart("the checkpoint", checkpoint, &self.training.output)?;
            self.training.will_write(checkpoint, &self.valid)?;
        }
        let trainer = self.training.recipe()?.check()?;
        let (train, valid) = self.training.read(&self.valid)?;
        let (train, valid) = (trainer.prepare(train)?, valid.map(|v| trainer.prepare(v)).transpose()?);
        output::notes(&Vec::from_iter(trainer.forecast(&train)?));
        let before = self.start.as_deref().map(|path| self.training.number(load_model(path)?)).transpose()?;
        let checkpoint = self
            .checkpoint
            .as_ref()
            .map(|path| Checkpoint { path: path.clone(), every: self.checkpoint_every });
        let start = Start { ranker: before.as_ref(), checkpoint: checkpoint.as_ref() };
        let ranker = interrupt::stoppable(|stop| {
            let mut progress = ProgressBar::new(trainer.learner(), stop);
            trainer.fit_prepared(&train, valid.as_ref(), start, &mut progress)
        })?;
        if ranker.record.outcome == Outcome::Interrupted && ranker.record.rounds == 0 {
            let message = "stopped before the first iteration ended; nothing was written";
            return Err(Error::interrupted(message).into());
        }
        self.training.save(&ranker)?;
        self.report(&ranker, &train, valid.as_ref())?;
        if let Some(checkpoint) = checkpoint {
            if ranker.record.outcome == Outcome::Interrupted {
                output::note(format!(
                    "run the same command again to resume from the checkpoint {}",
                    checkpoint.path.display()
                ));
            } else {
                checkpoint.remove()?;
            }
        }
        Ok(interrupt::exit_code(&ranker.record))
    }

    fn report(&self, ranker: &Ranker, train: &Dataset, valid: Option<&Dataset>) -> Result<()> {
        let metric = [self.training.metric()?];
        let value = |data: &Dataset| -> Result<Option<f64>> {
            Ok(evaluate(data, &ranker.model.scores(data)?, &metric)?.mean(0))
        };
        let on_train = value(train)?;
        let on_valid = valid.map(value).transpose()?.flatten();
        output::notes(&ranker.record.notes);
        if self.training.json {
            return output::print_json(&serde_json::json!({
                "model": output::json_path(&self.training.output), "learner": ranker.learner.name,
                "parameters": ranker.parameters,
                "metric": ranker.metric, "train": on_train, "valid": on_valid, "record": ranker.record,
            }));
        }
        let text = outcome(ranker, on_train, on_valid);
        match self.training.file() {
            Some(path) => output::print(&format!("{}\nwrote {}\n", table::wrap(&text), path.display())),
            None => {
                output::note(text);
                Ok(())
            }
        }
    }
}

/// How training went, in a sentence or two.
fn outcome(ranker: &Ranker, on_train: Option<f64>, on_valid: Option<f64>) -> String {
    let record = &ranker.record;
    let mut text = format!("{} {}", ranker.learner.name, record.ending());
    if let Some((_, best)) = record.figures.iter().find(|(name, _)| name == "best round") {
        text.push_str(&format!(
            "; the model is that of iteration {best}, the best on the validation queries"
        ));
    }
    let shown = |value: Option<f64>| value.map_or("undefined".into(), table::four);
    text.push_str(&format!(". {}: {} on the training queries", ranker.metric, shown(on_train)));
    if on_valid.is_some() {
        text.push_str(&format!(", {} on the validation queries", shown(on_valid)));
    }
    text.push('.');
    text
}
