//! What is shown of the documents that a search found.

use super::{Explained, ExplainedFeature, Found, Search, WhyNot};
use crate::document::Document;
use crate::snapshot::{Query, Snippet};
use rankwise::Result;
use serde_json::{Value, json};

/// What to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// How many documents.
    pub k: usize,
    /// Documents to leave out before the first that is shown.
    pub skip: usize,
    /// Characters of a snippet.
    pub snippet: usize,
    /// Whether to explain the scores. That needs a model.
    pub explain: bool,
}

/// The documents that a search found, with what is shown of each.
#[derive(Debug, Clone)]
pub struct Results {
    /// The documents found, best first.
    pub found: Vec<Found>,
    /// The same documents as they were added.
    pub documents: Vec<Document>,
    /// The part of each that shows best why it was found.
    pub snippets: Vec<Snippet>,
    /// What each score is made of, if that was asked for; none for documents that the model has not scored.
    pub explained: Option<Vec<Option<Explained>>>,
    /// How many documents come before the first of these.
    pub skipped: usize,
    /// The field that heads a document. Snippets come from others.
    heading: Option<String>,
}

impl Search {
    /// Searches, and collects what is shown.
    pub fn results(&self, query: &Query, shown: Shown) -> Result<Results> {
        let mut found = self.run(query, shown.skip.saturating_add(shown.k))?;
        found.drain(..shown.skip.min(found.len()));
        self.show(query, found, shown)
    }

    /// What is shown of documents that were found.
    pub fn show(&self, query: &Query, found: Vec<Found>, shown: Shown) -> Result<Results> {
        let snapshot = self.snapshot();
        let documents: Vec<Document> =
            found.iter().map(|found| snapshot.document(found.address)).collect::<Result<_>>()?;
        let heading = snapshot.schema().heading().map(str::to_owned);
        let snippets = snapshot.snippets_of_all(query, shown.snippet)?;
        let snippets = documents.iter().map(|document| snippets.of(document)).collect();
        let explained = if shown.explain { Some(self.explain(query, &found)?) } else { None };
        Ok(Results { found, documents, snippets, explained, skipped: shown.skip, heading })
    }
}

impl Results {
    /// What heads a document, on one line; empty if the index has only one text field.
    pub fn heading(&self, at: usize) -> String {
        let values = self.documents[at].fields.iter().filter(|(name, _)| Some(name) == self.heading.as_ref());
        let text = values.map(|(_, value)| value.to_text()).next().unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The documents in JSON, the same for the command line and Python.
    pub fn to_json(&self) -> Vec<Value> {
        self.found.iter().enumerate().map(|(at, found)| self.hit(at, found)).collect()
    }

    fn hit(&self, at: usize, found: &Found) -> Value {
        let snippet = &self.snippets[at];
        let mut value = json!({
            "rank": self.skipped + at + 1,
            "id": found.id,
            "score": found.score,
            "bm25": found.bm25,
            "bm25_rank": found.bm25_rank,
            "by_model": found.by_model,
            "heading": self.heading(at),
            "snippet": snippet.text,
            "highlights": snippet.characters(),
            "fields": fields(&self.documents[at]),
        });
        if let Some(explained) = self.explained.as_ref().and_then(|explained| explained[at].as_ref()) {
            value["base"] = explained.base.into();
            value["features"] = explained.features.iter().map(ExplainedFeature::to_json).collect();
        }
        value
    }
}

impl ExplainedFeature {
    /// The feature in JSON; a missing value is null.
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "value": (!self.value.is_nan()).then_some(self.value),
            "contribution": self.contribution,
        })
    }
}

fn fields(document: &Document) -> Value {
    document.fields.iter().map(|(name, value)| (name.clone(), value.to_json())).collect()
}

impl WhyNot {
    /// The reason in JSON.
    pub fn to_json(&self) -> Value {
        match self {
            WhyNot::Shown(rank) => json!({ "reason": "shown", "rank": rank }),
            WhyNot::NotInIndex => json!({ "reason": "not-in-index" }),
            WhyNot::NoMatch => json!({ "reason": "no-match" }),
            WhyNot::NotACandidate { bm25_rank, bm25, needed, depth } => json!({
                "reason": "not-a-candidate", "bm25_rank": bm25_rank, "bm25": bm25, "needed": needed, "depth": depth,
            }),
            WhyNot::Ranked { rank, found, last } => json!({
                "reason": "ranked-below", "rank": rank, "score": found.score, "bm25": found.bm25,
                "bm25_rank": found.bm25_rank, "last": last.id, "last_score": last.score,
            }),
        }
    }

    /// The reason in a sentence or two, about the document `id` and a list of `k`.
    pub fn in_words(&self, id: &str, k: usize) -> String {
        match self {
            WhyNot::Shown(rank) => format!("`{id}` is shown, at rank {rank}."),
            WhyNot::NotInIndex => format!("The index has no document `{id}`."),
            WhyNot::NoMatch => format!(
                "The query does not match `{id}`: it has none of the words, or a condition of the query excludes it."
            ),
            WhyNot::NotACandidate { bm25_rank, bm25, needed, depth } => format!(
                "`{id}` is at rank {bm25_rank} of BM25 with a score of {bm25:.6}, and the model orders only the first {depth}, of \
                 which the last has {needed:.6}. A larger depth would include it."
            ),
            WhyNot::Ranked { rank, found, last } => {
                let by = if found.by_model { "the model" } else { "BM25" };
                let before = match found.by_model {
                    true => format!(" BM25 has it at rank {}.", found.bm25_rank),
                    false => String::new(),
                };
                format!(
                    "`{id}` is at rank {rank} with a score of {:.6} by {by}; number {k}, `{}`, has {:.6}.{before}",
                    found.score, last.id, last.score
                )
            }
        }
    }
}
