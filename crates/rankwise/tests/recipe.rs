//! The recipe: the same model however it is written, and everything in the ranker that is needed to repeat it.

use rankwise::data::{Dataset, Normalizer, Synth, SyntheticShape};
use rankwise::learners::boosting::lambda_mart::LambdaMart;
use rankwise::learners::structured::svm_map::SvmMap;
use rankwise::learners::{CustomLoss, LEARNERS, LinearParameters, LossKind, Scorer, TreesParameters};
use rankwise::losses::{PairLogistic, PairSum};
use rankwise::metrics::{Conventions, parse};
use rankwise::models::Ranker;
use rankwise::recipe::{Recipe, Start};
use rankwise::watch::Silent;

fn data(seed: u64, features: usize) -> Dataset {
    let shape = SyntheticShape::named("ohsumed").unwrap();
    Synth { queries: Some(15), documents: Some(14), features: Some(features), seed, ..Synth::new(shape) }
        .generate()
        .unwrap()
}

fn fit(recipe: &Recipe, train: &Dataset, valid: Option<&Dataset>) -> Ranker {
    recipe.fit(train, valid, Start::default(), &mut Silent::default()).unwrap()
}

#[test]
fn typed_and_named_recipes_are_the_same_recipe() {
    let train = data(1, 6);
    let named = Recipe::new("svm-map").set("c", 3.0).set("threshold", 2.0).seed(4);
    let linear = LinearParameters { c: 3.0, ..LinearParameters::default() };
    let typed = Recipe::of_loss(SvmMap { threshold: 2.0 }).with_scorer(&Scorer::Linear(linear)).seed(4);
    assert_eq!(fit(&named, &train, None).to_bytes(), fit(&typed, &train, None).to_bytes());
    let trees = TreesParameters { num_leaves: 4, iterations: 5, ..TreesParameters::default() };
    let typed =
        Recipe::of_loss(LambdaMart { k: 5, ..LambdaMart::default() }).with_scorer(&Scorer::Trees(trees));
    let named = Recipe::new("lambda-mart").set("truncation", 5).set("leaves", 4).set("n_estimators", 5);
    assert_eq!(fit(&named, &train, None).to_bytes(), fit(&typed, &train, None).to_bytes());
}

/// Learner, all parameters, metric, conventions, normalizer and seed of a ranker make the same ranker again.
#[test]
fn a_ranker_has_its_whole_recipe() {
    let (train, valid) = (data(1, 6), data(2, 6));
    let conventions = rankwise::metrics::preset("letor").unwrap();
    let recipe = Recipe::new("list-net").scorer("network").set("epochs", 4).set("layers", "6-3").seed(9);
    let recipe = recipe.metric("map").conventions(conventions).normalizer(Some(Normalizer::ZScore));
    let first = fit(&recipe, &train, Some(&valid));
    assert_eq!(first.scorer.as_deref(), Some("network"));
    assert_eq!(first.data, Some(Normalizer::ZScore.apply(train.clone()).unwrap().fingerprint()));
    let again = Recipe::new(&first.learner.name).set_all(first.parameters.clone()).seed(first.seed);
    let again = again.metric(&first.metric).conventions(first.conventions.clone());
    let again = again.normalizer(first.normalizer.clone());
    assert_eq!(fit(&again, &train, Some(&valid)).to_bytes(), first.to_bytes());
    // The ranker takes raw data and normalises it as in training.
    let prepared = recipe.check().unwrap().prepare(valid.clone()).unwrap();
    assert_eq!(first.score(&valid).unwrap(), first.model.scores(&prepared).unwrap());
}

#[test]
fn validation_data_with_more_numbered_features_widens_the_training_data() {
    let (train, valid) = (data(1, 6), data(2, 8));
    let ranker = fit(&Recipe::new("lambda-mart").set("iterations", 3), &train, Some(&valid));
    assert_eq!(ranker.model.width(), 8);
    assert!(ranker.score(&valid).is_ok() && ranker.score(&train).is_ok());
}

/// A loss and a metric of the caller's own go the same way as those in the lists.
#[test]
fn custom_losses_and_metrics_go_through_the_recipe() {
    let (train, valid) = (data(1, 6), data(2, 6));
    let loss =
        || CustomLoss::new("mine", |_| Ok(LossKind::Smooth(Box::new(PairLogistic { sum: PairSum::Mean }))));
    for (scorer, set) in [("linear", "c = 0.001"), ("trees", "iterations = 6"), ("network", "epochs = 2")] {
        let set: toml::Table = set.parse().unwrap();
        let metric = || parse("ndcg@10", &Conventions::default()).unwrap().into();
        let custom = Recipe::custom(loss()).scorer(scorer).set_all(set.clone()).custom_metric(metric());
        let listed = Recipe::new("rank-net").scorer(scorer).set("sum", "mean").set_all(set);
        let (custom, listed) = (fit(&custom, &train, Some(&valid)), fit(&listed, &train, Some(&valid)));
        assert_eq!(custom.model, listed.model, "{scorer}");
        assert_eq!((custom.learner.name.as_str(), custom.metric.as_str()), ("mine", "ndcg@10"));
    }
    assert!(Recipe::custom(loss()).set("leaves", 3).check().is_err());
}

/// Queries of six documents whose labels are `step` times 0 to 5, in the order of the first feature.
fn six_each(step: f32) -> Dataset {
    let labels: Vec<f32> = (0..24).map(|i| ((i * 5 + i / 6) % 6) as f32 * step).collect();
    let features = labels.iter().enumerate().flat_map(|(i, label)| [label / step, (i * 7 % 5) as f32]);
    Dataset::dense(features.collect(), 2, labels.clone(), &[6; 4]).unwrap()
}

/// Labels of 0 to 0.5: three of six documents are relevant where most pairs are separated, from 0.3 on.
#[test]
fn labels_below_1_get_a_threshold_that_separates_the_most_pairs() {
    let train = six_each(0.1);
    let mut chosen = Vec::new();
    for entry in LEARNERS {
        let recipe = Recipe::new(entry.card.name);
        let small = [("samples", 50), ("min_data_in_leaf", 1)];
        let known = entry.parameters();
        let small = small.into_iter().filter(|(name, _)| known.iter().any(|p| p.name == *name));
        let recipe = small.fold(recipe, |recipe, (name, value)| recipe.set(name, value));
        let Some(before) = recipe.check().unwrap().parameters().get("threshold").cloned() else { continue };
        let ranker = fit(&recipe, &train, None);
        let noted = ranker.record.notes.iter().any(|n| n.contains("relevant from label 0.3 on"));
        assert_eq!(noted, ranker.parameters["threshold"] != before, "{}", entry.card.name);
        let scores = ranker.score(&train).unwrap();
        assert!(scores.iter().any(|score| *score != scores[0]), "{} is constant", entry.card.name);
        if noted {
            chosen.push(entry.card.name);
            assert_eq!(ranker.parameters["threshold"].as_float(), Some(f64::from(0.3f32)));
            let again = fit(&Recipe::new(entry.card.name).set_all(ranker.parameters.clone()), &train, None);
            assert_eq!(again.model, ranker.model, "{}", entry.card.name);
            assert!(!again.record.notes.iter().any(|n| n.contains("relevant from label")));
        }
    }
    let by_threshold =
        ["svm-auc", "svm-map", "svm-mrr", "svm-ndcg", "svm-combo", "mle", "exp-gain", "l3", "convex-loss"];
    assert_eq!(chosen, by_threshold);
}

#[test]
fn a_threshold_that_separates_nothing_is_refused() {
    let refused = |recipe: Recipe, train: &Dataset| {
        recipe.fit(train, None, Start::default(), &mut Silent::default()).unwrap_err().to_string()
    };
    let error = refused(Recipe::new("svm-map").set("threshold", 9.0), &six_each(1.0));
    assert!(error.contains("a threshold of 3 separates the most pairs"), "{error}");
    let below = Dataset::dense(vec![1.0, 2.0], 1, vec![-2.0, -1.0], &[2]).unwrap();
    let error = refused(Recipe::new("ada-rank").metric("map"), &six_each(0.1));
    assert!(error.contains("no document is relevant to map"), "{error}");
    let error = refused(Recipe::new("mle"), &below);
    assert!(error.contains("above 0") && error.contains("add a constant"), "{error}");
}

#[test]
fn a_model_that_cannot_rank_has_a_note_with_the_reason() {
    let noted = |recipe: &Recipe, train: &Dataset| {
        let notes = fit(recipe, train, None).record.notes;
        notes.into_iter().find(|note| note.contains("all documents of a query the same score"))
    };
    let labels: Vec<f32> = (0..40).map(|i| (i % 3) as f32).collect();
    let dense = |value: fn(usize) -> f32| {
        Dataset::dense((0..40).map(value).collect(), 1, labels.clone(), &[8; 5]).unwrap()
    };
    let (same, missing) = (dense(|_| 2.0), dense(|_| f32::NAN));
    let (rare, varied) = (dense(|i| if i == 3 { 1.0 } else { 0.0 }), dense(|i| (i % 3) as f32));
    let one_grade = Dataset::dense((0..4).map(|i| i as f32).collect(), 1, vec![1.0; 4], &[4]).unwrap();
    let below = Dataset::dense(vec![1.0, 2.0, 3.0], 1, vec![-1.0, 0.0, -1.0], &[3]).unwrap();
    for (recipe, train, reason) in [
        (Recipe::new("lambda-mart"), &same, "no feature differs"),
        (Recipe::new("lambda-mart"), &missing, "no feature differs"),
        (Recipe::new("lambda-mart"), &rare, "min_data_in_leaf"),
        (Recipe::new("list-net"), &same, "no feature differs"),
        (Recipe::new("list-net"), &missing, "no feature differs"),
        (Recipe::new("regression"), &one_grade, "no training query has documents with different labels"),
        (Recipe::new("svm-map"), &one_grade, "no training query has documents with different labels"),
        (Recipe::new("ada-rank").metric("map"), &below, "map is undefined for every training query"),
    ] {
        let note = noted(&recipe, train).unwrap_or_default();
        assert!(note.contains(reason), "{recipe:?}: {note}");
    }
    for recipe in [
        Recipe::new("lambda-mart").set("min_data_in_leaf", 1),
        Recipe::new("list-net"),
        Recipe::new("regression"),
    ] {
        assert_eq!(noted(&recipe, &varied), None, "{recipe:?}");
    }
}

#[test]
fn mcrank_says_that_real_valued_labels_become_classes() {
    let noted = |train: &Dataset| {
        let ranker = fit(&Recipe::new("mcrank").set("iterations", 2), train, None);
        ranker.record.notes.iter().any(|note| note.contains("each of the 6 different labels as a class"))
    };
    assert!(noted(&six_each(0.1)) && !noted(&six_each(1.0)));
}
