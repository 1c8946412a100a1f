//! The lines of text files, and the words on them, as TREC and score files have.

use super::excerpt::quoted;
use super::source::{Origin, Source};
use crate::error::{Error, Place, Result};
use std::io::{BufRead, BufReader, Read};

/// The longest line of files of words: a guard against files that are not text.
const MAX_LINE_BYTES: u64 = 1 << 16;

/// The lines of a source, read one at a time into one buffer.
pub struct Lines {
    reader: BufReader<Source>,
    origin: Origin,
    longest: u64,
    buffer: Vec<u8>,
    number: u64,
}

/// One line without its end.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    origin: &'a Origin,
    /// Its number, from 1.
    pub number: u64,
    /// Its text.
    pub text: &'a str,
}

/// A word of a line, between white space.
#[derive(Clone, Copy)]
pub(super) struct Word<'a> {
    line: Line<'a>,
    /// The word.
    pub(super) text: &'a str,
}

impl Lines {
    /// The lines of `source`, which has a few words on each.
    pub(super) fn of_words(source: Source) -> Self {
        Lines::new(source, MAX_LINE_BYTES)
    }

    /// The lines of `source`, of up to `longest` bytes.
    pub fn new(source: Source, longest: u64) -> Self {
        let origin = source.origin().clone();
        let reader = BufReader::with_capacity(1 << 17, source);
        Lines { reader, origin, longest, buffer: Vec::new(), number: 0 }
    }

    /// The file as the user named it.
    pub fn file(&self) -> &str {
        self.origin.name()
    }

    /// The next line that is not blank. A byte order mark is left out.
    ///
    /// A line that is too long or not UTF-8 is an error with a place, after which the next line can be read.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>> {
        loop {
            self.buffer.clear();
            let mut limited = self.reader.by_ref().take(self.longest + 1);
            let read = limited.read_until(b'\n', &mut self.buffer).map_err(|e| self.origin.read_error(e))?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if read as u64 > self.longest && !self.buffer.ends_with(b"\n") {
                self.reader.skip_until(b'\n').map_err(|e| self.origin.read_error(e))?;
                let message = format!("the line is longer than {} bytes", self.longest);
                return Err(Error::parse(self.origin.place(self.number, 1), message));
            }
            if self.number == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
                self.buffer.drain(..3);
            }
            if !self.buffer.trim_ascii().is_empty() {
                return self.checked().map(Some);
            }
        }
    }

    fn checked(&self) -> Result<Line<'_>> {
        let text = std::str::from_utf8(&self.buffer).map_err(|e| {
            let rest = &self.buffer[e.valid_up_to()..];
            let place = self.origin.place(self.number, e.valid_up_to() + 1);
            Error::parse(place, format!("{} is not UTF-8 text", quoted(rest)))
        })?;
        let text = text.trim_end_matches(['\n', '\r']);
        Ok(Line { origin: &self.origin, number: self.number, text })
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
    pub fn error(self, message: String) -> Error {
        Error::parse(self.place(1), message)
    }

    /// The place of a byte of this line, whose columns count from 1.
    pub fn place(self, column: usize) -> Place {
        self.origin.place(self.number, column)
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
        Error::parse(self.line.place(column), message)
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
