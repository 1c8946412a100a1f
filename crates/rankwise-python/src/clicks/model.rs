//! Click models.

use super::log::ClickLog;
use crate::convert::to_python;
use crate::errors::exception;
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rankwise::clicks::models;
use serde_json::json;
use std::path::PathBuf;

/// A click model with its parameters.
#[pyclass(frozen, module = "rankwise._rankwise", name = "ClickModel", skip_from_py_object)]
pub(crate) struct ClickModel(pub(super) models::ClickModel);

#[pymethods]
impl ClickModel {
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<ClickModel> {
        models::ClickModel::read(&path).map(ClickModel).map_err(exception)
    }

    fn write(&self, path: PathBuf) -> PyResult<()> {
        self.0.write(&path).map_err(exception)
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind().name()
    }

    /// What the model says about everything but attractiveness.
    fn browsing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &json!(self.0.browsing))
    }

    /// The probability of documents that were not in the log, and of those that were.
    fn attractiveness<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &json!(self.0.attractiveness))
    }

    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        query: &str,
        shown: Vec<String>,
    ) -> Bound<'py, PyArray1<f64>> {
        self.0.click_probabilities(query, &shown).into_pyarray(py)
    }

    fn conditional<'py>(
        &self,
        py: Python<'py>,
        query: &str,
        shown: Vec<String>,
        clicked: Vec<bool>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        if clicked.len() != shown.len() {
            let (clicked, shown) = (clicked.len(), shown.len());
            return Err(PyValueError::new_err(format!("clicked has {clicked} values for {shown} documents")));
        }
        Ok(self.0.conditional_click_probabilities(query, &shown, &clicked).into_pyarray(py))
    }

    fn evaluate<'py>(&self, py: Python<'py>, log: &Bound<'py, ClickLog>) -> PyResult<Bound<'py, PyAny>> {
        let table = log.get().table(py)?;
        to_python(py, &json!(py.detach(|| self.0.evaluate(&table)).map_err(exception)?))
    }
}
