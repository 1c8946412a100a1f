//! What is wrong with sessions, and what becomes of them.

use super::log::{Click, LogLine, Session};
use super::report::{LogProblem, LogReport};
use std::collections::HashSet;
use xxhash_rust::xxh3::xxh3_64;

/// How many session ids are remembered to find duplicates: 16 million, in at most 300 MB.
const MAX_REMEMBERED: usize = 1 << 24;

/// The last rank that is counted: a guard against positions that are something else, since memory grows with ranks.
const MAX_RANK: u32 = 10_000;

/// Finds what is wrong with sessions, and puts right or leaves out what must be.
#[derive(Default)]
pub(super) struct Checks {
    pub(super) report: LogReport,
    ids: HashSet<u64>,
    latest: Option<f64>,
}

impl Checks {
    /// The session of a line, if it can be used.
    pub(super) fn read(&mut self, line: &LogLine<'_>) -> Option<Session> {
        self.report.lines += 1;
        match line.parse() {
            Ok(session) => self.check(session, &line.place()),
            Err(reason) => self.reject(LogProblem::Malformed, &line.place(), &reason),
        }
    }

    /// Leaves out a line that is not even looked at.
    pub(super) fn reject_line(&mut self, problem: LogProblem, line: &LogLine<'_>) -> Option<Session> {
        self.report.lines += 1;
        self.reject(problem, &line.place(), "the checksum of the line is wrong")
    }

    fn reject(&mut self, problem: LogProblem, place: &str, reason: &str) -> Option<Session> {
        self.report.add(problem, || format!("{place}: {reason}"));
        None
    }

    /// The session without what cannot be used of it, or nothing.
    pub(super) fn check(&mut self, mut session: Session, place: &str) -> Option<Session> {
        if let Some((problem, reason)) = fatal(&session) {
            return self.reject(problem, place, &format!("session `{}` {reason}", session.id));
        }
        if !self.is_new(&session.id) {
            let reason = format!("the session id `{}` occurs again", session.id);
            return self.reject(LogProblem::DuplicateSession, place, &reason);
        }
        if skips(&session) {
            self.report.add(LogProblem::SkippedPositions, || {
                format!("{place}: the positions of session `{}` are not 1, 2, 3 and so on", session.id)
            });
        }
        self.check_features(&mut session, place);
        self.check_swap(&mut session, place);
        self.check_credit(&mut session, place);
        self.check_clicks(&mut session, place);
        self.check_times(&mut session, place);
        self.report.sessions += 1;
        self.report.clicks += session.clicks.len() as u64;
        Some(session)
    }

    fn is_new(&mut self, id: &str) -> bool {
        let hash = xxh3_64(id.as_bytes());
        if self.ids.len() < MAX_REMEMBERED {
            return self.ids.insert(hash);
        }
        let known = self.ids.contains(&hash);
        self.report.unchecked_ids += u64::from(!known);
        !known
    }

    fn check_features(&mut self, session: &mut Session, place: &str) {
        let Some(rows) = &session.features else { return };
        let width = rows.first().map_or(0, Vec::len);
        if rows.len() != session.shown.len() || rows.iter().any(|row| row.len() != width) {
            self.report.add(LogProblem::FeatureRows, || {
                format!(
                    "{place}: the features of session `{}` are not one row for each document, all of one length",
                    session.id
                )
            });
            session.features = None;
        }
    }

    fn check_swap(&mut self, session: &mut Session, place: &str) {
        let Some(ranks) = session.swap else { return };
        let is_shown = |rank| (0..session.shown.len()).any(|index| session.rank(index) == rank);
        if ranks[0] == ranks[1] || !ranks.into_iter().all(is_shown) {
            self.report.add(LogProblem::SwapRanks, || {
                let [a, b] = ranks;
                format!(
                    "{place}: session `{}` does not show two documents at the ranks {a} and {b}",
                    session.id
                )
            });
            session.swap = None;
        }
    }

    fn check_credit(&mut self, session: &mut Session, place: &str) {
        let Some(interleaved) = &session.interleaved else { return };
        if !interleaved.fits(session.shown.len()) {
            self.report.add(LogProblem::Credit, || {
                format!(
                    "{place}: the credit of session `{}` is not one number from 0 to 1 for each document",
                    session.id
                )
            });
            session.interleaved = None;
        }
    }

    fn check_clicks(&mut self, session: &mut Session, place: &str) {
        let Session { id, shown, clicks, .. } = session;
        clicks.retain(|click| {
            let known = shown.contains(&click.doc);
            if !known {
                self.report.add(LogProblem::UnknownClick, || {
                    format!("{place}: session `{id}` has a click on `{}`, which it did not show", click.doc)
                });
            }
            known
        });
    }

    fn check_times(&mut self, session: &mut Session, place: &str) {
        let times = session.time.into_iter().chain(session.clicks.iter().filter_map(|click| click.time));
        let times: Vec<f64> = times.collect();
        if times.windows(2).any(|pair| pair[1] < pair[0]) {
            self.report.add(LogProblem::ClickOrder, || {
                format!("{place}: the times of session `{}` are out of order", session.id)
            });
            // Clicks without a time stay beside the click before them.
            let mut last = f64::NEG_INFINITY;
            let mut timed: Vec<(f64, Click)> = Vec::with_capacity(session.clicks.len());
            for click in session.clicks.drain(..) {
                last = click.time.unwrap_or(last);
                timed.push((last, click));
            }
            timed.sort_by(|a, b| a.0.total_cmp(&b.0));
            session.clicks = timed.into_iter().map(|(_, click)| click).collect();
        }
        if let Some(time) = session.time {
            if self.latest.is_some_and(|latest| time < latest) {
                self.report.add(LogProblem::SessionOrder, || {
                    format!("{place}: session `{}` is earlier than a session before it", session.id)
                });
            }
            self.latest = Some(self.latest.map_or(time, |latest| latest.max(time)));
        }
    }
}

/// The sessions that can be used, checked as those of a file are, and what was wrong with the others. They are called by
/// their numbers, from 1.
///
/// ```
/// use rankwise::clicks::{LogProblem, Session, check_sessions};
/// let good = Session { id: "s".into(), query: "q".into(), shown: vec!["a".into()], ..Session::default() };
/// let (sessions, report) = check_sessions([good.clone(), good]);
/// assert_eq!((sessions.len(), report.count(LogProblem::DuplicateSession)), (1, 1));
/// ```
pub fn check_sessions(sessions: impl IntoIterator<Item = Session>) -> (Vec<Session>, LogReport) {
    let mut checks = Checks::default();
    let mut usable = Vec::new();
    for (session, number) in sessions.into_iter().zip(1_u64..) {
        checks.report.lines += 1;
        usable.extend(checks.check(session, &format!("number {number}")));
    }
    (usable, checks.report)
}

/// Why a session cannot be used at all.
fn fatal(session: &Session) -> Option<(LogProblem, String)> {
    if session.shown.is_empty() {
        return Some((LogProblem::EmptyList, "shows no documents".to_owned()));
    }
    let mut seen = HashSet::with_capacity(session.shown.len());
    if let Some(twice) = session.shown.iter().find(|id| !seen.insert(id.as_str())) {
        return Some((LogProblem::RepeatedDocument, format!("shows `{twice}` twice")));
    }
    if session.shown.len() > MAX_RANK as usize {
        let reason = format!("shows more than {MAX_RANK} documents");
        return Some((LogProblem::InvalidPositions, reason));
    }
    let positions = session.positions.as_ref()?;
    let ascending = positions.windows(2).all(|pair| pair[0] < pair[1]);
    let in_range =
        positions.first().is_some_and(|&rank| rank > 0) && positions.iter().all(|&rank| rank <= MAX_RANK);
    let valid = positions.len() == session.shown.len() && ascending && in_range;
    (!valid).then(|| {
        let reason = format!(
            "has positions that are not one ascending number from 1 to {MAX_RANK} for each document shown"
        );
        (LogProblem::InvalidPositions, reason)
    })
}

fn skips(session: &Session) -> bool {
    session.positions.iter().flatten().zip(1..).any(|(&position, expected)| position != expected)
}
