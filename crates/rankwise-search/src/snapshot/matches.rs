//! What the index knows about a query and its candidates, in the fields and in the whole document.

use super::words::{ScopeTerms, Terms};
use super::{Address, Query, Snapshot};
use crate::terms::{QueryTerm, QueryWord, ScopeDocument, ScopeQuery};
use rankwise::{Error, Result};
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, TERMINATED};

/// Where words are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// A text field, by its place in the schema.
    Field(usize),
    /// All fields that are cut into words.
    Whole,
    /// In no field: it keeps the place of a scope that is not needed.
    Nowhere,
}

/// In the whole document, the positions of the n-th text field begin at n times this.
pub const FIELD_POSITIONS: u32 = 1 << 24;

/// Candidates that are looked up together, which bounds memory.
const TOGETHER: usize = 256;

/// A query in scopes, for which it looks up candidates.
pub struct Matches<'a> {
    snapshot: &'a Snapshot,
    terms: Terms,
    scopes: Vec<ScopePlan>,
    queries: Vec<ScopeQuery>,
    found: Found,
    documents: Vec<ScopeDocument>,
}

struct ScopePlan {
    /// Text fields, ascending.
    fields: Vec<usize>,
    /// Whether positions begin at [`FIELD_POSITIONS`] times the field.
    is_whole: bool,
    terms: ScopeTerms,
}

/// What postings say about some candidates of a segment.
#[derive(Default)]
struct Found {
    /// Frequency and start in `positions`, by leaf and then by candidate.
    occurrences: Vec<(u32, u32)>,
    positions: Vec<u32>,
    candidates: usize,
}

impl Snapshot {
    /// A query in these scopes.
    pub fn matches(&self, query: &Query, scopes: &[Scope]) -> Result<Matches<'_>> {
        let terms = Terms::of(query, self)?;
        let scopes: Vec<ScopePlan> =
            scopes.iter().map(|&scope| ScopePlan::new(self, scope, &terms)).collect::<Result<_>>()?;
        let queries = scopes.iter().map(|scope| scope.query(self, &terms)).collect::<Result<_>>()?;
        let documents = vec![ScopeDocument::default(); scopes.len()];
        Ok(Matches { snapshot: self, terms, scopes, queries, found: Found::default(), documents })
    }
}

impl Matches<'_> {
    /// The query in every scope.
    pub fn queries(&self) -> &[ScopeQuery] {
        &self.queries
    }

    /// Calls `take` with the place of every candidate and what it is in each scope. Candidates are ascending. Positions
    /// are empty unless asked for.
    pub fn visit(
        &mut self,
        candidates: &[Address],
        positions: bool,
        mut take: impl FnMut(usize, &[ScopeDocument]) -> Result<()>,
    ) -> Result<()> {
        if !candidates.is_sorted() {
            return Err(Error::parameter("candidates must be in the order of their addresses"));
        }
        let mut place = 0;
        for same_segment in candidates.chunk_by(|a, b| a.segment == b.segment) {
            self.snapshot.segment(same_segment[same_segment.len() - 1])?;
            for chunk in same_segment.chunks(TOGETHER) {
                self.found.read(self.snapshot, &self.terms, chunk, positions)?;
                for (number, &candidate) in chunk.iter().enumerate() {
                    for (scope, document) in self.scopes.iter().zip(&mut self.documents) {
                        scope.fill(self.snapshot, candidate, document)?;
                        scope.gather(&self.terms, &self.found, number, positions, document);
                    }
                    take(place, &self.documents)?;
                    place += 1;
                }
            }
        }
        Ok(())
    }
}

impl ScopePlan {
    fn new(snapshot: &Snapshot, scope: Scope, terms: &Terms) -> Result<ScopePlan> {
        let fields = match scope {
            Scope::Nowhere => Vec::new(),
            Scope::Whole => (0..snapshot.text.len()).collect(),
            Scope::Field(place) => {
                let number = snapshot.text.iter().position(|field| field.place == place);
                vec![number.ok_or_else(|| {
                    Error::parameter(format!(
                        "field {place} of the schema is not text that is cut into words"
                    ))
                })?]
            }
        };
        let terms = terms.scope(&fields);
        Ok(ScopePlan { fields, is_whole: scope == Scope::Whole, terms })
    }

    fn query(&self, snapshot: &Snapshot, terms: &Terms) -> Result<ScopeQuery> {
        let term = |term: &super::words::ScopeTerm| {
            let counted = snapshot.occurrences(terms, term)?;
            Ok(QueryTerm {
                weight: term.weight,
                document_frequency: counted.documents,
                collection_frequency: counted.total,
            })
        };
        let mut tokens = 0;
        for &field in &self.fields {
            tokens += snapshot.lengths(field)?.total;
        }
        Ok(ScopeQuery {
            terms: self.terms.terms.iter().map(term).collect::<Result<_>>()?,
            words: self.terms.words.iter().map(|&(term, position)| QueryWord { term, position }).collect(),
            documents: snapshot.documents,
            tokens,
        })
    }

    /// What does not depend on the query.
    fn fill(&self, snapshot: &Snapshot, candidate: Address, document: &mut ScopeDocument) -> Result<()> {
        let (segment, place) = (candidate.segment as usize, candidate.document as usize);
        (document.length, document.distinct) = (0, 0);
        let Some(&first) = self.fields.first() else { return Ok(()) };
        for &field in &self.fields {
            document.length += snapshot.lengths(field)?.of[segment][place];
        }
        let distinct = if self.is_whole { &snapshot.distinct } else { &snapshot.text[first].distinct };
        document.distinct = distinct.get(&snapshot.segments)?.of[segment][place];
        Ok(())
    }

    /// The occurrences of every term.
    fn gather(
        &self,
        terms: &Terms,
        found: &Found,
        number: usize,
        positions: bool,
        document: &mut ScopeDocument,
    ) {
        document.frequencies.clear();
        document.positions.clear();
        for term in &self.terms.terms {
            let mut frequency = 0;
            for &leaf in &term.leaves {
                let (here, start) = found.occurrences[leaf * found.candidates + number];
                frequency += here;
                if positions && here > 0 {
                    let read = &found.positions[start as usize..(start + here) as usize];
                    match self.is_whole {
                        true => {
                            let field = terms.leaves[leaf].field as u32;
                            document.positions.extend(read.iter().map(|&position| in_whole(field, position)));
                        }
                        false => document.positions.extend_from_slice(read),
                    }
                }
            }
            document.frequencies.push(frequency);
        }
    }
}

/// A position of a field among those of the whole document. The words at the end of a very long field share a position.
fn in_whole(field: u32, position: u32) -> u32 {
    field.saturating_mul(FIELD_POSITIONS).saturating_add(position.min(FIELD_POSITIONS - 1))
}

impl Found {
    /// Reads the postings of all terms for candidates of one segment.
    fn read(
        &mut self,
        snapshot: &Snapshot,
        terms: &Terms,
        candidates: &[Address],
        positions: bool,
    ) -> Result<()> {
        self.candidates = candidates.len();
        self.positions.clear();
        self.occurrences.clear();
        self.occurrences.resize(terms.leaves.len() * candidates.len(), (0, 0));
        let option = match positions {
            true => IndexRecordOption::WithFreqsAndPositions,
            false => IndexRecordOption::WithFreqs,
        };
        let number = candidates[0].segment as usize;
        let segment = &snapshot.segments[number];
        let rows = self.occurrences.chunks_exact_mut(candidates.len());
        for (leaf, row) in terms.leaves.iter().zip(rows) {
            let Some(info) = &leaf.postings[number] else { continue };
            let postings = segment.inverted[leaf.field].read_postings_from_terminfo(info, option);
            let postings = postings.map_err(|error| segment.failure(error))?;
            look_up(postings, candidates, row, &mut self.positions, positions);
        }
        Ok(())
    }
}

/// Looks up every candidate in the postings of a term.
fn look_up(
    mut postings: SegmentPostings,
    candidates: &[Address],
    row: &mut [(u32, u32)],
    positions: &mut Vec<u32>,
    with_positions: bool,
) {
    let mut document = postings.doc();
    for (candidate, occurrences) in candidates.iter().zip(row) {
        if document < candidate.document {
            document = postings.seek(candidate.document);
        }
        if document == TERMINATED {
            return;
        }
        if document == candidate.document {
            *occurrences = (postings.term_freq(), positions.len() as u32);
            if with_positions {
                postings.append_positions_with_offset(0, positions);
            }
        }
    }
}
