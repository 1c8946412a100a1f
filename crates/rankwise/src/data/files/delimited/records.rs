//! The records of a table, one at a time, for readers that keep no table.

use super::{Block, Blocks, column_names, empty};
use crate::data::files::Source;
use crate::data::files::excerpt::quoted;
use crate::error::{Error, Place, Result};
use memchr::{memchr_iter, memrchr};

/// The records of a comma- or tab-separated table with a header, read in order. Memory is bounded by the longest record.
pub struct Records {
    blocks: Blocks,
    block: Block,
    names: Vec<String>,
    /// Where the next record starts.
    at: usize,
    /// A place in the block before the next record, and its line.
    counted: usize,
    line: u64,
    cells: Vec<Cell>,
    /// The cells one after the other, without their quotes.
    bytes: Vec<u8>,
}

struct Cell {
    /// Where it starts in the block.
    at: usize,
    /// Where it ends in the bytes of all cells.
    end: usize,
}

/// A record: one cell per column, as a rule.
pub struct Record<'a> {
    records: &'a Records,
    /// Where it starts.
    pub place: Place,
}

impl Records {
    /// The records of `source` after its header.
    pub fn new(source: Source, delimiter: u8) -> Result<Records> {
        let mut blocks = Blocks::new(source, delimiter);
        let Some(mut block) = blocks.next()? else { return Err(empty(blocks.origin.name())) };
        let (names, _) = column_names(&mut block)?;
        let (at, line) = (block.start, block.first_line);
        Ok(Records { blocks, block, names, at, counted: 0, line, cells: Vec::new(), bytes: Vec::new() })
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The file as the user named it.
    pub fn file(&self) -> &str {
        self.blocks.origin.name()
    }

    /// The next record that is not a blank line. Nothing can be read after an error.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>> {
        self.at = self.block.skip_blank_lines(self.at.min(self.block.text.len()));
        while self.at == self.block.text.len() {
            let Some(block) = self.blocks.next()? else { return Ok(None) };
            (self.counted, self.line) = (0, block.first_line);
            self.at = block.skip_blank_lines(0);
            self.block = block;
        }
        self.line += memchr_iter(b'\n', &self.block.text[self.counted..self.at]).count() as u64;
        self.counted = self.at;
        let place = self.place(self.at);
        self.cut();
        Ok(Some(Record { records: self, place }))
    }

    fn cut(&mut self) {
        self.cells.clear();
        self.bytes.clear();
        let mut scratch = Vec::new();
        loop {
            let at = self.at;
            let (text, end) = self.block.field(at, &mut scratch);
            let text = if self.block.text.get(at) == Some(&b'"') { text } else { text.trim_ascii() };
            self.bytes.extend_from_slice(text);
            self.cells.push(Cell { at, end: self.bytes.len() });
            self.at = end + 1;
            if self.block.text.get(end) != Some(&self.block.delimiter) {
                return;
            }
        }
    }

    /// The place of a byte at or after `counted`.
    fn place(&self, at: usize) -> Place {
        let line = self.line + memchr_iter(b'\n', &self.block.text[self.counted..at]).count() as u64;
        let line_start = memrchr(b'\n', &self.block.text[..at]).map_or(0, |n| n + 1);
        self.blocks.origin.place(line, at - line_start + 1)
    }
}

impl<'a> Record<'a> {
    /// The number of its cells.
    #[expect(clippy::len_without_is_empty, reason = "a record has at least one cell")]
    pub fn len(&self) -> usize {
        self.records.cells.len()
    }

    /// The names of the columns.
    pub fn names(&self) -> &'a [String] {
        &self.records.names
    }

    /// A cell, without its quotes; without them, also without the white space around it.
    pub fn cell(&self, index: usize) -> Result<&'a str> {
        let start = index.checked_sub(1).map_or(0, |before| self.records.cells[before].end);
        let cell = &self.records.bytes[start..self.records.cells[index].end];
        std::str::from_utf8(cell)
            .map_err(|e| self.error(index, format!("{} is not UTF-8 text", quoted(&cell[e.valid_up_to()..]))))
    }

    /// An error about a cell.
    pub fn error(&self, index: usize, message: String) -> Error {
        Error::parse(self.records.place(self.records.cells[index].at), message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &[u8]) -> Records {
        Records::new(Source::new("x", std::io::Cursor::new(text.to_vec())).unwrap(), b',').unwrap()
    }

    #[test]
    fn records_have_cells_and_places() {
        let mut records = records(b"\xef\xbb\xbfid, title\r\n\r\n1,\" a \"\"b\"\"\nc\" \r\n 2 ,d,e\n\xff,f");
        assert_eq!(records.names(), ["id", "title"]);
        let mut seen = Vec::new();
        while let Some(record) = records.next_record().unwrap() {
            let cells: Vec<_> =
                (0..record.len()).map(|i| record.cell(i).map_err(|e| e.to_string())).collect();
            seen.push((record.place.line, record.place.column, format!("{cells:?}")));
        }
        assert_eq!(seen[0], (3, 1, r#"[Ok("1"), Ok(" a \"b\"\nc ")]"#.to_owned()));
        assert_eq!(seen[1], (5, 1, r#"[Ok("2"), Ok("d"), Ok("e")]"#.to_owned()));
        assert_eq!(seen[2], (6, 1, "[Err(\"x:6:1: `\u{fffd}` is not UTF-8 text\"), Ok(\"f\")]".to_owned()));
        assert_eq!(seen.len(), 3);
    }

    #[test]
    fn places_are_right_beyond_the_first_block() {
        let text: String = (0..200_000).map(|i| format!("{i},\"{}\"\n", i % 7)).collect();
        let mut records = records(format!("id,x\n{text}").as_bytes());
        for i in 0..200_000 {
            let record = records.next_record().unwrap().unwrap();
            assert_eq!((record.place.line, record.place.column), (i + 2, 1));
            assert_eq!(record.cell(0).unwrap(), i.to_string());
        }
        assert!(records.next_record().unwrap().is_none());
    }
}
