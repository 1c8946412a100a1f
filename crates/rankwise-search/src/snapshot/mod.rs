//! A consistent view of an index: its live documents, what is known about terms, and search by BM25.
//!
//! Everything is counted over live documents, so an index after updates ranks like one that was built anew.

mod bm25;
mod matches;
mod postings;
mod query;
mod segment;
mod snippet;
mod statistics;
mod values;
mod words;

pub use bm25::{Bm25, Hit};
pub use matches::{FIELD_POSITIONS, Matches, Scope};
pub use query::Query;
pub use snippet::{Snippet, Snippets};

use crate::document::{Document, Value};
use crate::index::layout::{DISTINCT, Layout, Place, distinct_of, length_of};
use crate::index::links::LinkFile;
use crate::index::{self, Index, View};
use crate::schema::Schema;
use rankwise::{Error, Result};
use segment::{Segment, damaged};
use serde_json::{Map, Value as Json};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use tantivy::Searcher;
use tantivy::schema::Field as Handle;
use tantivy::tokenizer::TextAnalyzer;
use values::Values;

/// A consistent view of an index, as the last commit left it. Later commits do not change it.
///
/// It may be used by many threads at once. What is counted or read once is kept, so a program that answers many queries
/// keeps its snapshot until there is a new commit.
pub struct Snapshot {
    path: Arc<Path>,
    /// What the index said of its last commit.
    commit: Option<u64>,
    schema: Schema,
    searcher: Searcher,
    /// The fields that are cut into words.
    text: Vec<TextField>,
    /// Different terms of whole documents.
    distinct: Counts,
    segments: Vec<Segment>,
    documents: u64,
    has_deletions: bool,
    cache: statistics::Cache,
    weighted: bm25::WeightedLengths,
    values: Values,
}

struct TextField {
    name: String,
    /// Its place among all fields of the schema.
    place: usize,
    terms: Handle,
    tokenizer: TextAnalyzer,
    lengths: Counts,
    distinct: Counts,
}

/// A number of every document, such as its length in a field. It is read when it is first needed.
struct Counts {
    column: String,
    read: OnceLock<AllCounts>,
}

struct AllCounts {
    /// By segment and document.
    of: Vec<Vec<u32>>,
    /// The sum over live documents.
    total: u64,
}

impl Counts {
    fn new(column: impl Into<String>) -> Counts {
        Counts { column: column.into(), read: OnceLock::new() }
    }

    fn get(&self, segments: &[Segment]) -> Result<&AllCounts> {
        if let Some(known) = self.read.get() {
            return Ok(known);
        }
        let mut counts = AllCounts { of: Vec::new(), total: 0 };
        for segment in segments {
            let values = segment.counts(&self.column)?;
            counts.total += segment.live_sum(&values);
            counts.of.push(values);
        }
        Ok(self.read.get_or_init(|| counts))
    }
}

/// Where a document is in a [`Snapshot`]. Addresses of one snapshot mean nothing to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The segment.
    pub segment: u32,
    /// The document in the segment.
    pub document: u32,
}

/// What a query asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryContent {
    /// Words to rank by.
    Words,
    /// Conditions only: what matches is not ranked, but ordered by id.
    Conditions,
    /// Words that the analyzers of all fields leave out, such as stop words. Nothing matches.
    OnlyStopWords,
    /// Nothing at all. Nothing matches.
    Nothing,
}

impl Index {
    /// The documents of the last commit.
    pub fn snapshot(&self) -> Result<Snapshot> {
        // Read first: if there is a commit meanwhile, the snapshot counts as old, and that does no harm.
        let commit = index::commit_mark(self.path());
        let View { searcher, manifest, links } = self.view()?;
        let snapshot = Snapshot::open(self.path(), manifest.schema, searcher, links)?;
        Ok(Snapshot { commit, ..snapshot })
    }
}

impl Snapshot {
    fn open(path: &Path, schema: Schema, searcher: Searcher, links: Option<LinkFile>) -> Result<Snapshot> {
        let path: Arc<Path> = path.into();
        let layout = Layout::of(&schema);
        let text: Vec<TextField> = schema
            .words()
            .filter_map(|(place, field)| {
                let Place::Words { analyzer, terms, .. } = layout.fields[place] else { return None };
                let (lengths, distinct) = (length_of(&field.name), distinct_of(&field.name));
                Some(TextField {
                    name: field.name.clone(),
                    place,
                    terms,
                    tokenizer: analyzer.tokenizer(),
                    lengths: Counts::new(lengths),
                    distinct: Counts::new(distinct),
                })
            })
            .collect();
        let readers = searcher.segment_readers().iter();
        let segments: Vec<Segment> =
            readers.map(|reader| Segment::open(reader.clone(), &text, &path)).collect::<Result<_>>()?;
        Ok(Snapshot {
            documents: searcher.num_docs(),
            has_deletions: segments.iter().any(|segment| segment.reader.has_deletes()),
            cache: statistics::Cache::default(),
            distinct: Counts::new(DISTINCT),
            weighted: bm25::WeightedLengths::default(),
            values: Values::new(links),
            path,
            commit: None,
            schema,
            searcher,
            text,
            segments,
        })
    }

    /// Whether there is a newer commit. Segments that were merged count, too: their old files are kept while this is used.
    pub fn is_outdated(&self) -> bool {
        let now = index::commit_mark(&self.path);
        // There is nothing to read for a moment when an index is replaced by another.
        now.is_some() && now != self.commit
    }

    /// The fields of the index.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Number of live documents.
    pub fn len(&self) -> u64 {
        self.documents
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// The addresses of all live documents, ascending.
    pub fn addresses(&self) -> impl Iterator<Item = Address> + '_ {
        self.segments.iter().zip(0u32..).flat_map(|(segment, number)| {
            let live = (0..segment.reader.max_doc()).filter(|&document| segment.is_live(document));
            live.map(move |document| Address { segment: number, document })
        })
    }

    /// The document of this id.
    pub fn find(&self, id: &str) -> Result<Option<Address>> {
        for (segment, number) in self.segments.iter().zip(0u32..) {
            if let Some(document) = segment.find(id)? {
                return Ok(Some(Address { segment: number, document }));
            }
        }
        Ok(None)
    }

    /// The id of a document.
    pub fn id(&self, address: Address) -> Result<String> {
        Ok(self.ids(&[address])?.remove(0))
    }

    /// The ids of documents, in their order. Many at once take less time than each alone.
    pub fn ids(&self, addresses: &[Address]) -> Result<Vec<String>> {
        let mut ids = vec![String::new(); addresses.len()];
        for (segment, number) in self.segments.iter().zip(0u32..) {
            let here: Vec<usize> =
                (0..addresses.len()).filter(|&at| addresses[at].segment == number).collect();
            let ordinals: Vec<u64> = here.iter().map(|&at| segment.ordinal(addresses[at].document)).collect();
            for (at, id) in here.into_iter().zip(segment.ids(&ordinals)?) {
                ids[at] = id;
            }
        }
        Ok(ids)
    }

    /// A document as it was added.
    pub fn document(&self, address: Address) -> Result<Document> {
        let segment = self.segment(address)?;
        let source: Map<String, Json> = serde_json::from_str(&segment.source(address.document)?)
            .map_err(|error| damaged(&self.path, &format!("a stored document is not JSON ({error})")))?;
        let fields = source.into_iter().filter_map(|(name, value)| Some((name, value_of(value)?)));
        Ok(Document { id: self.id(address)?, fields: fields.collect() })
    }

    /// What a query asks for.
    pub fn content(&self, query: &Query) -> Result<QueryContent> {
        Ok(if !words::Terms::of(query, self)?.is_empty() {
            QueryContent::Words
        } else if query.has_conditions {
            QueryContent::Conditions
        } else if query.has_words() {
            QueryContent::OnlyStopWords
        } else {
            QueryContent::Nothing
        })
    }

    fn segment(&self, address: Address) -> Result<&Segment> {
        let segment = self.segments.get(address.segment as usize);
        segment.filter(|segment| segment.is_live(address.document)).ok_or_else(|| {
            Error::parameter("there is no document at this address; it may be of another snapshot")
        })
    }

    /// The lengths of all documents in a text field.
    fn lengths(&self, field: usize) -> Result<&AllCounts> {
        self.text[field].lengths.get(&self.segments)
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let segments = self.segments.len();
        f.debug_struct("Snapshot").field("documents", &self.documents).field("segments", &segments).finish()
    }
}

/// A value of a stored document.
fn value_of(json: Json) -> Option<Value> {
    match json {
        Json::String(text) => Some(Value::Text(text)),
        Json::Number(number) => number.as_f64().map(Value::Number),
        Json::Array(values) => Some(Value::List(values.into_iter().map(text_of).collect())),
        _ => None,
    }
}

fn text_of(json: Json) -> String {
    match json {
        Json::String(text) => text,
        other => other.to_string(),
    }
}
