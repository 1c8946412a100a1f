//! Documents that another search engine has retrieved, ordered by the model.

use super::{Found, Search};
use crate::snapshot::Query;
use rankwise::{Error, Result};

/// A document that was retrieved elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// Its id.
    pub id: String,
    /// The score with which it was retrieved; NaN if it is not known.
    pub score: f64,
}

/// Documents that were retrieved elsewhere, in the order of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The documents of the index, the best first. What is said of BM25 is what was said of their retrieval.
    pub found: Vec<Found>,
    /// Ids that the index does not have.
    pub unknown: Vec<String>,
}

impl Search {
    /// Orders documents that were retrieved elsewhere, the best of which is the first. Those with equal scores of the
    /// model stay in their order. Fails without a model.
    ///
    /// Features of retrieval are the scores and ranks given; without scores they are missing.
    pub fn rank(&self, query: &Query, documents: Vec<Given>) -> Result<Ranked> {
        let Some(model) = &self.model else {
            return Err(Error::parameter(
                "a search without a model cannot rank documents that were retrieved elsewhere",
            ));
        };
        let mut ranked = Ranked { found: Vec::new(), unknown: Vec::new() };
        for (at, Given { id, score }) in documents.into_iter().enumerate() {
            match self.snapshot.find(&id)? {
                Some(address) => {
                    let bm25_rank = at + 1;
                    ranked.found.push(Found { address, id, score, bm25: score, bm25_rank, by_model: false });
                }
                None => ranked.unknown.push(id),
            }
        }
        if !ranked.found.is_empty() {
            model.order(query, &mut ranked.found)?;
        }
        Ok(ranked)
    }
}
