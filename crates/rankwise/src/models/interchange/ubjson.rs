//! Reads UBJSON, as far as XGBoost writes it: JSON in bytes, with arrays of one type and a length.
//!
//! ```text
//! {  key value … }          a key is a length and its bytes, a value a marker and its bytes
//! [$d#L<n> …                n numbers of type d
//! [#L<n> …                  n values
//! ```
//!
//! Numbers are big-endian. Nothing is allocated that the bytes at hand could not fill.

use super::foreign::plain;
use crate::error::{Error, Result};
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use std::fmt;

/// A model is nested less.
const MAX_DEPTH: usize = 64;

/// Whether `bytes` begin as an object in UBJSON does, and one in JSON does not: a brace and the type of a length.
pub(super) fn looks_like(bytes: &[u8]) -> bool {
    matches!(bytes, [b'{', marker, ..] if is_length(*marker))
}

/// Reads a document; all bytes must belong to it.
pub(super) fn from_bytes<'de, T: de::Deserialize<'de>>(bytes: &'de [u8]) -> Result<T> {
    let mut reader = Reader { bytes, at: 0, depth: 0 };
    let read = T::deserialize(&mut reader);
    let read = read.and_then(|value| match bytes.len() - reader.at {
        0 => Ok(value),
        rest => Err(Fault(format!("{rest} bytes follow its end"))),
    });
    read.map_err(|fault| {
        Error::model(format!("its UBJSON is not as it should be near byte {}: {}", reader.at, plain(fault)))
    })
}

fn is_length(marker: u8) -> bool {
    matches!(marker, b'i' | b'U' | b'I' | b'l' | b'L')
}

/// The bytes of one number of a type.
fn size(marker: u8) -> Option<usize> {
    match marker {
        b'i' | b'U' => Some(1),
        b'I' => Some(2),
        b'l' | b'd' => Some(4),
        b'L' | b'D' => Some(8),
        _ => None,
    }
}

/// What is wrong with the bytes.
#[derive(Debug)]
struct Fault(String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Fault(plain(message))
    }
}

struct Reader<'de> {
    bytes: &'de [u8],
    at: usize,
    depth: usize,
}

impl<'de> Reader<'de> {
    fn take(&mut self, count: usize) -> std::result::Result<&'de [u8], Fault> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| Fault("it is cut short".into()))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> std::result::Result<[u8; N], Fault> {
        Ok(self.take(N)?.try_into().expect("as many bytes were taken"))
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn marker(&mut self) -> std::result::Result<u8, Fault> {
        Ok(self.take(1)?[0])
    }

    fn length(&mut self) -> std::result::Result<usize, Fault> {
        let length = match self.marker()? {
            b'i' => i64::from(i8::from_be_bytes(self.array()?)),
            b'U' => i64::from(u8::from_be_bytes(self.array()?)),
            b'I' => i64::from(i16::from_be_bytes(self.array()?)),
            b'l' => i64::from(i32::from_be_bytes(self.array()?)),
            b'L' => i64::from_be_bytes(self.array()?),
            other => return Err(Fault(format!("a length has the type {other:#04x}"))),
        };
        usize::try_from(length).map_err(|_| Fault(format!("a length is {length}")))
    }

    fn string(&mut self) -> std::result::Result<&'de str, Fault> {
        let length = self.length()?;
        std::str::from_utf8(self.take(length)?).map_err(|e| Fault(format!("a text is not UTF-8: {e}")))
    }

    fn value<V: Visitor<'de>>(&mut self, marker: u8, visitor: V) -> std::result::Result<V::Value, Fault> {
        match marker {
            b'Z' => visitor.visit_unit(),
            b'T' => visitor.visit_bool(true),
            b'F' => visitor.visit_bool(false),
            b'i' => visitor.visit_i64(i8::from_be_bytes(self.array()?).into()),
            b'U' => visitor.visit_i64(u8::from_be_bytes(self.array()?).into()),
            b'I' => visitor.visit_i64(i16::from_be_bytes(self.array()?).into()),
            b'l' => visitor.visit_i64(i32::from_be_bytes(self.array()?).into()),
            b'L' => visitor.visit_i64(i64::from_be_bytes(self.array()?)),
            b'd' => visitor.visit_f32(f32::from_be_bytes(self.array()?)),
            b'D' => visitor.visit_f64(f64::from_be_bytes(self.array()?)),
            b'S' => visitor.visit_borrowed_str(self.string()?),
            b'[' => self.deeper(|reader| visitor.visit_seq(Elements::begin(reader)?)),
            b'{' => self.deeper(|reader| visitor.visit_map(Entries(reader))),
            other => Err(Fault(format!("a value has the type {other:#04x}, which XGBoost does not write"))),
        }
    }

    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> std::result::Result<T, Fault>,
    ) -> std::result::Result<T, Fault> {
        if self.depth == MAX_DEPTH {
            return Err(Fault(format!("it is nested more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> std::result::Result<V::Value, Fault> {
        let marker = self.marker()?;
        self.value(marker, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> std::result::Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The elements of an array.
struct Elements<'a, 'de> {
    reader: &'a mut Reader<'de>,
    /// The type of all, where it is said once.
    typed: Option<u8>,
    /// How many are left, where it is said at the start.
    left: Option<usize>,
}

impl<'a, 'de> Elements<'a, 'de> {
    fn begin(reader: &'a mut Reader<'de>) -> std::result::Result<Self, Fault> {
        let typed = match reader.peek() {
            Some(b'$') => {
                reader.at += 1;
                Some(reader.marker()?)
            }
            _ => None,
        };
        let left = match reader.peek() {
            Some(b'#') => {
                reader.at += 1;
                Some(reader.length()?)
            }
            _ if typed.is_some() => return Err(Fault("an array has a type and no length".into())),
            _ => None,
        };
        // Types without bytes could go on for ever.
        let least = match typed {
            Some(marker) => {
                size(marker).ok_or_else(|| Fault(format!("an array is of the type {marker:#04x}")))?
            }
            None => 1,
        };
        if left.is_some_and(|left| left > (reader.bytes.len() - reader.at) / least) {
            return Err(Fault("an array is longer than the file".into()));
        }
        Ok(Elements { reader, typed, left })
    }
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> std::result::Result<Option<T::Value>, Fault> {
        match &mut self.left {
            Some(0) => return Ok(None),
            Some(left) => *left -= 1,
            None if self.reader.peek() == Some(b']') => {
                self.reader.at += 1;
                return Ok(None);
            }
            None => {}
        }
        match self.typed {
            Some(marker) => seed.deserialize(Typed(self.reader, marker)).map(Some),
            None => seed.deserialize(&mut *self.reader).map(Some),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        self.left
    }
}

/// A value whose type is known before.
struct Typed<'a, 'de>(&'a mut Reader<'de>, u8);

impl<'de> Deserializer<'de> for Typed<'_, 'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> std::result::Result<V::Value, Fault> {
        self.0.value(self.1, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The entries of an object.
struct Entries<'a, 'de>(&'a mut Reader<'de>);

impl<'de> MapAccess<'de> for Entries<'_, 'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> std::result::Result<Option<K::Value>, Fault> {
        if self.0.peek() == Some(b'}') {
            self.0.at += 1;
            return Ok(None);
        }
        let key = self.0.string()?;
        seed.deserialize(de::value::BorrowedStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> std::result::Result<V::Value, Fault> {
        seed.deserialize(&mut *self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn refusal(bytes: &[u8]) -> String {
        from_bytes::<Value>(bytes).unwrap_err().to_string()
    }

    /// Bytes put together by hand from the format's description at ubjson.org.
    #[test]
    fn every_kind_of_value_is_read() {
        let bytes =
            b"{i\x01a[$d#i\x02\x3f\x80\x00\x00\xbf\x00\x00\x00U\x01b[#L\x00\x00\x00\x00\x00\x00\x00\x03TFZ\
            i\x01c[I\x01\x00l\xff\xff\xff\xffL\x00\x00\x00\x00\x00\x00\x00\x07]i\x01d[$U#i\x02\x00\xff\
            i\x01e{i\x00D\x40\x04\x00\x00\x00\x00\x00\x00}i\x01fSi\x02hi}";
        let expected = json!({
            "a": [1.0, -0.5], "b": [true, false, null], "c": [256, -1, 7], "d": [0, 255], "e": {"": 2.5}, "f": "hi"
        });
        assert_eq!(from_bytes::<Value>(bytes).unwrap(), expected);
        (0..bytes.len()).for_each(|end| assert!(!refusal(&bytes[..end]).is_empty()));
    }

    #[test]
    fn hostile_bytes_are_refused() {
        assert!(refusal(b"[$d#L\x7f\xff\xff\xff\xff\xff\xff\xff").contains("longer than the file"));
        assert!(refusal(b"[#l\x7f\xff\xff\xff").contains("longer than the file"));
        assert!(refusal(b"[$T#l\x7f\xff\xff\xff").contains("of the type 0x54"));
        assert!(refusal(b"[$d#i\xff").contains("a length is -1"));
        assert!(refusal(b"[$d\x01").contains("no length"));
        assert!(refusal(b"SL\x7f\xff\xff\xff\xff\xff\xff\xff").contains("cut short"));
        assert!(refusal(&[b'['; 100_000]).contains("nested"));
        assert!(refusal(b"ZZ").contains("1 bytes follow"));
        assert!(refusal(b"H").contains("0x48"));
    }
}
