use crate::fitting::{Fitting, Material};
use crate::progress::ProgressBar;
use crate::{interrupt, output, table};
use anyhow::Result;
use clap::Args;
use rankwise::data::Dataset;
use rankwise::error::Error;
use rankwise::learners::boosting::Checkpoint;
use rankwise::learners::{Start, Task};
use rankwise::metrics::evaluate;
use rankwise::models::{Outcome, Ranker};
use std::path::PathBuf;
use std::process::ExitCode;

/// Train a learner and write its model.
#[derive(Args)]
#[command(
    after_help = "Ctrl-C stops training and keeps the best model so far; a second one ends the program.\n\n\
    Examples:\n  rankwise train regression --train train.txt -o model.json\n  \
    rankwise train coordinate-ascent --train S1.txt S2.txt S3.txt --valid S4.txt \\\n      \
    --metric ndcg@10 --set restarts=3 --seed 7 -o model.json\n  \
    rankwise train lambda-mart --train train.txt --valid valid.txt \\\n      \
    --set rounds=500 --checkpoint state.json -o model.json\n  \
    rankwise train svm-map --scorer trees --train train.txt -o model.json\n  \
    rankwise train svm-ndcg --scorer mlp --set layers=64-32 --train train.txt --valid valid.txt \\\n      \
    -o model.json"
)]
pub(crate) struct Train {
    /// The data to choose by, where the learner chooses
    #[arg(long, num_args = 1.., value_name = "FILE")]
    valid: Vec<PathBuf>,

    /// A model of trees to go on from: `rounds` more are added to it
    #[arg(long, value_name = "MODEL")]
    start: Option<PathBuf>,

    /// Keep the state of training here; the same command goes on from it after a crash, and ends with the same bytes
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    /// Rounds from one writing of the checkpoint to the next
    #[arg(long, value_name = "N", default_value_t = 10, requires = "checkpoint",
        value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_every: u64,

    #[command(flatten)]
    fitting: Fitting,
}

impl Train {
    pub(crate) fn run(self) -> Result<ExitCode> {
        if let Some(checkpoint) = &self.checkpoint {
            output::keep_apart("the checkpoint", checkpoint, &self.fitting.output)?;
        }
        let material = self.fitting.material(&self.valid)?;
        let Material { learner, set, metric, train, valid, .. } = &material;
        let metric = metric[0].as_ref();
        let model = self.start.as_deref().map(Ranker::load).transpose()?;
        if let Some(model) = &model {
            material.check_start(model)?;
        }
        let checkpoint = self
            .checkpoint
            .as_ref()
            .map(|path| Checkpoint { path: path.clone(), every: self.checkpoint_every });
        let start = Start::new(model.as_ref().map(|ranker| &ranker.model), checkpoint.as_ref());
        let task = Task { train, valid: valid.as_ref(), metric, seed: self.fitting.seed, start };
        let fitted = interrupt::stoppable(|stop| {
            learner.fit(set, &task, &mut ProgressBar::new(learner.card.name, stop))
        })?;
        if fitted.record.outcome == Outcome::Interrupted && fitted.record.rounds == 0 {
            return Err(
                Error::interrupted("stopped before the first round ended; nothing was written").into()
            );
        }
        let ranker = self.fitting.save(&material, learner.complete(set)?, fitted)?;
        self.report(&ranker, &material)?;
        if let Some(checkpoint) = checkpoint {
            if ranker.record.outcome == Outcome::Interrupted {
                output::note(format!(
                    "the same command goes on from the checkpoint {}",
                    checkpoint.path.display()
                ));
            } else {
                checkpoint.remove()?;
            }
        }
        Ok(interrupt::exit_code(&ranker.record))
    }

    fn report(&self, ranker: &Ranker, material: &Material) -> Result<()> {
        let value = |data: &Dataset| -> Result<Option<f64>> {
            Ok(evaluate(data, &ranker.model.scores(data)?, &material.metric)?.mean(0))
        };
        let on_train = value(&material.train)?;
        let on_valid = material.valid.as_ref().map(value).transpose()?.flatten();
        output::notes(&ranker.record.notes);
        let path = &self.fitting.output;
        if self.fitting.json {
            return output::print_json(&serde_json::json!({
                "model": path, "learner": ranker.learner.name, "metric": ranker.metric,
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
        let best = ranker.record.figures.iter().find(|(name, _)| name == "best round");
        if let Some((_, best)) = best {
            text.push_str(&format!("; the model is that of round {best}, the best of them"));
        }
        if path.as_os_str() == "-" {
            output::note(text);
            return Ok(());
        }
        output::print(&format!("{}\nwrote {}\n", table::wrap(&text), path.display()))
    }
}
