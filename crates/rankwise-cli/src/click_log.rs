//! Reading logs of clicks, with progress and with notes on what is wrong with them.

use crate::progress::SessionCount;
use crate::{output, table};
use anyhow::{Result, ensure};
use clap::Args;
use rankwise::clicks::{LogReader, LogReport, Session};
use std::path::{Path, PathBuf};

/// The files of a log.
#[derive(Args)]
pub(crate) struct LogArgs {
    /// The log: JSON lines, plain, .gz or .zst; several files are read as one log
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
}

impl LogArgs {
    /// Gives every session that can be used to `each`. Fails if there is none.
    pub(crate) fn each(&self, mut each: impl FnMut(&Session)) -> Result<LogReport> {
        let mut log = LogReader::open_all(&self.logs)?;
        let mut bar = SessionCount::new();
        for session in &mut log {
            each(&session?);
            bar.add();
        }
        drop(bar);
        let report = log.report().clone();
        output::notes(&report.notes());
        ensure!(report.sessions > 0, "{} has no sessions that can be used", self.names());
        Ok(report)
    }

    /// The files, for messages and for [`output::prepare_to_write`].
    pub(crate) fn read(&self) -> Vec<(&'static str, &Path)> {
        self.logs.iter().map(|path| ("the log", path.as_path())).collect()
    }

    fn names(&self) -> String {
        let names: Vec<String> = self.logs.iter().map(|path| path.display().to_string()).collect();
        names.join(", ")
    }
}

/// A table without a header, of what something is and its value.
pub(crate) fn summary<const N: usize>(lines: [(&str, String); N]) -> String {
    let mut table = table::Columns::new(&["", ""]).headless();
    lines.iter().for_each(|(what, value)| table.row([*what, value.as_str()]));
    table.render()
}

/// The ranks that tables show; `--json` has all.
pub(crate) const SHOWN_RANKS: usize = 20;

/// Says that a table leaves out some of so many ranks.
pub(crate) fn more_ranks(ranks: usize) -> String {
    match ranks.saturating_sub(SHOWN_RANKS) {
        0 => String::new(),
        more => format!("… {}; --json has all\n", output::count(more, "more rank", "more ranks")),
    }
}

/// A fraction as a percentage with one decimal.
pub(crate) fn percent(fraction: f64) -> String {
    format!("{:.1} %", 100.0 * fraction)
}
