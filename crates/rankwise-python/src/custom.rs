//! Objectives and metrics that are Python functions over all queries at once.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rankwise::learners::CustomGradients;
use rankwise::metrics::{Conventions, Empty, Metric};
use rankwise::rank::Ranking;
use rankwise::watch::Stop;
use std::sync::{Arc, Mutex};

/// An exception of a Python function that training called. It stops training and reaches the caller.
#[derive(Clone, Default)]
pub(crate) struct Failure {
    error: Arc<Mutex<Option<PyErr>>>,
    stop: Stop,
}

impl Failure {
    /// The request to stop that training looks at.
    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Keeps the first exception and asks training to stop.
    pub(crate) fn report(&self, error: PyErr) {
        self.error.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(error);
        self.stop.request();
    }

    /// The exception, if there was one.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.error.lock().unwrap_or_else(|e| e.into_inner()).take()
    }
}

/// The name of a function in records and files.
pub(crate) fn name_of(function: &Bound<'_, PyAny>) -> String {
    let name = function.getattr("__name__").and_then(|name| name.extract());
    name.unwrap_or_else(|_| "custom".to_owned())
}

/// `objective(scores, labels, bounds) -> (gradient, curvature)`.
pub(crate) fn gradients(function: &Bound<'_, PyAny>, failure: Failure) -> CustomGradients {
    let (name, function) = (name_of(function), Arc::new(function.clone().unbind()));
    CustomGradients::new(name, move |data, scores, slopes, curvatures| {
        let called = Python::attach(|py| -> PyResult<()> {
            let answer = call(py, &function, data.labels(), scores, data.bounds())?;
            let (gradient, curvature): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
                answer.extract().map_err(|_| {
                    PyValueError::new_err(
                        "an objective returns two arrays: the gradient and the curvature of each score",
                    )
                })?;
            take("gradient", &gradient, slopes)?;
            take("curvature", &curvature, curvatures)
        });
        called.map_err(|error| {
            failure.report(error);
            rankwise::Error::data("the objective failed")
        })
    })
}

/// Calls `function(scores, labels, bounds)`. The arrays are copies, which Python may keep.
fn call<'py>(
    py: Python<'py>,
    function: &Py<PyAny>,
    labels: &[f32],
    scores: &[f64],
    bounds: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let bounds: Vec<i64> = bounds.iter().map(|bound| *bound as i64).collect();
    let arguments =
        (PyArray1::from_slice(py, scores), PyArray1::from_slice(py, labels), PyArray1::from_vec(py, bounds));
    function.bind(py).call1(arguments)
}

/// Copies an array of one number per document.
fn take(name: &str, answer: &Bound<'_, PyAny>, out: &mut [f64]) -> PyResult<()> {
    let numbers = crate::arrays::doubles(name, answer)?;
    if numbers.len() != out.len() {
        return Err(PyValueError::new_err(format!(
            "the objective returns a {name} of {} values for {} documents",
            numbers.len(),
            out.len()
        )));
    }
    out.copy_from_slice(&numbers);
    Ok(())
}

/// `metric(scores, labels, bounds) -> values`: one per query, NaN where it is undefined; greater is better.
pub(crate) struct PythonMetric {
    name: String,
    function: Py<PyAny>,
    conventions: Conventions,
    failure: Failure,
}

impl PythonMetric {
    pub(crate) fn new(function: &Bound<'_, PyAny>, failure: Failure) -> PythonMetric {
        let conventions = Conventions::default();
        PythonMetric { name: name_of(function), function: function.clone().unbind(), conventions, failure }
    }

    fn values(&self, labels: &[f32], scores: &[f64], bounds: &[usize]) -> Vec<Option<f64>> {
        let queries = bounds.len() - 1;
        let called = Python::attach(|py| -> PyResult<Vec<f64>> {
            let answer = call(py, &self.function, labels, scores, bounds)?;
            let values: PyReadonlyArray1<'_, f64> = py
                .import("rankwise._containers")?
                .call_method1("numbers", (answer, "metric", "float64"))?
                .extract()?;
            Ok(values.as_slice()?.to_vec())
        });
        let checked = called.and_then(|values| match values.len() == queries {
            true => Ok(values),
            false => Err(PyValueError::new_err(format!(
                "the metric returns {} values for {queries} queries; it returns one per query, NaN where it is undefined",
                values.len()
            ))),
        });
        match checked {
            Ok(values) => {
                values.into_iter().map(|value| Some(value).filter(|value| !value.is_nan())).collect()
            }
            Err(error) => {
                self.failure.report(error);
                vec![None; queries]
            }
        }
    }
}

impl Metric for PythonMetric {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn conventions(&self) -> &Conventions {
        &self.conventions
    }

    fn empty(&self) -> Empty {
        Empty::Skip
    }

    /// Not known before it is computed.
    fn is_undefined(&self, _: &[f32]) -> bool {
        false
    }

    /// For learners that try many rankings of one query: scores that descend with the rank, equal for tied documents.
    fn value(&self, labels: &[f32], ranking: &Ranking) -> Option<f64> {
        let mut scores = vec![f64::NEG_INFINITY; labels.len()];
        for (rank, tied) in ranking.groups().enumerate() {
            ranking.order()[tied].iter().for_each(|&document| scores[document as usize] = -(rank as f64));
        }
        self.values(labels, &scores, &[0, labels.len()])[0]
    }

    fn values_at_once(&self, labels: &[f32], scores: &[f64], bounds: &[usize]) -> Option<Vec<Option<f64>>> {
        Some(self.values(labels, scores, bounds))
    }
}
