//! Experiment files, cross-validation and tuning.

use crate::convert::{table, to_json, to_python};
use crate::custom::Failure;
use crate::data::Data;
use crate::errors::exception;
use crate::evaluate::{Metrics, evaluation_dict};
use crate::ranker::Ranker;
use crate::recipe::Recipe;
use crate::work;
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rankwise::data::Dataset;
use rankwise::experiment::directory::{REPORT, write_results};
use rankwise::experiment::spec::{Search, SearchMethod};
use rankwise::experiment::{
    CrossFold, Experiment, JobDone, Observer, RunOptions, Spec, TaskEnd, TaskEngine, Tuned, TunedTrial,
    Tuning, Validation, cross_validate as cross_validated, run_task as run_job,
};
use rankwise::metrics::Evaluation;
use rankwise::watch::{Progress, Watch};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;
use toml::Value;

/// Hands the jobs of many threads to one watch.
struct JobReports<'a> {
    watch: Mutex<&'a mut (dyn Watch + Send)>,
    /// What the values of jobs are.
    what: String,
}

impl<'a> JobReports<'a> {
    fn new(watch: &'a mut (dyn Watch + Send), what: String) -> JobReports<'a> {
        JobReports { watch: Mutex::new(watch), what }
    }

    fn done(&self, done: usize, total: usize, value: Option<f64>) {
        let mut watch = self.watch.lock().unwrap_or_else(|e| e.into_inner());
        watch.step(Progress {
            done: done as u64,
            total: Some(total as u64),
            what: &self.what,
            value: value.unwrap_or(f64::NAN),
        });
    }

    fn job(&self, job: JobDone<'_>) {
        self.done(job.done, job.total, job.value);
    }
}

/// Hands tasks to a Python object: `rankwise._engines.Tasks`.
struct PythonTasks {
    tasks: Py<PyAny>,
    /// Takes its exceptions, which reach the caller.
    failure: Failure,
}

impl PythonTasks {
    fn refused(&self, error: PyErr) -> rankwise::Error {
        self.failure.report(error);
        rankwise::Error::interrupted("the engine failed")
    }
}

impl TaskEngine for PythonTasks {
    fn submit(&mut self, number: usize, name: &str, task: &str) -> rankwise::Result<()> {
        let submitted =
            Python::attach(|py| self.tasks.call_method1(py, "submit", (number, name, task)).map(drop));
        submitted.map_err(|error| self.refused(error))
    }

    fn next(&mut self, limit: Duration) -> rankwise::Result<Option<TaskEnd>> {
        type Ended = Option<(usize, Option<String>, Option<String>)>;
        let ended = Python::attach(|py| {
            self.tasks.call_method1(py, "next", (limit.as_secs_f64(),))?.extract::<Ended>(py)
        });
        let ended = ended.map_err(|error| self.refused(error))?;
        Ok(ended.map(|(number, answer, reason)| TaskEnd {
            number,
            answer: answer.ok_or_else(|| reason.unwrap_or_default()),
        }))
    }
}

/// Runs one job of an experiment that another process runs, and returns its answer.
#[pyfunction]
pub(crate) fn run_task(
    py: Python<'_>,
    task: String,
    program: PathBuf,
    n_jobs: Option<i64>,
) -> PyResult<String> {
    let (answer, _) = work::attended(py, n_jobs, &[], &Failure::default(), move |watch| {
        run_job(&task, &build(&program)?, watch.stop())
    })?;
    Ok(answer)
}

/// Runs an experiment, from a file or from a dictionary with its keys, into a directory; the jobs as `tasks`, if given.
/// Returns the findings, the times and the path of the report.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called by rankwise.run only")]
pub(crate) fn run_experiment<'py>(
    py: Python<'py>,
    path: Option<PathBuf>,
    experiment: Option<&Bound<'py, PyDict>>,
    out: Option<PathBuf>,
    keep_models: bool,
    fresh: bool,
    program: PathBuf,
    n_jobs: Option<i64>,
    callbacks: Vec<Bound<'py, PyAny>>,
    tasks: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let spec = match (&path, experiment) {
        (Some(path), _) => Spec::load(path),
        (None, experiment) => {
            let keys = experiment.map(table).transpose()?.unwrap_or_default();
            let text = toml::to_string(&keys).map_err(|e| PyValueError::new_err(e.to_string()))?;
            Spec::parse(&text, "the experiment")
        }
    };
    let spec = spec.map_err(exception)?;
    let directory = out.unwrap_or_else(|| Path::new("results").join(&spec.name));
    let command = path.map_or_else(|| "rankwise.run({…})".into(), |path| format!("rankwise.run({path:?})"));
    let (to, what) = (directory.clone(), format!("{} (valid)", spec.selection));
    let failure = Failure::default();
    let mut tasks = tasks.map(|tasks| PythonTasks { tasks, failure: failure.clone() });
    let ((findings, times, notes), _) = work::attended(py, n_jobs, &callbacks, &failure, move |watch| {
        std::fs::create_dir_all(&to).map_err(|e| rankwise::Error::io("create", &to, e))?;
        let experiment = Experiment::load(spec, &build(&program)?)?;
        let notes = experiment.forecast()?;
        let (stop, models) = (watch.stop().clone(), keep_models.then(|| to.join("models")));
        let reports = JobReports::new(watch, what);
        let observer = Observer { stop: &stop, done: &|job| reports.job(job) };
        let options = RunOptions { directory: &to, command: &command, keep_models: models.as_deref(), fresh };
        let (findings, times) = match &mut tasks {
            Some(tasks) => experiment.run_on(tasks, &options, &observer)?,
            None => experiment.run(&options, &observer)?,
        };
        write_results(&to, &findings, &times)?;
        Ok((json!(findings), json!(times), notes))
    })?;
    work::log(py, "info", &notes)?;
    let found = PyDict::new(py);
    found.set_item("findings", to_python(py, &findings)?)?;
    found.set_item("times", to_python(py, &times)?)?;
    found.set_item("report", directory.join(REPORT))?;
    found.set_item("directory", directory)?;
    Ok(found)
}

/// Which build this is, by the bytes of the extension module: a journal of another build is not resumed.
fn build(program: &Path) -> rankwise::Result<String> {
    static BUILD: OnceLock<String> = OnceLock::new();
    if let Some(build) = BUILD.get() {
        return Ok(build.clone());
    }
    let bytes = std::fs::read(program).map_err(|e| rankwise::Error::io("read", program, e))?;
    let build = format!("rankwise {} {}", env!("CARGO_PKG_VERSION"), rankwise::models::checksum(&bytes));
    Ok(BUILD.get_or_init(|| build).clone())
}

/// Which queries to train and test on: a number of folds, or the rows of each fold as scikit-learn divides them.
#[derive(FromPyObject)]
pub(crate) enum Division {
    Folds(usize),
    Rows(Vec<(Vec<usize>, Vec<usize>)>),
}

impl Division {
    fn folds(self, data: &Data, seed: u64) -> PyResult<Vec<CrossFold>> {
        match self {
            Division::Folds(k) => CrossFold::equal(data.dataset.query_count(), k, seed).map_err(exception),
            Division::Rows(folds) => {
                let query_of_row = data.query_of_rows();
                let fold = |(number, (train, test)): (usize, (Vec<usize>, Vec<usize>))| {
                    let whole = |rows| whole_queries(&data.dataset, &query_of_row, rows, number + 1);
                    Ok(CrossFold { train: whole(train)?, test: whole(test)? })
                };
                folds.into_iter().enumerate().map(fold).collect()
            }
        }
    }
}

/// The queries that these rows are, all rows of each.
fn whole_queries(
    data: &Dataset,
    query_of_row: &[usize],
    rows: Vec<usize>,
    fold: usize,
) -> PyResult<Vec<usize>> {
    let mut counts = vec![0; data.query_count()];
    for row in rows {
        let query = query_of_row.get(row).ok_or_else(|| {
            PyValueError::new_err(format!("fold {fold} has row {row}, and there are {} rows", data.len()))
        })?;
        counts[*query] += 1;
    }
    let chosen: Vec<usize> = (0..counts.len()).filter(|&query| counts[query] > 0).collect();
    match chosen.iter().find(|&&query| counts[query] != data.query(query).len()) {
        Some(&split) => Err(PyValueError::new_err(format!(
            "fold {fold} has only some rows of query {}; divide by query, as GroupKFold does with groups=qid",
            data.query(split).id()
        ))),
        None => Ok(chosen),
    }
}

/// Trains and tests a model per fold.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called by rankwise.cross_validate only")]
pub(crate) fn cross_validate<'py>(
    recipe: &Bound<'py, Recipe>,
    data: &Bound<'py, Data>,
    cv: Division,
    metrics: Option<&str>,
    preset: &str,
    conventions: Option<&Bound<'py, PyDict>>,
    n_jobs: Option<i64>,
    callbacks: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = data.py();
    let failure = Failure::default();
    let trainer = recipe.get().trainer(py, &failure)?;
    let metrics = match metrics {
        Some(metrics) => Metrics::new(metrics, preset, conventions)?,
        None => Metrics::of(recipe.get().own_metric(py, &failure)?),
    };
    let given = data.get();
    let dataset = given.labelled()?.clone();
    let folds = cv.folds(given, trainer.seed())?;
    let tested: Vec<Vec<usize>> = folds.iter().map(|fold| fold.test.clone()).collect();
    let what = metrics.list[0].name();
    let ((validated, metrics), _) = work::attended(py, n_jobs, &callbacks, &failure, move |watch| {
        let (stop, total, done) = (watch.stop().clone(), folds.len(), Mutex::new(0));
        let reports = JobReports::new(watch, what);
        let one_done = |_: usize, evaluation: &Evaluation| {
            let mut done = done.lock().unwrap_or_else(|e| e.into_inner());
            *done += 1;
            reports.done(*done, total, evaluation.mean(0));
        };
        let validated = cross_validated(&trainer, &dataset, &folds, &metrics.list, &stop, &one_done)?;
        Ok((validated, metrics))
    })?;
    let notes = validated.evaluation.notes();
    work::log(py, "info", &notes)?;
    let ids = PyList::new(py, &validated.evaluation.query_ids)?.into_any();
    let found = PyDict::new(py);
    found.set_item("evaluation", evaluation_dict(py, &validated.evaluation, ids, &notes, &metrics)?)?;
    let fold_of_query =
        tested.iter().enumerate().flat_map(|(fold, queries)| std::iter::repeat_n(fold, queries.len()));
    found.set_item("fold", fold_of_query.collect::<Vec<_>>())?;
    let mean = |evaluation: &Evaluation| {
        (0..evaluation.metrics.len()).map(|m| evaluation.mean(m)).collect::<Vec<_>>()
    };
    found.set_item("means", validated.folds.iter().map(|fold| mean(&fold.evaluation)).collect::<Vec<_>>())?;
    let mut scores = vec![f64::NAN; given.dataset.len()];
    let mut rankers = Vec::new();
    for (queries, fold) in tested.iter().zip(validated.folds) {
        let mut of_fold = fold.scores.into_iter();
        for &query in queries {
            for document in given.dataset.query(query).range() {
                scores[document] = of_fold.next().unwrap_or(f64::NAN);
            }
        }
        rankers.push(Py::new(py, Ranker::new(fold.ranker, Vec::new()))?);
    }
    found.set_item("scores", given.in_given_order(scores).into_pyarray(py))?;
    found.set_item("rankers", rankers)?;
    Ok(found)
}

/// Searches the parameters of a learner and trains the best setting.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called by rankwise.tune only")]
pub(crate) fn tune<'py>(
    recipe: &Bound<'py, Recipe>,
    data: &Bound<'py, Data>,
    grid: &Bound<'py, PyDict>,
    valid: Option<&Bound<'py, Data>>,
    folds: usize,
    method: &str,
    draws: usize,
    n_jobs: Option<i64>,
    callbacks: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = data.py();
    let failure = Failure::default();
    let (trainer, metric) = (recipe.get().trainer(py, &failure)?, recipe.get().own_metric(py, &failure)?);
    let recipe = recipe.get().complete(py, &failure);
    let grid = table(grid)?;
    let method: SearchMethod = serde_json::from_value(json!(method)).map_err(|_| {
        PyValueError::new_err(format!(
            "unknown method {method:?}; there are \"grid\", \"random\" and \"halving\""
        ))
    })?;
    let search = Search { method, draws, ..Search::default() };
    let train = data.get().labelled()?.clone();
    let valid = valid.map(|valid| valid.get().labelled().cloned()).transpose()?;
    let what = format!("{} (valid)", metric.name());
    let ((tuned, forecast), _) = work::attended(py, n_jobs, &callbacks, &failure, move |watch| {
        let train = trainer.prepare(Dataset::clone(&train))?;
        let valid = valid.map(|valid| trainer.prepare(Dataset::clone(&valid))).transpose()?;
        let validation = valid.as_ref().map_or(Validation::Folds(folds), Validation::Data);
        let tuning = Tuning {
            recipe: &recipe,
            grid: &grid,
            search: &search,
            train: &train,
            validation,
            metric: &[metric],
        };
        let forecast = tuning.forecast()?;
        let mut last = rankwise::watch::Silent(watch.stop().clone());
        let reports = JobReports::new(watch, what);
        Ok((tuning.run(&|job| reports.job(job), &mut last)?, forecast))
    })?;
    work::log(py, "info", &Vec::from_iter(forecast))?;
    work::log(py, "warning", &tuned.failures)?;
    tuned_dict(py, tuned)
}

fn tuned_dict(py: Python<'_>, tuned: Tuned) -> PyResult<Bound<'_, PyDict>> {
    let trial = |trial: &TunedTrial| {
        json!({ "parameters": to_json(&Value::Table(trial.parameters.clone())), "fraction": trial.fraction,
            "valid": trial.valid, "folds": trial.folds })
    };
    let found = PyDict::new(py);
    found.set_item("trials", to_python(py, &tuned.trials.iter().map(trial).collect())?)?;
    found.set_item("value", tuned.value)?;
    found.set_item("metric", &tuned.ranker.metric)?;
    found.set_item("folds", tuned.folds)?;
    found.set_item("failures", tuned.failures)?;
    found.set_item("iterations", to_python(py, &json!(tuned.iterations))?)?;
    found.set_item("ranker", Py::new(py, Ranker::new(tuned.ranker, Vec::new()))?)?;
    Ok(found)
}
