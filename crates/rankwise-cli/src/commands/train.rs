use crate::content::load_model;
use crate::progress::ProgressBar;
use crate::train_args::TrainArgs;
use crate::{interrupt, output, table};
use anyhow::{Context, Result};
use clap::Args;
use rankwise::data::Dataset;
use rankwise::distributed::{Driver, Processes, Traffic};
use rankwise::error::Error;
use rankwise::learners::boosting::Checkpoint;
use rankwise::metrics::evaluate;
use rankwise::models::{Outcome, Ranker};
use rankwise::recipe::Start;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::{env, thread};

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
    --train train.txt --valid valid.txt -o model.json\n  \
    rankwise train lambda-mart --train part*.parquet --workers 4 -o model.json\n  \
    rankwise train list-net --train log.jsonl --propensity theta.json -o unbiased.json\n  \
    rankwise train list-net --train train.txt --clicks log.jsonl --propensity theta.json -o unbiased.json"
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

    /// Divide the data among this many processes, each of which reads and keeps only its own queries. The model is the
    /// same. Each gets its part of the cores, or as many as --threads says
    #[arg(long, value_name = "N", conflicts_with = "start",
        value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: Option<u16>,

    #[command(flatten)]
    training: TrainArgs,
}

/// A trained model, and its metric on training and validation queries.
type Measured = (Ranker, Option<f64>, Option<f64>);

impl Train {
    /// Trains a model. `threads` is what the user asked for.
    pub(crate) fn run(self, threads: Option<u16>) -> Result<ExitCode> {
        if let Some(checkpoint) = &self.checkpoint {
            output::keep_apart("the checkpoint", checkpoint, &self.training.output)?;
            self.training.will_write(checkpoint, &self.valid)?;
        }
        let checkpoint = self
            .checkpoint
            .as_ref()
            .map(|path| Checkpoint { path: path.clone(), every: self.checkpoint_every });
        let (ranker, on_train, on_valid) = match self.workers {
            Some(workers) => self.train_on_workers(workers, threads, checkpoint.as_ref())?,
            None => self.train(checkpoint.as_ref())?,
        };
        if is_empty(&ranker) {
            let message = "stopped before the first iteration ended; nothing was written";
            return Err(Error::interrupted(message).into());
        }
        self.training.save(&ranker)?;
        self.report(&ranker, on_train, on_valid)?;
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

    /// Trains in this process.
    fn train(&self, checkpoint: Option<&Checkpoint>) -> Result<Measured> {
        let trainer = self.training.recipe()?.check()?;
        let (train, valid) = self.training.read(&self.valid)?;
        let (train, valid) = (trainer.prepare(train)?, valid.map(|v| trainer.prepare(v)).transpose()?);
        output::notes(&Vec::from_iter(trainer.forecast(&train)?));
        let before = self.start.as_deref().map(|path| self.training.number(load_model(path)?)).transpose()?;
        let start = Start { ranker: before.as_ref(), checkpoint };
        let ranker = interrupt::stoppable(|stop| {
            let mut progress = ProgressBar::new(trainer.learner(), stop);
            trainer.fit_prepared(&train, valid.as_ref(), start, &mut progress)
        })?;
        if is_empty(&ranker) {
            return Ok((ranker, None, None));
        }
        let metric = [self.training.metric()?];
        let value = |data: &Dataset| -> Result<Option<f64>> {
            Ok(evaluate(data, &ranker.model.scores(data)?, &metric)?.mean(0))
        };
        let (on_train, on_valid) = (value(&train)?, valid.as_ref().map(value).transpose()?.flatten());
        Ok((ranker, on_train, on_valid))
    }

    /// Trains in other processes, which read the data.
    fn train_on_workers(
        &self,
        workers: u16,
        threads: Option<u16>,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<Measured> {
        let mut job = self.training.job(&self.valid, workers.into())?;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        job.threads = Some(threads.map_or((cores / usize::from(workers)).max(1), usize::from));
        let program = env::current_exe().context("cannot find the program to start workers with")?;
        let command = move |_| {
            let mut command = Command::new(&program);
            command.args(["worker", "--threads", "1"]);
            command
        };
        output::notes(&Vec::from_iter(job.forecast()));
        let driver = Driver::new(Processes::start(workers.into(), command)?);
        // The driver computes while its workers wait, so it may use all cores.
        let pool =
            rayon::ThreadPoolBuilder::new().build().context("cannot start the threads of the driver")?;
        let (trained, traffic) = interrupt::stoppable(|stop| {
            let mut bar = ProgressBar::new(self.training.learner(), stop);
            let mut driver = driver.with_notes(bar.notes());
            let trained = pool.install(|| driver.train(&job, checkpoint, &mut bar))?;
            rankwise::Result::Ok((trained, driver.traffic()))
        })?;
        output::note(exchanged(workers, traffic));
        Ok((trained.ranker, trained.train, trained.valid))
    }

    fn report(&self, ranker: &Ranker, on_train: Option<f64>, on_valid: Option<f64>) -> Result<()> {
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

/// What driver and workers did together, in a sentence.
fn exchanged(workers: u16, traffic: Traffic) -> String {
    let Traffic { questions, received, losses, .. } = traffic;
    let workers = output::count(workers.into(), "worker", "workers");
    let questions = output::count(questions as usize, "question", "questions");
    let size = match received as f64 {
        bytes if bytes < 1e6 => format!("{:.1} KB", bytes / 1e3),
        bytes => format!("{:.1} MB", bytes / 1e6),
    };
    let lost = match losses {
        0 => String::new(),
        _ => format!("; {} lost and replaced", output::count(losses as usize, "worker was", "workers were")),
    };
    format!("{workers} answered {questions} with {size}{lost}")
}

/// Whether training was stopped before there was anything to keep.
fn is_empty(ranker: &Ranker) -> bool {
    ranker.record.outcome == Outcome::Interrupted && ranker.record.rounds == 0
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_exchanged_is_a_sentence() {
        let traffic = Traffic { questions: 1, received: 4_321, ..Traffic::default() };
        assert_eq!(exchanged(1, traffic), "1 worker answered 1 question with 4.3 KB");
        let traffic = Traffic { questions: 4_660, received: 89_500_000, losses: 1, sent: 7 };
        let sentence = "2 workers answered 4,660 questions with 89.5 MB; 1 worker was lost and replaced";
        assert_eq!(exchanged(2, traffic), sentence);
    }
}
