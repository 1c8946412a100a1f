use crate::progress::Jobs;
use crate::{interrupt, leaderboard, output};
use anyhow::{Context, Result};
use clap::Args;
use rankwise::experiment::directory::{FILES, REPORT, remove_journal, write_results};
use rankwise::experiment::{Experiment, Findings, Observer, RunOptions, Spec, Times};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Run an experiment file: data sets × folds × learners × settings; leaderboard, tables and an HTML report.
#[derive(Args)]
#[command(
    after_help = "Every finished job is journaled in DIR: the same command goes on where it was stopped or killed.\n\
    The exit code is 1 when a job failed or an expected figure did not come.\n\n\
    Examples:\n  rankwise run experiments/quick.toml\n  rankwise run experiments/ohsumed.toml -o results/ohsumed"
)]
pub(crate) struct Run {
    /// The experiment, as TOML
    experiment: PathBuf,

    /// The directory to write to; results/NAME when not given
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Begin anew, whatever the directory holds
    #[arg(long)]
    fresh: bool,

    /// Print the findings for machines
    #[arg(long)]
    json: bool,
}

impl Run {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let spec = Spec::load(&self.experiment)?;
        let directory = self.output.unwrap_or_else(|| Path::new("results").join(&spec.name));
        let (findings, times) =
            run(spec, &directory, self.fresh).with_context(|| self.experiment.display().to_string())?;
        if self.json {
            output::print_json(&serde_json::to_value(&findings)?)?;
        } else {
            output::print(&leaderboard::text(&findings, &times))?;
            output::print(&format!("\nreport: {}\n", directory.join(REPORT).display()))?;
        }
        let good = findings.failures.is_empty() && findings.expectations.iter().all(|e| e.met);
        Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Runs an experiment into a directory, under a progress display.
pub(super) fn run(spec: Spec, directory: &Path, fresh: bool) -> Result<(Findings, Times)> {
    std::fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let experiment = Experiment::load(spec, &program()?)?;
    if fresh {
        remove_journal(directory)?;
    }
    FILES.iter().for_each(|name| interrupt::will_write(&directory.join(name)));
    let command: Vec<String> = std::env::args().collect();
    let (findings, mut times) = interrupt::stoppable(|stop| {
        let jobs = Jobs::new();
        let observer = Observer { stop, done: &|job| jobs.done(job) };
        let options = RunOptions { directory, command: &command.join(" "), keep_models: None };
        experiment.run(&options, &observer)
    })?;
    times.peak_bytes = peak_memory();
    write_results(directory, &findings, &times)?;
    Ok((findings, times))
}

/// Which build this is, by the bytes of the program.
fn program() -> Result<String> {
    let path = std::env::current_exe().context("cannot tell which program this is")?;
    let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(format!("rankwise {} {}", env!("CARGO_PKG_VERSION"), rankwise::models::checksum(&bytes)))
}

/// The most memory this process has held, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}
