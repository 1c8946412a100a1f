//! Training on the workers of an engine that is a Python object, and the work on one shard.

use crate::custom::Failure;
use crate::data::Reading;
use crate::errors::exception;
use crate::evaluate::{Metrics, evaluation_dict};
use crate::ranker::Ranker;
use crate::recipe::Recipe;
use crate::work;
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use rankwise::Error;
use rankwise::data::{ReadOptions, read};
use rankwise::distributed::{self, Delivery, Driver, Engine, Limits, Processes, Source, TrainJob};
use rankwise::learners::boosting::Checkpoint;
use rankwise::metrics::{Evaluation, evaluate};
use rankwise::models::Outcome;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

/// One worker of a training on several machines. An engine holds it on each of them and brings it the driver's messages.
#[pyclass(frozen, module = "rankwise", name = "Worker", skip_from_py_object)]
pub(crate) struct Worker {
    worker: Mutex<distributed::Worker>,
}

#[pymethods]
impl Worker {
    #[new]
    fn new() -> Worker {
        Worker { worker: Mutex::new(distributed::Worker::new()) }
    }

    /// The reply to a message, within a few seconds.
    fn reply<'py>(&self, py: Python<'py>, message: &Bound<'py, PyBytes>) -> Bound<'py, PyBytes> {
        let message = message.as_bytes();
        let reply = py.detach(|| self.worker.lock().unwrap_or_else(|e| e.into_inner()).reply(message));
        PyBytes::new(py, &reply)
    }
}

/// Works for the process that started this one, until its standard input ends.
#[pyfunction]
pub(crate) fn serve_worker(py: Python<'_>) -> PyResult<()> {
    let serve = || distributed::serve(io::stdin().lock(), io::stdout().lock(), distributed::Worker::new());
    py.detach(serve).map_err(exception)
}

/// Workers that are processes of this machine, as `rankwise.distributed` describes them.
#[derive(FromPyObject)]
struct Local {
    workers: usize,
    command: Vec<String>,
    environment: HashMap<String, String>,
}

impl Local {
    fn start(self) -> PyResult<Processes> {
        let Local { workers, command, environment } = self;
        let Some((program, arguments)) = command.split_first() else {
            return Err(PyValueError::new_err("the command to start workers with is empty"));
        };
        let (program, arguments) = (program.clone(), arguments.to_vec());
        let start = move |_| {
            let mut command = Command::new(&program);
            command.args(&arguments).envs(&environment);
            command
        };
        Processes::start(workers, start).map_err(exception)
    }
}

/// An engine that is a Python object with `workers`, `deliver(messages, limit)` and `restart(worker)`.
struct PythonEngine {
    object: Py<PyAny>,
    workers: usize,
    failure: Failure,
}

impl PythonEngine {
    /// Calls the object. An exception ends the training and reaches the caller.
    fn call<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> rankwise::Result<T> {
        Python::attach(|py| call(self.object.bind(py))).map_err(|error| {
            let words = error.to_string();
            self.failure.report(error);
            Error::data(format!("the engine failed: {words}"))
        })
    }
}

impl Engine for PythonEngine {
    fn workers(&self) -> usize {
        self.workers
    }

    fn deliver(
        &mut self,
        messages: &[(usize, &[u8])],
        limit: Duration,
    ) -> rankwise::Result<Vec<(usize, Delivery)>> {
        self.call(|object| {
            let py = object.py();
            let messages = messages.iter().map(|&(worker, message)| (worker, PyBytes::new(py, message)));
            let messages = PyList::new(py, messages.collect::<Vec<_>>())?;
            let replies = object.call_method1("deliver", (messages, limit.as_secs_f64()))?;
            replies.try_iter()?.map(|reply| delivery(&reply?)).collect()
        })
    }

    fn restart(&mut self, worker: usize) -> rankwise::Result<()> {
        self.call(|object| object.call_method1("restart", (worker,)).map(drop))
    }
}

/// A worker's number, and its reply as bytes or the reason why there is none as text.
fn delivery(reply: &Bound<'_, PyAny>) -> PyResult<(usize, Delivery)> {
    let (worker, reply): (usize, Bound<'_, PyAny>) = reply.extract()?;
    if let Ok(bytes) = reply.cast::<PyBytes>() {
        return Ok((worker, Delivery::Reply(bytes.as_bytes().to_vec())));
    }
    let words = reply.extract().map_err(|_| {
        PyTypeError::new_err("an engine delivers bytes for a reply, and text for a worker that was lost")
    })?;
    Ok((worker, Delivery::Lost(words)))
}

fn driver(engine: &Bound<'_, PyAny>, failure: &Failure) -> PyResult<Driver> {
    if engine.hasattr("command")? {
        return Ok(Driver::new(engine.extract::<Local>()?.start()?));
    }
    let (object, workers) = (engine.clone().unbind(), engine.getattr("workers")?.extract()?);
    Ok(Driver::new(PythonEngine { object, workers, failure: failure.clone() }))
}

/// Hands a note to Python's `logging`. An exception ends the training and reaches the caller.
fn warn(note: &str, failure: &Failure) {
    let logged = Python::attach(|py| work::log(py, "warning", &[note.to_owned()]));
    if let Err(error) = logged {
        failure.report(error);
    }
}

/// Trains on the workers of an engine.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called by rankwise.distributed.train only")]
pub(crate) fn train_on_workers(
    py: Python<'_>,
    recipe: &Bound<'_, Recipe>,
    train: Vec<PathBuf>,
    valid: Option<Vec<PathBuf>>,
    reading: Reading,
    engine: &Bound<'_, PyAny>,
    threads: Option<usize>,
    limit: f64,
    checkpoint: Option<PathBuf>,
    checkpoint_every: u64,
    callbacks: Vec<Bound<'_, PyAny>>,
) -> PyResult<Ranker> {
    let limit = Duration::try_from_secs_f64(limit)
        .ok()
        .filter(|limit| !limit.is_zero())
        .ok_or_else(|| PyValueError::new_err(format!("limit is {limit}; give seconds, above 0")))?;
    let failure = Failure::default();
    let options = reading.options();
    let source = |files| Source { files, options: options.clone() };
    let workers: usize = engine.getattr("workers")?.extract()?;
    let recipe = recipe.get().complete(py, &failure);
    let mut job = TrainJob::new(&recipe, source(train), valid.map(source), workers).map_err(exception)?;
    job.threads = threads;
    work::log(py, "info", &Vec::from_iter(job.forecast()))?;
    let warned = failure.clone();
    let mut driver = driver(engine, &failure)?
        .with_limits(Limits { reply: limit, ..Limits::default() })
        .with_notes(move |note| warn(note, &warned));
    let checkpoint = checkpoint.map(|path| Checkpoint { path, every: checkpoint_every });
    let ((ranker, traffic), history) = work::attended(py, None, &callbacks, &failure, move |watch| {
        let ranker = driver.train(&job, checkpoint.as_ref(), watch)?.ranker;
        if let Some(checkpoint) = checkpoint
            && ranker.record.outcome != Outcome::Interrupted
        {
            checkpoint.remove()?;
        }
        Ok((ranker, driver.traffic()))
    })?;
    work::log(py, "warning", &ranker.record.notes)?;
    Ok(Ranker::new(ranker, history).with_traffic(traffic))
}

/// The scores of one shard, in the order of its rows.
#[pyfunction]
pub(crate) fn score_shard<'py>(
    py: Python<'py>,
    ranker: &Bound<'py, Ranker>,
    path: PathBuf,
    reading: Reading,
    n_jobs: Option<i64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let options = reading.options_for(&ranker.get().ranker);
    let ranker = ranker.get().ranker.clone();
    // Rows that are moved to gather queries would get the scores of others, so they are refused.
    let options = ReadOptions { group: false, unlabelled: true, ..options };
    let score = || ranker.score(&read(&path, &options)?.data);
    Ok(work::unattended(py, n_jobs, score)?.map_err(exception)?.into_pyarray(py))
}

/// The evaluation of one shard, as text for `join_evaluations`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called by rankwise.distributed.evaluate only")]
pub(crate) fn evaluate_shard(
    py: Python<'_>,
    ranker: &Bound<'_, Ranker>,
    path: PathBuf,
    reading: Reading,
    metrics: &str,
    preset: &str,
    conventions: Option<&Bound<'_, PyDict>>,
    n_jobs: Option<i64>,
) -> PyResult<String> {
    let metrics = Metrics::new(metrics, preset, conventions)?;
    let options = reading.options_for(&ranker.get().ranker);
    let ranker = ranker.get().ranker.clone();
    let evaluate = || {
        let data = read(&path, &options)?.data;
        evaluate(&data, &ranker.score(&data)?, &metrics.list)
    };
    let evaluation = work::unattended(py, n_jobs, evaluate)?.map_err(exception)?;
    Ok(serde_json::to_string(&evaluation).expect("an evaluation is plain data"))
}

/// The evaluation of all shards together. `names` are those of the shards.
#[pyfunction]
pub(crate) fn join_evaluations<'py>(
    py: Python<'py>,
    parts: Vec<String>,
    names: Vec<String>,
    metrics: &str,
    preset: &str,
    conventions: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let metrics = Metrics::new(metrics, preset, conventions)?;
    let parts: Vec<Evaluation> = parts
        .iter()
        .map(|part| serde_json::from_str(part))
        .collect::<Result<_, _>>()
        .map_err(|e| PyValueError::new_err(format!("this is not the evaluation of a shard: {e}")))?;
    let evaluation = Evaluation::join(names.into_iter().zip(parts)).map_err(exception)?;
    let notes = evaluation.notes();
    work::log(py, "info", &notes)?;
    let ids = PyList::new(py, &evaluation.query_ids)?.into_any();
    evaluation_dict(py, &evaluation, ids, &notes, &metrics)
}
