//! `/rank`: documents in the order of a model, and `/explain`: why.

use crate::app::App;
use crate::call::{Call, from_json, json};
use crate::catalogue::{Catalogue, Served};
use crate::found::{Hit, explained_as_json};
use crate::problem::{Answer, Problem};
use crate::rows::{check_rows, too_large_value};
use crate::searching::check_query;
use crate::traffic::{choose_one, key_of};
use axum::body::{Body, Bytes};
use axum::http::Response;
use rankwise::clicks::Session;
use rankwise::data::Rows;
use rankwise_search::Query;
use rankwise_search::search::{Given, Ranked, explain_rows};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::Arc;

/// The most documents whose scores are explained at once.
const MAX_EXPLAINED: usize = 1000;

/// The most documents of a list in the log, and the most bytes of their ids.
const MAX_LOGGED: usize = 1000;
const MAX_ID: usize = 1024;

/// What to rank.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RankBody {
    query: Option<String>,
    /// Documents of the index.
    ids: Option<Vec<String>>,
    /// The scores with which they were retrieved.
    scores: Option<Vec<f64>>,
    /// Documents with their features.
    documents: Option<Vec<FeatureDocument>>,
    model: Option<String>,
    k: Option<usize>,
    user: Option<String>,
    /// Whether the list is shown to somebody, so that it is logged and takes clicks.
    #[serde(default)]
    log: bool,
}

/// A document with its features.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FeatureDocument {
    id: String,
    features: Vec<Option<f32>>,
}

/// The answer.
#[derive(Serialize)]
struct Answered<'a> {
    schema: u32,
    session: Option<String>,
    query: Option<&'a str>,
    model: &'a str,
    version: u32,
    ranker: String,
    hits: Vec<Hit>,
    /// Ids that the index does not have.
    unknown: Vec<String>,
}

/// What was ranked.
struct Listed {
    hits: Vec<Hit>,
    unknown: Vec<String>,
    /// A row of features for every hit, in their order.
    rows: Vec<f32>,
}

/// Ranks documents.
pub(crate) async fn rank(app: Arc<App>, mut call: Call) -> Answer<Response<Body>> {
    run(app, &mut call, false).await
}

/// Ranks documents and says what their scores are made of.
pub(crate) async fn explain(app: Arc<App>, mut call: Call) -> Answer<Response<Body>> {
    run(app, &mut call, true).await
}

async fn run(app: Arc<App>, call: &mut Call, explain: bool) -> Answer<Response<Body>> {
    call.check_json()?;
    call.parameters()?.end()?;
    let bytes = call.bytes().await?;
    let (catalogue, shared) = (app.models.now(), Arc::clone(&app));
    app.pool.run(move || respond(&shared, &catalogue, &bytes, explain)).await
}

fn respond(app: &App, catalogue: &Catalogue, bytes: &Bytes, explain: bool) -> Answer<Response<Body>> {
    let mut body: RankBody = from_json(bytes)?;
    if let Some(query) = &body.query {
        check_query(query)?;
    }
    let key = key_of(body.user.as_deref())?;
    let served = choose_one(&app.settings.traffic, catalogue, body.model.as_deref(), &key)?;
    let most = app.settings.max_rows;
    let mut listed = match (body.ids.take(), body.documents.take()) {
        (Some(ids), None) => listed_of_ids(&served, &body, ids, most)?,
        (None, Some(documents)) => listed_of_rows(&served, documents, most)?,
        _ => return Err(Problem::unusable("the body must have either `ids` or `documents` with features")),
    };
    let k = body.k.unwrap_or(listed.hits.len()).min(listed.hits.len());
    listed.hits.truncate(k);
    if explain {
        explain_hits(&served, &mut listed)?;
    }
    let width = served.ranker()?.model.width();
    listed.rows.truncate(k * width);
    let session = match body.log {
        true => log(app, &served, &body, &listed, width)?,
        false => None,
    };
    json(&Answered {
        schema: 1,
        session,
        query: body.query.as_deref(),
        model: &served.name,
        version: served.version,
        ranker: served.label(),
        hits: listed.hits,
        unknown: listed.unknown,
    })
}

/// Documents of the index, whose features are computed.
fn listed_of_ids(served: &Served, body: &RankBody, ids: Vec<String>, most: usize) -> Answer<Listed> {
    check_rows(ids.len(), most)?;
    check_different(ids.iter())?;
    let Some(query) = &body.query else {
        return Err(Problem::unusable(
            "the features of documents depend on the query, and the body has no `query`",
        ));
    };
    let scores = match &body.scores {
        Some(scores) if scores.len() != ids.len() => {
            let (scores, ids) = (scores.len(), ids.len());
            return Err(Problem::unusable(format!("the body has {scores} scores for {ids} ids")));
        }
        Some(scores) => scores.clone(),
        None => vec![f64::NAN; ids.len()],
    };
    served.ranker()?;
    let search = served.search()?;
    let query = Query::words(query);
    let given = ids.into_iter().zip(scores).map(|(id, score)| Given { id, score });
    let Ranked { found, unknown } = search.rank(&query, given.collect())?;
    let rows = search.features(&query, &found)?.unwrap_or_default();
    let hits = found.into_iter().enumerate().map(|(at, found)| Hit::new(found.id, at + 1, found.score));
    Ok(Listed { hits: hits.collect(), unknown, rows })
}

/// Documents that come with their features.
fn listed_of_rows(served: &Served, documents: Vec<FeatureDocument>, most: usize) -> Answer<Listed> {
    check_rows(documents.len(), most)?;
    check_different(documents.iter().map(|document| &document.id))?;
    let ranker = served.ranker()?;
    let width = ranker.model.width();
    let mut values = Vec::with_capacity(documents.len() * width);
    for FeatureDocument { id, features } in &documents {
        if features.len() != width {
            return Err(Problem::unusable(format!(
                "document `{id}` has {} features, and the model `{}` has {width}",
                features.len(),
                served.name
            )));
        }
        if features.iter().flatten().any(|value| value.is_infinite()) {
            return Err(too_large_value());
        }
        values.extend(features.iter().map(|value| value.unwrap_or(f32::NAN)));
    }
    let mut scores = vec![0.0; documents.len()];
    if !scores.is_empty() {
        ranker.score_query_rows(Rows::dense(&values, width)?, &mut scores)?;
    }
    let mut order: Vec<usize> = (0..documents.len()).collect();
    let id = |at: usize| &documents[at].id;
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then_with(|| id(a).cmp(id(b))));
    let hits = order.iter().enumerate().map(|(place, &at)| Hit::new(id(at).clone(), place + 1, scores[at]));
    let rows = order.iter().flat_map(|at| &values[at * width..(at + 1) * width]).copied();
    Ok(Listed { hits: hits.collect(), unknown: Vec::new(), rows: rows.collect() })
}

fn check_different<'a>(ids: impl Iterator<Item = &'a String>) -> Answer<()> {
    let mut seen = HashSet::new();
    for id in ids {
        if !seen.insert(id) {
            return Err(Problem::unusable(format!("the document `{id}` is given twice")));
        }
    }
    Ok(())
}

fn explain_hits(served: &Served, listed: &mut Listed) -> Answer<()> {
    if listed.hits.len() > MAX_EXPLAINED {
        return Err(Problem::unusable(format!(
            "at most {MAX_EXPLAINED} documents are explained at once; ask for the first ones with `k`"
        )));
    }
    // The rows are those of all documents, among which a model may have scaled each.
    let shown: Vec<usize> = (0..listed.hits.len()).collect();
    let explained = explain_rows(served.ranker()?, &listed.rows, &shown)?;
    for (hit, explained) in listed.hits.iter_mut().zip(&explained) {
        hit.explain = Some(explained_as_json(explained));
    }
    Ok(())
}

/// Logs the list. Returns the id of its session, if there is a log that can be written.
fn log(app: &App, served: &Served, body: &RankBody, listed: &Listed, width: usize) -> Answer<Option<String>> {
    let Some(query) = &body.query else {
        return Err(Problem::unusable("a list can only be logged with its `query`"));
    };
    if listed.hits.len() > MAX_LOGGED {
        return Err(Problem::unusable(format!(
            "a list that is logged has at most {MAX_LOGGED} documents; ask for those that are shown with `k`"
        )));
    }
    if let Some(hit) = listed.hits.iter().find(|hit| hit.id.len() > MAX_ID) {
        let start: String = hit.id.chars().take(20).collect();
        return Err(Problem::unusable(format!(
            "the id `{start}…` has more than {MAX_ID} bytes, which is too long for the log"
        )));
    }
    let features = listed.rows.chunks_exact(width).map(<[f32]>::to_vec);
    Ok(app.show(Session {
        query: query.clone(),
        ranker: Some(served.label()),
        shown: listed.hits.iter().map(|hit| hit.id.clone()).collect(),
        features: app.settings.log_features.then(|| features.collect()),
        ..Session::default()
    }))
}
