//! Small data sets, and helpers for the tests of this family.

use crate::data::{Dataset, Features, Parts};
use crate::learners::Fitted;
use crate::metrics::{Conventions, Metric, parse};
use crate::models::{LinearModel, Model};
use crate::rank::Ranking;
use crate::rng;
use rand::RngExt;

/// The metric that most tests use.
pub(super) fn ndcg() -> Box<dyn Metric> {
    parse("ndcg@3", &Conventions::default()).unwrap()
}

/// Random features; labels depend on the first two, with noise.
pub(super) fn random_data(seed: u64, queries: usize, documents: usize, width: usize) -> Dataset {
    let mut random = rng::stream(seed, &[9]);
    let values: Vec<f32> = (0..queries * documents * width).map(|_| random.random()).collect();
    let mut grade = |x: &[f32]| {
        (4.0 * x[0] - 3.0 * x.get(1).unwrap_or(&0.0) + random.random::<f32>()).clamp(0.0, 3.0).floor()
    };
    let labels = values.chunks(width).map(&mut grade).collect();
    dataset(Features::dense(width, values), labels, (0..=queries).map(|q| q * documents).collect())
}

pub(super) fn dataset(features: Features, labels: Vec<f32>, bounds: Vec<usize>) -> Dataset {
    let query_ids = (1..bounds.len()).map(|q| q.to_string()).collect();
    Dataset::new(Parts { features, labels, bounds, query_ids, ..Parts::default() }).unwrap()
}

/// The data set after `change`.
pub(super) fn changed(data: &Dataset, change: impl FnOnce(&mut Parts)) -> Dataset {
    let mut parts = data.clone().into_parts();
    change(&mut parts);
    Dataset::new(parts).unwrap()
}

/// The same values in a sparse matrix, without zeros.
pub(super) fn sparse(data: &Dataset) -> Dataset {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for d in 0..data.len() {
        for (c, x) in data.row(d).iter().filter(|(_, x)| *x != 0.0) {
            columns.push(c as u32);
            values.push(x);
        }
        starts.push(values.len());
    }
    let width = data.width();
    changed(data, |p| p.features = Features::Sparse { width, starts, columns, values })
}

pub(super) fn weights(fitted: &Fitted) -> &[f64] {
    let Model::Linear(LinearModel { weights, .. }) = &fitted.model else { panic!("a linear model") };
    weights
}

pub(super) fn figure(fitted: &Fitted, name: &str) -> f64 {
    fitted.record.figures.iter().find(|f| f.0.contains(name)).unwrap().1
}

/// The unweighted mean, by plain loops.
pub(super) fn plain_mean(data: &Dataset, weights: &[f64]) -> f64 {
    plain_values(data, weights).iter().sum::<f64>() / data.query_count() as f64
}

/// The metric of each query, by plain loops.
pub(super) fn plain_values(data: &Dataset, weights: &[f64]) -> Vec<f64> {
    let score = |row: crate::data::Row<'_>| {
        row.iter().filter(|(_, x)| !x.is_nan()).map(|(c, x)| weights[c] * f64::from(x)).sum::<f64>()
    };
    let value = |q: crate::data::Query<'_>| {
        let scores: Vec<f64> = q.rows().map(score).collect();
        ndcg().value(q.labels(), &Ranking::by_scores(&scores)).unwrap_or(0.0)
    };
    data.queries().map(value).collect()
}

pub(super) fn assert_near(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9), "{a:?}\n{b:?}");
}
