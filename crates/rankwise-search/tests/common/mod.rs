//! Small corpora, and what follows from their texts by counting.
#![allow(dead_code, reason = "each test uses a part")]

use rankwise_search::{Analyzer, Document, Duplicates, Field, Index, Schema, Snapshot, Value, WriterOptions};
use std::collections::{BTreeMap, HashMap, HashSet};
use tempfile::TempDir;

/// Fields with different analyzers; `tag` is not a part of the whole document.
pub(crate) fn schema() -> Schema {
    Schema::new([
        Field::text("title", Analyzer::English),
        Field::text("body", Analyzer::Plain),
        Field::text("tag", Analyzer::Keyword),
        Field::text("note", Analyzer::English),
        Field::number("year"),
    ])
    .unwrap()
}

/// Text fields that are cut into words: the place in the schema, the name, the analyzer.
pub(crate) const WORDS: [(usize, &str, Analyzer); 3] =
    [(0, "title", Analyzer::English), (1, "body", Analyzer::Plain), (3, "note", Analyzer::English)];

/// Values of text fields by name; a field may have several.
pub(crate) type Texts = Vec<(String, String)>;

pub(crate) fn document(id: &str, texts: &Texts) -> Document {
    let fields = texts.iter().map(|(name, text)| (name.clone(), Value::Text(text.clone()))).collect();
    Document { id: id.to_owned(), fields }
}

#[derive(Debug, Clone)]
pub(crate) enum Change {
    Put(u8, Texts),
    Delete(u8),
    Commit,
}

/// An index in a directory that goes away with it.
pub(crate) struct Built {
    pub(crate) index: Index,
    pub(crate) live: BTreeMap<String, Texts>,
    _directory: TempDir,
}

impl Built {
    /// Makes changes one after another.
    pub(crate) fn by_changes(schema: &Schema, changes: &[Change]) -> Built {
        let directory = tempfile::tempdir().unwrap();
        let index = Index::create(directory.path().join("index"), schema).unwrap();
        let options = WriterOptions { duplicates: Duplicates::Replace, ..WriterOptions::default() };
        let mut writer = index.writer(options).unwrap();
        let mut live = BTreeMap::new();
        for change in changes {
            match change {
                Change::Put(number, texts) => {
                    let id = format!("d{number}");
                    writer.add(document(&id, texts)).unwrap();
                    live.insert(id, texts.clone());
                }
                Change::Delete(number) => {
                    let id = format!("d{number}");
                    writer.delete(&id).unwrap();
                    live.remove(&id);
                }
                Change::Commit => drop(writer.commit().unwrap()),
            }
        }
        writer.commit().unwrap();
        Built { index, live, _directory: directory }
    }

    /// Adds documents in the order of their ids.
    pub(crate) fn anew(schema: &Schema, live: &BTreeMap<String, Texts>) -> Built {
        let directory = tempfile::tempdir().unwrap();
        let index = Index::create(directory.path().join("index"), schema).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        live.iter().for_each(|(id, texts)| writer.add(document(id, texts)).unwrap());
        writer.commit().unwrap();
        Built { index, live: live.clone(), _directory: directory }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.index.snapshot().unwrap()
    }
}

/// The terms of a field of a document and their positions. A value begins two positions after the last term before it, and
/// a value without terms is one more.
pub(crate) fn tokens(texts: &Texts, field: &str, analyzer: Analyzer) -> Vec<(String, u32)> {
    let mut tokens: Vec<(String, u32)> = Vec::new();
    let mut first = 0;
    for (_, text) in texts.iter().filter(|(name, _)| name == field) {
        let before = tokens.len();
        let mut tokenizer = analyzer.tokenizer();
        let mut stream = tokenizer.token_stream(text);
        stream.process(&mut |token| tokens.push((token.text.clone(), first + token.position as u32)));
        first = match tokens.last() {
            None => 0,
            Some((_, position)) if tokens.len() > before => position + 2,
            Some(_) => first + 1,
        };
    }
    tokens
}

pub(crate) fn count(tokens: &[(String, u32)], term: &str) -> u32 {
    tokens.iter().filter(|(text, _)| text == term).count() as u32
}

/// A term of a query: what each of some fields makes of a word.
pub(crate) type Forms = Vec<(&'static str, Analyzer, String)>;

/// The different terms of a query in some fields, and how often it has each. Words are cut at spaces.
pub(crate) fn query_terms(query: &str, fields: &[(&'static str, Analyzer)]) -> Vec<(Forms, f64)> {
    let mut terms: Vec<(Forms, f64)> = Vec::new();
    for word in query.split_whitespace() {
        let form = |&(name, analyzer): &(&'static str, Analyzer)| {
            analyzer.terms(word).pop().map(|term| (name, analyzer, term))
        };
        let forms: Forms = fields.iter().filter_map(form).collect();
        match terms.iter_mut().find(|(known, _)| *known == forms) {
            Some((_, times)) => *times += 1.0,
            None if forms.is_empty() => {}
            None => terms.push((forms, 1.0)),
        }
    }
    terms
}

/// BM25 of every document that has a term, by counting words.
pub(crate) fn naive_bm25(
    live: &BTreeMap<String, Texts>,
    query: &str,
    k1: f64,
    b: f64,
    weights: &[(&'static str, Analyzer, f64)],
) -> HashMap<String, f64> {
    let fields: Vec<_> = weights.iter().map(|&(name, analyzer, _)| (name, analyzer)).collect();
    let terms = query_terms(query, &fields);
    let frequency = |texts: &Texts, forms: &Forms| -> f64 {
        let of_field = |(name, analyzer, term): &(&'static str, Analyzer, String)| {
            let weight = weights.iter().find(|(other, ..)| other == name).unwrap().2;
            weight * f64::from(count(&tokens(texts, name, *analyzer), term))
        };
        forms.iter().map(of_field).sum()
    };
    let length = |texts: &Texts| -> f64 {
        weights
            .iter()
            .map(|&(name, analyzer, weight)| weight * tokens(texts, name, analyzer).len() as f64)
            .sum()
    };
    let documents = live.len() as f64;
    let average = live.values().map(length).sum::<f64>() / documents;
    let mut scores = HashMap::new();
    for (forms, times) in &terms {
        let with_term: HashSet<&String> =
            live.iter().filter(|(_, texts)| frequency(texts, forms) > 0.0).map(|(id, _)| id).collect();
        let n = with_term.len() as f64;
        for id in with_term {
            let tf = frequency(&live[id], forms);
            let saturation = tf / (tf + k1 * (1.0 - b + b * length(&live[id]) / average));
            *scores.entry(id.clone()).or_insert(0.0) +=
                times * (1.0 + (documents - n + 0.5) / (n + 0.5)).ln() * saturation;
        }
    }
    scores
}
