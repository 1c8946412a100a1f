//! Ctrl-C: the first asks training to stop and keeps the best model so far; anywhere else, or the second time,
//! the program ends at once and leaves nothing half-written.

use crate::output;
use rankwise::data::temporary_path;
use rankwise::models::{Outcome, Record};
use rankwise::watch::Stop;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex};

/// What a shell reports for a program ended by Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;

static STOP: LazyLock<Stop> = LazyLock::new(Stop::default);
static CAN_STOP: AtomicBool = AtomicBool::new(false);
static OUTPUTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Takes charge of Ctrl-C.
pub(crate) fn install() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        let polite = CAN_STOP.load(Ordering::Relaxed) && !STOP.requested();
        STOP.request();
        if polite {
            output::note(
                "stopping at the next convenient point; Ctrl-C again ends at once and keeps nothing",
            );
        } else {
            OUTPUTS.lock().unwrap_or_else(|e| e.into_inner()).iter().for_each(|path| {
                // It may not have been begun yet.
                let _ = std::fs::remove_file(temporary_path(path));
            });
            std::process::exit(INTERRUPTED.into());
        }
    })?;
    Ok(())
}

/// Notes that `path` is being written, so that its temporary file goes when the program is ended.
pub(crate) fn will_write(path: &Path) {
    OUTPUTS.lock().unwrap_or_else(|e| e.into_inner()).push(path.to_path_buf());
}

/// Runs work that looks at the flag it is given and returns the best so far when that is raised.
pub(crate) fn stoppable<T>(work: impl FnOnce(&Stop) -> T) -> T {
    CAN_STOP.store(true, Ordering::Relaxed);
    let result = work(&STOP);
    CAN_STOP.store(false, Ordering::Relaxed);
    result
}

/// How to end after training: a model that is only the best so far is told from a finished one.
pub(crate) fn exit_code(record: &Record) -> ExitCode {
    if record.outcome == Outcome::Interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS }
}
