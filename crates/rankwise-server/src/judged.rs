//! `/judgments` and `/judge`: judging documents.

use crate::app::App;
use crate::call::{Call, json, json_with};
use crate::counters::count;
use crate::found::{fields, snippet_as_json, snippets};
use crate::judging::Judging;
use crate::problem::{Answer, Problem};
use axum::body::Body;
use axum::http::{Response, StatusCode};
use rankwise::labels::Judgment;
use rankwise_search::Query;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use std::time::SystemTime;

/// The grades that judges give, and what they mean.
const GRADES: [(u8, &str, &str); 4] = [
    (0, "Not relevant", "It has nothing to do with what was asked."),
    (1, "Related", "It touches the subject, but does not answer."),
    (2, "Relevant", "It answers a part, or answers with much else around it."),
    (3, "Exactly right", "It is what somebody who asks this wants to find."),
];

const GUIDELINES: &str = "Judge each document on its own, as somebody who typed this query and reads this document. Judge what \
it says, not how well it is written. If you cannot decide between two grades, give the lower one.";

/// The most characters of names and notes.
const MAX_NAME: usize = 64;
const MAX_NOTE: usize = 2000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JudgmentBody {
    query: String,
    document: String,
    judge: String,
    /// Missing or null takes back what the judge said before.
    grade: Option<u8>,
    note: Option<String>,
}

pub(crate) fn judging(app: &App) -> Answer<&Judging> {
    app.judging
        .as_ref()
        .ok_or_else(|| Problem::not_found("this server collects no judgments; start it with --judgments"))
}

/// Adds a judgment. It is safe when the answer comes.
pub(crate) async fn judge(app: Arc<App>, mut call: Call) -> Answer<Response<Body>> {
    let judging = judging(&app)?;
    call.parameters()?.end()?;
    let judgment = judgment_of(&app, judging, call.json().await?)?;
    judging.judge(judgment).await.inspect_err(|_| count(&app.counters.unwritten))?;
    count(&app.counters.judgments);
    json_with(StatusCode::CREATED, &json!({ "accepted": 1 }))
}

fn judgment_of(app: &App, judging: &Judging, body: JudgmentBody) -> Answer<Judgment> {
    let JudgmentBody { query, document, judge, grade, note } = body;
    check_judge(&judge)?;
    for (what, text, most) in [("query", &query, 256), ("document", &document, 1024)] {
        check_text(what, text, most)?;
    }
    if !judging.queries.is_empty() && judging.queries.iter().all(|known| known.id != query) {
        return Err(Problem::unusable(format!("there is no query `{query}` among those to judge")));
    }
    if let Some(index) = &app.models.now().index
        && index.snapshot.find(&document)?.is_none()
    {
        return Err(Problem::unusable(format!("the index has no document `{document}`")));
    }
    if grade.is_some_and(|grade| GRADES.iter().all(|(known, ..)| *known != grade)) {
        return Err(Problem::unusable("a grade is 0, 1, 2 or 3"));
    }
    let note = note
        .map(|note| note.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|note| !note.is_empty());
    if let Some(note) = &note {
        check_text("note", note, MAX_NOTE)?;
    }
    let grade = grade.map_or(f64::NAN, f64::from);
    Ok(Judgment { note, time: Some(utc_now()), ..Judgment::new(&query, &document, &judge, grade) })
}

fn check_judge(judge: &str) -> Answer<()> {
    check_text("judge", judge, MAX_NAME)
}

fn check_text(what: &str, text: &str, most: usize) -> Answer<()> {
    let is_short = (1..=most).contains(&text.chars().count());
    match is_short && text.trim() == text && !text.chars().any(char::is_control) {
        true => Ok(()),
        false => Err(Problem::unusable(format!(
            "`{what}` must have 1 to {most} characters, without blanks around them, ends of lines or other controls"
        ))),
    }
}

/// The judgments so far.
pub(crate) async fn list(app: Arc<App>, call: Call) -> Answer<Response<Body>> {
    let mut parameters = call.parameters()?;
    let (judge, query) = (parameters.take("judge"), parameters.take("query"));
    let (k, offset) = (parameters.number("k", 1000_usize)?, parameters.number("offset", 0_usize)?);
    parameters.end()?;
    let all = judging(&app)?.list(judge.as_deref(), query.as_deref());
    let end = all.len().min(offset.saturating_add(k.min(10_000)));
    json(&json!({ "total": all.len(), "judgments": all.get(offset..end).unwrap_or_default() }))
}

/// What judges need to know before they begin.
pub(crate) async fn about(app: Arc<App>, call: Call) -> Answer<Response<Body>> {
    call.parameters()?.end()?;
    let judging = judging(&app)?;
    let grades =
        GRADES.map(|(grade, name, meaning)| json!({ "grade": grade, "name": name, "meaning": meaning }));
    let queries = judging.queries.iter().map(|query| json!({ "id": query.id, "text": query.text }));
    json(&json!({
        "grades": grades,
        "guidelines": app.settings.guidelines.as_deref().unwrap_or(GUIDELINES),
        "judges_per_document": judging.judges,
        "queries": queries.collect::<Vec<_>>(),
    }))
}

/// The next document for a judge.
pub(crate) async fn next(app: Arc<App>, call: Call) -> Answer<Response<Body>> {
    let mut parameters = call.parameters()?;
    let judge = parameters.take("judge");
    let judge = judge.ok_or_else(|| Problem::bad_request("the parameter `judge`, a name, is missing"))?;
    let query = parameters.take("query");
    let after = match (parameters.take("after_query"), parameters.take("after_document")) {
        (Some(query), Some(document)) => Some((query, document)),
        (None, None) => None,
        _ => return Err(Problem::bad_request("`after_query` and `after_document` must be given together")),
    };
    parameters.end()?;
    check_judge(&judge)?;
    let shared = Arc::clone(&app);
    app.pool.run(move || next_task(&shared, &judge, query.as_deref(), after.as_ref())).await
}

fn next_task(
    app: &App,
    judge: &str,
    query: Option<&str>,
    after: Option<&(String, String)>,
) -> Answer<Response<Body>> {
    let judging = judging(app)?;
    let catalogue = app.models.now();
    let Some(index) = catalogue.index.as_ref().filter(|_| !judging.queries.is_empty()) else {
        return Err(Problem::not_found(
            "there is nothing to judge; start the server with an index and --queries",
        ));
    };
    let (task, progress) = judging.next(judge, query, after, &*judging.pool()?);
    let mut answer = json!({
        "task": null,
        "progress": { "judged": progress.judged, "left": progress.left, "pool": progress.pool },
    });
    if let Some(task) = task {
        let query = &judging.queries[task.query];
        let snapshot = &index.snapshot;
        let address = snapshot.find(&task.document)?;
        let address = address.ok_or_else(|| {
            Problem::busy("the index has changed, and the documents to judge are being collected again")
        })?;
        let document = snapshot.document(address)?;
        let snippet = snippets(snapshot, &Query::words(&query.text))?.of(&document);
        answer["task"] = json!({
            "query": { "id": query.id, "text": query.text },
            "document": {
                "id": task.document,
                "fields": fields(&document, None),
                "snippet": snippet_as_json(&snippet),
            },
        });
    }
    json(&answer)
}

/// The time by the clock of the world, as in `2026-11-19T04:30:00Z`.
fn utc_now() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    utc(since)
}

/// Seconds since 1970 as a date and a time.
fn utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days are counted from March of year 0, so that a leap day is the last of its year.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (date, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        // By `date -u -d @N`.
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_798_761_599, "2026-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(seconds), text);
        }
    }
}
