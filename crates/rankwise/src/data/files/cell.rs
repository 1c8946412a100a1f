//! The value of one field of a table, or a message on what is wrong with it.

use super::excerpt::quoted;
use super::number;

type Cell<T> = Result<T, String>;

/// A feature value; NaN if it is missing: empty, `NULL`, `NA` or `NaN`.
pub(super) fn feature(text: &[u8], name: &str) -> Cell<f32> {
    match number::parse(text) {
        Some(value) if value.is_finite() => Ok(value),
        _ => unusual_feature(text.trim_ascii(), name),
    }
}

/// Missing values, numbers with spaces around them, and anything else.
#[cold]
fn unusual_feature(text: &[u8], name: &str) -> Cell<f32> {
    if text.is_empty() || number::is_missing(text) {
        return Ok(f32::NAN);
    }
    finite(text, name, "a number or nothing")
}

fn finite(text: &[u8], name: &str, expected: &str) -> Cell<f32> {
    match number::parse(text.trim_ascii()) {
        Some(value) if value.is_finite() => Ok(value),
        _ => {
            Err(format!("expected {expected} in column {}, found {}", quoted(name.as_bytes()), quoted(text)))
        }
    }
}

/// A label: a finite number.
pub(super) fn label(text: &[u8], name: &str) -> Cell<f32> {
    finite(text, name, "a number as the label")
}

/// A query's weight: finite, not negative.
pub(super) fn weight(text: &[u8], name: &str) -> Cell<f32> {
    let expected = "a weight of 0 or more";
    match finite(text, name, expected)? {
        value if value >= 0.0 => Ok(value),
        _ => {
            Err(format!("expected {expected} in column {}, found {}", quoted(name.as_bytes()), quoted(text)))
        }
    }
}

/// A position. Whole numbers may be written as `3.0`; an empty field and 0 mean that the position is unknown.
pub(super) fn position(text: &[u8], name: &str) -> Cell<u32> {
    if feature(text, name).is_ok_and(f32::is_nan) {
        return Ok(0);
    }
    match fast_float2::parse::<f64, _>(text.trim_ascii()) {
        Ok(value) if value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value) => Ok(value as u32),
        _ => Err(format!(
            "expected a whole number from 1 as the position in column {}, found {}",
            quoted(name.as_bytes()),
            quoted(text)
        )),
    }
}

/// A query's id, which is not empty.
pub(super) fn query_id<'a>(text: &'a [u8], name: &str) -> Cell<&'a str> {
    match id(text, name)? {
        "" => Err(format!("the query id in column {} is empty", quoted(name.as_bytes()))),
        id => Ok(id),
    }
}

/// A document's id, which may be empty.
pub(super) fn id<'a>(text: &'a [u8], name: &str) -> Cell<&'a str> {
    std::str::from_utf8(text)
        .map_err(|_| format!("{} in column {} is not UTF-8 text", quoted(text), quoted(name.as_bytes())))
}
