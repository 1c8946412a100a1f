//! Propensities by rank.

use crate::errors::exception;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use rankwise::clicks::propensity;
use std::path::PathBuf;

/// The propensity of each rank, relative to the first.
#[pyclass(frozen, module = "rankwise._rankwise", name = "Propensities", skip_from_py_object)]
pub(crate) struct Propensities(pub(crate) propensity::Propensities);

#[pymethods]
impl Propensities {
    #[staticmethod]
    fn given(theta: Vec<f64>) -> PyResult<Propensities> {
        propensity::Propensities::given(theta).map(Propensities).map_err(exception)
    }

    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Propensities> {
        propensity::Propensities::read(&path).map(Propensities).map_err(exception)
    }

    fn write(&self, path: PathBuf) -> PyResult<()> {
        self.0.write(&path).map_err(exception)
    }

    #[getter]
    fn method(&self) -> &'static str {
        self.0.method.name()
    }

    #[getter]
    fn converged(&self) -> bool {
        self.0.converged
    }

    #[getter]
    fn interpolated(&self) -> Vec<u32> {
        self.0.interpolated.clone()
    }

    #[getter]
    fn theta<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.theta.clone().into_pyarray(py)
    }
}
