//! Judgments of people: `rankwise.labels`.

use crate::convert::to_python;
use crate::errors::exception;
use crate::work;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankwise::data::Format;
use rankwise::labels::{
    self, Agreement, AgreementOptions, DawidSkene, DawidSkeneOptions, Judgment, JudgmentColumns, MergeRule,
    Merged, QueryAgreement,
};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Judgments, at most one for each query, document and judge.
#[pyclass(frozen, module = "rankwise._rankwise", name = "Judgments", skip_from_py_object)]
pub(crate) struct Judgments(labels::Judgments);

#[pymethods]
impl Judgments {
    /// Reads tables. `columns` has the names of the columns query, document, judge and grade; `None` for the usual ones.
    #[staticmethod]
    fn read(py: Python<'_>, paths: Vec<PathBuf>, columns: [Option<String>; 4]) -> PyResult<Judgments> {
        let [query, document, judge, grade] = columns;
        let columns = JudgmentColumns { query, document, judge, grade, ..JudgmentColumns::default() };
        let read = || labels::Judgments::read_all(&paths, &columns);
        noted(py, py.detach(read))
    }

    /// From rows of query, document, judge, grade, note and time.
    #[staticmethod]
    #[expect(clippy::type_complexity, reason = "a row of Python")]
    fn of_rows(
        py: Python<'_>,
        rows: Vec<(String, String, String, Option<f64>, Option<String>, Option<String>)>,
    ) -> PyResult<Judgments> {
        let row = |(query, document, judge, grade, note, time): (_, _, _, Option<f64>, _, _)| Judgment {
            query,
            document,
            judge,
            grade: grade.unwrap_or(f64::NAN),
            note,
            time,
        };
        noted(py, labels::Judgments::of_rows(rows.into_iter().map(row)))
    }

    fn __len__(&self) -> usize {
        self.0.all().len()
    }

    #[getter]
    fn replaced(&self) -> usize {
        self.0.replaced()
    }

    #[getter]
    fn withdrawn(&self) -> usize {
        self.0.withdrawn()
    }

    #[getter]
    fn without_grade(&self) -> usize {
        self.0.without_grade()
    }

    /// All judgments, as dictionaries.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &json!(self.0.all()))
    }

    fn write(&self, path: PathBuf) -> PyResult<()> {
        Format::check_text_name(&path).map_err(exception)?;
        self.0.write(&path).map_err(exception)
    }

    fn agreement<'py>(
        &self,
        py: Python<'py>,
        resamples: usize,
        confidence: f64,
        seed: u64,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = AgreementOptions { resamples, confidence, seed };
        computed(py, n_jobs, || Ok(json!(Agreement::new(&self.0, &options)?)))
    }

    /// The agreement on each query.
    fn agreement_by_query<'py>(
        &self,
        py: Python<'py>,
        resamples: usize,
        confidence: f64,
        seed: u64,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = AgreementOptions { resamples, confidence, seed };
        computed(py, n_jobs, || Ok(json!(QueryAgreement::all(&self.0, &options)?)))
    }

    /// The labels, and the model of Dawid and Skene if that is the rule.
    fn merge<'py>(
        &self,
        py: Python<'py>,
        rule: &str,
        iterations: usize,
    ) -> PyResult<(MergedLabels, Bound<'py, PyAny>)> {
        let rule = MergeRule::named(rule).map_err(exception)?;
        if rule != MergeRule::DawidSkene {
            return Ok((MergedLabels(self.0.merge(rule)), py.None().into_bound(py)));
        }
        let options = DawidSkeneOptions { iterations, ..DawidSkeneOptions::default() };
        let model = py.detach(|| DawidSkene::fit(&self.0, &options));
        let mut described = json!(model);
        if let Value::Object(entries) = &mut described {
            entries.remove("merged");
        }
        Ok((MergedLabels(model.merged), to_python(py, &described)?))
    }
}

/// Judgments, once what was left out of them is logged.
fn noted(py: Python<'_>, judgments: rankwise::Result<labels::Judgments>) -> PyResult<Judgments> {
    let judgments = judgments.map_err(exception)?;
    work::log(py, "warning", &judgments.notes())?;
    Ok(Judgments(judgments))
}

/// One label per document.
#[pyclass(frozen, module = "rankwise._rankwise", name = "MergedLabels", skip_from_py_object)]
pub(crate) struct MergedLabels(Merged);

#[pymethods]
impl MergedLabels {
    #[getter]
    fn tied(&self) -> usize {
        self.0.tied
    }

    /// All labels, as dictionaries.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &json!(self.0.labels))
    }

    fn rounded(&self) -> MergedLabels {
        MergedLabels(self.0.clone().rounded())
    }

    /// As qrels: a dictionary of dictionaries of whole numbers.
    fn qrels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for topic in self.0.qrels().map_err(exception)?.topics {
            let documents = PyDict::new(py);
            for (document, grade) in topic.documents.iter().zip(&topic.values) {
                documents.set_item(document, grade)?;
            }
            found.set_item(topic.id, documents)?;
        }
        Ok(found)
    }

    /// Writes a table, or qrels.
    fn write(&self, path: PathBuf, table: bool) -> PyResult<()> {
        Format::check_text_name(&path).map_err(exception)?;
        let written = match table {
            true => self.0.write(&path),
            false => self.0.qrels().and_then(|qrels| qrels.write(&path)),
        };
        written.map_err(exception)
    }
}

/// What a computation on the threads of the caller's choice finds, for Python.
fn computed(
    py: Python<'_>,
    n_jobs: Option<i64>,
    work: impl FnOnce() -> rankwise::Result<Value> + Send,
) -> PyResult<Bound<'_, PyAny>> {
    to_python(py, &work::unattended(py, n_jobs, work)?.map_err(exception)?)
}
