//! Boosted trees on divided data: every setting of the trees, and every kind of data, gives the model of one machine.

use crate::data::{Categories, Dataset, Features, Parts};
use crate::learners::find;
use crate::learners::sharded::assert_same_on_workers;
use crate::rng;
use rand::RngExt;
use toml::Table;

/// Queries of different sizes with weights. Column 0 has categories, column 1 missing values, column 2 mostly zeros, and
/// column 3 many distinct values.
fn queries(seed: u64, count: usize, sparse: bool) -> Dataset {
    let mut random = rng::stream(seed, &[]);
    let sizes: Vec<usize> = (0..count).map(|q| 3 + q * 7 % 19).collect();
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..sizes.iter().sum() {
        let x: [f32; 4] = random.random();
        let category = (x[0] * 9.0).floor();
        let missing = if x[1] < 0.2 { f32::NAN } else { x[1] };
        let seldom = if x[2] < 0.7 { 0.0 } else { x[2] };
        let utility = (category % 3.0) + 2.0 * seldom + x[3] + random.random::<f32>();
        labels.push(utility.floor().min(4.0));
        rows.push([category, missing, seldom, x[3]]);
    }
    let features = if sparse { sparse_rows(&rows) } else { Features::dense(4, rows.concat()) };
    let mut bounds = vec![0];
    sizes.iter().for_each(|size| bounds.push(bounds[bounds.len() - 1] + size));
    Dataset::new(Parts {
        features,
        labels,
        bounds,
        query_ids: (0..count).map(|q| format!("{q:04}")).collect(),
        query_weights: Some((0..count).map(|q| 0.5 + (q % 4) as f32).collect()),
        ..Parts::default()
    })
    .unwrap()
}

fn sparse_rows(rows: &[[f32; 4]]) -> Features {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        for (column, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            columns.push(column as u32);
            values.push(x);
        }
        starts.push(values.len());
    }
    Features::Sparse { width: 4, starts, columns, values }
}

fn assert_same(learner: &str, settings: &str, train: &Dataset, valid: Option<&Dataset>) {
    let mut given: Table = "iterations = 12\nmin_data_in_leaf = 3".parse().unwrap();
    given.extend(settings.parse::<Table>().unwrap());
    let configured = find(learner).unwrap().configure(&given).unwrap();
    assert_same_on_workers(&configured, train, valid, &format!("{learner} with {settings}"));
}

#[test]
fn every_setting_of_trees() {
    let (train, valid) = (queries(1, 70, false), queries(2, 30, false));
    for settings in [
        "dropout = 0.3",
        "bagging_fraction = 0.6",
        "feature_fraction = 0.5",
        "feature_fraction_per_split = 0.5",
        "growth_policy = 'level-wise'\nmax_depth = 3",
        "growth_policy = 'oblivious'\nnum_leaves = 16",
        "monotone = '3:up, 4:up'",
        "max_bin = 15",
        "max_bin = 400",
        "early_stopping_rounds = 2\nlearning_rate = 0.9",
        "l1 = 0.1\nl2 = 3.0\nmin_split_gain = 0.01",
        "num_leaves = 2",
        "num_leaves = 200\nmin_data_in_leaf = 1",
    ] {
        assert_same("lambda-mart", settings, &train, Some(&valid));
    }
    assert_same("mcrank", "classes = 'ordinal'\nbagging_fraction = 0.7", &train, Some(&valid));
    assert_same("gb-rank", "initial_iterations = 4\nbagging_fraction = 0.7", &train, Some(&valid));
}

#[test]
fn categories_sparse_rows_and_few_queries() {
    let with_categories =
        |data: Dataset| data.with_categories(Categories::default().with_numbers([0])).unwrap();
    for sparse in [false, true] {
        let train = with_categories(queries(3, 60, sparse));
        for settings in ["", "growth_policy = 'oblivious'\nnum_leaves = 8", "max_onehot_categories = 20"] {
            assert_same("lambda-mart", settings, &train, None);
        }
    }
    // Most workers have nothing to do.
    assert_same("lambda-mart", "min_data_in_leaf = 1", &queries(4, 2, false), None);
    assert_same("mart", "min_data_in_leaf = 1", &queries(5, 1, true), None);
}
