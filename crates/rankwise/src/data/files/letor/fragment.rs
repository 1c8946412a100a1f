//! A block of whole lines, parsed independently of the others.

use super::fast_path;
use super::line::{self, Document, Fault, Ids};
use super::rows::{MatrixShape, RowBuffer};
use crate::data::Texts;
use std::ops::Range;

/// The documents of one block of text. Lines count from 0 at its start.
#[derive(Debug)]
pub(super) struct Fragment {
    pub(super) labels: Vec<f32>,
    pub(super) rows: RowBuffer,
    /// Adjacent documents of the same query.
    pub(super) runs: Vec<QueryRun>,
    /// One id per run.
    pub(super) query_ids: Texts,
    /// One text per document, if any document has a comment.
    pub(super) comments: Option<Texts>,
    /// Number of lines read.
    pub(super) lines: u64,
    /// What is wrong with the next line.
    pub(super) fault: Option<Fault>,
    row: Vec<(u32, f32)>,
}

/// Adjacent documents of one query.
#[derive(Debug)]
pub(super) struct QueryRun {
    pub(super) count: usize,
    pub(super) first_line: u64,
    pub(super) last_line: u64,
    /// The byte offset of the query id in the first line.
    pub(super) at: usize,
}

impl Fragment {
    /// An empty fragment.
    pub(super) fn new() -> Self {
        Fragment {
            labels: Vec::new(),
            rows: RowBuffer::new(1),
            runs: Vec::new(),
            query_ids: Texts::new(),
            comments: None,
            lines: 0,
            fault: None,
            row: Vec::new(),
        }
    }

    /// Clears the fragment and reads the lines of `text` up to the first faulty one. `shape` is the expected shape of
    /// the rows.
    pub(super) fn read(&mut self, text: &[u8], ids: Ids, shape: MatrixShape) {
        self.labels.clear();
        self.runs.clear();
        self.query_ids = Texts::new();
        self.comments = None;
        self.lines = 0;
        self.fault = None;
        self.rows.reset(shape);
        let (mut at, mut last_query) = (0, 0..0);
        while at < text.len() && self.fault.is_none() {
            at = match self.fast_line(text, at, &mut last_query) {
                Some(end) => end,
                None => self.careful_line(text, at, &mut last_query, ids),
            };
        }
        self.rows.count_filled();
    }

    /// Reads a line on the fast path and returns where the next starts. Other lines are left unread.
    #[inline]
    fn fast_line(&mut self, text: &[u8], at: usize, last_query: &mut Range<usize>) -> Option<usize> {
        let head = fast_path::head(text, at, &text[last_query.clone()])?;
        let first = self.rows.first();
        let row = self.rows.open_row()?;
        let (end, given) = fast_path::features(text, head.query.end, row, first)?;
        let line_end = memchr::memchr(b'\n', &text[end..])? + end;
        if line::inner_carriage_return(&text[end..line_end]).is_some() {
            return None;
        }
        let comment = (text[end] == b'#').then(|| line::trimmed(&text[..line_end], end + 1));
        self.rows.keep_row(given);
        let document = Document { label: head.label, query: head.query, comment };
        self.add(text, at, document, last_query);
        self.lines += 1;
        Some(line_end + 1)
    }

    /// Reads any line and returns where the next starts.
    fn careful_line(&mut self, text: &[u8], at: usize, last_query: &mut Range<usize>, ids: Ids) -> usize {
        let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length);
        match line::parse(&text[at..end], ids, &mut self.row) {
            Ok(None) => {}
            Ok(Some(mut document)) => {
                document.query = at + document.query.start..at + document.query.end;
                document.comment = document.comment.map(|c| at + c.start..at + c.end);
                self.rows.push(&self.row);
                self.add(text, at, document, last_query);
            }
            Err(fault) => {
                self.fault = Some(fault);
                return end;
            }
        }
        self.lines += 1;
        end + 1
    }

    /// Adds a document whose features have been added; its ranges are byte offsets in `text`.
    fn add(&mut self, text: &[u8], line_start: usize, document: Document, last_query: &mut Range<usize>) {
        self.labels.push(document.label);
        let query = &text[document.query.clone()];
        match self.runs.last_mut() {
            Some(run) if text[last_query.clone()] == *query => {
                run.count += 1;
                run.last_line = self.lines;
            }
            _ => {
                let at = document.query.start - line_start;
                self.runs.push(QueryRun { count: 1, first_line: self.lines, last_line: self.lines, at });
                self.query_ids.push(&String::from_utf8_lossy(query));
            }
        }
        *last_query = document.query;
        if document.comment.is_some() || self.comments.is_some() {
            let earlier = self.labels.len() - 1;
            let comments = self.comments.get_or_insert_with(|| (0..earlier).map(|_| "").collect());
            let comment = document.comment.map_or(&[][..], |range| &text[range]);
            comments.push(&String::from_utf8_lossy(comment));
        }
    }
}
