//! Logs of Metarank: events as JSON lines, rankings and the interactions with them.
//!
//! An event with `"event": "ranking"` has an `id`, a `timestamp`, the `items` shown and `fields`, one of which holds the
//! query. An event with `"event": "interaction"` names the `ranking` it belongs to, an `item` and a `type`, such as `click`.
//! Rankings stay open for interactions until many others followed, so memory is bounded.

use super::checks::Checks;
use super::log::{Click, LogLine, LogLines, Session, Text};
use super::report::{LogProblem, LogReport};
use super::times::milliseconds;
use crate::error::Result;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::path::Path;

/// How to read events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetarankOptions {
    /// The name of the field of a ranking that holds the query.
    pub query_field: String,
    /// The types of interactions that count as clicks.
    pub types: Vec<String>,
    /// How many rankings wait for interactions; when there are more, the oldest becomes a session.
    pub open_rankings: usize,
}

impl Default for MetarankOptions {
    fn default() -> Self {
        MetarankOptions {
            query_field: "query".to_owned(),
            types: vec!["click".to_owned()],
            open_rankings: 100_000,
        }
    }
}

/// Reads the events of a file and gives each ranking with its clicks to `each`, in the order of the rankings. Times are
/// in milliseconds.
///
/// ```
/// use rankwise::clicks::metarank::{MetarankOptions, read_events};
/// let path = std::env::temp_dir().join(format!("rankwise-events-{}.jsonl", std::process::id()));
/// std::fs::write(&path, r#"
/// {"event": "ranking", "id": "r", "timestamp": "1000", "fields": [{"name": "query", "value": "cat"}], "items": [{"id": "a"}, {"id": "b"}]}
/// {"event": "interaction", "id": "i", "ranking": "r", "timestamp": "4000", "type": "click", "item": "b"}
/// "#).unwrap();
/// let mut sessions = Vec::new();
/// read_events(&path, &MetarankOptions::default(), |session| Ok(sessions.push(session)))?;
/// assert_eq!((sessions[0].query.as_str(), sessions[0].clicked()), ("cat", vec![false, true]));
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn read_events(
    path: &Path,
    options: &MetarankOptions,
    mut each: impl FnMut(Session) -> Result<()>,
) -> Result<LogReport> {
    let mut lines = LogLines::open(path)?;
    let mut import =
        Import { options, checks: Checks::default(), open: HashMap::new(), order: VecDeque::new() };
    while let Some(line) = lines.next()? {
        import.read(&line);
        while import.order.len() > options.open_rankings {
            import.close_oldest(&mut each)?;
        }
    }
    while !import.order.is_empty() {
        import.close_oldest(&mut each)?;
    }
    Ok(import.checks.report)
}

#[derive(Deserialize)]
#[serde(expecting = "an event, an object with `event`")]
struct Event {
    event: String,
    id: Option<Text>,
    timestamp: Option<Value>,
    #[serde(default)]
    fields: Vec<Field>,
    #[serde(default)]
    items: Vec<Item>,
    ranking: Option<Text>,
    item: Option<Text>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Field {
    name: String,
    value: Value,
}

#[derive(Deserialize)]
struct Item {
    id: Text,
}

/// Rankings that wait for interactions.
struct Import<'a> {
    options: &'a MetarankOptions,
    checks: Checks,
    open: HashMap<String, (Session, String)>,
    /// Their ids, the oldest first.
    order: VecDeque<String>,
}

impl Import<'_> {
    fn read(&mut self, line: &LogLine<'_>) {
        self.checks.report.lines += 1;
        match line.parse::<Event>() {
            Err(reason) => self.add(LogProblem::Malformed, line, &reason),
            Ok(event) => match &*event.event {
                "ranking" => self.ranking(event, line),
                "interaction" => self.interaction(event, line),
                other => self.add(LogProblem::OtherEvent, line, &format!("an event `{other}`")),
            },
        }
    }

    fn add(&mut self, problem: LogProblem, line: &LogLine<'_>, reason: &str) {
        self.checks.report.add(problem, || format!("{}: {reason}", line.place()));
    }

    /// The time of an event, if it has one that can be read.
    fn time(&mut self, timestamp: Option<&Value>, line: &LogLine<'_>) -> Option<f64> {
        let given = timestamp.filter(|time| !time.is_null())?;
        let time = milliseconds(given);
        if time.is_none() {
            self.add(LogProblem::UnreadableTime, line, &format!("the timestamp {given} is no time"));
        }
        time
    }

    fn ranking(&mut self, event: Event, line: &LogLine<'_>) {
        let Some(Text(id)) = event.id else {
            return self.add(LogProblem::Malformed, line, "a ranking without an `id`");
        };
        let field = event.fields.into_iter().find(|field| field.name == self.options.query_field);
        let query = match field.map(|field| field.value) {
            Some(Value::String(text)) => text,
            Some(number @ Value::Number(_)) => number.to_string(),
            _ => {
                let reason = format!("ranking `{id}` has no field `{}`", self.options.query_field);
                return self.add(LogProblem::NoQuery, line, &reason);
            }
        };
        if self.open.contains_key(&id) {
            let reason = format!("the session id `{id}` occurs again");
            return self.add(LogProblem::DuplicateSession, line, &reason);
        }
        let shown = event.items.into_iter().map(|item| item.id.0).collect();
        let time = self.time(event.timestamp.as_ref(), line);
        let session = Session { id: id.clone(), query, shown, time, ..Session::default() };
        self.open.insert(id.clone(), (session, line.place()));
        self.order.push_back(id);
    }

    fn interaction(&mut self, event: Event, line: &LogLine<'_>) {
        let Some(kind) = event.kind.filter(|kind| self.options.types.contains(kind)) else {
            return self.add(LogProblem::OtherEvent, line, "an interaction of a type that is no click");
        };
        let (Some(ranking), Some(item)) = (event.ranking, event.item) else {
            let reason = format!("a `{kind}` without a `ranking` or an `item`");
            return self.add(LogProblem::UnknownRanking, line, &reason);
        };
        let time = self.time(event.timestamp.as_ref(), line);
        match self.open.get_mut(&ranking.0) {
            Some((session, _)) => session.clicks.push(Click { doc: item.0, time }),
            None => {
                let reason = format!("a `{kind}` of ranking `{}`", ranking.0);
                self.add(LogProblem::UnknownRanking, line, &reason);
            }
        }
    }

    fn close_oldest(&mut self, each: &mut impl FnMut(Session) -> Result<()>) -> Result<()> {
        let closed = self.order.pop_front().and_then(|id| self.open.remove(&id));
        match closed.and_then(|(session, place)| self.checks.check(session, &place)) {
            Some(session) => each(session),
            None => Ok(()),
        }
    }
}
