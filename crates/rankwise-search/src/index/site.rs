//! The directory in which an index is made of documents.

use super::directory::IndexDirectory;
use super::failure::failure;
use super::manifest::Manifest;
use super::{META, check_empty, payload};
use rankwise::{Error, Result};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use tantivy::TantivyError;
use tantivy::directory::error::LockError;
use tantivy::directory::{Directory, INDEX_WRITER_LOCK};

const LOCK: &str = ".rankwise-new.lock";

/// A directory that no other process makes an index in, until this is dropped.
pub(super) struct Site {
    path: PathBuf,
    before: Before,
    /// Until it is closed.
    _lock: File,
}

/// What was there before.
enum Before {
    Nothing,
    Empty,
    /// An index without a commit of documents: the process that made it was killed.
    Unfinished,
}

impl Site {
    pub(super) fn claim(path: &Path) -> Result<Site> {
        let existed = path.exists();
        fs::create_dir_all(path).map_err(|source| Error::io("create the directory", path, source))?;
        check(path)?;
        let lock = lock(path)?;
        // Another process may have made an index meanwhile.
        let before = check(path)?;
        let before = if existed { before } else { Before::Nothing };
        Ok(Site { path: path.to_owned(), before, _lock: lock })
    }

    /// Removes what was made here. The files of an unfinished index go when another is made in its place.
    pub(super) fn clear(&self) {
        let _ = match self.before {
            Before::Nothing => fs::remove_dir_all(&self.path),
            Before::Empty => remove_files(&self.path),
            Before::Unfinished => Ok(()),
        };
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.path.join(LOCK));
    }
}

/// Refuses a directory with documents or other files.
fn check(path: &Path) -> Result<Before> {
    if !is_unfinished(path) {
        return check_empty(path).map(|()| Before::Empty);
    }
    let locked =
        IndexDirectory::open(path).map(|directory| directory.acquire_lock(&INDEX_WRITER_LOCK).map(drop));
    let locked = locked.map_err(TantivyError::from).and_then(|locked| locked.map_err(busy));
    locked.map(|()| Before::Unfinished).map_err(|error| failure("write", path, error))
}

/// Whether this is an index of ours to which nothing was ever committed.
fn is_unfinished(path: &Path) -> bool {
    let is_ours = payload(path).is_ok_and(|payload| Manifest::of_payload(path, payload.as_deref()).is_ok());
    let meta = fs::read(path.join(META)).ok().and_then(|meta| serde_json::from_slice(&meta).ok());
    let meta: serde_json::Value = meta.unwrap_or_default();
    is_ours && meta["opstamp"] == 0 && meta["segments"].as_array().is_some_and(Vec::is_empty)
}

fn lock(path: &Path) -> Result<File> {
    let file = File::create(path.join(LOCK));
    let file = file.map_err(|source| Error::io("write the index", path, source))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(failure("write", path, busy(LockError::LockBusy))),
        Err(TryLockError::Error(source)) => Err(Error::io("write the index", path, source)),
    }
}

fn busy(error: LockError) -> TantivyError {
    TantivyError::LockFailure(error, None)
}

fn remove_files(path: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(path)? {
        fs::remove_file(entry?.path())?;
    }
    Ok(())
}
