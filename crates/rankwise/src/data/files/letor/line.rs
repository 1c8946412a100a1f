//! Parsing one line of LETOR text in any dialect, with the place of an error.

use super::fast_path;
use crate::data::MAX_FEATURES;
use crate::data::files::excerpt::quoted;
use crate::data::files::number;
use std::ops::Range;

/// What is wrong in a line, and at which byte (from 0).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) message: String,
}

/// A document. Ranges are bytes of the line.
#[derive(Debug, PartialEq)]
pub(super) struct Document {
    pub(super) label: f32,
    pub(super) query: Range<usize>,
    pub(super) comment: Option<Range<usize>>,
}

/// The range of feature ids allowed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ids {
    /// The lowest id allowed.
    pub(super) lowest: u32,
    /// The highest id allowed.
    pub(super) highest: u32,
}

impl Ids {
    /// Ids from `first`, or from 0 if the first id is not known yet.
    pub(super) fn starting_at(first: Option<u32>) -> Ids {
        // If no id is 0, ids run to `MAX_FEATURES` itself.
        let most = (MAX_FEATURES - 1) as u32;
        Ids { lowest: first.unwrap_or(0), highest: first.unwrap_or(1).saturating_add(most) }
    }

    fn allow(self, id: u64) -> bool {
        (u64::from(self.lowest)..=u64::from(self.highest)).contains(&id)
    }
}

/// Reads a line without its line feed. Features go to `row` as `(id, value)`, ascending by id. `None` if the
/// line has no document.
pub(super) fn parse(line: &[u8], ids: Ids, row: &mut Vec<(u32, f32)>) -> Result<Option<Document>, Fault> {
    row.clear();
    if let Some(at) = inner_carriage_return(line) {
        let message =
            "a carriage return in the middle of the line; if lines end with carriage returns alone, convert \
                       them to line feeds"
                .to_owned();
        return Err(Fault { at, message });
    }
    let Some(label_token) = token(line, 0) else { return Ok(None) };
    if line[label_token.start] == b'#' {
        return Ok(None);
    }
    let label = label(line, label_token.clone())?;
    let query = query(line, label_token.end)?;
    let mut at = query.end;
    let mut ascending = true;
    let mut comment = None;
    while let Some(start) = next_token(line, at) {
        if line[start] == b'#' {
            comment = Some(trimmed(line, start + 1));
            break;
        }
        let (id, value, length) = match fast_path::feature(&line[start..]).filter(|&(id, ..)| ids.allow(id)) {
            Some((id, value, length)) => (id as u32, value, length),
            None => feature(line, start..token_end(line, start), ids)?,
        };
        ascending &= row.last().is_none_or(|&(last, _)| last < id);
        row.push((id, value));
        at = start + length;
    }
    sort(line, row, ascending)?;
    Ok(Some(Document { label, query, comment }))
}

/// The bytes that separate tokens. Carriage returns belong to them, because they precede line feeds.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

/// Where a carriage return stands that is not at the end of the line: a line end of old Macs, which would otherwise
/// separate features or be part of a comment.
pub(super) fn inner_carriage_return(line: &[u8]) -> Option<usize> {
    let first = memchr::memchr(b'\r', line)?;
    line[first..].iter().any(|&b| !is_space(b)).then_some(first)
}

/// Where the next token or comment starts, from `at` on.
fn next_token(line: &[u8], at: usize) -> Option<usize> {
    Some(at + line[at..].iter().position(|&b| !is_space(b))?)
}

/// The next token from `at` on; a comment gives one that starts with `#`.
fn token(line: &[u8], at: usize) -> Option<Range<usize>> {
    next_token(line, at).map(|start| start..token_end(line, start))
}

/// Where the token at `start` ends: before a space or a comment.
pub(super) fn token_end(line: &[u8], start: usize) -> usize {
    let ends = |&b: &u8| is_space(b) || b == b'#' || b == b'\n';
    line[start..].iter().position(ends).map_or(line.len(), |length| start + length)
}

/// The rest of the line from `start` on, without the spaces around it.
pub(super) fn trimmed(line: &[u8], start: usize) -> Range<usize> {
    let rest = &line[start..];
    let front = rest.iter().position(|&b| !is_space(b)).unwrap_or(rest.len());
    let end = rest.iter().rposition(|&b| !is_space(b)).map_or(front, |last| last + 1);
    start + front..start + end
}

fn label(line: &[u8], token: Range<usize>) -> Result<f32, Fault> {
    let text = &line[token.clone()];
    let fault = |message| Err(Fault { at: token.start, message });
    match number::parse(text) {
        _ if number::is_missing(text) => fault(format!("the label is missing: found {}", quoted(text))),
        Some(label) if label.is_finite() => Ok(label),
        Some(_) => fault(format!("the label {} is not a finite number in single precision", quoted(text))),
        None => fault(format!("expected a label (a number) first on the line, found {}", quoted(text))),
    }
}

/// The query id, which must follow the label.
fn query(line: &[u8], at: usize) -> Result<Range<usize>, Fault> {
    const ADVICE: &str = "a query id must follow every label, as in `2 qid:17 1:0.5`";
    let Some(token) = token(line, at).filter(|t| line[t.start] != b'#') else {
        let message = format!("expected `qid:` and a query id, found the end of the line; {ADVICE}");
        return Err(Fault { at: at.min(line.len()), message });
    };
    let text = &line[token.clone()];
    let Some(id) = text.strip_prefix(b"qid:") else {
        let message = format!("expected `qid:` and a query id, found {}; {ADVICE}", quoted(text));
        return Err(Fault { at: token.start, message });
    };
    let start = token.end - id.len();
    match std::str::from_utf8(id) {
        Ok("") => Err(Fault { at: start, message: "the query id after `qid:` is empty".to_owned() }),
        Ok(_) => Ok(start..token.end),
        Err(_) => Err(Fault { at: start, message: format!("the query id {} is not UTF-8", quoted(id)) }),
    }
}

/// The id and the value of a feature, and the length of its text.
fn feature(line: &[u8], token: Range<usize>, ids: Ids) -> Result<(u32, f32, usize), Fault> {
    let text = &line[token.clone()];
    let Some(colon) = memchr::memchr(b':', text) else {
        let message = format!("expected `id:value`, found {}", quoted(text));
        return Err(Fault { at: token.start, message });
    };
    let (id, value) = (&text[..colon], &text[colon + 1..]);
    let id = feature_id(id, text, ids).map_err(|message| Fault { at: token.start, message })?;
    let fault = |message| Err(Fault { at: token.start + colon + 1, message });
    match number::parse(value) {
        _ if number::is_missing(value) => Ok((id, f32::NAN, text.len())),
        Some(value) if value.is_finite() => Ok((id, value, text.len())),
        Some(_) => fault(format!(
            "the value {} of feature {id} is not a finite number in single precision",
            quoted(value)
        )),
        None if value.is_empty() => {
            fault(format!("the value of feature {id} is empty; leave the feature out or write `NULL`"))
        }
        None => fault(format!("expected a number for feature {id}, found {}", quoted(value))),
    }
}

fn feature_id(id: &[u8], token: &[u8], ids: Ids) -> Result<u32, String> {
    if id.is_empty() || !id.iter().all(u8::is_ascii_digit) {
        return Err(match id {
            b"qid" => format!("a second query id on the line: {}", quoted(token)),
            _ => format!("expected a feature id (a whole number) before the colon, found {}", quoted(token)),
        });
    }
    let sum = |number: u64, &digit: &u8| number.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    match id.iter().fold(0, sum) {
        number if ids.allow(number) => Ok(number as u32),
        number if number < u64::from(ids.lowest) => Err(format!(
            "feature id {} is below {}, which was given as the number of the first feature; give a lower one or none",
            quoted(id),
            ids.lowest
        )),
        _ => Err(format!("feature id {} is above the highest allowed, {}", quoted(id), ids.highest)),
    }
}

/// Sorts the features; it is an error if an id occurs twice.
fn sort(line: &[u8], row: &mut [(u32, f32)], ascending: bool) -> Result<(), Fault> {
    if ascending {
        return Ok(());
    }
    row.sort_by_key(|&(id, _)| id);
    let Some(twice) = row.windows(2).find(|pair| pair[0].0 == pair[1].0) else { return Ok(()) };
    let id = twice[0].0;
    let message = format!("feature {id} occurs twice on the line");
    Err(Fault { at: second_place(line, id), message })
}

/// Where a feature occurs for the second time.
fn second_place(line: &[u8], id: u32) -> usize {
    let (mut at, mut seen) = (0, false);
    while let Some(token) = token(line, at) {
        let digits = line[token.clone()].split(|&b| b == b':').next().unwrap_or_default();
        let same = std::str::from_utf8(digits).ok().and_then(|d| d.parse().ok()) == Some(id);
        // The label may look like an id, but no colon follows it.
        if same && line.get(token.start + digits.len()) == Some(&b':') {
            if seen {
                return token.start;
            }
            seen = true;
        }
        at = token.end;
    }
    0
}
