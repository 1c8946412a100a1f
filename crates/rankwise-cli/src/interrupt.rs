//! Ctrl-C: during training, the first one stops it and keeps the best model so far. A second one, or one at any other
//! time, ends the program at once and removes unfinished files.

use crate::output;
use rankwise::data::temporary_path;
use rankwise::models::{Outcome, Record};
use rankwise::watch::Stop;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex};

/// The exit code of a program ended by Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;

static STOP: LazyLock<Stop> = LazyLock::new(Stop::default);
static CAN_STOP: AtomicBool = AtomicBool::new(false);
static OUTPUTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Installs the handler of Ctrl-C.
pub(crate) fn install() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        let polite = CAN_STOP.load(Ordering::Relaxed) && !STOP.requested();
        STOP.request();
        if polite {
            output::note("stopping as soon as possible; press Ctrl-C again to end at once without saving");
        } else {
            OUTPUTS.lock().unwrap_or_else(|e| e.into_inner()).iter().for_each(|path| {
                // The file may not exist yet.
                let _ = std::fs::remove_file(temporary_path(path));
            });
            std::process::exit(INTERRUPTED.into());
        }
    })?;
    Ok(())
}

/// Registers `path` as being written, so that Ctrl-C removes its temporary file.
pub(crate) fn will_write(path: &Path) {
    OUTPUTS.lock().unwrap_or_else(|e| e.into_inner()).push(path.to_path_buf());
}

/// Runs `work`, which watches the flag it is given and returns the best result so far once the flag is raised.
pub(crate) fn stoppable<T>(work: impl FnOnce(&Stop) -> T) -> T {
    CAN_STOP.store(true, Ordering::Relaxed);
    let result = work(&STOP);
    CAN_STOP.store(false, Ordering::Relaxed);
    result
}

/// The exit code after training: 130 if it was interrupted and the model is only the best so far.
pub(crate) fn exit_code(record: &Record) -> ExitCode {
    if record.outcome == Outcome::Interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS }
}
