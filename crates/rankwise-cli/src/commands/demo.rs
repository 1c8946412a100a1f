use super::run::{Finished, run};
use crate::{leaderboard, output};
use anyhow::Result;
use clap::Args;
use rankwise::experiment::Spec;
use rankwise::experiment::directory::REPORT;
use std::path::PathBuf;

/// The experiment, embedded in the program.
const QUICK: &str = include_str!("../../demo/quick.toml");

/// Run every learner on embedded data in under a minute, and write a leaderboard and an HTML report; or show search.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  rankwise demo\n  rankwise demo -o my-demo --seed 7\n  rankwise demo search"
)]
pub(crate) struct Demo {
    /// What to show: every learner on synthetic data (learners), or a search of a small collection by BM25 and by a model
    /// (search)
    #[cfg(feature = "search")]
    #[arg(default_value = "learners", value_name = "WHAT")]
    what: What,

    /// The directory to write to. Default: rankwise-demo, or rankwise-demo-search
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Random seed
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[cfg(feature = "search")]
#[derive(clap::ValueEnum, Clone, Copy, PartialEq)]
enum What {
    Learners,
    Search,
}

impl Demo {
    pub(crate) fn run(self) -> Result<()> {
        #[cfg(feature = "search")]
        if self.what == What::Search {
            let output = self.output.unwrap_or_else(|| "rankwise-demo-search".into());
            return super::demo_search::run(&output, self.seed, self.json);
        }
        let output = self.output.unwrap_or_else(|| "rankwise-demo".into());
        let spec = Spec { seed: self.seed, ..Spec::parse(QUICK, "the embedded experiment")? };
        let Finished { findings, times, .. } = run(spec, &output, None, true)?;
        if self.json {
            return output::print_json(&serde_json::to_value(&findings)?);
        }
        output::print(&leaderboard::text(&findings, &times))?;
        output::print(&format!("\nreport: {}\n", output.join(REPORT).display()))
    }
}
