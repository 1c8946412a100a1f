//! The entry point: a recipe names what to learn and how, and trains a ranker. Every model is made here.
//!
//! ```
//! use rankwise::data::Dataset;
//! use rankwise::recipe::{Recipe, Start};
//! use rankwise::watch::Silent;
//!
//! let train = Dataset::dense(vec![0.2, 0.9, 0.4, 0.1], 1, vec![0.0, 2.0, 1.0, 0.0], &[2, 2])?;
//! let recipe = Recipe::new("lambda-mart").set("min_data_in_leaf", 1).metric("ndcg@10").seed(1);
//! let ranker = recipe.fit(&train, None, Start::default(), &mut Silent::default())?;
//! let scores = ranker.score(&train)?;
//! assert!(scores[1] > scores[0]);
//! # Ok::<(), rankwise::Error>(())
//! ```

mod clicks;
mod constant;
mod forecast;
mod relevance;
#[cfg(test)]
mod sharded;
mod written;

use crate::data::{Dataset, Normalizer};
use crate::error::{Error, Result};
use crate::learners::boosting::Checkpoint;
use crate::learners::{
    self, Configured, CustomGradients, CustomLoss, FingerprintedCheckpoint, Fitted, Learner, LearnerEntry,
    LossKind, LossLearner, RegularizationPath, Scorer, ScorerKind, Task, table_of, take_scorer,
};
use crate::metrics::{self, Conventions, Metric, MetricOfLabels, check_relevance_of};
use crate::models::{LearnerCard, Provenance, Ranker, checksum};
use crate::watch::Watch;
use std::fmt;
use std::sync::Arc;
use toml::{Table, Value};

pub(crate) use forecast::TrainingTime;
pub(crate) use written::WrittenRecipe;

/// The metric when none is named.
const METRIC: &str = "ndcg@10";

/// The seed when none is given.
const SEED: u64 = 1;

/// What to learn and how: a learner, its parameters and scorer, normalisation, metric and seed.
///
/// Names and values are checked when the recipe is used, by [`check`](Recipe::check) or [`fit`](Recipe::fit).
#[derive(Debug, Clone)]
pub struct Recipe {
    learner: Choice,
    parameters: Table,
    normalizer: Option<Normalizer>,
    metric: MetricChoice,
    seed: u64,
}

#[derive(Clone)]
enum Choice {
    Named(String),
    Typed(Arc<LearnerEntry>),
    Custom(CustomLoss),
    Gradients(CustomGradients),
}

#[derive(Clone)]
enum MetricChoice {
    Named(String, Conventions),
    Custom(Arc<dyn Metric>),
}

impl Recipe {
    fn with_learner(learner: Choice) -> Recipe {
        let metric = MetricChoice::Named(METRIC.into(), Conventions::default());
        Recipe { learner, parameters: Table::new(), normalizer: None, metric, seed: SEED }
    }

    /// The learner called `name`, with its default parameters.
    pub fn new(name: &str) -> Recipe {
        Recipe::with_learner(Choice::Named(name.into()))
    }

    /// A learner that is a loss, with these parameters and its default scorer.
    pub fn of_loss<L: LossLearner>(learner: L) -> Recipe {
        let recipe = Recipe::with_learner(Choice::Typed(Arc::new(LearnerEntry::of_loss::<L>())));
        recipe.set_all(table_of(&learner))
    }

    /// A learner that is a method of its own, with these parameters.
    pub fn of<L: Learner>(learner: L) -> Recipe {
        let recipe = Recipe::with_learner(Choice::Typed(Arc::new(LearnerEntry::of::<L>())));
        recipe.set_all(table_of(&learner))
    }

    /// A loss of the caller's own; a linear scorer unless another is named.
    pub fn custom(loss: CustomLoss) -> Recipe {
        Recipe::with_learner(Choice::Custom(loss))
    }

    /// Gradients of the caller's own, which boosted trees follow.
    pub fn custom_gradients(gradients: CustomGradients) -> Recipe {
        Recipe::with_learner(Choice::Gradients(gradients))
    }

    /// The same with other gradients of the caller's own.
    pub fn with_gradients(mut self, gradients: CustomGradients) -> Recipe {
        self.learner = Choice::Gradients(gradients);
        self
    }

    /// The scorer called `name`: `linear`, `trees` or `network`.
    pub fn scorer(self, name: &str) -> Recipe {
        self.set("scorer", name)
    }

    /// A scorer with all its parameters.
    pub fn with_scorer(self, scorer: &Scorer) -> Recipe {
        self.scorer(scorer.kind().name()).set_all(scorer.parameters())
    }

    /// Sets a parameter of the learner or its scorer, by any of its names.
    pub fn set(mut self, name: &str, value: impl Into<Value>) -> Recipe {
        self.parameters.insert(name.into(), value.into());
        self
    }

    /// Sets all parameters of a table.
    pub fn set_all(mut self, table: Table) -> Recipe {
        self.parameters.extend(table);
        self
    }

    /// Sets exactly the parameters of a table, and none of those set before.
    pub fn set_only(mut self, table: Table) -> Recipe {
        self.parameters = table;
        self
    }

    /// Normalises features per query before training and before scoring.
    pub fn normalizer(mut self, normalizer: Option<Normalizer>) -> Recipe {
        self.normalizer = normalizer;
        self
    }

    /// The metric to choose by, and to optimise where the learner can; `ndcg@10` unless given.
    pub fn metric(mut self, name: &str) -> Recipe {
        let conventions = match self.metric {
            MetricChoice::Named(_, conventions) => conventions,
            MetricChoice::Custom(_) => Conventions::default(),
        };
        self.metric = MetricChoice::Named(name.into(), conventions);
        self
    }

    /// The conventions of the metric.
    pub fn conventions(mut self, conventions: Conventions) -> Recipe {
        if let MetricChoice::Named(_, current) = &mut self.metric {
            *current = conventions;
        }
        self
    }

    /// A metric of the caller's own.
    pub fn custom_metric(mut self, metric: Arc<dyn Metric>) -> Recipe {
        self.metric = MetricChoice::Custom(metric);
        self
    }

    /// The seed of all random choices; 1 unless given.
    pub fn seed(mut self, seed: u64) -> Recipe {
        self.seed = seed;
        self
    }

    /// Checks names and values and fills in the defaults: the one path from a recipe to training.
    pub fn check(&self) -> Result<Trainer> {
        let (learner, configured) = match &self.learner {
            Choice::Named(name) => configure(learners::find(name)?, &self.parameters)?,
            Choice::Typed(entry) => configure(entry, &self.parameters)?,
            Choice::Custom(loss) => {
                let mut given = self.parameters.clone();
                let scorer = take_scorer(&mut given)?.unwrap_or(ScorerKind::Linear);
                (own_card(&loss.name), loss.configure(scorer, &given)?)
            }
            Choice::Gradients(gradients) => {
                let mut given = self.parameters.clone();
                let scorer = take_scorer(&mut given)?;
                (own_card(&gradients.name), gradients.configure(scorer, &given)?)
            }
        };
        let metric: Arc<dyn Metric> = match &self.metric {
            MetricChoice::Named(name, conventions) => metrics::parse(name, conventions)?.into(),
            MetricChoice::Custom(metric) => metric.clone(),
        };
        let normalizer = self.normalizer.clone();
        Ok(Trainer { learner, configured: Arc::new(configured), normalizer, metric, seed: self.seed })
    }

    /// Trains a ranker. `valid` holds validation queries for early stopping and model selection; `start` may
    /// name a model to continue from and a checkpoint; `watch` receives progress and can ask to stop.
    pub fn fit(
        &self,
        train: &Dataset,
        valid: Option<&Dataset>,
        start: Start<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Ranker> {
        self.check()?.fit(train, valid, start, watch)
    }
}

/// The card of a caller's own learner.
fn own_card(name: &str) -> LearnerCard {
    LearnerCard { name: name.into(), title: name.into(), citations: Vec::new() }
}

fn configure(entry: &LearnerEntry, given: &Table) -> Result<(LearnerCard, Configured)> {
    Ok(((&entry.card).into(), entry.configure(given)?))
}

/// What training continues from.
#[derive(Debug, Clone, Copy, Default)]
pub struct Start<'a> {
    /// A ranker to continue from, for boosted trees.
    pub ranker: Option<&'a Ranker>,
    /// File that keeps the state of training, so that it can resume after being killed; for boosted trees.
    pub checkpoint: Option<&'a Checkpoint>,
}

/// A recipe whose names and values are complete and have been checked.
#[derive(Clone)]
pub struct Trainer {
    learner: LearnerCard,
    configured: Arc<Configured>,
    normalizer: Option<Normalizer>,
    metric: Arc<dyn Metric>,
    seed: u64,
}

impl Trainer {
    /// The learner's name.
    pub fn learner(&self) -> &str {
        &self.learner.name
    }

    /// All parameters, defaults included, by their canonical names.
    pub fn parameters(&self) -> &Table {
        &self.configured.parameters
    }

    /// The scorer, for learners that are a loss.
    pub fn scorer(&self) -> Option<ScorerKind> {
        self.configured.scorer
    }

    /// Rejects a learner that cannot be trained on data that is divided among workers.
    pub fn check_distributes(&self) -> Result<()> {
        if self.configured.distributes {
            return Ok(());
        }
        let scorer = self.scorer().map_or(String::new(), |kind| format!(" with scorer {}", kind.name()));
        Err(Error::parameter(format!(
            "`{}`{scorer} cannot be trained on several workers; train it on one machine, or use another learner, such as \
             lambda-mart",
            self.learner.name
        )))
    }

    /// The metric to choose by.
    pub fn metric(&self) -> &dyn Metric {
        &*self.metric
    }

    /// The seed of all random choices.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The same with another seed.
    pub fn with_seed(&self, seed: u64) -> Trainer {
        Trainer { seed, ..self.clone() }
    }

    /// The same with another normalizer, for data that went through it already.
    pub(crate) fn with_normalizer(&self, normalizer: Option<Normalizer>) -> Trainer {
        Trainer { normalizer, ..self.clone() }
    }

    /// The loss that is minimised, for learners that are a loss.
    pub fn loss(&self, train: &Dataset) -> Result<Option<LossKind>> {
        self.configured.loss(train)
    }

    /// The data as the learner sees it: normalised if the recipe has a normalizer.
    pub fn prepare(&self, data: Dataset) -> Result<Dataset> {
        match &self.normalizer {
            Some(normalizer) => normalizer.apply(data),
            None => Ok(data),
        }
    }

    /// Trains a ranker; see [`Recipe::fit`].
    pub fn fit(
        &self,
        train: &Dataset,
        valid: Option<&Dataset>,
        start: Start<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Ranker> {
        let has_same_columns =
            |valid: &Dataset| valid.width() == train.width() && valid.columns() == train.columns();
        if self.normalizer.is_none() && valid.is_none_or(has_same_columns) {
            return self.fit_prepared(train, valid, start, watch);
        }
        let both = std::iter::once(train).chain(valid).cloned().collect();
        let mut prepared = Dataset::align_columns(both)?.into_iter().map(|data| self.prepare(data));
        let train = prepared.next().expect("the training data")?;
        let valid = prepared.next().transpose()?;
        self.fit_prepared(&train, valid.as_ref(), start, watch)
    }

    /// Trains a ranker on data that went through [`prepare`](Trainer::prepare), without another copy of it.
    pub fn fit_prepared(
        &self,
        train: &Dataset,
        valid: Option<&Dataset>,
        start: Start<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Ranker> {
        check_data(train, valid)?;
        self.check_clicks(train)?;
        check_relevance_of(train, &*self.metric)?;
        let (trainer, note) = self.for_labels(train)?;
        self.check_categories(train)?;
        let mut ranker = match train.exchange() {
            // Workers code categories and sort queries when they load their data.
            Some(_) => trainer.fit_checked(train, valid, start, watch)?,
            None => trainer.fit_sorted(train, valid, start, watch)?,
        };
        ranker.record.notes.splice(..0, note);
        Ok(ranker)
    }

    /// Trains on data with the categories that it has, and in an order that does not depend on that of the file.
    fn fit_sorted(
        &self,
        train: &Dataset,
        valid: Option<&Dataset>,
        start: Start<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Ranker> {
        let own = match start.ranker {
            Some(ranker) => train.in_codes(&ranker.columns.categories)?,
            None => train.with_own_categories()?,
        };
        let codes = &own.columns().categories;
        let valid = valid.map(|valid| valid.in_codes(codes)).transpose()?;
        // What learners draw, divide or hold out by the number of a query must not depend on the order of the file.
        let (train, valid) = (own.by_query_id(), valid.as_deref().map(Dataset::by_query_id));
        self.fit_checked(&train, valid.as_deref(), start, watch)
    }

    fn fit_checked(
        &self,
        train: &Dataset,
        valid: Option<&Dataset>,
        start: Start<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Ranker> {
        self.check_start(&start, train)?;
        let data = train.fingerprint();
        // Only the driver has a checkpoint, but all workers are asked for the fingerprint.
        let needed = start.checkpoint.is_some() || train.exchange().is_some();
        let fingerprint = needed.then(|| self.fingerprint(&data, valid, start.ranker));
        let checkpoint = start.checkpoint.zip(fingerprint.as_deref());
        let task = Task {
            valid,
            start: start.ranker.map(|ranker| &ranker.model),
            checkpoint: checkpoint
                .map(|(checkpoint, fingerprint)| FingerprintedCheckpoint { checkpoint, fingerprint }),
            ..Task::new(train, &*self.metric, self.seed)
        };
        let mut fitted = self.configured.train(&task, watch)?;
        let undefined = |valid: &Dataset| {
            let metric = MetricOfLabels::of(valid, &*self.metric);
            valid.all(|| valid.queries().all(|q| metric.is_undefined(q.labels())))
        };
        if valid.is_some_and(undefined) {
            let metric = self.metric.name();
            fitted.record.notes.push(format!(
                "{metric} is undefined for every validation query, so nothing was chosen by them"
            ));
        }
        fitted.record.notes.extend(self.constant_note(&fitted.model, train)?);
        fitted.record.notes.extend(self.click_note(train, valid));
        self.ranker(fitted, train, data)
    }

    /// Trains one model per C of `cs`, each starting from the solutions before; ascending C are fastest.
    /// Fails if the learner has no regularization path.
    pub fn path(&self, cs: &[f64], train: &Dataset, watch: &mut dyn Watch) -> Result<RegularizationPath> {
        check_data(train, None)?;
        self.check_clicks(train)?;
        self.check_path(cs)?;
        self.check_categories(train)?;
        let (trainer, _) = self.for_labels(train)?;
        let train = train.by_query_id();
        let task = Task::new(&train, &*self.metric, self.seed);
        trainer.configured.path(cs, &task, watch)?.ok_or_else(|| self.no_path())
    }

    /// Rejects a learner without a regularization path, or a C out of range.
    pub fn check_path(&self, cs: &[f64]) -> Result<()> {
        if !self.configured.has_path() {
            return Err(self.no_path());
        }
        match cs.iter().find(|c| !(**c > 0.0 && c.is_finite())) {
            Some(c) => Err(Error::parameter(format!("c is {c}; it must be finite and above 0"))),
            None => Ok(()),
        }
    }

    fn no_path(&self) -> Error {
        let (name, able) = (&self.learner.name, learners::names_with_path().join(", "));
        Error::parameter(format!("{name} has no path along C; learners that have one: {able}"))
    }

    fn ranker(&self, fitted: Fitted, train: &Dataset, data: String) -> Result<Ranker> {
        let provenance = Provenance {
            learner: self.learner.clone(),
            scorer: self.scorer().map(|kind| kind.name().into()),
            parameters: self.configured.parameters.clone(),
            metric: self.metric.name(),
            conventions: self.metric.conventions().clone(),
            seed: self.seed,
            data: Some(data),
            clicks: train.click_labels().cloned(),
            version: Some(Ranker::CURRENT_VERSION.into()),
            record: fitted.record,
        };
        Ranker::new(fitted.model, train.columns().clone(), self.normalizer.clone(), provenance)
    }

    /// Rejects categorical features that the learner would take for numbers.
    fn check_categories(&self, train: &Dataset) -> Result<()> {
        if self.configured.takes_categories || !train.has_categories() {
            return Ok(());
        }
        let names: Vec<String> =
            train.columns().categories.columns().map(|column| train.columns().name(column)).collect();
        let learner = match self.scorer() {
            Some(kind) => format!("{} with scorer {}", self.learner.name, kind.name()),
            None => self.learner.name.clone(),
        };
        Err(Error::parameter(format!(
            "{learner} does not learn from categorical features, and the data has {}: use boosted trees or a random \
             forest, or give the learner a feature of 0 and 1 for each category",
            names.join(", ")
        )))
    }

    /// Rejects a start that does not fit the learner or the data.
    fn check_start(&self, start: &Start<'_>, train: &Dataset) -> Result<()> {
        if start.ranker.is_none() && start.checkpoint.is_none() {
            return Ok(());
        }
        if !self.configured.continues {
            let scorer = self.scorer().map_or(String::new(), |kind| format!(" with scorer {}", kind.name()));
            return Err(Error::parameter(format!(
                "{}{scorer} cannot start from a model or keep a checkpoint; boosted trees can",
                self.learner.name
            )));
        }
        let Some(ranker) = start.ranker else { return Ok(()) };
        if ranker.normalizer != self.normalizer {
            let before = ranker.normalizer.as_ref().map_or("none".into(), |n| format!("`{n}`"));
            return Err(Error::parameter(format!(
                "the model to start from was trained with another normalisation ({before}); use the same one"
            )));
        }
        if ranker.columns.names != train.columns().names {
            return Err(Error::parameter(
                "the model to start from and the training data do not have the same feature columns",
            ));
        }
        ranker.check_first_id(train)
    }

    /// Fingerprint of learner, parameters and data: equal if two trainings end with the same model.
    fn fingerprint(&self, train: &str, valid: Option<&Dataset>, start: Option<&Ranker>) -> String {
        let start = start.map(|r| serde_json::to_vec(&r.model).expect("a model is plain data"));
        let conventions = serde_json::to_string(self.metric.conventions()).expect("plain data");
        [
            self.learner.name.clone(),
            self.configured.parameters.to_string(),
            self.seed.to_string(),
            self.metric.name(),
            conventions,
            train.to_owned(),
            valid.map_or(String::new(), Dataset::fingerprint),
            start.map_or(String::new(), |bytes| checksum(&bytes)),
        ]
        .join("|")
    }
}

/// Rejects data from which nothing can be learned.
fn check_data(train: &Dataset, valid: Option<&Dataset>) -> Result<()> {
    if train.whole().documents == 0 {
        return Err(Error::data("there are no training documents"));
    }
    if train.width() == 0 {
        return Err(Error::data("the training data has no features"));
    }
    if train.all(|| train.queries().all(|q| q.weight() == 0.0)) {
        return Err(Error::data("every training query has weight 0"));
    }
    match valid {
        Some(valid) if valid.width() > train.width() => Err(Error::data(format!(
            "the validation data has {} features, the training data only {}",
            valid.width(),
            train.width()
        ))),
        _ => Ok(()),
    }
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Choice::Named(name) => name,
            Choice::Typed(entry) => entry.card.name,
            Choice::Custom(loss) => &loss.name,
            Choice::Gradients(gradients) => &gradients.name,
        })
    }
}

impl fmt::Debug for MetricChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MetricChoice::Named(name, _) => f.write_str(name),
            MetricChoice::Custom(metric) => f.write_str(&metric.name()),
        }
    }
}
