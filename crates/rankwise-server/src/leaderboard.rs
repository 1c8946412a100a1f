//! `/leaderboard`: what the judgments say about the models.

use crate::admin::blocking;
use crate::app::App;
use crate::call::{Call, json};
use crate::catalogue::{BM25, Catalogue};
use crate::judged::judging;
use crate::judging::Judging;
use crate::problem::Answer;
use axum::body::Body;
use axum::http::Response;
use rankwise::experiment::{Comparison, ComparisonOptions};
use rankwise::labels::{Judgments, MergeRule};
use rankwise::metrics::{Conventions, DocumentIds, Evaluation, JudgedList, evaluate_lists, parse_list};
use rankwise_search::Query;
use rankwise_search::search::Search;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Metrics of the leaderboard.
const METRICS: &str = "ndcg@10,map,mrr";

/// How many documents of a model are evaluated per query.
const DEPTH: usize = 1000;

/// The most queries of which the values of all models are shown.
const SHOWN_QUERIES: usize = 50;

/// The models by the judgments so far.
pub(crate) async fn leaderboard(app: Arc<App>, call: Call) -> Answer<Response<Body>> {
    call.parameters()?.end()?;
    let revision = (app.models.now().revision, judging(&app)?.all().1);
    let mut kept = app.leaderboard.lock().await;
    if let Some((of, known)) = &*kept
        && *of == revision
    {
        return json(known);
    }
    let shared = Arc::clone(&app);
    let board = blocking(move || board(&shared)).await?;
    let response = json(&board);
    *kept = Some((revision, board));
    response
}

/// A query with its labels.
struct Labelled {
    id: String,
    query: Query,
    labels: HashMap<String, f32>,
}

fn board(app: &App) -> Answer<Value> {
    let judging = judging(app)?;
    let (judgments, _) = judging.all();
    let catalogue: Arc<Catalogue> = app.models.now();
    let labelled = labelled(judging, &judgments);
    let judged: BTreeSet<&str> = judgments.all().iter().map(|judgment| judgment.query.as_str()).collect();
    let summary = json!({
        "judgments": judgments.all().len(),
        "judged_queries": judged.len(),
        "queries": labelled.len(),
        "metrics": METRICS.split(',').collect::<Vec<_>>(),
        "rule": "the median of the grades of all judges; documents without a judgment count as not relevant",
    });
    let systems: Vec<(&str, &Search)> =
        catalogue.all().filter_map(|s| Some((s.name.as_str(), s.finder()?))).collect();
    if labelled.is_empty() || systems.len() < 2 {
        let mut empty = summary;
        empty["models"] = json!([]);
        empty["by_query"] = json!([]);
        return Ok(empty);
    }
    let baseline = systems.iter().position(|(name, _)| *name == BM25);
    let mut evaluations = Vec::new();
    let mut judged = Vec::new();
    for (_, search) in &systems {
        let (evaluation, fraction) = evaluate(search, &labelled)?;
        evaluations.push(evaluation);
        judged.push(fraction);
    }
    let names: Vec<String> = systems.iter().map(|(name, _)| (*name).to_owned()).collect();
    let options = ComparisonOptions { baseline, ..ComparisonOptions::default() };
    let by_query = by_query(&labelled, &names, &evaluations);
    let comparisons = Comparison::by_metric(&names, &evaluations, &options)?;
    let mut answer = summary;
    answer["models"] =
        (0..systems.len()).map(|system| model_as_json(system, &systems, &comparisons, &judged)).collect();
    answer["by_query"] = by_query;
    Ok(answer)
}

/// The queries on which the models differ most by the first metric, with the values of all of them.
fn by_query(labelled: &[Labelled], names: &[String], evaluations: &[Evaluation]) -> Value {
    let value = |evaluation: &Evaluation, at: usize| evaluation.values[0][at].unwrap_or_default();
    let range = |at: usize| {
        let values = || evaluations.iter().map(|evaluation| value(evaluation, at));
        values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
    };
    let mut order: Vec<usize> = (0..labelled.len()).collect();
    order.sort_by(|&a, &b| range(b).total_cmp(&range(a)));
    let query = |&at: &usize| {
        let values: BTreeMap<&String, f64> =
            names.iter().zip(evaluations).map(|(name, evaluation)| (name, value(evaluation, at))).collect();
        json!({ "id": labelled[at].id, "text": labelled[at].query.text(), "values": values })
    };
    order.iter().take(SHOWN_QUERIES).map(query).collect()
}

fn model_as_json(
    system: usize,
    systems: &[(&str, &Search)],
    comparisons: &[Comparison],
    judged: &[f64],
) -> Value {
    let mut metrics = BTreeMap::new();
    for (name, comparison) in METRICS.split(',').zip(comparisons) {
        let summary = &comparison.systems[system];
        let against = comparison.pairs.iter().find(|pair| pair.system == system).map(|pair| {
            json!({
                "baseline": systems[pair.against].0,
                "difference": pair.difference,
                "interval": pair.interval,
                "p": pair.p_permutation_holm,
            })
        });
        metrics
            .insert(name, json!({ "mean": summary.mean, "interval": summary.interval, "against": against }));
    }
    json!({ "name": systems[system].0, "metrics": metrics, "judged_at_10": judged[system] })
}

/// Queries whose text is known and that have a relevant document.
fn labelled(judging: &Judging, judgments: &Judgments) -> Vec<Labelled> {
    let mut by_query: HashMap<String, HashMap<String, f32>> = HashMap::new();
    for label in judgments.merge(MergeRule::Median).labels {
        by_query.entry(label.query).or_default().insert(label.document, label.grade as f32);
    }
    let labelled = judging.queries.iter().filter_map(|query| {
        let labels = by_query.remove(&query.id)?;
        labels.values().any(|label| *label > 0.0).then(|| Labelled {
            id: query.id.clone(),
            query: Query::words(&query.text),
            labels,
        })
    });
    labelled.collect()
}

/// The metrics of a model, and the fraction of its first ten documents that were judged.
fn evaluate(search: &Search, labelled: &[Labelled]) -> Answer<(Evaluation, f64)> {
    /// The documents of a query: those that were found, and relevant ones that were not.
    struct List {
        ids: Vec<String>,
        labels: Vec<f32>,
        scores: Vec<f64>,
    }
    let (mut lists, mut judged, mut shown) = (Vec::new(), 0, 0);
    for query in labelled {
        let found = search.run(&query.query, DEPTH)?;
        judged += found.iter().take(10).filter(|found| query.labels.contains_key(&found.id)).count();
        shown += found.len().min(10);
        let mut left = query.labels.clone();
        let mut list = List { ids: Vec::new(), labels: Vec::new(), scores: Vec::new() };
        for found in found {
            list.labels.push(left.remove(&found.id).unwrap_or(f32::NAN));
            list.scores.push(found.score);
            list.ids.push(found.id);
        }
        let mut missed: Vec<(String, f32)> = left.into_iter().collect();
        missed.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        for (id, label) in missed {
            list.ids.push(id);
            list.labels.push(label);
        }
        lists.push(list);
    }
    let lists: Vec<JudgedList<'_>> = labelled
        .iter()
        .zip(&lists)
        .map(|(query, list)| JudgedList {
            id: &query.id,
            labels: &list.labels,
            scores: &list.scores,
            document_ids: DocumentIds::List(&list.ids),
            weight: 1.0,
        })
        .collect();
    let evaluation = evaluate_lists(&lists, &parse_list(METRICS, &Conventions::default())?)?;
    Ok((evaluation, f64::from(judged as u32) / f64::from(shown.max(1) as u32)))
}
