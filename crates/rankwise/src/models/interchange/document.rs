//! A document of values, written as JSON or as UBJSON: XGBoost's two encodings of one model.

/// A value; arrays of numbers have a type of their own, as UBJSON writes them.
pub(super) enum Value {
    Text(String),
    Integer(i64),
    Floats(Vec<f32>),
    Integers(Vec<i32>),
    Longs(Vec<i64>),
    Bytes(Vec<u8>),
    List(Vec<Value>),
    Object(Vec<(&'static str, Value)>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.into())
    }
}

impl Value {
    /// The bytes in JSON. Floats are finite, as short as they can be read back, and never look like integers.
    pub(super) fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put_json(&mut out);
        out
    }

    fn put_json(&self, out: &mut Vec<u8>) {
        match self {
            Value::Text(text) => put_json_text(text, out),
            Value::Integer(number) => put_shown(number, out),
            Value::Floats(numbers) => put_joined(numbers, out, |number, out| {
                out.extend_from_slice(zmij::Buffer::new().format_finite(*number).as_bytes());
            }),
            Value::Integers(numbers) => put_joined(numbers, out, put_shown),
            Value::Longs(numbers) => put_joined(numbers, out, put_shown),
            Value::Bytes(numbers) => put_joined(numbers, out, put_shown),
            Value::List(values) => put_joined(values, out, Value::put_json),
            Value::Object(fields) => {
                for (i, (key, value)) in fields.iter().enumerate() {
                    out.push(if i == 0 { b'{' } else { b',' });
                    put_json_text(key, out);
                    out.push(b':');
                    value.put_json(out);
                }
                out.extend_from_slice(if fields.is_empty() { b"{}" } else { b"}" });
            }
        }
    }

    /// The bytes in UBJSON.
    pub(super) fn to_ubjson(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put_ubjson(&mut out);
        out
    }

    fn put_ubjson(&self, out: &mut Vec<u8>) {
        match self {
            Value::Text(text) => {
                out.push(b'S');
                put_ubjson_text(text, out);
            }
            Value::Integer(number) => put_long(*number, out),
            Value::Floats(numbers) => put_typed(b'd', numbers, out, |x| x.to_be_bytes()),
            Value::Integers(numbers) => put_typed(b'l', numbers, out, |x| x.to_be_bytes()),
            Value::Longs(numbers) => put_typed(b'L', numbers, out, |x| x.to_be_bytes()),
            Value::Bytes(numbers) => put_typed(b'U', numbers, out, |x| x.to_be_bytes()),
            Value::List(values) => {
                out.extend_from_slice(b"[#");
                put_long(values.len() as i64, out);
                values.iter().for_each(|value| value.put_ubjson(out));
            }
            Value::Object(fields) => {
                out.push(b'{');
                for (key, value) in fields {
                    put_ubjson_text(key, out);
                    value.put_ubjson(out);
                }
                out.push(b'}');
            }
        }
    }
}

fn put_json_text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(serde_json::Value::from(text).to_string().as_bytes());
}

fn put_shown(shown: &impl ToString, out: &mut Vec<u8>) {
    out.extend_from_slice(shown.to_string().as_bytes());
}

fn put_joined<T>(items: &[T], out: &mut Vec<u8>, put: impl Fn(&T, &mut Vec<u8>)) {
    out.push(b'[');
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        put(item, out);
    }
    out.push(b']');
}

fn put_long(number: i64, out: &mut Vec<u8>) {
    out.push(b'L');
    out.extend_from_slice(&number.to_be_bytes());
}

fn put_ubjson_text(text: &str, out: &mut Vec<u8>) {
    put_long(text.len() as i64, out);
    out.extend_from_slice(text.as_bytes());
}

fn put_typed<T, const N: usize>(marker: u8, items: &[T], out: &mut Vec<u8>, bytes: impl Fn(&T) -> [u8; N]) {
    out.extend_from_slice(&[b'[', b'$', marker, b'#']);
    put_long(items.len() as i64, out);
    items.iter().for_each(|item| out.extend_from_slice(&bytes(item)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::interchange::ubjson;

    /// Both encodings must say the same to readers that are not ours to bend: serde_json, and the UBJSON reader that
    /// is proved on bytes put together by hand.
    #[test]
    fn both_encodings_say_the_same() {
        let document = Value::Object(vec![
            ("text", "a \"b\"\n\u{e9}".into()),
            ("empty", Value::Object(Vec::new())),
            ("integer", Value::Integer(-7)),
            ("floats", Value::Floats(vec![0.5, -3.0, f32::from_bits(1), f32::MAX])),
            ("integers", Value::Integers(vec![i32::MIN, 0])),
            ("longs", Value::Longs(vec![i64::MAX])),
            ("bytes", Value::Bytes(vec![0, 255])),
            ("list", Value::List(vec![Value::Bytes(Vec::new()), "x".into()])),
        ]);
        let json: serde_json::Value = serde_json::from_slice(&document.to_json()).unwrap();
        let expected = serde_json::json!({
            "text": "a \"b\"\n\u{e9}", "empty": {}, "integer": -7,
            "integers": [-2_147_483_648i64, 0], "longs": [9_223_372_036_854_775_807i64], "bytes": [0, 255],
            "list": [[], "x"], "floats": [0.5, -3.0, 1e-45, 3.4028235e38]
        });
        assert_eq!(json, expected);
        let mut ubjson: serde_json::Value = ubjson::from_bytes(&document.to_ubjson()).unwrap();
        let floats: Vec<f32> = serde_json::from_value(ubjson["floats"].take()).unwrap();
        assert_eq!(floats, [0.5, -3.0, f32::from_bits(1), f32::MAX]);
        ubjson["floats"] = expected["floats"].clone();
        assert_eq!(ubjson, expected);
    }
}
