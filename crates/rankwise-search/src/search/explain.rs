//! Why a document stands where it does, and why another one does not.

use super::{Found, Search, candidates};
use crate::snapshot::Query;
use rankwise::data::{Dataset, Features};
use rankwise::models::Ranker;
use rankwise::models::insight::Explainer;
use rankwise::{Error, Result};
use std::borrow::Cow;

/// What a score is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// The score before any feature is known.
    pub base: f64,
    /// What the base is, in a few words.
    pub base_name: &'static str,
    /// Every feature of the model, in its order. The base and all contributions sum to the score.
    pub features: Vec<ExplainedFeature>,
}

/// A feature of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainedFeature {
    /// Its name.
    pub name: String,
    /// Its value, as computed from the index; NaN if it is missing.
    pub value: f32,
    /// What it contributes to the score: its Shapley value for trees, weight times value for linear models. `None` for
    /// models whose scores are not sums, such as networks.
    pub contribution: Option<f64>,
}

/// Why a document is not among the first of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum WhyNot {
    /// It is among them, at this rank.
    Shown(usize),
    /// The index has no document of this id.
    NotInIndex,
    /// The query does not match it.
    NoMatch,
    /// It matches, but BM25 does not find it early enough for the model.
    NotACandidate {
        /// Its rank by BM25.
        bm25_rank: usize,
        /// Its score by BM25.
        bm25: f64,
        /// The score of the last candidate.
        needed: f64,
        /// How many candidates the model gets.
        depth: usize,
    },
    /// Others are ranked above it.
    Ranked {
        /// Its rank.
        rank: usize,
        /// It, with its score.
        found: Found,
        /// The last document that is shown.
        last: Found,
    },
}

impl Search {
    /// What the model's scores of these documents are made of. Fails without a model.
    ///
    /// For a model that scales features within queries, `found` must be all candidates of the query.
    pub fn explain(&self, query: &Query, found: &[Found]) -> Result<Vec<Explained>> {
        let Some(model) = &self.model else {
            return Err(Error::parameter("a search without a model has no features to explain"));
        };
        explain_rows(&model.ranker, &model.rows.of(query, &candidates(found))?)
    }

    /// Why the document of this id is not among the first `k`.
    pub fn why_not(&self, query: &Query, id: &str, k: usize) -> Result<WhyNot> {
        let Some(address) = self.snapshot.find(id)? else { return Ok(WhyNot::NotInIndex) };
        let everything = usize::try_from(self.snapshot.len()).unwrap_or(usize::MAX);
        let all = self.run(query, everything)?;
        let Some(at) = all.iter().position(|found| found.address == address) else {
            return Ok(WhyNot::NoMatch);
        };
        if at < k {
            return Ok(WhyNot::Shown(at + 1));
        }
        let found = all[at].clone();
        if let Some(model) = &self.model
            && !found.by_model
        {
            let last = all[..model.depth].iter().map(|found| found.bm25).fold(f64::INFINITY, f64::min);
            let Found { bm25_rank, bm25, .. } = found;
            return Ok(WhyNot::NotACandidate { bm25_rank, bm25, needed: last, depth: model.depth });
        }
        let last = all[k.saturating_sub(1)].clone();
        Ok(WhyNot::Ranked { rank: at + 1, found, last })
    }
}

/// What a model's scores of these rows are made of. The rows have the model's features in its order, and are the documents
/// of one query.
pub fn explain_rows(ranker: &Ranker, rows: &[f32]) -> Result<Vec<Explained>> {
    let width = ranker.model.width();
    let contributions = Contributions::of(ranker, rows, width)?;
    let explained = rows.chunks_exact(width).enumerate().map(|(document, row)| {
        let features = row.iter().enumerate().map(|(column, &value)| ExplainedFeature {
            name: ranker.columns.name(column),
            value,
            contribution: contributions.of_document.as_ref().map(|of| of[document][column]),
        });
        Explained {
            base: contributions.base,
            base_name: contributions.base_name,
            features: features.collect(),
        }
    });
    Ok(explained.collect())
}

/// Contributions of features to scores.
struct Contributions {
    base: f64,
    base_name: &'static str,
    of_document: Option<Vec<Vec<f64>>>,
}

impl Contributions {
    fn of(ranker: &Ranker, rows: &[f32], width: usize) -> Result<Contributions> {
        let count = rows.len() / width;
        let unknown = Contributions { base: 0.0, base_name: "", of_document: None };
        let Ok(explainer) = Explainer::new(&ranker.model) else { return Ok(unknown) };
        if count == 0 {
            return Ok(unknown);
        }
        let features = Features::dense(width, rows.to_vec());
        let data = Dataset::from_features(features, vec![0.0; count], &[count])?;
        let data = data.with_columns(ranker.columns.clone())?;
        let prepared: Cow<'_, Dataset> = ranker.prepare(&data)?;
        let documents: Vec<usize> = (0..count).collect();
        Ok(Contributions {
            base: explainer.base(),
            base_name: explainer.base_name(),
            of_document: Some(explainer.contributions(&prepared, &documents)?),
        })
    }
}
