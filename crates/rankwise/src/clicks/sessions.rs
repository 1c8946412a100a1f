//! The distinct sessions of a log.

use super::log::Session;
use super::pairs::Pairs;
use crate::error::{Error, Result};
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Makes the hash that divides sessions another one than those that are used elsewhere.
const SPLIT_SEED: u64 = 0x6865_6c64_206f_7574;

/// A log reduced to its distinct sessions (the same query, list and clicks) and how often each occurred: what click models
/// are fitted to. Its memory grows with the number of distinct sessions.
///
/// ```
/// use rankwise::clicks::{Session, SessionTable};
/// let line = r#"{"id": "s", "query": "q", "shown": ["a", "b"], "clicks": [{"doc": "b"}]}"#;
/// let session: Session = serde_json::from_str(line).unwrap();
/// let table: SessionTable = [&session, &session].into_iter().collect();
/// assert_eq!((table.sessions(), table.distinct()), (2, 1));
/// ```
#[derive(Debug, Clone, Default)]
pub struct SessionTable {
    pairs: Pairs,
    /// The documents shown, each packed into a number, and how often.
    patterns: HashMap<Box<[u64]>, u64>,
    sessions: u64,
}

/// A document shown in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shown {
    /// Its number, with its query, in the order of their texts.
    pub(super) pair: usize,
    /// Its rank, from 1.
    pub(super) rank: usize,
    pub(super) clicked: bool,
}

/// Sessions that are alike.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pattern {
    pub(super) shown: Vec<Shown>,
    pub(super) count: u64,
}

/// All patterns in an order that does not depend on the log's.
#[derive(Debug, Clone)]
pub(super) struct SortedSessions<'a> {
    /// The query and document of each pair, ascending.
    pub(super) pairs: Vec<(&'a str, &'a str)>,
    pub(super) patterns: Vec<Pattern>,
    /// The largest rank.
    pub(super) ranks: usize,
}

/// Ranks above this one are counted as this one: they share a number with the pair.
const MAX_RANK: u64 = (1 << 31) - 1;

fn pack(pair: u32, rank: u32, clicked: bool) -> u64 {
    u64::from(rank).min(MAX_RANK) << 33 | u64::from(pair) << 1 | u64::from(clicked)
}

impl SessionTable {
    /// Collects all sessions, such as those of a [`LogReader`](super::LogReader).
    pub fn of(sessions: impl IntoIterator<Item = Result<Session>>) -> Result<SessionTable> {
        let mut table = SessionTable::default();
        for session in sessions {
            table.add(&session?);
        }
        Ok(table)
    }

    /// Adds one session.
    pub fn add(&mut self, session: &Session) {
        let query = self.pairs.query(&session.query);
        let clicked = session.clicked();
        let mut packed = Vec::with_capacity(clicked.len());
        for (place, document) in session.shown.iter().enumerate() {
            packed.push(pack(self.pairs.pair(query, document), session.rank(place), clicked[place]));
        }
        *self.patterns.entry(packed.into()).or_default() += 1;
        self.sessions += 1;
    }

    /// The number of sessions.
    pub fn sessions(&self) -> u64 {
        self.sessions
    }

    /// The number of distinct sessions.
    pub fn distinct(&self) -> usize {
        self.patterns.len()
    }

    pub(super) fn sorted(&self) -> SortedSessions<'_> {
        let sorted = self.pairs.sorted();
        let mut place_of = vec![0; sorted.len()];
        for (place, (.., pair)) in sorted.iter().enumerate() {
            place_of[*pair as usize] = place;
        }
        let shown = |packed: &u64| Shown {
            pair: place_of[(packed >> 1) as u32 as usize],
            rank: (packed >> 33) as usize,
            clicked: packed & 1 == 1,
        };
        let pattern = |packed: &[u64], count| Pattern { shown: packed.iter().map(shown).collect(), count };
        let mut patterns: Vec<Pattern> =
            self.patterns.iter().map(|(packed, &count)| pattern(packed, count)).collect();
        patterns.sort_unstable();
        let ranks = patterns.iter().flat_map(|p| &p.shown).map(|shown| shown.rank).max().unwrap_or(0);
        let pairs = sorted.into_iter().map(|(query, document, _)| (query, document)).collect();
        SortedSessions { pairs, patterns, ranks }
    }
}

impl<'a> FromIterator<&'a Session> for SessionTable {
    fn from_iter<I: IntoIterator<Item = &'a Session>>(sessions: I) -> Self {
        let mut table = SessionTable::default();
        sessions.into_iter().for_each(|session| table.add(session));
        table
    }
}

impl SortedSessions<'_> {
    /// The ranks at which documents were shown, ascending.
    pub(super) fn shown_ranks(&self) -> Vec<usize> {
        let mut is_shown = vec![false; self.ranks];
        self.patterns
            .iter()
            .flat_map(|pattern| &pattern.shown)
            .for_each(|shown| is_shown[shown.rank - 1] = true);
        (1..=self.ranks).filter(|rank| is_shown[rank - 1]).collect()
    }
}

/// Sessions divided at random into those that a click model is fitted to and those that it is evaluated on. The hash of a
/// session's id decides, so it is on the same side in every run, wherever it stands in the log.
///
/// ```
/// use rankwise::clicks::{Session, SplitSessions};
/// let mut split = SplitSessions::new(0.25)?;
/// for number in 0..1000 {
///     split.add(&Session { id: number.to_string(), shown: vec!["d".into()], ..Session::default() });
/// }
/// assert_eq!(split.fitted.sessions() + split.held_out.sessions(), 1000);
/// assert!((200..300).contains(&split.held_out.sessions()));
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SplitSessions {
    /// The sessions to fit a model to.
    pub fitted: SessionTable,
    /// The sessions to evaluate it on.
    pub held_out: SessionTable,
    fraction: f64,
}

impl SplitSessions {
    /// No sessions yet. The fraction that is held out is at least 0 and below 1.
    pub fn new(fraction: f64) -> Result<SplitSessions> {
        if !(0.0..1.0).contains(&fraction) {
            return Err(Error::parameter(format!(
                "the fraction of sessions that are held out is {fraction}; it must be at least 0 and below 1"
            )));
        }
        Ok(SplitSessions { fitted: SessionTable::default(), held_out: SessionTable::default(), fraction })
    }

    /// Adds a session to one of the two.
    pub fn add(&mut self, session: &Session) {
        // The leading 53 bits as a number from 0 to 1.
        let place =
            (xxh3_64_with_seed(session.id.as_bytes(), SPLIT_SEED) >> 11) as f64 / (1_u64 << 53) as f64;
        match place < self.fraction {
            true => self.held_out.add(session),
            false => self.fitted.add(session),
        }
    }
}
