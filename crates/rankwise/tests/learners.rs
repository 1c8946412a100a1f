//! What is asked of every learner, whatever it does.

use rand::RngExt;
use rankwise::data::{Dataset, Features, Parts, Synth, SyntheticShape};
use rankwise::learners::{LEARNERS, LearnerEntry, LossKind, ScorerKind};
use rankwise::losses::{QueryLoss, Reweighted, ScoredQuery};
use rankwise::metrics::{Conventions, Metric, evaluate, parse};
use rankwise::models::{Model, Outcome, Ranker};
use rankwise::recipe::{Recipe, Start};
use rankwise::rng;
use rankwise::watch::{Progress, Silent, Stop, Watch};
use toml::Table;

fn ndcg() -> Box<dyn Metric> {
    parse("ndcg@10", &Conventions::default()).unwrap()
}

/// Thirty queries whose grades follow a hidden linear utility with a little noise.
fn learnable(seed: u64) -> Dataset {
    let (queries, documents, width) = (30, 12, 5);
    let mut random = rng::stream(seed, &[]);
    let hidden = [1.0, -2.0, 0.5, 0.0, 1.5];
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..queries * documents {
        let row: Vec<f32> = (0..width).map(|_| random.random::<f32>()).collect();
        let utility: f64 = row.iter().zip(hidden).map(|(&x, w)| f64::from(x) * w).sum();
        let noisy = utility + 0.3 * (random.random::<f64>() - 0.5);
        labels.push((1.2 + noisy).clamp(0.0, 2.9).floor() as f32);
        values.extend(row);
    }
    dataset(Features::dense(width, values), labels, &vec![documents; queries])
}

fn dataset(features: Features, labels: Vec<f32>, sizes: &[usize]) -> Dataset {
    let mut bounds = vec![0];
    bounds.extend(sizes.iter().scan(0, |end, size| {
        *end += size;
        Some(*end)
    }));
    let query_ids = (0..sizes.len()).map(|q| format!("q{q}")).collect();
    Dataset::new(Parts { features, labels, bounds, query_ids, ..Parts::default() }).unwrap()
}

fn fit(entry: &LearnerEntry, train: &Dataset, seed: u64) -> Ranker {
    fit_with(entry, &Table::new(), train, seed)
}

fn fit_with(entry: &LearnerEntry, given: &Table, train: &Dataset, seed: u64) -> Ranker {
    let name = entry.card.name;
    let recipe = Recipe::new(name).set_all(given.clone()).seed(seed);
    let fitted = recipe.fit(train, None, Start::default(), &mut Silent::default());
    fitted.unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn mean_ndcg(ranker: &Ranker, data: &Dataset) -> f64 {
    evaluate(data, &ranker.score(data).unwrap(), &[ndcg()]).unwrap().mean(0).unwrap()
}

/// What equal scores for all documents get.
fn blind(data: &Dataset) -> f64 {
    evaluate(data, &vec![0.0; data.len()], &[ndcg()]).unwrap().mean(0).unwrap()
}

#[test]
fn every_learner_learns_what_can_be_learned() {
    let (train, test) = (learnable(1), learnable(2));
    for entry in LEARNERS {
        let learned = mean_ndcg(&fit(entry, &train, 1), &test);
        let blind = blind(&test);
        assert!(learned > blind + 0.2, "{}: {learned} against {blind} of a blind guess", entry.card.name);
    }
}

#[test]
fn every_learner_gives_the_same_bytes_at_any_number_of_threads() {
    let train = Synth {
        queries: Some(12),
        documents: Some(40),
        ..Synth::new(SyntheticShape::named("ohsumed").unwrap())
    }
    .generate()
    .unwrap();
    for entry in LEARNERS {
        let bytes = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fit(entry, &train, 3).to_bytes())
        };
        let one = bytes(1);
        assert!(one == bytes(1), "{} differs from run to run", entry.card.name);
        assert!(one == bytes(2) && one == bytes(5), "{} depends on the threads", entry.card.name);
    }
}

/// The same data with half of the values 0, dense and sparse.
fn dense_and_sparse(seed: u64) -> [Dataset; 2] {
    let (queries, documents, width) = (20, 8, 19);
    let mut random = rng::stream(seed, &[1]);
    let mut draw = || if random.random_bool(0.5) { 0.0 } else { random.random::<f32>() - 0.3 };
    let values: Vec<f32> = (0..queries * documents * width).map(|_| draw()).collect();
    let grade = |row: &[f32]| (1.0 + 2.0 * (row[0] - row[9] + row[17])).clamp(0.0, 2.0).round();
    let labels: Vec<f32> = values.chunks(width).map(grade).collect();
    let stored = |row: &[f32]| {
        let kept = row.iter().enumerate().filter(|(_, x)| **x != 0.0);
        kept.map(|(c, x)| (c as u32, *x)).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<(u32, f32)>> = values.chunks(width).map(stored).collect();
    let ends = rows.iter().scan(0, |end, row| {
        *end += row.len();
        Some(*end)
    });
    let starts = std::iter::once(0).chain(ends).collect();
    let (columns, kept) = rows.iter().flatten().copied().unzip();
    let sizes = vec![documents; queries];
    let sparse = Features::Sparse { width, starts, columns, values: kept };
    [dataset(Features::dense(width, values), labels.clone(), &sizes), dataset(sparse, labels, &sizes)]
}

#[test]
fn every_learner_gives_the_same_model_for_dense_and_sparse_copies_of_the_data() {
    let [dense, sparse] = dense_and_sparse(3);
    let mut different = Vec::new();
    for entry in LEARNERS {
        let scores = |train: &Dataset| fit(entry, train, 1).score(&dense).unwrap();
        if scores(&dense) != scores(&sparse) {
            different.push(entry.card.name);
        }
    }
    assert!(different.is_empty(), "{different:?}");
}

/// Every loss by every scorer that is not its default: structured hinges by networks, λ-gradients by a linear model.
fn every_loss_is_learned_by(scorer: ScorerKind, settings: &str) {
    let (train, test) = (learnable(1), learnable(2));
    let mut count = 0;
    for entry in LEARNERS.iter().filter(|e| e.scorers().contains(&scorer)) {
        let name = entry.card.name;
        let recipe = Recipe::new(name).scorer(scorer.name()).set_all(settings.parse().unwrap());
        let ranker = recipe.fit(&train, None, Start::default(), &mut Silent::default()).unwrap();
        let is_right = match scorer {
            ScorerKind::Linear => matches!(ranker.model, Model::Linear(_)),
            ScorerKind::Trees => matches!(ranker.model, Model::Trees(_)),
            ScorerKind::Network => matches!(ranker.model, Model::Network(_)),
        };
        assert!(is_right, "{name}");
        let (learned, blind) = (mean_ndcg(&ranker, &test), blind(&test));
        assert!(learned > blind + 0.15, "{name}: {learned} against {blind} of a blind guess");
        // Completed parameters make the same recipe.
        let complete = recipe.check().unwrap().parameters().clone();
        let again = Recipe::new(name).set_all(complete.clone());
        assert_eq!(*again.check().unwrap().parameters(), complete, "{name}");
        assert_eq!(
            again.fit(&train, None, Start::default(), &mut Silent::default()).unwrap(),
            ranker,
            "{name}"
        );
        count += 1;
    }
    assert!(count >= 25, "only {count} learners are losses");
}

#[test]
fn every_loss_is_learned_by_a_linear_model() {
    every_loss_is_learned_by(ScorerKind::Linear, "");
}

#[test]
fn every_loss_is_learned_by_trees() {
    every_loss_is_learned_by(ScorerKind::Trees, "num_leaves = 6\nmin_data_in_leaf = 5\niterations = 60");
}

#[test]
fn every_loss_is_learned_by_a_network() {
    let settings = "layers = '12-6'\nepochs = 40\nlearning_rate = 0.01\nbatch_size = 5";
    every_loss_is_learned_by(ScorerKind::Network, settings);
}

/// Whatever a learner's loss is, its gradient is that of its value: by finite differences where it is smooth, by the
/// subgradient inequality where it is convex with kinks, and with the order fixed for λ-gradients.
#[test]
fn the_gradient_of_every_learners_loss_is_right() {
    let train = learnable(7);
    for entry in LEARNERS {
        let Some(kind) = entry.loss(&train).unwrap() else { continue };
        let mut random = rng::stream(8, &[]);
        let labels: Vec<f32> = [0.0, 2.0, 1.0, 0.0, 1.0, 2.0, 0.0].to_vec();
        let scores: Vec<f64> = labels.iter().map(|_| random.random::<f64>() * 2.0 - 1.0).collect();
        check_gradient(entry.card.name, kind, &labels, &scores);
    }
}

/// The value and gradient of a loss at some scores.
type LossAt<'a> = dyn Fn(&[f64], &mut [f64]) -> f64 + 'a;

fn check_gradient(name: &str, kind: LossKind, labels: &[f32], scores: &[f64]) {
    let has_kinks = matches!(kind, LossKind::Convex(_));
    let value: Box<LossAt<'_>> = match kind {
        LossKind::Lambda(loss) => Box::new(move |at: &[f64], gradient: &mut [f64]| {
            let query = ScoredQuery { labels, scores: at, seed: 3 };
            loss.value_and_gradient_in_order(query, scores, gradient)
        }),
        other => {
            let loss = other.into_loss();
            Box::new(move |at: &[f64], gradient: &mut [f64]| {
                loss.value_and_gradient(ScoredQuery { labels, scores: at, seed: 3 }, gradient)
            })
        }
    };
    let mut gradient = vec![0.0; labels.len()];
    let here = value(scores, &mut gradient);
    for i in 0..labels.len() {
        let moved_by = |step: f64| {
            let mut moved = scores.to_vec();
            moved[i] += step;
            value(&moved, &mut vec![0.0; labels.len()])
        };
        if has_kinks {
            for step in [-0.7, -0.01, 0.01, 0.7] {
                let (there, bound) = (moved_by(step), here + step * gradient[i]);
                assert!(there >= bound - 1e-9, "{name}: {there} is below {bound} at {i}");
            }
        } else {
            let (slope, found) = ((moved_by(1e-5) - moved_by(-1e-5)) / 2e-5, gradient[i]);
            assert!((slope - found).abs() < 1e-5 * (1.0 + slope.abs()), "{name}: {found} for {slope} at {i}");
        }
    }
}

/// One of the same name would take the other's place in the table of parameters.
#[test]
fn no_parameter_of_a_loss_is_called_like_one_of_a_scorer() {
    for entry in LEARNERS {
        for scorer in entry.scorers() {
            let context = format!("{} by {}", entry.card.name, scorer.name());
            let parameters = entry.parameters_with(scorer.name()).unwrap();
            let mut names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), parameters.len(), "{context}");
            assert!(parameters.iter().all(|p| !p.meaning.is_empty()), "{context}");
        }
    }
}

fn refused(learner: &str, text: &str) -> String {
    let recipe = Recipe::new(learner).set_all(text.parse().unwrap());
    recipe.check().map(drop).unwrap_err().to_string()
}

#[test]
fn scorers_that_make_no_sense_are_refused_in_a_sentence() {
    assert!(refused("svm-map", "scorer = 'forest'").contains("linear, trees, network"));
    let message = refused("svm-map", "scorer = 'trees'\nc = 1.0");
    assert_eq!(message, "`c` is not a parameter of svm-map with scorer trees, but with scorer linear");
    assert!(refused("svm-map", "scorer = 'trees'\nleafs = 3").contains("leafs"));
    assert!(refused("svm-map", "num_leaves = 3").contains("but with scorer trees"));
    assert!(refused("svm-map", "leaves = 3").contains("but with scorer trees"));
    assert!(refused("prank", "scorer = 'trees'").contains("`prank` does not accept `scorer`"));
    let message = refused("svm-map", "scorer = 'trees'\nleaves = 'many'");
    assert!(message.contains("`num_leaves`") && message.contains("whole number"), "{message}");
    assert!(!message.contains("usize"), "{message}");
}

/// The names that users of other tools type, and our own earlier ones.
#[test]
fn parameters_go_by_the_names_of_other_tools() {
    let same = |learner: &str, ours: &str, theirs: &str| {
        let complete = |text: &str| {
            let recipe = Recipe::new(learner).set_all(text.parse().unwrap());
            recipe.check().unwrap_or_else(|e| panic!("{learner}: {e}")).parameters().clone()
        };
        assert_eq!(complete(ours), complete(theirs), "{learner}: {theirs}");
    };
    let ours =
        "iterations = 7\nlearning_rate = 0.3\nnum_leaves = 9\nmin_data_in_leaf = 2\nl2 = 1.5\nmax_bin = 63";
    for theirs in [
        "rounds = 7\nrate = 0.3\nleaves = 9\nmin_rows = 2\nl2 = 1.5\nbins = 63",
        "num_iterations = 7\nshrinkage_rate = 0.3\nmax_leaves = 9\nmin_child_samples = 2\nlambda_l2 = 1.5\nmax_bin = 63",
        "n_estimators = 7\neta = 0.3\nmax_leaves = 9\nmin_samples_leaf = 2\nreg_lambda = 1.5\nmax_bins = 63",
        "num_boost_round = 7\nlearning_rate = 0.3\nmax_leaves = 9\nmin_data_in_leaf = 2\nl2_leaf_reg = 1.5\nborder_count = 63",
        "tree = 7\nshrinkage = 0.3\nleaf = 9\nmls = 2\nlambda = 1.5\ntc = 63",
    ] {
        same("lambda-mart", ours, theirs);
        same("mart", ours, theirs);
    }
    same(
        "lambda-mart",
        "k = 20\nsigma = 2.0\nlambda_norm = false",
        "lambdarank_truncation_level = 20\nsigmoid = 2.0\nlambdarank_norm = false",
    );
    same(
        "lambda-mart",
        "metric = 'map'\nmax_depth = 3\ngrowth_policy = 'level-wise'",
        "measure = 'map'\ndepth = 3\norder = 'depth'",
    );
    same("svm-map", "c = 3.0\ntolerance = 0.01\niterations = 50", "C = 3.0\ngap = 0.01\nrounds = 50");
    same(
        "list-net",
        "scorer = 'network'\nlayers = '8'\nlearning_rate = 0.1",
        "scorer = 'mlp'\nhidden_layer_sizes = [8]\nrate = 0.1",
    );
    same("random-forest", "num_trees = 5", "n_estimators = 5");
    same("svm-combo", "metrics = ['map']", "measures = ['map']");
}

#[test]
fn every_model_comes_back_from_its_file_as_it_was() {
    let train = learnable(4);
    let directory = tempfile::tempdir().unwrap();
    for entry in LEARNERS {
        let saved = fit(entry, &train, 1);
        for name in ["m.json", "m.json.zst", "m.json.gz"] {
            let path = directory.path().join(name);
            saved.save(&path).unwrap();
            let loaded = Ranker::load(&path).unwrap();
            assert_eq!(loaded, saved, "{} in {name}", entry.card.name);
            assert_eq!(loaded.score(&train).unwrap(), saved.model.scores(&train).unwrap());
        }
    }
}

#[test]
fn every_learner_refuses_unknown_parameters_and_explains_its_own() {
    for entry in LEARNERS {
        let name = entry.card.name;
        let error = refused(name, "no_such_thing = 1");
        assert!(error.contains("no_such_thing") && error.contains(name), "{error}");
        for parameter in entry.parameters() {
            assert!(!parameter.meaning.is_empty(), "{name}: {} has no doc line", parameter.name);
            if !parameter.default.is_str() {
                let error = refused(name, &format!("{} = 'nonsense!'", parameter.name));
                assert!(error.contains(&parameter.name), "{error}");
            }
        }
    }
}

/// Asks to stop at report number `at` (0: before the first) and counts all reports.
struct StopsAt {
    stop: Stop,
    at: u64,
    reports: u64,
}

impl StopsAt {
    fn new(at: u64) -> Self {
        let stop = Stop::default();
        if at == 0 {
            stop.request();
        }
        StopsAt { stop, at, reports: 0 }
    }
}

impl Watch for StopsAt {
    fn step(&mut self, _: Progress<'_>) {
        self.reports += 1;
        if self.reports == self.at {
            self.stop.request();
        }
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

/// Trains with a stop that is requested before training, at the first report, and at the fourth. Returns what is
/// wrong: a training with steps left must end as interrupted after at most two more reports,
/// one for each stage of a search.
fn fault_in_stopping(fit: &dyn Fn(&mut StopsAt) -> Outcome) -> Option<String> {
    let run = |at| {
        let mut watch = StopsAt::new(at);
        (fit(&mut watch), watch.reports)
    };
    // Whether there is anything to stop; no need to train to the end for that.
    let (_, all) = run(4);
    if all < 3 {
        return Some(format!("it makes {all} reports, too few to see whether it stops"));
    }
    [0, 1].into_iter().find_map(|at| {
        let (outcome, reports) = run(at);
        let is_right = outcome == Outcome::Interrupted && reports <= at + 2;
        let fault =
            || format!("asked to stop after {at} reports, it made {reports} and ended as {outcome:?}");
        (!is_right).then(fault)
    })
}

#[test]
fn every_learner_stops_when_asked_and_keeps_what_it_has() {
    let train = learnable(5);
    let mut faults = Vec::new();
    for entry in LEARNERS {
        let name = entry.card.name;
        let recipe = Recipe::new(name);
        let by_scorer = entry.scorers().into_iter().map(|kind| recipe.clone().scorer(kind.name()));
        let own = entry.scorers().is_empty().then(|| recipe.clone());
        for recipe in by_scorer.chain(own) {
            let mut trainer = recipe.check().unwrap();
            if trainer.parameters().contains_key("tolerance") && trainer.scorer() == Some(ScorerKind::Linear)
            {
                // Enough iterations to see that they end.
                trainer = recipe.set("tolerance", 1e-12).set("c", 10.0).check().unwrap();
            }
            if trainer.parameters().contains_key("ridge") {
                // Solved in closed form: there is nothing to stop.
                continue;
            }
            let fault = fault_in_stopping(&|watch| {
                let ranker = trainer.fit(&train, Some(&train), Start::default(), watch).unwrap();
                assert!(ranker.score(&train).is_ok(), "{name}");
                ranker.record.outcome
            });
            let scorer = trainer.scorer().map_or("", |kind| kind.name());
            faults.extend(fault.map(|fault| format!("{name} {scorer}: {fault}")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The test above fails for a learner that ignores the request, one that is slow to see it, and one that says it finished.
#[test]
fn a_learner_that_ignores_a_request_to_stop_is_found() {
    let fake = |most_after: u64, outcome: Outcome| {
        move |watch: &mut StopsAt| {
            let mut after = 0;
            for done in 1..=10 {
                after += u64::from(watch.stop().requested());
                if after > most_after {
                    return outcome;
                }
                watch.step(Progress { done, total: None, what: "x", value: 0.0 });
            }
            Outcome::RoundsUsedUp
        }
    };
    assert_eq!(fault_in_stopping(&fake(0, Outcome::Interrupted)), None);
    assert_eq!(fault_in_stopping(&fake(1, Outcome::Interrupted)), None);
    assert!(fault_in_stopping(&fake(10, Outcome::Interrupted)).unwrap().contains("RoundsUsedUp"));
    assert!(fault_in_stopping(&fake(3, Outcome::Interrupted)).is_some());
    assert!(fault_in_stopping(&fake(0, Outcome::Converged)).is_some());
    assert!(fault_in_stopping(&|_| Outcome::Interrupted).unwrap().contains("too few"));
}

/// One document, nothing relevant, all equal, constant and missing features, huge values, more features than rows.
#[test]
fn odd_data_stays_finite() {
    let nan = f32::NAN;
    let odd = [
        ("one document", dataset(Features::dense(2, vec![1.0, 2.0]), vec![1.0], &[1])),
        ("nothing relevant", dataset(Features::dense(1, vec![1.0, 2.0, 3.0]), vec![0.0; 3], &[2, 1])),
        ("all equal", dataset(Features::dense(2, vec![7.0; 8]), vec![1.0; 4], &[4])),
        (
            "constant and missing features",
            dataset(
                Features::dense(3, vec![5.0, nan, nan, 5.0, 1.0, nan, 5.0, 2.0, nan]),
                vec![0.0, 1.0, 2.0],
                &[3],
            ),
        ),
        ("huge values", dataset(Features::dense(1, vec![1e38, -1e38, 3e38]), vec![0.0, 1.0, 2.0], &[3])),
        (
            "more features than documents, sparse",
            dataset(
                Features::Sparse {
                    width: 9,
                    starts: vec![0, 1, 1, 3],
                    columns: vec![8, 0, 4],
                    values: vec![1.0, 2.0, 3.0],
                },
                vec![0.0, 1.0, 0.0],
                &[3],
            ),
        ),
    ];
    let by_network: Table = "scorer = 'network'\nlayers = 5\nepochs = 3".parse().unwrap();
    for (entry, given) in LEARNERS.iter().flat_map(|entry| {
        let network = (!entry.scorers().is_empty()).then(|| (entry, by_network.clone()));
        std::iter::once((entry, Table::new())).chain(network)
    }) {
        for (what, data) in &odd {
            let fitted = fit_with(entry, &given, data, 1);
            let scores = fitted.score(data);
            assert!(scores.is_ok(), "{} on {what}: {}", entry.card.name, scores.unwrap_err());
            assert!(
                fitted.record.figures.iter().all(|(_, v)| v.is_finite()),
                "{} on {what}",
                entry.card.name
            );
        }
    }
}

/// Every document twice, and a weight of the loss far beyond what anyone would choose.
#[test]
fn tiny_and_huge_weights_of_the_loss_stay_finite() {
    let once = learnable(6);
    let train = once.select_rows(&(0..once.len()).flat_map(|i| [i, i]).collect::<Vec<_>>());
    for entry in LEARNERS.iter().filter(|e| e.parameters().iter().any(|p| p.name == "c")) {
        for c in [1e-12, 1e12] {
            let given = Table::from_iter([("c".to_string(), c.into()), ("iterations".into(), 300.into())]);
            let fitted = fit_with(entry, &given, &train, 1);
            let context = format!("{} at c = {c:e}: {:?}", entry.card.name, fitted.record);
            assert!(fitted.score(&train).is_ok(), "{context}");
            assert!(fitted.record.figures.iter().all(|(_, value)| value.is_finite()), "{context}");
            assert!(fitted.record.rounds <= 300, "{context}");
            // A tiny weight is met at once. Where a huge one is not solved, the record must not say that it is.
            let gap = fitted.record.figures.iter().find(|(name, _)| name == "relative duality gap");
            let solved = gap.is_none_or(|(_, gap)| *gap <= 1e-3);
            assert!(solved || fitted.record.outcome == Outcome::RoundsUsedUp, "{context}");
            // λ-gradients are not those of a function: near zero weights every step changes the order. A note says so.
            let oscillates = fitted.record.notes.iter().any(|note| note.contains("λ-gradient"));
            let expected = if oscillates { Outcome::RoundsUsedUp } else { Outcome::Converged };
            assert!(c > 1.0 || fitted.record.outcome == expected, "{context}");
        }
    }
}

#[test]
fn no_documents_or_features_is_an_error_in_a_sentence() {
    let featureless = dataset(Features::dense(0, vec![]), vec![1.0, 0.0], &[2]);
    for entry in LEARNERS {
        let recipe = Recipe::new(entry.card.name);
        let error = recipe.fit(&featureless, None, Start::default(), &mut Silent::default()).unwrap_err();
        assert_eq!(error.to_string(), "the training data has no features");
    }
}

#[test]
fn every_citation_is_in_the_bibliography() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/references.bib");
    let bibliography = std::fs::read_to_string(path).unwrap();
    let cards = (LEARNERS.iter().map(|e| e.card))
        .chain(rankwise::losses::LOSSES.iter().map(|e| e.card))
        .chain(rankwise::metrics::METRICS.iter().map(|e| e.card));
    for card in cards {
        for key in card.citations {
            assert!(bibliography.contains(&format!("{{{key},")), "{}: {key} is not cited", card.name);
        }
    }
}
