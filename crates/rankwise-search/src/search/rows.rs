//! The features of a query's candidates: the same code for training data and for a search.

use super::extract::SearchQuery;
use crate::features::{CompiledSet, FeatureSet};
use crate::snapshot::{Address, Bm25, Query, Snapshot};
use rankwise::{Error, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A document that may be an answer to a query, and what is known of its retrieval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Where it is.
    pub address: Address,
    /// The score with which it was retrieved; NaN if it was not retrieved by a score.
    pub score: f64,
    /// The place at which it was retrieved, from 1; NaN if it was not.
    pub rank: f64,
}

/// Computes a feature set for the documents of a snapshot.
pub struct FeatureRows {
    snapshot: Arc<Snapshot>,
    set: CompiledSet,
}

/// The time that features take.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureTimes {
    /// Looking up the words of a query in its candidates, and reading their numbers, dates and links, per candidate.
    pub lookup: Duration,
    /// Computing all features from that, per candidate.
    pub all: Duration,
    /// Computing each feature alone, per candidate.
    pub each: Vec<Duration>,
}

impl FeatureRows {
    /// The features of `set` for documents of `snapshot`.
    pub fn new(snapshot: &Arc<Snapshot>, set: &FeatureSet) -> Result<FeatureRows> {
        Ok(FeatureRows { set: CompiledSet::new(set, snapshot.schema())?, snapshot: Arc::clone(snapshot) })
    }

    /// Number of features.
    pub fn width(&self) -> usize {
        self.set.width()
    }

    /// A row of features for every candidate, in their order.
    pub fn of(&self, query: &Query, candidates: &[Candidate]) -> Result<Vec<f32>> {
        let width = self.width();
        let mut rows = vec![0.0; candidates.len() * width];
        let order = by_address(candidates);
        let addresses: Vec<Address> = order.iter().map(|&at| candidates[at].address).collect();
        let mut matches = self.snapshot.matches(query, &self.set.places())?;
        let queries = matches.queries().to_vec();
        let mut prepared = self.set.query(&queries);
        matches.visit(&addresses, self.set.needs_positions(), |place, scopes| {
            let at = order[place];
            let Candidate { address, score, rank } = candidates[at];
            let mut values = self.snapshot.values(address)?;
            (values.retrieval_score, values.retrieval_rank) = (score, rank);
            prepared.compute(scopes, &values, &mut rows[at * width..(at + 1) * width]);
            Ok(())
        })?;
        Ok(rows)
    }

    /// Measures the time of every feature on the first `depth` documents by BM25 of some queries.
    pub fn times(&self, queries: &[SearchQuery], bm25: &Bm25, depth: usize) -> Result<FeatureTimes> {
        let mut total = Timing::default();
        for SearchQuery { query, .. } in queries.iter().take(TIMED) {
            let hits = self.snapshot.search(query, bm25, depth)?;
            let mut addresses: Vec<Address> = hits.iter().map(|hit| hit.address).collect();
            addresses.sort_unstable();
            self.time(query, &addresses, &mut total)?;
        }
        if total.candidates == 0 {
            return Err(Error::data("no query finds a document, so there is nothing to measure"));
        }
        let mean = |time: Duration| time / total.candidates;
        Ok(FeatureTimes {
            lookup: mean(total.lookup),
            all: mean(total.all),
            each: total.each.into_iter().map(|seconds| mean(Duration::from_secs_f64(seconds))).collect(),
        })
    }

    fn time(&self, query: &Query, addresses: &[Address], total: &mut Timing) -> Result<()> {
        let mut matches = self.snapshot.matches(query, &self.set.places())?;
        let queries = matches.queries().to_vec();
        let mut documents = Vec::new();
        let start = Instant::now();
        matches.visit(addresses, self.set.needs_positions(), |place, scopes| {
            documents.push((scopes.to_vec(), self.snapshot.values(addresses[place])?));
            Ok(())
        })?;
        total.lookup += start.elapsed();
        let mut prepared = self.set.query(&queries);
        let mut row = vec![0.0; self.width()];
        let start = Instant::now();
        for (scopes, values) in &documents {
            prepared.compute(std::hint::black_box(scopes), values, &mut row);
        }
        total.all += start.elapsed();
        total.candidates += addresses.len() as u32;
        total.each.resize(self.width(), 0.0);
        let each = self.set.times(&queries, &documents, 1);
        total.each.iter_mut().zip(each).for_each(|(sum, seconds)| *sum += seconds * addresses.len() as f64);
        Ok(())
    }
}

/// How many queries are enough to measure times.
const TIMED: usize = 50;

/// Times of all candidates together.
#[derive(Default)]
struct Timing {
    candidates: u32,
    lookup: Duration,
    all: Duration,
    /// In seconds.
    each: Vec<f64>,
}

/// The candidates in the order in which postings have them.
fn by_address(candidates: &[Candidate]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|&at| candidates[at].address);
    order
}
