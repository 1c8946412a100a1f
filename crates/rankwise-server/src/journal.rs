//! A file that lines are appended to, each with a checksum, and that survives the end of the process at any moment.
//!
//! One thread writes. It takes all lines that wait, writes them at once, asks the system to put them on the disk if one of
//! them needs that, and then tells those who wait. What could not be written is cut off again, so that the next line begins
//! where a line ends.

mod opening;

pub(crate) use opening::{Form, beside, end_of_line};

use rankwise::{Error, Result};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// How many lines may wait to be written.
const WAITING: usize = 1 << 16;

/// How much of a file that takes the place of one that was moved is looked at, for a line that is not complete.
const MOST_READ_AGAIN: u64 = 1 << 20;

/// How many bytes are written at once.
const AT_ONCE: usize = 1 << 20;

/// Why a line is not in the file, as a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotWritten(pub(crate) String);

/// What became of a line.
pub(crate) type Written = std::result::Result<(), NotWritten>;

/// A line to append.
pub(crate) struct Entry {
    /// The line with its end.
    pub(crate) line: Vec<u8>,
    /// Whether it must be on the disk before `done` is called.
    pub(crate) sync: bool,
    /// Called by the thread that writes, in the order of the lines.
    pub(crate) done: Box<dyn FnOnce(Written) + Send>,
}

/// A file that lines are appended to.
pub(crate) struct Journal {
    sender: Mutex<Option<SyncSender<Entry>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    failing: Arc<AtomicBool>,
}

/// A journal, and what was in the file.
pub(crate) struct Opened {
    pub(crate) journal: Journal,
    /// The last whole lines, from the first line that begins within the bytes asked for.
    pub(crate) lines: Vec<u8>,
    /// What was noticed.
    pub(crate) notes: Vec<String>,
}

impl Journal {
    /// Opens a file for appending, and reads its last `tail` bytes. What was not written completely is cut off and kept
    /// beside the file.
    pub(crate) fn open(path: &Path, tail: u64, form: Form) -> Result<Opened> {
        let mut notes = Vec::new();
        let (file, lines) = opening::open(path, tail, form, &mut notes)?;
        let (sender, receiver) = sync_channel(WAITING);
        let failing = Arc::new(AtomicBool::new(false));
        let metadata = file.metadata().map_err(|error| Error::io("read", path, error))?;
        let writer = Writer {
            file,
            path: path.to_owned(),
            form,
            length: metadata.len(),
            failing: Arc::clone(&failing),
            broken: None,
        };
        let thread =
            std::thread::Builder::new().name("journal".to_owned()).spawn(move || writer.run(&receiver));
        let thread = thread.map_err(|error| Error::io("start a thread that writes", path, error))?;
        let journal = Journal { sender: Mutex::new(Some(sender)), thread: Mutex::new(Some(thread)), failing };
        Ok(Opened { journal, lines, notes })
    }

    /// Appends a line. What becomes of it is told to its `done`, also if it does not even wait.
    pub(crate) fn append(&self, entry: Entry) {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let refused = match sender {
            Some(sender) => sender.try_send(entry).err().map(|error| match error {
                std::sync::mpsc::TrySendError::Full(entry) => (entry, "too many lines wait to be written"),
                std::sync::mpsc::TrySendError::Disconnected(entry) => (entry, "the server is about to end"),
            }),
            None => Some((entry, "the server is about to end")),
        };
        if let Some((entry, why)) = refused {
            (entry.done)(Err(NotWritten(why.to_owned())));
        }
    }

    /// Whether the last attempt to write failed.
    pub(crate) fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Relaxed)
    }

    /// Writes what waits, and ends.
    pub(crate) fn close(&self) {
        drop(self.sender.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()
            && thread.thread().id() != std::thread::current().id()
        {
            // The thread does not panic; if it did, there would be nobody to tell.
            let _ = thread.join();
        }
    }
}

/// The file is free for others once its journal is gone.
impl Drop for Journal {
    fn drop(&mut self) {
        self.close();
    }
}

/// What the thread has.
struct Writer {
    file: File,
    path: PathBuf,
    form: Form,
    /// How long a file that does not rotate was when it was written to last.
    length: u64,
    failing: Arc<AtomicBool>,
    /// Why nothing can be written any more.
    broken: Option<String>,
}

impl Writer {
    fn run(mut self, receiver: &Receiver<Entry>) {
        let mut entries = Vec::new();
        let mut text = Vec::new();
        while let Ok(first) = receiver.recv() {
            text.clear();
            text.extend_from_slice(&first.line);
            entries.push(first);
            while text.len() < AT_ONCE
                && let Ok(entry) = receiver.try_recv()
            {
                text.extend_from_slice(&entry.line);
                entries.push(entry);
            }
            let written = self.write(&text, entries.iter().any(|entry| entry.sync));
            self.failing.store(written.is_err(), Ordering::Relaxed);
            entries.drain(..).for_each(|entry| (entry.done)(written.clone()));
        }
    }

    /// Appends all of the text, or nothing.
    fn write(&mut self, text: &[u8], sync: bool) -> Written {
        match (self.form.rotates, self.was_moved()) {
            (true, false) => {}
            (true, true) => self.begin_again()?,
            (false, moved) => self.check_untouched(moved)?,
        }
        if let Some(why) = &self.broken {
            return Err(NotWritten(why.clone()));
        }
        let before = self.file.metadata().map(|metadata| metadata.is_file().then_some(metadata.len()));
        let written =
            before.and_then(|length| self.file.write_all(text).inspect_err(|_| self.cut_back(length)));
        written.map_err(|error| self.not_written("write to", &error))?;
        self.length += text.len() as u64;
        if sync && let Err(error) = self.file.sync_data() {
            // What the system could not put on the disk it may have forgotten: another attempt could seem to succeed.
            let failure = self.not_written("put on the disk what was written to", &error);
            self.broken = Some(failure.0.clone());
            return Err(failure);
        }
        Ok(())
    }

    /// Whether somebody has moved the file away, or put another one in its place.
    #[cfg(unix)]
    fn was_moved(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let place = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
        let of_path = std::fs::metadata(&self.path).map(place);
        match of_path {
            Ok(of_path) => self.file.metadata().is_ok_and(|metadata| place(metadata) != of_path),
            Err(error) => error.kind() == ErrorKind::NotFound,
        }
    }

    /// A file that is open cannot be moved.
    #[cfg(not(unix))]
    fn was_moved(&self) -> bool {
        false
    }

    /// Rejects a file that somebody else has moved or written to: what is appended to an unfinished line would be lost.
    fn check_untouched(&self, moved: bool) -> Written {
        let length =
            self.file.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
        match moved || length.is_some_and(|length| length != self.length) {
            false => Ok(()),
            true => Err(NotWritten(format!(
                "{} was changed, moved, removed or replaced by somebody else while the server was running; start the server \
                 again, so that it reads and continues the file that is there now",
                self.path.display()
            ))),
        }
    }

    /// Goes on with the file that stands in the place of the one that was moved away, which begins empty if there is none.
    fn begin_again(&mut self) -> Written {
        // Clicks on lists that are in the old file may be acknowledged from now on.
        self.file.sync_data().map_err(|error| self.not_written("put on the disk what was in", &error))?;
        let opened = opening::open(&self.path, MOST_READ_AGAIN, self.form, &mut Vec::new());
        let (file, _) = opened.map_err(|error| NotWritten(error.to_string()))?;
        (self.file, self.broken) = (file, None);
        Ok(())
    }

    /// Removes the part of a text that was written.
    fn cut_back(&mut self, length: Option<u64>) {
        if let Some(length) = length
            && let Err(error) = self.file.set_len(length)
        {
            self.broken = Some(self.not_written("cut off an incomplete line of", &error).0);
        }
    }

    fn not_written(&self, doing: &str, error: &io::Error) -> NotWritten {
        NotWritten(format!("cannot {doing} {}: {error}", self.path.display()))
    }
}

#[cfg(test)]
mod tests;
