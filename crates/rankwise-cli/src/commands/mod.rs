//! The commands, one file each.

mod clicks;
mod compare;
mod completions;
mod convert;
mod demo;
#[cfg(feature = "search")]
mod demo_search;
#[cfg(feature = "server")]
mod demo_serve;
mod dependence;
mod eval;
mod explain;
mod export;
#[cfg(feature = "search")]
mod features;
mod fuse;
mod importance;
#[cfg(feature = "search")]
mod index;
mod inspect;
#[cfg(feature = "server")]
mod judge;
mod labels;
mod learners;
mod metrics;
mod prepare;
mod run;
mod score;
#[cfg(feature = "search")]
mod search;
#[cfg(feature = "server")]
mod serve;
mod split;
mod stats;
mod study;
mod synth;
mod train;
mod tune;
mod verify_export;
mod worker;

use anyhow::Result;
use clap::Subcommand;
use std::process::ExitCode;

/// The subcommands.
#[derive(Subcommand)]
pub(crate) enum Command {
    Demo(demo::Demo),
    Learners(learners::Learners),
    Metrics(metrics::Metrics),
    Stats(stats::Stats),
    Prepare(prepare::Prepare),
    Convert(convert::Convert),
    Split(split::Split),
    Synth(synth::Synth),
    Train(train::Train),
    Tune(tune::Tune),
    Score(score::Score),
    Eval(eval::Eval),
    Compare(compare::Compare),
    Fuse(fuse::Fuse),
    Run(run::Run),
    Study(study::Study),
    Inspect(inspect::Inspect),
    Importance(importance::Importance),
    Explain(explain::Explain),
    Dependence(dependence::Dependence),
    Export(export::Export),
    VerifyExport(verify_export::VerifyExport),
    #[cfg(feature = "search")]
    Index(index::IndexCommand),
    #[cfg(feature = "search")]
    Features(features::FeaturesCommand),
    #[cfg(feature = "search")]
    Search(search::SearchCommand),
    #[cfg(feature = "server")]
    Serve(Box<serve::Serve>),
    #[cfg(feature = "server")]
    Judge(judge::Judge),
    Labels(labels::Labels),
    Clicks(clicks::Clicks),
    Completions(completions::Completions),
    #[command(hide = true)]
    Worker(worker::Worker),
}

impl Command {
    /// Runs the command. `threads` is what the user asked for.
    pub(crate) fn run(self, threads: Option<u16>) -> Result<ExitCode> {
        match self {
            Command::Train(command) => return command.run(threads),
            Command::Run(command) => return command.run(),
            Command::Study(command) => return command.run(),
            Command::Tune(command) => return command.run(),
            Command::VerifyExport(command) => return command.run(),
            Command::Demo(command) => command.run(),
            Command::Learners(command) => command.run(),
            Command::Metrics(command) => command.run(),
            Command::Stats(command) => command.run(),
            Command::Prepare(command) => command.run(),
            Command::Convert(command) => command.run(),
            Command::Split(command) => command.run(),
            Command::Synth(command) => command.run(),
            Command::Score(command) => command.run(),
            Command::Eval(command) => command.run(),
            Command::Compare(command) => command.run(),
            Command::Fuse(command) => command.run(),
            Command::Inspect(command) => command.run(),
            Command::Importance(command) => command.run(),
            Command::Explain(command) => command.run(),
            Command::Dependence(command) => command.run(),
            Command::Export(command) => command.run(),
            #[cfg(feature = "search")]
            Command::Index(command) => command.run(),
            #[cfg(feature = "search")]
            Command::Features(command) => command.run(),
            #[cfg(feature = "search")]
            Command::Search(command) => command.run(),
            #[cfg(feature = "server")]
            Command::Serve(command) => command.run(),
            #[cfg(feature = "server")]
            Command::Judge(command) => command.run(),
            Command::Labels(command) => command.run(),
            Command::Clicks(command) => command.run(),
            Command::Completions(command) => command.run(),
            Command::Worker(command) => command.run(),
        }?;
        Ok(ExitCode::SUCCESS)
    }
}
