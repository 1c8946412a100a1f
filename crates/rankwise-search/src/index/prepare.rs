//! From a document to what is written of it.

use crate::document::{Document, Value, json_number};
use crate::index::coded::{Coded, count_distinct, tokenizers};
use crate::index::flight::Permit;
use crate::index::layout::{Layout, Place, Plan};
use crate::schema::date_of;
use rankwise::{Error, Result};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tantivy::schema::document::Document as TantivyDocument;
use tantivy::schema::{Field as Handle, OwnedValue};
use tantivy::tokenizer::TextAnalyzer;

/// Ids are looked up one by one and kept in memory while links are counted.
pub(crate) const LONGEST_ID: usize = 512;

/// tantivy leaves out longer terms without an error.
const LONGEST_KEYWORD: usize = 65_530;

/// What to do with fields of documents that the schema does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownFields {
    /// Refuse the document.
    #[default]
    Refuse,
    /// Leave them out, and count them.
    Ignore,
}

/// A document, ready to be written.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) id: String,
    /// Ids that it links to.
    pub(crate) links: Vec<String>,
    /// Its size as text.
    pub(crate) bytes: u64,
    /// Names of fields that were left out.
    pub(crate) unknown: Vec<String>,
    values: Vec<(Handle, OwnedValue)>,
    /// Given back when the document is written.
    pub(crate) permit: Option<Permit>,
}

impl Prepared {
    /// Roughly the memory that it takes.
    pub(crate) fn memory(&self) -> usize {
        let values = self.values.iter().map(|(_, value)| match value {
            OwnedValue::Str(text) => text.capacity() + 64,
            _ => 64,
        });
        values.sum::<usize>() + 256
    }
}

impl TantivyDocument for Prepared {
    type Value<'a> = &'a OwnedValue;
    type FieldsValuesIter<'a> = Values<'a>;

    fn iter_fields_and_values(&self) -> Values<'_> {
        Values(self.values.iter())
    }
}

/// Fields and values for tantivy.
pub(crate) struct Values<'a>(std::slice::Iter<'a, (Handle, OwnedValue)>);

impl<'a> Iterator for Values<'a> {
    type Item = (Handle, &'a OwnedValue);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(handle, value)| (*handle, value))
    }
}

/// Makes documents ready; every thread has a clone.
#[derive(Clone)]
pub(crate) struct Preparer {
    plan: Arc<Plan>,
    unknown: UnknownFields,
    largest: u64,
    analyzers: Vec<TextAnalyzer>,
}

impl Preparer {
    pub(crate) fn new(plan: &Arc<Plan>, unknown: UnknownFields, largest: u64) -> Self {
        Preparer { plan: Arc::clone(plan), unknown, largest, analyzers: tokenizers(&plan.layout) }
    }

    pub(crate) fn prepare(&mut self, document: Document) -> Result<Prepared> {
        let bytes = size(&document);
        let Document { id, fields } = document;
        check_id(&id)?;
        if bytes > self.largest {
            return Err(Error::data(format!(
                "document `{id}` has {} of text, and at most {} are allowed; divide it, or allow larger documents",
                mebibytes(bytes),
                mebibytes(self.largest)
            )));
        }
        let mut parts = Parts::new(&self.plan.layout);
        for (name, value) in &fields {
            match self.plan.schema.find(name) {
                Some(at) => self.take(at, value, &mut parts).map_err(|why| of_field(&id, name, &why))?,
                None if self.unknown == UnknownFields::Ignore => parts.unknown.push(name.clone()),
                None => return Err(self.unknown_field(&id, name)),
            }
        }
        let source = self.source(fields);
        Ok(parts.finish(&self.plan.layout, id, source, bytes))
    }

    fn take(&mut self, at: usize, value: &Value, parts: &mut Parts) -> Taken {
        match self.plan.layout.fields[at] {
            Place::Words { .. } => {
                let place =
                    self.plan.layout.fields[..at].iter().filter(|f| matches!(f, Place::Words { .. })).count();
                for_each_text(value, |text| {
                    parts.words[place].append(&mut self.analyzers[place], text);
                    Ok(())
                })
            }
            Place::Keyword { terms } => for_each_text(value, |text| parts.keyword(terms, text)),
            Place::Number { column } => parts.once(column, number(value)?.map(OwnedValue::F64)),
            Place::Date { column } => parts.once(column, date(value)?.map(OwnedValue::I64)),
            Place::Links => parts.link(value),
        }
    }

    /// The fields as JSON. Values of a name that comes more than once are a list.
    fn source(&self, fields: Vec<(String, Value)>) -> String {
        let mut source = Map::new();
        for (name, value) in fields {
            if self.plan.schema.find(&name).is_none() {
                continue;
            }
            match source.get_mut(&name) {
                None => {
                    source.insert(name, json(value));
                }
                Some(Json::Array(values)) => match json(value) {
                    Json::Array(more) => values.extend(more),
                    one => values.push(one),
                },
                Some(first) => {
                    let mut values = vec![first.take()];
                    match json(value) {
                        Json::Array(more) => values.extend(more),
                        one => values.push(one),
                    }
                    *first = Json::Array(values);
                }
            }
        }
        Json::Object(source).to_string()
    }

    fn unknown_field(&self, id: &str, name: &str) -> Error {
        Error::data(format!(
            "document `{id}` has a field `{name}`, which the index does not have; its fields are {}. Add the field to the schema, \
             or ignore unknown fields",
            self.plan.schema.names().join(", ")
        ))
    }
}

/// Why a value does not fit its field.
type Taken<T = ()> = std::result::Result<T, String>;

fn of_field(id: &str, name: &str, why: &str) -> Error {
    Error::data(format!("field `{name}` of document `{id}` {why}"))
}

/// What is known of a document so far.
struct Parts {
    /// One for every field of words.
    words: Vec<Coded>,
    values: Vec<(Handle, OwnedValue)>,
    links: Vec<String>,
    unknown: Vec<String>,
}

impl Parts {
    fn new(layout: &Layout) -> Parts {
        let words = layout.words().map(|_| Coded::default()).collect();
        Parts { words, values: Vec::new(), links: Vec::new(), unknown: Vec::new() }
    }

    fn keyword(&mut self, terms: Handle, text: &str) -> Taken {
        if text.len() > LONGEST_KEYWORD {
            return Err(format!(
                "has {} bytes, and a keyword has at most {LONGEST_KEYWORD}; give the field another analyzer",
                text.len()
            ));
        }
        if !text.is_empty() {
            self.values.push((terms, OwnedValue::Str(text.to_owned())));
        }
        Ok(())
    }

    fn once(&mut self, column: Handle, value: Option<OwnedValue>) -> Taken {
        let Some(value) = value else { return Ok(()) };
        if self.values.iter().any(|&(taken, _)| taken == column) {
            return Err("has more than one value".to_owned());
        }
        self.values.push((column, value));
        Ok(())
    }

    fn link(&mut self, value: &Value) -> Taken {
        match value {
            Value::Text(text) => self.links.extend(text.split_whitespace().map(str::to_owned)),
            Value::Number(number) => self.links.push(json_number(*number).to_string()),
            Value::List(ids) => self.links.extend(ids.iter().cloned()),
        }
        Ok(())
    }

    fn finish(self, layout: &Layout, id: String, source: String, bytes: u64) -> Prepared {
        let Parts { words, mut values, links, unknown } = self;
        let (distinct, of_all) = count_distinct(&words);
        let places = layout.fields.iter().filter_map(|place| match *place {
            Place::Words { terms, length, distinct, .. } => Some((terms, length, distinct)),
            _ => None,
        });
        for ((place, coded), different) in places.zip(words).zip(distinct) {
            values.push((place.1, OwnedValue::U64(coded.length)));
            values.push((place.2, OwnedValue::U64(different)));
            if coded.length > 0 {
                values.push((place.0, OwnedValue::Str(coded.text)));
            }
        }
        values.push((layout.distinct, OwnedValue::U64(of_all)));
        values.push((layout.source, OwnedValue::Str(source)));
        values.push((layout.id, OwnedValue::Str(id.clone())));
        Prepared { id, links, bytes, unknown, values, permit: None }
    }
}

fn check_id(id: &str) -> Result<()> {
    if id.is_empty() {
        return Err(Error::data("a document has an empty id"));
    }
    if id.len() > LONGEST_ID {
        let start: String = id.chars().take(40).collect();
        return Err(Error::data(format!(
            "an id has {} bytes, and at most {LONGEST_ID} are allowed; it starts with `{start}`",
            id.len()
        )));
    }
    Ok(())
}

/// Bytes of its text.
pub(crate) fn size(document: &Document) -> u64 {
    let of_value = |value: &Value| match value {
        Value::Text(text) => text.len(),
        Value::Number(_) => 8,
        Value::List(texts) => texts.iter().map(String::len).sum(),
    };
    (document.id.len() + document.fields.iter().map(|(_, value)| of_value(value)).sum::<usize>()) as u64
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

fn for_each_text(value: &Value, mut take: impl FnMut(&str) -> Taken) -> Taken {
    match value {
        Value::Text(text) => take(text),
        Value::Number(number) => take(&json_number(*number).to_string()),
        Value::List(texts) => texts.iter().try_for_each(|text| take(text)),
    }
}

/// A number of a document; empty text and NaN are a missing number.
fn number(value: &Value) -> Taken<Option<f64>> {
    let found = match value {
        Value::Number(found) => *found,
        Value::Text(text) if text.trim().is_empty() => return Ok(None),
        Value::Text(text) => text.trim().parse().map_err(|_| should_be("a number", text))?,
        Value::List(texts) => match texts.as_slice() {
            [] => return Ok(None),
            [text] => return number(&Value::Text(text.clone())),
            _ => return Err("has more than one value".to_owned()),
        },
    };
    if found.is_infinite() {
        return Err("is infinite".to_owned());
    }
    Ok((!found.is_nan()).then_some(found))
}

/// A date of a document, in seconds. A number is a year, or seconds since 1970 where it is no year.
fn date(value: &Value) -> Taken<Option<i64>> {
    match value {
        Value::Number(number) if number.is_nan() => Ok(None),
        Value::Number(number) => match date_of(value) {
            Some(date) => Ok(Some(date)),
            None => Err(format!("is {number}, which is not a date")),
        },
        Value::Text(text) if text.trim().is_empty() => Ok(None),
        Value::Text(text) => date_of(value)
            .map(Some)
            .ok_or_else(|| should_be("a date such as 2024-05-17 or 2024-05-17T08:30:00Z", text)),
        Value::List(texts) => match texts.as_slice() {
            [] => Ok(None),
            [text] => date(&Value::Text(text.clone())),
            _ => Err("has more than one value".to_owned()),
        },
    }
}

fn should_be(what: &str, text: &str) -> String {
    let start: String = text.chars().take(40).collect();
    format!("should be {what}, but is `{start}`; if that is no mistake, index it as text")
}

fn json(value: Value) -> Json {
    match value {
        Value::Text(text) => Json::String(text),
        Value::Number(number) => json_number(number),
        Value::List(texts) => Json::Array(texts.into_iter().map(Json::String).collect()),
    }
}

/// Counts of fields that were left out, by name.
pub(crate) type UnknownCounts = BTreeMap<String, u64>;
