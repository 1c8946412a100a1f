//! A trained model with all it needs to score new data the way it learned.

use super::{Model, Record};
use crate::card::Card;
use crate::data::{Columns, Dataset, Features, Normalizer};
use crate::error::{Error, Result};
use crate::metrics::Conventions;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A trained model, the features it expects, how they are scaled, and how it came about.
///
/// Saved and loaded by [`save`](Ranker::save) and [`load`](Ranker::load); equal inputs give equal bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranker {
    /// Which algorithm made it.
    pub learner: LearnerCard,
    /// The algorithm's parameters, defaults included.
    pub parameters: toml::Table,
    /// The measure it was chosen by.
    pub metric: String,
    /// The conventions of that measure.
    pub conventions: Conventions,
    /// The seed of all random choices.
    pub seed: u64,
    /// The scaling applied to each query before scoring.
    pub normalizer: Option<Normalizer>,
    /// The features it expects.
    pub columns: Columns,
    /// How training went.
    pub record: Record,
    /// What was learned.
    pub model: Model,
}

/// The part of a learner's [`Card`] that goes with its models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnerCard {
    /// The learner's name.
    pub name: String,
    /// The name in prose.
    pub title: String,
    /// Where the algorithm comes from.
    pub citations: Vec<String>,
}

impl From<&Card> for LearnerCard {
    fn from(card: &Card) -> Self {
        LearnerCard {
            name: card.name.into(),
            title: card.title.into(),
            citations: card.citations.iter().map(|c| c.to_string()).collect(),
        }
    }
}

impl Ranker {
    /// One score per document of `data`, in its order.
    pub fn score(&self, data: &Dataset) -> Result<Vec<f64>> {
        self.model.scores(&*self.prepare(data)?)
    }

    /// The grade predicted for each document of `data`, in its order; an error where the model has no thresholds.
    pub fn grades(&self, data: &Dataset) -> Result<Vec<f32>> {
        self.model.grades(&*self.prepare(data)?)
    }

    /// The data as the model learned to see it: columns where it expects them, scaled.
    pub fn prepare<'a>(&self, data: &'a Dataset) -> Result<Cow<'a, Dataset>> {
        let aligned = self.align(data)?;
        match &self.normalizer {
            Some(normalizer) => Ok(Cow::Owned(normalizer.apply(aligned.into_owned())?)),
            None => Ok(aligned),
        }
    }

    /// The data with its columns where the model expects them.
    fn align<'a>(&self, data: &'a Dataset) -> Result<Cow<'a, Dataset>> {
        if let (Some(mine), Some(theirs)) = (&self.columns.names, &data.columns().names) {
            return if mine == theirs { Ok(Cow::Borrowed(data)) } else { select_by_name(data, mine) };
        }
        if self.columns.names.is_some() != data.columns().names.is_some() {
            return Err(Error::data(match self.columns.names {
                Some(_) => "the model was trained on named features, and the data has numbered ones",
                None => "the model was trained on numbered features, and the data has named ones",
            }));
        }
        let (first, other) = (self.columns.first_id, data.columns().first_id);
        if first != other {
            return Err(Error::data(format!(
                "the model counts features from {first}, the data from {other}; read it with the first id {first}"
            )));
        }
        if data.width() > self.model.width() {
            let last = self.columns.name(self.model.width() - 1);
            return Err(Error::data(format!(
                "the data has features up to {}, and the model only knows those up to {last}",
                data.columns().name(data.width() - 1)
            )));
        }
        Ok(Cow::Borrowed(data))
    }

    /// Refuses what no learner could have made.
    pub(super) fn check(&self) -> Result<()> {
        let width = self.model.width();
        if width == 0 {
            return Err(Error::model("it has no features"));
        }
        if self.columns.names.as_ref().is_some_and(|n| n.len() != width) {
            return Err(Error::model("it does not name as many features as it has weights"));
        }
        if self.columns.first_id > 1 {
            return Err(Error::model("its first feature has an id other than 0 and 1"));
        }
        self.model.check()
    }
}

/// The columns of `data` called `names`, in that order.
fn select_by_name<'a>(data: &Dataset, names: &[String]) -> Result<Cow<'a, Dataset>> {
    let theirs = data.columns().names.as_deref().unwrap_or_default();
    let place: std::collections::HashMap<&str, usize> =
        theirs.iter().enumerate().map(|(i, n)| (n.as_str(), i)).collect();
    let chosen: Vec<usize> = names
        .iter()
        .map(|n| {
            place
                .get(n.as_str())
                .copied()
                .ok_or_else(|| Error::data(format!("the data lacks the model's feature `{n}`")))
        })
        .collect::<Result<_>>()?;
    let mut values = Vec::with_capacity(data.len() * names.len());
    for r in 0..data.len() {
        let row = data.row(r);
        values.extend(chosen.iter().map(|&c| row.get(c)));
    }
    let mut parts = data.clone().into_parts();
    parts.features = Features::Dense { width: names.len(), values };
    parts.columns.names = Some(names.to_vec());
    Dataset::new(parts).map(Cow::Owned)
}
