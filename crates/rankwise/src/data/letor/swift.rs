//! The usual line, quickly: features in ascending order, all in columns known, plain spaces, plain numbers. Any
//! other line is left to the careful reader, which also finds the words for what is wrong.

use super::line;
use crate::data::number;
use std::ops::Range;

/// Ids whose text is kept to be compared with.
const KNOWN_IDS: u32 = 4096;

/// The text ` ID:` of every small id, ready to be compared with 8 bytes of a line at once.
#[derive(Debug)]
pub(super) struct IdTexts(Vec<IdText>);

#[derive(Debug, Clone, Copy)]
struct IdText {
    text: u64,
    mask: u64,
    length: usize,
}

impl IdTexts {
    /// The texts of all small ids.
    pub fn new() -> Self {
        let text = |id: u32| {
            let text = format!(" {id}:");
            let mut bytes = [0; 8];
            bytes[..text.len()].copy_from_slice(text.as_bytes());
            let mask = u64::MAX >> (64 - 8 * text.len());
            IdText { text: u64::from_le_bytes(bytes), mask, length: text.len() }
        };
        IdTexts((0..KNOWN_IDS).map(text).collect())
    }

    /// Those from `first` on.
    fn from(&self, first: u32) -> &[IdText] {
        self.0.get(first as usize..).unwrap_or_default()
    }
}

/// What stands before the features.
pub(super) struct Head {
    pub label: f32,
    pub query: Range<usize>,
}

/// Reads `label qid:ID` from `at` on. `last_query` is the id of the line before: most often it is the same.
#[inline]
pub(super) fn head(text: &[u8], at: usize, last_query: &[u8]) -> Option<Head> {
    let (label, length) = number::leading(text.get(at..)?)?;
    let start = at + length + 5;
    if text.get(at + length..start)? != b" qid:" {
        return None;
    }
    let rest = text.get(start..)?;
    let same =
        !last_query.is_empty() && rest.starts_with(last_query) && rest.get(last_query.len()) == Some(&b' ');
    let end = if same { start + last_query.len() } else { line::token_end(text, start) };
    if end == start || (!same && std::str::from_utf8(&text[start..end]).is_err()) {
        return None;
    }
    Some(Head { label, query: start..end })
}

/// Reads the features from `at`, where a space stands, into `row`, whose first column has id `first`. Gives where it
/// stopped (at the line feed or the comment) and how many there were.
#[inline]
pub(super) fn features(
    text: &[u8],
    at: usize,
    row: &mut [f32],
    first: u32,
    ids: &IdTexts,
) -> Option<(usize, usize)> {
    let known = ids.from(first);
    let (mut at, mut column, mut given) = (at, 0, 0);
    loop {
        let ahead = text.get(at..)?;
        let word = u64::from_le_bytes(*ahead.first_chunk::<8>()?);
        let value_start = match known.get(column) {
            Some(id) if word & id.mask == id.text => id.length,
            _ => match skip_to_value(ahead, first)? {
                Next::Value { column: found, start } if found >= column => {
                    column = found;
                    start
                }
                Next::Value { .. } => return None,
                Next::End { start } => return Some((at + start, given)),
            },
        };
        let rest = &ahead[value_start..];
        let (value, length) = match number::leading(rest) {
            Some((value, length)) if ends_token(*rest.get(length)?) => (value, length),
            _ => {
                let token = &rest[..line::token_end(rest, 0)];
                (number::parse(token).filter(|value| value.is_finite())?, token.len())
            }
        };
        *row.get_mut(column)? = value;
        column += 1;
        given += 1;
        at += value_start + length;
    }
}

fn ends_token(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b'#')
}

enum Next {
    Value { column: usize, start: usize },
    End { start: usize },
}

/// What comes next, where it is not the id expected: another feature, or the end of the line.
fn skip_to_value(text: &[u8], first: u32) -> Option<Next> {
    let start = text.iter().position(|&b| !line::is_space(b))?;
    if matches!(text[start], b'\n' | b'#') {
        return Some(Next::End { start });
    }
    let (id, length) = number::leading_digits(&text[start..])?;
    if length == 0 || start == 0 || text.get(start + length) != Some(&b':') {
        return None;
    }
    let column = (id as usize).checked_sub(first as usize)?;
    Some(Next::Value { column, start: start + length + 1 })
}
