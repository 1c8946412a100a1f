//! Our presets against the values of other tools, stored by `testdata/metrics/generate.py` and `trec.py` with the
//! versions of the tools.

use rankwise::metrics::{Conventions, DocumentIds, JudgedList, evaluate_lists, parse, preset};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Stored {
    versions: BTreeMap<String, String>,
    sets: BTreeMap<String, Vec<StoredQuery>>,
    answers: Vec<Answer>,
}

#[derive(Deserialize)]
struct StoredQuery {
    labels: Vec<Option<f32>>,
    scores: Vec<f64>,
    #[serde(default)]
    ids: Vec<String>,
}

#[derive(Deserialize)]
struct Answer {
    tool: String,
    preset: String,
    set: String,
    metric: String,
    tolerance: f64,
    /// One per query; `None` if the tool has no value.
    values: Vec<Option<f64>>,
}

fn stored() -> Stored {
    let read = |name: &str| -> Stored {
        let path = format!("{}/../../testdata/metrics/{name}", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let (mut all, more) = (read("answers.json"), read("trec-answers.json"));
    all.versions.extend(more.versions);
    all.sets.extend(more.sets);
    all.answers.extend(more.answers);
    all
}

/// Where a tool's answer and ours under `conventions` differ.
fn differences(answer: &Answer, queries: &[StoredQuery], conventions: &Conventions) -> Vec<String> {
    let labels: Vec<Vec<f32>> =
        queries.iter().map(|q| q.labels.iter().map(|l| l.unwrap_or(f32::NAN)).collect()).collect();
    let lists: Vec<JudgedList<'_>> = queries
        .iter()
        .zip(&labels)
        .map(|(q, labels)| JudgedList {
            id: "",
            labels,
            scores: &q.scores,
            document_ids: DocumentIds::List(&q.ids),
            weight: 1.0,
        })
        .collect();
    let metric = parse(&answer.metric, conventions).unwrap();
    let ours = evaluate_lists(&lists, &[metric]).unwrap();
    assert_eq!(answer.values.len(), lists.len());
    let Answer { tool, metric, set, tolerance, .. } = answer;
    let differs = |theirs: f64, ours: &Option<f64>| ours.is_none_or(|o| (o - theirs).abs() > *tolerance);
    let pairs = answer.values.iter().zip(&ours.values[0]).enumerate();
    pairs
        .filter_map(|(q, (theirs, ours))| theirs.map(|t| (q, t, ours)))
        .filter(|(_, theirs, ours)| differs(*theirs, ours))
        .map(|(q, theirs, ours)| format!("{tool}'s {metric} of {set} {q}: {theirs}, ours {ours:?}"))
        .collect()
}

#[test]
fn every_preset_gives_the_values_of_its_tool() {
    let stored = stored();
    assert!(stored.versions.len() >= 7 && stored.answers.len() > 300);
    for name in ["inf-ap", "iprec@0.7", "11pt-avg", "set-map", "set-relative-p", "judged@5", "num-rel-ret"] {
        assert!(stored.answers.iter().any(|a| a.metric == name), "{name}");
    }
    let wrong: Vec<String> = stored
        .answers
        .iter()
        .flat_map(|a| differences(a, &stored.sets[&a.set], &preset(&a.preset).unwrap()))
        .collect();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// If any convention of a preset is changed, some stored value differs.
#[test]
fn every_convention_of_a_preset_is_needed() {
    let stored = stored();
    let others = "trec gain=exp2, trec discount=letor, trec ties=input, trec ties=average, trec scores=f64, \
        trec empty=one, trec ap-divisor=min, trec p-divisor=min, trec threshold=2, lightgbm gain=linear, \
        lightgbm ties=average, lightgbm ties=worst, lightgbm scores=f32, lightgbm empty=zero, \
        lightgbm ap-divisor=relevant, xgboost ties=average, xgboost scores=f64, xgboost empty=one, \
        xgboost empty=zero, xgboost ap-divisor=relevant, xgboost p-divisor=k, catboost ties=input, \
        catboost ties=average, catboost scores=f32, catboost empty=zero, catboost empty=one, \
        catboost ap-divisor=relevant, catboost p-divisor=k, catboost stop=exp2, sklearn ties=input, \
        sklearn ap-ties=order, sklearn gain=exp2, sklearn scores=f32, ranx ties=average, ranx scores=f32, \
        ranx rbp-gain=binary, ranx gain=exp2, ranx p-divisor=min, ranx ap-divisor=min";
    for other in others.split(", ") {
        let (name, choice) = other.trim().split_once(' ').unwrap();
        let (key, value) = choice.split_once('=').unwrap();
        let mut conventions = preset(name).unwrap();
        conventions.set(key, value).unwrap();
        let answers = stored.answers.iter().filter(|a| a.preset == name);
        let noticed = answers.flat_map(|a| differences(a, &stored.sets[&a.set], &conventions)).count();
        assert!(noticed > 0, "no stored answer minds `{other}`");
    }
}
