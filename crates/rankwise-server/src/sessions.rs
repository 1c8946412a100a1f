//! The log of what was shown and clicked, and what can be said of it while it is written.

mod form;

use crate::journal::{Entry, Journal, NotWritten, Opened, Written};
use crate::problem::{Answer, Problem};
use crate::settings::Durability;
use crate::tokens::{hex, random_bytes};
use axum::http::StatusCode;
use rankwise::Result;
use rankwise::clicks::events::{Clicked, Event, Seal, WAITING_BYTES, seal_of, sealed};
use rankwise::clicks::interleave::{InterleavingResult, InterleavingTallies, wilson};
use rankwise::clicks::{Click, Interleaved, Session};
use rankwise::significance::ConfidenceInterval;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::oneshot;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// Bytes of lines after which a list takes no more clicks. Readers of the log wait for longer.
const OPEN_BYTES: usize = WAITING_BYTES / 2;

/// How often writing is tried while it fails.
const RETRY: Duration = Duration::from_secs(1);

/// The ranks for which clicks are counted one by one.
const RANKS: usize = 10;

/// The most clicks of one list.
const MAX_CLICKS: usize = 1000;

/// The log of what was shown and clicked.
pub(crate) struct ClickLog {
    journal: Journal,
    lists: Arc<Lists>,
    durability: Durability,
    last_attempt: Mutex<Option<Instant>>,
    /// The time of the last list, held while one is logged.
    latest: Mutex<f64>,
}

/// The lists that take clicks, and sums over those that do not any more.
#[derive(Default)]
struct Lists(Mutex<OpenLists>);

#[derive(Default)]
struct OpenLists {
    by_id: HashMap<IdHash, List>,
    /// Ids and lengths of lines, the oldest first.
    order: VecDeque<(IdHash, usize)>,
    bytes: usize,
    rankers: BTreeSet<Arc<str>>,
    closed: Totals,
}

/// The id of a session, as it is remembered: there may be half a million.
type IdHash = u128;

fn id_hash(id: &str) -> IdHash {
    xxh3_128(id.as_bytes())
}

/// What is remembered of a list that was shown.
struct List {
    /// Hashes of the ids of its documents.
    documents: Box<[u64]>,
    clicks: Vec<u32>,
    /// How many ranks are before its first document.
    before: u32,
    time: f64,
    ranker: Arc<str>,
    interleaved: Option<Box<Interleaved>>,
}

/// Sums over lists.
#[derive(Clone, Default)]
struct Totals {
    by_ranker: BTreeMap<Arc<str>, RankerClicks>,
    interleaving: InterleavingTallies,
    interleaved: bool,
}

/// How often the lists of a ranker were clicked.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct RankerClicks {
    /// Lists that were shown.
    pub(crate) sessions: u64,
    /// Lists with a click.
    pub(crate) clicked: u64,
    /// Clicks, without repeated ones.
    pub(crate) clicks: u64,
    /// How often the first ranks were shown, and clicked.
    pub(crate) by_rank: [(u64, u64); RANKS],
}

/// What the log says so far.
pub(crate) struct Live {
    pub(crate) by_ranker: BTreeMap<Arc<str>, RankerClicks>,
    pub(crate) interleaving: Vec<InterleavingResult>,
}

/// A click as a client reports it.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReportedClick {
    /// The id of the document.
    pub(crate) doc: String,
    /// Seconds after the list was shown; now, if it is not given.
    pub(crate) time: Option<f64>,
}

impl ClickLog {
    /// Opens the log, and takes up the lists that were shown last.
    pub(crate) fn open(path: &Path, durability: Durability) -> Result<(ClickLog, Vec<String>)> {
        let Opened { journal, lines, mut notes } = Journal::open(path, WAITING_BYTES as u64, form::LOG)?;
        let lists = Arc::new(Lists::default());
        let mut unread = 0;
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match (seal_of(line), Event::read(line)) {
                (Seal::Intact, Ok(event)) => lists.lock().replay(event, line.len()),
                _ => unread += 1,
            }
        }
        if unread > 0 {
            let of = "that this server has not written, or that were damaged since; their clicks are not counted in /live";
            notes.push(format!("{} has {unread} lines {of}", path.display()));
        }
        Ok((
            ClickLog { journal, lists, durability, last_attempt: Mutex::default(), latest: Mutex::default() },
            notes,
        ))
    }

    /// Logs a list that is about to be shown and returns the id of its session; nothing if the log cannot be written. `done`
    /// is told whether it was.
    pub(crate) fn shown(
        &self,
        mut session: Session,
        done: impl FnOnce(bool) + Send + 'static,
    ) -> Option<String> {
        if session.shown.is_empty() || !self.may_try() {
            return None;
        }
        session.id = hex(&random_bytes::<16>().ok()?);
        let id = session.id.clone();
        let always = self.durability == Durability::Always;
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let (lists, failed) = (Arc::clone(&self.lists), id.clone());
        let finish = move |written: Written| {
            if written.is_err() {
                lists.lock().forget(&failed);
            }
            done(written.is_ok());
            // Nobody waits unless lists must be on the disk.
            let _ = sender.try_send(written.is_ok());
        };
        // The order in the file is that of the times, also if the clock goes back.
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        *latest = latest.max(now());
        session.time = Some(*latest);
        let line = sealed(&session).ok()?;
        self.lists.lock().add(&session, line.len());
        self.journal.append(Entry { line, sync: always, done: Box::new(finish) });
        drop(latest);
        (!always || receiver.recv() == Ok(true)).then_some(id)
    }

    /// While writing fails, a list is logged once in a while, to see whether it still does.
    fn may_try(&self) -> bool {
        if !self.journal.is_failing() {
            return true;
        }
        let mut last = self.last_attempt.lock().unwrap_or_else(PoisonError::into_inner);
        let may = last.is_none_or(|last| last.elapsed() > RETRY);
        if may {
            *last = Some(Instant::now());
        }
        may
    }

    /// Logs clicks on a list that was shown. Returns when they are safe.
    pub(crate) async fn clicked(&self, session: &str, reported: Vec<ReportedClick>) -> Answer<usize> {
        let count = reported.len();
        let clicks = self.lists.lock().check(session, reported)?;
        let clicked = Clicked { session: session.to_owned(), clicks };
        let line = sealed(&clicked)?;
        let (sender, receiver) = oneshot::channel();
        let (lists, length) = (Arc::clone(&self.lists), line.len());
        let finish = move |written: Written| {
            if written.is_ok() {
                lists.lock().click(&clicked, length);
            }
            // The client may have gone.
            let _ = sender.send(written);
        };
        let sync = self.durability != Durability::None;
        self.journal.append(Entry { line, sync, done: Box::new(finish) });
        written(receiver.await)?;
        Ok(count)
    }

    /// Logs something that is neither a list nor a click.
    pub(crate) fn note(&self, object: &impl Serialize) {
        if !self.journal.is_failing()
            && let Ok(line) = sealed(object)
        {
            self.journal.append(Entry { line, sync: false, done: Box::new(|_| {}) });
        }
    }

    /// What the log says so far.
    pub(crate) fn live(&self) -> Result<Live> {
        let lists = self.lists.lock();
        let mut totals = lists.closed.clone();
        lists.by_id.values().for_each(|list| totals.add(list));
        drop(lists);
        let interleaving = match totals.interleaved {
            true => totals.interleaving.results(0.95)?,
            false => Vec::new(),
        };
        Ok(Live { by_ranker: totals.by_ranker, interleaving })
    }

    /// Writes what waits.
    pub(crate) fn close(&self) {
        self.journal.close();
    }
}

/// Whether an event is safe, or why it is not.
pub(crate) fn written<E>(received: std::result::Result<Written, E>) -> Answer<()> {
    match received {
        Ok(Ok(())) => Ok(()),
        Ok(Err(NotWritten(why))) => Err(Problem {
            retry_after: Some(30),
            ..Problem::new(
                StatusCode::INSUFFICIENT_STORAGE,
                format!("it was not accepted: {why}; searching and scoring go on"),
            )
        }),
        Err(_) => Err(Problem::internal("the log is not written any more; start the server again")),
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    // Milliseconds are enough, and shorter.
    (since.as_secs_f64() * 1e3).round() / 1e3
}

impl Lists {
    fn lock(&self) -> MutexGuard<'_, OpenLists> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenLists {
    /// Takes up what the log says.
    fn replay(&mut self, event: Event, length: usize) {
        match event {
            Event::Shown(session) => self.add(&session, length),
            Event::Clicked(clicked) => self.click(&clicked, length),
            Event::Other => {}
        }
    }

    fn add(&mut self, session: &Session, length: usize) {
        let hash = |id: &String| xxh3_64(id.as_bytes());
        let list = List {
            documents: session.shown.iter().map(hash).collect(),
            clicks: Vec::new(),
            before: session.rank(0).saturating_sub(1),
            time: session.time.unwrap_or_default(),
            ranker: self.ranker(session.ranker.as_deref().unwrap_or_default()),
            interleaved: session.interleaved.clone().map(Box::new),
        };
        let id = id_hash(&session.id);
        self.by_id.insert(id, list);
        self.order.push_back((id, length));
        self.bytes += length;
        while self.bytes > OPEN_BYTES
            && let Some((id, length)) = self.order.pop_front()
        {
            self.bytes -= length;
            if let Some(list) = self.by_id.remove(&id) {
                self.closed.add(&list);
            }
        }
    }

    /// The name of a ranker, which all its lists share.
    fn ranker(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.rankers.get(name) {
            return Arc::clone(known);
        }
        let new: Arc<str> = name.into();
        self.rankers.insert(Arc::clone(&new));
        new
    }

    /// A list that is not in the log was not shown.
    fn forget(&mut self, id: &str) {
        self.by_id.remove(&id_hash(id));
    }

    fn click(&mut self, clicked: &Clicked, length: usize) {
        self.bytes += length;
        if let Some((_, last)) = self.order.back_mut() {
            *last += length;
        }
        if let Some(list) = self.by_id.get_mut(&id_hash(&clicked.session)) {
            let places = clicked.clicks.iter().filter_map(|click| list.place_of(&click.doc));
            let places: Vec<u32> = places.map(|place| place as u32).collect();
            list.clicks.extend(places);
        }
    }

    /// The clicks as they are logged, if the list was shown and has these documents.
    fn check(&self, session: &str, reported: Vec<ReportedClick>) -> Answer<Vec<Click>> {
        let Some(list) = self.by_id.get(&id_hash(session)) else {
            return Err(Problem::not_found(
                "there is no such session, or it was so long ago that it takes no more clicks",
            ));
        };
        if list.clicks.len() + reported.len() > MAX_CLICKS {
            return Err(Problem::unusable(format!("a session has at most {MAX_CLICKS} clicks")));
        }
        let now = now();
        let click = |ReportedClick { doc, time }| {
            if list.place_of(&doc).is_none() {
                return Err(Problem::unusable(format!("the session did not show a document `{doc}`")));
            }
            match time {
                None => Ok(Click { doc, time: Some(now.max(list.time)) }),
                Some(after) if (0.0..=1e6).contains(&after) => {
                    Ok(Click { doc, time: Some(list.time + after) })
                }
                Some(after) => Err(Problem::unusable(format!(
                    "the time of a click is {after}; it must be the number of seconds after the list was shown"
                ))),
            }
        };
        reported.into_iter().map(click).collect()
    }
}

impl List {
    fn place_of(&self, document: &str) -> Option<usize> {
        let hash = xxh3_64(document.as_bytes());
        self.documents.iter().position(|other| *other == hash)
    }

    /// The list as the library counts it: documents are called by their places.
    fn as_session(&self) -> Session {
        let click = |place: &u32| Click { doc: place.to_string(), time: None };
        Session {
            shown: (0..self.documents.len()).map(|place| place.to_string()).collect(),
            clicks: self.clicks.iter().map(click).collect(),
            interleaved: self.interleaved.as_deref().cloned(),
            ..Session::default()
        }
    }
}

impl Totals {
    fn add(&mut self, list: &List) {
        let of = self.by_ranker.entry(Arc::clone(&list.ranker)).or_default();
        let mut places = list.clicks.clone();
        places.sort_unstable();
        places.dedup();
        let before = list.before as usize;
        of.sessions += 1;
        of.clicked += u64::from(!places.is_empty());
        of.clicks += places.len() as u64;
        for (rank, (shown, clicked)) in of.by_rank.iter_mut().enumerate().skip(before) {
            let place = rank - before;
            *shown += u64::from(place < list.documents.len());
            *clicked += u64::from(places.contains(&(place as u32)));
        }
        if list.interleaved.is_some() {
            self.interleaved = true;
            self.interleaving.add(&list.as_session());
        }
    }
}

impl RankerClicks {
    /// The fraction of lists with a click, and its confidence interval.
    pub(crate) fn rate(&self) -> (f64, ConfidenceInterval) {
        rate(self.clicked, self.sessions)
    }
}

/// A fraction and its confidence interval.
pub(crate) fn rate(clicked: u64, shown: u64) -> (f64, ConfidenceInterval) {
    (clicked as f64 / (shown as f64).max(1.0), wilson(clicked, shown, 0.95))
}

#[cfg(test)]
mod tests;
