//! Boosting end to end: what is kept, taken up again, left out and weighted.

use rankwise::Recipe;
use rankwise::data::{Dataset, Features, Parts, Synth, SyntheticShape};
use rankwise::error::Result;
use rankwise::learners::boosting::Checkpoint;
use rankwise::metrics::{Conventions, Metric, evaluate, parse};
use rankwise::models::{Model, Outcome, Ranker};
use rankwise::recipe::Start;
use rankwise::watch::{Progress, Silent, Stop, Watch};
use std::path::Path;
use toml::Table;

fn ndcg() -> Box<dyn Metric> {
    parse("ndcg@5", &Conventions::default()).unwrap()
}

fn data(seed: u64) -> Dataset {
    let shape = SyntheticShape::named("ohsumed").unwrap();
    Synth { queries: Some(20), documents: Some(30), features: Some(8), seed, ..Synth::new(shape) }
        .generate()
        .unwrap()
}

fn table(text: &str) -> Table {
    text.parse().unwrap()
}

/// Ways to boost that differ in what a round does to scores.
const WAYS: [(&str, &str); 9] = [
    ("lambda-mart", ""),
    ("mart", "bagging = 0.5\ntree_features = 0.6\nsplit_features = 0.7"),
    ("lambda-mart", "drop = 0.3"),
    ("gb-rank", "bagging = 0.7\ninitial_iterations = 4"),
    ("mcrank", "classes = 'ordinal'\ndrop = 0.2"),
    ("svm-map", "scorer = 'trees'"),
    ("rank-boost", "step = 'exact'"),
    ("frank", "thresholds = 0"),
    ("ndcg-boost", "weak = 'tree'\nsample = 0.5"),
];

fn recipe(learner: &str, settings: &str) -> Recipe {
    Recipe::new(learner).set_all(table(settings)).metric("ndcg@5").seed(3)
}

fn recipe_of(way: (&str, &str)) -> Recipe {
    let plain = recipe(way.0, way.1);
    let known = plain.check().unwrap().parameters().clone();
    let small = table("num_leaves = 5\nmin_data_in_leaf = 3");
    plain
        .set("iterations", 14)
        .set_all(small.into_iter().filter(|(name, _)| known.contains_key(name)).collect())
}

fn fit(
    way: (&str, &str),
    train: &Dataset,
    valid: Option<&Dataset>,
    start: Start<'_>,
    watch: &mut dyn Watch,
) -> Result<Ranker> {
    recipe_of(way).fit(train, valid, start, watch)
}

fn from_scratch(learner: &str, settings: &str, train: &Dataset, valid: Option<&Dataset>) -> Ranker {
    recipe(learner, settings).fit(train, valid, Start::default(), &mut Silent::default()).unwrap()
}

/// Keeps what the checkpoint holds when a certain round ends: what would be there had the process been killed.
struct Killed<'a> {
    path: &'a Path,
    at: u64,
    found: Option<Vec<u8>>,
    stop: Stop,
}

impl Watch for Killed<'_> {
    fn step(&mut self, step: Progress<'_>) {
        if step.done == self.at {
            self.found = std::fs::read(self.path).ok();
        }
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

#[test]
fn training_that_was_killed_goes_on_to_the_same_bytes() {
    let (train, valid) = (data(1), data(2));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.json");
    let checkpoint = Checkpoint { path: path.clone(), every: 3 };
    for way in WAYS {
        let whole = fit(way, &train, Some(&valid), Start::default(), &mut Silent::default()).unwrap();
        let mut killed = Killed { path: &path, at: 8, found: None, stop: Stop::default() };
        let start = || Start { ranker: None, checkpoint: Some(&checkpoint) };
        let with_checkpoint = fit(way, &train, Some(&valid), start(), &mut killed).unwrap();
        assert_eq!(with_checkpoint, whole, "{way:?}");
        // The state after round 6, as the process that died in round 8 or 9 would have left it.
        std::fs::write(&path, killed.found.unwrap()).unwrap();
        let mut steps = Steps::default();
        let resumed = fit(way, &train, Some(&valid), start(), &mut steps).unwrap();
        assert_eq!(resumed, whole, "{way:?}");
        assert_eq!(steps.done.first(), Some(&7), "{way:?}: began anew");
        checkpoint.remove().unwrap();
    }
}

#[derive(Default)]
struct Steps {
    done: Vec<u64>,
    stop: Stop,
}

impl Watch for Steps {
    fn step(&mut self, step: Progress<'_>) {
        self.done.push(step.done);
        if self.done.len() == 5 && step.total == Some(14) && step.done == 5 {
            self.stop.request();
        }
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

#[test]
fn interrupted_training_goes_on_to_the_same_trees() {
    let train = data(1);
    let directory = tempfile::tempdir().unwrap();
    let whole = fit(WAYS[0], &train, None, Start::default(), &mut Silent::default()).unwrap();
    for (name, first_bytes) in [
        ("state.json", &b"{\"checksum\""[..]),
        ("state.json.gz", &[0x1f, 0x8b]),
        ("state.json.zst", &[0x28, 0xb5, 0x2f, 0xfd]),
    ] {
        let checkpoint = Checkpoint { path: directory.path().join(name), every: 100 };
        let start = || Start { ranker: None, checkpoint: Some(&checkpoint) };
        let stopped = fit(WAYS[0], &train, None, start(), &mut Steps::default()).unwrap();
        assert_eq!((stopped.record.outcome, stopped.record.rounds), (Outcome::Interrupted, 5));
        assert!(std::fs::read(&checkpoint.path).unwrap().starts_with(first_bytes), "{name}");
        let mut steps = Steps::default();
        let resumed = fit(WAYS[0], &train, None, start(), &mut steps).unwrap();
        assert_eq!(steps.done.first(), Some(&6), "{name}: began anew");
        assert_eq!(resumed, whole, "{name}");
    }
}

/// Removes the checkpoint's directory in the fifth iteration, as a disk that fills up would make it unwritable.
struct LosesItsDisk<'a> {
    directory: &'a Path,
    stop: Stop,
}

impl Watch for LosesItsDisk<'_> {
    fn step(&mut self, step: Progress<'_>) {
        if step.done == 5 {
            std::fs::remove_dir_all(self.directory).unwrap();
        }
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

#[test]
fn a_checkpoint_that_cannot_be_written_does_not_end_training() {
    let train = data(1);
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("disk");
    std::fs::create_dir(&directory).unwrap();
    let checkpoint = Checkpoint { path: directory.join("state.json"), every: 1 };
    let start = Start { ranker: None, checkpoint: Some(&checkpoint) };
    let mut watch = LosesItsDisk { directory: &directory, stop: Stop::default() };
    let ranker = fit(WAYS[0], &train, None, start, &mut watch).unwrap();
    let whole = fit(WAYS[0], &train, None, Start::default(), &mut Silent::default()).unwrap();
    assert_eq!(ranker.model, whole.model);
    assert!(ranker.record.notes.iter().any(|note| note.contains("checkpoint could not be written")));
    // A place that never was writable is refused before anything is trained.
    assert!(fit(WAYS[0], &train, None, start, &mut Silent::default()).is_err());
}

#[test]
fn a_checkpoint_of_something_else_or_damaged_is_refused() {
    let train = data(1);
    let directory = tempfile::tempdir().unwrap();
    let checkpoint = Checkpoint { path: directory.path().join("state.json"), every: 1 };
    let start = || Start { ranker: None, checkpoint: Some(&checkpoint) };
    let tried = |way, train: &Dataset| {
        fit(way, train, None, start(), &mut Silent::default()).map(|_| ()).unwrap_err().to_string()
    };
    fit(WAYS[0], &train, None, start(), &mut Silent::default()).unwrap();
    assert!(tried(WAYS[0], &data(2)).contains("another training"));
    assert!(tried(("lambda-mart", "rate = 0.2"), &train).contains("another training"));
    let whole = std::fs::read_to_string(&checkpoint.path).unwrap();
    for damaged in
        [&whole[..whole.len() / 2], &whole.replacen("\"thresholds\":[", "\"thresholds\":[1", 1), ""]
    {
        std::fs::write(&checkpoint.path, damaged).unwrap();
        assert!(tried(WAYS[0], &train).contains("damaged"));
    }
    std::fs::write(&checkpoint.path, b"\x80\x81 not text").unwrap();
    assert!(tried(WAYS[0], &train).contains("not a checkpoint or is damaged"));
    std::fs::write(&checkpoint.path, b"\x1f\x8b\x08\0\0\0").unwrap();
    assert!(tried(WAYS[0], &train).contains("cannot be read"));
    let error =
        recipe("regression", "").fit(&train, None, start(), &mut Silent::default()).unwrap_err().to_string();
    assert!(error.contains("regression with scorer linear cannot start"), "{error}");
}

/// Ten rounds, and ten more from their model, are twenty.
#[test]
fn a_model_is_gone_on_from() {
    let train = data(1);
    for learner in ["mart", "lambda-mart", "mcrank"] {
        let fit = |iterations: u64, start: Option<&Ranker>| {
            let recipe =
                recipe(learner, &format!("iterations = {iterations}\nnum_leaves = 5\nmin_data_in_leaf = 3"));
            let start = Start { ranker: start, checkpoint: None };
            recipe.fit(&train, None, start, &mut Silent::default()).unwrap()
        };
        let ten = fit(10, None);
        assert_eq!(fit(10, Some(&ten)).model, fit(20, None).model, "{learner}");
    }
    let linear = from_scratch("regression", "", &train, None);
    let narrow = fit(WAYS[0], &narrow(), None, Start::default(), &mut Silent::default()).unwrap();
    let normalizer = Some(rankwise::data::Normalizer::parse("z-score").unwrap());
    let scaled = recipe_of(WAYS[0]).normalizer(normalizer);
    let scaled = scaled.fit(&train, None, Start::default(), &mut Silent::default()).unwrap();
    let refused =
        [(&linear, "does not consist of trees"), (&narrow, "2 features"), (&scaled, "another normalisation")];
    for (ranker, why) in refused {
        let start = Start { ranker: Some(ranker), checkpoint: None };
        let error = fit(WAYS[0], &train, None, start, &mut Silent::default()).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

fn narrow() -> Dataset {
    let values = (0..80).map(|i| (i * 7 % 13) as f32).collect();
    let labels = (0..40).map(|i| (i % 3) as f32).collect();
    queries(Features::Dense { width: 2, values }, labels, 4, None)
}

fn queries(features: Features, labels: Vec<f32>, count: usize, weights: Option<Vec<f32>>) -> Dataset {
    let bounds = (0..=count).map(|q| q * labels.len() / count).collect();
    let query_ids = (0..count).map(|q| format!("q{q}")).collect();
    let query_weights = weights;
    Dataset::new(Parts { features, labels, bounds, query_ids, query_weights, ..Parts::default() }).unwrap()
}

/// The value recorded for the best round is that of the model handed back, however scores came about.
#[test]
fn the_best_round_is_what_is_handed_back() {
    let (train, valid) = (data(1), data(2));
    for way in WAYS {
        let fitted = fit(way, &train, Some(&valid), Start::default(), &mut Silent::default()).unwrap();
        let figure = |name: &str| fitted.record.figures.iter().find(|(n, _)| n == name).unwrap().1;
        let scores = fitted.model.scores(&valid).unwrap();
        let value = evaluate(&valid, &scores, &[ndcg()]).unwrap().mean(0).unwrap();
        assert!((figure("ndcg@5 (valid)") - value).abs() < 1e-12, "{way:?}");
        let Model::Trees(ensemble) = &fitted.model else { panic!("no trees") };
        let outputs = ensemble.base().len();
        assert_eq!(ensemble.trees().len() / outputs, figure("best round") as usize, "{way:?}");
    }
}

/// Grades without meaning: validation is soon at its best, and training stops `patience` rounds later.
#[test]
fn patience_ends() {
    let (train, valid) = (data(1), data(2));
    let set = "iterations = 400\nnum_leaves = 8\nmin_data_in_leaf = 2\nlearning_rate = 0.5\nearly_stopping_rounds = 12";
    let record = from_scratch("mart", set, &train, Some(&valid)).record;
    assert_eq!(record.outcome, Outcome::StoppedEarly);
    let best = record.figures.iter().find(|(n, _)| n == "best round").unwrap().1;
    assert_eq!(record.rounds, best as u64 + 12);
}

/// One tree at full rate is the mean grade of each leaf: here of x ≤ 1.5 and above.
#[test]
fn one_tree_of_mart_by_hand() {
    let features = Features::dense(1, vec![1.0, 2.0, 1.0, 2.0]);
    let train = queries(features, vec![0.0, 2.0, 1.0, 4.0], 2, None);
    let model = from_scratch("mart", "rounds = 1\nrate = 1\nmin_rows = 1", &train, None).model;
    let scores = model.scores(&train).unwrap();
    assert!(scores.iter().zip([0.5, 3.0, 0.5, 3.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{scores:?}");
}

/// A query of weight 2 counts as two of the same.
#[test]
fn weights_count_as_copies_do() {
    let once = narrow();
    let rows: Vec<usize> = (0..40).collect();
    let parts = once.clone().into_parts();
    let weighted = queries(parts.features, parts.labels, 4, Some(vec![2.0, 1.0, 1.0, 2.0]));
    let twice: Vec<usize> = [&rows[..10], &rows[..10], &rows[10..], &rows[30..]].concat();
    let Features::Dense { values, .. } = &once.parts().features else { unreachable!() };
    let values = twice.iter().flat_map(|&r| values[r * 2..r * 2 + 2].to_vec()).collect();
    let labels = twice.iter().map(|&r| once.labels()[r]).collect();
    let copied = queries(Features::Dense { width: 2, values }, labels, 6, None);
    for learner in ["mart", "lambda-mart", "gb-rank", "mcrank"] {
        let scores = |train: &Dataset, min_rows: u64| {
            let set = format!("rounds = 5\nleaves = 3\nmin_rows = {min_rows}\nmin_weight = 1e-9");
            let fitted = from_scratch(learner, &set, train, None);
            fitted.model.scores(&once).unwrap()
        };
        let (a, b) = (scores(&weighted, 1), scores(&copied, 1));
        assert!(a.iter().any(|s| (s - a[0]).abs() > 0.01), "{learner} learned nothing");
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6), "{learner}");
    }
}
