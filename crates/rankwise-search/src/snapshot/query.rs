//! Queries as people write them.

use crate::analyzer::Analyzer;
use crate::index::layout::{ID, Layout, Place, analyzers};
use crate::schema::{FieldKind, Schema, parse_date};
use rankwise::{Error, Result};
use tantivy::query::{QueryParser, QueryParserError};
use tantivy::query_grammar::{
    Delimiter, Occur, UserInputAst, UserInputBound, UserInputLeaf, UserInputLiteral, parse_query,
    parse_query_lenient,
};
use unicode_segmentation::UnicodeSegmentation;

/// Groups and `NOT`s inside one another. More would fill the stack.
const DEEPEST: usize = 50;

const LARGEST_BOOST: f64 = 1e9;

/// A query: words to rank by, and with the full syntax also conditions.
///
/// ```
/// use rankwise_search::{Analyzer, Field, Query, Schema};
/// let schema = Schema::new([Field::text("title", Analyzer::English)])?;
/// Query::words("any text: is valid (here)");
/// Query::parse("title:search^2 -engine", &schema)?;
/// let error = Query::parse("(rank OR", &schema).unwrap_err();
/// assert!(error.to_string().starts_with("the query cannot be read at `"), "{error}");
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    text: String,
    pub(crate) clauses: Vec<Clause>,
    /// Which documents match, by tantivy's grammar; all that have one of the words if it is not given.
    pub(crate) condition: Option<UserInputAst>,
    /// Whether the condition asks for more than words, such as a range.
    pub(crate) has_conditions: bool,
}

/// Text whose words are ranked by.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Clause {
    pub(crate) text: String,
    /// The only text field in which they count; all if not given.
    pub(crate) field: Option<String>,
    pub(crate) boost: f64,
    /// The position of its first word in the query.
    pub(crate) position: u32,
}

impl Query {
    /// All words of a text. Any text is valid, and nothing in it has a special meaning.
    pub fn words(text: impl Into<String>) -> Query {
        let text = text.into();
        let clause = Clause { text: text.clone(), field: None, boost: 1.0, position: 0 };
        Query { text, clauses: vec![clause], condition: None, has_conditions: false }
    }

    /// A query in tantivy's language: `title:word`, `"a phrase"`, `+must`, `-not`, `(a OR b) AND c`, `year:[1990 TO 2000]`,
    /// `word^2`. Its grammar decides which documents match; they are ranked by the words that are not negated. Equal
    /// clauses count once.
    pub fn parse(text: &str, schema: &Schema) -> Result<Query> {
        if nesting(text) > DEEPEST {
            return Err(Error::parameter(format!(
                "the query has more than {DEEPEST} groups inside one another; write it with fewer parentheses"
            )));
        }
        let mut condition = parse_query(text).map_err(|_| syntax_error(text))?;
        let mut reader = Reader::new(schema);
        reader.read(&mut condition, 1.0)?;
        let Reader { clauses, has_conditions, .. } = reader;
        let query = Query { text: text.to_owned(), clauses, condition: Some(condition), has_conditions };
        let layout = Layout::of(schema);
        let words = layout.fields.iter().filter_map(|place| match *place {
            Place::Words { terms, .. } => Some(terms),
            _ => None,
        });
        let words = words.collect();
        query.matching(QueryParser::new(layout.tantivy, words, analyzers(schema)))?;
        Ok(query)
    }

    /// The query as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What tantivy makes of the condition.
    pub(crate) fn matching(&self, parser: QueryParser) -> Result<Option<Box<dyn tantivy::query::Query>>> {
        let Some(condition) = &self.condition else { return Ok(None) };
        match parser.build_query_from_user_input_ast(condition.clone()) {
            Ok(matching) => Ok(Some(matching)),
            Err(QueryParserError::AllButQueryForbidden) => Err(Error::parameter(
                "the query only says what documents must not have; add a word, or `*` for all documents",
            )),
            Err(error) => Err(Error::parameter(format!("the query cannot be used: {error}"))),
        }
    }

    /// Whether it has words, be they stop words.
    pub(crate) fn has_words(&self) -> bool {
        self.clauses.iter().any(|clause| clause.text.unicode_words().next().is_some())
    }
}

/// Collects the words to rank by, checks the fields, and writes dates as they are indexed.
struct Reader<'a> {
    schema: &'a Schema,
    clauses: Vec<Clause>,
    position: u32,
    has_conditions: bool,
}

impl<'a> Reader<'a> {
    fn new(schema: &'a Schema) -> Reader<'a> {
        Reader { schema, clauses: Vec::new(), position: 0, has_conditions: false }
    }

    fn read(&mut self, condition: &mut UserInputAst, boost: f64) -> Result<()> {
        match condition {
            UserInputAst::Clause(parts) => parts.iter_mut().try_for_each(|(occur, part)| match occur {
                Some(Occur::MustNot) => Reader::new(self.schema).read(part, boost),
                _ => self.read(part, boost),
            }),
            UserInputAst::Boost(part, factor) => {
                let boost = boost * factor.into_inner();
                if boost > LARGEST_BOOST {
                    return Err(Error::parameter(
                        "the boosts of the query (`^`) are too large to calculate with",
                    ));
                }
                self.read(part, boost)
            }
            UserInputAst::Leaf(leaf) => match self.spelled_out(leaf) {
                Some(words) => {
                    *condition = words;
                    self.read(condition, boost)
                }
                None => self.read_leaf(leaf, boost),
            },
        }
    }

    /// A set in a field of words as alternatives: tantivy refuses sets with a stop word.
    fn spelled_out(&self, leaf: &UserInputLeaf) -> Option<UserInputAst> {
        let UserInputLeaf::Set { field: Some(field), elements } = leaf else { return None };
        self.schema.fields[self.schema.find(field)?].words()?;
        let literal = |element: &String| UserInputLiteral {
            field_name: Some(field.clone()),
            phrase: element.clone(),
            delimiter: Delimiter::None,
            slop: 0,
            prefix: false,
        };
        let literals =
            elements.iter().map(|element| UserInputAst::from(UserInputLeaf::from(literal(element))));
        Some(UserInputAst::Clause(literals.map(|literal| (Some(Occur::Should), literal)).collect()))
    }

    fn read_leaf(&mut self, leaf: &mut UserInputLeaf, boost: f64) -> Result<()> {
        match leaf {
            UserInputLeaf::All => self.has_conditions = true,
            UserInputLeaf::Literal(UserInputLiteral { field_name, phrase, .. }) => {
                self.add(field_name.as_deref(), phrase, boost)?;
            }
            UserInputLeaf::Set { field, elements } => {
                let field = needed(field, "a set (`IN [...]`)")?;
                elements.iter_mut().try_for_each(|element| self.add(Some(field), element, boost))?;
            }
            UserInputLeaf::Range { field, lower, upper } => {
                self.has_conditions = true;
                let field = needed(field, "a range")?;
                let kind = self.kind(field)?;
                for bound in [lower, upper] {
                    if let UserInputBound::Inclusive(text) | UserInputBound::Exclusive(text) = bound {
                        write_value(field, kind, text)?;
                    }
                }
            }
            UserInputLeaf::Exists { field } => {
                self.has_conditions = true;
                self.check_column(field)?;
            }
            UserInputLeaf::Regex { .. } => {
                let message = "the query has a regular expression (`/.../`); they are not supported";
                return Err(Error::parameter(message));
            }
        }
        Ok(())
    }

    /// A text, in one field or all.
    fn add(&mut self, field: Option<&str>, text: &mut String, boost: f64) -> Result<()> {
        if let Some(field) = field {
            let kind = self.kind(field)?;
            write_value(field, kind, text)?;
            let is_words =
                matches!(kind, Some(FieldKind::Text { analyzer }) if *analyzer != Analyzer::Keyword);
            if !is_words {
                self.has_conditions = true;
                return Ok(());
            }
        }
        let field = field.map(str::to_owned);
        self.clauses.push(Clause { text: text.clone(), field, boost, position: self.position });
        self.position += text.unicode_words().count() as u32;
        Ok(())
    }

    /// What a field holds; `None` is the id.
    fn kind(&self, name: &str) -> Result<Option<&'a FieldKind>> {
        if name == ID {
            return Ok(None);
        }
        let Some(place) = self.schema.find(name) else {
            return Err(Error::parameter(format!(
                "the query names the field `{name}`, which the index does not have; it has {}; if the colon is a part of \
                 the text, put it in quotes",
                self.schema.names().join(", ")
            )));
        };
        match &self.schema.fields[place].kind {
            FieldKind::Links => Err(Error::parameter(format!(
                "the query names the field `{name}`, which holds links and cannot be searched"
            ))),
            kind => Ok(Some(kind)),
        }
    }

    /// `field:*` asks for documents that have a value.
    fn check_column(&self, field: &str) -> Result<()> {
        match self.kind(field)? {
            Some(FieldKind::Text { .. }) => Err(Error::parameter(format!(
                "the query asks for documents with any value in `{field}`; that works for numbers and dates only"
            ))),
            _ => Ok(()),
        }
    }
}

/// Writes a value as it is indexed: a date as seconds since 1970.
fn write_value(field: &str, kind: Option<&FieldKind>, text: &mut String) -> Result<()> {
    let (known, form) = match kind {
        Some(FieldKind::Number) => (text.parse::<f64>().ok().map(|_| text.clone()), "a number"),
        Some(FieldKind::Date) => {
            (parse_date(text).map(|seconds| seconds.to_string()), "a date such as 2024 or 2024-05-17")
        }
        _ => return Ok(()),
    };
    *text = known.ok_or_else(|| {
        Error::parameter(format!("in the query, `{field}` is compared with `{text}`; it must be {form}"))
    })?;
    Ok(())
}

fn needed<'a>(field: &'a Option<String>, what: &str) -> Result<&'a str> {
    field.as_deref().ok_or_else(|| {
        Error::parameter(format!("{what} in a query needs a field, such as `year:[1990 TO 2000]`"))
    })
}

/// How deep groups and `NOT`s are inside one another.
fn nesting(text: &str) -> usize {
    let mut open = Vec::new();
    let (mut depth, mut negations, mut deepest) = (0, 0, 0);
    for token in text.split_word_bounds().filter(|token| !token.trim().is_empty()) {
        match token {
            "NOT" => negations += 1,
            "(" => {
                open.push(negations + 1);
                depth += negations + 1;
                negations = 0;
            }
            ")" => depth -= open.pop().unwrap_or(0),
            _ => negations = 0,
        }
        deepest = deepest.max(depth + negations);
    }
    deepest
}

/// A sentence that shows where a query stops making sense.
fn syntax_error(text: &str) -> Error {
    let (_, errors) = parse_query_lenient(text);
    let (place, reason) = match errors.iter().min_by_key(|error| error.pos) {
        Some(error) => (error.pos, error.message.clone()),
        None => (readable(text), "this does not belong here".to_owned()),
    };
    let place = (0..=place.min(text.len())).rev().find(|&place| text.is_char_boundary(place)).unwrap_or(0);
    let (before, after) = text.split_at(place);
    let shown: String = match after.trim() {
        "" => format!("{}⟨end⟩", last(before, 20)),
        after => after.chars().take(30).collect(),
    };
    let column = before.chars().count() + 1;
    Error::parameter(format!(
        "the query cannot be read at `{shown}` (character {column}): {reason}; put text with special characters in quotes"
    ))
}

fn last(text: &str, characters: usize) -> &str {
    let start = text.char_indices().rev().nth(characters.saturating_sub(1)).map_or(0, |(start, _)| start);
    &text[start..]
}

/// The length of the longest beginning, cut at a space, that can be read.
fn readable(text: &str) -> usize {
    let spaces = text.char_indices().filter(|(_, c)| c.is_whitespace()).map(|(place, _)| place);
    let ends: Vec<usize> = spaces.take(100).collect();
    let end = ends.into_iter().rev().find(|&end| parse_query(&text[..end]).is_ok()).unwrap_or(0);
    end + text[end..].len() - text[end..].trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Field;

    fn schema() -> Schema {
        Schema::new([
            Field::text("title", Analyzer::English),
            Field::text("body", Analyzer::Plain),
            Field::text("code", Analyzer::Keyword),
            Field::number("year"),
            Field::links("cites"),
        ])
        .unwrap()
    }

    fn clauses(text: &str) -> Vec<(String, Option<String>, f64, u32)> {
        let query = Query::parse(text, &schema()).unwrap();
        query.clauses.into_iter().map(|c| (c.text, c.field, c.boost, c.position)).collect()
    }

    #[test]
    fn words_that_are_not_negated_are_ranked_by() {
        let title = || Some("title".to_owned());
        assert_eq!(
            clauses(
                "fast +title:(red OR blue)^2 -green NOT (x y) \"big wolf\"~2 code:A7 year:[1990 TO 2000]"
            ),
            [
                ("fast".into(), None, 1.0, 0),
                ("red".into(), title(), 2.0, 1),
                ("blue".into(), title(), 2.0, 2),
                ("big wolf".into(), None, 1.0, 3),
            ]
        );
        assert_eq!(
            clauses("title: IN [a b]"),
            [("a".into(), title(), 1.0, 0), ("b".into(), title(), 1.0, 1)]
        );
        assert_eq!(clauses("*"), []);
        assert_eq!(clauses(""), []);
    }

    #[test]
    fn errors_show_the_place() {
        for (text, shown) in [
            ("rank (a OR b", "⟨end⟩"),
            ("(a b) don't", "don't"),
            ("title:", "title:⟨end⟩"),
            ("naïve \"phrase", "⟨end⟩"),
        ] {
            let error = Query::parse(text, &schema()).unwrap_err().to_string();
            assert!(error.contains(shown), "{text}: {error}");
        }
    }

    #[test]
    fn fields_are_checked_in_negations_too() {
        for (text, part) in [
            ("titel:rank", "it has title, body, code, year, cites"),
            ("-titel:rank a", "the field `titel`"),
            ("cites:a", "holds links"),
            ("[1 TO 2]", "needs a field"),
            ("title:/a.*/", "regular expression"),
        ] {
            let error = Query::parse(text, &schema()).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_and_shallow_is_not() {
        let nested = |open: &str, times: usize| format!("{}a{}", open.repeat(times), ")".repeat(times));
        assert!(Query::parse(&nested("(", DEEPEST), &schema()).is_ok());
        assert!(Query::parse(&nested("title:(", DEEPEST), &schema()).is_ok());
        for text in
            [nested("(", 100_000), nested("NOT (", 26), "NOT ".repeat(100_000) + "a", "(".repeat(100_000)]
        {
            let error = Query::parse(&text, &schema()).unwrap_err().to_string();
            assert!(error.contains("more than 50 groups"), "{error}");
        }
    }

    #[test]
    fn a_huge_boost_is_refused() {
        let error = Query::parse(&format!("a^{}", "9".repeat(400)), &schema()).unwrap_err();
        assert!(error.to_string().contains("too large"));
    }
}
