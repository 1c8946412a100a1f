//! A log, in files or in memory.

use super::model::ClickModel;
use super::propensities::Propensities;
use super::session::session;
use crate::convert::to_python;
use crate::data::Data;
use crate::errors::exception;
use crate::ranker::Ranker;
use crate::work;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankwise::clicks::counterfactual::{Counterfactual, EstimateOptions, RankValue, rankings_of_run};
use rankwise::clicks::interleave::InterleavingTallies;
use rankwise::clicks::metarank::{MetarankOptions, read_events};
use rankwise::clicks::models::{self, ClickModelKind, FitOptions};
use rankwise::clicks::preferences::{PreferenceRule, Preferences};
use rankwise::clicks::propensity::{self, PairedRanks};
use rankwise::clicks::{
    ClickCounts, ClickData, ClickWeights, LogReader, LogReport, LogStats, LogWriter, Session, SessionTable,
    SplitSessions, check_sessions,
};
use rankwise::data::Texts;
use rankwise::data::trec::{Topic, TrecRun};
use serde_json::json;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Sessions read between two looks for Ctrl-C.
const SESSIONS_PER_LOOK: u64 = 1 << 14;

/// Sessions in files, which every question reads again, or in memory.
enum Sessions {
    Files(Vec<PathBuf>),
    Memory(Vec<Session>),
}

/// A log of sessions.
#[pyclass(frozen, module = "rankwise._rankwise", name = "ClickLog", skip_from_py_object)]
pub(crate) struct ClickLog {
    sessions: Sessions,
    /// What was wrong with it, once it was read.
    report: Mutex<Option<LogReport>>,
}

impl ClickLog {
    pub(super) fn of_sessions(sessions: Vec<Session>, report: LogReport) -> ClickLog {
        ClickLog { sessions: Sessions::Memory(sessions), report: Mutex::new(Some(report)) }
    }

    /// Gives every session to `each`, without Python's lock. Ctrl-C ends it.
    pub(super) fn each(
        &self,
        py: Python<'_>,
        mut each: impl FnMut(&Session) -> rankwise::Result<()> + Send,
    ) -> PyResult<()> {
        let mut number = 0;
        let mut take = |session: &Session| -> PyResult<()> {
            number += 1;
            if number % SESSIONS_PER_LOOK == 0 {
                Python::attach(|py| py.check_signals())?;
            }
            each(session).map_err(exception)
        };
        let report = py.detach(|| -> PyResult<Option<LogReport>> {
            match &self.sessions {
                Sessions::Memory(sessions) => {
                    sessions.iter().try_for_each(&mut take)?;
                    Ok(None)
                }
                Sessions::Files(paths) => {
                    let mut log = LogReader::open_all(paths).map_err(exception)?;
                    for session in &mut log {
                        take(&session.map_err(exception)?)?;
                    }
                    Ok(Some(log.report().clone()))
                }
            }
        })?;
        if let Some(report) = report {
            self.keep(py, report)?;
        }
        match number {
            0 => Err(PyValueError::new_err("the log has no sessions that can be used")),
            _ => Ok(()),
        }
    }

    /// What is made of all sessions, without Python's lock.
    fn made<T: Send>(
        &self,
        py: Python<'_>,
        make: impl FnOnce(&mut dyn Iterator<Item = rankwise::Result<Session>>) -> rankwise::Result<T> + Send,
    ) -> PyResult<T> {
        let made = match &self.sessions {
            Sessions::Memory(sessions) => py.detach(|| make(&mut sessions.iter().cloned().map(Ok))),
            Sessions::Files(paths) => {
                let mut log = LogReader::open_all(paths).map_err(exception)?;
                let made = py.detach(|| make(&mut log));
                self.keep(py, log.report().clone())?;
                made
            }
        };
        made.map_err(exception)
    }

    /// Keeps a report, and logs what is wrong the first time.
    fn keep(&self, py: Python<'_>, report: LogReport) -> PyResult<()> {
        let mut kept = self.report.lock().unwrap_or_else(|e| e.into_inner());
        if kept.is_none() {
            work::log(py, "warning", &report.notes())?;
        }
        *kept = Some(report);
        Ok(())
    }

    pub(super) fn table(&self, py: Python<'_>) -> PyResult<SessionTable> {
        let mut table = SessionTable::default();
        self.each(py, |session| {
            table.add(session);
            Ok(())
        })?;
        Ok(table)
    }

    fn counts(&self, py: Python<'_>) -> PyResult<ClickCounts> {
        let mut counts = ClickCounts::default();
        self.each(py, |session| {
            counts.add(session);
            Ok(())
        })?;
        Ok(counts)
    }
}

#[pymethods]
impl ClickLog {
    /// A log in files.
    #[staticmethod]
    fn of_files(paths: Vec<PathBuf>) -> ClickLog {
        ClickLog { sessions: Sessions::Files(paths), report: Mutex::new(None) }
    }

    /// A log of dictionaries.
    #[staticmethod]
    fn of_dictionaries(py: Python<'_>, given: &Bound<'_, PyAny>) -> PyResult<ClickLog> {
        let sessions = given.try_iter()?.enumerate().map(|(number, given)| session(&given?, number + 1));
        let (sessions, report) = check_sessions(sessions.collect::<PyResult<Vec<Session>>>()?);
        work::log(py, "warning", &report.notes())?;
        Ok(ClickLog::of_sessions(sessions, report))
    }

    /// The log of Metarank's events.
    #[staticmethod]
    fn of_metarank(
        py: Python<'_>,
        path: PathBuf,
        query_field: String,
        types: Vec<String>,
    ) -> PyResult<ClickLog> {
        let options = MetarankOptions { query_field, types, ..MetarankOptions::default() };
        let mut sessions = Vec::new();
        let take = |session| {
            sessions.push(session);
            Ok(())
        };
        let report = work::unattended(py, None, || read_events(&path, &options, take))?.map_err(exception)?;
        work::log(py, "warning", &report.notes())?;
        match sessions.is_empty() {
            true => {
                Err(PyValueError::new_err(format!("{} has no rankings that can be used", path.display())))
            }
            false => Ok(ClickLog::of_sessions(sessions, report)),
        }
    }

    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let kept = || self.report.lock().unwrap_or_else(|e| e.into_inner()).clone();
        if kept().is_none() {
            self.each(py, |_| Ok(()))?;
        }
        to_python(py, &json!(kept()))
    }

    /// All sessions, as dictionaries.
    fn dictionaries<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut sessions = Vec::new();
        self.each(py, |session| {
            sessions.push(json!(session));
            Ok(())
        })?;
        to_python(py, &sessions.into())
    }

    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let mut writer = LogWriter::create(&path).map_err(exception)?;
        self.each(py, |session| writer.put(session))?;
        writer.commit().map_err(exception)
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &json!(LogStats::new(&self.counts(py)?)))
    }

    /// A click model, and how it was fitted.
    fn fit<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        held_out: f64,
        iterations: usize,
        tolerance: f64,
    ) -> PyResult<(ClickModel, Bound<'py, PyAny>)> {
        let kind = ClickModelKind::named(kind).map_err(exception)?;
        let options = FitOptions { iterations, tolerance, ..FitOptions::default() };
        let mut split = SplitSessions::new(held_out).map_err(exception)?;
        self.each(py, |session| {
            split.add(session);
            Ok(())
        })?;
        let fit = || -> rankwise::Result<_> {
            let fitted = models::ClickModel::fit(kind, &split.fitted, &options)?;
            let on_fitted = fitted.model.evaluate(&split.fitted)?;
            let on_held_out = match split.held_out.sessions() {
                0 => None,
                _ => Some(fitted.model.evaluate(&split.held_out)?),
            };
            Ok((fitted, on_fitted, on_held_out))
        };
        let (fitted, on_fitted, on_held_out) = py.detach(fit).map_err(exception)?;
        let record = json!({
            "iterations": fitted.iterations,
            "converged": fitted.converged,
            "objective": fitted.objective,
            "fitted": on_fitted,
            "held_out": on_held_out,
        });
        Ok((ClickModel(fitted.model), to_python(py, &record)?))
    }

    fn propensities(
        &self,
        py: Python<'_>,
        by: &str,
        depth: Option<u32>,
        smoothing: f64,
        iterations: usize,
    ) -> PyResult<Propensities> {
        let depth = depth.unwrap_or(u32::MAX);
        let counts = self.counts(py)?;
        let estimate = || match by {
            "paired-ranks" => PairedRanks { depth, smoothing }.estimate(&counts),
            "em" => {
                let options = FitOptions { iterations, ..FitOptions::default() };
                propensity::Propensities::by_em(&counts, depth, &options)
            }
            "swap" => propensity::Propensities::by_swap(&counts),
            _ => Err(rankwise::card::unknown("method", by, &["paired-ranks", "em", "swap"])),
        };
        let found = py.detach(estimate).map_err(exception)?;
        work::log(py, "warning", &found.notes())?;
        Ok(Propensities(found))
    }

    /// Rows of query, better document, worse document and sessions.
    fn preferences(&self, py: Python<'_>, rule: &str) -> PyResult<Vec<(String, String, String, u64)>> {
        let mut preferences = Preferences::new(PreferenceRule::named(rule).map_err(exception)?);
        self.each(py, |session| {
            preferences.add(session);
            Ok(())
        })?;
        let rows = preferences.sorted().into_iter().map(|p| (p.query, p.better, p.worse, p.sessions));
        Ok(rows.collect())
    }

    /// The estimates for a run, without and with a limit for propensities.
    #[expect(clippy::too_many_arguments, reason = "called by rankwise.clicks only")]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        run: &Bound<'py, PyDict>,
        propensities: &Bound<'py, Propensities>,
        metric: &str,
        clip: f64,
        resamples: usize,
        confidence: f64,
        seed: u64,
        n_jobs: Option<i64>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let value = RankValue::parse(metric).map_err(exception)?;
        let options = EstimateOptions { value, clip, resamples, confidence, seed };
        let rankings = rankings_of_run(&trec_run(run)?).map_err(exception)?;
        let mut clicks = Counterfactual::new(&rankings).map_err(exception)?;
        self.each(py, |session| {
            clicks.add(session);
            Ok(())
        })?;
        let theta = &propensities.get().0;
        let estimate = |clip| {
            let options = EstimateOptions { clip, ..options };
            work::unattended(py, n_jobs, || clicks.estimate(theta, &options))?.map_err(exception)
        };
        let (unclipped, clipped) = (estimate(0.0)?, estimate(clip)?);
        work::log(py, "warning", &unclipped.notes(&clipped))?;
        Ok((to_python(py, &json!(unclipped))?, to_python(py, &json!(clipped))?))
    }

    /// Training data whose labels are weighted clicks, or with `by_session` the clicks of each session on its own; the
    /// features are those of the sessions, or of other data.
    fn training_data(
        &self,
        py: Python<'_>,
        features: Option<&Bound<'_, Data>>,
        propensities: Option<&Bound<'_, Propensities>>,
        clip: f64,
        by_session: bool,
        fill_in: Option<&Bound<'_, Ranker>>,
    ) -> PyResult<Data> {
        let weights = ClickWeights { propensities: propensities.map(|theta| theta.get().0.clone()), clip };
        let features = features.map(|features| Arc::clone(&features.get().dataset));
        let fill_in = fill_in.map(|ranker| ranker.get().ranker.clone());
        let made = self.made(py, move |sessions| {
            let made = match (by_session, features.as_deref()) {
                (true, features) => ClickWeights::lists(sessions, features),
                (false, Some(features)) => weights.joined(sessions, features),
                (false, None) => weights.of_sessions(sessions),
            }?;
            let Some(ranker) = fill_in else { return Ok(made) };
            let predictions = ranker.score(&made.data)?;
            made.filled_in(&predictions)
        })?;
        let ClickData { data, notes, .. } = made;
        work::log(py, "warning", &notes)?;
        Ok(Data::of_dataset(data))
    }

    /// The result of each pair of rankers, and the number of sessions that are not interleaved.
    fn interleaving<'py>(&self, py: Python<'py>, confidence: f64) -> PyResult<(Bound<'py, PyAny>, u64)> {
        let mut tallies = InterleavingTallies::default();
        self.each(py, |session| {
            tallies.add(session);
            Ok(())
        })?;
        let results = tallies.results(confidence).map_err(exception)?;
        Ok((to_python(py, &json!(results))?, tallies.not_interleaved()))
    }
}

/// A run from a dictionary of dictionaries of scores.
fn trec_run(run: &Bound<'_, PyDict>) -> PyResult<TrecRun> {
    let mut topics = Vec::with_capacity(run.len());
    for (query, scores) in run.iter() {
        let mut topic =
            Topic { id: super::session::id(&query)?, documents: Texts::new(), values: Vec::new() };
        for (document, score) in scores.cast::<PyDict>()?.iter() {
            topic.documents.push(&super::session::id(&document)?);
            topic.values.push(score.extract()?);
        }
        if topic.values.iter().any(|score: &f64| score.is_nan()) {
            return Err(PyValueError::new_err(format!(
                "a score of query {} is not a number (NaN)",
                topic.id
            )));
        }
        topics.push(topic);
    }
    Ok(TrecRun { topics, tag: String::new() })
}
