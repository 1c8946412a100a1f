//! Metrics of runs, data sets and arrays, and comparisons of several of them.

use crate::arrays;
use crate::convert::{conventions, to_python};
use crate::custom::Failure;
use crate::data::{Data, queries};
use crate::errors::exception;
use crate::judged::JudgedRun;
use crate::work;
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rankwise::data::trec::{SharedTopics, shared_topics};
use rankwise::data::{Gathered, Topics, read_qrels, read_run};
use rankwise::experiment::{Comparison, ComparisonOptions};
use rankwise::metrics::{
    DocumentIds, Evaluation, JudgedList, METRICS, Metric, MetricEntry, PRESETS, Preset, evaluate,
    evaluate_lists, parse_list,
};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The metrics of a call, under the conventions of a preset.
pub(crate) struct Metrics {
    pub(crate) list: Vec<Box<dyn Metric>>,
    conventions: rankwise::metrics::Conventions,
}

impl Metrics {
    pub(crate) fn new(specs: &str, preset: &str, changes: Option<&Bound<'_, PyDict>>) -> PyResult<Metrics> {
        let conventions = conventions(preset, changes)?;
        let list = parse_list(specs, &conventions).map_err(exception)?;
        match list.is_empty() {
            true => Err(PyValueError::new_err("metrics is empty; give at least one, such as \"ndcg@10\"")),
            false => Ok(Metrics { list, conventions }),
        }
    }

    /// One metric.
    pub(crate) fn of(metric: Box<dyn Metric>) -> Metrics {
        let conventions = metric.conventions().clone();
        Metrics { list: vec![metric], conventions }
    }

    fn described<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &json!(self.conventions))
    }
}

/// An evaluation for Python. `ids` are the queries as the caller names them.
pub(crate) fn evaluation_dict<'py>(
    py: Python<'py>,
    evaluation: &Evaluation,
    ids: Bound<'py, PyAny>,
    notes: &[String],
    metrics: &Metrics,
) -> PyResult<Bound<'py, PyDict>> {
    let count = evaluation.metrics.len();
    let found = PyDict::new(py);
    found.set_item("metrics", &evaluation.metrics)?;
    found.set_item("query_ids", ids)?;
    found.set_item("values", values_array(py, &[evaluation])?)?;
    found.set_item("weights", evaluation.weights.clone().into_pyarray(py))?;
    found.set_item("weighted", evaluation.is_weighted())?;
    found.set_item("means", (0..count).map(|m| evaluation.mean(m)).collect::<Vec<_>>())?;
    found.set_item("totals", (0..count).map(|m| evaluation.total(m)).collect::<Vec<_>>())?;
    found.set_item("notes", notes)?;
    found.set_item("conventions", metrics.described(py)?)?;
    Ok(found)
}

/// The values of each system, query and metric; NaN where the metric skips the query. Without the first dimension for one
/// system.
fn values_array<'py>(py: Python<'py>, evaluations: &[&Evaluation]) -> PyResult<Bound<'py, PyAny>> {
    let (queries, metrics) = (evaluations[0].query_ids.len(), evaluations[0].metrics.len());
    let mut flat = Vec::with_capacity(evaluations.len() * queries * metrics);
    for evaluation in evaluations {
        for query in 0..queries {
            flat.extend(evaluation.values.iter().map(|values| values[query].unwrap_or(f64::NAN)));
        }
    }
    let array = flat.into_pyarray(py);
    Ok(match evaluations {
        [_] => array.reshape([queries, metrics])?.into_any(),
        _ => array.reshape([evaluations.len(), queries, metrics])?.into_any(),
    })
}

/// Evaluates a run, a dictionary of dictionaries of scores, by qrels, a dictionary of dictionaries of grades.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called by rankwise.evaluate only")]
pub(crate) fn evaluate_run<'py>(
    py: Python<'py>,
    qrels: &Bound<'py, PyDict>,
    run: &Bound<'py, PyDict>,
    metrics: &str,
    preset: &str,
    conventions: Option<&Bound<'py, PyDict>>,
    complete: bool,
    n_jobs: Option<i64>,
) -> PyResult<Bound<'py, PyDict>> {
    let metrics = Metrics::new(metrics, preset, conventions)?;
    let topics = if complete { Topics::AllJudged } else { Topics::InBoth };
    let joined = JudgedRun::new(qrels, run, topics)?;
    if !complete || qrels.is_empty() {
        joined.check_common(qrels, run)?;
    }
    let evaluate = || evaluate_lists(&joined.lists(None), &metrics.list);
    let evaluation = work::unattended(py, n_jobs, evaluate)?.map_err(exception)?;
    let notes = [joined.notes(topics), evaluation.notes()].concat();
    work::log(py, "info", &notes)?;
    let ids = PyList::new(py, joined.keys(py))?.into_any();
    evaluation_dict(py, &evaluation, ids, &notes, &metrics)
}

/// Evaluates the scores of a data set, one per document in the order in which the documents were given.
#[pyfunction]
pub(crate) fn evaluate_data<'py>(
    data: &Bound<'py, Data>,
    scores: &Bound<'py, PyAny>,
    metrics: &str,
    preset: &str,
    conventions: Option<&Bound<'py, PyDict>>,
    n_jobs: Option<i64>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = data.py();
    let metrics = Metrics::new(metrics, preset, conventions)?;
    let scores = data.get().scores_in_data_order("scores", scores)?;
    let dataset = data.get().labelled()?;
    let evaluate = || evaluate(dataset, &scores, &metrics.list);
    let evaluation = work::unattended(py, n_jobs, evaluate)?.map_err(exception)?;
    let notes = evaluation.notes();
    work::log(py, "info", &notes)?;
    let ids = PyList::new(py, &evaluation.query_ids)?.into_any();
    evaluation_dict(py, &evaluation, ids, &notes, &metrics)
}

/// Evaluates scores by labels, one of each per document, whose queries are given by `qid` or `group`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called by rankwise.evaluate only")]
pub(crate) fn evaluate_arrays<'py>(
    labels: &Bound<'py, PyAny>,
    scores: &Bound<'py, PyAny>,
    qid: Option<&Bound<'py, PyAny>>,
    group: Option<&Bound<'py, PyAny>>,
    metrics: &str,
    preset: &str,
    conventions: Option<&Bound<'py, PyDict>>,
    n_jobs: Option<i64>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = labels.py();
    let metrics = Metrics::new(metrics, preset, conventions)?;
    let (mut labels, mut scores) = (arrays::singles("labels", labels)?, arrays::doubles("scores", scores)?);
    check_scores(scores.len(), labels.len())?;
    if let Some(row) = labels.iter().position(|label| !label.is_finite()) {
        return Err(PyValueError::new_err(format!(
            "the label of row {row} is {}; labels are finite",
            labels[row]
        )));
    }
    let (Gathered { bounds, order, .. }, ids) = queries(qid, group, labels.len())?;
    if let Some(order) = order {
        labels = order.iter().map(|&row| labels[row]).collect();
        scores = order.iter().map(|&row| scores[row]).collect();
    }
    let list = |(rows, id)| {
        let rows: &[usize] = rows;
        JudgedList {
            id,
            labels: &labels[rows[0]..rows[1]],
            scores: &scores[rows[0]..rows[1]],
            document_ids: DocumentIds::Absent,
            weight: 1.0,
        }
    };
    let lists: Vec<JudgedList<'_>> =
        bounds.windows(2).zip(ids.iter().map(String::as_str)).map(list).collect();
    let evaluation =
        work::unattended(py, n_jobs, || evaluate_lists(&lists, &metrics.list))?.map_err(exception)?;
    let notes = evaluation.notes();
    work::log(py, "info", &notes)?;
    let ids = PyList::new(py, &ids)?.into_any();
    evaluation_dict(py, &evaluation, ids, &notes, &metrics)
}

/// Fails unless there is one score per document.
pub(crate) fn check_scores(scores: usize, documents: usize) -> PyResult<()> {
    match scores == documents {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!("there are {scores} scores for {documents} documents"))),
    }
}

/// How to compare, and on how many threads.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CompareOptions {
    baseline: Option<usize>,
    seed: u64,
    permutations: u64,
    resamples: usize,
    confidence: f64,
    n_jobs: Option<i64>,
}

impl CompareOptions {
    fn options(&self) -> ComparisonOptions {
        ComparisonOptions {
            baseline: self.baseline,
            seed: self.seed,
            permutations: self.permutations,
            resamples: self.resamples,
            confidence: self.confidence,
        }
    }
}

/// Compares runs by qrels.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called by rankwise.compare only")]
pub(crate) fn compare_runs<'py>(
    py: Python<'py>,
    qrels: &Bound<'py, PyDict>,
    names: Vec<String>,
    runs: Vec<Bound<'py, PyDict>>,
    metrics: &str,
    preset: &str,
    conventions: Option<&Bound<'py, PyDict>>,
    options: CompareOptions,
) -> PyResult<Bound<'py, PyDict>> {
    let metrics = Metrics::new(metrics, preset, conventions)?;
    let mut judged = Vec::new();
    for (name, run) in names.iter().zip(&runs) {
        let with_name = |e: PyErr| match e.value(py).str() {
            Ok(text) => PyErr::from_type(e.get_type(py), format!("{name}: {text}")),
            Err(_) => e,
        };
        let joined = JudgedRun::new(qrels, run, Topics::AllJudged).map_err(with_name)?;
        joined.check_common(qrels, run).map_err(with_name)?;
        judged.push(joined);
    }
    let has_topic: Vec<Vec<bool>> = judged.iter().map(JudgedRun::found).collect();
    let SharedTopics { kept, note } = shared_topics(&has_topic);
    let evaluate = || -> rankwise::Result<Vec<Evaluation>> {
        judged.iter().map(|run| evaluate_lists(&run.lists(Some(&kept)), &metrics.list)).collect()
    };
    let evaluations = work::unattended(py, options.n_jobs, evaluate)?.map_err(exception)?;
    let keys = judged[0].keys(py);
    let ids = PyList::new(py, kept.iter().map(|&topic| keys[topic].clone()))?.into_any();
    compared(py, names, evaluations, ids, Vec::from_iter(note), &metrics, &options)
}

/// Compares the scores of systems on a data set.
#[pyfunction]
pub(crate) fn compare_data<'py>(
    data: &Bound<'py, Data>,
    names: Vec<String>,
    scores: Vec<Bound<'py, PyAny>>,
    metrics: &str,
    preset: &str,
    conventions: Option<&Bound<'py, PyDict>>,
    options: CompareOptions,
) -> PyResult<Bound<'py, PyDict>> {
    let py = data.py();
    let metrics = Metrics::new(metrics, preset, conventions)?;
    let dataset = data.get().labelled()?;
    let in_order = |(name, scores): (&String, &Bound<'py, PyAny>)| {
        data.get().scores_in_data_order(&format!("the scores of {name}"), scores)
    };
    let scores: Vec<Vec<f64>> = names.iter().zip(&scores).map(in_order).collect::<PyResult<_>>()?;
    let evaluate = || -> rankwise::Result<Vec<Evaluation>> {
        scores.iter().map(|scores| evaluate(dataset, scores, &metrics.list)).collect()
    };
    let evaluations = work::unattended(py, options.n_jobs, evaluate)?.map_err(exception)?;
    let ids = PyList::new(py, &evaluations[0].query_ids)?.into_any();
    compared(py, names, evaluations, ids, Vec::new(), &metrics, &options)
}

fn compared<'py>(
    py: Python<'py>,
    names: Vec<String>,
    evaluations: Vec<Evaluation>,
    ids: Bound<'py, PyAny>,
    mut notes: Vec<String>,
    metrics: &Metrics,
    how: &CompareOptions,
) -> PyResult<Bound<'py, PyDict>> {
    for (name, evaluation) in names.iter().zip(&evaluations) {
        notes.extend(evaluation.notes().iter().map(|note| format!("{name}: {note}")));
    }
    work::log(py, "info", &notes)?;
    let found = PyDict::new(py);
    found.set_item("metrics", &evaluations[0].metrics)?;
    found.set_item("systems", &names)?;
    found.set_item("query_ids", ids)?;
    found.set_item("values", values_array(py, &evaluations.iter().collect::<Vec<_>>())?)?;
    found.set_item("notes", notes)?;
    found.set_item("conventions", metrics.described(py)?)?;
    let options = how.options();
    let (by_metric, _) = work::attended(py, how.n_jobs, &[], &Failure::default(), move |_| {
        Comparison::by_metric(&names, &evaluations, &options)
    })?;
    found.set_item("by_metric", to_python(py, &json!(by_metric))?)?;
    Ok(found)
}

/// A TREC run as a dictionary of dictionaries of scores.
#[pyfunction]
pub(crate) fn read_trec_run(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let run = py.detach(|| read_run(&path)).map_err(exception)?;
    let topics = run.topics.iter().map(|topic| (&topic.id, topic.documents.iter().zip(&topic.values)));
    nested(py, topics)
}

/// TREC qrels as a dictionary of dictionaries of grades.
#[pyfunction]
pub(crate) fn read_trec_qrels(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let qrels = py.detach(|| read_qrels(&path)).map_err(exception)?;
    let topics = qrels.topics.iter().map(|topic| (&topic.id, topic.documents.iter().zip(&topic.values)));
    nested(py, topics)
}

fn nested<'py, 'a, V: IntoPyObject<'py>>(
    py: Python<'py>,
    topics: impl Iterator<Item = (&'a String, impl Iterator<Item = (&'a str, V)>)>,
) -> PyResult<Bound<'py, PyDict>> {
    let outer = PyDict::new(py);
    for (id, documents) in topics {
        let inner = PyDict::new(py);
        for (document, value) in documents {
            inner.set_item(document, value)?;
        }
        outer.set_item(id, inner)?;
    }
    Ok(outer)
}

/// Names, titles and summaries of all metrics and presets.
#[pyfunction]
pub(crate) fn catalogue(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let metric = |entry: &MetricEntry| {
        json!({ "name": entry.card.name, "title": entry.card.title, "summary": entry.card.summary,
            "papers": entry.card.cited(), "aliases": entry.aliases, "suffix": entry.suffix(),
            "range": entry.range, "undefined": entry.empty, "options": entry.options })
    };
    let preset = |entry: &Preset| {
        json!({ "name": entry.card.name, "title": entry.card.title, "summary": entry.card.summary,
            "papers": entry.card.cited(), "conventions": entry.conventions() })
    };
    let metrics: Value = METRICS.iter().map(metric).collect();
    let presets: Value = PRESETS.iter().map(preset).collect();
    to_python(py, &json!({ "metrics": metrics, "presets": presets }))
}

/// The canonical names of metrics.
#[pyfunction]
pub(crate) fn metric_names(
    specs: &str,
    preset: &str,
    conventions: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<String>> {
    Ok(Metrics::new(specs, preset, conventions)?.list.iter().map(|metric| metric.name()).collect())
}
