//! tantivy's errors as sentences.

use rankwise::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};

/// "cannot write the index PATH: REASON".
pub(crate) fn failure(doing: &str, path: &Path, error: TantivyError) -> Error {
    let doing = format!("{doing} the index");
    if let Some(source) = cause(&error) {
        return Error::io(&doing, path, source);
    }
    match error {
        TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(file)) => Error::data(format!(
            "the index {} is damaged: {} is missing; index the documents again",
            path.display(),
            file.display()
        )),
        TantivyError::LockFailure(LockError::LockBusy, _) => Error::data(format!(
            "cannot {doing} {}: it is being written by another process or another part of this one; wait until that is done",
            path.display()
        )),
        // Indexes of other versions are refused by their manifest, so a file that seems to be of one is cut short.
        TantivyError::OpenReadError(OpenReadError::IncompatibleIndex(_))
        | TantivyError::IncompatibleIndex(_)
        | TantivyError::DataCorruption(_) => Error::data(format!(
            "the index {} is damaged: one of its files is cut short or has changed; index the documents again",
            path.display()
        )),
        TantivyError::InternalError(why) | TantivyError::ErrorInThread(why) => {
            Error::data(format!("cannot {doing} {}: {why}", path.display()))
        }
        error => Error::data(format!("cannot {doing} {}: {error}", path.display())),
    }
}

/// What the operating system said.
fn cause(error: &TantivyError) -> Option<io::Error> {
    let source: &Arc<io::Error> = match error {
        TantivyError::IoError(source)
        | TantivyError::LockFailure(LockError::IoError(source), _)
        | TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error: source, .. })
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error: source, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: source, .. }) => source,
        _ => return None,
    };
    let code = source.raw_os_error().map(io::Error::from_raw_os_error);
    Some(code.unwrap_or_else(|| io::Error::new(source.kind(), source.to_string())))
}
