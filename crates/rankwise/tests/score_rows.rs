//! Borrowed rows get the scores that a data set gets, to the last bit, in every layout and for every shape of model.

use rand::RngExt;
use rankwise::data::{Columns, Dataset, Normalizer, Rows};
use rankwise::models::{
    Activation, Combine, Layer, Model, NeuralNetwork, OrdinalModel, Provenance, Ranker, TreeEnsemble,
};
use rankwise::rng::{self, Random};
use rankwise::trees::Tree;

const WIDTH: usize = 9;

/// A tree of `leaves` leaves, in which each split cuts off one on the left.
fn tree(random: &mut Random, leaves: usize) -> Tree {
    let nodes = leaves - 1;
    let last = |node: usize| if node + 1 == nodes { !(nodes as i32) } else { node as i32 + 1 };
    Tree {
        features: (0..nodes).map(|_| random.random_range(0..WIDTH as u32)).collect(),
        thresholds: (0..nodes).map(|_| random.random_range(-2.0..2.0)).collect(),
        missing_left: (0..nodes).map(|_| random.random()).collect(),
        left: (0..nodes).map(|node| !(node as i32)).collect(),
        right: (0..nodes).map(last).collect(),
        gains: vec![0.0; nodes],
        values: (0..leaves).map(|_| random.random_range(-1.0..1.0)).collect(),
        covers: vec![1.0; leaves],
        ..Tree::default()
    }
}

/// A model of every shape. Some trees have too many leaves for the vectorised form.
fn models() -> Vec<(&'static str, Model)> {
    let random = &mut rng::stream(3, &[]);
    let weights: Vec<f64> = (0..WIDTH).map(|_| random.random_range(-1.0..1.0)).collect();
    let (thresholds, grades) = (vec![-0.5, 0.5], vec![0.0, 1.0, 3.0]);
    let trees: Vec<Tree> = [2, 7, 31, 300, 5, 16].iter().map(|&leaves| tree(random, leaves)).collect();
    let mut draw = |count: usize| (0..count).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f32>>();
    let layers = vec![
        Layer { outputs: 20, weights: draw(20 * WIDTH), biases: draw(20) },
        Layer { outputs: 5, weights: draw(100), biases: draw(5) },
        Layer { outputs: 1, weights: draw(5), biases: draw(1) },
    ];
    let network = NeuralNetwork::new(draw(WIDTH), draw(WIDTH), Activation::Tanh, layers).unwrap();
    let expected_grade = Combine::Ordinal { grades: grades.clone() };
    vec![
        ("linear", Model::linear(weights.clone(), 0.25)),
        ("ordinal", Model::Ordinal(OrdinalModel { weights, thresholds, grades })),
        ("trees", Model::Trees(TreeEnsemble::sum(WIDTH, 0.1, trees.clone()).unwrap())),
        (
            "trees of grades",
            Model::Trees(TreeEnsemble::new(WIDTH, vec![0.1, -0.2], expected_grade, trees).unwrap()),
        ),
        ("network", Model::Network(network)),
    ]
}

/// The same values dense, with a stride, and sparse.
struct Values {
    dense: Vec<f32>,
    strided: Vec<f32>,
    starts: Vec<usize>,
    columns: Vec<u32>,
    given: Vec<f32>,
}

const STRIDE: usize = WIDTH + 4;

impl Values {
    fn new(rows: usize) -> Values {
        let random = &mut rng::stream(4, &[rows as u64]);
        let draw = |_| match random.random_range(0..10) {
            0 => f32::NAN,
            1..4 => 0.0,
            _ => random.random_range(-3.0..3.0),
        };
        let dense: Vec<f32> = (0..rows * WIDTH).map(draw).collect();
        let mut values =
            Values { dense, strided: Vec::new(), starts: vec![0], columns: Vec::new(), given: Vec::new() };
        for row in values.dense.chunks(WIDTH) {
            values.strided.extend(row);
            values.strided.extend([f32::INFINITY; STRIDE - WIDTH]);
            for (c, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                values.columns.push(c as u32);
                values.given.push(x);
            }
            values.starts.push(values.given.len());
        }
        // The last row need not be followed by a gap.
        values.strided.truncate(values.strided.len().saturating_sub(STRIDE - WIDTH));
        values
    }

    fn rows(&self) -> [Rows<'_>; 3] {
        [
            Rows::dense(&self.dense, WIDTH).unwrap(),
            Rows::dense_strided(&self.strided, self.dense.len() / WIDTH, WIDTH, STRIDE).unwrap(),
            Rows::sparse(&self.starts, &self.columns, &self.given, WIDTH).unwrap(),
        ]
    }
}

fn bits(scores: &[f64]) -> Vec<u64> {
    scores.iter().map(|s| s.to_bits()).collect()
}

/// Each row alone by the definition, where there is one beside the fast path.
fn by_definition(model: &Model, rows: Rows<'_>) -> Vec<f64> {
    let score = |row: rankwise::data::Row<'_>| match model {
        Model::Linear(linear) => row.dot(&linear.weights) + linear.bias,
        Model::Ordinal(ordinal) => row.dot(&ordinal.weights),
        Model::Trees(trees) => {
            let mut outputs = vec![0.0; trees.base().len()];
            trees.outputs(row, &mut outputs);
            trees.combine().score(&outputs)
        }
        model => {
            let (mut values, mut out) = (vec![0.0; WIDTH], [0.0]);
            row.iter().for_each(|(c, x)| values[c] = x);
            model.score_rows(Rows::dense(&values, WIDTH).unwrap(), &mut out).unwrap();
            out[0]
        }
    };
    rows.iter().map(score).collect()
}

#[test]
fn every_shape_and_layout_gives_the_same_bits() {
    for (name, model) in models() {
        for count in [1, 3, 4, 33, 199, 201, 1024, 2500] {
            // A fresh copy has not compiled its trees yet.
            let ranker = Ranker::of_model(model.clone(), Columns::default()).unwrap();
            let values = Values::new(count);
            for (layout, rows) in values.rows().into_iter().enumerate() {
                let what = format!("{name}, {count} rows, layout {layout}");
                let expected = bits(&by_definition(&model, rows));
                let mut scores = vec![f64::NAN; count];
                ranker.score_rows(rows, &mut scores).unwrap();
                assert_eq!(bits(&scores), expected, "{what}");
                let mut scorer = ranker.scorer();
                scores.fill(f64::NAN);
                scorer.score_into(rows, &mut scores).unwrap();
                assert_eq!(bits(&scores), expected, "{what}, scorer");
                let sizes = [count];
                scores.fill(f64::NAN);
                ranker.score_queries(rows, &sizes, &mut scores).unwrap();
                assert_eq!(bits(&scores), expected, "{what}, as one query");
            }
            let data = Dataset::dense(values.dense.clone(), WIDTH, vec![0.0; count], &[count]).unwrap();
            let expected = bits(&by_definition(&model, data.rows()));
            assert_eq!(bits(&ranker.score(&data).unwrap()), expected, "{name}, {count} rows, data set");
            let mut scorer = ranker.scorer();
            let alone: Vec<f64> =
                values.dense.chunks(WIDTH).take(50).map(|row| scorer.score(row).unwrap()).collect();
            assert_eq!(bits(&alone), expected[..count.min(50)], "{name}, one row at a time");
        }
    }
}

fn scaled(how: &str) -> Ranker {
    let model = Model::linear((1..=WIDTH).map(|w| w as f64 / 7.0).collect(), -0.5);
    let normalizer = Some(Normalizer::parse(how).unwrap());
    Ranker::new(model, Columns::default(), normalizer, Provenance::default()).unwrap()
}

#[test]
fn scaling_within_queries_needs_the_queries() {
    let (values, sizes) = (Values::new(30), [4, 20, 6]);
    for how in ["min-max", "z-score", "log,z-score", "log"] {
        let ranker = scaled(how);
        let data = Dataset::dense(values.dense.clone(), WIDTH, vec![0.0; 30], &sizes).unwrap();
        let expected = ranker.score(&data).unwrap();
        let prepared = ranker.model.scores(&ranker.prepare(&data).unwrap()).unwrap();
        assert_eq!(bits(&expected), bits(&prepared), "{how}");
        for rows in &values.rows()[..2] {
            let mut scores = vec![0.0; 30];
            ranker.score_queries(*rows, &sizes, &mut scores).unwrap();
            assert_eq!(bits(&scores), bits(&expected), "{how}");
            scores.fill(0.0);
            let mut scorer = ranker.scorer();
            for (first, size) in [(0, 4), (4, 20), (24, 6)] {
                let (rows, range) = (rows.slice(first..first + size), first..first + size);
                scorer.score_into(rows, &mut scores[range]).unwrap();
            }
            assert_eq!(bits(&scores), bits(&expected), "{how}, query by query");
            let plain = ranker.score_rows(*rows, &mut scores);
            let single = scorer.score(&values.dense[..WIDTH]);
            if how == "log" {
                plain.unwrap();
                assert_eq!(bits(&scores), bits(&expected));
                assert_eq!(single.unwrap().to_bits(), expected[0].to_bits());
            } else {
                assert!(plain.unwrap_err().to_string().contains("score all rows of a query together"));
                assert!(single.is_err());
            }
        }
    }
}

#[test]
fn rows_that_do_not_fit_the_model_are_refused() {
    let ranker = Ranker::of_model(Model::linear(vec![1e300, 1.0], 0.0), Columns::default()).unwrap();
    let refused = |values: &[f32], width: usize, places: usize| {
        let mut out = vec![0.0; places];
        ranker.score_rows(Rows::dense(values, width).unwrap(), &mut out).unwrap_err().to_string()
    };
    assert!(refused(&[1.0; 3], 3, 1).contains("3 features, and the model has 2"));
    assert!(refused(&[1.0; 3], 1, 3).contains("1 features, and the model has 2"));
    assert!(refused(&[1.0; 4], 2, 3).contains("2 rows cannot be scored into 3 places"));
    assert!(refused(&[0.0, 0.0, 1e38, 0.0], 2, 2).contains("document 2"));
    assert!(ranker.scorer().score(&[f32::INFINITY, 0.0]).is_err());
    assert!(ranker.scorer().score(&[]).is_err());
    let mut out = [0.0; 2];
    let rows = Rows::dense(&[0.0; 4], 2).unwrap();
    assert!(ranker.score_queries(rows, &[1], &mut out).unwrap_err().to_string().contains("1 documents"));
    ranker.score_rows(Rows::dense(&[], 2).unwrap(), &mut []).unwrap();
}
