//! Documents and queries as they come in: shapes and readers.
//!
//! [`Documents`] reads JSON lines, tables, TREC files and folders one document at a time; [`read_queries`] reads queries.

mod draft;
mod elements;
mod entities;
mod folder;
mod format;
#[cfg(test)]
mod fuzz;
mod json;
mod markup;
mod page;
mod queries;
mod reader;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod trec;

pub use format::DocumentFormat;
pub use queries::{NamedQuery, QueryFile, QueryFormat, queries_from, read_queries, read_query_file};
pub use reader::{DocumentOptions, Documents, OnError, PlacedDocument};
pub use summary::DocumentSummary;

use serde_json::{Number, Value as Json};

/// Names of the field that has the id of a document, in the order in which they are looked for.
pub const ID_FIELDS: [&str; 5] = ["id", "_id", "docid", "docno", "doc_id"];

/// A document: an id and named fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The id, unique in an index.
    pub id: String,
    /// Fields by name. A name may come more than once.
    pub fields: Vec<(String, Value)>,
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Text.
    Text(String),
    /// A number.
    Number(f64),
    /// Several texts, such as the ids of linked documents.
    List(Vec<String>),
}

impl Value {
    /// Whether it is text without a word, which says no more than a missing field.
    pub fn is_blank(&self) -> bool {
        matches!(self, Value::Text(text) if text.trim().is_empty())
    }

    /// The value as text. Texts of a list are joined by line ends.
    pub fn to_text(&self) -> String {
        match self {
            Value::Text(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::List(texts) => texts.join("\n"),
        }
    }

    /// The value as a finite number: a number, or text that is one.
    pub fn to_number(&self) -> Option<f64> {
        let number = match self {
            Value::Text(text) => text.trim().parse().ok()?,
            Value::Number(number) => *number,
            Value::List(_) => return None,
        };
        number.is_finite().then_some(number)
    }

    /// The value in JSON. Whole numbers have no decimal point, and NaN is `null`.
    pub fn to_json(&self) -> Json {
        match self {
            Value::Text(text) => text.as_str().into(),
            Value::Number(number) => json_number(*number),
            Value::List(texts) => texts.as_slice().into(),
        }
    }

    /// The value as several texts. A single text or number is a list of one.
    pub fn to_list(&self) -> Vec<String> {
        match self {
            Value::List(texts) => texts.clone(),
            one => vec![one.to_text()],
        }
    }
}

/// A whole number without a decimal point; `null` for NaN.
pub(crate) fn json_number(number: f64) -> Json {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT {
        return Json::Number(Number::from(number as i64));
    }
    Number::from_f64(number).map_or(Json::Null, Json::Number)
}
