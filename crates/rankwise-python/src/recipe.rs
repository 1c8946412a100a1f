//! Recipes: what to learn and how.

use crate::convert::{conventions, table, to_json, to_python};
use crate::custom::{Failure, PythonMetric, gradients, name_of};
use crate::data::Data;
use crate::errors::exception;
use crate::ranker::Ranker;
use crate::work;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankwise::data::Normalizer;
use rankwise::learners::boosting::Checkpoint;
use rankwise::metrics::{self, Metric};
use rankwise::models::Outcome;
use rankwise::recipe::{Start, Trainer};
use std::path::PathBuf;
use std::sync::Arc;
use toml::Value;

/// What to learn and how: a learner with its parameters and scorer, a metric, a normalisation and a seed.
///
/// A metric may be a function `metric(scores, labels, bounds)` that returns one value per query, NaN where it is undefined. An
/// objective is a function `objective(scores, labels, bounds)` that returns the gradient and the curvature of each score, for
/// boosted trees. Both get all queries at once, in the order of their ids: query `q` has the documents from `bounds[q]` to
/// `bounds[q + 1]`.
///
/// Args:
///     learner: The name of a learner; `rankwise.learners()` lists them.
///     objective: A function in place of a learner.
///     scorer: How scores depend on features: `linear`, `trees` or `network`; the learner's own by default.
///     metric: The metric to choose by, and to optimise where the learner can.
///     preset: Whose conventions the metric follows, such as `trec` or `lightgbm`.
///     conventions: Changes to the preset.
///     normalize: Normalise features per query: `min-max`, `z-score`, `log`, or several separated by commas.
///     seed: The seed of all random choices.
///     parameters: The learner's parameters, also by their names in LightGBM, XGBoost, CatBoost and RankLib.
///
/// ```text
/// >>> import rankwise as rw
/// >>> recipe = rw.Recipe("lambda-mart", metric="ndcg@5", n_estimators=50, num_leaves=8)
/// >>> recipe.learner, recipe.metric, recipe.parameters["iterations"]
/// ('lambda-mart', 'ndcg@5', 50)
///
/// ```
#[pyclass(frozen, module = "rankwise", name = "Recipe", skip_from_py_object)]
pub(crate) struct Recipe {
    /// All but the functions.
    recipe: rankwise::Recipe,
    objective: Option<Py<PyAny>>,
    metric: Option<Py<PyAny>>,
    /// The complete recipe, to look at.
    trainer: Trainer,
}

#[pymethods]
impl Recipe {
    #[new]
    #[pyo3(signature = (learner=None, *, objective=None, scorer=None, metric=None, preset="default", conventions=None, normalize=None, seed=1, **parameters))]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn new(
        py: Python<'_>,
        learner: Option<&str>,
        objective: Option<Py<PyAny>>,
        scorer: Option<&str>,
        metric: Option<&Bound<'_, PyAny>>,
        preset: &str,
        conventions: Option<&Bound<'_, PyDict>>,
        normalize: Option<&str>,
        seed: u64,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Recipe> {
        let mut recipe = match (learner, &objective) {
            (Some(learner), None) => rankwise::Recipe::new(learner),
            (None, Some(objective)) => {
                rankwise::Recipe::custom_gradients(gradients(objective.bind(py), Failure::default()))
            }
            _ => {
                return Err(PyValueError::new_err(
                    "a recipe has a learner's name or an objective, and not both",
                ));
            }
        };
        let (name, own) = match metric {
            Some(metric) if metric.is_callable() => (None, Some(metric.clone().unbind())),
            Some(metric) => (Some(metric.extract::<String>()?), None),
            None => (None, None),
        };
        let normalizer = normalize.map(Normalizer::parse).transpose().map_err(exception)?;
        recipe =
            recipe.conventions(self::conventions(preset, conventions)?).normalizer(normalizer).seed(seed);
        if let Some(name) = &name {
            recipe = recipe.metric(name);
        }
        if let Some(parameters) = parameters {
            recipe = recipe.set_all(table(parameters)?);
        }
        if let Some(scorer) = scorer {
            recipe = recipe.scorer(scorer);
        }
        let trainer = recipe.check().map_err(exception)?;
        Ok(Recipe { recipe, objective, metric: own, trainer })
    }

    /// Trains a ranker. `valid` has validation queries, by which learners stop early or choose. Callbacks get a `Progress`
    /// after each step; one that returns `True` ends training with the model so far.
    ///
    /// Args:
    ///     data: The training data.
    ///     valid: Validation data.
    ///     start: A model of boosted trees to add trees to.
    ///     checkpoint: A file that keeps the state of training, from which the same call resumes after a crash.
    ///     checkpoint_every: How many iterations are between two checkpoints.
    ///     callbacks: Functions of a `Progress`.
    ///     n_jobs: The number of threads; all cores by default. It changes no result.
    ///
    /// ```text
    /// >>> import rankwise as rw
    /// >>> data = rw.Data([[0.2, 3], [0.9, 1], [0.4, 2], [0.1, 2]], y=[0, 2, 1, 0], qid=[1, 1, 2, 2])
    /// >>> steps = []
    /// >>> ranker = rw.Recipe("rank-net", scorer="trees", iterations=3, min_data_in_leaf=1).fit(data, callbacks=[steps.append])
    /// >>> [step.iteration for step in steps]
    /// [1, 2, 3]
    ///
    /// ```
    #[pyo3(signature = (data, valid=None, *, start=None, checkpoint=None, checkpoint_every=10, callbacks=Vec::new(), n_jobs=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn fit(
        &self,
        py: Python<'_>,
        data: &Bound<'_, Data>,
        valid: Option<&Bound<'_, Data>>,
        start: Option<&Bound<'_, Ranker>>,
        checkpoint: Option<PathBuf>,
        checkpoint_every: u64,
        callbacks: Vec<Bound<'_, PyAny>>,
        n_jobs: Option<i64>,
    ) -> PyResult<Ranker> {
        let failure = Failure::default();
        let trainer = self.trainer(py, &failure)?;
        let train = data.get().labelled()?.clone();
        let valid = valid.map(|valid| valid.get().labelled().cloned()).transpose()?;
        let before = start.map(|ranker| ranker.get().ranker.clone());
        let checkpoint = checkpoint.map(|path| Checkpoint { path, every: checkpoint_every });
        let (ranker, history) = work::attended(py, n_jobs, &callbacks, &failure, move |watch| {
            let start = Start { ranker: before.as_deref(), checkpoint: checkpoint.as_ref() };
            let ranker = trainer.fit(&train, valid.as_deref(), start, watch)?;
            if let Some(checkpoint) = checkpoint
                && ranker.record.outcome != Outcome::Interrupted
            {
                checkpoint.remove()?;
            }
            Ok(ranker)
        })?;
        work::log(py, "warning", &ranker.record.notes)?;
        Ok(Ranker::new(ranker, history))
    }

    /// The learner's name.
    #[getter]
    fn learner(&self) -> &str {
        self.trainer.learner()
    }

    /// All parameters, defaults included, by their canonical names.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &to_json(&Value::Table(self.trainer.parameters().clone())))
    }

    /// The name of the metric.
    #[getter]
    fn metric(&self, py: Python<'_>) -> String {
        self.metric.as_ref().map_or_else(|| self.trainer.metric().name(), |metric| name_of(metric.bind(py)))
    }

    /// The seed of all random choices.
    #[getter]
    fn seed(&self) -> u64 {
        self.trainer.seed()
    }

    fn __repr__(&self) -> String {
        let parameters = self.trainer.parameters().iter().map(|(name, value)| format!(", {name}={value}"));
        format!("Recipe({:?}{})", self.trainer.learner(), parameters.collect::<String>())
    }
}

impl Recipe {
    /// The complete recipe, checked. Its functions report exceptions to `failure`.
    pub(crate) fn trainer(&self, py: Python<'_>, failure: &Failure) -> PyResult<Trainer> {
        if self.objective.is_none() && self.metric.is_none() {
            return Ok(self.trainer.clone());
        }
        self.complete(py, failure).check().map_err(exception)
    }

    /// The recipe with its functions, which report exceptions to `failure`.
    pub(crate) fn complete(&self, py: Python<'_>, failure: &Failure) -> rankwise::Recipe {
        let mut recipe = self.recipe.clone();
        if let Some(objective) = &self.objective {
            recipe = recipe.with_gradients(gradients(objective.bind(py), failure.clone()));
        }
        if let Some(metric) = &self.metric {
            recipe = recipe.custom_metric(Arc::new(PythonMetric::new(metric.bind(py), failure.clone())));
        }
        recipe
    }

    /// The metric to choose by.
    pub(crate) fn own_metric(&self, py: Python<'_>, failure: &Failure) -> PyResult<Box<dyn Metric>> {
        match &self.metric {
            Some(metric) => Ok(Box::new(PythonMetric::new(metric.bind(py), failure.clone()))),
            None => {
                let metric = self.trainer.metric();
                metrics::parse(&metric.name(), metric.conventions()).map_err(exception)
            }
        }
    }
}
