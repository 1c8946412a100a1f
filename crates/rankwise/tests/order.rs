//! The order of documents, queries and features in a file changes no more than `docs/methods.md` says, for every
//! learner and scorer.

use rand::RngExt;
use rand::seq::SliceRandom;
use rankwise::data::Dataset;
use rankwise::learners::{LEARNERS, LearnerEntry, ScorerKind};
use rankwise::models::Ranker;
use rankwise::recipe::{Recipe, Start};
use rankwise::rng;
use rankwise::watch::Silent;
use std::path::Path;
use toml::Table;

/// Enough queries that learners which need it hold some of them out.
const QUERIES: usize = 36;
const WIDTH: usize = 6;
/// The largest difference of scores, in standard deviations of the scores, that counts as rounding.
const ROUNDING: f64 = 1e-6;

/// Queries of 8 to 14 documents whose grades follow a hidden utility with noise. The last document of each query has
/// the features of the first and mostly another label, so some documents are tied in every model.
fn data(seed: u64) -> Dataset {
    let mut random = rng::stream(seed, &[]);
    let hidden = [1.0, -2.0, 0.5, 0.0, 1.5, 0.7];
    let (mut values, mut labels, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    for query in 0..QUERIES {
        let (first, size) = (values.len(), 8 + query % 7);
        for document in 0..size {
            let row: Vec<f32> = match document + 1 == size {
                true => values[first..first + WIDTH].to_vec(),
                false => (0..WIDTH).map(|_| random.random()).collect(),
            };
            let utility: f64 = row.iter().zip(hidden).map(|(&x, w)| f64::from(x) * w).sum();
            let noisy = utility + 0.8 * (random.random::<f64>() - 0.5);
            labels.push((0.8 + noisy).clamp(0.0, 2.9).floor() as f32);
            values.extend(row);
        }
        sizes.push(size);
    }
    Dataset::dense(values, WIDTH, labels, &sizes).unwrap()
}

/// `0..n` in another order.
fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut rng::stream(seed, &[n as u64]));
    order
}

fn with_documents_shuffled(data: &Dataset) -> Dataset {
    let of_query = |q: usize| {
        let range = data.query(q).range();
        shuffled(range.len(), q as u64).into_iter().map(move |d| range.start + d)
    };
    data.select_rows(&(0..data.query_count()).flat_map(of_query).collect::<Vec<_>>())
}

fn with_queries_shuffled(data: &Dataset) -> Dataset {
    data.select_queries(&shuffled(data.query_count(), 1))
}

fn with_features_shuffled(data: &Dataset) -> Dataset {
    let order = shuffled(WIDTH, 2);
    let mut parts = data.clone().into_parts();
    let rows = parts.features.values_mut().chunks_mut(WIDTH);
    rows.for_each(|row| {
        let before = row.to_vec();
        row.iter_mut().zip(&order).for_each(|(value, &column)| *value = before[column]);
    });
    Dataset::new(parts).unwrap()
}

/// Fewer and smaller trees, if it has any.
fn quick(entry: &LearnerEntry) -> Table {
    let names: Vec<String> = entry.parameters().into_iter().map(|p| p.name).collect();
    let set = ["num_leaves = 6", "min_data_in_leaf = 8", "num_trees = 8"];
    let mut settings: Table = set
        .iter()
        .filter(|line| names.iter().any(|name| line.starts_with(&format!("{name} "))))
        .flat_map(|line| line.parse::<Table>().unwrap())
        .collect();
    if settings.contains_key("num_leaves") && names.iter().any(|name| name == "iterations") {
        settings.insert("iterations".into(), 15.into());
    }
    settings
}

fn fit(recipe: &Recipe, train: &Dataset) -> Ranker {
    recipe.fit(train, None, Start::default(), &mut Silent::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// The largest difference of two models' scores, in standard deviations of the scores.
fn difference(one: &[f64], other: &[f64]) -> f64 {
    let n = one.len() as f64;
    let mean = one.iter().sum::<f64>() / n;
    let deviation = (one.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / n).sqrt();
    assert!(deviation > 0.0);
    one.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / deviation
}

/// What the order of documents, queries and features may change, by the table of the documentation.
fn documented(learner: &str) -> [String; 3] {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/methods.md");
    let text = std::fs::read_to_string(path).unwrap();
    let section = text.split("## What the order of a file may change\n").nth(1).expect("the section");
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with('|'));
    let mut found = rows.filter(|row| row.split('|').nth(1).unwrap().contains(&format!("`{learner}`")));
    let row = found.next().unwrap_or_else(|| panic!("{learner} is not in the table"));
    assert!(found.next().is_none(), "{learner} is in the table twice");
    let cells: Vec<String> = row.split('|').skip(2).take(3).map(|cell| cell.trim().to_string()).collect();
    cells.try_into().expect("three orders")
}

/// How far apart the scores of a document can be, if both models are within their certified gap of the same optimum.
///
/// `F(w) = ½‖w‖² + C·R(w)` exceeds its minimum by at least `½‖w − w*‖²` and by at most the primal objective minus the
/// dual one. This is for weights of features as they are (`scale = false`).
fn gap_allows(rankers: [&Ranker; 2], test: &Dataset) -> f64 {
    let apart = rankers.map(|ranker| {
        let figure = |name: &str| {
            let found = ranker.record.figures.iter().find(|(figure, _)| figure == name);
            found.unwrap_or_else(|| panic!("no {name}")).1
        };
        (2.0 * (figure("primal objective") - figure("dual objective")).max(0.0)).sqrt()
    });
    let length = |row: &[f32]| row.iter().map(|x| f64::from(x * x)).sum::<f64>().sqrt();
    let longest = test.parts().features.values().chunks(WIDTH).map(length).fold(0.0, f64::max);
    (apart[0] + apart[1]) * longest
}

/// Where the scores break the claim on what the order of the training data changes.
fn violations(name: &str, settings: Table, claims: [String; 3]) -> Vec<String> {
    let (train, test) = (data(1), data(2));
    let in_units = |claim: &String| claim == "gap";
    let scale = claims.iter().any(in_units).then(|| ("scale".into(), false.into()));
    let recipe = Recipe::new(name).set_all(settings.into_iter().chain(scale).collect());
    let base = fit(&recipe, &train);
    let scores = base.score(&test).unwrap();
    let orders = [
        ("documents", with_documents_shuffled(&train), test.clone()),
        ("queries", with_queries_shuffled(&train), test.clone()),
        ("features", with_features_shuffled(&train), with_features_shuffled(&test)),
    ];
    let check = |((order, train, test), claim): ((&str, Dataset, Dataset), String)| {
        let other = fit(&recipe, &train);
        let moved = other.score(&test).unwrap();
        let difference = difference(&scores, &moved);
        let holds = match claim.as_str() {
            "nothing" => scores == moved,
            "rounding" | "ties" => difference < ROUNDING,
            "gap" => {
                let farthest = scores.iter().zip(&moved).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                farthest <= gap_allows([&base, &other], &test) + ROUNDING
            }
            "choices" => true,
            claim => panic!("{name}: `{claim}` is not a word of the table"),
        };
        (!holds).then(|| format!("{name}: the order of {order} changes scores by {difference:e} ({claim})"))
    };
    orders.into_iter().zip(claims).filter_map(check).collect()
}

#[test]
fn every_learner_depends_on_the_order_of_the_file_no_more_than_documented() {
    let of = |entry: &LearnerEntry| violations(entry.card.name, quick(entry), documented(entry.card.name));
    let wrong: Vec<String> = LEARNERS.iter().flat_map(of).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The losses that draw subsets of the documents, on all documents. The tolerance is so small that a model within the
/// gap is close to the optimum.
#[test]
fn hinges_of_all_documents_do_not_depend_on_the_order_of_documents() {
    let of = |name: &&str| {
        let settings = "documents = 0\ntolerance = 1e-7\nc = 0.3".parse().unwrap();
        violations(name, settings, ["gap", "nothing", "gap"].map(String::from))
    };
    let wrong: Vec<String> = ["svm-mrr", "dorm", "min-perturb", "max-max"].iter().flat_map(of).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Models are the same bytes, whatever the order of the queries.
#[test]
fn no_scorer_depends_on_the_order_of_queries() {
    let train = data(3);
    let other = with_queries_shuffled(&train);
    let mut wrong = Vec::new();
    for entry in LEARNERS {
        for scorer in entry.scorers() {
            let settings = match scorer {
                ScorerKind::Linear => "",
                ScorerKind::Trees => "iterations = 3\nbagging_fraction = 0.5",
                ScorerKind::Network => "epochs = 2\nlayers = '4'\ndropout = 0.2\nbatch_size = 4",
            };
            let recipe =
                Recipe::new(entry.card.name).scorer(scorer.name()).set_all(settings.parse().unwrap());
            if fit(&recipe, &train).to_bytes() != fit(&recipe, &other).to_bytes() {
                wrong.push(format!("{} by {}", entry.card.name, scorer.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
