//! The directory of an index, readable where nothing can be written.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tantivy::directory::error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

/// tantivy's directory, but readers need not write.
///
/// A reader holds a lock while it opens files, so that no writer removes them, and tantivy opens the file of the lock for
/// writing.
#[derive(Debug, Clone)]
pub(crate) struct IndexDirectory {
    inner: MmapDirectory,
    path: PathBuf,
}

impl IndexDirectory {
    pub(crate) fn open(path: &Path) -> Result<IndexDirectory, OpenDirectoryError> {
        Ok(IndexDirectory { inner: MmapDirectory::open(path)?, path: path.to_owned() })
    }

    /// The lock of a reader that may not write. Without a file there was never a writer.
    fn lock_for_reading(&self, lock: &Lock) -> io::Result<DirectoryLock> {
        match File::open(self.path.join(&lock.filepath)) {
            Ok(file) => {
                file.lock()?;
                Ok(DirectoryLock::from(Box::new(file)))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(DirectoryLock::from(Box::new(()))),
            Err(error) => Err(error),
        }
    }
}

impl Directory for IndexDirectory {
    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        match self.inner.acquire_lock(lock) {
            Err(LockError::IoError(error)) if lock.is_blocking && may_not_write(&error) => {
                self.lock_for_reading(lock).map_err(LockError::wrap_io_error)
            }
            other => other,
        }
    }

    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.inner.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.inner.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.inner.atomic_read(path)
    }

    /// tantivy's own would allow only the user who writes the index to read it.
    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        let (name, temporary) = (self.path.join(path), self.path.join(format!(".{}.tmp", path.display())));
        let written = File::create(&temporary).and_then(|mut file| {
            file.write_all(data)?;
            file.sync_data()?;
            fs::rename(&temporary, name)
        });
        if written.is_err() {
            // It would take space of a full disk.
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.inner.sync_directory()
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(callback)
    }
}

fn may_not_write(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}
