//! What a recipe asks of all queries has the answer of one machine, for any number of workers.

use super::{Recipe, check_data};
use crate::data::{Dataset, with_workers};
use crate::metrics::check_relevance_of;
use crate::models::Model;

/// Queries of `documents` documents with these labels, one after the other.
fn data(queries: usize, documents: usize, label: impl Fn(usize) -> f32) -> Dataset {
    let count = queries * documents;
    let values = (0..2 * count).map(|i| (i as f32 * 0.7).sin()).collect();
    let labels = (0..count).map(label).collect();
    Dataset::dense(values, 2, labels, &vec![documents; queries]).unwrap()
}

/// What the recipe's parts say about the data, as text.
fn said(recipe: &Recipe, train: &Dataset) -> String {
    let trainer = recipe.check().unwrap();
    let text = |result: crate::Result<String>| result.unwrap_or_else(|error| error.to_string());
    let model = |weight: f64| Model::linear(vec![0.0, weight], 0.0);
    [
        train.fingerprint(),
        text(check_data(train, None).map(|()| "fine".into())),
        text(check_relevance_of(train, trainer.metric()).map(|()| "relevant".into())),
        text(trainer.for_labels(train).map(|(changed, note)| format!("{:?} {note:?}", changed.parameters()))),
        text(trainer.constant_note(&model(0.0), train).map(|note| format!("{note:?}"))),
        text(trainer.constant_note(&model(1.0), train).map(|note| format!("{note:?}"))),
    ]
    .join("\n")
}

#[test]
fn questions_about_all_queries_have_the_answers_of_one_machine() {
    // Only the last query has documents with different labels; graded, small, or none at all.
    let last = |of: fn(usize) -> f32| move |i: usize| if i < 3 * 39 { 0.0 } else { of(i) };
    let sets = [
        ("grades", data(40, 3, |i| (i % 3) as f32)),
        ("late grades", data(40, 3, last(|i| (i % 2) as f32))),
        ("fractions", data(40, 3, last(|i| (i % 3) as f32 / 4.0))),
        ("no labels", data(40, 3, |_| 0.0)),
        ("negative", data(40, 3, |i| -((i % 3) as f32))),
        ("single documents", data(40, 1, |i| (i % 2) as f32)),
        ("few queries", data(2, 4, |i| i as f32 / 8.0)),
        ("no weights", data(5, 2, |i| i as f32).with_query_weights(vec![0.0; 5]).unwrap()),
    ];
    for learner in ["svm-map", "list-net", "rank-svm"] {
        for metric in ["ndcg@5", "map"] {
            let recipe = Recipe::new(learner).metric(metric);
            for (what, train) in &sets {
                let alone = said(&recipe, train);
                for workers in [1, 2, 3, 7] {
                    let (driver, others) =
                        with_workers(train, None, workers, |train, _| said(&recipe, train));
                    for divided in others.iter().chain([&driver]) {
                        assert_eq!(*divided, alone, "{learner}, {metric}, {what}, {workers} workers");
                    }
                }
            }
        }
    }
    let all: Vec<String> =
        sets.iter().map(|(_, train)| said(&Recipe::new("svm-map").metric("map"), train)).collect();
    for sentence in [
        "count as relevant from label",
        "needs relevant documents",
        "weight 0",
        "the same score, because no training query",
    ] {
        assert!(all.iter().any(|text| text.contains(sentence)), "{sentence} is not tested: {all:#?}");
    }
}

#[test]
fn a_learner_that_cannot_be_divided_is_refused() {
    let refusal = Recipe::new("prank").check().unwrap().check_distributes().unwrap_err().to_string();
    assert!(refusal.starts_with("`prank` cannot be trained on several workers; "), "{refusal}");
}
