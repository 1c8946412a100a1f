//! Tuning by cross-validation, against a loop written by hand.

use rankwise::data::{Dataset, SplitOrder, Synth, SyntheticShape, split};
use rankwise::experiment::spec::{Search, SearchMethod};
use rankwise::experiment::{JobDone, Tuned, Tuning, Validation, search};
use rankwise::metrics::{Conventions, Metric, evaluate, parse};
use rankwise::models::Ranker;
use rankwise::recipe::{Recipe, Start};
use rankwise::watch::Silent;
use std::sync::atomic::{AtomicUsize, Ordering};
use toml::Table;

fn data(queries: usize) -> Dataset {
    let shape = SyntheticShape::named("ohsumed").unwrap();
    Synth { queries: Some(queries), documents: Some(12), features: Some(6), ..Synth::new(shape) }
        .generate()
        .unwrap()
}

fn metric() -> [Box<dyn Metric>; 1] {
    [parse("ndcg@5", &Conventions::default()).unwrap()]
}

struct Case {
    recipe: Recipe,
    set: Table,
    grid: Table,
    search: Search,
    train: Dataset,
    metric: [Box<dyn Metric>; 1],
}

impl Case {
    fn new(learner: &str, set: &str, grid: &str) -> Case {
        Case {
            recipe: Recipe::new(learner).metric("ndcg@5").seed(3),
            set: set.parse().unwrap(),
            grid: grid.parse().unwrap(),
            search: Search::default(),
            train: data(23),
            metric: metric(),
        }
    }

    fn tune(&self, validation: Validation<'_>) -> rankwise::Result<Tuned> {
        let Case { recipe, set, grid, search, train, metric } = self;
        let recipe = &recipe.clone().set_all(set.clone());
        let tuning = Tuning { recipe, grid, search, train, validation, metric };
        let (jobs, total) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let done = |job: JobDone<'_>| {
            jobs.fetch_add(1, Ordering::Relaxed);
            total.store(job.total, Ordering::Relaxed);
        };
        let tuned = tuning.run(&done, &mut Silent::default())?;
        assert_eq!(jobs.into_inner(), total.into_inner());
        Ok(tuned)
    }

    /// The scores of every query by the model that did not see it, and the best iteration of each fold.
    fn by_hand(&self, set: &Table, k: usize) -> (f64, Vec<f64>) {
        let folds = split(&self.train, &vec![1.0; k], SplitOrder::Shuffled(3)).unwrap();
        let (mut sum, mut count, mut best) = (0.0, 0.0, Vec::new());
        for held_out in &folds {
            let inside = |id: &str| held_out.queries().any(|query| query.id() == id);
            let others: Vec<usize> =
                self.train.queries().filter(|query| !inside(query.id())).map(|query| query.index()).collect();
            let train = self.train.select_queries(&others);
            let fitted = self.fit(set, &train, Some(held_out));
            best.extend(
                fitted.record.figures.iter().find(|(name, _)| name.starts_with("best ")).map(|f| f.1),
            );
            let values =
                evaluate(held_out, &fitted.model.scores(held_out).unwrap(), &self.metric).unwrap().values;
            for value in values[0].iter().flatten() {
                (sum, count) = (sum + value, count + 1.0);
            }
        }
        (sum / count, best)
    }

    fn fit(&self, set: &Table, train: &Dataset, valid: Option<&Dataset>) -> Ranker {
        let recipe = self.recipe.clone().set_all(set.clone());
        recipe.fit(train, valid, Start::default(), &mut Silent::default()).unwrap()
    }
}

fn overlaid(base: &Table, over: &Table) -> Table {
    let mut all = base.clone();
    all.extend(over.clone());
    all
}

#[test]
fn cross_validation_is_the_loop_written_by_hand() {
    let case = Case::new("regression", "", "ridge = [1e-6, 1.0, 1000.0]");
    for k in [2, 4, 23] {
        let tuned = case.tune(Validation::Folds(k)).unwrap();
        assert_eq!((tuned.folds, tuned.trials.len(), &tuned.iterations), (Some(k), 3, &None));
        let mut best: Option<(f64, &Table)> = None;
        for trial in &tuned.trials {
            let (expected, _) = case.by_hand(&overlaid(&case.set, &trial.parameters), k);
            let found = trial.valid.unwrap();
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            assert_eq!(trial.folds.len(), k);
            if best.is_none_or(|(value, _)| found > value) {
                best = Some((found, &trial.parameters));
            }
        }
        let (value, parameters) = best.unwrap();
        assert_eq!(tuned.value, Some(value));
        assert_eq!(tuned.ranker.parameters["ridge"], parameters["ridge"]);
        let fitted = case.fit(&overlaid(&case.set, parameters), &case.train, None);
        assert_eq!(tuned.ranker.model, fitted.model, "trained on all queries");
    }
}

#[test]
fn the_final_training_runs_as_long_as_the_folds_did_on_average() {
    let case = Case::new("lambda-mart", "iterations = 40\nmin_data_in_leaf = 3", "num_leaves = [3, 6]");
    let tuned = case.tune(Validation::Folds(3)).unwrap();
    let chosen = &tuned.ranker.parameters;
    let winner: Table = [("num_leaves".to_owned(), chosen["num_leaves"].clone())].into_iter().collect();
    let (_, best) = case.by_hand(&overlaid(&case.set, &winner), 3);
    let mean = (best.iter().sum::<f64>() / 3.0).round().max(1.0) as u64;
    let iterations = tuned.iterations.unwrap();
    assert_eq!(iterations.count, mean);
    assert_eq!(chosen[iterations.parameter].as_integer(), Some(mean as i64));
    assert_eq!(tuned.ranker.record.rounds, mean);
    let fitted = case.fit(chosen, &case.train, None);
    assert_eq!(tuned.ranker.model, fitted.model);
}

#[test]
fn the_number_of_threads_changes_nothing_and_the_seed_chooses_the_draws() {
    let mut case = Case::new("regression", "", "ridge = { from = 1e-6, to = 1e3, log = true }");
    case.search =
        Search { method: SearchMethod::Halving, draws: 6, first_fraction: 0.5, ..Search::default() };
    let tuned = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| case.tune(Validation::Folds(3)).unwrap())
    };
    let (one, five) = (tuned(1), tuned(5));
    assert_eq!((&one.trials, one.ranker.to_bytes()), (&five.trials, five.ranker.to_bytes()));
    assert_eq!(one.trials.len(), 6 + 2);
    // An experiment with the same seed draws the same settings.
    let drawn = search::settings(&case.search, &case.grid, 3).unwrap();
    let tried: Vec<Table> = one.trials[..6].iter().map(|trial| trial.parameters.clone()).collect();
    assert_eq!(tried, drawn);
}

#[test]
fn validation_data_decides_where_it_is_given() {
    let case = Case::new("lambda-mart", "iterations = 30\nmin_data_in_leaf = 3", "num_leaves = [2, 5]");
    let shape = SyntheticShape::named("ohsumed").unwrap();
    let other =
        Synth { queries: Some(9), documents: Some(12), features: Some(6), seed: 8, ..Synth::new(shape) };
    let valid = other.generate().unwrap();
    let tuned = case.tune(Validation::Data(&valid)).unwrap();
    assert_eq!((tuned.folds, &tuned.iterations), (None, &None));
    assert!(tuned.trials.iter().all(|trial| trial.folds.is_empty()));
    assert_eq!(tuned.ranker.parameters["num_leaves"].as_integer().map(|l| l == 2 || l == 5), Some(true));
    let fitted = case.fit(&tuned.ranker.parameters, &case.train, Some(&valid));
    assert_eq!(tuned.ranker.model, fitted.model);
}

#[test]
fn impossible_numbers_of_folds_are_rejected() {
    let case = Case::new("regression", "", "ridge = [1.0, 2.0]");
    for k in [0, 1, 24] {
        let error = case.tune(Validation::Folds(k)).unwrap_err().to_string();
        assert_eq!(error, format!("{k} folds are not possible with 23 training queries; give 2 to 23"));
    }
}

/// One training on a query of 20,000 documents is short enough to start without a word; all those of a search are not.
#[test]
fn a_long_search_is_forecast() {
    let labels = (0..20_000).map(|i| (i % 3) as f32).collect();
    let train = Dataset::dense(vec![1.0; 20_000], 1, labels, &[20_000]).unwrap();
    let case = Case { train, ..Case::new("lambda-rank", "", "c = [1.0, 10.0, 100.0]") };
    let Case { recipe, grid, search, train, metric, .. } = &case;
    assert_eq!(recipe.check().unwrap().forecast(train).unwrap(), None);
    let forecast = |validation| {
        Tuning { recipe, grid, search, train, validation, metric }.forecast().unwrap().unwrap_or_default()
    };
    // ½·20,000² pairs, 200 iterations and 3e8 steps per second are 133 s per training: four, and seven of them.
    let said = forecast(Validation::Data(train));
    assert!(said.starts_with("tuning lambda-rank may take about 9 minutes here"), "{said}");
    assert!(forecast(Validation::Folds(2)).contains("about 16 minutes"));
}
