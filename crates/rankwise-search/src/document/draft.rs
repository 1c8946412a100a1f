//! From the fields that a file has to a document with an id.

use super::{Document, ID_FIELDS, Value};
use rankwise::data::quoted;

/// The longest id, in bytes.
const LONGEST_ID: usize = 1000;

/// Whole numbers from here on may stand for several different ones.
const INEXACT: f64 = 9_007_199_254_740_992.0;

/// A document of which it is not known yet which field is its id.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// All fields in their order.
    pub(super) fields: Vec<(String, Value)>,
    /// Which of them are `true` or `false`, kept as 1 and 0.
    pub(super) booleans: Vec<usize>,
    /// Fields without a value.
    pub(super) nulls: Vec<String>,
}

/// Finds the ids of the documents of one file.
pub(super) struct IdField {
    /// The name the user gave, or the one that the first document has.
    name: Option<String>,
}

impl IdField {
    pub(super) fn new(name: Option<String>) -> Self {
        IdField { name }
    }

    /// Makes the draft a document; the error is a message on its id.
    pub(super) fn document(&mut self, mut draft: Draft) -> Result<Document, String> {
        let Some(at) = self.place(&draft) else { return Err(self.missing(&draft)) };
        if draft.booleans.contains(&at) {
            return Err(self.wrong("a text or a number", "`true` or `false`"));
        }
        let (name, value) = draft.fields.remove(at);
        let again = draft.fields.iter().any(|(other, _)| *other == name);
        self.name.get_or_insert(name);
        if again {
            return Err(format!("the document has more than one `{}`", self.shown()));
        }
        let id = match value {
            Value::Text(text) => text,
            Value::Number(number) if number.abs() >= INEXACT => {
                return Err(format!("the id {number} is too large for a number; write it as text"));
            }
            // `{}` writes 7.0 as 7.
            Value::Number(number) => number.to_string(),
            Value::List(_) => return Err(self.wrong("a text or a number", "a list")),
        };
        self.check(&id)?;
        draft.fields.extend(draft.nulls.into_iter().map(|name| (name, Value::Text(String::new()))));
        Ok(Document { id, fields: draft.fields })
    }

    fn place(&self, draft: &Draft) -> Option<usize> {
        let find = |wanted: &str| draft.fields.iter().position(|(name, _)| name.eq_ignore_ascii_case(wanted));
        match &self.name {
            Some(name) => draft.fields.iter().position(|(field, _)| field == name).or_else(|| find(name)),
            None => ID_FIELDS.iter().find_map(|name| find(name)),
        }
    }

    fn check(&self, id: &str) -> Result<(), String> {
        let name = self.shown();
        if id.trim().is_empty() {
            return Err(format!("the id, `{name}`, is empty"));
        }
        if id.contains(char::is_control) {
            return Err(format!("the id {} has a control character", quoted(id.as_bytes())));
        }
        match id.len() > LONGEST_ID {
            true => Err(format!("the id {} is longer than {LONGEST_ID} bytes", quoted(id.as_bytes()))),
            false => Ok(()),
        }
    }

    fn missing(&self, draft: &Draft) -> String {
        let below = |name: &str| {
            let inner = format!("{name}.");
            draft.fields.iter().find(|(field, _)| field.starts_with(&inner)).map(|(field, _)| field)
        };
        let names = match &self.name {
            Some(name) => vec![name.as_str()],
            None => ID_FIELDS.to_vec(),
        };
        if let Some(field) = names.iter().find_map(|name| below(name)) {
            let shown = quoted(field.as_bytes());
            return format!("the id must be a text or a number, but it is an object; {shown} can be the id");
        }
        match &self.name {
            Some(name) => format!("the document has no field `{name}`, which holds its id"),
            None => format!("the document has no id; it must be in a field called {}", one_of(&ID_FIELDS)),
        }
    }

    fn wrong(&self, expected: &str, found: &str) -> String {
        format!("the id, `{}`, must be {expected}, but it is {found}", self.shown())
    }

    fn shown(&self) -> &str {
        self.name.as_deref().unwrap_or(ID_FIELDS[0])
    }
}

/// The names, in backquotes, with `or` before the last.
pub(super) fn one_of(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match &quoted[..] {
        [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => quoted.concat(),
    }
}
