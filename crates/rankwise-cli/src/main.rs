//! The command-line tool of Rankwise: arguments, progress and printing around the `rankwise` library.

mod commands;
mod input;
mod insight;
mod interrupt;
mod leaderboard;
mod measuring;
mod network;
mod output;
mod progress;
mod python;
mod table;
mod train_args;
mod trees;

use clap::{CommandFactory, Parser};
use rankwise::ErrorKind;
use std::process::ExitCode;

/// The exit code of every error, as clap uses it for wrong arguments.
const FAILURE: u8 = 2;

/// Learn to rank: read judged data, train rankers, measure and compare rankings.
#[derive(Parser)]
#[command(
    name = "rankwise",
    version,
    arg_required_else_help = true,
    infer_subcommands = true,
    max_term_width = 80
)]
#[command(
    after_help = "FILE is LETOR/SVMlight text, CSV or TSV; plain, .gz or .zst; or `-`: standard input.\n\
    Every command has --help with examples; most have --json for machines."
)]
struct Arguments {
    /// Threads to use; all cores when not given. Results do not depend on it.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,

    /// Say nothing on standard error but errors.
    #[arg(long, short, global = true)]
    quiet: bool,

    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    output::set_quiet(arguments.quiet);
    match run(arguments) {
        Ok(code) => code,
        Err(error) => match error.downcast_ref::<rankwise::Error>().map(rankwise::Error::kind) {
            Some(ErrorKind::ReaderGone) => ExitCode::SUCCESS,
            kind => {
                output::error(&error);
                ExitCode::from(if kind == Some(ErrorKind::Interrupted) {
                    interrupt::INTERRUPTED
                } else {
                    FAILURE
                })
            }
        },
    }
}

fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    interrupt::install()?;
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = arguments.threads {
        pool = pool.num_threads(threads.into());
    }
    // The pool's threads outlive no command: each call of the tool runs one.
    pool.build()?.install(|| arguments.command.run())
}

/// The whole command line, for shell completions.
fn command_line() -> clap::Command {
    Arguments::command()
}
