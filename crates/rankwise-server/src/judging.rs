//! Judgments of people: the file, and which document a judge sees next.

mod table;

use crate::catalogue::{Catalogue, Models};
use crate::journal::{Entry, Journal, Opened};
use crate::problem::{Answer, Problem};
use crate::sessions::written;
use crate::settings::{Durability, Settings};
use arc_swap::ArcSwapOption;
use rankwise::data::read_run;
use rankwise::labels::{Judgment, JudgmentColumns, Judgments};
use rankwise::{Error, Result};
use rankwise_search::Query;
use rankwise_search::document::{NamedQuery, read_queries};
use rankwise_search::search::in_order;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use xxhash_rust::xxh3::xxh3_64;

/// How long a document that was given to a judge is kept for that judge.
const LEASE: Duration = Duration::from_secs(600);

/// Judgments of people.
pub(crate) struct Judging {
    journal: Journal,
    state: Arc<Mutex<State>>,
    durability: Durability,
    pub(crate) queries: Vec<NamedQuery>,
    /// How many judges see the same document.
    pub(crate) judges: usize,
    /// What runs rank first, for each query.
    runs: Option<RunDocuments>,
    /// What is judged, once it is known.
    pool: ArcSwapOption<Pool>,
}

/// Documents by query.
type RunDocuments = HashMap<String, BTreeSet<String>>;

/// The documents to judge for every query, in the order in which all judges see them.
pub(crate) struct Pool {
    revision: u64,
    pub(crate) documents: Vec<Vec<String>>,
}

impl Pool {
    /// The places of queries, and their documents.
    fn pairs(&self) -> impl Iterator<Item = (usize, &String)> {
        let numbered = self.documents.iter().enumerate();
        numbered.flat_map(|(number, documents)| documents.iter().map(move |document| (number, document)))
    }

    /// The place of a document among those of a query.
    fn place(&self, number: usize, document: &str) -> Option<usize> {
        self.documents.get(number)?.iter().position(|other| other == document)
    }
}

/// What was judged.
#[derive(Default)]
struct State {
    judgments: Judgments,
    /// Changes with every judgment.
    revision: u64,
    leases: HashMap<(String, String), Vec<(String, Instant)>>,
}

/// A document to judge.
pub(crate) struct Task {
    /// The place of its query.
    pub(crate) query: usize,
    pub(crate) document: String,
}

/// How far a judge is.
pub(crate) struct Progress {
    /// Documents that the judge has judged.
    pub(crate) judged: usize,
    /// Documents that are left for this judge.
    pub(crate) left: usize,
    /// Documents of all queries.
    pub(crate) pool: usize,
}

impl Judging {
    /// Opens the file of judgments. A table without checksums gets them.
    pub(crate) fn open(path: &Path, settings: &Settings, notes: &mut Vec<String>) -> Result<Judging> {
        let queries = match &settings.queries {
            Some(queries) => read_queries(queries, None)?,
            None => Vec::new(),
        };
        notes.extend(table::prepare(path)?);
        let Opened { journal, lines, notes: more } = Journal::open(path, u64::MAX, table::FORM)?;
        notes.extend(more);
        notes.extend(table::check(path, &lines)?);
        let judgments = Judgments::read(path, &JudgmentColumns::default())?;
        let runs = match settings.runs.is_empty() {
            true => None,
            false => Some(first_of_runs(&settings.runs, settings.pool)?),
        };
        if let Some(runs) = &runs {
            let without = queries.iter().filter(|query| !runs.contains_key(&query.id)).count();
            if without == queries.len() {
                return Err(Error::data(
                    "no query has documents in the runs; are the ids of the queries those of the runs?",
                ));
            }
            if without > 0 {
                notes.push(format!("{without} of {} queries have no documents in the runs", queries.len()));
            }
        }
        let state = Arc::new(Mutex::new(State { judgments, ..State::default() }));
        let (durability, judges) = (settings.durability, settings.judges);
        let pool = ArcSwapOption::empty();
        Ok(Judging { journal, state, durability, queries, judges, runs, pool })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a judgment, or takes one back if its grade is NaN. Returns when it is safe.
    pub(crate) async fn judge(&self, judgment: Judgment) -> Answer<()> {
        let line = table::sealed(&judgment);
        let (sender, receiver) = oneshot::channel();
        let state = Arc::clone(&self.state);
        let finish = move |written: crate::journal::Written| {
            if written.is_ok() {
                state.lock().unwrap_or_else(PoisonError::into_inner).take(judgment);
            }
            // The client may have gone.
            let _ = sender.send(written);
        };
        let sync = self.durability != Durability::None;
        self.journal.append(Entry { line, sync, done: Box::new(finish) });
        written(receiver.await)
    }

    /// The judgments of a judge or a query, or all.
    pub(crate) fn list(&self, judge: Option<&str>, query: Option<&str>) -> Vec<Judgment> {
        let fits = |judgment: &&Judgment| {
            judge.is_none_or(|judge| judgment.judge == judge)
                && query.is_none_or(|query| judgment.query == query)
        };
        self.lock().judgments.all().iter().filter(fits).cloned().collect()
    }

    /// All judgments, and a number that changes with them.
    pub(crate) fn all(&self) -> (Judgments, u64) {
        let state = self.lock();
        (state.judgments.clone(), state.revision)
    }

    /// What is to be judged.
    pub(crate) fn pool(&self) -> Answer<Arc<Pool>> {
        self.pool.load_full().ok_or_else(|| Problem {
            retry_after: Some(2),
            ..Problem::busy("the documents to judge are being collected; try again soon")
        })
    }

    /// Collects the documents to judge: the first ones of every run, or of every model, for every query. Does nothing if
    /// that was done for these models.
    pub(crate) fn collect(&self, models: &Models, depth: usize) -> Result<()> {
        let catalogue = models.now();
        if self.pool.load().as_ref().is_some_and(|pool| pool.revision == catalogue.revision) {
            return Ok(());
        }
        let documents = self.queries.iter().map(|query| {
            let documents = match &self.runs {
                Some(runs) => in_index(runs.get(&query.id), &catalogue)?,
                None => pooled(query, &catalogue, depth)?,
            };
            Ok(disguised(query, documents))
        });
        let documents = documents.collect::<Result<_>>()?;
        self.pool.store(Some(Arc::new(Pool { revision: catalogue.revision, documents })));
        Ok(())
    }

    /// The next document for a judge, which is then kept for this judge for a while, and how far the judge is. After a
    /// document that the judge leaves for later, it is the one behind it, from the last on to the first.
    pub(crate) fn next(
        &self,
        judge: &str,
        only: Option<&str>,
        after: Option<&(String, String)>,
        pool: &Pool,
    ) -> (Option<Task>, Progress) {
        let mut state = self.lock();
        state.leases.retain(|_, leases| {
            leases.retain(|(_, since)| since.elapsed() < LEASE);
            !leases.is_empty()
        });
        if let Some(leases) = after.and_then(|after| state.leases.get_mut(after)) {
            leases.retain(|(by, _)| by != judge);
        }
        let (open, progress) = self.open_for(&state, judge, pool);
        let fits = |(query, _): &&(usize, &String)| only.is_none_or(|only| only == self.queries[*query].id);
        let behind = after.and_then(|after| self.place(pool, after));
        let is_after = |(query, document): &&(usize, &String)| {
            behind.is_none_or(|behind| pool.place(*query, document).is_some_and(|at| (*query, at) > behind))
        };
        let mut fitting = open.iter().filter(fits);
        let next = fitting.clone().find(is_after).or(fitting.next());
        let task = next.map(|&(query, document)| Task { query, document: document.clone() });
        if let Some(Task { query, document }) = &task {
            let key = (self.queries[*query].id.clone(), document.clone());
            let leases = state.leases.entry(key).or_default();
            leases.retain(|(by, _)| by != judge);
            leases.push((judge.to_owned(), Instant::now()));
        }
        (task, progress)
    }

    /// What is open for a judge, as places of queries and documents, and how far the judge is.
    fn open_for<'a>(
        &self,
        state: &State,
        judge: &str,
        pool: &'a Pool,
    ) -> (Vec<(usize, &'a String)>, Progress) {
        let taken = state.taken(judge);
        let mut progress = Progress { judged: 0, left: 0, pool: 0 };
        let mut open = Vec::new();
        for (number, document) in pool.pairs() {
            let key = (self.queries[number].id.clone(), document.clone());
            let (by_judge, by_others) = taken.get(&key).copied().unwrap_or_default();
            let leases = state.leases.get(&key).into_iter().flatten();
            let kept = leases.filter(|(by, _)| by != judge).count();
            progress.pool += 1;
            progress.judged += usize::from(by_judge);
            if !by_judge && by_others + kept < self.judges {
                open.push((number, document));
            }
        }
        progress.left = open.len();
        (open, progress)
    }

    /// The place of a document among all documents to judge; none if it is not one of them.
    fn place(&self, pool: &Pool, (query, document): &(String, String)) -> Option<(usize, usize)> {
        let number = self.queries.iter().position(|known| known.id == *query)?;
        Some((number, pool.place(number, document)?))
    }

    /// Writes what waits.
    pub(crate) fn close(&self) {
        self.journal.close();
    }
}

impl State {
    fn take(&mut self, judgment: Judgment) {
        self.revision += 1;
        let key = (judgment.query.clone(), judgment.document.clone());
        if let Some(leases) = self.leases.get_mut(&key) {
            leases.retain(|(by, _)| *by != judgment.judge);
        }
        if judgment.grade.is_nan() {
            self.judgments.withdraw(&judgment.query, &judgment.document, &judgment.judge);
        } else {
            // It was checked that the grade is finite.
            let _ = self.judgments.push(judgment);
        }
    }

    /// By query and document: whether this judge has judged it, and how many others have.
    fn taken(&self, judge: &str) -> HashMap<(String, String), (bool, usize)> {
        let mut taken: HashMap<(String, String), (bool, usize)> = HashMap::new();
        for judgment in self.judgments.all() {
            let of = taken.entry((judgment.query.clone(), judgment.document.clone())).or_default();
            match judgment.judge == judge {
                true => of.0 = true,
                false => of.1 += 1,
            }
        }
        taken
    }
}

/// The first `depth` documents of all runs, for each query.
fn first_of_runs(paths: &[PathBuf], depth: usize) -> Result<RunDocuments> {
    let mut documents = RunDocuments::new();
    for path in paths {
        for topic in read_run(path)?.topics {
            let first = in_order(&topic).into_iter().take(depth).map(|(id, _)| id.to_owned());
            documents.entry(topic.id.clone()).or_default().extend(first);
        }
    }
    Ok(documents)
}

/// Those of these documents that can be shown.
fn in_index(documents: Option<&BTreeSet<String>>, catalogue: &Catalogue) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    if let Some(index) = &catalogue.index {
        for id in documents.into_iter().flatten() {
            if index.snapshot.find(id)?.is_some() {
                found.insert(id.clone());
            }
        }
    }
    Ok(found)
}

/// The first documents of every model.
fn pooled(query: &NamedQuery, catalogue: &Catalogue, depth: usize) -> Result<BTreeSet<String>> {
    let words = Query::words(&query.text);
    let mut documents = BTreeSet::new();
    for search in catalogue.all().filter_map(|served| served.finder()) {
        documents.extend(search.run(&words, depth)?.into_iter().map(|found| found.id));
    }
    Ok(documents)
}

/// Documents in an order that does not show which model or run likes them.
fn disguised(query: &NamedQuery, documents: BTreeSet<String>) -> Vec<String> {
    let mut documents: Vec<String> = documents.into_iter().collect();
    documents.sort_by_cached_key(|id| xxh3_64(format!("{} {id}", query.id).as_bytes()));
    documents
}
