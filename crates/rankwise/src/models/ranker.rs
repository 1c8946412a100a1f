//! A trained model with all it needs to score new data as in training.

use super::{Model, Record};
use crate::card::Card;
use crate::data::{ClickLabels, Columns, Dataset, Features, MAX_FEATURES, Normalizer};
use crate::error::{Error, Result};
use crate::metrics::Conventions;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Trees over more features are [narrowed](Ranker::narrowed).
const MANY_FEATURES: usize = 1 << 16;

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
    /// What is certain about the numbers of features without names.
    #[serde(default, skip_serializing_if = "Numbering::is_known")]
    pub numbering: Numbering,
    /// A fingerprint of the training data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// How the training labels were made from clicks, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clicks: Option<ClickLabels>,
    /// The version of Rankwise that trained it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How training went.
    pub record: Record,
    /// The trained model.
    pub model: Model,
}

/// What is certain about the numbers of a model's features, where they have no names.
///
/// Everything is in our own models. Files of other tools may have columns alone, or only the features they use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Numbering {
    /// The number of the first feature is known, and how many features there are.
    #[default]
    Known,
    /// The first column may be feature 0 or feature 1. Data decides it if it has a feature 0, or as many features from 1
    /// as the model has columns.
    Undecided,
    /// The numbers are known, and there may be more features than the model uses.
    OpenEnded,
}

impl Numbering {
    fn is_known(&self) -> bool {
        *self == Numbering::Known
    }
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
    /// How the training labels were made from clicks, if they were.
    pub clicks: Option<ClickLabels>,
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
        let Provenance {
            learner,
            scorer,
            parameters,
            metric,
            conventions,
            seed,
            data,
            clicks,
            version,
            record,
        } = provenance;
        let ranker = Ranker {
            learner,
            scorer,
            parameters,
            metric,
            conventions,
            seed,
            normalizer,
            columns,
            numbering: Numbering::Known,
            data,
            clicks,
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

    /// The data with its columns where the model expects them, and its categories in the model's codes.
    fn align<'a>(&self, data: &'a Dataset) -> Result<Cow<'a, Dataset>> {
        let aligned = self.align_columns(data)?;
        match aligned.columns().categories == self.columns.categories {
            true => Ok(aligned),
            false => self.recode(aligned.into_owned()).map(Cow::Owned),
        }
    }

    /// Data may have fewer columns than the model; the others are 0.
    fn recode(&self, data: Dataset) -> Result<Dataset> {
        let width = data.width();
        data.recoded(&self.columns.categories.moved(|column| Some(column).filter(|c| *c < width)))
    }

    fn align_columns<'a>(&self, data: &'a Dataset) -> Result<Cow<'a, Dataset>> {
        if let (Some(mine), Some(theirs)) = (&self.columns.names, &data.columns().names) {
            if let (Some(source), Some(other)) = (&self.columns.source, &data.columns().source) {
                source.check_same(other, mine)?;
            }
            return if mine == theirs { Ok(Cow::Borrowed(data)) } else { select_by_name(data, mine) };
        }
        if self.columns.names.is_some() != data.columns().names.is_some() {
            return Err(Error::data(match self.columns.names {
                Some(_) => "the model was trained on named features, and the data has numbered ones",
                None => "the model was trained on numbered features, and the data has named ones",
            }));
        }
        self.check_first_id(data)?;
        let width = self.model.width();
        if data.width() <= width {
            return Ok(Cow::Borrowed(data));
        }
        if self.numbering == Numbering::OpenEnded {
            return first_columns(data, width).map(Cow::Owned);
        }
        Err(Error::data(format!(
            "the data has {} features, up to number {}, and the model has {width}; give it data with the features that \
             it was trained on",
            data.width(),
            data.columns().name(data.width() - 1),
        )))
    }

    /// Rejects data whose features may have other numbers than those of the model.
    pub fn check_first_id(&self, data: &Dataset) -> Result<()> {
        let (first, other) = (self.columns.first_id, data.columns().first_id);
        match self.numbering {
            // Feature 0 can only be the first column, and so can feature 1 if the last column is the last feature.
            Numbering::Undecided if other == 0 || data.width() >= self.model.width() => Ok(()),
            Numbering::Undecided => Err(Error::data(format!(
                "the model has {} columns without names, and its first may be feature 0 or feature 1: the data, with \
                 features up to {}, fits both; state the number of the model's first feature",
                self.model.width(),
                data.columns().name(data.width().saturating_sub(1)),
            ))),
            _ if first == other => Ok(()),
            _ if first == 0 => Err(Error::data(
                "the model counts features from 0, the data from 1; read it with the first id 0",
            )),
            _ => Err(Error::data(format!(
                "the model counts features from {first}, and the data has a feature {other}; renumber the data, or change \
                 the number of the model's first feature"
            ))),
        }
    }

    /// The same model with `first_id` as the number of its first feature. Fails if its features have names.
    pub fn with_first_id(mut self, first_id: u32) -> Result<Ranker> {
        if self.columns.names.is_some() {
            return Err(Error::parameter(
                "the features of the model have names, so its first feature has no number",
            ));
        }
        self.columns.first_id = first_id;
        if self.numbering == Numbering::Undecided {
            self.numbering = Numbering::Known;
        }
        self.check()?;
        Ok(self)
    }

    /// The same model for work that grows with its number of features: trees over more than 65,536 numbered features
    /// lose those behind the last that they test. At least `columns` remain. All scores stay the same.
    ///
    /// Nothing but a number in the file says how many features such a model has.
    pub fn narrowed(self, columns: usize) -> Ranker {
        let Model::Trees(ensemble) = self.model else { return self };
        let tested = ensemble.trees().iter().flat_map(|tree| &tree.features);
        let needed = tested.map(|&feature| feature as usize + 1).max().unwrap_or(1).max(columns);
        let width = match self.columns.names {
            None if ensemble.width() > MANY_FEATURES => needed.min(ensemble.width()),
            _ => ensemble.width(),
        };
        let categories = self.columns.categories.moved(|column| Some(column).filter(|c| *c < width));
        let columns = Columns { categories, ..self.columns };
        Ranker { model: Model::Trees(ensemble.narrowed(width)), columns, ..self }
    }

    /// Rejects a ranker that no learner could have trained.
    pub(super) fn check(&self) -> Result<()> {
        let width = self.model.width();
        if width == 0 {
            return Err(Error::model("it has no features"));
        }
        if width > MAX_FEATURES {
            return Err(Error::model(format!(
                "it says that it has {width} features, and more than {MAX_FEATURES} are not allowed"
            )));
        }
        if self.columns.names.as_ref().is_some_and(|n| n.len() != width) {
            return Err(Error::model("it names another number of features than it has"));
        }
        self.columns.categories.check(width).map_err(|e| Error::model(e.to_string()))?;
        if self.normalizer.is_some() && !self.columns.categories.is_empty() {
            return Err(Error::model("it scales features although some are categorical"));
        }
        if self.columns.first_id > 1 {
            return Err(Error::model("its first feature has an id other than 0 and 1"));
        }
        self.conventions.check().map_err(|e| Error::model(format!("its conventions are not valid: {e}")))?;
        self.model.shape().check()
    }
}

/// The first `width` columns of `data`.
fn first_columns(data: &Dataset, width: usize) -> Result<Dataset> {
    let mut parts = data.clone().into_parts();
    parts.columns.categories = parts.columns.categories.moved(|column| Some(column).filter(|c| *c < width));
    parts.features = match parts.features {
        Features::Dense { width: all, values } => {
            let kept = values.chunks_exact(all).flat_map(|row| &row[..width]).copied();
            Features::Dense { width, values: kept.collect() }
        }
        Features::Sparse { starts, columns, values, .. } => {
            let kept: Vec<usize> = (0..columns.len()).filter(|&i| (columns[i] as usize) < width).collect();
            let starts = starts.iter().map(|&start| kept.partition_point(|&i| i < start)).collect();
            Features::Sparse {
                width,
                starts,
                columns: kept.iter().map(|&i| columns[i]).collect(),
                values: kept.iter().map(|&i| values[i]).collect(),
            }
        }
    };
    Dataset::new(parts)
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
    parts.features = Features::dense(names.len(), values);
    parts.columns.categories =
        parts.columns.categories.moved(|column| chosen.iter().position(|&c| c == column));
    parts.columns.names = Some(names.to_vec());
    Dataset::new(parts).map(Cow::Owned)
}
