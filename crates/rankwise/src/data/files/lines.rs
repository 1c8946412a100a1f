//! Text files with words on each line: TREC and score files.

use super::excerpt::quoted;
use super::source::{Origin, Source};
use crate::error::{Error, Place, Result};
use std::io::{BufRead, BufReader, Read};

/// The longest line: a guard against files that are not text.
const MAX_LINE_BYTES: u64 = 1 << 16;

/// The lines of a source, read one at a time into one buffer.
pub(super) struct Lines {
    reader: BufReader<Source>,
    origin: Origin,
    buffer: Vec<u8>,
    number: u64,
}

/// One line without its end.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    file: &'a str,
    /// Its number, from 1.
    pub(super) number: u64,
    text: &'a str,
}

/// A word of a line, between white space.
#[derive(Clone, Copy)]
pub(super) struct Word<'a> {
    line: Line<'a>,
    /// The word.
    pub(super) text: &'a str,
}

impl Lines {
    /// The lines of `source`.
    pub(super) fn new(source: Source) -> Self {
        let origin = source.origin().clone();
        Lines { reader: BufReader::with_capacity(1 << 17, source), origin, buffer: Vec::new(), number: 0 }
    }

    /// The file as the user named it.
    pub(super) fn file(&self) -> &str {
        self.origin.name()
    }

    /// The next line that is not blank.
    pub(super) fn next(&mut self) -> Result<Option<Line<'_>>> {
        loop {
            self.buffer.clear();
            let mut limited = self.reader.by_ref().take(MAX_LINE_BYTES);
            let read = limited.read_until(b'\n', &mut self.buffer).map_err(|e| self.origin.read_error(e))?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.number == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
                self.buffer.drain(..3);
            }
            if !self.buffer.trim_ascii().is_empty() {
                return self.checked().map(Some);
            }
        }
    }

    fn checked(&self) -> Result<Line<'_>> {
        let place =
            |at: usize| Place { file: self.file().to_owned(), line: self.number, column: at as u64 + 1 };
        if self.buffer.len() as u64 == MAX_LINE_BYTES && self.buffer.last() != Some(&b'\n') {
            return Err(Error::parse(place(0), format!("the line is longer than {MAX_LINE_BYTES} bytes")));
        }
        let text = std::str::from_utf8(&self.buffer).map_err(|e| {
            let rest = &self.buffer[e.valid_up_to()..];
            Error::parse(place(e.valid_up_to()), format!("{} is not UTF-8 text", quoted(rest)))
        })?;
        let text = text.trim_end_matches(['\n', '\r']);
        Ok(Line { file: self.origin.name(), number: self.number, text })
    }
}

impl<'a> Line<'a> {
    /// The words, separated by ASCII white space.
    pub(super) fn words(self) -> impl Iterator<Item = Word<'a>> {
        self.text.split_ascii_whitespace().map(move |text| Word { line: self, text })
    }

    /// Exactly `N` words, or an error that shows the expected `form`.
    pub(super) fn exactly<const N: usize>(self, form: &str) -> Result<[Word<'a>; N]> {
        let mut words = [Word { line: self, text: "" }; N];
        let mut count = 0;
        for word in self.words() {
            if let Some(slot) = words.get_mut(count) {
                *slot = word;
            }
            count += 1;
        }
        match count == N {
            true => Ok(words),
            false => Err(self.error(format!(
                "expected {N} words, `{form}`, but the line has {count}: {}",
                quoted(self.text.as_bytes())
            ))),
        }
    }

    /// An error about the line as a whole.
    pub(super) fn error(self, message: String) -> Error {
        Error::parse(Place { file: self.file.to_owned(), line: self.number, column: 1 }, message)
    }
}

impl Word<'_> {
    /// An error about this word: `expected …, found …`.
    pub(super) fn unexpected(self, expected: &str) -> Error {
        self.error(format!("expected {expected}, found {}", quoted(self.text.as_bytes())))
    }

    /// An error about this word.
    pub(super) fn error(self, message: String) -> Error {
        let column = self.text.as_ptr() as usize - self.line.text.as_ptr() as usize + 1;
        let place = Place { file: self.line.file.to_owned(), line: self.line.number, column: column as u64 };
        Error::parse(place, message)
    }

    /// A finite number.
    pub(super) fn finite(self, what: &str) -> Result<f64> {
        match fast_float2::parse::<f64, _>(self.text) {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(_) => Err(self.unexpected(&format!("a finite {what}"))),
            Err(_) => Err(self.unexpected(&format!("a number as the {what}"))),
        }
    }
}
