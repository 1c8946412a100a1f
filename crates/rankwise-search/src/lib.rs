//! From documents to rankings: an index, the features of query–document pairs, and search with a learned ranker.
//!
//! The rooms, each importing only from those before it:
//! `analyzer` → `document` → `schema` → `terms` → `index` → `snapshot` → `features` → `search` → `demo`.
//!
//! tantivy stores postings, positions and documents. Scores and features are computed here, from raw statistics and exact
//! lengths, by the same code when training data is extracted and when a query is served.

pub mod analyzer;
pub mod demo;
pub mod document;
pub mod features;
pub mod index;
pub mod schema;
pub mod search;
pub mod snapshot;
pub mod terms;

pub use analyzer::Analyzer;
pub use document::{Document, Documents, Value};
pub use features::{CompiledSet, FeatureSet};
pub use index::{Duplicates, Index, NewIndex, UnknownFields, WriterOptions};
pub use schema::{Field, FieldKind, Schema, guess_schema};
pub use search::{Candidates, Extraction, FeatureRows, Search, SearchQuery, Unjudged};
pub use snapshot::{
    Address, Bm25, FIELD_POSITIONS, Hit, Matches, Query, QueryContent, Scope, Snapshot, Snippet, Snippets,
};
