//! A trained model with all it needs to score new data as in training.

use super::{Model, Record};
use crate::card::Card;
use crate::data::{Columns, Dataset, Features, Normalizer};
use crate::error::{Error, Result};
use crate::metrics::Conventions;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A trained model with all it needs to score documents and to be trained again.
///
/// It is saved and loaded with [`save`](Ranker::save) and [`load`](Ranker::load). Training with equal inputs gives equal
/// bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Ranker {
    /// The learner that trained it.
    pub learner: LearnerCard,
    /// The scorer of its recipe: `linear`, `trees` or `network`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scorer: Option<String>,
    /// All parameters of the learner, including defaults.
    pub parameters: toml::Table,
    /// The metric that training optimised or chose by.
    pub metric: String,
    /// The conventions of that metric.
    pub conventions: Conventions,
    /// The seed of all random choices.
    pub seed: u64,
    /// How features are scaled before scoring.
    pub normalizer: Option<Normalizer>,
    /// The features it expects.
    pub columns: Columns,
    /// A fingerprint of the training data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// The version of Rankwise that trained it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How training went.
    pub record: Record,
    /// The trained model.
    pub model: Model,
}

/// How a model was trained: what a recipe needs to be repeated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Provenance {
    /// The learner that trained it.
    pub learner: LearnerCard,
    /// The scorer of its recipe: `linear`, `trees` or `network`.
    pub scorer: Option<String>,
    /// All parameters of the learner, including defaults.
    pub parameters: toml::Table,
    /// The metric that training optimised or chose by.
    pub metric: String,
    /// The conventions of that metric.
    pub conventions: Conventions,
    /// The seed of all random choices.
    pub seed: u64,
    /// A fingerprint of the training data.
    pub data: Option<String>,
    /// The version of Rankwise that trained it; `None` for models of other tools.
    pub version: Option<String>,
    /// How training went.
    pub record: Record,
}

/// The part of a learner's [`Card`] that is saved with its models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnerCard {
    /// The learner's name.
    pub name: String,
    /// The name in prose.
    pub title: String,
    /// The papers that describe the algorithm.
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
    /// The version of Rankwise that trains models now, for [`Provenance::version`].
    pub const CURRENT_VERSION: &'static str = env!("CARGO_PKG_VERSION");

    /// A ranker of a trained model. Fails if the parts do not fit together.
    pub fn new(
        model: Model,
        columns: Columns,
        normalizer: Option<Normalizer>,
        provenance: Provenance,
    ) -> Result<Ranker> {
        let Provenance { learner, scorer, parameters, metric, conventions, seed, data, version, record } =
            provenance;
        let ranker = Ranker {
            learner,
            scorer,
            parameters,
            metric,
            conventions,
            seed,
            normalizer,
            columns,
            data,
            version,
            record,
            model,
        };
        ranker.check()?;
        Ok(ranker)
    }

    /// A ranker of a model whose training is not known. It does not scale features.
    pub fn of_model(model: Model, columns: Columns) -> Result<Ranker> {
        let learner = LearnerCard { name: "model".into(), title: "Model".into(), citations: Vec::new() };
        let provenance = Provenance { learner, metric: "not known".into(), ..Provenance::default() };
        Ranker::new(model, columns, None, provenance)
    }

    /// One score per document of `data`, in its order.
    pub fn score(&self, data: &Dataset) -> Result<Vec<f64>> {
        let data = self.align(data)?;
        let mut scores = vec![0.0; data.len()];
        self.score_prepared(data.rows(), data.bounds(), &mut scores)?;
        Ok(scores)
    }

    /// The grade predicted for each document of `data`, in its order. Fails if the model has no thresholds.
    pub fn grades(&self, data: &Dataset) -> Result<Vec<f32>> {
        self.model.grades_of(&self.score(data)?)
    }

    /// The data with its columns where the model expects them, and scaled.
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

    /// Rejects a ranker that no learner could have trained.
    pub(super) fn check(&self) -> Result<()> {
        let width = self.model.width();
        if width == 0 {
            return Err(Error::model("it has no features"));
        }
        if self.columns.names.as_ref().is_some_and(|n| n.len() != width) {
            return Err(Error::model("it names another number of features than it has"));
        }
        if self.columns.first_id > 1 {
            return Err(Error::model("its first feature has an id other than 0 and 1"));
        }
        self.model.shape().check()
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
