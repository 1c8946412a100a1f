//! Which fields documents have, and how each is read.

mod date;
mod guess;

pub use date::{date_of, parse_date};
pub use guess::guess_schema;

use crate::analyzer::Analyzer;
use rankwise::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The fields of an index, in the order in which features list them.
///
/// ```
/// use rankwise_search::{Analyzer, Field, Schema};
/// let schema = Schema::new([Field::text("title", Analyzer::English), Field::number("price")])?;
/// assert_eq!(schema.position("price")?, 1);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// The fields.
    pub fields: Vec<Field>,
}

/// A field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenField")]
pub struct Field {
    /// Its name in documents, queries and features.
    pub name: String,
    /// What it holds.
    #[serde(flatten)]
    pub kind: FieldKind,
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum FieldKind {
    /// Text that is searched, by the words that the analyzer finds.
    Text {
        /// The analyzer.
        analyzer: Analyzer,
    },
    /// A number, such as a price.
    Number,
    /// A date: seconds since 1970, from `2024-05-17`, `2024-05-17T08:30:00Z` or a year.
    Date,
    /// Ids of documents that this one links to.
    Links,
}

/// A field as it is written, so that a key that no field has is an error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenField {
    name: String,
    kind: WrittenKind,
    analyzer: Option<Analyzer>,
}

/// A name for a field whose name cannot be one: with `_` for what a name cannot have. Nothing if it can.
pub(crate) fn other_name(name: &str) -> Option<String> {
    if Field::number(name).check().is_ok() {
        return None;
    }
    let safe: String =
        name.trim().chars().map(|c| if c.is_alphanumeric() || "_-.".contains(c) { c } else { '_' }).collect();
    match safe.starts_with(char::is_alphabetic) && safe != WHOLE {
        true => Some(safe),
        false => Some(format!("field_{safe}")),
    }
}

/// What fields with titles are called.
const TITLES: [&str; 5] = ["title", "headline", "heading", "subject", "name"];

/// What features call all text fields together.
pub(crate) const WHOLE: &str = "whole";

#[derive(Deserialize, Debug, PartialEq)]
#[serde(rename_all = "lowercase")]
enum WrittenKind {
    Text,
    Number,
    Date,
    Links,
}

impl TryFrom<WrittenField> for Field {
    type Error = String;

    fn try_from(written: WrittenField) -> std::result::Result<Field, String> {
        let WrittenField { name, kind, analyzer } = written;
        let kind = match (kind, analyzer) {
            (WrittenKind::Text, Some(analyzer)) => FieldKind::Text { analyzer },
            (WrittenKind::Text, None) => return Err(format!("the text field `{name}` needs an `analyzer`")),
            (_, Some(_)) => return Err(format!("the field `{name}` is not text and has no `analyzer`")),
            (WrittenKind::Number, None) => FieldKind::Number,
            (WrittenKind::Date, None) => FieldKind::Date,
            (WrittenKind::Links, None) => FieldKind::Links,
        };
        Ok(Field { name, kind })
    }
}

impl Field {
    /// A field of text.
    pub fn text(name: impl Into<String>, analyzer: Analyzer) -> Field {
        Field { name: name.into(), kind: FieldKind::Text { analyzer } }
    }

    /// A field of numbers.
    pub fn number(name: impl Into<String>) -> Field {
        Field { name: name.into(), kind: FieldKind::Number }
    }

    /// A field of dates.
    pub fn date(name: impl Into<String>) -> Field {
        Field { name: name.into(), kind: FieldKind::Date }
    }

    /// A field of links to other documents.
    pub fn links(name: impl Into<String>) -> Field {
        Field { name: name.into(), kind: FieldKind::Links }
    }

    /// The analyzer of a field whose text is cut into words: what features and the whole document are made of. A field of
    /// keywords has none.
    pub fn words(&self) -> Option<Analyzer> {
        match self.kind {
            FieldKind::Text { analyzer: Analyzer::Keyword } => None,
            FieldKind::Text { analyzer } => Some(analyzer),
            _ => None,
        }
    }

    fn check(&self) -> Result<()> {
        let name = &self.name;
        if name == WHOLE {
            return Err(Error::parameter(format!(
                "`{WHOLE}` cannot be the name of a field: in features it stands for all text fields together"
            )));
        }
        let starts_well = name.starts_with(|c: char| c.is_alphabetic());
        if starts_well && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) {
            return Ok(());
        }
        Err(Error::parameter(format!(
            "`{name}` cannot be the name of a field: a name starts with a letter and has letters, digits, `_`, `-` and `.` only"
        )))
    }
}

impl Schema {
    /// The schema with these fields.
    pub fn new(fields: impl IntoIterator<Item = Field>) -> Result<Schema> {
        let schema = Schema { fields: fields.into_iter().collect() };
        schema.check()?;
        Ok(schema)
    }

    /// Refuses names that cannot be used and names that come twice.
    pub fn check(&self) -> Result<()> {
        if self.fields.is_empty() {
            return Err(Error::parameter("a schema needs at least one field"));
        }
        let mut names = HashSet::new();
        for field in &self.fields {
            field.check()?;
            if !names.insert(field.name.as_str()) {
                return Err(Error::parameter(format!("the schema has two fields called `{}`", field.name)));
            }
        }
        Ok(())
    }

    /// The place of the field of this name among the fields.
    pub fn position(&self, name: &str) -> Result<usize> {
        self.find(name).ok_or_else(|| {
            Error::parameter(format!(
                "there is no field called `{name}`; the fields are {}",
                self.names().join(", ")
            ))
        })
    }

    /// The place of the field of this name, if there is one.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// The names of all fields.
    pub fn names(&self) -> Vec<&str> {
        self.fields.iter().map(|field| field.name.as_str()).collect()
    }

    /// The fields whose text is cut into words, with their places among all fields. Together they are the whole document.
    pub fn words(&self) -> impl Iterator<Item = (usize, &Field)> {
        self.fields.iter().enumerate().filter(|(_, field)| field.words().is_some())
    }

    /// The text field that heads a document, if there are several: the title by its name, or the first.
    pub fn heading(&self) -> Option<&str> {
        let mut names = self.words().map(|(_, field)| field.name.as_str());
        let (first, _) = (names.next()?, names.next()?);
        let is_title = |name: &&str| TITLES.iter().any(|title| name.eq_ignore_ascii_case(title));
        Some(self.words().map(|(_, field)| field.name.as_str()).find(is_title).unwrap_or(first))
    }

    /// Whether documents link to each other.
    pub fn has_links(&self) -> bool {
        self.fields.iter().any(|field| field.kind == FieldKind::Links)
    }

    /// The different analyzers of its text, in the order in which they come first.
    pub fn analyzers(&self) -> Vec<Analyzer> {
        let mut analyzers = Vec::new();
        for field in &self.fields {
            if let FieldKind::Text { analyzer } = field.kind
                && !analyzers.contains(&analyzer)
            {
                analyzers.push(analyzer);
            }
        }
        analyzers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_hidden_fields_or_queries_use_are_refused() {
        for name in ["", "_id", "#distinct", "title#length", "-x", "a b", "a:b", "1st"] {
            assert!(Schema::new([Field::number(name)]).unwrap_err().to_string().contains("letter"), "{name}");
        }
        for name in ["title", "h1", "author.name", "Straße", "sub_title", "x-y"] {
            assert!(Schema::new([Field::number(name)]).is_ok(), "{name}");
        }
        let twice = Schema::new([Field::number("a"), Field::links("a")]).unwrap_err();
        assert_eq!(twice.to_string(), "the schema has two fields called `a`");
        assert!(Schema::new([]).is_err());
    }

    #[test]
    fn every_name_has_one_that_can_be_used() {
        for (name, other) in [
            ("Product Name", "Product_Name"),
            (" price (€) ", "price____"),
            ("1st", "field_1st"),
            ("_score", "field__score"),
            ("", "field_"),
            ("whole", "field_whole"),
        ] {
            assert_eq!(other_name(name).as_deref(), Some(other));
            Schema::new([Field::number(other)]).unwrap();
        }
        assert_eq!(other_name("author.name"), None);
    }

    #[test]
    fn it_is_written_as_people_write_it() {
        let text = r#"
            [[fields]]
            name = "title"
            kind = "text"
            analyzer = "english"
            [[fields]]
            name = "cites"
            kind = "links"
        "#;
        let schema: Schema = toml::from_str(text).unwrap();
        assert_eq!(
            schema,
            Schema::new([Field::text("title", Analyzer::English), Field::links("cites")]).unwrap()
        );
        assert_eq!(toml::from_str::<Schema>(&toml::to_string(&schema).unwrap()).unwrap(), schema);
        for (change, why) in [
            ("kind = \"links\"\ncolour = 3", "unknown field `colour`"),
            ("kind = \"links\"\nanalyzer = \"plain\"", "the field `cites` is not text and has no `analyzer`"),
            ("kind = \"text\"", "the text field `cites` needs an `analyzer`"),
        ] {
            let error =
                toml::from_str::<Schema>(&text.replace("kind = \"links\"", change)).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn fields_are_found_by_name() {
        let schema = Schema::new([
            Field::text("tag", Analyzer::Keyword),
            Field::text("title", Analyzer::English),
            Field::text("body", Analyzer::English),
            Field::links("cites"),
        ])
        .unwrap();
        assert_eq!(schema.position("body").unwrap(), 2);
        let unknown = schema.position("bodi").unwrap_err().to_string();
        assert_eq!(unknown, "there is no field called `bodi`; the fields are tag, title, body, cites");
        assert_eq!(schema.words().map(|(at, _)| at).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(schema.analyzers(), [Analyzer::Keyword, Analyzer::English]);
        assert!(schema.has_links());
    }
}
