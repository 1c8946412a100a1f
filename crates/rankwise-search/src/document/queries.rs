//! Queries: a table of ids and texts, JSON lines, or TREC topics.

use super::draft::one_of;
use super::elements::{Element, Elements};
use super::format::{extension, has_tag};
use super::json::malformed;
use rankwise::data::{Line, Lines, Source, quoted};
use rankwise::error::Place;
use rankwise::{Error, Result};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::Path;

/// The longest query in bytes.
const LONGEST: u64 = 16 << 20;

/// Names of the id and the text of a query in JSON and in the header of a table.
const ID_FIELDS: [&str; 5] = ["id", "qid", "query_id", "_id", "topic"];
const TEXT_FIELDS: [&str; 3] = ["query", "text", "title"];
const DESCRIPTION_FIELDS: [&str; 2] = ["description", "desc"];

/// A query with its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedQuery {
    /// The id, unique in its file.
    pub id: String,
    /// What is searched for.
    pub text: String,
    /// A longer description, if the file has one.
    pub description: Option<String>,
}

/// The queries of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryFile {
    /// The queries, in their order.
    pub queries: Vec<NamedQuery>,
    /// Whether lines without a tab were taken as texts, with their numbers as ids.
    pub numbered: bool,
}

/// A format of queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryFormat {
    /// An id, a tab and the query on each line. If the first line has no tab, lines are queries, and their ids are their
    /// numbers from 1.
    Tsv,
    /// A JSON object on each line, with `id`, `qid` or `query_id`, and `query`, `text` or `title`.
    JsonLines,
    /// TREC topics: `<top>` elements with `<num>` and `<title>`, or `<topic number="…">` elements with `<query>`.
    Trec,
}

impl QueryFormat {
    /// All formats.
    pub const ALL: [QueryFormat; 3] = [QueryFormat::Tsv, QueryFormat::JsonLines, QueryFormat::Trec];

    /// Its name in options.
    pub fn name(self) -> &'static str {
        match self {
            QueryFormat::Tsv => "tsv",
            QueryFormat::JsonLines => "jsonl",
            QueryFormat::Trec => "trec",
        }
    }

    /// The format of this name.
    pub fn of_name(name: &str) -> Result<QueryFormat> {
        QueryFormat::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let known = QueryFormat::ALL.map(QueryFormat::name);
            Error::parameter(format!("there is no format `{name}` of queries; known are {}", one_of(&known)))
        })
    }

    fn of_file(name: &str, head: &[u8]) -> QueryFormat {
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        match extension(Path::new(name)).as_deref() {
            Some("jsonl" | "ndjson" | "json") => QueryFormat::JsonLines,
            Some("tsv" | "tab") => QueryFormat::Tsv,
            _ if head.starts_with(b"{") => QueryFormat::JsonLines,
            _ if head.starts_with(b"<") && TOPICS.iter().any(|name| has_tag(head, name)) => QueryFormat::Trec,
            _ => QueryFormat::Tsv,
        }
    }
}

/// The elements that are TREC topics.
const TOPICS: [&str; 2] = ["top", "topic"];

/// Reads the queries of a file, which may be compressed; `-` is standard input. Without a format, the extension or the
/// first bytes say it.
pub fn read_queries(path: &Path, format: Option<QueryFormat>) -> Result<Vec<NamedQuery>> {
    Ok(read_query_file(path, format)?.queries)
}

/// Reads the queries of a file as [`read_queries`] does, and says how it was read.
pub fn read_query_file(path: &Path, format: Option<QueryFormat>) -> Result<QueryFile> {
    query_file_from(Source::open(path)?, format)
}

/// Reads the queries of an open file.
///
/// ```
/// use rankwise::data::Source;
/// use rankwise_search::document::queries_from;
/// let source = Source::new("q.tsv", std::io::Cursor::new("7\ttime sharing\n8\tparallel sorting\n"))?;
/// let queries = queries_from(source, None)?;
/// assert_eq!((queries[1].id.as_str(), queries[1].text.as_str()), ("8", "parallel sorting"));
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn queries_from(source: Source, format: Option<QueryFormat>) -> Result<Vec<NamedQuery>> {
    Ok(query_file_from(source, format)?.queries)
}

fn query_file_from(source: Source, format: Option<QueryFormat>) -> Result<QueryFile> {
    let name = source.origin().name().to_owned();
    let (head, source) = source.peek(1 << 16)?;
    let mut queries = Queries::default();
    match format.unwrap_or_else(|| QueryFormat::of_file(&name, &head)) {
        QueryFormat::Tsv => read_table(&mut Lines::new(source, LONGEST), &mut queries)?,
        QueryFormat::JsonLines => {
            let mut lines = Lines::new(source, LONGEST);
            while let Some(line) = lines.next_line()? {
                queries.add(line.place(1), of_json(line)?)?;
            }
        }
        QueryFormat::Trec => {
            let mut topics = Elements::new(source, &TOPICS, LONGEST);
            while let Some(topic) = topics.next()? {
                queries.add(topic.place.clone(), of_topic(&topic))?;
            }
        }
    }
    match queries.found.is_empty() {
        true => Err(Error::malformed(format!("{name} has no queries"))),
        false => Ok(QueryFile { queries: queries.found, numbered: queries.numbered }),
    }
}

/// Queries with different ids.
#[derive(Default)]
struct Queries {
    found: Vec<NamedQuery>,
    /// The line of each.
    lines: HashMap<String, u64>,
    /// Ids are numbers of lines.
    numbered: bool,
}

impl Queries {
    fn add(&mut self, place: Place, query: NamedQuery) -> Result<()> {
        let shown = quoted(query.id.as_bytes());
        let message = if query.id.is_empty() {
            "the query has no id".to_owned()
        } else if query.id.contains(char::is_control) {
            format!("the id {shown} has a control character")
        } else if query.text.trim().is_empty() {
            format!("query {shown} has no text")
        } else if let Some(earlier) = self.lines.insert(query.id.clone(), place.line) {
            format!("the id {shown} occurs twice, first on line {earlier}")
        } else {
            self.found.push(query);
            return Ok(());
        };
        Err(Error::parse(place, message))
    }
}

fn read_table(lines: &mut Lines, queries: &mut Queries) -> Result<()> {
    let mut first = true;
    while let Some(line) = lines.next_line()? {
        let cells = line.text.split_once('\t');
        if first {
            (first, queries.numbered) = (false, cells.is_none());
            if cells.is_some_and(|(id, text)| is_in(&ID_FIELDS, id) && is_in(&TEXT_FIELDS, text)) {
                continue;
            }
        }
        let (id, text) = match cells {
            Some((id, text)) if !queries.numbered => (id.trim().to_owned(), text),
            None if queries.numbered => ((queries.found.len() + 1).to_string(), line.text),
            Some(_) => {
                let message = "there is a tab after an id, but the lines before have no ids";
                return Err(line.error(message.to_owned()));
            }
            None => {
                let shown = quoted(line.text.as_bytes());
                return Err(line.error(format!("expected an id, a tab and a query, found {shown}")));
            }
        };
        queries.add(line.place(1), NamedQuery { id, text: text.trim().to_owned(), description: None })?;
    }
    Ok(())
}

fn is_in(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name.trim()))
}

fn of_json(line: Line<'_>) -> Result<NamedQuery> {
    let object: Map<String, Value> = serde_json::from_str(line.text).map_err(|e| malformed(line, &e))?;
    let required = |names: &[&str], what: &str| {
        let missing = || format!("the query has no {what}; it must be in a field called {}", one_of(names));
        text_of(&object, names, line)?.ok_or_else(|| line.error(missing()))
    };
    Ok(NamedQuery {
        id: required(&ID_FIELDS, "id")?,
        text: required(&TEXT_FIELDS, "text")?,
        description: text_of(&object, &DESCRIPTION_FIELDS, line)?,
    })
}

/// The first of these fields that the object has, as text.
fn text_of(object: &Map<String, Value>, names: &[&str], line: Line<'_>) -> Result<Option<String>> {
    match names.iter().find_map(|name| Some((name, object.get(*name)?))) {
        None | Some((_, Value::Null)) => Ok(None),
        Some((_, Value::String(text))) => Ok(Some(text.clone())),
        Some((_, Value::Number(number))) if !number.is_f64() => Ok(Some(number.to_string())),
        Some((name, _)) => Err(line.error(format!("the value of `{name}` must be a text"))),
    }
}

fn of_topic(topic: &Element) -> NamedQuery {
    let fields: HashMap<String, String> = topic.fields().into_iter().collect();
    let find = |names: &[&str], label: &str| {
        let text = names.iter().find_map(|name| fields.get(*name))?;
        Some(without_label(text, label))
    };
    let id = find(&["num", "number"], "Number").unwrap_or_default();
    // Early topics are numbered 051, and their judgements 51.
    let digits = id.bytes().all(|b| b.is_ascii_digit());
    let short = id.trim_start_matches('0');
    let id = if digits && !short.is_empty() { short.to_owned() } else { id };
    let text = find(&["title", "query"], "Topic").unwrap_or_default();
    NamedQuery { id, text, description: find(&["desc", "description"], "Description") }
}

/// The words of a text after a label such as `Number:`.
fn without_label(text: &str, label: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let rest = text.get(..label.len()).filter(|start| start.eq_ignore_ascii_case(label));
    let rest = rest.and_then(|_| text[label.len()..].trim_start().strip_prefix(':'));
    rest.map_or(text.clone(), |rest| rest.trim_start().to_owned())
}
