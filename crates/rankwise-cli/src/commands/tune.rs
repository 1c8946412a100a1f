use crate::progress::{Jobs, ProgressBar};
use crate::train_args::{TrainArgs, settings};
use crate::{interrupt, output, table};
use anyhow::Result;
use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use rankwise::experiment::spec::{Search, SearchMethod};
use rankwise::experiment::{Tuned, TunedTrial, Tuning, Validation};
use std::path::PathBuf;
use std::process::ExitCode;

/// Search a learner's parameters and write the best model.
#[derive(Args)]
#[command(
    after_help = "Without --valid, settings are compared by cross-validation over the training queries, and the best \
    one is trained again on all of them.\n\n\
    Examples:\n  rankwise tune regression --train train.txt --valid valid.txt \\\n      \
    --grid 'ridge=[1e-6, 1e-3, 1.0]' -o model.json\n  \
    rankwise tune lambda-mart --train train.txt --folds 5 \\\n      \
    --grid 'num_leaves=[7, 15, 31]' --grid 'learning_rate=[0.05, 0.1]' -o model.json\n  \
    rankwise tune svm-map --train train.txt --valid valid.txt \\\n      \
    --method random --draws 30 -o model.json \\\n      \
    --grid 'c={ from = 1e-3, to = 1e3, log = true }'"
)]
pub(crate) struct Tune {
    /// Validation data to compare settings on
    #[arg(long, num_args = 1.., value_name = "FILE", conflicts_with = "folds")]
    valid: Vec<PathBuf>,

    /// Number of cross-validation folds when there is no validation data
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = RangedU64ValueParser::<usize>::new().range(2..=10_000))]
    folds: usize,

    /// A parameter and its values, a list or a range; repeat for more
    #[arg(long, required = true, value_name = "NAME=VALUES")]
    grid: Vec<String>,

    /// All combinations, random draws, or draws halved on growing fractions of the queries
    #[arg(long, default_value = "grid")]
    method: MethodName,

    /// Settings to draw, for random and halving
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=100_000))]
    draws: usize,

    #[command(flatten)]
    training: TrainArgs,
}

#[derive(ValueEnum, Clone, Copy)]
enum MethodName {
    Grid,
    Random,
    Halving,
}

impl Tune {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let grid = settings(&self.grid)?;
        let recipe = self.training.recipe()?;
        let trainer = recipe.check()?;
        let (train, valid) = self.training.read(&self.valid)?;
        let (train, valid) = (trainer.prepare(train)?, valid.map(|v| trainer.prepare(v)).transpose()?);
        let method = match self.method {
            MethodName::Grid => SearchMethod::Grid,
            MethodName::Random => SearchMethod::Random,
            MethodName::Halving => SearchMethod::Halving,
        };
        let search = Search { method, draws: self.draws, ..Search::default() };
        let validation = valid.as_ref().map_or(Validation::Folds(self.folds), Validation::Data);
        let metric = &[self.training.metric()?];
        let tuning =
            Tuning { recipe: &recipe, grid: &grid, search: &search, train: &train, validation, metric };
        output::notes(&Vec::from_iter(tuning.forecast()?));
        let tuned = interrupt::stoppable(|stop| {
            let jobs = Jobs::new();
            tuning.run(&|job| jobs.done(job), &mut ProgressBar::new(trainer.learner(), stop))
        })?;
        self.training.save(&tuned.ranker)?;
        output::notes(&tuned.failures);
        if self.training.json {
            output::print_json(&serde_json::json!({
                "model": output::json_path(&self.training.output), "parameters": tuned.ranker.parameters,
                "folds": tuned.folds,
                "valid": tuned.value, "iterations": tuned.iterations, "trials": tuned.trials,
            }))?;
        } else {
            self.report(&tuned)?;
        }
        Ok(interrupt::exit_code(&tuned.ranker.record))
    }

    fn report(&self, tuned: &Tuned) -> Result<()> {
        let value = |trial: &TunedTrial| trial.valid.unwrap_or(f64::NEG_INFINITY);
        let mut trials: Vec<&TunedTrial> = tuned.trials.iter().collect();
        trials.sort_by(|a, b| b.fraction.total_cmp(&a.fraction).then(value(b).total_cmp(&value(a))));
        let on = tuned.folds.map_or("valid".into(), |folds| format!("{folds} folds"));
        let heading = format!(">{} ({on})", tuned.ranker.metric);
        let mut table = table::Columns::new(&["setting", ">queries used", &heading]);
        for trial in trials {
            let setting: Vec<String> = trial.parameters.iter().map(|(k, v)| format!("{k}={v}")).collect();
            let value = trial.valid.map_or("failed".into(), table::four);
            table.row([setting.join(" "), format!("{:.0} %", 100.0 * trial.fraction), value]);
        }
        let refit = match (&tuned.iterations, tuned.folds) {
            (Some(kept), _) => format!(", trained on all queries with {}={}", kept.parameter, kept.count),
            (None, Some(_)) => ", trained on all queries".into(),
            (None, None) => String::new(),
        };
        let text = format!("wrote the first{refit} to {}", self.training.output.display());
        let text = format!("{}\n{}\n", table.render(), table::wrap(&text));
        if self.training.file().is_none() {
            output::note(text.trim_end());
            return Ok(());
        }
        output::print(&text)
    }
}
