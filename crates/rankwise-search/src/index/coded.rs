//! Terms on their way to tantivy: one text per field, in which a line is a term.
//!
//! Documents are analysed on all threads, so that lengths are exact and the threads that write only have to write. A
//! line break stands for one step in position, so a left out stop word is an empty line. No term has one: a line break is
//! always between words. tantivy's own form of analysed text has a string per token, which it copies twice.

use crate::index::layout::Layout;
use crate::schema::Schema;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager};
use xxhash_rust::xxh3::xxh3_64;

const STEP: char = '\n';

/// The terms of one field of one document.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Coded {
    /// A term per line.
    pub(crate) text: String,
    /// How many terms there are.
    pub(crate) length: u64,
}

impl Coded {
    /// Appends the terms of a value of the field. No phrase goes from one value to the next: a position between them is
    /// empty.
    pub(crate) fn append(&mut self, analyzer: &mut TextAnalyzer, value: &str) {
        if !self.text.is_empty() {
            self.text.push(STEP);
        }
        let mut position = usize::MAX;
        analyzer.token_stream(value).process(&mut |token| {
            if token.text.is_empty() {
                return;
            }
            for _ in 0..token.position.wrapping_sub(position) {
                self.text.push(STEP);
            }
            position = token.position;
            self.text.push_str(&token.text);
            self.length += 1;
        });
    }

    fn terms(&self) -> impl Iterator<Item = &str> {
        self.text.split(STEP).filter(|term| !term.is_empty())
    }
}

/// Numbers of different terms: of every field, and of all together.
pub(crate) fn count_distinct(fields: &[Coded]) -> (Vec<u64>, u64) {
    // The last field in which a term was seen.
    let mut seen: HashMap<&str, usize, BuildHasherDefault<TermHasher>> = HashMap::default();
    seen.reserve(fields.iter().map(|field| field.length as usize).sum::<usize>() / 2);
    let counts = fields.iter().enumerate().map(|(at, field)| {
        let is_new = |term| match seen.entry(term) {
            Entry::Vacant(entry) => {
                entry.insert(at);
                true
            }
            Entry::Occupied(mut entry) => entry.insert(at) != at,
        };
        field.terms().map(is_new).filter(|&new| new).count() as u64
    });
    let counts = counts.collect();
    (counts, seen.len() as u64)
}

#[derive(Default)]
struct TermHasher(u64);

impl Hasher for TermHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 ^= xxh3_64(bytes);
    }

    // Only the byte that ends every text comes here.
    fn write_u8(&mut self, _: u8) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The tokenizers of writers: instead of analyzers, under their names, what reads coded text.
pub(crate) fn readers(schema: &Schema) -> TokenizerManager {
    let manager = super::layout::analyzers(schema);
    for (_, field) in schema.words() {
        let analyzer = field.words().expect("it is a field of words");
        manager.register(&analyzer.name(), TextAnalyzer::from(Lines::default()));
    }
    manager
}

/// Reads coded text.
#[derive(Clone, Default)]
struct Lines {
    token: Token,
}

impl Tokenizer for Lines {
    type TokenStream<'a> = LineStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> LineStream<'a> {
        self.token.reset();
        LineStream { rest: text, token: &mut self.token }
    }
}

struct LineStream<'a> {
    rest: &'a str,
    token: &'a mut Token,
}

impl TokenStream for LineStream<'_> {
    fn advance(&mut self) -> bool {
        let steps = self.rest.bytes().take_while(|&byte| byte == STEP as u8).count();
        let rest = &self.rest[steps..];
        let end = rest.bytes().position(|byte| byte == STEP as u8).unwrap_or(rest.len());
        self.token.position = self.token.position.wrapping_add(steps);
        self.token.text.clear();
        self.token.text.push_str(&rest[..end]);
        self.rest = &rest[end..];
        end > 0
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

/// The tokenizers of one thread, one for every field of words.
pub(crate) fn tokenizers(layout: &Layout) -> Vec<TextAnalyzer> {
    layout.words().map(|analyzer| analyzer.tokenizer()).collect()
}
