//! Every learner that can be trained on divided data gives the model of one machine, to the last bit.

use super::entry::Configured;
use super::{Fitted, LEARNERS, ScorerKind, Task};
use crate::data::{Dataset, Features, Parts, Synth, with_workers};
use crate::metrics::{Conventions, parse};
use crate::watch::Silent;
use toml::Table;

/// Short training, for parameters that a learner has.
const SHORT: [(&str, i64); 9] = [
    ("iterations", 6),
    ("early_stopping_rounds", 3),
    ("epochs", 2),
    ("samples", 50),
    ("redraws", 2),
    ("reorderings", 2),
    ("num_leaves", 7),
    ("num_trees", 3),
    ("passes", 2),
];

fn synthetic(seed: u64, queries: usize) -> Dataset {
    let shape = Synth { queries: Some(queries), documents: Some(12), seed, ..Synth::demo() };
    shape.generate().unwrap()
}

/// Trains on one machine, and on 1, 2, 3 and 7 workers; compares what the driver and every worker find.
pub(super) fn assert_same_on_workers(
    learner: &Configured,
    train: &Dataset,
    valid: Option<&Dataset>,
    what: &str,
) {
    let metric = parse("ndcg@5", &Conventions::default()).unwrap();
    let fit = |train: &Dataset, valid: Option<&Dataset>| -> Fitted {
        let task = Task { valid, ..Task::new(train, &*metric, 3) };
        learner.train(&task, &mut Silent::default()).unwrap_or_else(|e| panic!("{what}: {e}"))
    };
    let alone = fit(train, valid);
    for workers in [1, 2, 3, 7] {
        let (driver, others) = with_workers(train, valid, workers, fit);
        for fitted in [driver].into_iter().chain(others) {
            assert!(alone == fitted, "{what} on {workers} workers:\n{alone:#?}\n{fitted:#?}");
        }
    }
}

#[test]
fn learners_give_the_same_on_any_number_of_workers() {
    let (train, valid) = (synthetic(1, 60), synthetic(2, 30));
    let mut able = 0;
    for entry in LEARNERS {
        let scorers: Vec<Option<ScorerKind>> = match entry.scorers() {
            none if none.is_empty() => vec![None],
            some => some.into_iter().map(Some).collect(),
        };
        for scorer in scorers {
            let name = scorer.map_or(String::new(), |kind| format!(" with {}", kind.name()));
            let what = format!("{}{name}", entry.card.name);
            let mut given = Table::new();
            let known = match scorer {
                Some(kind) => entry.parameters_with(kind.name()).unwrap(),
                None => entry.parameters(),
            };
            scorer.map(|kind| given.insert("scorer".into(), kind.name().into()));
            for (name, value) in SHORT.into_iter().filter(|(name, _)| known.iter().any(|p| p.name == *name)) {
                given.insert(name.into(), value.into());
            }
            let learner = entry.configure(&given).unwrap_or_else(|e| panic!("{what}: {e}"));
            if learner.distributes {
                able += 1;
                assert_same_on_workers(&learner, &train, Some(&valid), &what);
                assert_same_on_workers(&learner, &train, None, &what);
            }
        }
    }
    assert!(able > 0);
}

/// One learner for each way in which linear models are optimised.
const LINEAR: [&str; 12] = [
    "learner = 'rank-svm'\niterations = 5",
    "learner = 'rank-svm'\nscale = false\niterations = 5",
    "learner = 'rank-svm'\nloss = 'squared-hinge'\niterations = 3",
    "learner = 'ir-svm'\niterations = 3",
    "learner = 'list-net'\nscale = false\niterations = 4",
    "learner = 'tie-random'\niterations = 3",
    "learner = 'lambda-rank'\nscorer = 'linear'\niterations = 6\nreorderings = 2",
    "learner = 'regression'",
    "learner = 'oc-svm'\niterations = 3",
    "learner = 'oc-svm'\nconstraints = 'implicit'\nbalance = false\nscale = false\niterations = 3",
    "learner = 'exp-gain'\nmethod = 'sampled'\nsamples = 20\nstarts = 2\niterations = 3",
    "learner = 'l3'\nmethod = 'adaptive'\nsamples = 20\nredraws = 2\nstarts = 1\niterations = 3",
];

fn assert_linear_learners_agree(what: &str, data: &Dataset) {
    for settings in LINEAR {
        let mut given: Table = settings.parse().unwrap();
        let name = given.remove("learner").unwrap();
        let learner = super::find(name.as_str().unwrap()).unwrap().configure(&given).unwrap();
        assert!(learner.distributes, "{settings}");
        assert_same_on_workers(&learner, data, Some(data), &format!("{settings}\nwith {what}"));
    }
}

/// 40 queries with few features, after a change of their parts.
fn changed(change: impl FnOnce(&mut Parts)) -> Dataset {
    let shape = Synth { queries: Some(40), documents: Some(8), features: Some(6), seed: 5, ..Synth::demo() };
    let mut parts = shape.generate().unwrap().into_parts();
    change(&mut parts);
    Dataset::new(parts).unwrap()
}

#[test]
fn linear_learners_agree_with_query_weights_of_which_some_are_0() {
    let weights = (0..40).map(|q| (q % 5) as f32 / 3.0).collect();
    assert_linear_learners_agree("query weights", &changed(|parts| parts.query_weights = Some(weights)));
}

#[test]
fn linear_learners_agree_on_sparse_rows_and_missing_values() {
    let missing = |parts: &mut Parts| {
        parts.features.values_mut().iter_mut().step_by(11).for_each(|value| *value = f32::NAN);
    };
    assert_linear_learners_agree("missing values", &changed(missing));
    let data = changed(missing);
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for r in 0..data.len() {
        for (c, value) in data.row(r).iter().filter(|(c, value)| (r + c) % 3 == 0 && *value != 0.0) {
            columns.push(c as u32);
            values.push(value);
        }
        starts.push(values.len());
    }
    let features = Features::Sparse { width: data.width(), starts, columns, values };
    assert_linear_learners_agree("sparse rows", &changed(|parts| parts.features = features));
}

/// A third of the workers have only queries that linear models skip.
#[test]
fn linear_learners_agree_where_workers_have_queries_without_signal() {
    let data = changed(|parts| {
        let end = parts.bounds[14];
        parts.labels[..end].fill(1.0);
        let start = parts.bounds[39];
        parts.labels[start..].fill(0.0);
    });
    assert_linear_learners_agree("queries without signal", &data);
}

#[test]
fn linear_learners_agree_where_workers_have_no_queries() {
    let all = changed(|_| ());
    assert_linear_learners_agree("two queries", &all.select_queries(&[3, 4]));
    assert_linear_learners_agree("one query", &all.select_queries(&[3]));
}

#[test]
fn a_max_margin_model_of_many_features_is_refused_on_divided_data() {
    let (queries, width) = (20, 1001);
    let values = (0..2 * queries * width).map(|i| (i % 7) as f32).collect();
    let labels = (0..2 * queries).map(|i| (i % 2) as f32).collect();
    let data = Dataset::dense(values, width, labels, &vec![2; queries]).unwrap();
    let learner = super::find("rank-svm").unwrap().configure(&Table::new()).unwrap();
    let metric = parse("ndcg@5", &Conventions::default()).unwrap();
    let fit = |train: &Dataset, _: Option<&Dataset>| {
        learner.train(&Task::new(train, &*metric, 3), &mut Silent::default()).map_err(|e| e.to_string())
    };
    assert!(fit(&data, None).is_ok());
    let (driver, others) = with_workers(&data, None, 2, fit);
    for refused in others.into_iter().chain([driver]) {
        let message = refused.unwrap_err();
        assert!(message.contains("1001 features") && message.contains("scorer trees"), "{message}");
    }
}
