//! Why a document stands where it does, and why another one does not.

use super::{Found, Search, candidates};
use crate::snapshot::{Address, Query};
use rankwise::data::{Dataset, Features};
use rankwise::models::Ranker;
use rankwise::models::insight::Explainer;
use rankwise::{Error, Result};
use std::borrow::Cow;
use std::collections::HashMap;

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
    /// What the model's scores of these documents of a search are made of; none for those that the model has not scored.
    /// Fails without a model.
    pub fn explain(&self, query: &Query, found: &[Found]) -> Result<Vec<Option<Explained>>> {
        let Some(model) = &self.model else {
            return Err(Error::parameter("a search without a model has no features to explain"));
        };
        // A model that scales features within queries has scored each candidate among all others.
        let all = self.snapshot.search(query, &self.bm25, model.depth)?;
        let all: Vec<Found> =
            all.into_iter().enumerate().map(|(at, hit)| Found::of_bm25(hit, at + 1)).collect();
        let rows = model.rows.of(query, &candidates(&all))?;
        let places: HashMap<Address, usize> =
            all.iter().enumerate().map(|(place, found)| (found.address, place)).collect();
        let places: Vec<Option<usize>> =
            found.iter().map(|found| places.get(&found.address).copied()).collect();
        let known: Vec<usize> = places.iter().flatten().copied().collect();
        let mut explained = explain_rows(&model.ranker, &rows, &known)?.into_iter();
        Ok(places.into_iter().map(|place| place.and_then(|_| explained.next())).collect())
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

/// What a model's scores of some of these rows are made of. The rows have the model's features in its order, and are all
/// documents of one query that were scored together.
pub fn explain_rows(ranker: &Ranker, rows: &[f32], chosen: &[usize]) -> Result<Vec<Explained>> {
    let width = ranker.model.width();
    let contributions = Contributions::of(ranker, rows, width, chosen)?;
    let explained = chosen.iter().enumerate().map(|(at, document)| {
        let row = &rows[document * width..(document + 1) * width];
        let features = row.iter().enumerate().map(|(column, &value)| ExplainedFeature {
            name: ranker.columns.name(column),
            value,
            contribution: contributions.of_chosen.as_ref().map(|of| of[at][column]),
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
    /// A row for each document that was chosen.
    of_chosen: Option<Vec<Vec<f64>>>,
}

impl Contributions {
    fn of(ranker: &Ranker, rows: &[f32], width: usize, chosen: &[usize]) -> Result<Contributions> {
        let count = rows.len() / width;
        let unknown = Contributions { base: 0.0, base_name: "", of_chosen: None };
        let Ok(explainer) = Explainer::new(&ranker.model) else { return Ok(unknown) };
        if chosen.is_empty() {
            return Ok(unknown);
        }
        let features = Features::dense(width, rows.to_vec());
        let data = Dataset::from_features(features, vec![0.0; count], &[count])?;
        let data = data.with_columns(ranker.columns.clone())?;
        let prepared: Cow<'_, Dataset> = ranker.prepare(&data)?;
        Ok(Contributions {
            base: explainer.base(),
            base_name: explainer.base_name(),
            of_chosen: Some(explainer.contributions(&prepared, chosen)?),
        })
    }
}
