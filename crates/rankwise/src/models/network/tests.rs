use super::products::PANEL;
use super::shape::NetworkScorer;
use super::*;
use crate::data::Rows;
use crate::models::Model;
use crate::rng;
use rand::RngExt;

/// A network with weights drawn at random.
fn random_network(width: usize, hidden: &[usize], activation: Activation, seed: u64) -> NeuralNetwork {
    let mut random = rng::stream(seed, &[]);
    let mut draw = |count: usize, range: f32| -> Vec<f32> {
        (0..count).map(|_| random.random_range(-range..range)).collect()
    };
    let (means, factors) = (draw(width, 2.0), draw(width, 1.0));
    let mut inputs = width;
    let mut layers = Vec::new();
    for &outputs in hidden.iter().chain(&[1]) {
        let range = (3.0 / inputs as f32).sqrt();
        layers.push(Layer { outputs, weights: draw(outputs * inputs, range), biases: draw(outputs, 0.5) });
        inputs = outputs;
    }
    NeuralNetwork::new(means, factors, activation, layers).unwrap()
}

/// Rows with some missing values and some zeros.
fn values(rows: usize, width: usize, seed: u64) -> Vec<f32> {
    let mut random = rng::stream(seed, &[1]);
    let draw = |_| match random.random_range(0..10) {
        0 => f32::NAN,
        1..4 => 0.0,
        _ => random.random_range(-3.0..3.0),
    };
    (0..rows * width).map(draw).collect()
}

impl NeuralNetwork {
    fn score_row(&self, row: Row<'_>) -> f64 {
        let mut score = [0.0];
        NetworkScorer::new(self).score_each(std::iter::once(row), &mut score);
        score[0]
    }
}

/// The definition, in f64 and one number at a time.
fn naive(network: &NeuralNetwork, row: &[f32]) -> f64 {
    let standard = row.iter().zip(network.means()).zip(network.factors());
    let standard = standard.map(|((&x, &m), &f)| match x.is_nan() {
        true => 0.0,
        false => (f64::from(x) - f64::from(m)) * f64::from(f),
    });
    let mut values: Vec<f64> = standard.collect();
    for (number, layer) in network.layers().iter().enumerate() {
        let unit = |u: usize| {
            let weights = &layer.weights[u * values.len()..(u + 1) * values.len()];
            let sum: f64 = weights.iter().zip(&values).map(|(&w, x)| f64::from(w) * x).sum();
            sum + f64::from(layer.biases[u])
        };
        let last = number + 1 == network.layers().len();
        let activation = |x: f64| match network.activation() {
            _ if last => x,
            Activation::Relu => x.max(0.0),
            Activation::Tanh => x.tanh(),
        };
        values = (0..layer.outputs).map(|u| activation(unit(u))).collect();
    }
    values[0]
}

#[test]
fn a_score_by_hand() {
    // h = relu(2·(3 − 1)·1 − 1) = 3 and relu(−4 + 1) = 0; the score is 0.5·3 − 7·0 + 0.25.
    let hidden = Layer { outputs: 2, weights: vec![1.0, 5.0, -1.0, 5.0], biases: vec![-1.0, 1.0] };
    let last = Layer { outputs: 1, weights: vec![0.5, -7.0], biases: vec![0.25] };
    let layers = vec![hidden, last];
    let network = NeuralNetwork::new(vec![1.0, 9.0], vec![2.0, 1.0], Activation::Relu, layers).unwrap();
    assert_eq!(network.score_row(Row::Dense(&[3.0, f32::NAN])), 1.75);
    assert_eq!(network.score_row(Row::Dense(&[3.0, 9.0])), 1.75);
    assert_eq!(network.score_row(Row::Sparse(&[0, 1], &[3.0, 9.0])), 1.75);
}

#[test]
fn scores_are_those_of_the_definition_in_f64() {
    let shapes: [(usize, &[usize]); 6] =
        [(1, &[]), (20, &[]), (3, &[1]), (16, &[16, 32]), (17, &[5, 33, 2]), (136, &[40, 30])];
    for activation in [Activation::Relu, Activation::Tanh] {
        for (width, hidden) in shapes {
            let network = random_network(width, hidden, activation, 7);
            for row in values(50, width, 3).chunks(width) {
                let (found, expected) = (network.score_row(Row::Dense(row)), naive(&network, row));
                let what = format!("{activation:?} {width} {hidden:?}");
                assert!(
                    (found - expected).abs() < 3e-6 * (1.0 + expected.abs()),
                    "{what}: {found} {expected}"
                );
            }
        }
    }
}

#[test]
fn a_document_has_the_same_score_alone_among_others_and_sparse() {
    let (width, rows) = (21, 1500);
    let network = random_network(width, &[18, 7], Activation::Tanh, 5);
    let dense = values(rows, width, 4);
    let (mut starts, mut columns, mut given) = (vec![0], Vec::new(), Vec::new());
    for row in dense.chunks(width) {
        // Zeros are left out.
        for (c, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            columns.push(c as u32);
            given.push(x);
        }
        starts.push(given.len());
    }
    let alone: Vec<f64> = dense.chunks(width).map(|row| network.score_row(Row::Dense(row))).collect();
    let sparse = Rows::sparse(&starts, &columns, &given, width).unwrap();
    let dense = Rows::dense(&dense, width).unwrap();
    let model = Model::Network(network);
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for rows in [dense, sparse] {
            let mut scores = vec![0.0; rows.len()];
            pool.install(|| model.score_rows(rows, &mut scores)).unwrap();
            assert!(scores == alone);
        }
    }
}

#[test]
fn data_with_fewer_columns_counts_as_zeros() {
    let network = random_network(5, &[4], Activation::Relu, 2);
    let [short, long] = [&[1.0, -2.0, 0.5][..], &[1.0, -2.0, 0.5, 0.0, 0.0]].map(Row::Dense);
    assert_eq!(network.score_row(short), network.score_row(long));
    assert_eq!(network.score_row(Row::Sparse(&[0], &[1.0])), network.score_row(Row::Dense(&[1.0])));
}

#[test]
fn a_sum_that_is_too_large_is_not_hidden() {
    let mut network = random_network(2, &[3], Activation::Relu, 2);
    network.layers[0].weights = vec![-3e38, 3e38, 3e38, 3e38, 3e38, -3e38];
    (network.means, network.factors) = (vec![0.0; 2], vec![1e3; 2]);
    assert!(!network.score_row(Row::Dense(&[1e30, 1e30])).is_finite());
}

#[test]
fn the_products_against_sums_in_f64() {
    for (rows, depth, width) in [(1, 1, 1), (7, 3, 16), (13, 17, 5), (96, 40, 33), (6, 1, 2)] {
        let stride = padded(depth) + PANEL;
        let left: Vec<f32> =
            values(rows, stride, 1).iter().map(|x| if x.is_nan() { 0.5 } else { *x }).collect();
        let right: Vec<f32> =
            values(depth, width, 2).iter().map(|x| if x.is_nan() { 0.25 } else { *x }).collect();
        let mut panels = Panels::default();
        panels.fill(depth, width, |k, c| right[k * width + c]);
        let columns = panels.columns();
        let start: Vec<f32> = (0..columns).map(|c| c as f32).collect();
        let mut out = vec![f32::NAN; rows * columns];
        multiply(&left, stride, &panels, &start, &mut out);
        for (r, c) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
            let entry = |k: usize| if c < width { f64::from(right[k * width + c]) } else { 0.0 };
            let sum: f64 = (0..depth).map(|k| f64::from(left[r * stride + k]) * entry(k)).sum();
            assert!((f64::from(out[r * columns + c]) - sum - c as f64).abs() < 1e-4);
        }
        // leftᵀ·out, added to what is there.
        let (mut panels, mut scratch) = (Panels::default(), Vec::new());
        panels.fill_from_rows(&out, columns);
        let mut sums = vec![1.0; depth * columns];
        add_transposed(&left, (stride, depth), &panels, &mut sums, &mut scratch);
        for (k, c) in (0..depth).flat_map(|k| (0..columns).map(move |c| (k, c))) {
            let product = |r: usize| f64::from(left[r * stride + k]) * f64::from(out[r * columns + c]);
            let sum: f64 = (0..rows).map(product).sum();
            assert!((f64::from(sums[k * columns + c]) - 1.0 - sum).abs() < 2e-4 * (1.0 + sum.abs()));
        }
    }
}

#[test]
fn networks_that_do_not_fit_together_are_refused() {
    let refused = |change: fn(&mut NeuralNetwork)| {
        let mut network = random_network(4, &[3, 2], Activation::Relu, 1);
        change(&mut network);
        NeuralNetwork::new(network.means, network.factors, network.activation, network.layers)
            .unwrap_err()
            .to_string()
    };
    assert!(refused(|m| m.factors.truncate(3)).contains("4 means and 3 factors"));
    assert!(refused(|m| m.means.clear()).contains("no features"));
    assert!(refused(|m| m.factors[1] = f32::INFINITY).contains("not finite"));
    assert!(refused(|m| m.layers[1].weights[0] = f32::NAN).contains("layer 2 of the network has a weight"));
    assert!(
        refused(|m| m.layers[1].biases.clear()).contains("layer 2 of the network has 0 biases for 2 units")
    );
    assert!(refused(|m| m.layers[0].outputs = usize::MAX).contains("biases for"));
    assert!(refused(|m| m.layers[2].weights.push(0.0)).contains("3 weights for 2 inputs of 1 units"));
    assert!(refused(|m| drop(m.layers.pop())).contains("a layer of one unit"));
    assert!(refused(|m| m.layers.clear()).contains("a layer of one unit"));
}
