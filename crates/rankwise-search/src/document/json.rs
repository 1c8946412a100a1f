//! Documents as JSON lines: an object on each line.

use super::Value;
use super::draft::Draft;
use super::reader::{Drafts, Next};
use rankwise::Error;
use rankwise::data::{Line, Lines, Source, quoted};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The largest whole number up to which all whole numbers are f64.
const EXACT: u64 = 1 << 53;

pub(super) struct JsonLines(Lines);

impl JsonLines {
    pub(super) fn new(source: Source, longest: u64) -> Self {
        JsonLines(Lines::new(source, longest))
    }
}

impl Drafts for JsonLines {
    fn next(&mut self) -> Next {
        let Some(line) = self.0.next_line()? else { return Ok(None) };
        let mut draft = Draft::default();
        let mut json = serde_json::Deserializer::from_str(line.text);
        let read = Fields { name: &mut String::new(), draft: &mut draft }.deserialize(&mut json);
        read.and_then(|()| json.end()).map_err(|error| malformed(line, &error))?;
        Ok(Some((draft, line.place(1))))
    }
}

/// The error for a line that is not a document.
pub(super) fn malformed(line: Line<'_>, error: &serde_json::Error) -> Error {
    let text = line.text.trim_start();
    if text.starts_with('[') {
        let message = "expected an object `{…}` on each line, found an array; write one document per line";
        return line.error(message.to_owned());
    }
    if text.starts_with('{') && error.is_eof() {
        let message = "the object does not end on this line; each line must hold one whole object";
        return line.error(message.to_owned());
    }
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    // serde_json quotes what it found as it is.
    let message: String = message.chars().filter(|c| !c.is_control()).take(200).collect();
    let column = error.column().clamp(1, line.text.len() + 1);
    let found = match error.is_data() {
        true => String::new(),
        false => format!(", at {}", quoted(line.text.as_bytes().get(column - 1..).unwrap_or_default())),
    };
    Error::parse(line.place(column), format!("not a JSON object: {message}{found}"))
}

/// Reads an object; the fields of objects in it get names such as `author.name`.
struct Fields<'a> {
    /// The name of the object, empty for the document itself.
    name: &'a mut String,
    draft: &'a mut Draft,
}

impl<'de> DeserializeSeed<'de> for Fields<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key.is_empty() {
                return Err(A::Error::custom("a field has an empty name"));
            }
            let length = self.name.len();
            if length > 0 {
                self.name.push('.');
            }
            self.name.push_str(&key);
            map.next_value_seed(Field { name: self.name, draft: self.draft, list: None })?;
            self.name.truncate(length);
        }
        Ok(())
    }
}

/// Reads the value of a field, or an element of a list.
struct Field<'a> {
    name: &'a mut String,
    draft: &'a mut Draft,
    /// The list that it is in.
    list: Option<&'a mut Vec<String>>,
}

impl Field<'_> {
    fn put(self, value: Value) {
        match self.list {
            Some(list) => list.push(value.to_text()),
            None => self.draft.fields.push((self.name.clone(), value)),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Field<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Field<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, truth: bool) -> Result<(), E> {
        if self.list.is_some() {
            self.put(Value::Text(truth.to_string()));
        } else {
            self.draft.booleans.push(self.draft.fields.len());
            self.put(Value::Number(f64::from(u8::from(truth))));
        }
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.put(match number <= EXACT {
            true => Value::Number(number as f64),
            false => Value::Text(number.to_string()),
        });
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.put(match number.unsigned_abs() <= EXACT {
            true => Value::Number(number as f64),
            false => Value::Text(number.to_string()),
        });
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.put(Value::Number(number));
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.put(Value::Text(text.to_owned()));
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        if self.list.is_none() {
            self.draft.nulls.push(self.name.clone());
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Field { name, draft, list } = self;
        if let Some(list) = list {
            while seq.next_element_seed(Field { name, draft, list: Some(&mut *list) })?.is_some() {}
            return Ok(());
        }
        let (mut list, before) = (Vec::new(), draft.fields.len());
        while seq.next_element_seed(Field { name, draft, list: Some(&mut list) })?.is_some() {}
        // Objects of the list have become fields of their own.
        if !list.is_empty() || draft.fields.len() == before {
            draft.fields.push((name.clone(), Value::List(list)));
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        Fields { name: self.name, draft: self.draft }.visit_map(map)
    }
}
