//! Importance by hand, and by what chance must give.

use super::*;
use crate::metrics::{Conventions, parse};
use crate::watch::{Progress, Silent, Stop, Watch};

fn permutation(metric: &str, repeats: usize, seed: u64) -> Permutation {
    Permutation { metric: parse(metric, &Conventions::default()).unwrap(), repeats, seed }
}

/// Feature 0 at 1.5; to the right, feature 2 at −2, of three features.
fn by_hand() -> TreeEnsemble {
    let tree = Tree {
        features: vec![0, 2],
        thresholds: vec![1.5, -2.0],
        missing_left: vec![false, true],
        left: vec![!0, !1],
        right: vec![1, !2],
        gains: vec![3.0, 1.0],
        values: vec![10.0, 20.0, 30.0],
        covers: vec![5.0, 3.0, 2.0],
        ..Tree::default()
    };
    let stump = Tree {
        features: vec![2],
        thresholds: vec![0.0],
        missing_left: vec![true],
        left: vec![!0],
        right: vec![!1],
        gains: vec![0.5],
        values: vec![0.0, 1.0],
        covers: vec![6.0, 4.0],
        ..Tree::default()
    };
    TreeEnsemble::sum(3, 0.0, vec![tree, stump, Tree::constant(1.0, 10.0)]).unwrap()
}

#[test]
fn trees_are_counted() {
    let found = splits(&Model::Trees(by_hand())).unwrap();
    let of = |count, gain| Splits { count, gain };
    assert_eq!(found, [of(1, 3.0), of(0, 0.0), of(2, 1.5)]);
    assert_eq!(outline(&by_hand()), Outline { trees: 3, leaves: 6, depth: 2, features_used: 2 });
    assert_eq!(node_covers(&by_hand().trees()[0]), [10.0, 5.0]);
}

/// Two documents, the better one first: a shuffle turns them round or leaves them, one time in two each, and the
/// reciprocal rank falls by ½ or not at all.
#[test]
fn shuffles_of_two_documents_drop_as_chance_has_it() {
    let data = dataset(2, vec![5.0, 1.0, 3.0, 2.0], vec![1.0, 0.0], vec![0, 2]);
    let model = Model::linear(vec![1.0, 0.0], 0.0);
    let repeats = 400;
    let found = permutation("mrr", repeats, 7).importance(&model, &data, &mut Silent::default()).unwrap();
    assert_eq!((found.metric.as_str(), found.value), ("mrr", 1.0));
    let turned = found.drops[0].mean / 0.5 * repeats as f64;
    assert!((turned - turned.round()).abs() < 1e-9 && (150.0..250.0).contains(&turned), "{turned}");
    let n = repeats as f64;
    let deviation = 0.5 * (turned * (n - turned) / (n * (n - 1.0))).sqrt();
    assert!((found.drops[0].deviation.unwrap() - deviation).abs() < 1e-12);
    assert_eq!(found.drops[1], Drop { mean: 0.0, deviation: Some(0.0) });
    assert_eq!(
        permutation("mrr", 1, 7).importance(&model, &data, &mut Silent::default()).unwrap().drops[0]
            .deviation,
        None
    );
}

/// Feature 1 says which way feature 0 counts, and is the same for a whole query.
#[test]
fn a_feature_that_is_constant_within_queries_matters() {
    let tree = Tree {
        features: vec![1, 0, 0],
        thresholds: vec![0.5, 0.5, 0.5],
        missing_left: vec![true; 3],
        left: vec![1, !0, !2],
        right: vec![2, !1, !3],
        gains: vec![1.0; 3],
        values: vec![0.0, 1.0, 1.0, 0.0],
        covers: vec![1.0; 4],
        ..Tree::default()
    };
    let model = Model::Trees(TreeEnsemble::sum(3, 0.0, vec![tree]).unwrap());
    let (mut values, mut labels, mut bounds) = (Vec::new(), Vec::new(), vec![0]);
    for query in 0..20 {
        let kind = (query % 2) as f32;
        for x in [0.0, 1.0] {
            // The third feature is never tested; nor would it say anything.
            values.extend([x, kind, query as f32]);
            labels.push(if kind == 0.0 { x } else { 1.0 - x });
        }
        bounds.push(labels.len());
    }
    let data = dataset(3, values, labels, bounds);
    let measure =
        |seed| permutation("ndcg", 5, seed).importance(&model, &data, &mut Silent::default()).unwrap();
    let found = measure(3);
    assert_eq!(found.value, 1.0);
    assert!(found.drops[0].mean > 0.1 && found.drops[1].mean > 0.1, "{:?}", found.drops);
    assert_eq!(found.drops[2].mean, 0.0);
    assert_eq!(found, in_threads(1, || measure(3)));
    assert_eq!(found, in_threads(5, || measure(3)));
    assert_ne!(found, measure(4));
}

#[test]
fn equal_values_shuffled_change_nothing_and_lacking_columns_neither() {
    let random = &mut stream(4, &[]);
    let model = random_ensemble(random, 5, 30, 12);
    let narrow = random_data(random, 4, 60);
    let data = with_column(&narrow, 2, 1.0);
    let found = permutation("ndcg@5", 3, 0).importance(&model, &data, &mut Silent::default()).unwrap();
    let means: Vec<f64> = found.drops.iter().map(|drop| drop.mean).collect();
    assert!(means[2] == 0.0 && means[4] == 0.0 && means[0] != 0.0, "{means:?}");
    let more =
        permutation("ndcg@5", 11, 0).importance(&model, &sparse(&data), &mut Silent::default()).unwrap();
    let few = permutation("ndcg@5", 11, 0).importance(&model, &data, &mut Silent::default()).unwrap();
    assert_eq!(more, few);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let model = Model::linear(vec![1.0], 0.0);
    let data = dataset(1, vec![1.0, 2.0], vec![0.0, 0.0], vec![0, 2]);
    let error = |repeats, metric: &str| {
        let mut conventions = Conventions::default();
        conventions.set("empty", "skip").unwrap();
        let metric = parse(metric, &conventions).unwrap();
        Permutation { metric, repeats, seed: 0 }
            .importance(&model, &data, &mut Silent::default())
            .unwrap_err()
            .to_string()
    };
    assert!(error(0, "map").contains("`repeats` is 0"));
    assert!(error(2, "map").contains("map is not defined for any query"));
    let wide = dataset(2, vec![1.0, 2.0], vec![0.0], vec![0, 1]);
    let refused =
        permutation("map", 1, 0).importance(&model, &wide, &mut Silent::default()).unwrap_err().to_string();
    assert!(refused.contains("the data has 2 features, the model only 1"));
}

/// Keeps every report, and may ask to stop at the first.
#[derive(Default)]
struct Kept {
    steps: Vec<(u64, Option<u64>, String, f64)>,
    stop: Stop,
    at_once: bool,
}

impl Watch for Kept {
    fn step(&mut self, step: Progress<'_>) {
        self.steps.push((step.done, step.total, step.what.to_owned(), step.value));
        if self.at_once {
            self.stop.request();
        }
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

#[test]
fn every_feature_that_is_used_is_a_step() {
    let model = Model::linear(vec![1.0, 0.0, 2.0], 0.0);
    let data = dataset(3, vec![5.0, 1.0, 3.0, 2.0, 1.0, 0.0], vec![1.0, 0.0], vec![0, 2]);
    let mut kept = Kept::default();
    let found = permutation("mrr", 20, 7).importance(&model, &data, &mut kept).unwrap();
    let counts: Vec<_> = kept.steps.iter().map(|step| (step.0, step.1)).collect();
    assert_eq!(counts, [(1, Some(2)), (2, Some(2))], "feature 2 has no weight");
    let largest = found.drops.iter().map(|drop| drop.mean).fold(f64::MIN, f64::max);
    assert_eq!((&*kept.steps[1].2, kept.steps[1].3), ("largest drop", largest));
    let mut stopped = Kept { at_once: true, ..Kept::default() };
    let error = permutation("mrr", 20, 7).importance(&model, &data, &mut stopped).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Interrupted);
}

#[test]
fn documents_are_explained_block_by_block() {
    let model = Model::linear(vec![1.0, -2.0], 0.5);
    let rows: Vec<f32> = (0..5000).map(|i| (i % 97) as f32).collect();
    let data = dataset(2, rows, vec![0.0; 2500], vec![0, 2500]);
    let (explainer, all) = (Explainer::new(&model).unwrap(), (0..2500).rev().collect::<Vec<usize>>());
    let (mut kept, mut found) = (Kept::default(), Vec::new());
    explainer
        .contributions_by_block(&data, &all, &mut kept, |documents, rows| {
            assert_eq!(documents.len(), rows.len());
            found.extend(rows);
            Ok(())
        })
        .unwrap();
    assert_eq!(found, explainer.contributions(&data, &all).unwrap());
    let counts: Vec<_> = kept.steps.iter().map(|step| (step.0, step.1)).collect();
    assert_eq!(counts, [(1024, Some(2500)), (2048, Some(2500)), (2500, Some(2500))]);
    let mut stopped = Kept { at_once: true, ..Kept::default() };
    let error = explainer.contributions_by_block(&data, &all, &mut stopped, |_, _| Ok(())).unwrap_err();
    assert_eq!((error.kind(), stopped.steps.len()), (crate::ErrorKind::Interrupted, 1));
}
