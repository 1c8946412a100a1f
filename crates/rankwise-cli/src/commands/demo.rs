use super::run::{Finished, run};
use crate::{leaderboard, output};
use anyhow::Result;
use clap::Args;
use rankwise::experiment::Spec;
use rankwise::experiment::directory::REPORT;
use std::path::PathBuf;

/// The experiment, embedded in the program.
const QUICK: &str = include_str!("../../demo/quick.toml");

/// Run every learner on embedded data in under a minute, and write a leaderboard and an HTML report.
#[derive(Args)]
#[command(after_help = "Examples:\n  rankwise demo\n  rankwise demo -o my-demo --seed 7")]
pub(crate) struct Demo {
    /// The directory to write to
    #[arg(short, long, default_value = "rankwise-demo", value_name = "DIR")]
    output: PathBuf,

    /// Random seed
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Demo {
    pub(crate) fn run(self) -> Result<()> {
        let spec = Spec { seed: self.seed, ..Spec::parse(QUICK, "the embedded experiment")? };
        let Finished { findings, times, .. } = run(spec, &self.output, None, true)?;
        if self.json {
            return output::print_json(&serde_json::to_value(&findings)?);
        }
        output::print(&leaderboard::text(&findings, &times))?;
        output::print(&format!("\nreport: {}\n", self.output.join(REPORT).display()))
    }
}
