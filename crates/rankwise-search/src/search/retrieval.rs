//! How candidates are found, and what a model remembers of that.

use super::DEPTH;
use crate::snapshot::Bm25;
use rankwise::data::FeatureSource;
use rankwise::models::Ranker;
use rankwise::{Error, Result};
use serde::{Deserialize, Serialize};

/// The entry of a feature source.
const KEY: &str = "retrieval";

/// How candidates are found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retrieval {
    /// How many.
    pub depth: usize,
    /// How documents are scored.
    pub bm25: Bm25,
}

/// What somebody says of retrieval. The rest is as it was for the training of the model, or the default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RetrievalOptions {
    /// How many candidates a model orders.
    pub depth: Option<usize>,
    /// `k1` of BM25.
    pub k1: Option<f64>,
    /// `b` of BM25.
    pub b: Option<f64>,
    /// Weights of fields.
    pub weights: Option<Vec<(String, f64)>>,
}

impl RetrievalOptions {
    /// How candidates are found for a model, or for a search without one.
    pub fn complete(&self, model: Option<&Ranker>) -> Result<Retrieval> {
        let remembered = model.map(Retrieval::of_model).transpose()?.flatten();
        let Retrieval { depth, bm25 } =
            remembered.unwrap_or_else(|| Retrieval { depth: DEPTH, bm25: Bm25::default() });
        Ok(Retrieval {
            depth: self.depth.unwrap_or(depth),
            bm25: Bm25 {
                k1: self.k1.unwrap_or(bm25.k1),
                b: self.b.unwrap_or(bm25.b),
                weights: self.weights.clone().unwrap_or(bm25.weights),
            },
        })
    }
}

impl Retrieval {
    /// What a model remembers. Nothing if its training data had other candidates than those of BM25.
    pub fn of_model(model: &Ranker) -> Result<Option<Retrieval>> {
        #[derive(Deserialize)]
        struct Remembered {
            retrieval: Option<Retrieval>,
        }
        let Some(source) = &model.columns.source else { return Ok(None) };
        let remembered: Remembered = toml::from_str(source.as_toml()).map_err(|error| {
            Error::model(format!(
                "the model does not say in a way that can be read how candidates were found: {}",
                error.message()
            ))
        })?;
        Ok(remembered.retrieval)
    }

    /// The source of features, with a note of this.
    pub(super) fn noted(&self, source: &FeatureSource) -> Result<FeatureSource> {
        let value = toml::Value::try_from(self).map_err(|error| Error::data(error.to_string()))?;
        FeatureSource::parse(&format!("{KEY} = {value}\n{}", source.as_toml()))
    }
}

impl Bm25 {
    /// Whether it gives every document the same score.
    pub(super) fn is_like(&self, other: &Bm25) -> bool {
        let sorted = |bm25: &Bm25| {
            let mut weights = bm25.weights.clone();
            weights.sort_by(|a, b| a.0.cmp(&b.0));
            weights
        };
        (self.k1, self.b) == (other.k1, other.b) && sorted(self) == sorted(other)
    }

    /// Its parameters, in words.
    pub(super) fn in_words(&self) -> String {
        let weights: Vec<String> =
            self.weights.iter().map(|(field, weight)| format!("{field}={weight}")).collect();
        let of_fields = match weights.is_empty() {
            true => "all fields alike".to_owned(),
            false => format!("weights {}", weights.join(",")),
        };
        format!("k1 = {}, b = {} and {of_fields}", self.k1, self.b)
    }
}
