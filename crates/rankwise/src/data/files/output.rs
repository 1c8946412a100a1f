//! Atomic writing: a file appears complete or not at all.
//!
//! A file is written under a temporary name beside its target, and replaces the target when it is complete and on disk.
//! Standard output and special files (`/dev/null`, a named pipe) are written directly.

use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Size of the write buffer.
const BUFFER_BYTES: usize = 1 << 18;

/// A file that appears, complete, when it is [committed](AtomicFile::commit), and not at all if it is dropped.
///
/// The extensions `.gz` and `.zst` compress it. The path `-` is standard output.
pub struct AtomicFile {
    shown: PathBuf,
    /// `None` after the commit, and for files that are written directly.
    pending: Option<Pending>,
    sink: Option<Sink>,
}

struct Pending {
    temporary: PathBuf,
    target: PathBuf,
}

enum Raw {
    File(File),
    Stdout(io::Stdout),
}

enum Sink {
    Plain(BufWriter<Raw>),
    Gzip(flate2::write::GzEncoder<BufWriter<Raw>>),
    Zstd(zstd::Encoder<'static, BufWriter<Raw>>),
}

/// The name under which [`AtomicFile`] writes `path` until it is complete. It depends only on the path and the process,
/// so that an interrupted program can remove it.
pub fn temporary_path(path: &Path) -> PathBuf {
    let target = behind_link(path);
    let mut name = std::ffi::OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    target.with_file_name(name)
}

/// Fails if `path` cannot be written, so that long work is not done in vain: its folder is missing or read-only, or it
/// is a directory, or its extension asks for a compression that is not supported.
pub fn check_writable(path: &Path) -> Result<()> {
    check_compression(path)?;
    if is_stdout(path) || is_special(path) {
        return Ok(());
    }
    let (_, pending) = create_temporary(path).map_err(|e| cannot_write(path, e))?;
    fs::remove_file(&pending.temporary).map_err(|e| cannot_write(path, e))
}

/// Fails for names such as `model.json.bz2`, whose content would not be what they say.
fn check_compression(path: &Path) -> Result<()> {
    match &*extension(path) {
        "bz2" | "xz" | "zip" | "7z" | "lz4" | "br" | "lzma" | "tgz" => Err(Error::parameter(format!(
            "cannot write {}: only .gz and .zst compress a file",
            path.display()
        ))),
        _ => Ok(()),
    }
}

fn extension(path: &Path) -> String {
    path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase()
}

impl AtomicFile {
    /// Starts writing to `path`.
    pub fn create(path: &Path) -> Result<Self> {
        check_compression(path)?;
        let raw = if is_stdout(path) {
            (Raw::Stdout(io::stdout()), None)
        } else if is_special(path) {
            let file = OpenOptions::new().append(true).open(path).map_err(|e| cannot_write(path, e))?;
            (Raw::File(file), None)
        } else {
            let (file, pending) = create_temporary(path).map_err(|e| cannot_write(path, e))?;
            (Raw::File(file), Some(pending))
        };
        let buffered = BufWriter::with_capacity(BUFFER_BYTES, raw.0);
        let sink = Sink::new(path, buffered).map_err(|e| cannot_write(path, e))?;
        Ok(AtomicFile { shown: path.to_path_buf(), pending: raw.1, sink: Some(sink) })
    }

    /// Appends `bytes`.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes).map_err(|e| cannot_write(&self.shown, e))
    }

    /// Writes everything to disk, then moves the file to its path.
    pub fn commit(mut self) -> Result<()> {
        self.finish().map_err(|e| cannot_write(&self.shown, e))
    }

    fn finish(&mut self) -> io::Result<()> {
        let Some(sink) = self.sink.take() else { return Ok(()) };
        let raw = sink.finish()?;
        let (Raw::File(file), Some(pending)) = (&raw, &self.pending) else { return Ok(()) };
        file.sync_all()?;
        fs::rename(&pending.temporary, &pending.target)?;
        self.pending = None;
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.sink.as_mut() {
            Some(Sink::Plain(w)) => w.write(bytes),
            Some(Sink::Gzip(w)) => w.write(bytes),
            Some(Sink::Zstd(w)) => w.write(bytes),
            None => Err(io::Error::other("the file is closed")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.sink.as_mut() {
            Some(Sink::Plain(w)) => w.flush(),
            Some(Sink::Gzip(w)) => w.flush(),
            Some(Sink::Zstd(w)) => w.flush(),
            None => Ok(()),
        }
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(pending) = &self.pending {
            // A failure cannot be reported here, and the target is unchanged in any case.
            let _ = fs::remove_file(&pending.temporary);
        }
    }
}

impl Write for Raw {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Raw::File(file) => file.write(bytes),
            Raw::Stdout(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Raw::File(file) => file.flush(),
            Raw::Stdout(out) => out.flush(),
        }
    }
}

impl Sink {
    fn new(path: &Path, raw: BufWriter<Raw>) -> io::Result<Self> {
        Ok(match &*extension(path) {
            "gz" => Sink::Gzip(flate2::write::GzEncoder::new(raw, flate2::Compression::default())),
            "zst" => Sink::Zstd(zstd::Encoder::new(raw, zstd::DEFAULT_COMPRESSION_LEVEL)?),
            _ => Sink::Plain(raw),
        })
    }

    fn finish(self) -> io::Result<Raw> {
        let buffered = match self {
            Sink::Plain(w) => w,
            Sink::Gzip(w) => w.finish()?,
            Sink::Zstd(w) => w.finish()?,
        };
        let mut raw = buffered.into_inner().map_err(io::IntoInnerError::into_error)?;
        raw.flush()?;
        Ok(raw)
    }
}

fn cannot_write(path: &Path, source: io::Error) -> Error {
    let shown = if is_stdout(path) { Path::new("<stdout>") } else { path };
    Error::io("write", shown, source)
}

fn is_stdout(path: &Path) -> bool {
    path == Path::new("-") || path == Path::new("/dev/stdout")
}

/// Devices, pipes, and the names of open descriptors, behind which a renamed file would never be seen.
fn is_special(path: &Path) -> bool {
    let names_descriptor =
        path == Path::new("/dev/stderr") || path.starts_with("/dev/fd") || path.starts_with("/proc");
    names_descriptor || fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// The target of a symbolic link, so that the link itself is not replaced. The target need not exist.
fn behind_link(path: &Path) -> PathBuf {
    let mut target = path.to_path_buf();
    // A chain of links may be circular; systems give up after 40, too.
    for _ in 0..40 {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return target,
        }
    }
    path.to_path_buf()
}

fn create_temporary(path: &Path) -> io::Result<(File, Pending)> {
    if path.as_os_str().is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the name is empty"));
    }
    let target = behind_link(path);
    let old = fs::metadata(&target).ok();
    if path.file_name().is_none() || old.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
    }
    if old.as_ref().is_some_and(|m| m.permissions().readonly()) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
    }
    let temporary = temporary_path(path);
    remove_abandoned(&target);
    // A killed process with the same id may have left one behind; never follow or reuse it.
    match fs::remove_file(&temporary) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(explain_missing(&target, e)),
        _ => {}
    }
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&temporary)
        .map_err(|e| explain_missing(&target, e))?;
    // As long as this process lives, others see that the file is in use. Where files cannot be locked, none is removed.
    let _ = file.try_lock();
    let pending = Pending { temporary, target };
    if let Some(old) = old {
        file.set_permissions(old.permissions())?;
    }
    Ok((file, pending))
}

/// Removes what killed processes have left of earlier attempts to write `target`: temporary files that no process has
/// locked. What cannot be removed stays.
fn remove_abandoned(target: &Path) {
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Some(name), Ok(entries)) = (target.file_name(), fs::read_dir(folder)) else { return };
    let start = format!(".{}.", name.to_string_lossy());
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|n| n.strip_prefix(&start)?.strip_suffix(".tmp"));
        let is_temporary = process.is_some_and(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()));
        if is_temporary && entry.file_type().is_ok_and(|t| t.is_file()) {
            let abandoned = |file: File| file.try_lock().is_ok();
            if OpenOptions::new().write(true).open(entry.path()).is_ok_and(abandoned) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn explain_missing(target: &Path, error: io::Error) -> io::Error {
    match target.parent() {
        Some(folder) if error.kind() == io::ErrorKind::NotFound => {
            io::Error::new(error.kind(), format!("the folder {} does not exist", folder.display()))
        }
        _ => error,
    }
}
