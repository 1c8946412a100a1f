//! What went wrong, in a sentence: one opaque [`Error`] for the whole library.
//!
//! An error names the file, line and column, or the parameter, that caused it, and says what to do where that
//! is known. Not converging is never an error: it is part of a training record.

use std::fmt;
use std::io;
use std::path::Path;

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of thing went wrong; the message has the particulars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused to read or write.
    Io,
    /// Whoever was reading the output has gone away, as `head` does.
    ReaderGone,
    /// Text or bytes that are not in the format they claim to be.
    Parse,
    /// A parameter, name or option that is unknown or out of range.
    Parameter,
    /// Well-formed data that cannot be used for what was asked (no queries, other features than the model's).
    Data,
    /// A model file that is damaged, too new, or not a model at all.
    Model,
    /// The caller asked to stop.
    Interrupted,
}

/// An error of this library. Cheap to move; [`kind`](Error::kind) says what sort it is.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    place: Option<Place>,
    message: String,
}

/// Where in a text file something stands; lines and columns count from 1, columns in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it, or `<stdin>`.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The byte column in that line, from 1.
    pub column: u64,
}

impl Error {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner { kind, place: None, message: message.into() }))
    }

    /// A parameter, name or option that is unknown or out of range.
    pub fn parameter(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Parameter, message)
    }

    /// Data that is well-formed but cannot be used for what was asked.
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// A model file that cannot be used.
    pub fn model(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Model, message)
    }

    /// The caller asked to stop before there was anything to keep.
    pub fn interrupted(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Interrupted, message)
    }

    /// Malformed text at a known place.
    pub fn parse(place: Place, message: impl Into<String>) -> Self {
        let mut error = Self::new(ErrorKind::Parse, message);
        error.0.place = Some(place);
        error
    }

    /// Malformed input as a whole, where no line is to blame (an empty file, say).
    pub fn malformed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Parse, message)
    }

    /// The operating system's refusal, with what was being done: `io("read", path, source)`.
    pub fn io(doing: &str, path: impl AsRef<Path>, source: io::Error) -> Self {
        let gone = source.kind() == io::ErrorKind::BrokenPipe;
        let kind = if gone { ErrorKind::ReaderGone } else { ErrorKind::Io };
        Self::new(kind, format!("cannot {doing} {}: {source}", path.as_ref().display()))
    }

    /// What sort of error this is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where it was found, for malformed text.
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }

    /// The sentence alone, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.0.place {
            write!(f, "{}:{}:{}: ", place.file, place.line, place.column)?;
        }
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_comes_before_the_sentence() {
        let place = Place { file: "a.txt".into(), line: 3, column: 7 };
        let error = Error::parse(place, "expected a number, found `x`");
        assert_eq!(error.to_string(), "a.txt:3:7: expected a number, found `x`");
        assert_eq!(error.kind(), ErrorKind::Parse);
    }

    #[test]
    fn a_refusal_of_the_system_is_told_once() {
        let error = Error::io("read", "x.txt", io::Error::other("no luck"));
        assert_eq!(error.to_string(), "cannot read x.txt: no luck");
        assert!(std::error::Error::source(&error).is_none());
    }
}
