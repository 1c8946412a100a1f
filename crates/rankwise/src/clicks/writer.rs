//! Writing logs.

use super::log::Session;
use crate::data::AtomicFile;
use crate::error::{Error, Result};
use std::path::Path;

/// Writes a log, one session at a time. The file appears when it is complete; `.gz` and `.zst` compress it.
///
/// ```
/// use rankwise::clicks::{LogReader, LogWriter, Session};
/// let path = std::env::temp_dir().join(format!("rankwise-written-{}.jsonl", std::process::id()));
/// let mut writer = LogWriter::create(&path)?;
/// writer.put(&Session { id: "s".into(), query: "q".into(), shown: vec!["a".into()], ..Session::default() })?;
/// writer.commit()?;
/// assert_eq!(LogReader::open(&path)?.count(), 1);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), rankwise::Error>(())
/// ```
pub struct LogWriter {
    file: AtomicFile,
    line: Vec<u8>,
}

impl LogWriter {
    /// Starts a log. The path `-` is standard output.
    pub fn create(path: &Path) -> Result<LogWriter> {
        Ok(LogWriter { file: AtomicFile::create(path)?, line: Vec::new() })
    }

    /// Appends a session.
    pub fn put(&mut self, session: &Session) -> Result<()> {
        self.line.clear();
        push_line(&mut self.line, session)?;
        self.file.put(&self.line)
    }

    /// Completes the log.
    pub fn commit(self) -> Result<()> {
        self.file.commit()
    }
}

/// Writes sessions as a log; `.gz` and `.zst` compress it.
pub fn write_log<'a>(path: &Path, sessions: impl IntoIterator<Item = &'a Session>) -> Result<()> {
    let mut writer = LogWriter::create(path)?;
    for session in sessions {
        writer.put(session)?;
    }
    writer.commit()
}

/// Appends a session as a line of JSON.
pub(crate) fn push_line(text: &mut Vec<u8>, session: &Session) -> Result<()> {
    serde_json::to_writer(&mut *text, session)
        .map_err(|e| Error::data(format!("session `{}` cannot be written as JSON: {e}", session.id)))?;
    text.push(b'\n');
    Ok(())
}
