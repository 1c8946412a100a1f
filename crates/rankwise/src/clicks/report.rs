//! What was wrong with a log: counts by kind, and the first few of each.

use serde::Serialize;
use std::fmt;

/// How many examples of each problem are kept.
const EXAMPLES: usize = 5;

/// Something that is wrong with a session of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LogProblem {
    /// A line is no session: it is truncated, no JSON, or lacks a field.
    Malformed,
    /// The checksum of a line is wrong: it was not written completely, or changed.
    Damaged,
    /// The session shows no documents.
    EmptyList,
    /// The session shows a document twice.
    RepeatedDocument,
    /// Its positions are not one ascending number from 1 to 10,000 for each document.
    InvalidPositions,
    /// Another session before it has the same id.
    DuplicateSession,
    /// A click on a document that was not shown.
    UnknownClick,
    /// A click is earlier than the click before it, or than the session.
    ClickOrder,
    /// The session is earlier than one before it.
    SessionOrder,
    /// Its positions leave out ranks.
    SkippedPositions,
    /// Its features are not one row for each document, all of one length.
    FeatureRows,
    /// It names two ranks that were exchanged, and does not show both.
    SwapRanks,
    /// It is interleaved, and its credit is not a number from 0 to 1 for each document.
    Credit,
    /// A ranking event without a query.
    NoQuery,
    /// An interaction with a ranking that is not in the log, or that was too long ago.
    UnknownRanking,
    /// An event of another kind, or an interaction that does not count as a click.
    OtherEvent,
    /// The time of an event cannot be read.
    UnreadableTime,
}

impl LogProblem {
    /// What was found, and what was done about it.
    pub fn description(self) -> &'static str {
        match self {
            LogProblem::Malformed => "lines that are no session; left out",
            LogProblem::Damaged => "lines whose checksum is wrong; left out",
            LogProblem::EmptyList => "sessions that show no documents; left out",
            LogProblem::RepeatedDocument => "sessions that show a document twice; left out",
            LogProblem::InvalidPositions => "sessions with impossible positions; left out",
            LogProblem::DuplicateSession => "sessions with the id of an earlier one; left out",
            LogProblem::UnknownClick => "clicks on documents that were not shown; these clicks are left out",
            LogProblem::ClickOrder => "sessions with times out of order; their clicks were put in order",
            LogProblem::SessionOrder => "sessions that are earlier than one before them; used as they are",
            LogProblem::SkippedPositions => "sessions whose positions leave out ranks; used as they are",
            LogProblem::FeatureRows => {
                "sessions whose features do not fit their documents; used without features"
            }
            LogProblem::SwapRanks => "sessions that swap ranks they do not show; used without the swap",
            LogProblem::Credit => {
                "sessions whose credit does not fit their documents; used as if they were not interleaved"
            }
            LogProblem::NoQuery => "rankings without a query; left out",
            LogProblem::UnknownRanking => {
                "interactions with a ranking that is not known (any more); left out"
            }
            LogProblem::OtherEvent => "events that are neither rankings nor clicks; left out",
            LogProblem::UnreadableTime => "events whose times cannot be read; used without a time",
        }
    }
}

/// How often a problem occurred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProblemCount {
    /// The problem.
    pub problem: LogProblem,
    /// How often it occurred.
    pub count: u64,
    /// The first few: `file:line: what is wrong`.
    pub examples: Vec<String>,
}

/// What a log held, and what was wrong with it. Nothing is left out of a log without being counted here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LogReport {
    /// Lines read, without blank ones; sessions, where they are not from a file.
    pub lines: u64,
    /// Sessions that can be used.
    pub sessions: u64,
    /// Their clicks, repeated ones included.
    pub clicks: u64,
    /// Sessions whose ids could not be remembered, so that a duplicate of one of them is not found: those after the first 16 million.
    pub unchecked_ids: u64,
    /// The problems that occurred, in the order of [`LogProblem`].
    pub problems: Vec<ProblemCount>,
}

impl LogReport {
    /// How often a problem occurred.
    pub fn count(&self, problem: LogProblem) -> u64 {
        self.problems.iter().find(|counted| counted.problem == problem).map_or(0, |counted| counted.count)
    }

    /// A sentence on every problem, with the first example.
    ///
    /// ```
    /// use rankwise::clicks::{Session, check_sessions};
    /// let empty = Session { id: "s".into(), ..Session::default() };
    /// let notes = check_sessions([empty]).1.notes();
    /// assert_eq!(notes, ["sessions that show no documents; left out: 1 (number 1: session `s` shows no documents)"]);
    /// ```
    pub fn notes(&self) -> Vec<String> {
        let note = |counted: &ProblemCount| {
            let first = if counted.count > 1 { "first " } else { "" };
            let example = counted.examples.first().map_or("", String::as_str);
            format!("{}: {} ({first}{example})", counted.problem.description(), counted.count)
        };
        let mut notes: Vec<String> = self.problems.iter().map(note).collect();
        if self.unchecked_ids > 0 {
            let count = self.unchecked_ids;
            notes.push(format!(
                "sessions whose ids were not remembered, so that their duplicates are not found: {count}"
            ));
        }
        notes
    }

    pub(super) fn add(&mut self, problem: LogProblem, example: impl FnOnce() -> String) {
        let place = self.problems.partition_point(|counted| counted.problem < problem);
        if self.problems.get(place).is_none_or(|counted| counted.problem != problem) {
            self.problems.insert(place, ProblemCount { problem, count: 0, examples: Vec::new() });
        }
        let counted = &mut self.problems[place];
        counted.count += 1;
        if counted.examples.len() < EXAMPLES {
            counted.examples.push(example());
        }
    }
}

impl fmt::Display for LogReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} lines, {} sessions, {} clicks", self.lines, self.sessions, self.clicks)?;
        self.notes().iter().try_for_each(|note| write!(f, "\n{note}"))
    }
}
