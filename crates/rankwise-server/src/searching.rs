//! `/search`: the best documents of the index for a query.

use crate::app::App;
use crate::call::{self, Call};
use crate::catalogue::Served;
use crate::counters::count;
use crate::found::{
    Hit, explained_as_json, fields, snippet_as_json, snippets, why_in_neither, why_not_as_json,
};
use crate::problem::{Answer, Problem};
use crate::traffic::{Chosen, choose, interleaving_of, key_of};
use axum::body::Body;
use axum::http::{Method, Response};
use rankwise::clicks::interleave::Interleaving;
use rankwise::clicks::{Interleaved, Session};
use rankwise_search::search::{Found, WhyNot};
use rankwise_search::{Document, Query, Schema};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

/// The most characters of a query.
pub(crate) const MAX_QUERY: usize = 4096;

/// The last document that can be asked for.
const MAX_DEPTH: usize = 10_000;

/// The most documents in an answer.
const MAX_K: usize = 1000;

/// What is searched for, and what is shown of it.
struct SearchCall {
    q: String,
    k: usize,
    offset: usize,
    model: Option<String>,
    /// Who searches: anything that is the same for all requests of a user.
    user: Option<String>,
    full_syntax: bool,
    fields: Option<Vec<String>>,
    snippets: bool,
    explain: bool,
    why_not: Option<String>,
    /// Whether the list is shown to somebody, so that it is logged and takes clicks.
    log: bool,
}

/// The answer.
#[derive(Serialize)]
struct Answered<'a> {
    schema: u32,
    session: Option<String>,
    query: &'a str,
    model: String,
    version: u32,
    ranker: String,
    hits: Vec<Hit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<Value>,
    took_ms: f64,
}

/// A ranking, and whose it is.
struct List {
    /// The ids of all documents from the first rank on, also of earlier pages.
    ids: Vec<String>,
    /// The documents with the ranker that each is from: 0, or 1 for the second of two.
    found: Vec<(usize, Found)>,
    interleaved: Option<Interleaved>,
}

/// Searches the index.
pub(crate) async fn search(app: Arc<App>, call: Call) -> Answer<Response<Body>> {
    let asked = SearchCall::of(&call)?;
    let started = Instant::now();
    let shared = Arc::clone(&app);
    app.pool.run(move || respond(&shared, asked, started)).await
}

impl SearchCall {
    fn of(call: &Call) -> Answer<SearchCall> {
        let mut parameters = call.parameters()?;
        let q = parameters.take("q");
        let asked = SearchCall {
            q: q.ok_or_else(|| Problem::bad_request("the parameter `q`, the query, is missing"))?,
            k: parameters.number("k", 10)?,
            offset: parameters.number("offset", 0)?,
            model: parameters.take("model"),
            user: parameters.take("user"),
            full_syntax: match parameters.take("syntax").as_deref() {
                None | Some("words") => false,
                Some("full") => true,
                Some(other) => {
                    return Err(Problem::bad_request(format!(
                        "the parameter `syntax` is `{other}`; it must be `words` or `full`"
                    )));
                }
            },
            fields: parameters.take("fields").map(|names| names.split(',').map(str::to_owned).collect()),
            snippets: parameters.flag("snippets", false)?,
            explain: parameters.flag("explain", false)?,
            why_not: parameters.take("why_not"),
            // A client that asks for the head alone shows nothing.
            log: parameters.flag("log", true)? && call.head.method != Method::HEAD,
        };
        parameters.end()?;
        asked.check()
    }

    fn check(self) -> Answer<SearchCall> {
        check_query(&self.q)?;
        if !(1..=MAX_K).contains(&self.k) {
            return Err(Problem::bad_request(format!("`k` is {}; it must be between 1 and {MAX_K}", self.k)));
        }
        if self.offset > MAX_DEPTH - self.k {
            return Err(Problem::bad_request(format!(
                "`offset` and `k` together must be at most {MAX_DEPTH}; make the query more precise instead"
            )));
        }
        Ok(self)
    }

    /// The last rank that is shown.
    fn depth(&self) -> usize {
        self.offset + self.k
    }
}

/// Rejects queries that no person has written.
pub(crate) fn check_query(q: &str) -> Answer<()> {
    match q.chars().count() <= MAX_QUERY {
        true => Ok(()),
        false => Err(Problem::bad_request(format!("the query has more than {MAX_QUERY} characters"))),
    }
}

/// Rejects fields that no document has.
fn check_fields(wanted: &[String], schema: &Schema) -> Answer<()> {
    let known: Vec<&str> = schema.fields.iter().map(|field| field.name.as_str()).collect();
    match wanted.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(rankwise::card::unknown("field", name, &known).into()),
    }
}

fn respond(app: &Arc<App>, asked: SearchCall, started: Instant) -> Answer<Response<Body>> {
    let catalogue = app.models.now();
    let key = key_of(asked.user.as_deref())?;
    let chosen = choose(&app.settings.traffic, &catalogue, asked.model.as_deref(), &key)?;
    let first = chosen.first();
    let search = first.search()?;
    check_fields(asked.fields.as_deref().unwrap_or_default(), search.snapshot().schema())?;
    let query = match asked.full_syntax {
        true => Query::parse(&asked.q, search.snapshot().schema())?,
        false => Query::words(&asked.q),
    };
    let list = list(&chosen, &query, &asked, &key)?;
    let mut hits = Vec::with_capacity(list.found.len());
    for number in 0..2 {
        let of_ranker = list.found.iter().filter(|(from, _)| *from == number).map(|(_, found)| found.clone());
        let of_ranker: Vec<Found> = of_ranker.collect();
        if let (Some(served), false) = (chosen.served(number), of_ranker.is_empty()) {
            hits.push(hits_of(served, &query, &of_ranker, &asked)?.into_iter());
        } else {
            hits.push(Vec::new().into_iter());
        }
    }
    let hits = list.found.iter().enumerate().filter_map(|(at, (from, _))| {
        let rank = asked.offset + at + 1;
        hits[*from].next().map(|hit| Hit { rank, ..hit })
    });
    let hits: Vec<Hit> = hits.collect();
    let why_not = match &asked.why_not {
        Some(id) => Some(why_not(&chosen, &query, &list, id, asked.depth())?),
        None => None,
    };
    // A question about a list that was shown before is not another list.
    let session = match asked.log && asked.why_not.is_none() {
        true => show(app, &chosen, &query, &list, &asked)?,
        false => None,
    };
    let response = call::json(&Answered {
        schema: 1,
        session: session.clone(),
        query: &asked.q,
        model: chosen.name(),
        version: first.version,
        ranker: chosen.ranker(),
        hits,
        why_not,
        took_ms: started.elapsed().as_secs_f64() * 1e3,
    });
    if let (Some(name), Some(session)) = (&app.settings.shadow, session) {
        let shadow = catalogue.get(name)?;
        shadow_search(app, shadow, query, asked, session);
    }
    response
}

/// The documents from `offset` on.
fn list(chosen: &Chosen, query: &Query, asked: &SearchCall, key: &str) -> Answer<List> {
    let depth = asked.depth();
    match chosen {
        Chosen::One(served) => {
            let mut found = find(served, query, depth)?;
            let ids = found.iter().map(|found| found.id.clone()).collect();
            let shown = found.split_off(found.len().min(asked.offset));
            Ok(List { ids, found: shown.into_iter().map(|found| (0, found)).collect(), interleaved: None })
        }
        Chosen::Two([first, second]) => {
            let found = [find(first, query, depth)?, find(second, query, depth)?];
            let ids = found.each_ref().map(|found| found.iter().map(|f| f.id.clone()).collect::<Vec<_>>());
            let random = &mut interleaving_of(key, &asked.q);
            let mut list = Interleaving::TeamDraft.list(&ids[0], &ids[1], depth, random)?;
            let whole = list.shown.clone();
            let from = asked.offset.min(list.shown.len());
            list.shown.drain(..from);
            list.credit.drain(..from);
            let of = |(id, credit): (&String, &f64)| {
                let from = usize::from(*credit < 0.5);
                let at = ids[from].iter().position(|other| other == id)?;
                Some((from, found[from][at].clone()))
            };
            Ok(List {
                ids: whole,
                found: list.shown.iter().zip(&list.credit).filter_map(of).collect(),
                interleaved: Some(list.logged(&first.label(), &second.label())),
            })
        }
    }
}

fn find(served: &Served, query: &Query, depth: usize) -> Answer<Vec<Found>> {
    let search = served.search()?;
    search.check_candidates()?;
    Ok(search.run(query, depth)?)
}

/// Logs the list. Returns the id of its session, if there is a log that can be written.
fn show(
    app: &App,
    chosen: &Chosen,
    query: &Query,
    list: &List,
    asked: &SearchCall,
) -> Answer<Option<String>> {
    if app.clicks.is_none() {
        return Ok(None);
    }
    let features = match app.settings.log_features {
        true => features_of(chosen, query, list)?,
        false => None,
    };
    let from = asked.offset as u32;
    let ranks = from + 1..from + 1 + list.found.len() as u32;
    Ok(app.show(Session {
        query: asked.q.clone(),
        ranker: Some(chosen.ranker()),
        shown: list.found.iter().map(|(_, found)| found.id.clone()).collect(),
        positions: (from > 0).then(|| ranks.collect()),
        features,
        interleaved: list.interleaved.clone(),
        ..Session::default()
    }))
}

/// A row for each document: the features of the model, or of the first of two that has some.
fn features_of(chosen: &Chosen, query: &Query, list: &List) -> Answer<Option<Vec<Vec<f32>>>> {
    let found: Vec<Found> = list.found.iter().map(|(_, found)| found.clone()).collect();
    for served in (0..2).filter_map(|number| chosen.served(number)) {
        if let Some(rows) = served.search()?.features(query, &found)? {
            let width = rows.len() / found.len().max(1);
            return Ok(Some(rows.chunks_exact(width.max(1)).map(<[f32]>::to_vec).collect()));
        }
    }
    Ok(None)
}

/// Lets the shadow model rank the same query, if nobody waits for the threads.
fn shadow_search(app: &Arc<App>, shadow: Arc<Served>, query: Query, asked: SearchCall, session: String) {
    let shared = Arc::clone(app);
    app.pool.run_idle(move || {
        let started = Instant::now();
        let found = shadow.finder().map(|search| search.run(&query, asked.depth()));
        if let (Some(Ok(found)), Some(log)) = (found, &shared.clicks) {
            let ids: Vec<&str> = found.iter().skip(asked.offset).map(|found| found.id.as_str()).collect();
            log.note(&json!({
                "shadow": shadow.name,
                "version": shadow.version,
                "session": session,
                "query": asked.q,
                "ranking": ids,
                "took_ms": started.elapsed().as_secs_f64() * 1e3,
            }));
            count(&shared.counters.shadows);
        }
    });
}

/// Why a document is not in the list: what each model says, if the list is made from the rankings of two.
fn why_not(chosen: &Chosen, query: &Query, list: &List, id: &str, k: usize) -> Answer<Value> {
    if let Some(at) = list.ids.iter().position(|shown| shown == id) {
        return Ok(why_not_as_json(&WhyNot::Shown(at + 1), id, k));
    }
    let why = |served: &Arc<Served>| Ok::<_, Problem>(served.search()?.why_not(query, id, k)?);
    match chosen {
        Chosen::One(served) => Ok(why_not_as_json(&why(served)?, id, k)),
        Chosen::Two([first, second]) => {
            Ok(why_in_neither([(&first.name, why(first)?), (&second.name, why(second)?)], id, k))
        }
    }
}

/// The documents with what is shown of them.
fn hits_of(served: &Served, query: &Query, found: &[Found], asked: &SearchCall) -> Answer<Vec<Hit>> {
    let search = served.search()?;
    let snapshot = search.snapshot();
    let snippets = asked.snippets.then(|| snippets(snapshot, query)).transpose()?;
    let explained = match asked.explain && served.ranker.is_some() {
        true => Some(search.explain(query, found)?),
        false => None,
    };
    let mut hits = Vec::with_capacity(found.len());
    for (at, found) in found.iter().enumerate() {
        let document: Document = snapshot.document(found.address)?;
        hits.push(Hit {
            fields: Some(fields(&document, asked.fields.as_deref())),
            snippet: snippets.as_ref().map(|snippets| snippet_as_json(&snippets.of(&document))),
            explain: explained.as_ref().and_then(|explained| explained[at].as_ref()).map(explained_as_json),
            ..Hit::found(found, at + 1)
        });
    }
    Ok(hits)
}
