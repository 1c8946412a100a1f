//! Comma- and tab-separated tables with a header.
//!
//! The text is cut into blocks at line ends that are not in quotes; blocks are parsed side by side and put together
//! in order, so that the result does not depend on the number of threads.

use super::cell;
use super::excerpt::quoted;
use super::source::{Origin, Source};
use super::table::{Header, Role, Rows, Table};
use super::{Loaded, ReadOptions};
use crate::error::{Error, Place, Result};
use csv::ByteRecord;
use memchr::{memchr, memchr_iter, memrchr};
use rayon::prelude::*;
use std::io::Read;

/// The size of a block, and how many are parsed side by side.
const BLOCK_BYTES: usize = 1 << 19;
const BLOCKS_AT_ONCE: usize = 16;

/// A row longer than this is no row: more likely a quote was left open.
const MAX_ROW_BYTES: usize = 1 << 26;

/// Reads the sources, in order, as one data set.
pub(super) fn read(
    sources: impl Iterator<Item = Result<Source>>,
    delimiter: u8,
    options: &ReadOptions,
) -> Result<Loaded> {
    let mut table: Option<Table> = None;
    for source in sources {
        let mut blocks = Blocks::new(source?, delimiter);
        let file = blocks.origin.name().to_owned();
        let Some(mut first) = blocks.next()? else {
            return Err(Error::malformed(format!("{file} is empty; expected a header and rows")));
        };
        let header = read_header(&mut first, options)?;
        let table = table.get_or_insert_with(|| Table::new(header.clone()));
        table.enter_file(&file, &header)?;
        table.append(first.rows(&header)?)?;
        loop {
            let batch = blocks.batch()?;
            if batch.is_empty() {
                break;
            }
            let parsed: Vec<Result<Rows>> = batch.par_iter().map(|block| block.rows(&header)).collect();
            for rows in parsed {
                table.append(rows?)?;
            }
        }
    }
    match table {
        Some(table) => table.finish(options),
        None => Err(Error::parameter("there are no files to read")),
    }
}

/// Whole records of a file.
struct Block<'a> {
    file: &'a str,
    delimiter: u8,
    text: Vec<u8>,
    /// Where the records to be read start in `text`.
    start: usize,
    /// The line on which `text` starts, from 1.
    first_line: u64,
}

/// Cuts a source into blocks.
struct Blocks {
    source: Source,
    origin: Origin,
    delimiter: u8,
    /// What follows the last block, read already.
    rest: Vec<u8>,
    line: u64,
    ended: bool,
}

impl Blocks {
    fn new(source: Source, delimiter: u8) -> Self {
        let origin = source.origin().clone();
        Blocks { source, origin, delimiter, rest: Vec::new(), line: 1, ended: false }
    }

    fn batch(&mut self) -> Result<Vec<Block<'_>>> {
        let mut pieces = Vec::new();
        while pieces.len() < BLOCKS_AT_ONCE {
            match self.next_piece()? {
                Some(piece) => pieces.push(piece),
                None => break,
            }
        }
        Ok(pieces.into_iter().map(|(text, line)| self.block(text, line)).collect())
    }

    fn next(&mut self) -> Result<Option<Block<'_>>> {
        let piece = self.next_piece()?;
        Ok(piece.map(|(text, line)| self.block(text, line)))
    }

    fn block(&self, text: Vec<u8>, first_line: u64) -> Block<'_> {
        Block { file: self.origin.name(), delimiter: self.delimiter, text, start: 0, first_line }
    }

    /// The next whole records and the line they start on.
    fn next_piece(&mut self) -> Result<Option<(Vec<u8>, u64)>> {
        let mut text = std::mem::take(&mut self.rest);
        let mut wanted = BLOCK_BYTES;
        let end = loop {
            self.fill(&mut text, wanted)?;
            if self.line == 1 && text.starts_with(b"\xef\xbb\xbf") {
                text.drain(..3);
            }
            if self.ended {
                break text.len();
            }
            match records_end(&text, self.delimiter) {
                0 => wanted = text.len() * 2,
                end => break end,
            }
            if text.len() > MAX_ROW_BYTES {
                let place = Place { file: self.origin.name().to_owned(), line: self.line, column: 1 };
                let message = "the row that starts here does not end; is a quote left open?";
                return Err(Error::parse(place, message));
            }
        };
        if text.is_empty() {
            return Ok(None);
        }
        self.rest.extend_from_slice(&text[end..]);
        text.truncate(end);
        let first_line = self.line;
        self.line += memchr_iter(b'\n', &text).count() as u64;
        Ok(Some((text, first_line)))
    }

    fn fill(&mut self, text: &mut Vec<u8>, wanted: usize) -> Result<()> {
        let missing = wanted.saturating_sub(text.len()) as u64;
        let read = self.source.by_ref().take(missing).read_to_end(text);
        let read = read.map_err(|e| self.origin.read_error(e))?;
        self.ended |= (read as u64) < missing;
        Ok(())
    }
}

/// Where the last whole record of `text` ends: after a line end that is not in quotes. As in the csv crate, a quote
/// opens a field only as its first character.
fn records_end(text: &[u8], delimiter: u8) -> usize {
    let opens = |at: usize| at == 0 || [delimiter, b'\n', b'\r'].contains(&text[at - 1]);
    let (mut end, mut unquoted) = (0, 0);
    loop {
        let open = memchr_iter(b'"', &text[unquoted..]).map(|q| unquoted + q).find(|&q| opens(q));
        if let Some(newline) = memrchr(b'\n', &text[unquoted..open.unwrap_or(text.len())]) {
            end = unquoted + newline + 1;
        }
        match open.and_then(|open| closing_quote(text, open + 1)) {
            Some(close) => unquoted = close,
            None => return end,
        }
    }
}

/// Just after the quote that closes a field; two quotes together are one in the field.
fn closing_quote(text: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let quote = from + memchr(b'"', &text[from..])?;
        match text.get(quote + 1) {
            Some(b'"') => from = quote + 2,
            _ => return Some(quote + 1),
        }
    }
}

/// Takes the header off the first block.
fn read_header(block: &mut Block<'_>, options: &ReadOptions) -> Result<Header> {
    let mut reader = block.reader();
    let mut record = ByteRecord::new();
    if !reader.read_byte_record(&mut record).map_err(|e| block.unreadable(&e))? {
        return Err(Error::malformed(format!("{} is empty; expected a header and rows", block.file)));
    }
    let start = block.record_start(&record);
    let end = reader.position().byte() as usize;
    let mut names = Vec::with_capacity(record.len());
    for (field, name) in record.iter().enumerate() {
        match std::str::from_utf8(name) {
            Ok(name) => names.push(name.trim().to_owned()),
            Err(_) => {
                let message = format!("the name {} is not UTF-8 text", quoted(name));
                return Err(block.error(start, field, message));
            }
        }
    }
    let header = Header::new(names, options).map_err(|e| block.error(start, e.column, e.message))?;
    block.start = end;
    Ok(header)
}

impl Block<'_> {
    fn reader(&self) -> csv::Reader<&[u8]> {
        csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(self.delimiter)
            .from_reader(&self.text[self.start..])
    }

    fn rows(&self, header: &Header) -> Result<Rows> {
        let mut rows = Rows::default();
        let mut reader = self.reader();
        let mut record = ByteRecord::new();
        let query_field = header.position_of(Role::Query);
        let (mut line, mut counted) = (self.first_line, 0);
        while reader.read_byte_record(&mut record).map_err(|e| self.unreadable(&e))? {
            let start = self.record_start(&record);
            line += memchr_iter(b'\n', &self.text[counted..start]).count() as u64;
            counted = start;
            if record.len() != header.names.len() {
                return Err(self.ragged(start, &record, header));
            }
            rows.push(&record, header).map_err(|(field, message)| self.error(start, field, message))?;
            let column = self.field_start(start, query_field) - start + 1;
            rows.places.push((line, column as u64));
        }
        Ok(rows)
    }

    /// Where the record starts in the text; the reader counts blank lines before it as part of it.
    fn record_start(&self, record: &ByteRecord) -> usize {
        let start = self.start + record.position().map_or(0, |p| p.byte() as usize);
        let blank = self.text[start..].iter().take_while(|b| matches!(b, b'\n' | b'\r')).count();
        start + blank
    }

    fn field_start(&self, record_start: usize, field: usize) -> usize {
        let mut at = record_start;
        for _ in 0..field {
            if self.text.get(at) == Some(&b'"') {
                at = closing_quote(&self.text, at + 1).unwrap_or(self.text.len());
            }
            at = memchr(self.delimiter, &self.text[at..]).map_or(self.text.len(), |d| at + d + 1);
        }
        at
    }

    fn error(&self, record_start: usize, field: usize, message: String) -> Error {
        let before = &self.text[..self.field_start(record_start, field)];
        let line_start = memrchr(b'\n', before).map_or(0, |n| n + 1);
        let line = self.first_line + memchr_iter(b'\n', before).count() as u64;
        let column = (before.len() - line_start) as u64 + 1;
        Error::parse(Place { file: self.file.to_owned(), line, column }, message)
    }

    fn ragged(&self, start: usize, record: &ByteRecord, header: &Header) -> Error {
        let (found, expected) = (record.len(), header.names.len());
        let message = format!("the row has {found} fields where the header has {expected} columns");
        self.error(start, found.min(expected).saturating_sub(1), message)
    }

    fn unreadable(&self, error: &csv::Error) -> Error {
        Error::malformed(format!("cannot read {}: {error}", self.file))
    }
}

impl Rows {
    /// Adds a record of the right length; on failure, the field to blame and what is wrong with it.
    fn push(&mut self, record: &ByteRecord, header: &Header) -> std::result::Result<(), (usize, String)> {
        for (field, (text, role)) in record.iter().zip(&header.roles).enumerate() {
            let name = &header.names[field];
            let pushed = match role {
                Role::Feature => cell::feature(text, name).map(|v| self.features.push(v)),
                Role::Label => cell::label(text, name).map(|v| self.labels.push(v)),
                Role::Query => cell::query_id(text, name).map(|id| self.queries.push(id)),
                Role::Document => cell::id(text, name).map(|id| self.documents.push(id)),
                Role::Weight => cell::weight(text, name).map(|v| self.weights.push(v)),
                Role::Position => cell::position(text, name).map(|v| self.positions.push(v)),
            };
            pushed.map_err(|message| (field, message))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn records(text: &[u8]) -> Vec<ByteRecord> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
        reader.byte_records().map(|r| r.unwrap()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn cutting_where_records_end_changes_no_record(text in "[a,\"\n\r]{0,40}") {
            let (before, after) = text.as_bytes().split_at(records_end(text.as_bytes(), b','));
            let mut cut = records(before);
            cut.extend(records(after));
            prop_assert_eq!(cut, records(text.as_bytes()));
        }
    }

    #[test]
    fn records_end_where_no_quote_is_open() {
        let end = |text: &str| records_end(text.as_bytes(), b',');
        assert_eq!(end("a,b\nc"), 4);
        assert_eq!(end("a,\"b\nc\"\nd"), 8);
        assert_eq!(end("a,\"b\n"), 0);
        assert_eq!(end("5\" disk,1\n6\" disk,\"2\n"), 10);
        assert_eq!(end("\"a\"\"\n\",1\nx"), 9);
    }
}
