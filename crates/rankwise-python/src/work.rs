//! Long work on threads of its own, while Python stays responsive.
//!
//! Rayon's global pool would hang a forked child, so every call runs in a pool that this process made. Training runs on a
//! thread of its own. The caller waits for it in short steps, runs callbacks and looks for Ctrl-C.

use crate::custom::Failure;
use crate::errors::exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rankwise::watch::{self, Stop, Watch};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

/// How long the caller sleeps before it looks for Ctrl-C again.
const STEP: Duration = Duration::from_millis(40);

/// How long work may take to stop before its thread is left to itself.
const PATIENCE: Duration = Duration::from_millis(150);

/// The pools of a process, by process id and number of threads. After a fork, the child makes its own.
fn pool(threads: usize) -> PyResult<Arc<ThreadPool>> {
    type Pools = Mutex<HashMap<(u32, usize), Arc<ThreadPool>>>;
    static POOLS: OnceLock<Pools> = OnceLock::new();
    let key = (std::process::id(), threads);
    let mut pools = POOLS.get_or_init(Pools::default).lock().unwrap_or_else(|e| e.into_inner());
    if let Some(pool) = pools.get(&key) {
        return Ok(pool.clone());
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|i| format!("rankwise-{i}"))
        .build()
        .map_err(|e| PyRuntimeError::new_err(format!("cannot start {threads} threads: {e}")))?;
    Ok(pools.entry(key).or_insert(Arc::new(pool)).clone())
}

/// The number of threads of joblib's `n_jobs`: `None` and -1 for all cores, -2 for all but one.
fn threads(n_jobs: Option<i64>) -> PyResult<usize> {
    let cores = thread::available_parallelism().map_or(1, usize::from) as i64;
    match n_jobs {
        None => Ok(cores as usize),
        Some(0) => Err(PyValueError::new_err("n_jobs is 0; give a number of threads, or None for all cores")),
        Some(jobs) if jobs < 0 => Ok((cores + 1 + jobs).max(1) as usize),
        Some(jobs) => Ok(jobs as usize),
    }
}

/// Short work that cannot be interrupted, without Python's lock.
pub(crate) fn unattended<T: Send>(
    py: Python<'_>,
    n_jobs: Option<i64>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let pool = pool(threads(n_jobs)?)?;
    Ok(py.detach(|| pool.install(work)))
}

/// What a callback gets after each step of training.
///
/// ```text
/// >>> import rankwise as rw
/// >>> data = rw.Data([[0.2, 3], [0.9, 1], [0.4, 2], [0.1, 2]], y=[0, 2, 1, 0], qid=[1, 1, 2, 2])
/// >>> def report(step):
/// ...     print(f"{step.iteration} of {step.total}: {step.name}")
/// >>> ranker = rw.Recipe("mart", iterations=2, min_data_in_leaf=1).fit(data, data, callbacks=[report])
/// 1 of 2: ndcg@10 (valid)
/// 2 of 2: ndcg@10 (valid)
///
/// ```
#[pyclass(frozen, module = "rankwise", name = "Progress", skip_from_py_object)]
#[derive(Clone)]
pub(crate) struct Progress {
    /// Iterations or steps done so far.
    #[pyo3(get)]
    iteration: u64,
    /// Iterations expected in all, if known.
    #[pyo3(get)]
    total: Option<u64>,
    /// What `value` is, such as `ndcg@10 (valid)`; empty if there is none.
    #[pyo3(get)]
    name: String,
    /// Its value.
    #[pyo3(get)]
    value: f64,
}

#[pymethods]
impl Progress {
    fn __repr__(&self) -> String {
        let total = self.total.map_or(String::new(), |total| format!("/{total}"));
        format!("Progress({}{total}, {}={})", self.iteration, self.name, self.value)
    }
}

/// One value of a training's history: its name, the iteration and the value.
pub(crate) type Moment = (String, u64, f64);

/// Records every step, and waits for the callbacks if there are any.
struct Recorder {
    stop: Stop,
    history: Vec<Moment>,
    /// Steps go out, and an answer comes back once their callbacks ran.
    calls: Option<(SyncSender<Progress>, Receiver<()>)>,
}

impl Watch for Recorder {
    fn step(&mut self, step: watch::Progress<'_>) {
        // Some learners put their objective before the metric.
        let name = step.what.rsplit_once(", ").map_or(step.what, |(_, name)| name).to_owned();
        if !name.is_empty() {
            self.history.push((name.clone(), step.done, step.value));
        }
        if let Some((steps, done)) = &self.calls {
            let progress = Progress { iteration: step.done, total: step.total, name, value: step.value };
            // Nobody listens any more once the caller was interrupted.
            if steps.send(progress).is_ok() {
                let _ = done.recv();
            }
        }
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

/// Long work with progress, callbacks and Ctrl-C. Returns its result and the history of its steps.
///
/// A callback that returns `True` ends training with the model so far; one that raises ends it, and the exception is passed
/// on. `failure` has the exceptions of Python functions that the work itself calls.
pub(crate) fn attended<T: Send + 'static>(
    py: Python<'_>,
    n_jobs: Option<i64>,
    callbacks: &[Bound<'_, PyAny>],
    failure: &Failure,
    work: impl FnOnce(&mut (dyn Watch + Send)) -> rankwise::Result<T> + Send + 'static,
) -> PyResult<(T, Vec<Moment>)> {
    let pool = pool(threads(n_jobs)?)?;
    let stop = failure.stop();
    let (step_sender, step_receiver) = sync_channel(0);
    let (done_sender, done_receiver) = sync_channel(1);
    let (result_sender, result_receiver) = sync_channel(1);
    let calls = (!callbacks.is_empty()).then_some((step_sender, done_receiver));
    let recorder = Recorder { stop: stop.clone(), history: Vec::new(), calls };
    thread::Builder::new()
        .name("rankwise-train".into())
        .spawn(move || {
            let mut recorder = recorder;
            let result = pool.install(|| work(&mut recorder));
            let Recorder { history, .. } = recorder;
            let _ = result_sender.send((result, history));
        })
        .map_err(|e| PyRuntimeError::new_err(format!("cannot start a thread to train on: {e}")))?;
    let waiting = Waiting { steps: Mutex::new(step_receiver), results: Mutex::new(result_receiver) };
    loop {
        match py.detach(|| waiting.next(STEP)) {
            News::Result((result, history)) => {
                py.check_signals()?;
                return match failure.take() {
                    Some(error) => Err(error),
                    None => Ok((result.map_err(exception)?, history)),
                };
            }
            News::Step(step) => {
                let called = call(py, callbacks, step, stop).and_then(|()| py.check_signals());
                if called.is_err() {
                    stop.request();
                }
                let _ = done_sender.send(());
                if let Err(error) = called {
                    return Err(waiting.abandon(py, stop, error));
                }
            }
            News::None => {
                if let Err(error) = py.check_signals() {
                    return Err(waiting.abandon(py, stop, error));
                }
            }
            News::Panicked => {
                return Err(PyRuntimeError::new_err(
                    "training failed in a way that it never should; please report this as a defect",
                ));
            }
        }
    }
}

fn call(py: Python<'_>, callbacks: &[Bound<'_, PyAny>], step: Progress, stop: &Stop) -> PyResult<()> {
    let step = Bound::new(py, step)?;
    for callback in callbacks {
        let answer = callback.call1((&step,))?;
        if !answer.is_none() && answer.is_truthy()? {
            stop.request();
        }
    }
    Ok(())
}

type Results<T> = (rankwise::Result<T>, Vec<Moment>);

/// The caller's side of the channels.
struct Waiting<T> {
    steps: Mutex<Receiver<Progress>>,
    results: Mutex<Receiver<Results<T>>>,
}

enum News<T> {
    Step(Progress),
    Result(Results<T>),
    None,
    Panicked,
}

impl<T: Send> Waiting<T> {
    /// The next step or the result; nothing if neither comes in time.
    fn next(&self, limit: Duration) -> News<T> {
        let steps = self.steps.lock().unwrap_or_else(|e| e.into_inner());
        match steps.recv_timeout(limit) {
            Ok(step) => return News::Step(step),
            Err(RecvTimeoutError::Timeout) => return News::None,
            // Without callbacks, or at the end, there are no steps, and only the result is left.
            Err(RecvTimeoutError::Disconnected) => {}
        }
        let results = self.results.lock().unwrap_or_else(|e| e.into_inner());
        match results.recv_timeout(limit) {
            Ok(result) => News::Result(result),
            Err(RecvTimeoutError::Timeout) => News::None,
            Err(RecvTimeoutError::Disconnected) => News::Panicked,
        }
    }

    /// Asks the work to stop and waits a moment for it. A thread that takes longer ends by itself, and nobody sees its
    /// result.
    fn abandon(self, py: Python<'_>, stop: &Stop, error: PyErr) -> PyErr {
        stop.request();
        let Waiting { steps, results } = self;
        // Nobody takes further steps, and the thread does not wait for that.
        drop(steps);
        py.detach(|| {
            let results = results.lock().unwrap_or_else(|e| e.into_inner());
            let _ = results.recv_timeout(PATIENCE);
        });
        error
    }
}

/// Hands notes to Python's `logging`, under the name `rankwise`.
pub(crate) fn log(py: Python<'_>, level: &str, notes: &[String]) -> PyResult<()> {
    if notes.is_empty() {
        return Ok(());
    }
    let logger = py.import("logging")?.call_method1("getLogger", ("rankwise",))?;
    for note in notes {
        logger.call_method1(level, ("%s", note))?;
    }
    Ok(())
}
