//! The commands, one file each.

mod compare;
mod completions;
mod convert;
mod demo;
mod dependence;
mod eval;
mod explain;
mod export;
mod fuse;
mod importance;
mod inspect;
mod learners;
mod metrics;
mod prepare;
mod run;
mod score;
mod split;
mod stats;
mod study;
mod synth;
mod train;
mod tune;
mod verify_export;

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
    Completions(completions::Completions),
}

impl Command {
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self {
            Command::Train(command) => return command.run(),
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
            Command::Completions(command) => command.run(),
        }?;
        Ok(ExitCode::SUCCESS)
    }
}
