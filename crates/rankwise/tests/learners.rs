//! What is asked of every learner, whatever it does.

use rand::RngExt;
use rankwise::data::{Dataset, Features, Parts, Shape, Synth};
use rankwise::learners::{Entry, Fitted, LEARNERS, Start, Task};
use rankwise::metrics::{Conventions, Metric, evaluate, parse};
use rankwise::models::{Model, Outcome, Ranker};
use rankwise::rng;
use rankwise::watch::{Silent, Step, Stop, Watch};
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
    dataset(Features::Dense { width, values }, labels, &vec![documents; queries])
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

fn fit(entry: &Entry, train: &Dataset, seed: u64) -> Fitted {
    fit_with(entry, &Table::new(), train, seed)
}

fn fit_with(entry: &Entry, given: &Table, train: &Dataset, seed: u64) -> Fitted {
    let metric = ndcg();
    let task = Task { train, valid: None, metric: metric.as_ref(), seed, start: Start::default() };
    let name = entry.card.name;
    entry.fit(given, &task, &mut Silent::default()).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn mean_ndcg(model: &Model, data: &Dataset) -> f64 {
    evaluate(data, &model.scores(data).unwrap(), &[ndcg()]).unwrap().mean(0).unwrap()
}

fn ranker(entry: &Entry, data: &Dataset, fitted: Fitted) -> Ranker {
    Ranker {
        learner: (&entry.card).into(),
        parameters: entry.complete(&Table::new()).unwrap(),
        metric: "ndcg@10".into(),
        conventions: Conventions::default(),
        seed: 1,
        normalizer: None,
        columns: data.columns().clone(),
        record: fitted.record,
        model: fitted.model,
    }
}

#[test]
fn every_learner_learns_what_can_be_learned() {
    let (train, test) = (learnable(1), learnable(2));
    for entry in LEARNERS {
        let learned = mean_ndcg(&fit(entry, &train, 1).model, &test);
        let blind = mean_ndcg(&Model::Linear { weights: vec![0.0; 5], bias: 0.0 }, &test);
        assert!(learned > blind + 0.2, "{}: {learned} against {blind} of a blind guess", entry.card.name);
    }
}

#[test]
fn every_learner_gives_the_same_bytes_at_any_number_of_threads() {
    let train =
        Synth { queries: Some(12), documents: Some(40), ..Synth::new(Shape::named("ohsumed").unwrap()) }
            .generate()
            .unwrap();
    for entry in LEARNERS {
        let bytes = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| ranker(entry, &train, fit(entry, &train, 3)).to_bytes())
        };
        let one = bytes(1);
        assert!(one == bytes(1), "{} differs from run to run", entry.card.name);
        assert!(one == bytes(2) && one == bytes(5), "{} depends on the threads", entry.card.name);
    }
}

/// Structured hinges, perturbation losses, closed forms of conditional models: any loss of scores.
fn every_loss_of_scores_is_learned(settings: &str, is_right: fn(&Model) -> bool) {
    let (train, test) = (learnable(1), learnable(2));
    let given: Table = settings.parse().unwrap();
    let metric = ndcg();
    let task = Task { train: &train, valid: None, metric: metric.as_ref(), seed: 1, start: Start::default() };
    let blind = mean_ndcg(&Model::Linear { weights: vec![0.0; 5], bias: 0.0 }, &test);
    let mut count = 0;
    for entry in LEARNERS.iter().filter(|e| !e.scorers().is_empty()) {
        let fitted = entry.fit(&given, &task, &mut Silent::default()).unwrap();
        assert!(is_right(&fitted.model));
        let learned = mean_ndcg(&fitted.model, &test);
        assert!(learned > blind + 0.15, "{}: {learned} against {blind} of a blind guess", entry.card.name);
        let complete = entry.complete(&given).unwrap();
        assert_eq!(entry.complete(&complete).unwrap(), complete, "{}", entry.card.name);
        assert_eq!(entry.fit(&complete, &task, &mut Silent::default()).unwrap(), fitted);
        count += 1;
    }
    assert!(count >= 15, "only {count} learners are losses of scores");
}

#[test]
fn every_loss_of_scores_is_learned_by_trees() {
    let settings = "scorer = 'trees'\nleaves = 6\nmin_rows = 5\nrounds = 60";
    every_loss_of_scores_is_learned(settings, |model| matches!(model, Model::Ensemble(_)));
}

#[test]
fn every_loss_of_scores_is_learned_by_a_network() {
    let settings = "scorer = 'mlp'\nlayers = '12-6'\nepochs = 40\nrate = 0.01\nbatch = 5";
    every_loss_of_scores_is_learned(settings, |model| matches!(model, Model::Mlp(_)));
}

/// One of the same name would take the other's place in the table of parameters.
#[test]
fn no_parameter_of_a_loss_is_called_like_one_of_a_scorer() {
    for entry in LEARNERS {
        for scorer in entry.scorers() {
            let parameters = entry.parameters_with(scorer).unwrap();
            let mut names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), parameters.len(), "{} by {scorer}", entry.card.name);
            assert!(parameters.iter().all(|p| !p.meaning.is_empty()), "{} by {scorer}", entry.card.name);
        }
    }
}

#[test]
fn scorers_that_make_no_sense_are_refused_in_a_sentence() {
    let refused = |learner: &str, text: &str| {
        rankwise::learners::find(learner).unwrap().complete(&text.parse().unwrap()).unwrap_err().to_string()
    };
    assert!(refused("svm-map", "scorer = 'forest'").contains("\"linear\", \"trees\", \"mlp\""));
    assert!(
        refused("svm-map", "scorer = 'trees'\nc = 1.0").contains("`c` of svm-map is for the linear model")
    );
    assert!(refused("svm-map", "scorer = 'trees'\nleafs = 3").contains("leafs"));
    assert!(refused("svm-map", "leaves = 3").contains("leaves"));
    assert!(refused("prank", "scorer = 'trees'").contains("kind of model of its own"));
    assert!(refused("svm-map", "scorer = 'trees'\nleaves = 'many'").contains("`leaves`"));
}

#[test]
fn every_model_comes_back_from_its_file_as_it_was() {
    let train = learnable(4);
    let directory = tempfile::tempdir().unwrap();
    for entry in LEARNERS {
        let saved = ranker(entry, &train, fit(entry, &train, 1));
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
        let unknown: Table = "no_such_thing = 1".parse().unwrap();
        let error = entry.complete(&unknown).unwrap_err().to_string();
        assert!(error.contains("no_such_thing") && error.contains(entry.card.name), "{error}");
        for parameter in entry.parameters() {
            assert!(!parameter.meaning.is_empty(), "{}: {} has no doc line", entry.card.name, parameter.name);
            let given = Table::from_iter([(parameter.name.clone(), "nonsense!".into())]);
            if !parameter.default.is_str() {
                let error = entry.complete(&given).unwrap_err().to_string();
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
    fn step(&mut self, _: Step<'_>) {
        self.reports += 1;
        if self.reports == self.at {
            self.stop.request();
        }
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

/// Trains without a stop, with one that is requested before training, and with one at the first report. Returns what is
/// wrong: a training with steps left must end as interrupted after at most one more report.
fn fault_in_stopping(fit: &dyn Fn(&mut StopsAt) -> Outcome) -> Option<String> {
    let run = |at| {
        let mut watch = StopsAt::new(at);
        (fit(&mut watch), watch.reports)
    };
    let (_, all) = run(u64::MAX);
    if all < 3 {
        return Some(format!("it reports {all} steps in all, too few to see whether it stops"));
    }
    [0, 1].into_iter().find_map(|at| {
        let (outcome, reports) = run(at);
        let is_right = outcome == Outcome::Interrupted && reports <= at + 1;
        let fault = || {
            format!("asked to stop after {at} of {all} reports, it made {reports} and ended as {outcome:?}")
        };
        (!is_right).then(fault)
    })
}

#[test]
fn every_learner_stops_when_asked_and_keeps_what_it_has() {
    let train = learnable(5);
    let metric = ndcg();
    let task = Task {
        train: &train,
        valid: Some(&train),
        metric: metric.as_ref(),
        seed: 1,
        start: Start::default(),
    };
    let mut faults = Vec::new();
    for entry in LEARNERS {
        let scorers = entry.scorers().into_iter().filter(|scorer| *scorer != "linear");
        let settings = scorers.map(|scorer| Table::from_iter([("scorer".to_string(), scorer.into())]));
        for given in settings.chain([Table::new()]) {
            let fault = fault_in_stopping(&|watch| {
                let fitted = entry.fit(&given, &task, watch).unwrap();
                assert!(fitted.model.scores(&train).is_ok(), "{} {given}", entry.card.name);
                fitted.record.outcome
            });
            faults.extend(fault.map(|fault| format!("{} {given}: {fault}", entry.card.name)));
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
                watch.step(Step { done, total: None, what: "x", value: 0.0 });
            }
            Outcome::RoundsUsedUp
        }
    };
    assert_eq!(fault_in_stopping(&fake(0, Outcome::Interrupted)), None);
    assert_eq!(fault_in_stopping(&fake(1, Outcome::Interrupted)), None);
    assert!(fault_in_stopping(&fake(10, Outcome::Interrupted)).unwrap().contains("RoundsUsedUp"));
    assert!(fault_in_stopping(&fake(2, Outcome::Interrupted)).is_some());
    assert!(fault_in_stopping(&fake(0, Outcome::Converged)).is_some());
    assert!(fault_in_stopping(&|_| Outcome::Interrupted).unwrap().contains("too few"));
}

/// One document, nothing relevant, all equal, constant and missing features, huge values, more features than rows.
#[test]
fn odd_data_stays_finite() {
    let nan = f32::NAN;
    let odd = [
        ("one document", dataset(Features::Dense { width: 2, values: vec![1.0, 2.0] }, vec![1.0], &[1])),
        (
            "nothing relevant",
            dataset(Features::Dense { width: 1, values: vec![1.0, 2.0, 3.0] }, vec![0.0; 3], &[2, 1]),
        ),
        ("all equal", dataset(Features::Dense { width: 2, values: vec![7.0; 8] }, vec![1.0; 4], &[4])),
        (
            "constant and missing features",
            dataset(
                Features::Dense { width: 3, values: vec![5.0, nan, nan, 5.0, 1.0, nan, 5.0, 2.0, nan] },
                vec![0.0, 1.0, 2.0],
                &[3],
            ),
        ),
        (
            "huge values",
            dataset(Features::Dense { width: 1, values: vec![1e38, -1e38, 3e38] }, vec![0.0, 1.0, 2.0], &[3]),
        ),
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
    let by_network: Table = "scorer = 'mlp'\nlayers = 5\nepochs = 3".parse().unwrap();
    for (entry, given) in LEARNERS.iter().flat_map(|entry| {
        let network = (!entry.scorers().is_empty()).then(|| (entry, by_network.clone()));
        std::iter::once((entry, Table::new())).chain(network)
    }) {
        for (what, data) in &odd {
            let fitted = fit_with(entry, &given, data, 1);
            let scores = fitted.model.scores(data);
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
    let metric = ndcg();
    let task = Task { train: &train, valid: None, metric: metric.as_ref(), seed: 1, start: Start::default() };
    for entry in LEARNERS.iter().filter(|e| e.parameters().iter().any(|p| p.name == "c")) {
        for c in [1e-12, 1e12] {
            let given = Table::from_iter([("c".to_string(), c.into()), ("rounds".into(), 300.into())]);
            let fitted = entry.fit(&given, &task, &mut Silent::default()).unwrap();
            let context = format!("{} at c = {c:e}: {:?}", entry.card.name, fitted.record);
            assert!(fitted.model.scores(&train).is_ok(), "{context}");
            assert!(fitted.record.figures.iter().all(|(_, value)| value.is_finite()), "{context}");
            assert!(fitted.record.rounds <= 300, "{context}");
            // A tiny weight is met at once. Where a huge one is not solved, the record must not say that it is.
            let gap = fitted.record.figures.iter().find(|(name, _)| name == "relative duality gap");
            let solved = gap.is_none_or(|(_, gap)| *gap <= 1e-3);
            assert!(solved || fitted.record.outcome == Outcome::RoundsUsedUp, "{context}");
            assert!(c > 1.0 || fitted.record.outcome == Outcome::Converged, "{context}");
        }
    }
}

#[test]
fn no_documents_or_features_is_an_error_in_a_sentence() {
    let metric = ndcg();
    let featureless = dataset(Features::Dense { width: 0, values: vec![] }, vec![1.0, 0.0], &[2]);
    for entry in LEARNERS {
        let task = Task {
            train: &featureless,
            valid: None,
            metric: metric.as_ref(),
            seed: 1,
            start: Start::default(),
        };
        let error = entry.fit(&Table::new(), &task, &mut Silent::default()).unwrap_err();
        assert_eq!(error.to_string(), "the training data has no features");
    }
}

#[test]
fn every_citation_is_in_the_bibliography() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/references.bib");
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
