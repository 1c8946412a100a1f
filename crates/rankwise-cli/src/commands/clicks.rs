mod evaluate;
mod fit;
mod import;
mod interleaving;
mod preferences;
mod propensity;
mod simulate;
mod stats;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Search logs: statistics, click models, propensities, preferences, comparisons of rankers.
#[derive(Args)]
#[command(
    arg_required_else_help = true,
    after_help = "A log is JSON lines, one list of documents shown and the clicks on it per line:\n\
    {\"id\": \"s1\", \"query\": \"q\", \"shown\": [\"d7\", \"d2\"], \"clicks\": [{\"doc\": \"d2\"}]}\n\n\
    Examples:\n  rankwise clicks stats log.jsonl --json\n  \
    rankwise clicks propensity log.jsonl --by paired-ranks -o theta.json\n  \
    rankwise clicks fit dbn log.jsonl -o dbn.json"
)]
pub(crate) struct Clicks {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Stats(stats::Stats),
    Fit(fit::Fit),
    Propensity(propensity::Propensity),
    Preferences(preferences::PreferencesCommand),
    Evaluate(evaluate::Evaluate),
    Interleaving(interleaving::InterleavingCommand),
    Simulate(simulate::Simulate),
    Import(import::Import),
}

impl Clicks {
    pub(crate) fn run(self) -> Result<()> {
        match self.command {
            Command::Stats(command) => command.run(),
            Command::Fit(command) => command.run(),
            Command::Propensity(command) => command.run(),
            Command::Preferences(command) => command.run(),
            Command::Evaluate(command) => command.run(),
            Command::Interleaving(command) => command.run(),
            Command::Simulate(command) => command.run(),
            Command::Import(command) => command.run(),
        }
    }
}
