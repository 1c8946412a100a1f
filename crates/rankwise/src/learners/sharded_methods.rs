//! Methods of their own on divided data: parameters and data that the common test of all learners leaves out.

use super::holdout::{FRACTION, Holdout};
use super::sharded::assert_same_on_workers;
use super::{Fitted, Task, find};
use crate::data::{Dataset, Features, Parts, with_workers};
use crate::error::Result;
use crate::metrics::{Conventions, parse};
use crate::rng;
use crate::watch::Silent;
use rand::RngExt;
use toml::Table;

/// Queries of several sizes and weights, some without relevant documents; zeros and missing values; three columns that
/// decide and others that vary in few queries.
fn odd_data(seed: u64, queries: usize, width: usize, is_sparse: bool) -> Dataset {
    let mut random = rng::stream(seed, &[]);
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let (mut labels, mut bounds, mut dense) = (Vec::new(), vec![0], Vec::new());
    for q in 0..queries {
        let documents = 1 + (q * 5) % 13;
        for _ in 0..documents {
            let value = |c: usize| match random.random_range(0..10) {
                0 => f32::NAN,
                1..4 => 0.0,
                _ if c >= 3 && !(c + q).is_multiple_of(4) => 0.0,
                x => x as f32 / 4.0,
            };
            let row: Vec<f32> = (0..width).map(value).collect();
            let sum: f32 = row[..3].iter().filter(|x| !x.is_nan()).sum();
            let grade = (sum / 2.0 + random.random::<f32>()).min(3.0).floor();
            labels.push(if q % 9 == 4 { 0.0 } else { grade });
            let stored = row.iter().enumerate().filter(|(_, x)| **x != 0.0);
            stored.for_each(|(c, &x)| {
                columns.push(c as u32);
                values.push(x);
            });
            starts.push(columns.len());
            dense.extend(row);
        }
        bounds.push(labels.len());
    }
    let features = match is_sparse {
        true => Features::Sparse { width, starts, columns, values },
        false => Features::dense(width, dense),
    };
    let query_weights = Some((0..queries).map(|q| [1.0, 0.5, 0.0, 2.0, 1.0][q % 5]).collect());
    let query_ids = (0..queries).map(|q| q.to_string()).collect();
    Dataset::new(Parts { features, labels, bounds, query_ids, query_weights, ..Parts::default() }).unwrap()
}

/// Trains with these parameters on one machine and on workers, and compares.
fn assert_same(name: &str, parameters: &str, train: &Dataset, valid: Option<&Dataset>) {
    let given: Table = parameters.parse().unwrap();
    let learner = find(name).unwrap().configure(&given).unwrap();
    assert_same_on_workers(&learner, train, valid, &format!("{name} with {parameters:?}"));
}

/// What a driver and its workers get.
fn fit_on_workers(name: &str, parameters: &str, metric: &str, train: &Dataset) -> Vec<Result<Fitted>> {
    let given: Table = parameters.parse().unwrap();
    let learner = find(name).unwrap().configure(&given).unwrap();
    let metric = parse(metric, &Conventions::default()).unwrap();
    let (driver, mut others) = with_workers(train, None, 3, |train, _| {
        learner.train(&Task::new(train, &*metric, 1), &mut Silent::default())
    });
    others.push(driver);
    others
}

#[test]
fn direct_methods_on_odd_data() {
    for is_sparse in [false, true] {
        // With four queries, most of seven workers have none.
        for queries in [4, 50] {
            let (train, valid) =
                (odd_data(1, queries, 9, is_sparse), odd_data(2, queries.div_ceil(2), 9, is_sparse));
            for valid in [None, Some(&valid)] {
                assert_same("ada-rank", "iterations = 12", &train, valid);
                assert_same("ada-rank", "iterations = 5\nscale = false\nmax_repeats = 0", &train, valid);
                assert_same("coordinate-ascent", "restarts = 3\npasses = 3\nsteps = 4", &train, valid);
            }
        }
    }
}

#[test]
fn a_metric_that_ada_rank_refuses_is_refused_by_all() {
    let train = odd_data(1, 50, 5, false);
    let messages = fit_on_workers("ada-rank", "", "dcg@5", &train).into_iter();
    let messages: Vec<String> = messages.map(|fitted| fitted.unwrap_err().to_string()).collect();
    assert!(messages[0].contains("a metric of at most 1"), "{}", messages[0]);
    assert!(messages.iter().all(|message| *message == messages[0]), "{messages:?}");
}

#[test]
fn the_same_queries_are_held_out() {
    let (data, metric) = (odd_data(3, 120, 4, false), parse("ndcg@5", &Conventions::default()).unwrap());
    let held = |train: &Dataset| {
        let task = Task::new(train, &*metric, 5);
        let holdout = Holdout::of(&task, FRACTION);
        let inner = holdout.task(&task);
        let ids = |data: &Dataset| data.gather(|| data.queries().map(|q| q.id().to_string()).collect());
        let sets = [inner.train, inner.valid.unwrap()];
        (sets.map(ids), sets.map(|data| data.whole().documents), holdout.note.clone())
    };
    let alone = held(&data);
    assert!(alone.0[1].len() > 5 && alone.0[0].len() + alone.0[1].len() == 120);
    for workers in [1, 2, 7] {
        let (driver, others) = with_workers(&data, None, workers, |train, _| held(train));
        others.iter().chain([&driver]).for_each(|held| assert_eq!(*held, alone));
    }
    // Too few queries: on all workers, not only on one.
    let few = odd_data(3, 20, 4, false);
    let note = |train: &Dataset| Holdout::of(&Task::new(train, &*metric, 5), FRACTION).note;
    let (driver, others) = with_workers(&few, None, 3, |train, _| note(train));
    assert!(others.iter().chain([&driver]).all(|found| *found == note(&few)));
    assert!(driver.unwrap().contains("too few"));
}

#[test]
fn weak_rankers_on_odd_data() {
    for is_sparse in [false, true] {
        let (train, valid) = (odd_data(1, 50, 9, is_sparse), odd_data(2, 20, 9, is_sparse));
        let few = odd_data(1, 4, 9, is_sparse);
        for name in ["rank-boost", "frank", "ndcg-boost"] {
            assert_same(name, "iterations = 4", &train, Some(&valid));
            assert_same(name, "iterations = 3\nthresholds = 7", &few, None);
        }
        assert_same("frank", "iterations = 3", &train, None);
        assert_same("rank-boost", "iterations = 3\nstep = 'exact'", &train, None);
        assert_same("ndcg-boost", "iterations = 4\nsample = 0.4", &train, None);
        assert_same("ndcg-boost", "iterations = 2\nweak = 'tree'\nthresholds = 0", &train, None);
        assert_same("random-forest", "num_trees = 3\nnum_leaves = 5\nbagging_fraction = 0.7", &train, None);
        assert_same("random-forest", "num_trees = 2\nmin_data_in_leaf = 1", &few, None);
    }
}

/// More features than frank compares: those are chosen by the gradients of all documents.
#[test]
fn frank_compares_the_same_features() {
    let train = odd_data(4, 20, 1100, true);
    assert_same("frank", "iterations = 2\nthresholds = 3", &train, None);
}

#[test]
fn all_thresholds_are_refused_on_divided_data() {
    for fitted in fit_on_workers("rank-boost", "thresholds = 0", "ndcg", &odd_data(1, 20, 3, false)) {
        let message = fitted.unwrap_err().to_string();
        assert!(message.contains("a number from 1 to 254"), "{message}");
    }
}
