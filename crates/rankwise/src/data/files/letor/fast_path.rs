//! The fast path for common lines: features in ascending order and in known columns, single spaces, plain numbers. All
//! other lines go to the careful parser, which also writes the error messages.

use super::line;
use crate::data::files::number;
use std::ops::Range;

/// The text ` ID:` of a feature, to be compared with 8 bytes of a line at once.
#[derive(Clone, Copy)]
struct IdText {
    text: u64,
    mask: u64,
    length: usize,
}

/// The texts of small ids; other ids are read digit by digit.
static ID_TEXTS: [IdText; 1024] = {
    let mut texts = [IdText { text: 0, mask: 0, length: 0 }; 1024];
    let mut id = 0;
    while id < texts.len() {
        texts[id] = IdText::of(id);
        id += 1;
    }
    texts
};

impl IdText {
    const fn of(id: usize) -> IdText {
        // From the end, so that the first character ends up in the lowest byte.
        let (mut text, mut length, mut rest) = (b':' as u64, 1, id);
        loop {
            text = text << 8 | (b'0' as usize + rest % 10) as u64;
            (length, rest) = (length + 1, rest / 10);
            if rest == 0 {
                break;
            }
        }
        length += 1;
        IdText { text: text << 8 | b' ' as u64, mask: u64::MAX >> (64 - 8 * length), length }
    }
}

/// The fields before the features.
pub(super) struct Head {
    pub(super) label: f32,
    pub(super) query: Range<usize>,
}

/// Reads `label qid:ID` at `at`. `last_query` is the id of the line before, which is usually the same.
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

/// Reads the features from `at`, which must be a space, into `row`, whose first column has id `first`. Returns where it
/// stopped (at the line feed or the comment) and the number of features.
#[inline]
pub(super) fn features(text: &[u8], at: usize, row: &mut [f32], first: u32) -> Option<(usize, usize)> {
    let known = ID_TEXTS.get(first as usize..).unwrap_or_default();
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
        let (value, length) = value(&ahead[value_start..])?;
        *row.get_mut(column)? = value;
        column += 1;
        given += 1;
        at += value_start + length;
    }
}

/// The feature that `text` starts with, if it is a plain one: its id, its value and its length.
#[inline]
pub(super) fn feature(text: &[u8]) -> Option<(u64, f32, usize)> {
    let (id, digits) = number::leading_digits(text)?;
    if digits == 0 || text.get(digits) != Some(&b':') {
        return None;
    }
    let (value, length) = value(&text[digits + 1..])?;
    Some((id, value, digits + 1 + length))
}

/// The value that `text` starts with, and its length. `text` must include the byte after it.
#[inline(always)]
fn value(text: &[u8]) -> Option<(f32, usize)> {
    let window = text.first_chunk::<9>()?;
    let word = u64::from_le_bytes(*window.first_chunk::<8>()?);
    match number::short(word) {
        Some((value, length)) if ends_token(window[length.min(8)]) => Some((value, length)),
        _ => longer_value(text),
    }
}

/// Like [`value`], for numbers that are not short.
fn longer_value(text: &[u8]) -> Option<(f32, usize)> {
    match number::leading(text) {
        Some((value, length)) if ends_token(*text.get(length)?) => Some((value, length)),
        _ => {
            let token = &text[..line::token_end(text, 0)];
            Some((number::parse(token).filter(|value| value.is_finite())?, token.len()))
        }
    }
}

fn ends_token(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b'#')
}

enum Next {
    Value { column: usize, start: usize },
    End { start: usize },
}

/// What follows if it is not the expected id: another feature, or the end of the line.
fn skip_to_value(text: &[u8], first: u32) -> Option<Next> {
    let start = text.iter().position(|&b| !line::is_space(b))?;
    if text[start] != b'\n' && text[..start].contains(&b'\r') {
        return None;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_texts_match_the_text_of_lines() {
        for (id, known) in ID_TEXTS.iter().enumerate() {
            let text = format!(" {id}:");
            assert_eq!(known.length, text.len());
            let line = format!("{text}9999999");
            let word = u64::from_le_bytes(*line.as_bytes().first_chunk().unwrap());
            assert_eq!(word & known.mask, known.text);
        }
    }
}
