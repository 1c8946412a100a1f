//! How often each document of each query was shown and clicked at each rank.

use super::log::Session;
use super::pairs::Pairs;
use crate::error::Result;
use std::collections::{BTreeMap, HashMap};

/// How often something was shown, and how often it was clicked. Repeated clicks in a session count once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Cell {
    /// How often it was shown.
    pub shown: u64,
    /// In how many of these sessions it was clicked.
    pub clicks: u64,
}

impl Cell {
    pub(super) fn add(&mut self, clicked: bool) {
        self.shown += 1;
        self.clicks += u64::from(clicked);
    }

    pub(super) fn join(&mut self, other: Cell) {
        self.shown += other.shown;
        self.clicks += other.clicks;
    }

    /// Clicks per time shown; 0 if it was never shown.
    pub fn click_through(self) -> f64 {
        self.clicks as f64 / self.shown.max(1) as f64
    }
}

/// A log reduced to counts by query, document and rank. Its memory grows with the number of these, not with the log.
///
/// ```
/// use rankwise::clicks::{ClickCounts, Session};
/// let line = r#"{"id": "s", "query": "q", "shown": ["a", "b"], "clicks": [{"doc": "b"}]}"#;
/// let counts: ClickCounts = [serde_json::from_str::<Session>(line).unwrap()].iter().collect();
/// assert_eq!(counts.cell("q", "b", 2).clicks, 1);
/// assert_eq!(counts.by_rank().len(), 2);
/// ```
#[derive(Debug, Clone, Default)]
pub struct ClickCounts {
    pairs: Pairs,
    cells: HashMap<(u32, u32), Cell>,
    pub(super) sessions: u64,
    /// Sessions of each query.
    query_sessions: HashMap<String, u64>,
    pub(super) clicked_sessions: u64,
    pub(super) rankers: BTreeMap<String, u64>,
    /// Sessions of swap experiments: the cells of the smaller and the larger rank, by ranks.
    pub(super) swaps: BTreeMap<(u32, u32), [Cell; 2]>,
}

/// One document of a query, at each rank at which it was shown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DocumentCells<'a> {
    pub(super) query: &'a str,
    pub(super) document: &'a str,
    /// The number of the pair in [`ClickCounts::pair`].
    pub(super) pair: u32,
    /// Sessions of the query.
    pub(super) sessions: u64,
    /// Ranks, ascending, with their counts.
    pub(super) cells: Vec<(u32, Cell)>,
}

impl ClickCounts {
    /// Counts all sessions, such as those of a [`LogReader`](super::LogReader).
    pub fn of(sessions: impl IntoIterator<Item = Result<Session>>) -> Result<ClickCounts> {
        let mut counts = ClickCounts::default();
        for session in sessions {
            counts.add(&session?);
        }
        Ok(counts)
    }

    /// Counts one session.
    pub fn add(&mut self, session: &Session) {
        let clicked = session.clicked();
        let query = self.pairs.query(&session.query);
        for (place, document) in session.shown.iter().enumerate() {
            let pair = self.pairs.pair(query, document);
            self.cells.entry((pair, session.rank(place))).or_default().add(clicked[place]);
        }
        self.sessions += 1;
        match self.query_sessions.get_mut(&session.query) {
            Some(count) => *count += 1,
            None => drop(self.query_sessions.insert(session.query.clone(), 1)),
        }
        self.clicked_sessions += u64::from(clicked.contains(&true));
        if let Some(ranker) = &session.ranker {
            match self.rankers.get_mut(ranker) {
                Some(count) => *count += 1,
                None => drop(self.rankers.insert(ranker.clone(), 1)),
            }
        }
        self.add_swap(session, &clicked);
    }

    /// A swap experiment counts if both ranks were shown.
    fn add_swap(&mut self, session: &Session, clicked: &[bool]) {
        let Some([a, b]) = session.swap else { return };
        let ranks = (a.min(b), a.max(b));
        let place_of = |rank: u32| (0..session.shown.len()).find(|&place| session.rank(place) == rank);
        if let (Some(first), Some(second)) = (place_of(ranks.0), place_of(ranks.1))
            && first != second
        {
            let cells = self.swaps.entry(ranks).or_default();
            cells[0].add(clicked[first]);
            cells[1].add(clicked[second]);
        }
    }

    /// The number of a document of a query that was counted, among all pairs.
    pub(super) fn pair(&mut self, query: &str, document: &str) -> u32 {
        let query = self.pairs.query(query);
        self.pairs.pair(query, document)
    }

    /// How many queries there are.
    pub fn queries(&self) -> usize {
        self.pairs.queries()
    }

    /// How many different documents of queries there are.
    pub fn documents(&self) -> usize {
        self.pairs.len()
    }

    /// The counts of one document of a query at one rank.
    pub fn cell(&self, query: &str, document: &str, rank: u32) -> Cell {
        let mut pairs = self.pairs.sorted().into_iter();
        let pair = pairs.find(|pair| pair.0 == query && pair.1 == document);
        pair.and_then(|(.., pair)| self.cells.get(&(pair, rank)).copied()).unwrap_or_default()
    }

    /// The counts of each rank, from rank 1 to the last one seen.
    pub fn by_rank(&self) -> Vec<Cell> {
        let last = self.cells.keys().map(|(_, rank)| *rank).max().unwrap_or(0);
        let mut ranks = vec![Cell::default(); last as usize];
        for ((_, rank), cell) in &self.cells {
            ranks[*rank as usize - 1].join(*cell);
        }
        ranks
    }

    /// The ranks up to `depth` at which documents were shown, ascending.
    pub(super) fn shown_ranks(&self, depth: u32) -> Vec<u32> {
        let ranks = (1..=depth).zip(self.by_rank());
        ranks.filter(|(_, cell)| cell.shown > 0).map(|(rank, _)| rank).collect()
    }

    /// Every document of every query, in the order of their ids.
    pub(super) fn by_document(&self) -> Vec<DocumentCells<'_>> {
        let mut cells: Vec<Vec<(u32, Cell)>> = vec![Vec::new(); self.pairs.len()];
        for (&(pair, rank), &cell) in &self.cells {
            cells[pair as usize].push((rank, cell));
        }
        let document = |(query, document, pair): (_, _, u32)| {
            let mut cells = std::mem::take(&mut cells[pair as usize]);
            cells.sort_unstable_by_key(|(rank, _)| *rank);
            DocumentCells { query, document, pair, sessions: self.query_sessions[query], cells }
        };
        self.pairs.sorted().into_iter().map(document).collect()
    }
}

impl<'a> FromIterator<&'a Session> for ClickCounts {
    fn from_iter<I: IntoIterator<Item = &'a Session>>(sessions: I) -> Self {
        let mut counts = ClickCounts::default();
        sessions.into_iter().for_each(|session| counts.add(session));
        counts
    }
}
