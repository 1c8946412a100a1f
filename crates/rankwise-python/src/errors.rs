//! Errors of the library as Python exceptions.

use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};
use rankwise::{Error, ErrorKind};
use std::error::Error as _;
use std::io;

/// What the operating system refused is an `OSError`, such as `FileNotFoundError`; everything else is a `ValueError`.
pub(crate) fn exception(error: Error) -> PyErr {
    let message = error.to_string();
    match error.kind() {
        ErrorKind::Io | ErrorKind::ReaderGone => {
            let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
            match source.and_then(io::Error::raw_os_error) {
                Some(code) => PyOSError::new_err((code, message)),
                None => PyOSError::new_err(message),
            }
        }
        ErrorKind::Interrupted => PyKeyboardInterrupt::new_err(message),
        _ => PyValueError::new_err(message),
    }
}
