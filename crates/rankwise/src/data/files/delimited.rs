//! Comma- and tab-separated tables with a header.
//!
//! The text is split into blocks at line ends that are not in quotes. Blocks are parsed in parallel and joined in order,
//! so the result does not depend on the number of threads. [`Records`] reads them one at a time.

mod records;

pub use records::{Record, Records};

use super::excerpt::quoted;
use super::roles::Role;
use super::source::{Origin, Source};
use super::table::{Header, Table, TableRows};
use super::{Loaded, ReadOptions, cell, number};
use crate::error::{Error, Place, Result};
use crate::parallel;
use memchr::{memchr, memchr_iter, memchr3, memrchr};
use std::io::Read;

/// The size of a block, and how many are parsed in parallel.
const BLOCK_BYTES: usize = 1 << 19;
const BLOCKS_AT_ONCE: usize = 16;

/// The longest row; if one is longer, a quote is probably left open.
const MAX_ROW_BYTES: usize = 1 << 26;

/// Reads the sources, in order, as one data set.
pub(super) fn read(
    sources: impl Iterator<Item = Result<Source>>,
    delimiter: u8,
    options: &ReadOptions,
) -> Result<Loaded> {
    read_table(sources, delimiter, options)?.finish(options)
}

/// All rows of the sources.
pub(super) fn read_table(
    sources: impl Iterator<Item = Result<Source>>,
    delimiter: u8,
    options: &ReadOptions,
) -> Result<Table> {
    let mut table: Option<Table> = None;
    for source in sources {
        let mut blocks = Blocks::new(source?, delimiter);
        let file = blocks.origin.name().to_owned();
        let Some(mut first) = blocks.next()? else {
            return Err(empty(&file));
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
            let parsed: Vec<Result<TableRows>> = parallel::map(&batch, |block| block.rows(&header));
            for rows in parsed {
                table.append(rows?)?;
            }
        }
    }
    table.ok_or_else(|| Error::parameter("there are no files to read"))
}

/// Whole records of a file.
struct Block {
    origin: Origin,
    delimiter: u8,
    text: Vec<u8>,
    /// Where the first record starts in `text`.
    start: usize,
    /// The line on which `text` starts, from 1.
    first_line: u64,
}

/// Splits a source into blocks.
struct Blocks {
    source: Source,
    origin: Origin,
    delimiter: u8,
    /// Text read beyond the last block.
    rest: Vec<u8>,
    line: u64,
    ended: bool,
}

impl Blocks {
    fn new(source: Source, delimiter: u8) -> Self {
        let origin = source.origin().clone();
        Blocks { source, origin, delimiter, rest: Vec::new(), line: 1, ended: false }
    }

    fn batch(&mut self) -> Result<Vec<Block>> {
        let mut pieces = Vec::new();
        while pieces.len() < BLOCKS_AT_ONCE {
            match self.next_piece()? {
                Some(piece) => pieces.push(piece),
                None => break,
            }
        }
        Ok(pieces.into_iter().map(|(text, line)| self.block(text, line)).collect())
    }

    fn next(&mut self) -> Result<Option<Block>> {
        let piece = self.next_piece()?;
        Ok(piece.map(|(text, line)| self.block(text, line)))
    }

    fn block(&self, text: Vec<u8>, first_line: u64) -> Block {
        Block { origin: self.origin.clone(), delimiter: self.delimiter, text, start: 0, first_line }
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
            let (end, open) = records_end(&text, self.delimiter);
            if let (true, Some(open)) = (self.ended, open) {
                let block = self.block(text, self.line);
                return Err(block.error(open, "the quote that opens here is not closed".to_owned()));
            }
            if self.ended {
                break text.len();
            }
            match end {
                0 => wanted = text.len() * 2,
                end => break end,
            }
            if text.len() > MAX_ROW_BYTES {
                let message = "the row that starts here does not end; perhaps a quote is left open";
                return Err(Error::parse(self.origin.place(self.line, 1), message));
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

/// Where the last whole record of `text` ends (after a line end that is not in quotes), and the quote left open, if
/// there is one.
fn records_end(text: &[u8], delimiter: u8) -> (usize, Option<usize>) {
    let opens = |at: usize| at == 0 || [delimiter, b'\n', b'\r'].contains(&text[at - 1]);
    let (mut end, mut unquoted) = (0, 0);
    loop {
        let open = memchr_iter(b'"', &text[unquoted..]).map(|q| unquoted + q).find(|&q| opens(q));
        if let Some(newline) = memrchr(b'\n', &text[unquoted..open.unwrap_or(text.len())]) {
            end = unquoted + newline + 1;
        }
        match open.and_then(|open| closing_quote(text, open + 1)) {
            Some(close) => unquoted = close,
            None => return (end, open),
        }
    }
}

/// The position after the quote that closes a field; two quotes together stand for one.
fn closing_quote(text: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let quote = from + memchr(b'"', &text[from..])?;
        match text.get(quote + 1) {
            Some(b'"') => from = quote + 2,
            _ => return Some(quote + 1),
        }
    }
}

/// Reads the header from the first block.
fn read_header(block: &mut Block, options: &ReadOptions) -> Result<Header> {
    let (names, starts) = column_names(block)?;
    Header::new(names, options).map_err(|e| block.error(starts[e.column], e.message))
}

/// Reads the names of the columns, and where each starts, from the first block.
fn column_names(block: &mut Block) -> Result<(Vec<String>, Vec<usize>)> {
    let mut at = block.skip_blank_lines(0);
    if at == block.text.len() {
        return Err(empty(block.origin.name()));
    }
    let (mut names, mut starts, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let (name, end) = block.field(at, &mut scratch);
        let name = std::str::from_utf8(name)
            .map_err(|_| block.error(at, format!("the name {} is not UTF-8 text", quoted(name))))?;
        names.push(name.trim().to_owned());
        starts.push(at);
        at = end + 1;
        if block.text.get(end) != Some(&block.delimiter) {
            break;
        }
    }
    block.start = at.min(block.text.len());
    if let [only] = &names[..]
        && let Some(advice) = other_separator(only)
    {
        let message = format!("the header is a single column, {}, {advice}", quoted(only.as_bytes()));
        return Err(block.error(starts[0], message));
    }
    Ok((names, starts))
}

fn empty(file: &str) -> Error {
    Error::malformed(format!("{file} is empty; expected a header and rows"))
}

/// Which separator a header without the expected one seems to have, and the way out.
fn other_separator(header: &str) -> Option<&'static str> {
    [
        (';', "separated by semicolons; write the table with commas"),
        ('\t', "separated by tabs; read it as TSV, or call the file .tsv"),
        (',', "separated by commas; read it as CSV, or call the file .csv"),
        ('|', "separated by vertical bars; write the table with commas"),
    ]
    .into_iter()
    .find_map(|(separator, advice)| header.contains(separator).then_some(advice))
}

impl Block {
    fn rows(&self, header: &Header) -> Result<TableRows> {
        let mut rows = header.no_rows();
        let mut scratch = Vec::new();
        let (mut at, mut counted, mut line) = (self.skip_blank_lines(self.start), 0, self.first_line);
        while at < self.text.len() {
            line += memchr_iter(b'\n', &self.text[counted..at]).count() as u64;
            counted = at;
            let (query, end) = self.row(at, header, &mut rows, &mut scratch)?;
            rows.places.push((line, (query - at) as u64 + 1));
            at = self.skip_blank_lines(end);
        }
        Ok(rows)
    }

    /// Reads the row that starts at `start`; returns where its query id starts and where the row ends.
    fn row(
        &self,
        start: usize,
        header: &Header,
        rows: &mut TableRows,
        scratch: &mut Vec<u8>,
    ) -> Result<(usize, usize)> {
        let (mut at, mut query, mut categorical) = (start, start, 0);
        for (index, role) in header.roles.iter().enumerate() {
            if index > 0 {
                if self.text.get(at) != Some(&self.delimiter) {
                    return Err(self.ragged(start, header));
                }
                at += 1;
            }
            if *role == Role::Feature
                && let Some((value, length)) = number::leading(&self.text[at..])
                && self.ends_field(at + length)
            {
                rows.features.push(value);
                at += length;
                continue;
            }
            if *role == Role::Query {
                query = at;
            }
            let (text, end) = self.field(at, scratch);
            let text = if self.text.get(at) == Some(&b'"') { text } else { text.trim_ascii() };
            let name = &header.names[index];
            if *role == Role::Categorical {
                let text = cell::category(text, name).map_err(|message| self.error(at, message))?;
                let number = text.map(|text| rows.categories[categorical].number(text, || self.place(at)));
                rows.features.push(number.map_or(f32::NAN, |number| number as f32));
                categorical += 1;
            } else {
                rows.push(text, *role, name).map_err(|message| match role {
                    Role::Feature => self.not_a_feature(start, at, header, message),
                    _ => self.error(at, message),
                })?;
            }
            at = end;
        }
        match self.text.get(at) == Some(&self.delimiter) {
            true => Err(self.ragged(start, header)),
            false => Ok((query, at)),
        }
    }

    /// The field that starts at `at`, without its quotes, and where it ends: at a delimiter or the end of the line.
    ///
    /// As in the csv crate, a quote opens a field only as its first character, and text after the closing quote
    /// belongs to the field.
    fn field<'a>(&'a self, at: usize, scratch: &'a mut Vec<u8>) -> (&'a [u8], usize) {
        if self.text.get(at) != Some(&b'"') {
            let end = self.unquoted_end(at);
            return (&self.text[at..end], end);
        }
        scratch.clear();
        let mut from = at + 1;
        while let Some(length) = memchr(b'"', &self.text[from..]) {
            let quote = from + length;
            scratch.extend_from_slice(&self.text[from..quote]);
            if self.text.get(quote + 1) != Some(&b'"') {
                let end = self.unquoted_end(quote + 1);
                scratch.extend_from_slice(&self.text[quote + 1..end]);
                return (scratch, end);
            }
            scratch.push(b'"');
            from = quote + 2;
        }
        scratch.extend_from_slice(&self.text[from..]);
        (scratch, self.text.len())
    }

    fn unquoted_end(&self, from: usize) -> usize {
        memchr3(self.delimiter, b'\n', b'\r', &self.text[from..])
            .map_or(self.text.len(), |length| from + length)
    }

    fn ends_field(&self, at: usize) -> bool {
        self.text.get(at).is_none_or(|b| *b == self.delimiter || matches!(b, b'\n' | b'\r'))
    }

    fn skip_blank_lines(&self, from: usize) -> usize {
        from + self.text[from..].iter().take_while(|b| matches!(b, b'\n' | b'\r')).count()
    }

    fn error(&self, at: usize, message: String) -> Error {
        Error::parse(self.place(at), message)
    }

    fn place(&self, at: usize) -> Place {
        let before = &self.text[..at];
        let line_start = memrchr(b'\n', before).map_or(0, |n| n + 1);
        let line = self.first_line + memchr_iter(b'\n', before).count() as u64;
        self.origin.place(line, at - line_start + 1)
    }

    /// The error for a field that is no number, with all columns of the row whose fields are none.
    fn not_a_feature(&self, start: usize, at: usize, header: &Header, message: String) -> Error {
        let (mut names, mut field_start, mut scratch) = (Vec::new(), start, Vec::new());
        for (name, role) in header.names.iter().zip(&header.roles) {
            let (text, end) = self.field(field_start, &mut scratch);
            if *role == Role::Feature && !cell::looks_like_a_number(text) {
                names.push(name.clone());
            }
            if self.text.get(end) != Some(&self.delimiter) {
                break;
            }
            field_start = end + 1;
        }
        let advice = if names.is_empty() { String::new() } else { cell::advice_to_ignore(&names) };
        self.error(at, message + &advice)
    }

    /// The error for a row with too few or too many fields; it points to the last field or the last one expected.
    fn ragged(&self, start: usize, header: &Header) -> Error {
        let (expected, mut scratch) = (header.names.len(), Vec::new());
        let (mut found, mut at, mut pointed) = (0, start, start);
        loop {
            let (_, end) = self.field(at, &mut scratch);
            found += 1;
            pointed = if found <= expected { at } else { pointed };
            if self.text.get(end) != Some(&self.delimiter) {
                break;
            }
            at = end + 1;
        }
        self.error(pointed, format!("the row has {found} fields, but the header has {expected} columns"))
    }
}

impl TableRows {
    /// Adds one field; the error is a message on what is wrong with it.
    fn push(&mut self, text: &[u8], role: Role, name: &str) -> std::result::Result<(), String> {
        match role {
            Role::Feature => self.features.push(cell::feature(text, name)?),
            Role::Label => self.labels.push(cell::label(text, name)?),
            Role::Query => self.queries.push(cell::query_id(text, name)?),
            Role::Document => self.documents.push(cell::id(text, name)?),
            Role::Weight => self.weights.push(cell::weight(text, name)?),
            Role::Position => self.positions.push(cell::position(text, name)?),
            Role::Categorical | Role::Ignored => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The records as the csv crate reads them, for comparison.
    fn by_csv_crate(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
        let fields = |record: csv::ByteRecord| record.iter().map(<[u8]>::to_vec).collect();
        reader.byte_records().map(|record| fields(record.unwrap())).collect()
    }

    fn by_us(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
        let origin = Source::new("x", std::io::empty()).unwrap().origin().clone();
        let block = Block { origin, delimiter: b',', text: text.to_vec(), start: 0, first_line: 1 };
        let (mut records, mut scratch) = (Vec::new(), Vec::new());
        let mut at = block.skip_blank_lines(0);
        while at < text.len() {
            let mut record = Vec::new();
            loop {
                let (field, end) = block.field(at, &mut scratch);
                record.push(field.to_vec());
                at = end + 1;
                if text.get(end) != Some(&b',') {
                    break;
                }
            }
            records.push(record);
            at = block.skip_blank_lines(at.min(text.len()));
        }
        records
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]
        #[test]
        fn records_are_those_of_the_csv_crate(text in "[a,\"\n\r]{0,40}") {
            prop_assert_eq!(by_us(text.as_bytes()), by_csv_crate(text.as_bytes()));
        }

        #[test]
        fn cutting_where_records_end_changes_no_record(text in "[a,\"\n\r]{0,40}") {
            let (before, after) = text.as_bytes().split_at(records_end(text.as_bytes(), b',').0);
            prop_assert_eq!([by_csv_crate(before), by_csv_crate(after)].concat(), by_csv_crate(text.as_bytes()));
        }
    }

    #[test]
    fn records_end_where_no_quote_is_open() {
        let end = |text: &str| records_end(text.as_bytes(), b',').0;
        assert_eq!(end("a,b\nc"), 4);
        assert_eq!(end("a,\"b\nc\"\nd"), 8);
        assert_eq!(end("a,\"b\n"), 0);
        assert_eq!(end("5\" disk,1\n6\" disk,\"2\n"), 10);
        assert_eq!(end("\"a\"\"\n\",1\nx"), 9);
        assert_eq!(records_end(b"a,\"b\n", b',').1, Some(2));
        assert_eq!(records_end(b"a,\"b\"\n", b',').1, None);
    }
}
