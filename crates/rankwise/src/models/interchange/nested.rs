//! A JSON document of any depth, read without recursion: engines nest a tree once or twice per level, and take hundreds
//! of levels.

use serde::de::{Error, IgnoredAny};

/// A document. Values lie in one list and refer to each other by their place in it; the root is the first.
pub(super) struct Nested {
    values: Vec<Value>,
    /// How many objects and lists enclose the innermost value.
    pub depth: usize,
}

enum Value {
    Object(Vec<(String, usize)>),
    List(Vec<usize>),
    Text(String),
    /// A number, and whether it is written as an integer.
    Number(f64, bool),
    Flag(bool),
    Null,
}

/// The place of the outermost value.
pub(super) const ROOT: usize = 0;

impl Nested {
    /// Reads a document; the error is that of serde_json.
    pub(super) fn read(bytes: &[u8]) -> serde_json::Result<Nested> {
        // Ignoring a value checks its syntax without recursion, so that only valid JSON is taken apart.
        serde_json::from_slice::<IgnoredAny>(bytes)?;
        let text = std::str::from_utf8(bytes).map_err(|_| serde_json::Error::custom("it is not UTF-8"))?;
        let mut reader = Reader::default();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at = match byte {
                b'{' => reader.open(Value::Object(Vec::new()), at),
                b'[' => reader.open(Value::List(Vec::new()), at),
                b'}' | b']' => reader.close(at),
                b'"' => {
                    let end = end_of_text(bytes, at);
                    reader.text(serde_json::from_str(&text[at..end])?);
                    end
                }
                b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' => at + 1,
                _ => {
                    let end = end_of_word(bytes, at);
                    reader.put(word(&text[at..end]));
                    end
                }
            };
        }
        Ok(Nested { values: reader.values, depth: reader.depth })
    }

    /// The value of a key; the last one if it is there more than once, as in a map of Java.
    pub(super) fn field(&self, at: usize, key: &str) -> Option<usize> {
        let Value::Object(fields) = &self.values[at] else { return None };
        fields.iter().rev().find(|(name, _)| name == key).map(|(_, place)| *place)
    }

    /// The keys of an object with their values.
    pub(super) fn fields(&self, at: usize) -> Option<&[(String, usize)]> {
        if let Value::Object(fields) = &self.values[at] { Some(fields) } else { None }
    }

    /// The values of a list.
    pub(super) fn list(&self, at: usize) -> Option<&[usize]> {
        if let Value::List(places) = &self.values[at] { Some(places) } else { None }
    }

    pub(super) fn text(&self, at: usize) -> Option<&str> {
        if let Value::Text(text) = &self.values[at] { Some(text) } else { None }
    }

    /// A finite number.
    pub(super) fn number(&self, at: usize) -> Option<f64> {
        if let Value::Number(number, _) = self.values[at] {
            number.is_finite().then_some(number)
        } else {
            None
        }
    }

    /// A finite number that is written with a fraction or an exponent.
    pub(super) fn double(&self, at: usize) -> Option<f64> {
        if let Value::Number(_, true) = self.values[at] { None } else { self.number(at) }
    }

    pub(super) fn flag(&self, at: usize) -> Option<bool> {
        if let Value::Flag(flag) = self.values[at] { Some(flag) } else { None }
    }
}

#[derive(Default)]
struct Reader {
    values: Vec<Value>,
    /// The objects and lists that are not closed yet.
    open: Vec<usize>,
    /// The key whose value comes next.
    key: Option<String>,
    depth: usize,
}

impl Reader {
    /// Puts a value into the innermost open object or list.
    fn put(&mut self, value: Value) {
        let place = self.values.len();
        self.values.push(value);
        if let Some(&around) = self.open.last() {
            match &mut self.values[around] {
                Value::Object(fields) => fields.push((self.key.take().unwrap_or_default(), place)),
                Value::List(places) => places.push(place),
                _ => {}
            }
        }
    }

    fn open(&mut self, value: Value, at: usize) -> usize {
        self.put(value);
        self.open.push(self.values.len() - 1);
        self.depth = self.depth.max(self.open.len());
        at + 1
    }

    fn close(&mut self, at: usize) -> usize {
        self.open.pop();
        at + 1
    }

    /// A key where an object waits for one, else a value.
    fn text(&mut self, text: String) {
        let in_object = self.open.last().is_some_and(|&at| matches!(self.values[at], Value::Object(_)));
        if in_object && self.key.is_none() {
            self.key = Some(text);
        } else {
            self.put(Value::Text(text));
        }
    }
}

/// The place after the closing quote of the text that begins at `start`.
fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// The place after a number, `true`, `false` or `null`.
fn end_of_word(bytes: &[u8], start: usize) -> usize {
    let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n');
    bytes[start..].iter().position(ends).map_or(bytes.len(), |length| start + length)
}

fn word(text: &str) -> Value {
    match text {
        "true" => Value::Flag(true),
        "false" => Value::Flag(false),
        "null" => Value::Null,
        number => number
            .parse()
            .map_or(Value::Null, |value| Value::Number(value, !number.contains(['.', 'e', 'E']))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The document again as serde_json has it.
    fn shown(nested: &Nested, at: usize) -> serde_json::Value {
        match &nested.values[at] {
            Value::Object(fields) => {
                fields.iter().map(|(key, place)| (key.clone(), shown(nested, *place))).collect()
            }
            Value::List(places) => places.iter().map(|place| shown(nested, *place)).collect(),
            Value::Text(text) => text.as_str().into(),
            Value::Number(number, _) => (*number).into(),
            Value::Flag(flag) => (*flag).into(),
            Value::Null => serde_json::Value::Null,
        }
    }

    #[test]
    fn documents_say_what_serde_json_reads() {
        for text in [
            r#" {"a": [1.5, -2e-3, {"b": {}, "c": []}], "d\"\\": "x,]}: \u00e9\n", "e": true ,"f":false, "g":null}"#,
            "[[[]], [{\"k\": \"k\"}], 0.25]",
            "\"only a text\"",
            "-7.5",
            "true",
        ] {
            let nested = Nested::read(text.as_bytes()).unwrap();
            assert_eq!(
                shown(&nested, ROOT),
                serde_json::from_str::<serde_json::Value>(text).unwrap(),
                "{text}"
            );
        }
    }

    #[test]
    fn fields_are_found_and_the_last_counts() {
        let nested = Nested::read(br#"{"a": 1, "b": [true, "x", null], "a": 2e400, "c": 3}"#).unwrap();
        let at = |key| nested.field(ROOT, key).unwrap();
        assert_eq!((nested.number(at("a")), nested.number(at("c"))), (None, Some(3.0)));
        let list = nested.list(at("b")).unwrap();
        assert_eq!((nested.flag(list[0]), nested.text(list[1])), (Some(true), Some("x")));
        assert!(nested.text(list[2]).is_none() && nested.field(at("b"), "a").is_none());
        assert_eq!(nested.double(at("c")), None);
        let list = Nested::read(b"[3.0, 3e0, 3]").unwrap();
        assert_eq!([1, 2, 3].map(|place| list.double(place)), [Some(3.0), Some(3.0), None]);
        assert_eq!((nested.field(ROOT, "d"), nested.depth), (None, 2));
        assert_eq!(nested.fields(ROOT).unwrap().len(), 4);
    }

    /// A hundred thousand levels would end a program that recurses, in reading or in freeing.
    #[test]
    fn any_depth_is_read() {
        let levels = 100_000;
        let text = "{\"a\":[".repeat(levels) + "7" + &"]}".repeat(levels);
        let nested = Nested::read(text.as_bytes()).unwrap();
        assert_eq!(nested.depth, 2 * levels);
        let mut at = ROOT;
        for _ in 0..levels {
            at = nested.list(nested.field(at, "a").unwrap()).unwrap()[0];
        }
        assert_eq!(nested.number(at), Some(7.0));
    }

    #[test]
    fn broken_documents_are_refused() {
        for text in [
            &b"{"[..],
            b"{\"a\" 1}",
            b"[1,]",
            b"\"\\u12\"",
            b"\"\xff\"",
            b"1 2",
            b"",
            b"{\"a\":nul}",
            b"\"\\ud800\"",
        ] {
            assert!(Nested::read(text).is_err(), "{:?}", String::from_utf8_lossy(text));
        }
    }
}
