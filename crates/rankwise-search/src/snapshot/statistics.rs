//! How often terms occur in live documents.

use super::Snapshot;
use super::postings::{FieldCursor, TermCursor, TermWindow, WINDOW};
use super::words::{ScopeTerm, Terms};
use rankwise::Result;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::TERMINATED;
use tantivy::schema::IndexRecordOption;

/// Terms of a generation of the cache. There are two: when the newer is full, the older is forgotten.
const KEPT: usize = 50_000;

/// How often a term occurs in live documents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Occurrences {
    /// Documents that contain it.
    pub(crate) documents: u64,
    /// All occurrences.
    pub(crate) total: u64,
}

/// The terms of a scope term: field and text.
type Key = Vec<(usize, Arc<str>)>;

#[derive(Default)]
pub(crate) struct Cache(Mutex<Generations>);

#[derive(Default)]
struct Generations {
    newer: HashMap<Key, Occurrences>,
    older: HashMap<Key, Occurrences>,
}

impl Cache {
    fn get(&self, key: &Key) -> Option<Occurrences> {
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&found) = generations.newer.get(key) {
            return Some(found);
        }
        let found = *generations.older.get(key)?;
        generations.insert(key.clone(), found);
        Some(found)
    }

    fn insert(&self, key: Key, value: Occurrences) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, value);
    }
}

impl Generations {
    fn insert(&mut self, key: Key, value: Occurrences) {
        if self.newer.len() >= KEPT {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(key, value);
    }
}

impl Snapshot {
    /// How many live documents contain a term.
    pub(crate) fn document_frequency(&self, terms: &Terms, term: &ScopeTerm) -> Result<u64> {
        // The dictionary knows it, unless fields come together or documents are deleted.
        match term.leaves[..] {
            [leaf] if !self.has_deletions => {
                let infos = terms.leaves[leaf].postings.iter().flatten();
                Ok(infos.map(|info| u64::from(info.doc_freq)).sum())
            }
            _ => Ok(self.occurrences(terms, term)?.documents),
        }
    }

    /// How often a term occurs in live documents.
    pub(crate) fn occurrences(&self, terms: &Terms, term: &ScopeTerm) -> Result<Occurrences> {
        let leaf = |&leaf: &usize| (terms.leaves[leaf].field, terms.leaves[leaf].text.clone());
        let key: Key = term.leaves.iter().map(leaf).collect();
        if let Some(known) = self.cache.get(&key) {
            return Ok(known);
        }
        let counted = self.count(terms, term)?;
        self.cache.insert(key, counted);
        Ok(counted)
    }

    fn count(&self, terms: &Terms, term: &ScopeTerm) -> Result<Occurrences> {
        let mut counted = Occurrences::default();
        let mut window = TermWindow::default();
        for (number, segment) in self.segments.iter().enumerate() {
            let Some(mut cursor) = self.cursor(terms, term, number, |_| 1.0)? else { continue };
            while cursor.document() != TERMINATED {
                let start = cursor.document();
                cursor.drain(start, start.saturating_add(WINDOW), &mut window);
                for (&document, &frequency) in window.documents.iter().zip(&window.frequencies) {
                    if segment.is_live(document) {
                        counted.documents += 1;
                        counted.total += frequency as u64;
                    }
                }
            }
        }
        Ok(counted)
    }

    /// The postings of a term in a segment, with the weights of text fields; `None` if it has none.
    pub(crate) fn cursor(
        &self,
        terms: &Terms,
        term: &ScopeTerm,
        segment: usize,
        weight: impl Fn(usize) -> f64,
    ) -> Result<Option<TermCursor>> {
        let mut fields = Vec::new();
        for &leaf in &term.leaves {
            let leaf = &terms.leaves[leaf];
            if let Some(info) = &leaf.postings[segment] {
                let segment = &self.segments[segment];
                let postings = segment.inverted[leaf.field]
                    .read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs)
                    .map_err(|error| segment.failure(error))?;
                fields.push(FieldCursor::new(postings, weight(leaf.field)));
            }
        }
        Ok((!fields.is_empty()).then(|| TermCursor::new(fields)))
    }
}
