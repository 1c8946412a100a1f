//! The log: JSON lines, one session each.
//!
//! ```text
//! {"id": "s1", "query": "red shoes", "ranker": "prod", "shown": ["d7", "d2", "d9"], "clicks": [{"doc": "d2", "time": 3.5}]}
//! ```
//!
//! `id`, `query`, `shown` and `clicks` are required; ids may be text or whole numbers. Optional are `ranker`, `time`,
//! `positions` (the rank of each document shown, if they are not 1, 2, 3 …), `features` (a row of numbers per document
//! shown), `swap` (two ranks whose documents were exchanged with probability ½) and `interleaved` (the two rankers of an
//! interleaved list and what share of each document's credit the first one gets). Other fields are ignored. The log of a
//! server has its clicks in lines of their own, see [`events`](super::events).
//!
//! The [`LogReader`] reads one session at a time. What is wrong with a log is counted in its [`LogReport`]; only a file
//! that cannot be read at all is an error.

use super::checks::Checks;
use super::events::{Seal, Waiting, seal_of};
use super::report::{LogProblem, LogReport};
use crate::data::Source;
use crate::error::{Error, Result};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The longest line that is read: a guard against files that are not logs.
const MAX_LINE_BYTES: usize = 1 << 26;

/// One list of documents shown for a query, and the clicks on it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "a session, an object with `id`, `query`, `shown` and `clicks`")]
pub struct Session {
    /// Its id, unique in the log.
    #[serde(deserialize_with = "text")]
    pub id: String,
    /// The id or the text of the query.
    #[serde(deserialize_with = "text")]
    pub query: String,
    /// The name of the ranker that made the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranker: Option<String>,
    /// The ids of the documents shown, the first rank first.
    #[serde(deserialize_with = "texts")]
    pub shown: Vec<String>,
    /// The rank of each document shown, ascending; `None` if they are 1, 2, 3 and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positions: Option<Vec<u32>>,
    /// A row of feature values per document shown; NaN, `null` in JSON, is a missing value.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "feature_rows")]
    pub features: Option<Vec<Vec<f32>>>,
    /// The clicks, in the order in which they happened.
    pub clicks: Vec<Click>,
    /// When the list was shown, in any unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// Two ranks whose documents were exchanged with probability ½, whether or not they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap: Option<[u32; 2]>,
    /// How clicks are credited, if the list was interleaved from two rankings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interleaved: Option<Interleaved>,
}

/// A click on a document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "a click, an object with `doc`")]
pub struct Click {
    /// The id of the document.
    #[serde(deserialize_with = "text")]
    pub doc: String,
    /// When it happened, in the unit of the session's time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
}

/// The rankers of an interleaved list, and how clicks on it are credited.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Interleaved {
    /// The names of the two rankers.
    pub rankers: [String; 2],
    /// For each document shown, the share of a click's credit that goes to the first ranker, from 0 to 1.
    pub credit: Vec<f64>,
}

impl Interleaved {
    /// Whether there is a credit from 0 to 1 for each document shown.
    pub(super) fn fits(&self, shown: usize) -> bool {
        self.credit.len() == shown && self.credit.iter().all(|share| (0.0..=1.0).contains(share))
    }
}

impl Session {
    /// The rank, from 1, of the document at `index` of those shown.
    pub fn rank(&self, index: usize) -> u32 {
        self.positions.as_ref().map_or(index as u32 + 1, |positions| positions[index])
    }

    /// Whether each document shown was clicked, once or more.
    ///
    /// ```
    /// use rankwise::clicks::Session;
    /// let line = r#"{"id": 1, "query": "q", "shown": ["a", "b"], "clicks": [{"doc": "b"}, {"doc": "b"}]}"#;
    /// let session: Session = serde_json::from_str(line).unwrap();
    /// assert_eq!(session.clicked(), [false, true]);
    /// ```
    pub fn clicked(&self) -> Vec<bool> {
        let mut clicked = vec![false; self.shown.len()];
        for click in &self.clicks {
            if let Some(place) = self.place_of(&click.doc) {
                clicked[place] = true;
            }
        }
        clicked
    }

    /// Where a document stands among those shown, from 0.
    pub(crate) fn place_of(&self, document: &str) -> Option<usize> {
        self.shown.iter().position(|shown| shown == document)
    }
}

/// Reads sessions one at a time from files, `.gz` and `.zst` among them, or from standard input (`-`).
///
/// ```
/// use rankwise::clicks::{LogProblem, LogReader};
/// let path = std::env::temp_dir().join(format!("rankwise-log-{}.jsonl", std::process::id()));
/// std::fs::write(&path, concat!(
///     r#"{"id": "s1", "query": "q", "shown": ["a", "b"], "clicks": [{"doc": "b"}]}"#, "\n",
///     r#"{"id": "s1", "query": "q", "shown": ["b", "a"], "clicks": []}"#, "\n",
/// )).unwrap();
/// let mut log = LogReader::open(&path)?;
/// let sessions = log.by_ref().collect::<rankwise::Result<Vec<_>>>()?;
/// assert_eq!(sessions.len(), 1);
/// assert_eq!(log.report().count(LogProblem::DuplicateSession), 1);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), rankwise::Error>(())
/// ```
pub struct LogReader {
    /// The files that are still to be opened, the last one first.
    paths: Vec<PathBuf>,
    lines: Option<LogLines>,
    /// Sessions of a server's log.
    waiting: Waiting,
    checks: Checks,
    /// An error ends the log.
    failed: bool,
}

impl LogReader {
    /// Opens a log.
    pub fn open(path: &Path) -> Result<LogReader> {
        LogReader::open_all([path])
    }

    /// Opens a log that consists of several files, one after the other.
    pub fn open_all<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<LogReader> {
        let mut paths: Vec<PathBuf> = paths.into_iter().map(|path| path.as_ref().to_path_buf()).collect();
        paths.reverse();
        let first = paths.pop().ok_or_else(|| Error::parameter("there are no files to read"))?;
        let lines = Some(LogLines::open(&first)?);
        Ok(LogReader { paths, lines, waiting: Waiting::default(), checks: Checks::default(), failed: false })
    }

    /// What was read so far, and what was wrong with it.
    pub fn report(&self) -> &LogReport {
        &self.checks.report
    }

    fn next_session(&mut self) -> Result<Option<Session>> {
        loop {
            if let Some((session, place)) = self.waiting.next(self.lines.is_none()) {
                if let Some(session) = self.checks.check(session, &place) {
                    return Ok(Some(session));
                }
                continue;
            }
            let Some(lines) = &mut self.lines else { return Ok(None) };
            let Some(line) = lines.next()? else {
                self.lines = self.paths.pop().map(|path| LogLines::open(&path)).transpose()?;
                continue;
            };
            let read = match seal_of(line.text) {
                Seal::Absent => self.checks.read(&line),
                Seal::Broken => self.checks.reject_line(LogProblem::Damaged, &line),
                Seal::Intact => {
                    self.waiting.take(line.text, line.place(), &mut self.checks);
                    None
                }
            };
            if let Some(session) = read {
                return Ok(Some(session));
            }
        }
    }
}

impl Iterator for LogReader {
    type Item = Result<Session>;

    fn next(&mut self) -> Option<Result<Session>> {
        if self.failed {
            return None;
        }
        let next = self.next_session();
        self.failed = next.is_err();
        next.transpose()
    }
}

/// The lines of a file of JSON that are not blank.
pub(super) struct LogLines {
    reader: BufReader<Source>,
    file: String,
    number: u64,
    buffer: Vec<u8>,
}

/// A line of a log.
pub(super) struct LogLine<'a> {
    file: &'a str,
    number: u64,
    text: &'a [u8],
    too_long: bool,
}

impl LogLines {
    pub(super) fn open(path: &Path) -> Result<LogLines> {
        let source = Source::open(path)?;
        let file = source.origin().name().to_owned();
        let reader = BufReader::with_capacity(1 << 17, source);
        Ok(LogLines { reader, file, number: 0, buffer: Vec::new() })
    }

    pub(super) fn next(&mut self) -> Result<Option<LogLine<'_>>> {
        loop {
            let read = self.fill()?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.number == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
                self.buffer.drain(..3);
            }
            let too_long = read > MAX_LINE_BYTES;
            if too_long {
                self.skip_line()?;
            }
            if !self.buffer.trim_ascii().is_empty() {
                let LogLines { file, number, buffer, .. } = self;
                return Ok(Some(LogLine { file, number: *number, text: buffer.trim_ascii(), too_long }));
            }
        }
    }

    /// Reads a line, or the start of one that is too long, into the buffer. Returns how many bytes there were.
    fn fill(&mut self) -> Result<usize> {
        self.buffer.clear();
        let mut limited = self.reader.by_ref().take(MAX_LINE_BYTES as u64 + 1);
        let read = limited.read_until(b'\n', &mut self.buffer);
        read.map_err(|e| self.reader.get_ref().origin().read_error(e))
    }

    /// Skips what is left of a line, a block at a time.
    fn skip_line(&mut self) -> Result<()> {
        while self.buffer.last() != Some(&b'\n') && self.fill()? > 0 {}
        self.buffer.clear();
        self.buffer.push(b'?');
        Ok(())
    }
}

impl<'a> LogLine<'a> {
    /// What the line holds, or what is wrong with it.
    pub(super) fn parse<T: Deserialize<'a>>(&self) -> std::result::Result<T, String> {
        if self.too_long {
            return Err(format!("the line is longer than {MAX_LINE_BYTES} bytes"));
        }
        serde_json::from_slice(self.text).map_err(|e| match e.is_eof() {
            true => "the JSON is truncated".to_owned(),
            false => {
                let text = e.to_string();
                let reason = text.rsplit_once(" at line ").map_or(&*text, |(reason, _)| reason);
                format!("{reason} (byte {})", e.column())
            }
        })
    }

    /// The place of the line, for messages.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.file, self.number)
    }
}

/// Text, or a whole number as text.
pub(super) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<String, D::Error> {
    Text::deserialize(deserializer).map(|text| text.0)
}

fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Vec<String>, D::Error> {
    Vec::<Text>::deserialize(deserializer).map(|texts| texts.into_iter().map(|text| text.0).collect())
}

/// An id: text, or a whole number.
pub(super) struct Text(pub(super) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Text, D::Error> {
        struct TextVisitor;

        impl Visitor<'_> for TextVisitor {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or a whole number")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<Text, E> {
                Ok(Text(text.to_owned()))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> std::result::Result<Text, E> {
                Ok(Text(number.to_string()))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> std::result::Result<Text, E> {
                Ok(Text(number.to_string()))
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

/// Rows of numbers in which `null` stands for a missing value.
mod feature_rows {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde's signature")]
    pub(super) fn serialize<S: Serializer>(
        rows: &Option<Vec<Vec<f32>>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        // JSON has no NaN; serde_json writes it as `null`.
        rows.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<Vec<f32>>>, D::Error> {
        let rows = Option::<Vec<Vec<Option<f32>>>>::deserialize(deserializer)?;
        let row = |row: Vec<Option<f32>>| row.into_iter().map(|x| x.unwrap_or(f32::NAN)).collect();
        Ok(rows.map(|rows| rows.into_iter().map(row).collect()))
    }
}

#[cfg(test)]
mod tests;
