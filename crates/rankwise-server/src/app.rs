//! All that requests share.

use crate::catalogue::{Catalogue, Models, Searchable};
use crate::counters::{Counters, RouteCounters, count};
use crate::judging::Judging;
use crate::pool::Pool;
use crate::problem::Problem;
use crate::sessions::ClickLog;
use crate::settings::Settings;
use crate::store::Store;
use crate::tokens::Tokens;
use crate::traffic;
use rankwise::clicks::Session;
use rankwise::{Error, Result};
use rankwise_search::{Index, Snapshot};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use tokio::sync::Mutex;

/// All that requests share.
pub(crate) struct App {
    pub(crate) settings: Settings,
    pub(crate) models: Models,
    pub(crate) pool: Pool,
    pub(crate) tokens: Tokens,
    /// The log of what is shown and clicked.
    pub(crate) clicks: Option<ClickLog>,
    pub(crate) judging: Option<Judging>,
    /// The leaderboard, and the revisions of models and judgments that it is of.
    pub(crate) leaderboard: Mutex<Option<((u64, u64), Value)>>,
    /// Held while a model is sent and loaded.
    pub(crate) uploading: Mutex<()>,
    pub(crate) counters: Arc<Counters>,
    /// The names of all routes, and their counts.
    pub(crate) routes: Vec<(String, RouteCounters)>,
    pub(crate) started: Instant,
    /// What was noticed at the start, a sentence each.
    pub(crate) notes: Vec<String>,
    /// Whether the server is about to end.
    pub(crate) draining: AtomicBool,
}

impl App {
    /// Reads everything that the settings name, and checks it.
    pub(crate) fn start(settings: Settings, routes: impl Iterator<Item = String>) -> Result<App> {
        check(&settings)?;
        let tokens = Tokens::new(settings.admin_tokens.clone(), settings.judge_tokens.clone())?;
        let store = settings.model_store.as_deref().map(Store::open).transpose()?;
        let models = Models::new(searchable(&settings)?, store)?;
        let mut notes = models.begin(&settings)?;
        notes.extend(check_served(&settings, &models.now())?);
        traffic::check(&settings, &models.now())?;
        let mut of_files = Vec::new();
        let (clicks, judging) =
            open_files(&settings, &mut of_files).map_err(|error| told(&of_files, error))?;
        notes.extend(of_files);
        let pool =
            Pool::start(settings.threads, settings.max_concurrent, settings.deadline).map_err(|error| {
                Error::parameter(format!("cannot start {} threads: {error}", settings.threads))
            })?;
        Ok(App {
            models,
            pool,
            tokens,
            clicks,
            judging,
            leaderboard: Mutex::default(),
            uploading: Mutex::default(),
            counters: Arc::default(),
            routes: routes.map(|name| (name, RouteCounters::default())).collect(),
            started: Instant::now(),
            notes,
            draining: AtomicBool::new(false),
            settings,
        })
    }
}

impl App {
    /// Logs a list that is about to be shown. Returns the id of its session, if there is a log that can be written.
    pub(crate) fn show(&self, session: Session) -> Option<String> {
        let counters = Arc::clone(&self.counters);
        let done = move |written| count(if written { &counters.sessions } else { &counters.unwritten });
        self.clicks.as_ref()?.shown(session, done)
    }

    /// Searches the newest commit of the index from now on. Returns what an operator should know, if there was one.
    pub(crate) fn refresh(self: &Arc<Self>) -> Option<String> {
        let path = self.settings.index.as_ref()?;
        if !self.models.now().index.as_ref()?.snapshot.is_outdated() {
            return None;
        }
        let refreshed = newest(path).map_err(Problem::from).and_then(|snapshot| {
            let documents = snapshot.len();
            self.models.refresh(snapshot).map(|()| documents)
        });
        Some(match refreshed {
            Ok(documents) => {
                self.changed();
                format!("{} has changed; {documents} documents are searched now", path.display())
            }
            Err(problem) => format!(
                "{} has changed and cannot be used, so the documents from before are searched on: {}",
                path.display(),
                problem.detail
            ),
        })
    }

    /// Does what follows from a change of models: the documents to judge are collected again.
    pub(crate) fn changed(self: &Arc<Self>) {
        count(&self.counters.swaps);
        self.collect();
    }

    /// Collects the documents to judge on a thread of its own.
    pub(crate) fn collect(self: &Arc<Self>) {
        let app = Arc::clone(self);
        if self.judging.is_some() && self.settings.index.is_some() {
            let work = move || {
                if let Some(judging) = &app.judging
                    && judging.collect(&app.models, app.settings.pool).is_err()
                {
                    count(&app.counters.failures);
                }
            };
            // Without the thread, judges are told that the documents are being collected.
            let _ = std::thread::Builder::new().name("collect".to_owned()).spawn(work);
        }
    }

    /// Writes what waits, when there are no more requests.
    pub(crate) fn close(&self) {
        self.pool.close();
        self.clicks.iter().for_each(ClickLog::close);
        self.judging.iter().for_each(Judging::close);
    }
}

/// Opens the log and the judgments.
fn open_files(settings: &Settings, notes: &mut Vec<String>) -> Result<(Option<ClickLog>, Option<Judging>)> {
    let clicks = settings.log.as_ref().map(|path| ClickLog::open(path, settings.durability)).transpose()?;
    let clicks = clicks.map(|(log, more)| {
        notes.extend(more);
        log
    });
    let judging = settings.judgments.as_ref().map(|path| Judging::open(path, settings, notes)).transpose()?;
    Ok((clicks, judging))
}

/// An error after files were changed, with what was done to them.
fn told(notes: &[String], error: Error) -> Error {
    match notes.is_empty() {
        true => error,
        false => Error::data(format!("{error}. Before that: {}", notes.join(". "))),
    }
}

fn check(settings: &Settings) -> Result<()> {
    check_different(settings)?;
    for (name, value) in [
        ("threads", settings.threads),
        ("max_body", settings.max_body),
        ("max_rows", settings.max_rows),
        ("max_concurrent", settings.max_concurrent),
        ("depth", settings.retrieval.depth.unwrap_or(1)),
    ] {
        if value == 0 {
            return Err(Error::parameter(format!("`{name}` is 0; it must be at least 1")));
        }
    }
    if !settings.listen.ip().is_loopback() && settings.admin_tokens.is_empty() {
        return Err(Error::parameter(format!(
            "{} can be reached from other machines, so the server needs a token for those who may write; give it a token \
             file, or listen on 127.0.0.1",
            settings.listen
        )));
    }
    Ok(())
}

/// Rejects names and files that are given for two things.
fn check_different(settings: &Settings) -> Result<()> {
    let names = || settings.models.iter().map(|(name, _)| name);
    if let Some((_, name)) =
        names().enumerate().find(|(at, name)| names().take(*at).any(|other| other == *name))
    {
        return Err(Error::parameter(format!(
            "two models are called `{name}`; every model needs a name of its own"
        )));
    }
    match (&settings.log, &settings.judgments) {
        (Some(log), Some(judgments)) if is_same_file(log, judgments) => Err(Error::parameter(format!(
            "{} is to be the log of clicks and the file of judgments; they need a file each",
            log.display()
        ))),
        _ => Ok(()),
    }
}

/// Whether two paths name one file, which may not exist yet.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| {
        path.canonicalize().ok().or_else(|| {
            let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
            Some(directory.unwrap_or(Path::new(".")).canonicalize().ok()?.join(path.file_name()?))
        })
    };
    one == other || (whole(one).is_some() && whole(one) == whole(other))
}

/// Rejects a server that could never answer anything. Returns what an operator should know.
fn check_served(settings: &Settings, catalogue: &Catalogue) -> Result<Option<String>> {
    if catalogue.all().next().is_none() && settings.admin_tokens.is_empty() {
        return Err(Error::parameter(
            "there is nothing to serve: give the server an index, a model, or a token file, with which models can be sent",
        ));
    }
    let is_empty = catalogue.index.as_ref().is_some_and(|index| index.snapshot.is_empty());
    let index = settings.index.as_ref().filter(|_| is_empty);
    Ok(index.map(|index| format!("the index {} has no documents yet", index.display())))
}

fn searchable(settings: &Settings) -> Result<Option<Searchable>> {
    let Settings { index: Some(path), retrieval, .. } = settings else { return Ok(None) };
    Ok(Some(Searchable { snapshot: Arc::new(newest(path)?), retrieval: retrieval.clone() }))
}

/// The last commit of an index.
fn newest(path: &Path) -> Result<Snapshot> {
    Index::open(path)?.snapshot()
}
