//! Training data from an index: candidates of queries, their features, and labels from judgments.

use super::retrieval::Retrieval;
use super::rows::{Candidate, FeatureRows};
use crate::features::FeatureSet;
use crate::snapshot::{Bm25, Query, Snapshot};
use rankwise::data::trec::{Qrels, Topic, TrecRun};
use rankwise::data::{Columns, Dataset, Features, Parts, Texts};
use rankwise::{Error, Result};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A query with an id.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchQuery {
    /// The id.
    pub id: String,
    /// What is asked for.
    pub query: Query,
}

/// Which documents become rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Candidates {
    /// The first documents by BM25, as a search would give them to a model.
    Bm25 {
        /// How many.
        depth: usize,
    },
    /// The documents of a run.
    Run(TrecRun),
    /// The judged documents.
    Judged,
}

impl Candidates {
    /// `judged`, `bm25` or `bm25:100`; nothing for any other name, which may be that of a run.
    pub fn of_name(name: &str) -> Result<Option<Candidates>> {
        Ok(match (name, name.strip_prefix("bm25:")) {
            ("judged", _) => Some(Candidates::Judged),
            ("bm25", _) => Some(Candidates::Bm25 { depth: super::DEPTH }),
            (_, Some(depth)) => match depth.parse() {
                Ok(depth @ 1..) => Some(Candidates::Bm25 { depth }),
                _ => {
                    return Err(Error::parameter(format!(
                        "`{name}` names no number of documents; write bm25:100"
                    )));
                }
            },
            _ => None,
        })
    }
}

/// What becomes of candidates without a judgment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unjudged {
    /// They get label 0, as in the evaluation of searches.
    #[default]
    NonRelevant,
    /// They are left out.
    Drop,
}

/// How training data is made.
#[derive(Debug, Clone)]
pub struct Extraction {
    /// The features.
    pub set: FeatureSet,
    /// How candidates are found and scored.
    pub bm25: Bm25,
    /// The documents.
    pub candidates: Candidates,
    /// The judgments. Without them all labels are 0.
    pub qrels: Option<Qrels>,
    /// What becomes of candidates that are not judged.
    pub unjudged: Unjudged,
}

/// Training data, and what was noticed.
#[derive(Debug, Clone)]
pub struct Extracted {
    /// A row per candidate. It knows how its features were computed.
    pub data: Dataset,
    /// What was noticed.
    pub report: ExtractReport,
}

/// What was noticed while training data was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExtractReport {
    /// Queries for which nothing was found; they are left out.
    pub without_candidates: Vec<String>,
    /// Queries without judgments, if there are any for others; they are left out.
    pub without_judgments: Vec<String>,
    /// Rows without a judgment.
    pub unjudged: usize,
    /// Rows with a negative grade, which gives them label 0.
    pub negative: usize,
    /// Relevant documents of the queries, by the judgments.
    pub relevant: usize,
    /// Those that are among the rows. A model cannot rank others.
    pub relevant_found: usize,
    /// Documents of the run or the judgments that are not in the index.
    pub not_in_index: usize,
}

/// The rows of one query.
struct Block {
    ids: Vec<String>,
    rows: Vec<f32>,
    labels: Vec<f32>,
    report: ExtractReport,
}

impl Extraction {
    /// Makes training data. `done` is called with the number of queries that are ready. The result does not depend on the
    /// number of threads.
    pub fn run(
        &self,
        snapshot: &Arc<Snapshot>,
        queries: &[SearchQuery],
        done: &(dyn Fn(usize) + Sync),
    ) -> Result<Extracted> {
        let rows = FeatureRows::new(snapshot, &self.set)?;
        let grades = self.qrels.as_ref().map(|qrels| by_id(&qrels.topics));
        let run = match &self.candidates {
            Candidates::Run(run) => Some(by_id(&run.topics)),
            Candidates::Judged if self.qrels.is_none() => {
                return Err(Error::parameter(
                    "judged documents can only be candidates if there are judgments",
                ));
            }
            _ => None,
        };
        let sources = Sources { snapshot, rows: &rows, grades, run };
        let ready = AtomicUsize::new(0);
        let blocks = queries.par_iter().map(|query| {
            let block = self.block(&sources, query);
            done(ready.fetch_add(1, Ordering::Relaxed) + 1);
            block
        });
        let blocks = blocks.collect::<Result<Vec<Block>>>()?;
        self.joined(snapshot, queries, blocks)
    }

    fn block(&self, sources: &Sources<'_>, query: &SearchQuery) -> Result<Block> {
        let mut report = ExtractReport::default();
        let judged = match &sources.grades {
            None => None,
            Some(all) => match all.get(query.id.as_str()) {
                None => {
                    report.without_judgments.push(query.id.clone());
                    return Ok(Block::empty(report));
                }
                Some(topic) => Some(Judgments::of(topic)),
            },
        };
        let mut candidates = self.candidates(sources, query, &mut report)?;
        if let (Some(judged), Unjudged::Drop) = (&judged, self.unjudged) {
            candidates.retain(|(id, _)| judged.0.contains_key(id.as_str()));
        }
        let labels = match &judged {
            Some(judged) => candidates.iter().map(|(id, _)| judged.label(id, &mut report)).collect(),
            None => vec![0.0; candidates.len()],
        };
        report.relevant += judged.map_or(0, |judged| judged.0.values().filter(|grade| **grade > 0).count());
        report.relevant_found += labels.iter().filter(|label| **label > 0.0).count();
        if candidates.is_empty() {
            report.without_candidates.push(query.id.clone());
            return Ok(Block::empty(report));
        }
        let (ids, found): (Vec<String>, Vec<Candidate>) = candidates.into_iter().unzip();
        Ok(Block { rows: sources.rows.of(&query.query, &found)?, ids, labels, report })
    }

    fn candidates(
        &self,
        sources: &Sources<'_>,
        query: &SearchQuery,
        report: &mut ExtractReport,
    ) -> Result<Vec<(String, Candidate)>> {
        let listed: Vec<(&str, f64)> = match &self.candidates {
            Candidates::Bm25 { depth } => {
                let hits = sources.snapshot.search(&query.query, &self.bm25, *depth)?;
                let candidate = |(at, hit): (usize, crate::snapshot::Hit)| {
                    (hit.id, Candidate { address: hit.address, score: hit.score, rank: (at + 1) as f64 })
                };
                return Ok(hits.into_iter().enumerate().map(candidate).collect());
            }
            Candidates::Run(_) => {
                let topic = sources.run.as_ref().and_then(|run| run.get(query.id.as_str()));
                topic.map_or(Vec::new(), |topic| in_order(topic))
            }
            Candidates::Judged => {
                let topic = sources.grades.as_ref().and_then(|grades| grades.get(query.id.as_str()));
                topic.map_or(Vec::new(), |topic| topic.documents.iter().map(|id| (id, f64::NAN)).collect())
            }
        };
        let mut found = Vec::new();
        for (at, (id, score)) in listed.into_iter().enumerate() {
            let rank = if score.is_nan() { f64::NAN } else { (at + 1) as f64 };
            match sources.snapshot.find(id)? {
                Some(address) => found.push((id.to_owned(), Candidate { address, score, rank })),
                None => report.not_in_index += 1,
            }
        }
        Ok(found)
    }

    fn joined(&self, snapshot: &Snapshot, queries: &[SearchQuery], blocks: Vec<Block>) -> Result<Extracted> {
        let mut report = ExtractReport::default();
        let (mut values, mut labels, mut bounds) = (Vec::new(), Vec::new(), vec![0]);
        let (mut query_ids, mut document_ids) = (Texts::new(), Texts::new());
        for (query, block) in queries.iter().zip(blocks) {
            report.add(block.report);
            if block.ids.is_empty() {
                continue;
            }
            values.extend(block.rows);
            labels.extend(block.labels);
            bounds.push(labels.len());
            query_ids.push(&query.id);
            block.ids.iter().for_each(|id| document_ids.push(id));
        }
        if labels.is_empty() {
            return Err(Error::data(report.why_empty()));
        }
        let names = self.set.names().map(str::to_owned).collect();
        let mut source = self.set.source(snapshot.schema())?;
        if let Candidates::Bm25 { depth } = self.candidates {
            source = Retrieval { depth, bm25: self.bm25.clone() }.noted(&source)?;
        }
        let parts = Parts {
            features: Features::dense(self.set.features().len(), values),
            labels,
            bounds,
            query_ids,
            columns: Columns { names: Some(names), source: Some(source), ..Columns::default() },
            document_ids: Some(document_ids),
            ..Parts::default()
        };
        Ok(Extracted { data: Dataset::new(parts)?, report })
    }
}

/// What all queries need.
struct Sources<'a> {
    snapshot: &'a Arc<Snapshot>,
    rows: &'a FeatureRows,
    grades: Option<HashMap<&'a str, &'a Topic<i32>>>,
    run: Option<HashMap<&'a str, &'a Topic<f64>>>,
}

fn by_id<V>(topics: &[Topic<V>]) -> HashMap<&str, &Topic<V>> {
    topics.iter().map(|topic| (topic.id.as_str(), topic)).collect()
}

/// The documents of a run by descending score, and equal ones by descending id, as trec_eval has them.
pub fn in_order(topic: &Topic<f64>) -> Vec<(&str, f64)> {
    let mut listed: Vec<(&str, f64)> = topic.documents.iter().zip(topic.values.iter().copied()).collect();
    listed.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| b.0.cmp(a.0)));
    listed
}

/// The grades of one query.
struct Judgments<'a>(HashMap<&'a str, i32>);

impl<'a> Judgments<'a> {
    fn of(topic: &'a Topic<i32>) -> Self {
        Judgments(topic.documents.iter().zip(topic.values.iter().copied()).collect())
    }

    fn label(&self, id: &str, report: &mut ExtractReport) -> f32 {
        let grade = self.0.get(id).copied();
        report.unjudged += usize::from(grade.is_none());
        report.negative += usize::from(grade.is_some_and(|grade| grade < 0));
        grade.unwrap_or(0).max(0) as f32
    }
}

impl Block {
    fn empty(report: ExtractReport) -> Block {
        Block { ids: Vec::new(), rows: Vec::new(), labels: Vec::new(), report }
    }
}

impl ExtractReport {
    fn add(&mut self, other: ExtractReport) {
        self.without_candidates.extend(other.without_candidates);
        self.without_judgments.extend(other.without_judgments);
        self.unjudged += other.unjudged;
        self.negative += other.negative;
        self.relevant += other.relevant;
        self.relevant_found += other.relevant_found;
        self.not_in_index += other.not_in_index;
    }

    fn why_empty(&self) -> String {
        let (judgments, candidates) = (self.without_judgments.len(), self.without_candidates.len());
        match (judgments, candidates) {
            (0, 0) => "there are no queries".to_owned(),
            (_, 0) => "no query has judgments; are the ids of the queries those of the judgments?".to_owned(),
            _ if self.not_in_index > 0 => format!(
                "no query has a candidate: none of the {} documents of the run or the judgments is in the index",
                self.not_in_index
            ),
            _ => "no query has a candidate: the index has no document with any of their words".to_owned(),
        }
    }

    /// What a user should know, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut list = |queries: &[String], what: &str| match queries {
            [] => {}
            [one] => notes.push(format!("query `{one}` {what}; it is left out")),
            many => {
                notes.push(format!("{} queries {what}, such as `{}`; they are left out", many.len(), many[0]))
            }
        };
        list(&self.without_judgments, "without judgments");
        list(&self.without_candidates, "without candidates");
        if self.not_in_index > 0 {
            notes.push(format!("{} of the documents named are not in the index", self.not_in_index));
        }
        match self.unjudged {
            0 => {}
            1 => notes.push("1 row has no judgment and counts as not relevant".to_owned()),
            rows => notes.push(format!("{rows} rows have no judgment and count as not relevant")),
        }
        if self.negative > 0 {
            notes.push(format!("{} rows have a negative grade, which counts as 0", self.negative));
        }
        if self.relevant_found < self.relevant {
            notes.push(format!(
                "{} of {} relevant documents are among the candidates; a model cannot rank the others",
                self.relevant_found, self.relevant
            ));
        }
        notes
    }
}
