use crate::progress::Jobs;
use crate::{interrupt, leaderboard, output};
use anyhow::{Context, Result};
use clap::Args;
use rankwise::experiment::directory::{FILES, REPORT, write_results};
use rankwise::experiment::{
    ChosenModel, Experiment, Findings, Observer, RunOptions, Spec, Times, TrainCommand,
};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Run an experiment file: data sets × folds × learners × settings.
///
/// Writes a leaderboard, tables and an HTML report.
#[derive(Args)]
#[command(
    after_help = "A small experiment file; docs/experiments.md of the source code describes all keys:\n  \
    name = \"mine\"\n  metrics = \"ndcg@10,map\"\n\n  [[data]]\n  name = \"data\"\n  files = [\"data.txt\"]\n\n  \
    [[learner]]\n  name = \"lambda-mart\"\n  grid = { learning_rate = [0.05, 0.1] }\n\n\
    Every finished job is written to a journal in DIR: after a crash or Ctrl-C, the same command \
    resumes.\nThe exit code is 1 if a job failed or an expected figure was not met.\n\n\
    `python -m rankwise run FILE --engine ray` runs the jobs on Ray; dask and local are other engines.\n\n\
    Examples:\n  rankwise run experiments/quick.toml\n  \
    rankwise run experiments/ohsumed.toml -o results/ohsumed --keep-models"
)]
pub(crate) struct Run {
    /// Experiment file, TOML
    experiment: PathBuf,

    /// Directory to write to; results/NAME when not given
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Write the chosen model of every fold to DIR/models, and print the command that trains each of them
    #[arg(long)]
    keep_models: bool,

    /// Start over, whatever the directory contains
    #[arg(long)]
    fresh: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Run {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let spec = Spec::load(&self.experiment)?;
        let directory = self.output.unwrap_or_else(|| Path::new("results").join(&spec.name));
        let models = self.keep_models.then(|| directory.join("models"));
        let Finished { findings, times, models } = run(spec, &directory, models.as_deref(), self.fresh)
            .with_context(|| self.experiment.display().to_string())?;
        if self.json {
            output::print_json(&serde_json::to_value(&findings)?)?;
        } else {
            output::print(&leaderboard::text(&findings, &times))?;
            models.iter().try_for_each(|model| output::print(&command_lines(model)))?;
            output::print(&format!("\nreport: {}\n", directory.join(REPORT).display()))?;
        }
        let good = findings.failures.is_empty() && findings.expectations.iter().all(|e| e.met);
        Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// What a run leaves.
pub(super) struct Finished {
    pub(super) findings: Findings,
    pub(super) times: Times,
    /// The models that were kept.
    models: Vec<ChosenModel>,
}

/// Runs an experiment into a directory with a progress display; keeps the chosen models in `models`, if given.
pub(super) fn run(spec: Spec, directory: &Path, models: Option<&Path>, fresh: bool) -> Result<Finished> {
    std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let experiment = Experiment::load(spec, &program()?)?;
    output::notes(&experiment.forecast()?);
    FILES.iter().for_each(|name| interrupt::will_write(&directory.join(name)));
    let command: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let (findings, mut times) = interrupt::stoppable(|stop| {
        let jobs = Jobs::new();
        let observer = Observer { stop, done: &|job| jobs.done(job) };
        let options = RunOptions { directory, command: &command.join(" "), keep_models: models, fresh };
        experiment.run(&options, &observer)
    })?;
    times.peak_bytes = peak_memory();
    write_results(directory, &findings, &times)?;
    let models = models.map_or(Vec::new(), |models| experiment.chosen_models(&findings, models));
    Ok(Finished { findings, times, models })
}

/// A kept model and the command that trains it again.
fn command_lines(model: &ChosenModel) -> String {
    let ChosenModel { data, system, fold, repeat, path, command } = model;
    let repeat = if *repeat > 0 { format!(", repeat {}", repeat + 1) } else { String::new() };
    let command = match command {
        TrainCommand::Arguments(arguments) => {
            let quoted: Vec<String> =
                arguments.iter().map(|argument| output::shell_quoted(argument)).collect();
            format!("rankwise {}", quoted.join(" "))
        }
        TrainCommand::Unavailable(why) => format!("# no command trains it: {why}"),
    };
    format!("\n# {system} on {data}, fold {}{repeat}: {}\n{command}\n", fold + 1, path.display())
}

/// Which build this is, by the bytes of the program.
fn program() -> Result<String> {
    let path = std::env::current_exe().context("cannot find the path of this program")?;
    let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(format!("rankwise {} {}", env!("CARGO_PKG_VERSION"), rankwise::models::checksum(&bytes)))
}

/// Peak memory of this process, where the system reports it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}
