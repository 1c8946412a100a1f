//! Search by BM25.
//!
//! ```text
//! score(d) = Σ_t w_t ln(1 + (N − n_t + ½)/(n_t + ½)) · tf/(tf + k₁(1 − b + b·dl/avdl))
//! tf = Σ_f w_f tf_f ,   dl = Σ_f w_f dl_f ,   avdl = Σ_d dl/N ,   n_t = documents with t in any weighted field
//! ```
//!
//! Every score is a sum in the order of the query's terms, so it is the same to the last bit however documents are divided
//! into segments.

use super::postings::{Bits, TermCursor, TermWindow, WINDOW};
use super::query::Query;
use super::segment::Segment;
use super::words::{ScopeTerms, Terms};
use super::{Address, Snapshot};
use crate::index::failure::failure;
use rankwise::{Error, Result};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::TERMINATED;
use tantivy::query::{EnableScoring, QueryParser, Scorer, Weight};

/// BM25 over weighted fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bm25 {
    /// How slowly more occurrences of a term stop to count; 0 and above.
    pub k1: f64,
    /// How much the length of a document counts, from 0 to 1.
    pub b: f64,
    /// Fields and how much an occurrence in them counts, above 0. If none is given, all fields of text count 1.
    pub weights: Vec<(String, f64)>,
}

impl Default for Bm25 {
    fn default() -> Self {
        Bm25 { k1: 1.2, b: 0.75, weights: Vec::new() }
    }
}

/// A document that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Where it is.
    pub address: Address,
    /// Its id.
    pub id: String,
    /// Its score.
    pub score: f64,
}

impl Snapshot {
    /// The `k` best documents, or fewer if fewer match; equal scores are ordered by id.
    ///
    /// A query of [`Query::words`] matches documents that have one of its words in a weighted field.
    pub fn search(&self, query: &Query, bm25: &Bm25, k: usize) -> Result<Vec<Hit>> {
        let weights = self.check(bm25)?;
        let fields: Vec<usize> = weights.iter().map(|(field, _)| *field).collect();
        let terms = Terms::of(query, self)?;
        let scope = terms.scope(&fields);
        let condition = self.condition(query, &fields)?;
        if k == 0 || self.documents == 0 || (condition.is_none() && scope.terms.is_empty()) {
            return Ok(Vec::new());
        }
        let lengths = self.weighted_lengths(&weights)?;
        let average = lengths.total / self.documents as f64;
        let length_factor = if average > 0.0 { bm25.k1 * bm25.b / average } else { 0.0 };
        let mut search = Search {
            snapshot: self,
            terms: &terms,
            scope: &scope,
            factors: self.factors(&terms, &scope)?,
            weight_of: &|field| weights.iter().find(|(f, _)| *f == field).map_or(0.0, |(_, weight)| *weight),
            base: bm25.k1 * (1.0 - bm25.b),
            length_factor,
            best: Best { k, found: BinaryHeap::new() },
            window: Window::default(),
        };
        let mut hits = Vec::new();
        for number in 0..self.segments.len() {
            search.run(number, &lengths.of[number], condition.as_deref())?;
            hits.extend(search.best.take(number as u32, &self.segments[number])?);
        }
        hits.sort_unstable_by(|a: &Hit, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
        hits.truncate(k);
        Ok(hits)
    }

    /// What a term's frequency is multiplied with: its weight in the query and its inverse document frequency.
    fn factors(&self, terms: &Terms, scope: &ScopeTerms) -> Result<Vec<f64>> {
        let documents = self.documents as f64;
        let factor = |term| {
            let n = self.document_frequency(terms, term)? as f64;
            Ok(term.weight * (1.0 + (documents - n + 0.5) / (n + 0.5)).ln())
        };
        scope.terms.iter().map(factor).collect()
    }

    /// The text fields and their weights, ascending by field.
    fn check(&self, bm25: &Bm25) -> Result<Vec<(usize, f64)>> {
        let Bm25 { k1, b, weights } = bm25;
        if !(k1.is_finite() && *k1 >= 0.0) {
            return Err(Error::parameter(format!("k1 of BM25 is {k1}; it must be a number from 0")));
        }
        if !(0.0..=1.0).contains(b) {
            return Err(Error::parameter(format!("b of BM25 is {b}; it must be between 0 and 1")));
        }
        if weights.is_empty() {
            return Ok((0..self.text.len()).map(|field| (field, 1.0)).collect());
        }
        let mut checked: Vec<(usize, f64)> = Vec::new();
        for (name, weight) in weights {
            let field = self.text_field(name)?;
            if !(weight.is_finite() && *weight > 0.0) {
                return Err(Error::parameter(format!(
                    "the weight of the field `{name}` is {weight}; it must be above 0"
                )));
            }
            if checked.iter().any(|(other, _)| *other == field) {
                return Err(Error::parameter(format!("the field `{name}` has two weights")));
            }
            checked.push((field, *weight));
        }
        checked.sort_unstable_by_key(|(field, _)| *field);
        Ok(checked)
    }

    /// The number of a field among those that are cut into words.
    pub(crate) fn text_field(&self, name: &str) -> Result<usize> {
        let place = self.schema.position(name)?;
        self.text.iter().position(|field| field.place == place).ok_or_else(|| {
            Error::parameter(format!(
                "the field `{name}` is not text that is cut into words, so it has no BM25"
            ))
        })
    }

    /// What decides which documents match, if not the words alone.
    fn condition(&self, query: &Query, fields: &[usize]) -> Result<Option<Box<dyn Weight>>> {
        let defaults = fields.iter().map(|&field| self.text[field].terms).collect();
        let parser = QueryParser::for_index(self.searcher.index(), defaults);
        let Some(matching) = query.matching(parser)? else { return Ok(None) };
        let enabled = EnableScoring::disabled_from_searcher(&self.searcher);
        Ok(Some(matching.weight(enabled).map_err(|error| failure("read", &self.path, error))?))
    }

    fn weighted_lengths(&self, weights: &[(usize, f64)]) -> Result<Arc<Weighted>> {
        let mut last = self.weighted.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = last.as_ref().filter(|known| known.weights == weights) {
            return Ok(known.clone());
        }
        let mut total = 0.0;
        let mut of: Vec<Vec<f64>> = self.segments.iter().map(|segment| vec![0.0; segment.len()]).collect();
        for &(field, weight) in weights {
            let lengths = self.lengths(field)?;
            total += weight * lengths.total as f64;
            for (sums, lengths) in of.iter_mut().zip(&lengths.of) {
                sums.iter_mut().zip(lengths).for_each(|(sum, &length)| *sum += weight * f64::from(length));
            }
        }
        let made = Arc::new(Weighted { weights: weights.to_vec(), of, total });
        *last = Some(made.clone());
        Ok(made)
    }
}

/// The lengths that were last used: a program rarely has more than one set of weights.
#[derive(Default)]
pub(crate) struct WeightedLengths(Mutex<Option<Arc<Weighted>>>);

/// Lengths of documents over weighted fields.
struct Weighted {
    weights: Vec<(usize, f64)>,
    of: Vec<Vec<f64>>,
    total: f64,
}

/// A search in progress.
struct Search<'a> {
    snapshot: &'a Snapshot,
    terms: &'a Terms,
    scope: &'a ScopeTerms,
    factors: Vec<f64>,
    weight_of: &'a dyn Fn(usize) -> f64,
    base: f64,
    length_factor: f64,
    best: Best,
    window: Window,
}

/// Scores of a window of documents.
struct Window {
    scores: Vec<f64>,
    seen: Bits,
    term: TermWindow,
}

impl Default for Window {
    fn default() -> Self {
        Window { scores: vec![0.0; WINDOW as usize], seen: Bits::default(), term: TermWindow::default() }
    }
}

impl Search<'_> {
    fn run(&mut self, number: usize, lengths: &[f64], condition: Option<&dyn Weight>) -> Result<()> {
        let segment = &self.snapshot.segments[number];
        let mut cursors: Vec<(f64, TermCursor)> = Vec::new();
        for (term, &factor) in self.scope.terms.iter().zip(&self.factors) {
            let cursor = self.snapshot.cursor(self.terms, term, number, self.weight_of)?;
            cursors.extend(cursor.map(|cursor| (factor, cursor)));
        }
        let mut matching = match condition {
            Some(condition) => {
                Some(condition.scorer(&segment.reader, 1.0).map_err(|error| segment.failure(error))?)
            }
            None => None,
        };
        loop {
            let start = match &matching {
                Some(matching) => matching.doc(),
                None => cursors.iter().map(|(_, cursor)| cursor.document()).min().unwrap_or(TERMINATED),
            };
            if start == TERMINATED {
                return Ok(());
            }
            self.score(start, lengths, &mut cursors);
            self.collect(start, segment, matching.as_deref_mut());
        }
    }

    /// Adds up the scores of the documents of a window.
    fn score(&mut self, start: u32, lengths: &[f64], cursors: &mut [(f64, TermCursor)]) {
        let end = start.saturating_add(WINDOW);
        let Window { scores, seen, term } = &mut self.window;
        for (factor, cursor) in cursors {
            cursor.seek(start);
            if cursor.document() >= end {
                continue;
            }
            cursor.drain(start, end, term);
            for (&document, &frequency) in term.documents.iter().zip(&term.frequencies) {
                let saturation = self.base + self.length_factor * lengths[document as usize];
                scores[(document - start) as usize] += *factor * (frequency / (frequency + saturation));
                seen.insert(document - start);
            }
        }
    }

    /// Takes the documents of the window that match, and leaves the window empty.
    fn collect(&mut self, start: u32, segment: &Segment, matching: Option<&mut dyn Scorer>) {
        let Window { scores, seen, .. } = &mut self.window;
        let best = &mut self.best;
        let mut offer = |place: u32, score: f64| {
            let document = start + place;
            if best.may_have(score) && segment.is_live(document) {
                best.offer(Found { score, ordinal: segment.ordinal(document), document });
            }
        };
        match matching {
            None => seen.drain(|place| offer(place, std::mem::take(&mut scores[place as usize]))),
            Some(matching) => {
                let end = start.saturating_add(WINDOW);
                while matching.doc() < end.min(TERMINATED) {
                    let place = matching.doc() - start;
                    offer(place, scores[place as usize]);
                    matching.advance();
                }
                seen.drain(|place| scores[place as usize] = 0.0);
            }
        }
    }
}

/// The best documents of a segment so far. The worst of them is on top of the heap.
struct Best {
    k: usize,
    found: BinaryHeap<Found>,
}

struct Found {
    score: f64,
    /// The place of its id.
    ordinal: u64,
    document: u32,
}

impl Best {
    fn may_have(&self, score: f64) -> bool {
        self.found.len() < self.k || self.found.peek().is_some_and(|worst| score >= worst.score)
    }

    fn offer(&mut self, found: Found) {
        if self.found.len() < self.k {
            self.found.push(found);
        } else if let Some(mut worst) = self.found.peek_mut()
            && found < *worst
        {
            *worst = found;
        }
    }

    /// Takes them out, in any order.
    fn take(&mut self, number: u32, segment: &Segment) -> Result<Vec<Hit>> {
        let found: Vec<Found> = self.found.drain().collect();
        let ordinals: Vec<u64> = found.iter().map(|found| found.ordinal).collect();
        let ids = segment.ids(&ordinals)?;
        let hit = |(found, id): (Found, String)| Hit {
            address: Address { segment: number, document: found.document },
            id,
            score: found.score,
        };
        Ok(found.into_iter().zip(ids).map(hit).collect())
    }
}

/// Worse is greater.
impl Ord for Found {
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.ordinal.cmp(&other.ordinal))
    }
}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Found {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Found {}
