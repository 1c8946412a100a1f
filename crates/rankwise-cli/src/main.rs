//! The command-line tool of Rankwise: arguments, progress and printing around the `rankwise` library.

mod click_args;
mod click_log;
mod commands;
mod content;
mod documents;
mod input;
mod insight;
mod interrupt;
mod leaderboard;
mod metric_args;
mod network;
mod output;
mod progress;
mod python;
#[cfg(feature = "search")]
mod search_args;
mod table;
mod train_args;
mod trees;

use clap::{CommandFactory, Parser};
use rankwise::ErrorKind;
use std::io::Write;
use std::process::ExitCode;

/// The exit code of every error; clap uses the same for wrong arguments.
const FAILURE: u8 = 2;

/// Learning to rank: train, evaluate, compare, explain and export rankers.
#[derive(Parser)]
#[command(
    name = "rankwise",
    version,
    arg_required_else_help = true,
    infer_subcommands = true,
    max_term_width = 80
)]
#[command(
    after_help = "FILE is LETOR/SVMlight text, CSV or TSV, plain or compressed (.gz, .zst); `-` is standard input.\n\
    `rankwise COMMAND --help` shows options and examples. Most commands have --json."
)]
struct Arguments {
    /// Number of threads. Default: all cores. Results do not depend on it
    #[arg(long, global = true, help_heading = "General", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Print no notes and no progress, only errors
    #[arg(long, short, global = true, help_heading = "General")]
    quiet: bool,

    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    let arguments = parsed();
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

/// The arguments. If they are wrong, ends the program with a message in which what was typed is safe to print.
fn parsed() -> Arguments {
    Arguments::try_parse().unwrap_or_else(|error| {
        let text = error.render().to_string();
        let safe = table::shortened(&table::escaped(&text)).into_owned();
        if safe == text {
            error.exit();
        }
        // If standard error is closed, the message is lost.
        let _ = write!(std::io::stderr(), "{safe}");
        std::process::exit(error.exit_code());
    })
}

fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    interrupt::install()?;
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = arguments.threads {
        pool = pool.num_threads(threads.into());
    }
    let pool = pool.build().map_err(|_| {
        let threads = arguments.threads.map_or("one per core".to_owned(), |threads| threads.to_string());
        anyhow::anyhow!(
            "cannot start the threads ({threads}): the system allows no more; use a smaller --threads"
        )
    })?;
    pool.install(|| arguments.command.run(arguments.threads))
}

/// The whole command line, for shell completions.
fn command_line() -> clap::Command {
    Arguments::command()
}
