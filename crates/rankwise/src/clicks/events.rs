//! Logs that a server appends to while it runs: a line for every list that is shown, and a line for clicks when they come.
//!
//! ```text
//! {"id":"5f…","query":"red shoes","ranker":"prod","shown":["d7","d2"],"clicks":[],"time":12.5,"check":"8a70c1f25be93d04"}
//! {"session":"5f…","clicks":[{"doc":"d2","time":16.0}],"check":"03b5e88e6f9d21a7"}
//! ```
//!
//! The last field of a line is the checksum of all before it, so a line that was not written completely is noticed.
//! [`LogReader`](super::LogReader) joins clicks with their lists. Lists wait for clicks until 256 MB of lines came after
//! them. A line that begins with `{"shadow":` is the ranking of a model whose lists nobody saw; it is left out.

use super::checks::Checks;
use super::log::{Click, Session, text};
use super::report::LogProblem;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of lines after which a list no longer waits for clicks.
pub const WAITING_BYTES: usize = 1 << 28;

/// Clicks on a list that was shown before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Clicked {
    /// The id of the session in which the list was shown.
    #[serde(deserialize_with = "text")]
    pub session: String,
    /// The clicks.
    pub clicks: Vec<Click>,
}

/// What a line with a checksum says.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A list was shown.
    Shown(Box<Session>),
    /// Documents of it were clicked.
    Clicked(Clicked),
    /// Something that concerns neither lists nor clicks.
    Other,
}

/// What the checksum of a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seal {
    /// There is none.
    Absent,
    /// It is right.
    Intact,
    /// It is wrong.
    Broken,
}

const CHECK: &[u8] = b",\"check\":\"";

/// Bytes from the comma before the checksum to the end of the line.
const SEAL_LENGTH: usize = CHECK.len() + 16 + 2;

/// An object as a line of JSON with a checksum.
///
/// ```
/// use rankwise::clicks::events::{Event, Seal, seal_of, sealed};
/// use rankwise::clicks::Session;
/// let session = Session { id: "s".into(), query: "q".into(), shown: vec!["a".into()], ..Session::default() };
/// let line = sealed(&session)?;
/// assert_eq!(seal_of(&line), Seal::Intact);
/// assert_eq!(Event::read(&line)?, Event::Shown(Box::new(session.clone())));
/// assert_eq!(seal_of(&String::from_utf8_lossy(&line).replace("\"q\"", "\"p\"").into_bytes()), Seal::Broken);
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn sealed(object: &impl Serialize) -> Result<Vec<u8>> {
    let mut line = serde_json::to_vec(object)
        .map_err(|e| Error::data(format!("an event cannot be written as JSON: {e}")))?;
    if line.pop() != Some(b'}') || line.len() < 2 {
        return Err(Error::data("an event must be a JSON object with a field"));
    }
    let check = format!("{:016x}", xxh3_64(&line));
    line.extend_from_slice(CHECK);
    line.extend_from_slice(check.as_bytes());
    line.extend_from_slice(b"\"}\n");
    Ok(line)
}

/// What the checksum of a line says.
pub fn seal_of(line: &[u8]) -> Seal {
    let line = line.trim_ascii();
    let Some(start) = line.len().checked_sub(SEAL_LENGTH) else { return Seal::Absent };
    let (content, seal) = line.split_at(start);
    let Some(digits) = seal.strip_prefix(CHECK).and_then(|rest| rest.strip_suffix(b"\"}")) else {
        return Seal::Absent;
    };
    match format!("{:016x}", xxh3_64(content)).as_bytes() == digits {
        true => Seal::Intact,
        false => Seal::Broken,
    }
}

impl Event {
    /// What a line says whose checksum is right.
    pub fn read(line: &[u8]) -> Result<Event> {
        Event::parse(line).map_err(|e| Error::malformed(format!("a line of the log is no event: {e}")))
    }

    fn parse(line: &[u8]) -> serde_json::Result<Event> {
        if line.starts_with(b"{\"session\":") {
            return serde_json::from_slice(line).map(Event::Clicked);
        }
        match line.starts_with(b"{\"shadow\":") {
            true => Ok(Event::Other),
            false => serde_json::from_slice(line).map(|session| Event::Shown(Box::new(session))),
        }
    }
}

/// Lists that wait for clicks.
#[derive(Default)]
pub(super) struct Waiting {
    sessions: VecDeque<Waiter>,
    /// The number of the session with this id, counted from the first that ever waited.
    numbers: HashMap<String, u64>,
    /// The number of the first session that waits.
    first: u64,
    bytes: usize,
}

struct Waiter {
    session: Session,
    place: String,
    bytes: usize,
}

impl Waiting {
    /// Takes a line of a server's log.
    pub(super) fn take(&mut self, line: &[u8], place: String, checks: &mut Checks) {
        checks.report.lines += 1;
        match Event::parse(line) {
            Ok(Event::Shown(session)) => self.add(*session, place, line.len()),
            Ok(Event::Clicked(clicked)) => self.click(clicked, &place, line.len(), checks),
            Ok(Event::Other) => {
                checks.report.add(LogProblem::OtherEvent, || format!("{place}: another event"))
            }
            Err(error) => checks.report.add(LogProblem::Malformed, || format!("{place}: {error}")),
        }
    }

    fn add(&mut self, session: Session, place: String, bytes: usize) {
        self.bytes += bytes;
        // Of two sessions with one id, clicks belong to the first; the second will be left out.
        let number = self.first + self.sessions.len() as u64;
        self.numbers.entry(session.id.clone()).or_insert(number);
        self.sessions.push_back(Waiter { session, place, bytes });
    }

    fn click(&mut self, clicked: Clicked, place: &str, bytes: usize, checks: &mut Checks) {
        let waiter = self.numbers.get(&clicked.session).and_then(|number| {
            let at = usize::try_from(number - self.first).ok()?;
            self.sessions.get_mut(at)
        });
        match waiter {
            Some(waiter) => {
                waiter.session.clicks.extend(clicked.clicks);
                waiter.bytes += bytes;
                self.bytes += bytes;
            }
            None => checks.report.add(LogProblem::UnknownRanking, || {
                format!("{place}: clicks on a list of session `{}`", clicked.session)
            }),
        }
    }

    /// The first list, if it has waited long enough or nothing more will come.
    pub(super) fn next(&mut self, at_end: bool) -> Option<(Session, String)> {
        if !at_end && self.bytes <= WAITING_BYTES {
            return None;
        }
        let Waiter { session, place, bytes } = self.sessions.pop_front()?;
        self.bytes -= bytes;
        if self.numbers.get(&session.id) == Some(&self.first) {
            self.numbers.remove(&session.id);
        }
        self.first += 1;
        Some((session, place))
    }
}
