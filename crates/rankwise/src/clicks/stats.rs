//! Statistics of a log: sessions, click-through by rank, and how documents move between ranks.

use super::counts::{Cell, ClickCounts};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// What a log holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LogStats {
    /// Sessions.
    pub sessions: u64,
    /// Sessions with a click.
    pub clicked_sessions: u64,
    /// Different queries.
    pub queries: usize,
    /// Different documents of queries.
    pub documents: usize,
    /// Documents shown and clicked, over all sessions.
    pub all: Cell,
    /// Sessions by ranker, for those that name theirs.
    pub rankers: BTreeMap<String, u64>,
    /// Each rank, from 1.
    pub ranks: Vec<RankStats>,
    /// How documents move between ranks.
    pub movement: Movement,
}

/// One rank.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankStats {
    /// The rank, from 1.
    pub rank: u32,
    /// How often a document was shown and clicked there.
    pub counts: Cell,
    /// Clicks per document shown.
    pub click_through: f64,
    /// Documents shown there that were shown at other ranks, too.
    pub moving: u64,
}

/// Which ranks can be compared by documents that were shown at several of them.
///
/// How likely users are to look at a rank can be told from how relevant the documents there are only if the same document
/// of the same query was shown at different ranks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Movement {
    /// Documents of queries that were shown at more than one rank.
    pub moving: u64,
    /// Groups of ranks that are connected by documents shown and clicked at two of them. Ranks of different groups cannot
    /// be compared. Ranks at which nothing was shown are left out.
    pub groups: Vec<Vec<u32>>,
}

impl LogStats {
    /// The statistics of these counts.
    pub fn new(counts: &ClickCounts) -> LogStats {
        let by_rank = counts.by_rank();
        let mut moving = vec![0; by_rank.len()];
        for document in counts.by_document().iter().filter(|document| document.cells.len() > 1) {
            document.cells.iter().for_each(|(rank, _)| moving[*rank as usize - 1] += 1);
        }
        let mut all = Cell::default();
        by_rank.iter().for_each(|cell| all.join(*cell));
        let rank = |(place, counts): (usize, Cell)| RankStats {
            rank: place as u32 + 1,
            counts,
            click_through: counts.click_through(),
            moving: moving[place],
        };
        LogStats {
            sessions: counts.sessions,
            clicked_sessions: counts.clicked_sessions,
            queries: counts.queries(),
            documents: counts.documents(),
            all,
            rankers: counts.rankers.clone(),
            ranks: by_rank.into_iter().enumerate().map(rank).collect(),
            movement: Movement::of(counts, u32::MAX),
        }
    }
}

impl Movement {
    /// How documents move between the ranks up to `depth`.
    pub fn of(counts: &ClickCounts, depth: u32) -> Movement {
        let by_rank = counts.by_rank();
        let used = by_rank.len().min(depth as usize);
        let mut groups = Groups::new(used);
        let mut moving = 0;
        for document in counts.by_document() {
            let cells: Vec<_> = document.cells.iter().filter(|(rank, _)| *rank <= depth).collect();
            moving += u64::from(cells.len() > 1);
            // Two ranks at which a document was never clicked are not compared by it.
            let clicked = cells.iter().find(|(_, cell)| cell.clicks > 0);
            for (rank, _) in cells.iter().filter(|_| clicked.is_some()) {
                groups.join(clicked.map_or(0, |(rank, _)| *rank as usize - 1), *rank as usize - 1);
            }
        }
        Movement { moving, groups: groups.lists(|place| by_rank[place].shown > 0) }
    }

    /// Whether all ranks can be compared.
    pub fn is_connected(&self) -> bool {
        self.groups.len() == 1
    }
}

/// The most groups of ranks that are printed.
const PRINTED: usize = 12;

/// `{1–3}, {4}`: the groups of ranks.
impl fmt::Display for Movement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, group) in self.groups.iter().take(PRINTED).enumerate() {
            write!(f, "{}{{", if place > 0 { ", " } else { "" })?;
            let runs: Vec<String> = group.chunk_by(|a, b| a + 1 == *b).map(run_of_ranks).collect();
            write!(f, "{}}}", runs.join(", "))?;
        }
        match self.groups.len() {
            ..=PRINTED => Ok(()),
            all => write!(f, " and {} more", all - PRINTED),
        }
    }
}

/// Successive ranks: `4`, or `4–7`.
pub(super) fn run_of_ranks(run: &[u32]) -> String {
    match run {
        [] => String::new(),
        [rank] => rank.to_string(),
        [first, .., last] => format!("{first}–{last}"),
    }
}

/// Sets of places that are joined pair by pair.
pub(super) struct Groups {
    parent: Vec<usize>,
}

impl Groups {
    pub(super) fn new(places: usize) -> Groups {
        Groups { parent: (0..places).collect() }
    }

    pub(super) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }

    fn root(&mut self, mut place: usize) -> usize {
        while self.parent[place] != place {
            self.parent[place] = self.parent[self.parent[place]];
            place = self.parent[place];
        }
        place
    }

    /// The groups of the places that count, as ranks from 1.
    pub(super) fn lists(mut self, counts: impl Fn(usize) -> bool) -> Vec<Vec<u32>> {
        let mut lists: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for place in (0..self.parent.len()).filter(|&place| counts(place)) {
            lists.entry(self.root(place)).or_default().push(place as u32 + 1);
        }
        lists.into_values().collect()
    }
}
