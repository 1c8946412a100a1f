//! Recipes: what to learn and how.

use crate::convert::{conventions, table, to_json, to_python};
use crate::data::Data;
use crate::errors::exception;
use crate::ranker::Ranker;
use crate::work;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankwise::data::Normalizer;
use rankwise::learners::boosting::Checkpoint;
use rankwise::models;
use rankwise::recipe::{Start, Trainer};
use std::path::PathBuf;
use toml::Value;

/// What to learn and how: a learner with its parameters and scorer, a metric, a normalisation and a seed.
#[pyclass(frozen, module = "rankwise", name = "Recipe", skip_from_py_object)]
pub(crate) struct Recipe {
    pub(crate) recipe: rankwise::Recipe,
    pub(crate) trainer: Trainer,
}

#[pymethods]
impl Recipe {
    #[new]
    #[pyo3(signature = (learner, *, scorer=None, metric="ndcg@10", preset="default", conventions=None, normalize=None, seed=1, **parameters))]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn new(
        learner: &str,
        scorer: Option<&str>,
        metric: &str,
        preset: &str,
        conventions: Option<&Bound<'_, PyDict>>,
        normalize: Option<&str>,
        seed: u64,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Recipe> {
        let normalizer = normalize.map(Normalizer::parse).transpose().map_err(exception)?;
        let mut recipe = rankwise::Recipe::new(learner)
            .metric(metric)
            .conventions(self::conventions(preset, conventions)?)
            .normalizer(normalizer)
            .seed(seed);
        if let Some(parameters) = parameters {
            recipe = recipe.set_all(table(parameters)?);
        }
        if let Some(scorer) = scorer {
            recipe = recipe.scorer(scorer);
        }
        let trainer = recipe.check().map_err(exception)?;
        Ok(Recipe { recipe, trainer })
    }

    /// Trains a ranker.
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
        let trainer = self.trainer.clone();
        let train = data.get().labelled()?.clone();
        let valid = valid.map(|valid| valid.get().labelled().cloned()).transpose()?;
        let before = start.map(|ranker| ranker.get().ranker.clone());
        let checkpoint = checkpoint.map(|path| Checkpoint { path, every: checkpoint_every });
        let (ranker, history) = work::attended(py, n_jobs, &callbacks, move |watch| {
            let start = Start { ranker: before.as_deref(), checkpoint: checkpoint.as_ref() };
            let ranker = trainer.fit(&train, valid.as_deref(), start, watch)?;
            if let Some(checkpoint) = checkpoint
                && ranker.record.outcome != models::Outcome::Interrupted
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

    fn __repr__(&self) -> String {
        let parameters = self.trainer.parameters().iter().map(|(name, value)| format!(", {name}={value}"));
        format!("Recipe({:?}{})", self.trainer.learner(), parameters.collect::<String>())
    }
}
