//! Which fields documents seem to have.

use super::{Field, FieldKind, Schema, parse_date};
use crate::analyzer::Analyzer;
use crate::document::{Document, Value};
use std::collections::HashMap;

/// What the values of a field could all be.
struct Seen {
    /// Whether there are any but blank ones.
    any: bool,
    number: bool,
    date: bool,
    year: bool,
}

/// The schema that documents seem to have, in the order in which their fields come first. Of a large collection, a few
/// thousand documents are enough.
///
/// A field whose values all look like numbers holds numbers; one with dates such as `2024-05-17`, or whose name ends with
/// `year` or `date` and whose values are years, holds dates. All others are text, with this analyzer; so are numbers
/// with leading zeros, which are codes, and fields whose values are all blank. Only fields named in `links` hold links.
pub fn guess_schema<'a>(
    documents: impl IntoIterator<Item = &'a Document>,
    analyzer: Analyzer,
    links: &[impl AsRef<str>],
) -> Schema {
    let (mut names, mut seen) = (Vec::new(), HashMap::new());
    for (name, value) in documents.into_iter().flat_map(|document| &document.fields) {
        let field = seen.entry(name.as_str()).or_insert_with(|| {
            names.push(name.as_str());
            Seen { any: false, number: true, date: true, year: is_named_as_date(name) }
        });
        if value.is_blank() {
            continue;
        }
        field.any = true;
        field.number &= looks_like_a_number(value);
        field.date &= looks_like_a_date(value);
        field.year &= looks_like_a_year(value);
    }
    // An author may be missing in one document and have a name and a town, which are fields, in another.
    let has_inner = |name: &str| {
        let inner = format!("{name}.");
        names.iter().any(|other| other.starts_with(&inner))
    };
    let named = names.iter().copied().filter(|name| seen[name].any || !has_inner(name));
    let absent = links.iter().map(AsRef::as_ref).filter(|name| !seen.contains_key(name));
    let fields = named.chain(absent).map(|name| {
        let kind = match seen.get(name) {
            _ if links.iter().any(|link| link.as_ref() == name) => FieldKind::Links,
            Some(seen) if seen.any && (seen.date || seen.year) => FieldKind::Date,
            Some(seen) if seen.any && seen.number => FieldKind::Number,
            _ => FieldKind::Text { analyzer },
        };
        Field { name: name.to_owned(), kind }
    });
    Schema { fields: fields.collect() }
}

fn looks_like_a_number(value: &Value) -> bool {
    let is_code = |text: &str| {
        let digits = text.trim().trim_start_matches(['-', '+']);
        digits.starts_with('0') && digits[1..].starts_with(|c: char| c.is_ascii_digit())
    };
    value.to_number().is_some() && !matches!(value, Value::Text(text) if is_code(text))
}

/// Whether it is text with a day or a month.
fn looks_like_a_date(value: &Value) -> bool {
    matches!(value, Value::Text(text) if text.trim().parse::<f64>().is_err() && parse_date(text).is_some())
}

fn looks_like_a_year(value: &Value) -> bool {
    value.to_number().is_some_and(|year| year.fract() == 0.0 && (1000.0..3000.0).contains(&year))
}

fn is_named_as_date(name: &str) -> bool {
    let name = name.to_lowercase();
    ["year", "date"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(fields: &[(&str, Value)]) -> Document {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Document { id: "1".into(), fields }
    }

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    #[test]
    fn fields_are_what_all_their_values_are() {
        let list = Value::List(vec!["1".into(), "2".into()]);
        let documents = [
            document(&[("title", text("1984")), ("price", text("3.5")), ("year", Value::Number(1958.0))]),
            document(&[("title", text("Brave New World")), ("zip", text("02139")), ("cites", list.clone())]),
            document(&[("added", text("2024-05-17")), ("pages", Value::Number(1958.0)), ("tags", list)]),
            document(&[
                ("price", Value::Number(7.0)),
                ("birth_year", text("about 1900")),
                ("sold", Value::Number(0.0)),
            ]),
            document(&[("added", text("2024-05-17T08:30:00Z")), ("birth_year", text("1900"))]),
            document(&[("version", text("2024-05")), ("date", text("20240517"))]),
            document(&[("version", text("1.0.3")), ("price", text(" ")), ("added", text(""))]),
            document(&[("keywords", text("")), ("last_year", text("")), ("author", text(""))]),
            document(&[("author.name", text("x"))]),
        ];
        let schema = guess_schema(&documents, Analyzer::English, &["cites", "refers"]);
        let found: Vec<_> = schema.fields.iter().map(|f| (f.name.as_str(), f.kind.clone())).collect();
        let text = FieldKind::Text { analyzer: Analyzer::English };
        let expected = [
            ("title", text.clone()),
            ("price", FieldKind::Number),
            ("year", FieldKind::Date),
            ("zip", text.clone()),
            ("cites", FieldKind::Links),
            ("added", FieldKind::Date),
            ("pages", FieldKind::Number),
            ("tags", text.clone()),
            ("birth_year", text.clone()),
            ("sold", FieldKind::Number),
            ("version", text.clone()),
            ("date", FieldKind::Number),
            ("keywords", text.clone()),
            ("last_year", text.clone()),
            ("author.name", text),
            ("refers", FieldKind::Links),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn documents_without_fields_have_an_empty_schema() {
        assert!(guess_schema(&[document(&[])], Analyzer::Plain, &[] as &[&str]).fields.is_empty());
    }
}
