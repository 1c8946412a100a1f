//! The part of a text that shows best why a document was found.

use super::words::Terms;
use super::{Query, Snapshot};
use crate::document::{Document, Value};
use rankwise::Result;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use tantivy::tokenizer::{TextAnalyzer, TokenStream};
use unicode_segmentation::UnicodeSegmentation;

/// A part of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Snippet {
    /// The part. No word is cut.
    pub text: String,
    /// Words of the query in `text`, in bytes, ascending.
    pub highlights: Vec<Range<usize>>,
    /// Whether there is more before it.
    pub cut_before: bool,
    /// Whether there is more after it.
    pub cut_after: bool,
}

/// Makes the snippets of a query.
pub struct Snippets {
    /// The field that is shown beside the snippet.
    heading: Option<InField>,
    fields: Vec<InField>,
    width: usize,
}

/// What is looked for in one field.
struct InField {
    name: String,
    tokenizer: TextAnalyzer,
    /// The terms of the query and how much each is worth.
    values: HashMap<String, Worth>,
}

/// An inverse document frequency as a whole number, so that sums are exact whatever is added and taken away.
type Worth = u64;

/// A word of the query in a text, in bytes.
struct Match<'a> {
    range: Range<usize>,
    term: &'a str,
    value: Worth,
}

impl Snapshot {
    /// Snippets of a field for a query, of `width` characters at most.
    pub fn snippets(&self, query: &Query, field: &str, width: usize) -> Result<Snippets> {
        Ok(Snippets { heading: None, fields: vec![self.in_field(query, field)?], width })
    }

    /// Snippets of any text field but the one that heads a document.
    pub fn snippets_of_all(&self, query: &Query, width: usize) -> Result<Snippets> {
        let heading = self.schema().heading();
        let others = self.schema().words().map(|(_, field)| field.name.as_str());
        let others = others.filter(|name| Some(*name) != heading);
        Ok(Snippets {
            fields: others.map(|name| self.in_field(query, name)).collect::<Result<_>>()?,
            heading: heading.map(|name| self.in_field(query, name)).transpose()?,
            width,
        })
    }

    fn in_field(&self, query: &Query, field: &str) -> Result<InField> {
        let number = self.text_field(field)?;
        let terms = Terms::of(query, self)?;
        let mut values = HashMap::new();
        for term in &terms.scope(&[number]).terms {
            let frequency = self.document_frequency(&terms, term)? as f64;
            let value = (1.0 + (self.documents as f64 - frequency + 0.5) / (frequency + 0.5)).ln();
            values.insert(terms.leaves[term.leaves[0]].text.as_ref().to_owned(), (value * 1e6) as Worth);
        }
        let tokenizer = self.text[number].tokenizer.clone();
        Ok(InField { name: field.to_owned(), tokenizer, values })
    }
}

impl Snippet {
    /// The highlights in Unicode code points, which most languages count in.
    pub fn characters(&self) -> Vec<[usize; 2]> {
        let count = |byte: usize| self.text[..byte].chars().count();
        self.highlights.iter().map(|range| [count(range.start), count(range.end)]).collect()
    }
}

impl Snippets {
    /// The best part of this document: of each field the part with the most, and rarest, different words of the query, and
    /// of these the one with the most words that the heading does not show, or that of the longest text. If there are
    /// none, the beginning of the longest text; without text, an empty snippet.
    pub fn of(&self, document: &Document) -> Snippet {
        let heading = self.heading.as_ref().and_then(|heading| heading.best(document, usize::MAX));
        let shown = heading.map(|heading| heading.terms).unwrap_or_default();
        let found = self.fields.iter().filter_map(|field| field.best(document, self.width));
        let best = found.map(|part| (part.terms.difference(&shown).count(), part)).reduce(|best, other| {
            let is_better = (other.0, other.1.length) > (best.0, best.1.length);
            if is_better { other } else { best }
        });
        best.map(|(_, part)| part.snippet).unwrap_or_default()
    }
}

/// The best part of a field.
struct Part<'a> {
    worth: Worth,
    /// The words of the query in it.
    terms: HashSet<&'a str>,
    /// Bytes of the text that it is from.
    length: usize,
    snippet: Snippet,
}

impl InField {
    fn best(&self, document: &Document, width: usize) -> Option<Part<'_>> {
        let mut best: Option<Part<'_>> = None;
        for (_, value) in document.fields.iter().filter(|(name, _)| *name == self.name) {
            let texts = match value {
                Value::Text(text) => std::slice::from_ref(text),
                Value::List(texts) => texts,
                Value::Number(_) => &[],
            };
            for text in texts {
                let part = self.of_text(text, width);
                if best.as_ref().is_none_or(|best| part.worth > best.worth) {
                    best = Some(part);
                }
            }
        }
        best
    }

    /// The best part of a text.
    fn of_text(&self, text: &str, width: usize) -> Part<'_> {
        let matches = find(text, self.tokenizer.clone(), &self.values);
        let (worth, chosen) = best_run(text, &matches, width);
        let inside = &matches[chosen];
        let core = match (inside.first(), inside.last()) {
            (Some(first), Some(last)) => first.range.start..last.range.end,
            _ => 0..0,
        };
        let part = widened(text, core, width);
        let shown = |m: &&Match<'_>| part.start <= m.range.start && m.range.end <= part.end;
        let moved = |m: &Match<'_>| m.range.start - part.start..m.range.end - part.start;
        let snippet = Snippet {
            highlights: matches.iter().filter(shown).map(moved).collect(),
            cut_before: !text[..part.start].trim().is_empty(),
            cut_after: !text[part.end..].trim().is_empty(),
            text: text[part].to_owned(),
        };
        let terms = inside.iter().map(|found| found.term).collect();
        Part { worth, terms, length: text.len(), snippet }
    }
}

/// The words of the query in a text.
fn find<'a>(text: &str, mut tokenizer: TextAnalyzer, values: &'a HashMap<String, Worth>) -> Vec<Match<'a>> {
    let mut matches = Vec::new();
    let mut stream = tokenizer.token_stream(text);
    while stream.advance() {
        let token = stream.token();
        if let Some((term, &value)) = values.get_key_value(&token.text) {
            matches.push(Match { range: token.offset_from..token.offset_to, term, value });
        }
    }
    matches
}

/// The run of matches that fits into the width and has the most valuable different terms; of equal ones the run with more
/// matches, then the first.
fn best_run(text: &str, matches: &[Match<'_>], width: usize) -> (Worth, Range<usize>) {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let (mut start, mut characters, mut worth) = (0, 0, 0);
    let mut best = (0, 0..0);
    for (end, last) in matches.iter().enumerate() {
        let from = if end == 0 { last.range.start } else { matches[end - 1].range.end };
        characters += text[from..last.range.end].chars().count();
        let count = counts.entry(last.term).or_default();
        *count += 1;
        worth += if *count == 1 { last.value } else { 0 };
        while characters > width && start < end {
            let first = &matches[start];
            characters -= text[first.range.start..matches[start + 1].range.start].chars().count();
            let count = counts.entry(first.term).or_default();
            *count -= 1;
            worth -= if *count == 0 { first.value } else { 0 };
            start += 1;
        }
        if (worth, end + 1 - start) > (best.0, best.1.len()) {
            best = (worth, start..end + 1);
        }
    }
    best
}

/// A part of the text around `core` with as many whole words as fit into the width.
fn widened(text: &str, core: Range<usize>, width: usize) -> Range<usize> {
    let room = width.saturating_sub(text[core.clone()].chars().count());
    let before = text[..core.start].chars().rev().take(room).count();
    let after = text[core.end..].chars().take(room).count();
    // A third goes before; what one side does not need, the other gets.
    let before = before.min((room / 3).max(room - after));
    let start = word_start(text, core.start, before);
    let end = word_end(text, core.end, room - text[start..core.start].chars().count());
    let end = start + text[start..end].trim_end().len();
    let is_noise = |c: char| if start == 0 { c.is_whitespace() } else { !c.is_alphanumeric() };
    (end - text[start..end].trim_start_matches(is_noise).len())..end
}

/// Characters beyond a limit that are looked at to find where a word ends.
const BEYOND: usize = 100;

/// The first start of a word that is at most so many characters before `end`.
fn word_start(text: &str, end: usize, characters: usize) -> usize {
    let back = |count: usize| text[..end].char_indices().rev().take(count).last().map_or(end, |(at, _)| at);
    let (limit, context) = (back(characters), back(characters.saturating_add(BEYOND)));
    let starts = text[context..end].split_word_bound_indices().map(|(at, _)| context + at);
    starts.into_iter().find(|&start| start >= limit).unwrap_or(end)
}

/// The last end of a word that is at most so many characters after `start`.
fn word_end(text: &str, start: usize, characters: usize) -> usize {
    let ahead =
        |count: usize| text[start..].char_indices().nth(count).map_or(text.len(), |(at, _)| start + at);
    let (limit, context) = (ahead(characters), ahead(characters.saturating_add(BEYOND)));
    let words = text[start..context].split_word_bound_indices();
    words.map(|(at, word)| start + at + word.len()).take_while(|&end| end <= limit).last().unwrap_or(start)
}
