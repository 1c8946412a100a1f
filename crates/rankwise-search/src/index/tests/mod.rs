//! What an index keeps is compared with a naive recomputation from the documents.

mod content;
mod damage;
mod killed;
mod model;
mod new;
mod writing;

use crate::index::layout::{DISTINCT, ID, Place, distinct_of, length_of};
use crate::index::{Index, View, WriterOptions};
use crate::{Analyzer, Document, Field, Schema, Value};
use std::collections::BTreeMap;
use tantivy::postings::Postings;
use tantivy::schema::Value as _;
use tantivy::{DocSet, SegmentReader, TERMINATED, TantivyDocument};

/// Positions of the terms of a field.
type Terms = BTreeMap<String, Vec<u32>>;

/// All that an index knows about a document.
#[derive(Debug, Clone, Default, PartialEq)]
struct Known {
    source: String,
    /// By field of text.
    terms: BTreeMap<String, Terms>,
    /// Length and different terms, by field of words.
    sizes: BTreeMap<String, (u64, u64)>,
    distinct: u64,
    /// Numbers and dates.
    numbers: BTreeMap<String, f64>,
}

fn schema() -> Schema {
    let fields = [
        Field::text("title", Analyzer::English),
        Field::text("tag", Analyzer::Keyword),
        Field::text("body", Analyzer::Plain),
        Field::number("price"),
        Field::date("day"),
        Field::links("cites"),
    ];
    Schema::new(fields).unwrap()
}

fn small() -> WriterOptions {
    WriterOptions { memory_bytes: 20_000_000, ..WriterOptions::default() }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn document(id: &str, fields: &[(&str, Value)]) -> Document {
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Document { id: id.to_owned(), fields }
}

fn titled(id: &str, title: &str) -> Document {
    document(id, &[("title", text(title))])
}

/// Everything in the index, by id.
fn content(index: &Index) -> BTreeMap<String, Known> {
    content_of(index, &index.view().unwrap())
}

fn content_of(index: &Index, view: &View) -> BTreeMap<String, Known> {
    let mut all = BTreeMap::new();
    for (at, segment) in view.searcher.segment_readers().iter().enumerate() {
        let mut found: BTreeMap<u32, Known> = BTreeMap::new();
        for doc in segment.doc_ids_alive() {
            let stored: TantivyDocument =
                view.searcher.doc(tantivy::DocAddress::new(at as u32, doc)).unwrap();
            let source = stored.get_first(index.plan.layout.source).unwrap().as_str().unwrap().to_owned();
            let mut known = Known { source, ..Known::default() };
            known.distinct = column(segment, DISTINCT, doc);
            numbers(index, segment, doc, &mut known);
            found.insert(doc, known);
        }
        terms(index, segment, &mut found);
        let ids = segment.fast_fields().str(ID).unwrap().unwrap();
        for (doc, known) in found {
            let mut id = String::new();
            assert!(ids.ord_to_str(ids.term_ords(doc).next().unwrap(), &mut id).unwrap());
            assert!(all.insert(id.clone(), known).is_none(), "`{id}` is there twice");
        }
    }
    all
}

fn column(segment: &SegmentReader, name: &str, doc: u32) -> u64 {
    segment.fast_fields().u64(name).unwrap().first(doc).unwrap()
}

fn numbers(index: &Index, segment: &SegmentReader, doc: u32, known: &mut Known) {
    for (field, place) in index.schema().fields.iter().zip(&index.plan.layout.fields) {
        let name = field.name.as_str();
        let number = match place {
            Place::Words { .. } => {
                let sizes = [length_of(name), distinct_of(name)].map(|name| column(segment, &name, doc));
                known.sizes.insert(name.to_owned(), sizes.into());
                continue;
            }
            Place::Number { .. } => segment.fast_fields().f64(name).unwrap().first(doc),
            Place::Date { .. } => segment.fast_fields().i64(name).unwrap().first(doc).map(|date| date as f64),
            Place::Keyword { .. } | Place::Links => None,
        };
        known.numbers.extend(number.map(|number| (name.to_owned(), number)));
    }
}

fn terms(index: &Index, segment: &SegmentReader, found: &mut BTreeMap<u32, Known>) {
    for (field, place) in index.schema().fields.iter().zip(&index.plan.layout.fields) {
        let (Place::Words { terms, .. } | Place::Keyword { terms }) = *place else { continue };
        let inverted = segment.inverted_index(terms).unwrap();
        let mut dictionary = inverted.terms().stream().unwrap();
        while let Some((term, info)) = dictionary.next() {
            let option =
                segment.schema().get_field_entry(terms).field_type().get_index_record_option().unwrap();
            let mut postings = inverted.read_postings_from_terminfo(info, option).unwrap();
            let term = String::from_utf8(term.to_vec()).unwrap();
            while postings.doc() != TERMINATED {
                if let Some(known) = found.get_mut(&postings.doc()) {
                    let mut positions = Vec::new();
                    postings.positions(&mut positions);
                    known.terms.entry(field.name.clone()).or_default().insert(term.clone(), positions);
                }
                postings.advance();
            }
        }
    }
}
