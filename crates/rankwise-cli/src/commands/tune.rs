use crate::fitting::{Fitting, Material, settings};
use crate::progress::{Jobs, ProgressBar};
use crate::{interrupt, output, table};
use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use rankwise::experiment::findings::Trial;
use rankwise::experiment::spec::{Method, Search};
use rankwise::experiment::{Tuned, Tuning};
use std::path::PathBuf;
use std::process::ExitCode;

/// Search a learner's parameters on validation queries and write the best model.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  rankwise tune regression --train train.txt --valid valid.txt \\\n      \
    --grid 'ridge=[1e-6, 1e-3, 1.0]' -o model.json\n  \
    rankwise tune regression --train train.txt --valid valid.txt \\\n      \
    --method random --draws 30 -o model.json \\\n      \
    --grid 'ridge={ from = 1e-9, to = 1e3, log = true }'"
)]
pub(crate) struct Tune {
    /// The data to choose on
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    valid: Vec<PathBuf>,

    /// A parameter and its values, a list or a range; repeat for more
    #[arg(long, required = true, value_name = "KEY=VALUES")]
    grid: Vec<String>,

    /// All combinations, random draws, or draws thinned out on growing shares of the queries
    #[arg(long, default_value = "grid")]
    method: MethodName,

    /// Settings to draw, for random and halving
    #[arg(long, default_value_t = 20, value_name = "N")]
    draws: usize,

    #[command(flatten)]
    fitting: Fitting,
}

#[derive(ValueEnum, Clone, Copy)]
enum MethodName {
    Grid,
    Random,
    Halving,
}

impl Tune {
    pub(crate) fn run(self) -> Result<ExitCode> {
        ensure!(self.draws > 0, "--draws 0 tries nothing");
        let grid = settings(&self.grid)?;
        let material = self.fitting.material(&self.valid)?;
        let Material { learner, set, metric, train, valid, .. } = &material;
        let valid = valid.as_ref().context("there are no validation queries")?;
        let method = match self.method {
            MethodName::Grid => Method::Grid,
            MethodName::Random => Method::Random,
            MethodName::Halving => Method::Halving,
        };
        let search = Search { method, draws: self.draws, ..Search::default() };
        let seed = self.fitting.seed;
        let tuning = Tuning { learner, set, grid: &grid, search: &search, train, valid, metric, seed };
        let Tuned { parameters, trials, failures, fitted } = interrupt::stoppable(|stop| {
            let jobs = Jobs::new();
            tuning.run(&|job| jobs.done(job), &mut ProgressBar::new(learner.card.name, stop))
        })?;
        let ranker = self.fitting.save(&material, parameters, fitted)?;
        output::notes(&failures);
        if self.fitting.json {
            output::print_json(&serde_json::json!({
                "model": self.fitting.output, "parameters": ranker.parameters, "trials": trials,
            }))?;
        } else {
            self.report(&trials, &ranker.metric)?;
        }
        Ok(interrupt::exit_code(&ranker.record))
    }

    fn report(&self, trials: &[Trial], metric: &str) -> Result<()> {
        let value = |trial: &Trial| trial.valid.unwrap_or(f64::NEG_INFINITY);
        let mut trials: Vec<&Trial> = trials.iter().collect();
        trials.sort_by(|a, b| b.share.total_cmp(&a.share).then(value(b).total_cmp(&value(a))));
        let mut table = table::Columns::new(&["setting", ">share of queries", &format!(">{metric} (valid)")]);
        for trial in trials {
            let setting: Vec<String> = trial.parameters.iter().map(|(k, v)| format!("{k}={v}")).collect();
            let value = trial.valid.map_or("failed".into(), table::four);
            table.row([setting.join(" "), format!("{:.0} %", 100.0 * trial.share), value]);
        }
        let text = format!("{}\nwrote the first to {}\n", table.render(), self.fitting.output.display());
        if self.fitting.output.as_os_str() == "-" {
            output::note(text.trim_end());
            return Ok(());
        }
        output::print(&text)
    }
}
