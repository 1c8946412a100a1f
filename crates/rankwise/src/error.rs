//! One opaque [`Error`] for the whole library, whose message is a sentence.
//!
//! An error names the file, line and column, or the parameter, that caused it, and the way out where it is known.
//! Failing to converge is not an error: it is part of a training record.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use std::path::Path;

/// The result of every function here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of error it is; the message has the details.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused to read or write.
    Io,
    /// The program that read the output has closed it, as `head` does.
    ReaderGone,
    /// Text or bytes that are not in the expected format.
    Parse,
    /// A parameter, name or option that is unknown or out of range.
    Parameter,
    /// Well-formed data that cannot be used as asked: no queries, or other features than the model has.
    Data,
    /// A model file that is damaged, of a newer version, or not a model.
    Model,
    /// The caller asked to stop.
    Interrupted,
}

/// An error of this library. It is one pointer in size; [`kind`](Error::kind) classifies it.
///
/// The message is complete in itself. If the operating system caused the error, the message ends with its reason, and
/// [`source`](std::error::Error::source) returns the [`io::Error`].
///
/// ```
/// use rankwise::ErrorKind;
/// use rankwise::data::{ReadOptions, read};
/// let error = read("no/such/file.txt".as_ref(), &ReadOptions::default()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Io);
/// assert!(error.to_string().starts_with("cannot open no/such/file.txt: "));
/// ```
#[derive(Debug, Serialize, Deserialize)]
pub struct Error(Box<Inner>);

#[derive(Debug, Serialize, Deserialize)]
struct Inner {
    kind: ErrorKind,
    place: Option<Place>,
    message: String,
    /// The message ends with its text. Of one that comes from another machine, the code of the operating system is known.
    #[serde(with = "os_code")]
    source: Option<io::Error>,
}

mod os_code {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::io;

    #[expect(clippy::ref_option, reason = "serde's signature")]
    pub(super) fn serialize<S: Serializer>(
        source: &Option<io::Error>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        source.as_ref().and_then(io::Error::raw_os_error).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<io::Error>, D::Error> {
        Ok(Option::<i32>::deserialize(deserializer)?.map(io::Error::from_raw_os_error))
    }
}

/// A place in a text file. Lines and columns count from 1, columns in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
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
        Error(Box::new(Inner { kind, place: None, message: message.into(), source: None }))
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

    /// Malformed input that no single line accounts for, such as an empty file.
    pub fn malformed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Parse, message)
    }

    /// An operation that the operating system refused: `io("read", path, source)` is "cannot read PATH: REASON".
    pub fn io(doing: &str, path: impl AsRef<Path>, source: io::Error) -> Self {
        let gone = source.kind() == io::ErrorKind::BrokenPipe;
        let kind = if gone { ErrorKind::ReaderGone } else { ErrorKind::Io };
        let mut error = Self::new(kind, format!("cannot {doing} {}: {source}", path.as_ref().display()));
        error.0.source = Some(source);
        error
    }

    /// What kind of error this is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where it was found, for malformed text.
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }

    /// The message without the place.
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

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as &(dyn std::error::Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_comes_before_the_message() {
        let place = Place { file: "a.txt".into(), line: 3, column: 7 };
        let error = Error::parse(place, "expected a number, found `x`");
        assert_eq!(error.to_string(), "a.txt:3:7: expected a number, found `x`");
        assert_eq!(error.kind(), ErrorKind::Parse);
    }

    #[test]
    fn an_io_error_keeps_its_source() {
        let error = Error::io("read", "x.txt", io::Error::new(io::ErrorKind::NotFound, "no luck"));
        assert_eq!(error.to_string(), "cannot read x.txt: no luck");
        let source = std::error::Error::source(&error).and_then(|s| s.downcast_ref::<io::Error>()).unwrap();
        assert_eq!(source.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn an_io_error_of_another_machine_keeps_its_code() {
        let code = std::fs::read("no such file").unwrap_err().raw_os_error();
        let sent =
            postcard::to_stdvec(&Error::io("read", "x.txt", std::fs::read("no such file").unwrap_err()));
        let error: Error = postcard::from_bytes(&sent.unwrap()).unwrap();
        let source = std::error::Error::source(&error).and_then(|s| s.downcast_ref::<io::Error>()).unwrap();
        assert!(code.is_some() && source.raw_os_error() == code);
    }
}
