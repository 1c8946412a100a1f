use super::pass::Dropout;
use super::train::{DROP, Trainer};
use super::{Layers, NetworkParameters, Optimizer, Schedule};
use crate::data::{Dataset, Features, Parts};
use crate::error::Result;
use crate::learners::{Fitted, Task, find};
use crate::losses::{QueryLoss, ScoredQuery, Squared, SquaredPairHinge};
use crate::metrics::{Conventions, Metric, evaluate, parse};
use crate::models::{Activation, Model, Outcome};
use crate::rng;
use crate::watch::{Progress, Silent, Stop, Watch};
use rand::RngExt;
use serde::Deserialize;
use toml::Table;

fn ndcg() -> Box<dyn Metric> {
    parse("ndcg@10", &Conventions::default()).unwrap()
}

fn dataset(width: usize, values: Vec<f32>, labels: Vec<f32>, sizes: &[usize]) -> Dataset {
    let features = Features::dense(width, values);
    let mut bounds = vec![0];
    sizes.iter().for_each(|size| bounds.push(bounds[bounds.len() - 1] + size));
    let query_ids = (0..sizes.len()).map(|q| q.to_string()).collect();
    Dataset::new(Parts { features, labels, bounds, query_ids, ..Parts::default() }).unwrap()
}

/// A document is relevant if two features have the same sign, which no linear model can represent. A third
/// feature is irrelevant, and some values are missing.
fn crosswise(seed: u64, queries: usize) -> Dataset {
    let mut random = rng::stream(seed, &[]);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..queries * 10 {
        let [a, b, c]: [f32; 3] = std::array::from_fn(|_| random.random_range(-1.0..1.0));
        labels.push(if a * b > 0.0 { 1.0 } else { 0.0 });
        values.extend([a * 100.0, b + 7.0, if c > 0.0 { c } else { f32::NAN }]);
    }
    dataset(3, values, labels, &vec![10; queries])
}

fn fit_with(
    learner: &str,
    settings: &str,
    train: &Dataset,
    valid: Option<&Dataset>,
    watch: &mut dyn Watch,
) -> Result<Fitted> {
    let metric = ndcg();
    let given: Table = format!("scorer = 'mlp'\n{settings}").parse().unwrap();
    let task = Task { valid, ..Task::new(train, metric.as_ref(), 3) };
    find(learner).unwrap().configure(&given)?.train(&task, watch)
}

fn fit(learner: &str, settings: &str, train: &Dataset) -> Fitted {
    fit_with(learner, settings, train, None, &mut Silent::default()).unwrap()
}

fn mean_ndcg(model: &Model, data: &Dataset) -> f64 {
    evaluate(data, &model.scores(data).unwrap(), &[ndcg()]).unwrap().mean(0).unwrap()
}

/// The mean loss of a batch in double precision by the definition, layer by layer and number by number.
fn naive_loss(
    trainer: &Trainer<'_>,
    weights: &[f64],
    batch: &[(usize, f64)],
    data: &Dataset,
    loss: &dyn QueryLoss,
    dropout: Option<&Dropout>,
) -> f64 {
    let mut total = 0.0;
    for &(q, weight) in batch {
        let query = data.query(q);
        let scores: Vec<f64> = query
            .range()
            .map(|document| {
                let mut features = vec![0.0; trainer.shape.layers[0].stride];
                trainer.begin.standardise(data.row(document), &mut features);
                let mut values: Vec<f64> = features.iter().map(|&x| x.into()).collect();
                for (l, place) in trainer.shape.layers.iter().enumerate() {
                    let (rows, biases) = (&weights[place.weights()], &weights[place.biases()]);
                    let sum = |u: usize| {
                        let row = &rows[u * place.stride..][..place.inputs];
                        biases[u] + row.iter().zip(&values).map(|(w, x)| w * x).sum::<f64>()
                    };
                    let sums: Vec<f64> = (0..place.outputs).map(sum).collect();
                    if l + 1 == trainer.shape.layers.len() {
                        return sums[0];
                    }
                    let mut mask = vec![1.0; place.outputs];
                    if let Some(dropout) = dropout {
                        dropout.draw(document, l, &mut mask);
                    }
                    let unit = |(x, m): (&f64, &f32)| match trainer.shape.activation {
                        Activation::Tanh => x.tanh() * f64::from(*m),
                        _ => x.max(0.0) * f64::from(*m),
                    };
                    values = sums.iter().zip(&mask).map(unit).collect();
                }
                unreachable!("the last layer returns")
            })
            .collect();
        let scored = ScoredQuery { labels: query.labels(), scores: &scores, seed: 0 };
        total += weight * loss.value_and_gradient(scored, &mut vec![0.0; scores.len()]);
    }
    total / batch.len() as f64
}

/// Queries of one, few and very many documents, weighted; both activations; with and without dropout.
#[test]
fn the_gradient_matches_finite_differences() {
    let sizes = [3, 300, 1, 40, 100, 20];
    let count: usize = sizes.iter().sum();
    let mut random = rng::stream(8, &[]);
    let values: Vec<f32> = (0..count * 4).map(|_| random.random_range(-2.0..2.0)).collect();
    let labels: Vec<f32> = (0..count).map(|_| random.random_range(0..3) as f32).collect();
    let mut parts = dataset(4, values, labels, &sizes).into_parts();
    parts.query_weights = Some(vec![1.0, 0.2, 3.0, 0.5, 1.0, 2.0]);
    let data = Dataset::new(parts).unwrap();
    let metric = ndcg();
    let task = Task::new(&data, metric.as_ref(), 2);
    let losses: [&dyn QueryLoss; 2] = [&Squared, &SquaredPairHinge::default()];
    for (activation, dropout) in
        [(Activation::Relu, 0.0), (Activation::Tanh, 0.0), (Activation::Relu, 0.3), (Activation::Tanh, 0.5)]
    {
        let network = NetworkParameters {
            layers: Layers(vec![7, 5]),
            activation,
            dropout,
            ..NetworkParameters::default()
        };
        for loss in losses {
            let mut trainer = Trainer::new(&network, loss, &task).unwrap();
            // Biases of 0 would leave units with all-zero inputs at the kink of relu.
            let biases: Vec<usize> = trainer.shape.layers.iter().flat_map(|place| place.biases()).collect();
            biases.into_iter().for_each(|i| trainer.weights[i] = random.random_range(-0.5..0.5));
            let batch = trainer.queries.clone();
            let total = trainer.differentiate(&batch, 4);
            let weights: Vec<f64> = trainer.weights.iter().map(|&w| w.into()).collect();
            let drawn = Dropout { share: dropout, seed: rng::derive(2, &[DROP, 4]) };
            let drawn = (dropout > 0.0).then_some(&drawn);
            let value = |weights: &[f64]| naive_loss(&trainer, weights, &batch, &data, loss, drawn);
            let scale = value(&weights).abs();
            assert!((total / batch.len() as f64 - value(&weights)).abs() < 1e-5 * scale);
            for place in &trainer.shape.layers {
                let rows =
                    place.weights().filter(|i| (i - place.weights().start) % place.stride < place.inputs);
                for i in rows.chain(place.biases()) {
                    let at = |step: f64| {
                        let mut moved = weights.clone();
                        moved[i] += step;
                        value(&moved)
                    };
                    let expected = (at(1e-6) - at(-1e-6)) / 2e-6;
                    let found = f64::from(trainer.gradient[i]);
                    let near = 2e-5 * scale.max(expected.abs());
                    assert!(
                        (found - expected).abs() < near,
                        "{activation:?} {dropout} {i}: {found} {expected}"
                    );
                }
            }
        }
    }
}

#[derive(Deserialize)]
struct Stored {
    values: Vec<f32>,
    labels: Vec<f32>,
    sizes: Vec<usize>,
    width: usize,
    hidden: Vec<usize>,
    batches: Vec<Vec<usize>>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    solver: Optimizer,
    activation: Activation,
    rate: f64,
    decay: f64,
    clip: f64,
    schedule: Schedule,
    momentum: f64,
    before: Vec<Numbers>,
    after: Vec<Numbers>,
}

#[derive(Deserialize)]
struct Numbers {
    weights: Vec<f32>,
    biases: Vec<f32>,
}

/// Adam and SGD, decay, clipping and schedules: eight steps match those of PyTorch.
#[test]
fn steps_match_those_of_pytorch() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/networks/steps.json");
    let stored: Stored = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let data = dataset(stored.width, stored.values, stored.labels, &stored.sizes);
    let metric = ndcg();
    let task = Task::new(&data, metric.as_ref(), 1);
    for case in stored.cases {
        let network = NetworkParameters {
            layers: Layers(stored.hidden.clone()),
            activation: case.activation,
            // Four queries in batches of two are two steps per epoch: eight steps in all.
            batch_size: 2,
            epochs: 4,
            learning_rate: case.rate,
            optimizer: case.solver,
            momentum: case.momentum,
            schedule: case.schedule,
            weight_decay: case.decay,
            clip: case.clip,
            ..NetworkParameters::default()
        };
        let mut trainer = Trainer::new(&network, &Squared, &task).unwrap();
        for (l, numbers) in case.before.iter().enumerate() {
            let (weights, biases) = (trainer.shape.layers[l].weights(), trainer.shape.layers[l].biases());
            let (stride, inputs) = (trainer.shape.layers[l].stride, trainer.shape.layers[l].inputs);
            let rows = trainer.weights[weights].chunks_mut(stride).zip(numbers.weights.chunks(inputs));
            rows.for_each(|(row, given)| row[..inputs].copy_from_slice(given));
            trainer.weights[biases].copy_from_slice(&numbers.biases);
        }
        for batch in &stored.batches {
            let batch: Vec<(usize, f64)> = batch.iter().map(|&q| (q, 1.0)).collect();
            trainer.batch(&batch, 1, &Stop::default()).unwrap();
        }
        let model = trainer.model(&trainer.weights).unwrap();
        let what = format!("{:?} {:?} {:?}", case.solver, case.activation, case.schedule);
        for (layer, numbers) in model.layers().iter().zip(&case.after) {
            let found = layer.weights.iter().chain(&layer.biases);
            for (found, expected) in found.zip(numbers.weights.iter().chain(&numbers.biases)) {
                assert!((found - expected).abs() < 2e-5, "{what}: {found} where PyTorch has {expected}");
            }
        }
    }
}

#[test]
fn a_network_learns_what_no_linear_model_can() {
    let (train, test) = (crosswise(1, 60), crosswise(2, 40));
    for learner in ["regression", "rank-svm", "svm-map"] {
        let settings = "layers = '16-8'\nepochs = 60\nrate = 0.01\nbatch = 6";
        let learned = mean_ndcg(&fit(learner, settings, &train).model, &test);
        let metric = ndcg();
        let task = Task::new(&train, metric.as_ref(), 1);
        let linear = find(learner)
            .unwrap()
            .configure(&Table::new())
            .unwrap()
            .train(&task, &mut Silent::default())
            .unwrap();
        let linear = mean_ndcg(&linear.model, &test);
        assert!(learned > 0.97 && linear < 0.85, "{learner}: {learned}, and {linear} of a linear model");
    }
}

#[test]
fn training_gives_the_same_bits_on_any_number_of_threads() {
    let train = crosswise(4, 50);
    let settings = "layers = [9, 17]\nepochs = 3\nbatch = 20\ndropout = 0.4\nactivation = 'tanh'\nweight_decay = 0.01\n\
                    schedule = 'cosine'\nclip = 0.5";
    for learner in ["regression", "svm-ndcg"] {
        let model = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| serde_json::to_string(&fit(learner, settings, &train).model).unwrap())
        };
        let one = model(1);
        assert!(one == model(1) && one == model(2) && one == model(5), "{learner}");
    }
}

#[test]
fn sparse_and_dense_data_give_the_same_model() {
    let mut random = rng::stream(6, &[]);
    let mut draw = |_| if random.random_bool(0.5) { 0.0 } else { random.random_range(-3.0f32..5.0) };
    let values: Vec<f32> = (0..200 * 6).map(&mut draw).collect();
    let labels: Vec<f32> = values.chunks(6).map(|row| if row[0] > row[1] { 1.0 } else { 0.0 }).collect();
    let dense = dataset(6, values.clone(), labels, &[10; 20]);
    let mut parts = dense.clone().into_parts();
    let (mut starts, mut columns, mut given) = (vec![0], Vec::new(), Vec::new());
    for row in values.chunks(6) {
        for (c, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            columns.push(c as u32);
            given.push(x);
        }
        starts.push(given.len());
    }
    parts.features = Features::Sparse { width: 6, starts, columns, values: given };
    let sparse = Dataset::new(parts).unwrap();
    let settings = "layers = 8\nepochs = 5";
    let scores =
        [&dense, &sparse].map(|data| fit("regression", settings, data).model.scores(&dense).unwrap());
    assert!(scores[0].iter().zip(&scores[1]).all(|(a, b)| (a - b).abs() < 1e-4));
}

/// Records its progress reports, and asks to stop after some epochs.
struct Noting {
    values: Vec<f64>,
    stop_after: usize,
    stop: Stop,
}

impl Noting {
    fn until(stop_after: usize) -> Noting {
        Noting { values: Vec::new(), stop_after, stop: Stop::default() }
    }
}

impl Watch for Noting {
    fn step(&mut self, step: Progress<'_>) {
        self.values.push(step.value);
        if self.values.len() == self.stop_after {
            self.stop.request();
        }
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

/// A high learning rate on few queries: the metric on validation queries falls after a while.
const RESTLESS: &str = "layers = 12\nepochs = 200\nrate = 0.05\nbatch = 2\npatience = 7";

#[test]
fn training_stops_early_on_validation_queries_and_keeps_the_best_epoch() {
    let (train, valid) = (crosswise(5, 8), crosswise(6, 30));
    let mut watch = Noting::until(usize::MAX);
    let fitted = fit_with("regression", RESTLESS, &train, Some(&valid), &mut watch).unwrap();
    let best = watch.values.iter().copied().fold(f64::MIN, f64::max);
    let epoch = watch.values.iter().position(|&value| value == best).unwrap() + 1;
    assert_eq!(fitted.record.outcome, Outcome::StoppedEarly);
    assert_eq!(fitted.record.rounds as usize, epoch + 7);
    assert_eq!(watch.values.len(), epoch + 7);
    assert_eq!(fitted.record.figures[0], ("best round".into(), epoch as f64));
    assert!((mean_ndcg(&fitted.model, &valid) - best).abs() < 1e-12);
}

#[test]
fn training_that_is_stopped_keeps_the_best_so_far() {
    let (train, valid) = (crosswise(5, 8), crosswise(6, 30));
    let mut watch = Noting::until(5);
    let fitted = fit_with("regression", RESTLESS, &train, Some(&valid), &mut watch).unwrap();
    assert_eq!((fitted.record.outcome, fitted.record.rounds), (Outcome::Interrupted, 5));
    let best = watch.values.iter().copied().fold(f64::MIN, f64::max);
    assert!((mean_ndcg(&fitted.model, &valid) - best).abs() < 1e-12);
    // Without validation queries the model is the last one: that of five epochs alone.
    let interrupted = fit_with("regression", RESTLESS, &train, None, &mut Noting::until(5)).unwrap();
    let five = RESTLESS.replace("200", "5");
    assert_eq!(interrupted.model, fit("regression", &five, &train).model);
}

#[test]
fn divergence_is_an_error() {
    let settings = "rate = 1e30\nsolver = 'sgd'\nepochs = 5";
    let error = fit_with("regression", settings, &crosswise(1, 5), None, &mut Silent::default()).unwrap_err();
    assert!(error.to_string().contains("try a smaller learning_rate"), "{error}");
}

#[test]
fn dropout_of_one_half_doubles_the_other_units() {
    let mut mask = vec![0.0; 4000];
    Dropout { share: 0.5, seed: 1 }.draw(3, 1, &mut mask);
    let kept = mask.iter().filter(|m| **m == 2.0).count();
    assert!((1850..2150).contains(&kept) && mask.iter().all(|m| *m == 0.0 || *m == 2.0));
    let mut others = vec![0.0; 4000];
    Dropout { share: 0.5, seed: 1 }.draw(4, 1, &mut others);
    assert_ne!(mask, others);
}

#[test]
fn parameters_are_read_in_every_form_and_rejected_by_name() {
    let entry = find("svm-map").unwrap();
    let complete = |text: &str| {
        let given = format!("scorer = 'mlp'\n{text}").parse().unwrap();
        entry.configure(&given).map(|configured| configured.parameters)
    };
    for text in ["layers = '32-16'", "layers = [32, 16]", "layers = ' 32 - 16'"] {
        assert_eq!(complete(text).unwrap()["layers"].as_str(), Some("32-16"), "{text}");
    }
    assert_eq!(complete("layers = 32").unwrap()["layers"].as_str(), Some("32"));
    let refused = |text: &str| complete(text).unwrap_err().to_string();
    assert!(refused("layers = 'wide'").contains("256-128-64"));
    assert!(refused("layers = []").contains("from 1 to 100"));
    assert!(refused("layers = '8-0'").contains("0 units"));
    assert!(refused("layers = 99999999").contains("99999999 units"));
    assert!(refused("dropout = 1.0").contains("dropout is 1"));
    assert!(refused("batch = 0").contains("batch_size is 0"));
    assert!(refused("epochs = 0").contains("epochs is 0"));
    assert!(refused("rate = -1.0").contains("rate is -1"));
    assert!(refused("clip = nan").contains("clip is NaN"));
    assert!(refused("solver = 'lbfgs'").contains("`optimizer`"));
    assert!(refused("c = 3.0").contains("`c` is not a parameter of svm-map with scorer network"));
    assert!(refused("leaves = 3").contains("with scorer network"));
}

#[test]
fn a_network_too_large_for_memory_is_rejected_before_it_is_allocated() {
    let layers = ["16384"; 90].join("-");
    let settings = format!("layers = '{layers}'");
    let error =
        fit_with("regression", &settings, &crosswise(1, 2), None, &mut Silent::default()).unwrap_err();
    assert!(error.to_string().contains("weights for 3 features; at most"), "{error}");
}

#[test]
fn queries_without_preferences_give_one_score() {
    let silent = dataset(2, vec![1.0, 2.0, 3.0, 5.0], vec![1.0, 1.0], &[2]);
    let fitted = fit("svm-map", "", &silent);
    let scores = fitted.model.scores(&silent).unwrap();
    assert_eq!(scores[0], scores[1]);
}
