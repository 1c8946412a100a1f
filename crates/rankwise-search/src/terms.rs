//! What an index knows about a query and a document: the input of all scores and features.

/// A query in one scope, which is a text field or all text fields together: what does not depend on the document.
#[derive(Debug, Clone, PartialEq)]
pub struct ScopeQuery {
    /// The different terms of the query, in the order in which they come first.
    pub terms: Vec<QueryTerm>,
    /// The words of the query in their order, for phrases.
    pub words: Vec<QueryWord>,
    /// Number of live documents in the index.
    pub documents: u64,
    /// Number of tokens in this scope of all live documents.
    pub tokens: u64,
}

/// A term of a query in one scope.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// How often the query has it, times the query's boosts.
    pub weight: f64,
    /// Number of live documents that contain it in this scope.
    pub document_frequency: u64,
    /// Number of its occurrences in this scope of all live documents.
    pub collection_frequency: u64,
}

/// A word of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryWord {
    /// Its term, by the place in [`ScopeQuery::terms`].
    pub term: usize,
    /// Its position in the query. Words that the analyzer leaves out count, as they do in documents.
    pub position: u32,
}

/// One document in one scope, for one query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScopeDocument {
    /// Number of tokens.
    pub length: u32,
    /// Number of different tokens.
    pub distinct: u32,
    /// Occurrences of every term of [`ScopeQuery::terms`].
    pub frequencies: Vec<u32>,
    /// Their positions, term after term, as many as `frequencies` says, ascending within a term. Positions of different
    /// fields of a document never meet: a field's begin far behind those of the field before it.
    pub positions: Vec<u32>,
}

/// What an index knows about a document that does not depend on the query. What is not known is NaN.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentValues {
    /// Number of documents that link to it.
    pub in_links: f64,
    /// Number of documents that it links to.
    pub out_links: f64,
    /// Its PageRank.
    pub page_rank: f64,
    /// Numbers, and dates in seconds since 1970, of every field of the [`Schema`](crate::Schema); NaN for other kinds.
    pub fields: Vec<f64>,
    /// The score with which it was retrieved.
    pub retrieval_score: f64,
    /// The place at which it was retrieved, from 1.
    pub retrieval_rank: f64,
}

impl DocumentValues {
    /// Nothing is known, of a schema with this number of fields.
    pub fn unknown(fields: usize) -> DocumentValues {
        DocumentValues {
            in_links: f64::NAN,
            out_links: f64::NAN,
            page_rank: f64::NAN,
            fields: vec![f64::NAN; fields],
            retrieval_score: f64::NAN,
            retrieval_rank: f64::NAN,
        }
    }
}
