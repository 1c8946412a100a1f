//! Our presets against what other tools say, stored by `testdata/measures/generate.py` with the tools' versions.

use rankwise::metrics::{DocumentIds, JudgedList, evaluate_lists, parse, preset};
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
    measure: String,
    tolerance: f64,
    /// One per query; `None` where the tool has no answer.
    values: Vec<Option<f64>>,
}

#[test]
fn every_preset_gives_its_tools_values() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/measures/answers.json");
    let stored: Stored = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(stored.versions.len() >= 6 && stored.answers.len() > 150);
    let mut wrong = Vec::new();
    for answer in &stored.answers {
        let queries = &stored.sets[&answer.set];
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
        let metric = parse(&answer.measure, &preset(&answer.preset).unwrap()).unwrap();
        let ours = evaluate_lists(&lists, &[metric]).unwrap();
        assert_eq!(answer.values.len(), lists.len());
        for (q, (theirs, ours)) in answer.values.iter().zip(&ours.values[0]).enumerate() {
            if let Some(theirs) = theirs
                && !ours.is_some_and(|o| (o - theirs).abs() <= answer.tolerance)
            {
                let Answer { tool, measure, set, .. } = answer;
                wrong.push(format!("{tool}'s {measure} of {set} {q}: {theirs}, ours {ours:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
