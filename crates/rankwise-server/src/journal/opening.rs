//! Opening a file that lines are appended to: whether it is one of ours, and what a crash has left at its end.
//!
//! A process that is killed leaves a line without its end. A machine that crashes may also leave zeros in place of blocks
//! that were not on the disk yet, within the lines that were written last. No line of ours has a zero byte, and nobody types
//! one, so such lines were not written completely. Every other line is left as it is, whatever somebody has made of it.

use rankwise::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What the lines of a file are.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    /// What the file is, as in `a log of clicks`.
    pub(crate) name: &'static str,
    /// Whether a file with this first line is one. A line without its end is the only one, and may be cut short.
    pub(crate) begins: fn(&[u8]) -> bool,
    /// Whether a last line lacks nothing but its end.
    pub(crate) is_whole: fn(&[u8]) -> bool,
    /// Where the first row of a text ends: that of a table may have several lines.
    pub(crate) end_of_row: fn(&[u8]) -> usize,
    /// Rejects what is not to be gone on with, before anything is cut off.
    pub(crate) check: fn(&Path, &[u8]) -> Result<()>,
    /// Whether another file is begun when somebody moves this one away. Otherwise nothing more is written once somebody else
    /// has moved or changed it.
    pub(crate) rotates: bool,
}

/// Where the first line ends, as the `end_of_row` of a file whose rows are lines.
pub(crate) fn end_of_line(text: &[u8]) -> usize {
    text.iter().position(|byte| *byte == b'\n').map_or(text.len(), |end| end + 1)
}

/// The most bytes of a first line that are looked at.
const MOST_FIRST: u64 = 64 << 20;

/// How far from the end of a file a crash may leave zeros: more than is written at once.
const MOST_UNSYNCED: usize = 4 << 20;

/// A file that nobody else writes to, and its last lines.
pub(super) fn open(path: &Path, tail: u64, form: Form, notes: &mut Vec<String>) -> Result<(File, Vec<u8>)> {
    let open = OpenOptions::new().read(true).append(true).create(true).open(path);
    let mut file = open.map_err(|error| Error::io("open", path, error))?;
    if let Err(std::fs::TryLockError::WouldBlock) = file.try_lock() {
        return Err(Error::parameter(format!(
            "another server writes to {}, or this one does so already; every file has one server and one use",
            path.display()
        )));
    }
    let read = |error| Error::io("read", path, error);
    if !file.metadata().map_err(read)?.is_file() {
        return Ok((file, Vec::new()));
    }
    let first = first_line(&file).map_err(read)?;
    if !first.is_empty() && !(form.begins)(&first) {
        return Err(Error::data(format!(
            "{} is not {}, so nothing is written to it; name another file, or move this one away",
            path.display(),
            form.name
        )));
    }
    let lines = whole_lines(&mut file, path, tail, form, notes)?;
    // A new file is not lost with the machine once its directory is on the disk.
    if lines.is_empty()
        && let Some(Ok(directory)) = path.parent().map(File::open)
    {
        let _ = directory.sync_all();
    }
    Ok((file, lines))
}

fn first_line(file: &File) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    BufReader::new(file.take(MOST_FIRST)).read_until(b'\n', &mut line)?;
    Ok(line)
}

/// The last lines of a file, from the first that begins within `tail` bytes, after moving to another file what was not
/// written completely. The file ends with the last line.
fn whole_lines(
    file: &mut File,
    path: &Path,
    tail: u64,
    form: Form,
    notes: &mut Vec<String>,
) -> Result<Vec<u8>> {
    let (start, bytes) = last_bytes(file, tail).map_err(|error| Error::io("read", path, error))?;
    let Divided { same, again, torn } = divided(&bytes, form);
    let lines = [&bytes[..same], &again].concat();
    (form.check)(path, &lines)?;
    if !torn.is_empty() {
        let kept = beside(path, "cut");
        keep(&kept, &torn).map_err(|error| Error::io("write to", &kept, error))?;
        notes.push(format!(
            "{}: {} bytes at the end were not written completely, and were cut off; they are kept in {}. If they are a row \
             of your own, complete it and add it again",
            path.display(),
            torn.len(),
            kept.display()
        ));
    }
    if same < bytes.len() || !again.is_empty() {
        let length = start + same as u64;
        let written =
            file.set_len(length).and_then(|()| file.write_all(&again)).and_then(|()| file.sync_data());
        written.map_err(|error| Error::io("write to", path, error))?;
    }
    Ok(lines)
}

/// The last bytes of a file from the beginning of a line on, and where that is.
fn last_bytes(file: &mut File, tail: u64) -> io::Result<(u64, Vec<u8>)> {
    let length = file.seek(SeekFrom::End(0))?;
    let start = length.saturating_sub(tail);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    if start == 0 {
        return Ok((start, bytes));
    }
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
        let why = format!("it has no end of a line in its last {tail} bytes");
        return Err(io::Error::new(ErrorKind::InvalidData, why));
    };
    bytes.drain(..=end);
    Ok((start + end as u64 + 1, bytes))
}

/// The last bytes of a file: what stays, and what does not.
struct Divided {
    /// How many bytes stay as they are.
    same: usize,
    /// What is kept of the bytes behind them.
    again: Vec<u8>,
    /// Lines that were not written completely.
    torn: Vec<u8>,
}

fn divided(bytes: &[u8], form: Form) -> Divided {
    let mut divided = Divided { same: 0, again: Vec::new(), torn: Vec::new() };
    let unsynced = bytes.len().saturating_sub(MOST_UNSYNCED);
    let mut end = 0;
    while end < bytes.len() {
        let line = &bytes[end..][..(form.end_of_row)(&bytes[end..])];
        end += line.len();
        let has_end = line.ends_with(b"\n");
        let is_torn = if has_end { end > unsynced && line.contains(&0) } else { !(form.is_whole)(line) };
        if is_torn {
            divided.torn.extend_from_slice(line);
        } else if divided.torn.is_empty() {
            divided.same = end;
        } else {
            divided.again.extend_from_slice(line);
        }
        if !is_torn && !has_end {
            divided.again.push(b'\n');
        }
    }
    divided
}

/// The file beside another one with an ending added to its name.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// Adds bytes to a file, which is on the disk then.
fn keep(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(bytes)?;
    if !bytes.ends_with(b"\n") {
        file.write_all(b"\n")?;
    }
    file.sync_all()
}
