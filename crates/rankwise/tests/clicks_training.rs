//! Training from clicks: what is asked of every learner, and what position bias learns.

use rand::RngExt;
use rankwise::clicks::propensity::{PairedRanks, Propensities};
use rankwise::clicks::simulate::{SimulatedRanker, SimulatedUser, Simulation};
use rankwise::clicks::{ClickCounts, ClickWeights, Session};
use rankwise::data::Dataset;
use rankwise::learners::boosting::Checkpoint;
use rankwise::learners::{LEARNERS, ScorerKind};
use rankwise::metrics::{Conventions, evaluate, parse};
use rankwise::models::Ranker;
use rankwise::recipe::{Recipe, Start};
use rankwise::rng;
use rankwise::watch::Silent;

const RANKS: usize = 12;

/// Queries of 12 documents whose grades follow a linear utility, all of them shown in the order of the first feature, which is the
/// opposite of useful.
fn judged(seed: u64, queries: usize) -> Dataset {
    let mut random = rng::stream(seed, &[]);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..queries * RANKS {
        let row: [f32; 4] = random.random();
        values.extend(row);
        labels.push((3.0 * (0.3 + row[1] + row[2] - 0.6 * row[0])).clamp(0.0, 4.0).floor());
    }
    Dataset::dense(values, 4, labels, &vec![RANKS; queries]).unwrap()
}

fn truth() -> Propensities {
    Propensities::given((1..=RANKS).map(|rank| 1.0 / rank as f64).collect()).unwrap()
}

/// Sessions in which every document is shown, by the first feature and with some exchanges.
fn log(data: &Dataset, sessions: usize) -> Vec<Session> {
    let ranker = |name: &str, column: usize| {
        let scores = (0..data.len()).map(|i| f64::from(data.row(i).get(column))).collect();
        SimulatedRanker { name: name.into(), scores }
    };
    let rankers = [ranker("first", 0), ranker("last", 3)];
    let user = SimulatedUser::PositionBased { eta: 1.0 };
    let simulation =
        Simulation { user, noise: 0.05, sessions, depth: RANKS, features: true, ..Simulation::default() };
    simulation.sessions(data, &rankers).unwrap().collect()
}

fn clicks(data: &Dataset, sessions: usize, propensities: Option<Propensities>) -> Dataset {
    let counts: ClickCounts = log(data, sessions).iter().collect();
    ClickWeights { propensities, clip: 0.02 }.of_counts(&counts, data).unwrap().data
}

fn fit(recipe: &Recipe, train: &Dataset) -> rankwise::Result<Ranker> {
    recipe.fit(train, None, Start::default(), &mut Silent::default())
}

fn ndcg(ranker: &Ranker, data: &Dataset) -> f64 {
    let metric = [parse("ndcg@10", &Conventions::default()).unwrap()];
    evaluate(data, &ranker.score(data).unwrap(), &metric).unwrap().mean(0).unwrap()
}

/// Small and quick settings of a learner with a scorer.
fn recipe(learner: &str, scorer: Option<ScorerKind>) -> Recipe {
    let recipe = Recipe::new(learner);
    match scorer {
        None if learner == "random-forest" => recipe.set("num_trees", 20),
        None => recipe,
        Some(ScorerKind::Linear) => recipe.scorer("linear"),
        Some(ScorerKind::Trees) => recipe.scorer("trees").set("iterations", 10).set("learning_rate", 0.3),
        Some(ScorerKind::Network) => recipe.scorer("network").set("epochs", 8).set("layers", "8"),
    }
}

/// Every learner with every scorer learns from weighted clicks, on any number of threads the same, and says so in its
/// model; or it says what to use instead.
#[test]
fn every_learner_learns_from_clicks_or_says_what_to_use() {
    let (judged, test) = (judged(1, 40), judged(2, 40));
    let train = clicks(&judged, 30, Some(truth()));
    let blind = {
        let metric = [parse("ndcg@10", &Conventions::default()).unwrap()];
        evaluate(&test, &vec![0.0; test.len()], &metric).unwrap().mean(0).unwrap()
    };
    let (mut able, mut refused) = (0, Vec::new());
    for entry in LEARNERS {
        let scorers = entry.scorers();
        let kinds = if scorers.is_empty() { vec![None] } else { scorers.into_iter().map(Some).collect() };
        for kind in kinds {
            let name = format!("{} {}", entry.card.name, kind.map_or("", ScorerKind::name));
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| fit(&recipe(entry.card.name, kind), &train))
            };
            let ranker = match on(1) {
                Ok(ranker) => ranker,
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains("weighted clicks; use"), "{name}: {text}");
                    refused.push(name);
                    continue;
                }
            };
            able += 1;
            assert_eq!(ranker.clicks.as_ref().unwrap().clip, 0.02, "{name}");
            assert!(ranker.to_bytes() == on(2).unwrap().to_bytes(), "{name} depends on the threads");
            let loaded = Ranker::from_bytes(&ranker.to_bytes()).unwrap();
            assert_eq!(loaded, ranker, "{name}");
            let learned = ndcg(&ranker, &test);
            // Networks have little time here.
            let has_learned = kind == Some(ScorerKind::Network) || learned > blind + 0.05;
            assert!(has_learned, "{name}: {learned} against {blind} of a blind guess");
        }
    }
    assert_eq!(able, 3 * 28 - 4 + 2, "{refused:?}");
    let methods =
        ["oc-svm ", "prank ", "ada-rank ", "rank-boost ", "frank ", "ndcg-boost ", "gb-rank ", "mcrank "];
    let own = ["mle linear", "exp-gain linear", "l3 linear", "convex-loss linear"];
    let mut expected: Vec<&str> = methods.into_iter().chain(own).collect();
    refused.sort();
    expected.sort_unstable();
    assert_eq!(refused, expected);
}

/// The list shown first contradicts the grades, so clicks as they are mislead. True propensities make up for it, and
/// those estimated from the same log nearly as well.
#[test]
fn weights_make_up_for_positions() {
    let (judged, test) = (judged(3, 60), judged(4, 60));
    let value = |train: &Dataset| ndcg(&fit(&Recipe::new("list-net"), train).unwrap(), &test);
    let counts: ClickCounts = log(&judged, 100).iter().collect();
    let estimated = PairedRanks::default().estimate(&counts).unwrap();
    let off = |rank: u32| (estimated.at(rank) / truth().at(rank) - 1.0).abs();
    let error = (1..=10).map(off).sum::<f64>() / 10.0;
    assert!(error < 0.2, "{estimated:?}");
    let (naive, best) = (value(&clicks(&judged, 100, None)), value(&judged));
    assert!(naive < best - 0.05, "{naive} naively, {best} from grades");
    for (propensities, closed) in [(truth(), 0.8), (estimated, 0.7)] {
        let weighted = value(&clicks(&judged, 100, Some(propensities)));
        assert!(
            weighted > naive + closed * (best - naive),
            "{weighted}; {naive} naively, {best} from grades"
        );
    }
}

/// A training that was stopped goes on from its checkpoint, and other propensities are another training.
#[test]
fn checkpoints_know_how_clicks_were_weighted() {
    let judged = judged(5, 20);
    let train = clicks(&judged, 10, Some(truth()));
    let directory = tempfile::tempdir().unwrap();
    let checkpoint = Checkpoint { path: directory.path().join("state.json"), every: 1 };
    let start = Start { checkpoint: Some(&checkpoint), ..Start::default() };
    let with = |iterations: i64, train: &Dataset, start: Start<'_>| {
        let recipe = Recipe::new("lambda-mart").set("iterations", iterations).set("min_data_in_leaf", 5);
        recipe.fit(train, None, start, &mut Silent::default())
    };
    let whole = with(6, &train, start).unwrap();
    assert_eq!(with(6, &train, start).unwrap().to_bytes(), whole.to_bytes());
    assert_eq!(with(6, &train, Start::default()).unwrap().to_bytes(), whole.to_bytes());
    let labels = train.click_labels().unwrap().clone();
    let other = rankwise::data::ClickLabels { clip: 0.03, ..labels };
    let other = train.clone().with_click_labels(other).unwrap();
    assert_ne!(other.fingerprint(), train.fingerprint());
    assert!(with(6, &other, start).is_err(), "the checkpoint is that of other weights");
}

/// Clicks in validation queries count by the same weights: they choose the same iteration as their full labels would.
#[test]
fn validation_may_be_clicks_or_judgments() {
    let (train, valid) = (judged(6, 40), judged(7, 40));
    let of = |data: &Dataset| clicks(data, 20, Some(truth()));
    let recipe = Recipe::new("lambda-mart").set("iterations", 30).set("learning_rate", 0.3);
    let fit = |train: &Dataset, valid: &Dataset| {
        recipe.fit(train, Some(valid), Start::default(), &mut Silent::default()).unwrap()
    };
    let note = |ranker: &Ranker, what: &str| ranker.record.notes.iter().any(|note| note.starts_with(what));
    assert!(note(&fit(&of(&train), &valid), "the training labels are clicks"));
    assert!(note(&fit(&of(&train), &of(&valid)), "the training and validation labels are clicks"));
    let only_valid = fit(&train, &of(&valid));
    assert!(note(&only_valid, "the validation labels are clicks") && only_valid.clicks.is_none());
}

/// Sessions of lists with positions, and rows whose relevance is that of one feature.
fn sessions_as_queries() -> (Dataset, Dataset) {
    let judged = judged(8, 60);
    let lists = ClickWeights::lists(log(&judged, 100).into_iter().map(Ok), None).unwrap();
    (lists.data, judged)
}

fn biases(ranker: &Ranker, name: &str) -> Vec<f64> {
    let own = ranker.record.figures.iter().filter(|(figure, _)| figure.starts_with(name));
    own.map(|(_, value)| *value).collect()
}

#[test]
fn learned_biases_fall_with_the_rank_and_help() {
    let (train, judged) = sessions_as_queries();
    let recipe = |bias: &str| {
        let recipe = Recipe::new("lambda-mart").set("iterations", 40).set("learning_rate", 0.1);
        recipe.set("position_bias", bias)
    };
    let value = |ranker: &Ranker| ndcg(ranker, &judged);
    let fitted = |bias: &str| fit(&recipe(bias), &train).unwrap();
    let (naive, additive, pairwise) = (fitted("none"), fitted("additive"), fitted("pairwise"));
    assert!(value(&additive) > value(&naive) + 0.02, "{} and {}", value(&additive), value(&naive));
    assert!(value(&pairwise) > value(&naive) + 0.02, "{} and {}", value(&pairwise), value(&naive));
    let of_positions = biases(&additive, "bias of position");
    assert_eq!(of_positions.len(), RANKS);
    assert!(of_positions[0] > of_positions[2] && of_positions[2] > of_positions[8], "{of_positions:?}");
    let of_clicks = biases(&pairwise, "bias of clicks at position");
    assert!(of_clicks[0] == 1.0 && of_clicks[1] < 1.0 && of_clicks[8] < of_clicks[1], "{of_clicks:?}");
    // The same on any number of threads.
    for bias in ["additive", "pairwise"] {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fitted(bias).to_bytes())
        };
        assert!(on(1) == on(2), "{bias} depends on the threads");
    }
}

#[test]
fn position_bias_is_refused_where_it_makes_no_sense() {
    let (train, judged) = sessions_as_queries();
    let recipe = |bias: &str| Recipe::new("lambda-mart").set("position_bias", bias).set("iterations", 2);
    let refusal = |recipe: Recipe, train: &Dataset| fit(&recipe, train).unwrap_err().to_string();
    assert!(refusal(recipe("additive"), &judged).contains("has no positions"));
    assert!(
        refusal(
            recipe("additive")
                .scorer("linear")
                .set_only("scorer = 'linear'\nposition_bias = 'additive'".parse().unwrap()),
            &train
        )
        .contains("use scorer trees")
    );
    assert!(
        refusal(recipe("additive").set("position_bias_regularization", -1.0), &train)
            .contains("position_bias_regularization")
    );
    let weighted = ClickWeights { propensities: Some(truth()), clip: 0.0 }.by_position(train).unwrap().data;
    assert!(refusal(recipe("pairwise"), &weighted).contains("weighted by propensities already"));
}

/// The same biases and scores as LightGBM's, up to its table of the logistic function and its floats.
#[test]
fn additive_biases_agree_with_lightgbm() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/position_bias/answers.json");
    let answers: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let numbers = |value: &serde_json::Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    };
    let count = |name: &str| answers[name].as_u64().unwrap() as usize;
    let (queries, ranks) = (count("queries"), count("ranks"));
    for case in answers["cases"].as_array().unwrap() {
        let [values, clicks] =
            ["values", "clicks"].map(|name| numbers(&case[name]).iter().map(|x| *x as f32).collect());
        let positions = (0..queries * ranks).map(|i| (i % ranks + 1) as u32).collect();
        let train = Dataset::dense(values, 3, clicks, &vec![ranks; queries]).unwrap();
        // LightGBM has the queries in the order of its file, as we have with these ids.
        let train = train.with_positions(positions).unwrap();
        let recipe = Recipe::new("lambda-mart")
            .set("position_bias", "additive")
            .set("position_bias_regularization", case["regularization"].as_f64().unwrap())
            .set("iterations", count("rounds") as i64)
            .set("learning_rate", 0.2)
            .set("num_leaves", 6)
            .set("min_data_in_leaf", 1)
            .set("min_child_weight", 2.0)
            .set("l2", 0.5);
        let ranker = fit(&recipe, &train).unwrap();
        let close = |ours: &[f64], theirs: &[f64], what: &str| {
            assert_eq!(ours.len(), theirs.len());
            let far = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(far < 2e-3, "{what} differ by {far}: {ours:?} and {theirs:?}");
        };
        close(&biases(&ranker, "bias of position"), &numbers(&case["biases"]), "biases");
        close(&ranker.score(&train).unwrap(), &numbers(&case["scores"]), "scores");
    }
}
