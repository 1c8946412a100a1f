//! Trained models.

use crate::convert::{conventions, to_json, to_python};
use crate::custom::Failure;
use crate::data::Data;
use crate::errors::exception;
use crate::work::{self, Moment};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rankwise::data::AtomicFile;
use rankwise::distributed::Traffic;
use rankwise::metrics;
use rankwise::models;
use rankwise::models::insight::{Explainer, Permutation, splits};
use rankwise::models::interchange::{Format, export, export_named};
use serde_json::Map;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use toml::Value;

/// A trained model with everything it needs to score documents and to be trained again.
///
/// ```text
/// >>> import rankwise as rw
/// >>> data = rw.Data([[0.2, 3], [0.9, 1], [0.4, 2], [0.1, 2]], y=[0, 2, 1, 0], qid=[1, 1, 2, 2])
/// >>> ranker = rw.Recipe("list-net").fit(data)
/// >>> ranker
/// <rankwise.Ranker: list-net with 2 features>
/// >>> ranker.metric, ranker.n_features
/// ('ndcg@10', 2)
///
/// ```
#[pyclass(frozen, module = "rankwise", name = "Ranker", skip_from_py_object)]
pub(crate) struct Ranker {
    pub(crate) ranker: Arc<models::Ranker>,
    history: Vec<Moment>,
    traffic: Option<Traffic>,
}

impl Ranker {
    pub(crate) fn new(ranker: models::Ranker, history: Vec<Moment>) -> Ranker {
        Ranker { ranker: Arc::new(ranker), history, traffic: None }
    }

    /// A ranker that was trained on several workers.
    pub(crate) fn with_traffic(self, traffic: Traffic) -> Ranker {
        Ranker { traffic: Some(traffic), ..self }
    }

    /// What Python gave to score: a `Data`, or features.
    fn data<'py>(
        &self,
        container: &Bound<'py, PyAny>,
        qid: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Py<Data>> {
        if qid.is_none() && !container.is_instance_of::<Data>() && self.ranker.scales_within_queries() {
            return Err(PyValueError::new_err(
                "the model scales features within each query, and there are no queries here; give qid",
            ));
        }
        Data::of(container, qid)
    }
}

#[pymethods]
impl Ranker {
    /// One score per row of features, or per document of a `Data`.
    ///
    /// ```text
    /// >>> import rankwise as rw
    /// >>> data = rw.Data([[0.2, 3], [0.9, 1], [0.4, 2], [0.1, 2]], y=[0, 2, 1, 0], qid=[1, 1, 2, 2])
    /// >>> ranker = rw.Recipe("list-net").fit(data)
    /// >>> low, high = ranker.score([[0.1, 3], [0.9, 1]])
    /// >>> bool(low < high)
    /// True
    ///
    /// ```
    #[pyo3(signature = (X, *, qid=None, n_jobs=None))]
    #[expect(non_snake_case, reason = "scikit-learn's name for features")]
    fn score<'py>(
        &self,
        X: &Bound<'py, PyAny>,
        qid: Option<&Bound<'py, PyAny>>,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let data = self.data(X, qid)?;
        let data = data.get();
        let dataset = data.for_model(&self.ranker)?;
        let scores = work::unattended(X.py(), n_jobs, || self.ranker.score(&dataset))?;
        Ok(data.in_given_order(scores.map_err(exception)?).into_pyarray(X.py()))
    }

    /// The mean of the model's own metric over the queries, for the scores of a `Data`.
    ///
    /// ```text
    /// >>> import rankwise as rw
    /// >>> data = rw.Data([[0.2, 3], [0.9, 1], [0.4, 2], [0.1, 2]], y=[0, 2, 1, 0], qid=[1, 1, 2, 2])
    /// >>> ranker = rw.Recipe("list-net").fit(data)
    /// >>> ranker.evaluate(data, ranker.score(data))
    /// 1.0
    ///
    /// ```
    fn evaluate(&self, data: &Bound<'_, Data>, scores: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let metric = metrics::parse(&self.ranker.metric, &self.ranker.conventions).map_err(exception)?;
        let dataset = data.get().labelled()?;
        let scores = data.get().scores_in_data_order("scores", scores)?;
        let evaluated = work::unattended(data.py(), None, || metrics::evaluate(dataset, &scores, &[metric]))?;
        Ok(evaluated.map_err(exception)?.mean(0))
    }

    /// The grade predicted for each row, for models that predict grades.
    ///
    /// ```text
    /// >>> import rankwise as rw
    /// >>> data = rw.Data([[0.2, 3], [0.9, 1], [0.4, 2], [0.1, 2]], y=[0, 2, 1, 0], qid=[1, 1, 2, 2])
    /// >>> rw.Recipe("prank").fit(data).grades(data).shape
    /// (4,)
    ///
    /// ```
    #[pyo3(signature = (X, *, qid=None, n_jobs=None))]
    #[expect(non_snake_case, reason = "scikit-learn's name for features")]
    fn grades<'py>(
        &self,
        X: &Bound<'py, PyAny>,
        qid: Option<&Bound<'py, PyAny>>,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let data = self.data(X, qid)?;
        let data = data.get();
        let dataset = data.for_model(&self.ranker)?;
        let grades = work::unattended(X.py(), n_jobs, || self.ranker.grades(&dataset))?;
        Ok(data.in_given_order(grades.map_err(exception)?).into_pyarray(X.py()))
    }

    /// What each feature contributes to the score of each row, and the score before any feature is known. Contributions and
    /// that base sum to the score. For trees they are Shapley values.
    ///
    /// ```text
    /// >>> import rankwise as rw
    /// >>> data = rw.Data([[0.2, 3], [0.9, 1], [0.4, 2], [0.1, 2]], y=[0, 2, 1, 0], qid=[1, 1, 2, 2])
    /// >>> ranker = rw.Recipe("list-net").fit(data)
    /// >>> values, base = ranker.contributions(data)
    /// >>> bool(abs(values.sum(axis=1) + base - ranker.score(data)).max() < 1e-12)
    /// True
    ///
    /// ```
    #[pyo3(signature = (X, *, qid=None, n_jobs=None))]
    #[expect(non_snake_case, reason = "scikit-learn's name for features")]
    fn contributions<'py>(
        &self,
        X: &Bound<'py, PyAny>,
        qid: Option<&Bound<'py, PyAny>>,
        n_jobs: Option<i64>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, f64)> {
        let data = self.data(X, qid)?;
        let data = data.get();
        let (ranker, dataset) = (self.ranker.clone(), data.for_model(&self.ranker)?);
        let ((flat, base), _) = work::attended(X.py(), n_jobs, &[], &Failure::default(), move |watch| {
            let prepared = ranker.prepare(&dataset)?;
            let explainer = Explainer::new(&ranker.model)?;
            let mut flat = Vec::with_capacity(prepared.len() * explainer.width());
            let documents: Vec<usize> = (0..prepared.len()).collect();
            explainer.contributions_by_block(&prepared, &documents, watch, |_, rows| {
                rows.into_iter().for_each(|row| flat.extend(row));
                Ok(())
            })?;
            Ok((flat, explainer.base()))
        })?;
        let width = self.ranker.model.width();
        let given = match data.order() {
            None => flat,
            Some(order) => {
                let mut given = vec![0.0; flat.len()];
                for (place, &row) in order.iter().enumerate() {
                    given[row * width..(row + 1) * width]
                        .copy_from_slice(&flat[place * width..(place + 1) * width]);
                }
                given
            }
        };
        let rows = data.dataset.len();
        Ok((given.into_pyarray(X.py()).reshape([rows, width])?, base))
    }

    /// How far a metric drops when each feature is shuffled: the mean drops and their standard deviations.
    ///
    /// ```text
    /// >>> import rankwise as rw
    /// >>> data = rw.Data([[0.2, 3], [0.9, 1], [0.4, 2], [0.1, 2]], y=[0, 2, 1, 0], qid=[1, 1, 2, 2])
    /// >>> ranker = rw.Recipe("list-net").fit(data)
    /// >>> drops, deviations = ranker.permutation_importance(data, "ndcg@10")
    /// >>> drops.shape
    /// (2,)
    ///
    /// ```
    #[expect(clippy::type_complexity, reason = "two arrays")]
    #[pyo3(signature = (data, metric="ndcg@10", *, preset="default", conventions=None, repeats=5, seed=1, n_jobs=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn permutation_importance<'py>(
        &self,
        data: &Bound<'py, Data>,
        metric: &str,
        preset: &str,
        conventions: Option<&Bound<'_, PyDict>>,
        repeats: usize,
        seed: u64,
        n_jobs: Option<i64>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let py = data.py();
        let metric = metrics::parse(metric, &self::conventions(preset, conventions)?).map_err(exception)?;
        data.get().labelled()?;
        let (ranker, dataset) = (self.ranker.clone(), data.get().for_model(&self.ranker)?);
        let (found, _) = work::attended(py, n_jobs, &[], &Failure::default(), move |watch| {
            let prepared = ranker.prepare(&dataset)?;
            Permutation { metric, repeats, seed }.importance(&ranker.model, &prepared, watch)
        })?;
        let means: Vec<f64> = found.drops.iter().map(|drop| drop.mean).collect();
        let deviations: Vec<f64> =
            found.drops.iter().map(|drop| drop.deviation.unwrap_or(f64::NAN)).collect();
        Ok((means.into_pyarray(py), deviations.into_pyarray(py)))
    }

    /// The importance of each feature in the model itself: the total gain of its splits in trees, the absolute weight in a
    /// linear model. `None` for a network.
    #[getter]
    fn feature_importances<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        let importances: Vec<f64> = match &self.ranker.model {
            models::Model::Linear(linear) => linear.weights.iter().map(|w| w.abs()).collect(),
            models::Model::Ordinal(ordinal) => ordinal.weights.iter().map(|w| w.abs()).collect(),
            model => splits(model)?.iter().map(|splits| splits.gain).collect(),
        };
        Some(importances.into_pyarray(py))
    }

    /// The number of splits of each feature in trees; `None` for other models.
    #[getter]
    fn split_counts<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<u64>>> {
        let counts: Vec<u64> = splits(&self.ranker.model)?.iter().map(|splits| splits.count).collect();
        Some(counts.into_pyarray(py))
    }

    /// Writes the model to a file; `.zst` in the name compresses it.
    ///
    /// ```text
    /// >>> import pathlib, tempfile
    /// >>> import rankwise as rw
    /// >>> data = rw.Data([[0.2, 3], [0.9, 1], [0.4, 2], [0.1, 2]], y=[0, 2, 1, 0], qid=[1, 1, 2, 2])
    /// >>> ranker = rw.Recipe("list-net").fit(data)
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    /// >>> ranker.save(path)
    /// >>> rw.load(path).learner
    /// 'list-net'
    ///
    /// ```
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.ranker.save(&path)).map_err(exception)
    }

    /// Writes the model for another tool or a search engine. Without a format, the file's extension decides. Returns notes
    /// on what differs there.
    ///
    /// ```text
    /// >>> import pathlib, tempfile
    /// >>> import rankwise as rw
    /// >>> data = rw.Data([[0.2, 3], [0.9, 1], [0.4, 2], [0.1, 2]], y=[0, 2, 1, 0], qid=[1, 1, 2, 2])
    /// >>> ranker = rw.Recipe("list-net").fit(data)
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.onnx"
    /// >>> notes = ranker.export(path)
    /// >>> path.exists()
    /// True
    ///
    /// ```
    #[pyo3(signature = (path, format=None, *, name=None))]
    fn export(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        name: Option<&str>,
    ) -> PyResult<Vec<String>> {
        let format = format.map_or_else(|| Format::of_path(&path), Format::parse).map_err(exception)?;
        let write = || {
            let exported = match name {
                Some(name) => export_named(&self.ranker, format, name)?,
                None => export(&self.ranker, format)?,
            };
            let mut file = AtomicFile::create(&path)?;
            file.write_all(&exported.bytes).map_err(|e| rankwise::Error::io("write", &path, e))?;
            file.commit()?;
            Ok(exported.notes)
        };
        py.detach(write).map_err(exception)
    }

    /// The model file's content.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.ranker.to_bytes())
    }

    /// The model of a file's content: of Rankwise, LightGBM, XGBoost, CatBoost or RankLib.
    ///
    /// ```text
    /// >>> import rankwise as rw
    /// >>> data = rw.Data([[0.2, 3], [0.9, 1], [0.4, 2], [0.1, 2]], y=[0, 2, 1, 0], qid=[1, 1, 2, 2])
    /// >>> ranker = rw.Recipe("list-net").fit(data)
    /// >>> again = rw.Ranker.from_bytes(ranker.to_bytes())
    /// >>> bool((again.score(data) == ranker.score(data)).all())
    /// True
    ///
    /// ```
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Ranker> {
        Ok(Ranker::new(models::Ranker::from_bytes(bytes).map_err(exception)?, Vec::new()))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Ranker>().getattr("from_bytes")?, (self.to_bytes(py),)))
    }

    /// The name of the learner that trained it.
    #[getter]
    fn learner(&self) -> &str {
        &self.ranker.learner.name
    }

    /// How scores depend on features: linear, trees or network; `None` for methods of their own.
    #[getter]
    fn scorer(&self) -> Option<&str> {
        self.ranker.scorer.as_deref()
    }

    /// All parameters of the learner.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &to_json(&Value::Table(self.ranker.parameters.clone())))
    }

    /// The metric that training optimised or chose by.
    #[getter]
    fn metric(&self) -> &str {
        &self.ranker.metric
    }

    /// The seed of all random choices.
    #[getter]
    fn seed(&self) -> u64 {
        self.ranker.seed
    }

    /// The number of features.
    #[getter]
    fn n_features(&self) -> usize {
        self.ranker.model.width()
    }

    /// The names of the features, if they have any.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.ranker.columns.names.clone()
    }

    /// Whether it scales features within each query, so that scoring needs `qid`.
    #[getter]
    fn scales_within_queries(&self) -> bool {
        self.ranker.scales_within_queries()
    }

    /// The weights of a linear model; `None` for other models.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        match &self.ranker.model {
            models::Model::Linear(linear) => Some(linear.weights.clone().into_pyarray(py)),
            models::Model::Ordinal(ordinal) => Some(ordinal.weights.clone().into_pyarray(py)),
            _ => None,
        }
    }

    /// How training went: its outcome, iterations, figures and notes.
    #[getter]
    fn record<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let record = &self.ranker.record;
        let json = serde_json::json!({
            "outcome": record.outcome,
            "iterations": record.rounds,
            "figures": record.figures.iter().map(|(name, value)| (name.clone(), (*value).into())).collect::<Map<_, _>>(),
            "notes": record.notes,
        });
        to_python(py, &json)
    }

    /// The values of each step of training by name, such as `ndcg@10 (valid)`; empty for a model from a file.
    #[getter]
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let history = PyDict::new(py);
        for (name, _, value) in &self.history {
            match history.get_item(name)? {
                Some(values) => values.call_method1("append", (value,))?,
                None => {
                    history.set_item(name, vec![*value])?;
                    continue;
                }
            };
        }
        Ok(history)
    }

    /// What `rankwise.distributed.train` exchanged with the workers: the number of questions to them, bytes sent and
    /// received, and how often a worker was lost. `None` for a model that was trained in another way or read from a file.
    #[getter]
    fn traffic<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(traffic) = self.traffic else { return Ok(None) };
        let counts = [
            ("questions", traffic.questions),
            ("sent", traffic.sent),
            ("received", traffic.received),
            ("losses", traffic.losses),
        ];
        let found = PyDict::new(py);
        counts.into_iter().try_for_each(|(name, count)| found.set_item(name, count))?;
        Ok(Some(found))
    }

    fn __repr__(&self) -> String {
        format!("<rankwise.Ranker: {} with {} features>", self.ranker.learner.name, self.ranker.model.width())
    }
}

/// Reads a model: of Rankwise, LightGBM (text), XGBoost (JSON, UBJSON), CatBoost (JSON) or RankLib, plain or compressed.
///
/// ```text
/// >>> import pathlib, tempfile
/// >>> import rankwise as rw
/// >>> data = rw.Data([[0.2, 3], [0.9, 1], [0.4, 2], [0.1, 2]], y=[0, 2, 1, 0], qid=[1, 1, 2, 2])
/// >>> ranker = rw.Recipe("list-net").fit(data)
/// >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
/// >>> ranker.save(path)
/// >>> rw.load(path)
/// <rankwise.Ranker: list-net with 2 features>
///
/// ```
#[pyfunction]
#[pyo3(signature = (path, *, first_id=None))]
pub(crate) fn load(py: Python<'_>, path: PathBuf, first_id: Option<u32>) -> PyResult<Ranker> {
    let read = || {
        let ranker = models::Ranker::load(&path)?;
        match (first_id, ranker.numbering) {
            (Some(first_id), models::Numbering::Undecided) => ranker.with_first_id(first_id),
            _ => Ok(ranker),
        }
    };
    Ok(Ranker::new(py.detach(read).map_err(exception)?, Vec::new()))
}
