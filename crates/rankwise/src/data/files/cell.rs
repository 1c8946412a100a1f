//! The value of one field of a table, or a message on what is wrong with it.

use super::excerpt::quoted;
use super::number;
use super::roles::listed;

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
    let trimmed = text.trim_ascii();
    match number::parse(trimmed).or_else(|| truth_value(trimmed)) {
        Some(value) if value.is_finite() => Ok(value),
        Some(value) if value.is_infinite() => Err(format!(
            "{} in column {} is not a finite number in single precision, which goes up to 3.4e38",
            quoted(trimmed),
            quoted(name.as_bytes())
        )),
        _ => {
            Err(format!("expected {expected} in column {}, found {}", quoted(name.as_bytes()), quoted(text)))
        }
    }
}

/// `True` and `False`, as pandas and others write them.
fn truth_value(text: &[u8]) -> Option<f32> {
    if text.eq_ignore_ascii_case(b"true") {
        Some(1.0)
    } else {
        text.eq_ignore_ascii_case(b"false").then_some(0.0)
    }
}

/// Whether a field is a number, even one that is too large, or missing.
pub(super) fn looks_like_a_number(text: &[u8]) -> bool {
    feature(text, "").is_ok() || number::parse(text.trim_ascii()).is_some()
}

/// What to add to the message about a feature, where other fields of the row are no numbers either.
pub(super) fn advice_to_ignore(names: &[String]) -> String {
    format!(
        "; columns with categories can be read as categorical, and columns that are not features can be ignored: {}",
        listed(names)
    )
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

/// A category as text; `None` if it is missing: empty, `NULL`, `NA` or `NaN`.
pub(super) fn category<'a>(text: &'a [u8], name: &str) -> Cell<Option<&'a str>> {
    let text = id(text, name)?;
    Ok(Some(text).filter(|text| !text.is_empty() && !number::is_missing(text.as_bytes())))
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
