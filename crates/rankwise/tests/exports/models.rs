//! The models that the tests write.

use rankwise::data::Columns;
use rankwise::models::interchange::Format;
use rankwise::models::{Activation, Combine, Layer, Model, NeuralNetwork, Ranker, TreeEnsemble};
use rankwise::trees::Tree;
use std::path::PathBuf;

pub(crate) const ENGINES: [Format; 5] =
    [Format::Elasticsearch, Format::ElasticsearchRankLib, Format::OpenSearch, Format::Solr, Format::RankLib];

pub(crate) fn testdata(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata")).join(name)
}

/// A stored model of another tool, its first column called 1 where it has no name.
pub(crate) fn stored(name: &str) -> Ranker {
    let ranker = Ranker::load(&testdata("interchange").join(name)).unwrap();
    if ranker.columns.names.is_some() { ranker } else { ranker.with_first_id(1).unwrap() }
}

pub(crate) fn ranker(model: Model) -> Ranker {
    let mut ranker = Ranker::of_model(model, Columns::default()).unwrap();
    // The name is in the files that ONNX Runtime scored.
    ranker.learner.name = "lightgbm".into();
    ranker
}

pub(crate) fn stump(feature: u32, threshold: f32, missing_left: bool, values: [f64; 2]) -> Tree {
    Tree {
        features: vec![feature],
        thresholds: vec![threshold],
        missing_left: vec![missing_left],
        left: vec![!0],
        right: vec![!1],
        gains: vec![1.0],
        values: values.to_vec(),
        covers: vec![1.0; 2],
        ..Tree::default()
    }
}

pub(crate) fn trees(width: usize, base: f64, trees: Vec<Tree>) -> Ranker {
    ranker(Model::Trees(TreeEnsemble::sum(width, base, trees).unwrap()))
}

/// Thresholds at the ends and around 0, missing by turns to the left and the right; every leaf has its own size.
pub(crate) fn odd_thresholds() -> Ranker {
    let tiny = f32::from_bits(1);
    let odd = [0.0, -0.0, tiny, -tiny, 1e-40, 1.5, 0.1, f32::MAX, f32::MIN, f32::INFINITY, f32::NEG_INFINITY];
    let stumps = odd.iter().enumerate().map(|(i, &t)| {
        let size = f64::from(1 << i);
        stump(i as u32 % 2, t, i % 3 == 0, [size, -size / 2.0])
    });
    trees(2, -1.25, stumps.collect())
}

/// Features around 1e-12, one of them with a threshold of everyday size as well.
pub(crate) fn small_thresholds() -> Ranker {
    let small = [1e-12, 3.3e-12, -2e-12, 0.0, 5e-13, -1e-13, 0.75];
    let stumps = small.iter().enumerate().map(|(i, &t)| {
        let size = f64::from(1 << i);
        stump(i as u32 % 2, t, i % 3 == 0, [size, -size / 2.0])
    });
    trees(2, 0.5, stumps.collect())
}

/// A tree like a rope: every second test on the way down has its leaf on the other side.
pub(crate) fn rope(levels: usize) -> Tree {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for i in 0..levels as i32 {
        let next = if i + 1 < levels as i32 { i + 1 } else { !(i + 1) };
        let (low, high) = if i % 2 == 0 { (!i, next) } else { (next, !i) };
        left.push(low);
        right.push(high);
    }
    let half = |i: usize| (levels - i) as f32 / 2.0;
    Tree {
        features: (0..levels).map(|i| i as u32 % 2).collect(),
        // The way down goes to the right of ever larger and to the left of ever smaller thresholds.
        thresholds: (0..levels).map(|i| if i % 2 == 0 { -half(i) } else { half(i) }).collect(),
        missing_left: (0..levels).map(|i| i % 3 == 0).collect(),
        left,
        right,
        gains: vec![0.0; levels],
        values: (0..=levels).map(|i| i as f64).collect(),
        covers: vec![1.0; levels + 1],
        ..Tree::default()
    }
}

pub(crate) fn combined(combine: Combine, outputs: usize) -> Ranker {
    let base = (0..outputs).map(|k| 0.5 - k as f64).collect();
    let stumps =
        (0..2 * outputs).map(|t| stump(t as u32 % 2, t as f32 / 3.0, t % 2 == 0, [0.75, -0.1 * t as f64]));
    ranker(Model::Trees(TreeEnsemble::new(2, base, combine, stumps.collect()).unwrap()))
}

/// Sets of categories of all sizes, missing by turns to the left and the right, beside thresholds of the same trees.
pub(crate) fn categories() -> Ranker {
    let sets = [
        vec![0],
        vec![3],
        vec![1, 2, 31, 32, 33],
        (0..70).map(|i| 3 * i).collect(),
        vec![5, 100_000, 16_777_215],
    ];
    let tree = |i: usize| {
        let size = f64::from(1 << i);
        let mut tree = Tree {
            features: vec![0, 1, 0],
            thresholds: vec![0.0, 0.5, 0.0],
            missing_left: vec![i.is_multiple_of(2), true, i.is_multiple_of(3)],
            left: vec![1, !0, !2],
            right: vec![2, !1, !3],
            gains: vec![1.0; 3],
            values: vec![size, -size, size / 2.0, -size / 4.0],
            covers: vec![1.0; 4],
            ..Tree::default()
        };
        tree.categories = vec![sets[i].clone(), vec![], sets[(i + 1) % sets.len()].clone()];
        tree
    };
    trees(2, 0.25, (0..sets.len()).map(tree).collect())
}

/// A network with weights that repeat no pattern, and a feature far from 0 that varies little.
pub(crate) fn network(activation: Activation, sizes: &[usize]) -> Ranker {
    let mut state = 7u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let mut inputs = 4;
    let mut layer = |&outputs: &usize| {
        let weights = (0..outputs * inputs).map(|_| next()).collect();
        let layer = Layer { outputs, weights, biases: (0..outputs).map(|_| next()).collect() };
        inputs = outputs;
        layer
    };
    let layers = sizes.iter().map(&mut layer).collect();
    let (means, factors) = (vec![1e6, 0.0, -3.5, 0.25], vec![2.0, 1.0, 0.125, 0.0]);
    ranker(Model::Network(NeuralNetwork::new(means, factors, activation, layers).unwrap()))
}

pub(crate) fn bits(row: &[f32]) -> String {
    row.iter().map(|x| format!("{:08x}", x.to_bits())).collect()
}

pub(crate) fn row_of(digits: &str) -> Vec<f32> {
    let number = |i: usize| f32::from_bits(u32::from_str_radix(&digits[8 * i..8 * i + 8], 16).unwrap());
    (0..digits.len() / 8).map(number).collect()
}

pub(crate) fn changed(ranker: &Ranker, change: fn(&mut Tree)) -> Ranker {
    let Model::Trees(ensemble) = &ranker.model else { panic!("no trees") };
    let mut trees = ensemble.trees().to_vec();
    trees.iter_mut().for_each(change);
    let model =
        TreeEnsemble::new(ensemble.width(), ensemble.base().to_vec(), ensemble.combine().clone(), trees);
    let mut changed = ranker.clone();
    changed.model = Model::Trees(model.unwrap());
    changed
}

pub(crate) const CHANGES: [fn(&mut Tree); 3] = [
    |tree| tree.thresholds.iter_mut().for_each(|t| *t = t.next_up()),
    |tree| tree.thresholds.iter_mut().for_each(|t| *t = t.next_down()),
    |tree| tree.missing_left.iter_mut().for_each(|left| *left = !*left),
];

pub(crate) fn engine_models() -> Vec<Ranker> {
    let mut models: Vec<Ranker> =
        ["lightgbm-names.txt", "lightgbm-no-missing.txt", "xgboost-ndcg.json", "xgboost-dart.ubj"]
            .map(stored)
            .to_vec();
    models.extend([
        odd_thresholds(),
        small_thresholds(),
        trees(2, 0.0, vec![rope(300)]),
        trees(1, 0.5, vec![]),
        trees(1, 0.0, vec![stump(0, -3.0, true, [1.0, 2.0])]),
    ]);
    models
}
