//! Cross-validation against a loop written by hand.

use rankwise::data::{ClickLabels, Dataset, SplitOrder, Synth, SyntheticShape, split};
use rankwise::experiment::{CrossFold, CrossValidated, cross_validate};
use rankwise::metrics::{Conventions, evaluate, parse_list};
use rankwise::recipe::{Recipe, Start};
use rankwise::watch::{Silent, Stop};
use std::sync::atomic::{AtomicUsize, Ordering};

fn data() -> Dataset {
    let shape = SyntheticShape::named("ohsumed").unwrap();
    Synth { queries: Some(23), documents: Some(12), features: Some(6), ..Synth::new(shape) }
        .generate()
        .unwrap()
}

fn validate(data: &Dataset, folds: &[CrossFold], stop: &Stop) -> rankwise::Result<CrossValidated> {
    let metrics = parse_list("ndcg@5,map", &Conventions::default())?;
    let calls = AtomicUsize::new(0);
    let trainer = Recipe::new("regression").seed(3).check()?;
    let validated = cross_validate(&trainer, data, folds, &metrics, stop, &|_, _| {
        calls.fetch_add(1, Ordering::Relaxed);
    })?;
    assert_eq!(calls.into_inner(), folds.len());
    Ok(validated)
}

#[test]
fn it_is_a_loop_over_the_folds_of_a_split() {
    let (data, stop) = (data(), Stop::default());
    let validated = validate(&data, &CrossFold::equal(23, 4, 3).unwrap(), &stop).unwrap();
    let parts = split(&data, &[1.0; 4], SplitOrder::Shuffled(3)).unwrap();
    let metrics = parse_list("ndcg@5,map", &Conventions::default()).unwrap();
    let (mut sum, mut queries) = (0.0, 0);
    for (fold, test) in validated.folds.iter().zip(&parts) {
        let held_out: Vec<&str> = test.queries().map(|query| query.id()).collect();
        let others: Vec<usize> = data
            .queries()
            .filter(|query| !held_out.contains(&query.id()))
            .map(|query| query.index())
            .collect();
        let ranker = Recipe::new("regression")
            .seed(3)
            .fit(&data.select_queries(&others), None, Start::default(), &mut Silent::default())
            .unwrap();
        assert_eq!(ranker.to_bytes(), fold.ranker.to_bytes());
        assert_eq!(ranker.score(test).unwrap(), fold.scores);
        let by_hand = evaluate(test, &fold.scores, &metrics).unwrap();
        assert_eq!(by_hand, fold.evaluation);
        sum += by_hand.values[1].iter().flatten().sum::<f64>();
        queries += held_out.len();
    }
    assert_eq!((queries, validated.evaluation.query_ids.len()), (23, 23));
    assert!((validated.evaluation.mean(1).unwrap() - sum / 23.0).abs() < 1e-12);
}

#[test]
fn clicks_are_evaluated_as_clicks_over_all_folds() {
    let (data, stop) = (data().with_click_labels(ClickLabels::default()).unwrap(), Stop::default());
    let metrics = parse_list("ndcg@5", &Conventions::default()).unwrap();
    let trainer = Recipe::new("list-net").set("rounds", 3).check().unwrap();
    let folds = CrossFold::equal(23, 4, 3).unwrap();
    let validated = cross_validate(&trainer, &data, &folds, &metrics, &stop, &|_, _| {}).unwrap();
    let by_fold: Vec<_> = validated.folds.iter().flat_map(|fold| &fold.evaluation.values[0]).collect();
    assert_eq!(validated.evaluation.values[0].iter().collect::<Vec<_>>(), by_fold);
    // The NDCG of grades is at most 1; the DCG of clicks is not.
    assert!(validated.evaluation.mean(0).unwrap() > 1.0);
}

#[test]
fn folds_that_overlap_or_are_empty_are_refused() {
    let (data, stop) = (data(), Stop::default());
    let refusal = |train: Vec<usize>, test: Vec<usize>| {
        validate(&data, &[CrossFold { train, test }], &stop).unwrap_err().to_string()
    };
    assert_eq!(refusal(vec![0, 1], vec![1]), "fold 1 trains and tests on query number 1");
    assert_eq!(refusal(vec![0], vec![]), "fold 1 has no queries to train or to test on");
    assert_eq!(refusal(vec![0], vec![23]), "fold 1 has query number 23, and there are 23 queries");
    let none = validate(&data, &[], &stop).unwrap_err().to_string();
    assert_eq!(none, "cross-validation needs at least one fold");
    assert!(
        CrossFold::equal(3, 4, 1).unwrap_err().to_string().starts_with("4 folds are not possible with 3")
    );
    stop.request();
    assert!(validate(&data, &CrossFold::equal(23, 4, 3).unwrap(), &stop).is_err());
}
