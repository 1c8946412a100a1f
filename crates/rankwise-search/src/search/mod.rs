//! Search in two phases: BM25 finds candidates, and a model orders them.

mod explain;
mod extract;
mod given;
mod results;
mod retrieval;
mod rows;
mod trial;

pub use explain::{Explained, ExplainedFeature, WhyNot, explain_rows};
pub use extract::{Candidates, ExtractReport, Extracted, Extraction, SearchQuery, Unjudged, in_order};
pub use given::{Given, Ranked};
pub use results::{Results, Shown};
pub use retrieval::{Retrieval, RetrievalOptions};
pub use rows::{Candidate, FeatureRows, FeatureTimes};
pub use trial::{Trial, against_bm25};

use crate::features::FeatureSet;
use crate::snapshot::{Address, Bm25, Hit, Query, Snapshot};
use rankwise::data::trec::{Topic, TrecRun};
use rankwise::data::{Rows, Texts};
use rankwise::models::Ranker;
use rankwise::{Error, Result};
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many candidates a model orders unless another number is asked for.
pub const DEPTH: usize = 100;

/// Searches a snapshot, by BM25 alone or with a model.
pub struct Search {
    snapshot: Arc<Snapshot>,
    bm25: Bm25,
    model: Option<Model>,
}

/// The second phase.
struct Model {
    ranker: Arc<Ranker>,
    rows: FeatureRows,
    depth: usize,
    /// A feature of retrieval, if the candidates of the training were not those of BM25.
    foreign: Option<String>,
}

/// A document in the result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Where it is.
    pub address: Address,
    /// Its id.
    pub id: String,
    /// The score that it is ranked by: the model's, or that of BM25. Behind candidates that a model has ordered, BM25's
    /// scores are moved below the model's, so that scores fall from the first document to the last.
    pub score: f64,
    /// Its score by BM25.
    pub bm25: f64,
    /// Its place by BM25, from 1.
    pub bm25_rank: usize,
    /// Whether the model has scored it.
    pub by_model: bool,
}

impl Search {
    /// Search by BM25.
    pub fn new(snapshot: Arc<Snapshot>, bm25: Bm25) -> Search {
        Search { snapshot, bm25, model: None }
    }

    /// Search with a model, or by BM25. What `options` do not say is as it was for the model's training.
    pub fn of(
        snapshot: Arc<Snapshot>,
        model: Option<Arc<Ranker>>,
        options: &RetrievalOptions,
    ) -> Result<Search> {
        let Retrieval { depth, bm25 } = options.complete(model.as_deref())?;
        let search = Search::new(snapshot, bm25);
        match model {
            Some(model) => search.with_model(model, depth),
            None => Ok(search),
        }
    }

    /// The same with a model that orders the first `depth` documents of BM25. Fails if the model's features cannot be
    /// computed from this index as they were for its training.
    pub fn with_model(self, ranker: Arc<Ranker>, depth: usize) -> Result<Search> {
        if depth == 0 {
            return Err(Error::parameter(
                "the number of candidates for the model is 0; it must be at least 1",
            ));
        }
        let set = FeatureSet::of_model(&ranker, self.snapshot.schema())?;
        let foreign = self.foreign_scores(&ranker, &set)?.map(str::to_owned);
        let rows = FeatureRows::new(&self.snapshot, &set)?;
        Ok(Search { model: Some(Model { ranker, rows, depth, foreign }), ..self })
    }

    /// A feature of retrieval that BM25 has not given. Fails if BM25 gave it with other parameters.
    fn foreign_scores<'a>(&self, ranker: &Ranker, set: &'a FeatureSet) -> Result<Option<&'a str>> {
        let Some(feature) = set.of_retrieval() else { return Ok(None) };
        match Retrieval::of_model(ranker)? {
            None => Ok(Some(feature)),
            Some(then) if !then.bm25.is_like(&self.bm25) => Err(Error::model(format!(
                "the model's feature `{feature}` was computed from BM25 with {}, and this search has {}; leave that to \
                 the model, or train it again",
                then.bm25.in_words(),
                self.bm25.in_words()
            ))),
            Some(_) => Ok(None),
        }
    }

    /// Rejects a model that knows the scores of another retrieval. It can [`rank`](Search::rank) what that has found.
    pub fn check_candidates(&self) -> Result<()> {
        match self.model.as_ref().and_then(|model| model.foreign.as_ref()) {
            Some(feature) => Err(Error::model(format!(
                "the model's feature `{feature}` comes from a retrieval other than BM25, so BM25's candidates would have \
                 values that it does not know; train it on candidates of BM25, or let it rank what that retrieval finds"
            ))),
            None => Ok(()),
        }
    }

    /// The snapshot that is searched.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// The model, if there is one.
    pub fn ranker(&self) -> Option<&Arc<Ranker>> {
        self.model.as_ref().map(|model| &model.ranker)
    }

    /// The `k` best documents. The candidates that the model orders come first, and behind them the others, in the order
    /// of BM25. Documents with equal scores of the model stay in the order of BM25, and with equal scores of BM25 they are
    /// ordered by id.
    pub fn run(&self, query: &Query, k: usize) -> Result<Vec<Found>> {
        let depth = self.model.as_ref().map_or(0, |model| model.depth);
        let hits = self.snapshot.search(query, &self.bm25, k.max(depth))?;
        let mut found: Vec<Found> =
            hits.into_iter().enumerate().map(|(at, hit)| Found::of_bm25(hit, at + 1)).collect();
        if let Some(model) = &self.model {
            let depth = found.len().min(model.depth);
            let (candidates, others) = found.split_at_mut(depth);
            model.order(query, candidates)?;
            move_below(candidates, others);
        }
        found.truncate(k);
        Ok(found)
    }

    /// A row of the model's features for each of these documents of a search, in their order; nothing without a model.
    pub fn features(&self, query: &Query, found: &[Found]) -> Result<Option<Vec<f32>>> {
        self.model.as_ref().map(|model| model.rows.of(query, &candidates(found))).transpose()
    }

    /// The `k` best documents of every query, on all threads. `done` is called with the number of queries that are ready.
    pub fn run_all(
        &self,
        queries: &[SearchQuery],
        k: usize,
        done: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Vec<Found>>> {
        let ready = AtomicUsize::new(0);
        let found = queries.par_iter().map(|query| {
            let found = self.run(&query.query, k);
            done(ready.fetch_add(1, Ordering::Relaxed) + 1);
            found
        });
        found.collect()
    }
}

/// What was found for several queries, as a TREC run. Tools order a run by its scores, so equal ones are moved apart by the
/// least step that there is. More would make scores inexact.
pub fn run_of(found: &[(String, Vec<Found>)], tag: &str) -> TrecRun {
    let topic = |(id, found): &(String, Vec<Found>)| {
        let mut documents = Texts::new();
        found.iter().for_each(|found| documents.push(&found.id));
        let falling = |last: &mut f64, found: &Found| {
            *last = found.score.min(last.next_down());
            Some(*last)
        };
        let values = found.iter().scan(f64::INFINITY, falling).collect();
        Topic { id: id.clone(), documents, values }
    };
    TrecRun {
        topics: found.iter().filter(|(_, found)| !found.is_empty()).map(topic).collect(),
        tag: tag.to_owned(),
    }
}

impl Model {
    /// Scores the documents and puts the best first.
    fn order(&self, query: &Query, found: &mut [Found]) -> Result<()> {
        let (width, candidates) = (self.rows.width(), candidates(found));
        let rows = self.rows.of(query, &candidates)?;
        let mut scores = vec![0.0; found.len()];
        self.ranker.score_query_rows(Rows::dense_strided(&rows, found.len(), width, width)?, &mut scores)?;
        for (found, score) in found.iter_mut().zip(scores) {
            (found.score, found.by_model) = (score, true);
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.bm25_rank.cmp(&b.bm25_rank)));
        Ok(())
    }
}

impl Found {
    fn of_bm25(hit: Hit, rank: usize) -> Found {
        let Hit { address, id, score } = hit;
        Found { address, id, score, bm25: score, bm25_rank: rank, by_model: false }
    }
}

/// Moves the scores of `others`, which descend, below those of `candidates`.
fn move_below(candidates: &[Found], others: &mut [Found]) {
    let (Some(last), Some(first)) = (candidates.last(), others.first()) else { return };
    let shift = last.score - 1.0 - first.score;
    others.iter_mut().for_each(|found| found.score += shift);
}

fn candidates(found: &[Found]) -> Vec<Candidate> {
    let of = |found: &Found| {
        // Without a score, the place in a list says nothing, as in training data.
        let rank = if found.bm25.is_nan() { f64::NAN } else { found.bm25_rank as f64 };
        Candidate { address: found.address, score: found.bm25, rank }
    };
    found.iter().map(of).collect()
}
