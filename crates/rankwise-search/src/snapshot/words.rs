//! The words of a query as terms of the fields.

use super::Snapshot;
use super::query::Query;
use super::segment::Segment;
use rankwise::Result;
use std::collections::HashMap;
use std::sync::Arc;
use tantivy::Term;
use tantivy::postings::TermInfo;
use tantivy::tokenizer::TokenStream;

/// A query, looked up in the index.
pub(crate) struct Terms {
    /// The different terms of all fields.
    pub(crate) leaves: Vec<Leaf>,
    /// The words of the query, in their order.
    words: Vec<Word>,
}

/// A term of one field.
pub(crate) struct Leaf {
    /// The text field.
    pub(crate) field: usize,
    pub(crate) text: Arc<str>,
    /// Where its postings are in every segment.
    pub(crate) postings: Vec<Option<TermInfo>>,
}

/// A word of the query: the terms that the fields make of it.
struct Word {
    /// Ascending by field, one per field at most.
    leaves: Vec<usize>,
    weight: f64,
    position: u32,
}

/// The query in some of the fields, which are seen as one.
pub(crate) struct ScopeTerms {
    /// The different terms, in the order in which they come first.
    pub(crate) terms: Vec<ScopeTerm>,
    /// The term and the position of every word.
    pub(crate) words: Vec<(usize, u32)>,
}

/// A term in some of the fields. With different analyzers it is another text in each.
pub(crate) struct ScopeTerm {
    /// Ascending by field.
    pub(crate) leaves: Vec<usize>,
    pub(crate) weight: f64,
}

impl Terms {
    pub(crate) fn of(query: &Query, snapshot: &Snapshot) -> Result<Terms> {
        let mut leaves = LeafTable { snapshot, leaves: Vec::new(), places: HashMap::new() };
        let mut words: Vec<Word> = Vec::new();
        for clause in &query.clauses {
            let first = words.len();
            // The words of a clause by position: what different analyzers make of a word comes together.
            let mut places = HashMap::new();
            for (number, field) in snapshot.text.iter().enumerate() {
                if clause.field.as_ref().is_some_and(|name| *name != field.name) {
                    continue;
                }
                let mut tokenizer = field.tokenizer.clone();
                let mut stream = tokenizer.token_stream(&clause.text);
                while stream.advance() {
                    let token = stream.token();
                    let position = clause.position + token.position as u32;
                    let leaf = leaves.place(number, &token.text)?;
                    let place = *places.entry(position).or_insert_with(|| {
                        words.push(Word { leaves: Vec::new(), weight: clause.boost, position });
                        words.len() - 1
                    });
                    words[place].leaves.push(leaf);
                }
            }
            words[first..].sort_by_key(|word| word.position);
        }
        Ok(Terms { leaves: leaves.leaves, words })
    }

    /// Whether there is any word in any field.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The query in these fields.
    pub(crate) fn scope(&self, fields: &[usize]) -> ScopeTerms {
        let mut places: HashMap<Vec<usize>, usize> = HashMap::new();
        let mut scope = ScopeTerms { terms: Vec::new(), words: Vec::new() };
        for word in &self.words {
            let is_inside = |leaf: &&usize| fields.contains(&self.leaves[**leaf].field);
            let leaves: Vec<usize> = word.leaves.iter().filter(is_inside).copied().collect();
            if leaves.is_empty() {
                continue;
            }
            let place = *places.entry(leaves).or_insert_with_key(|leaves| {
                scope.terms.push(ScopeTerm { leaves: leaves.clone(), weight: 0.0 });
                scope.terms.len() - 1
            });
            scope.terms[place].weight += word.weight;
            scope.words.push((place, word.position));
        }
        scope
    }
}

struct LeafTable<'a> {
    snapshot: &'a Snapshot,
    leaves: Vec<Leaf>,
    places: HashMap<(usize, Arc<str>), usize>,
}

impl LeafTable<'_> {
    fn place(&mut self, field: usize, text: &str) -> Result<usize> {
        let text: Arc<str> = text.into();
        if let Some(&place) = self.places.get(&(field, text.clone())) {
            return Ok(place);
        }
        let term = Term::from_field_text(self.snapshot.text[field].terms, &text);
        let find = |segment: &Segment| {
            segment.inverted[field].get_term_info(&term).map_err(|error| segment.failure(error))
        };
        let postings = self.snapshot.segments.iter().map(find).collect::<Result<_>>()?;
        self.leaves.push(Leaf { field, text: text.clone(), postings });
        self.places.insert((field, text), self.leaves.len() - 1);
        Ok(self.leaves.len() - 1)
    }
}
