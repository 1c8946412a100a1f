//! The recipe: the same model however it is written, and everything in the ranker that is needed to repeat it.

use rankwise::data::{Dataset, Normalizer, Synth, SyntheticShape};
use rankwise::learners::boosting::lambda_mart::LambdaMart;
use rankwise::learners::structured::svm_map::SvmMap;
use rankwise::learners::{CustomLoss, LinearParameters, LossKind, Scorer, TreesParameters};
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
