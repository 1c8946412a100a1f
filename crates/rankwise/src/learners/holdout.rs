//! Queries held out of training for early stopping, if there is no validation data.

use super::Task;
use super::parameters::check_not_negative;
use crate::data::{Dataset, Query};
use crate::error::{Error, Result};
use crate::metrics::{Metric, MetricOfLabels};
use crate::rng;
use rand::seq::SliceRandom;

/// Fraction of the training queries that is held out, unless given.
pub(super) const FRACTION: f64 = 0.2;
/// With fewer training queries than this, none is held out: a few queries would choose by chance.
const FEWEST: usize = 30;
/// Name of the random stream, after the seed.
const HELD_OUT: u64 = u64::MAX - 13;

/// Rejects a fraction out of range.
pub(super) fn check_fraction(fraction: f64) -> Result<()> {
    check_not_negative("validation_fraction", fraction)?;
    if fraction > 0.5 {
        return Err(Error::parameter(format!("validation_fraction is {fraction}; it must be at most 0.5")));
    }
    Ok(())
}

/// Whether the metric of a query depends on the order of its documents.
fn can_choose(query: &Query<'_>, metric: &dyn Metric) -> bool {
    let labels = query.labels();
    query.weight() > 0.0 && !metric.is_undefined(labels) && labels.iter().any(|l| *l != labels[0])
}

/// The number of queries that can be held out, and the numbers of those that are, ascending.
fn draw(task: &Task<'_>, fraction: f64) -> (usize, Vec<u64>) {
    let able = || {
        let metric = MetricOfLabels::of(task.train, task.metric);
        let able = task.train.queries().filter(|q| can_choose(q, &*metric));
        able.map(|q| q.number()).collect::<Vec<u64>>()
    };
    task.train.decide(able, |able| {
        let mut able = able.concat();
        let usable = able.len();
        able.shuffle(&mut rng::stream(task.seed, &[HELD_OUT]));
        able.truncate(((usable as f64 * fraction).round() as usize).max(1));
        able.sort_unstable();
        (usable, able)
    })
}

/// The queries that are held out, and a note about them for the training record.
pub(super) struct Holdout {
    /// The training queries that are left, and those held out.
    sets: Option<(Dataset, Dataset)>,
    /// What was done, unless the user decided it.
    pub(super) note: Option<String>,
}

impl Holdout {
    /// Holds out a random `fraction` of the training queries, unless there is validation data or the fraction
    /// is 0.
    pub(super) fn of(task: &Task<'_>, fraction: f64) -> Holdout {
        if task.valid.is_some() || fraction == 0.0 {
            return Holdout { sets: None, note: None };
        }
        let (usable, held) = draw(task, fraction);
        let all = task.train.whole().queries;
        if usable < FEWEST {
            let note = format!(
                "there is no validation data, and {usable} training queries are too few to hold some out, so \
                 training used all iterations; give validation data to choose the best one"
            );
            return Holdout { sets: None, note: Some(note) };
        }
        let note = format!(
            "there is no validation data, so {} of {all} training queries were held out to choose the best \
             iteration; validation_fraction = 0 trains on all of them",
            held.len()
        );
        let is_held = |q: &usize| held.binary_search(&task.train.query(*q).number()).is_ok();
        let (valid, train): (Vec<usize>, Vec<usize>) = (0..task.train.query_count()).partition(is_held);
        let [train, valid] = [train, valid].map(|queries| task.train.keep_queries(&queries));
        Holdout { sets: Some((train, valid)), note: Some(note) }
    }

    /// The task without the queries that are held out, which become validation queries.
    pub(super) fn task<'a>(&'a self, task: &Task<'a>) -> Task<'a> {
        match &self.sets {
            Some((train, valid)) => Task { train, valid: Some(valid), ..task.clone() },
            None => task.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learners::find;
    use crate::metrics::{Conventions, parse};
    use crate::watch::Silent;
    use rand::RngExt;
    use toml::Table;

    /// Queries of six documents whose label is half noise.
    fn data(queries: usize) -> Dataset {
        let mut random = rng::stream(5, &[]);
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for document in 0..queries * 6 {
            let row: [f32; 3] = random.random();
            values.extend(row);
            // Two labels in every query: it can choose.
            labels.push(match document % 6 {
                0 => 0.0,
                1 => 3.0,
                _ => (2.0 * row[0] + 2.0 * random.random::<f32>()).floor().min(3.0),
            });
        }
        Dataset::dense(values, 3, labels, &vec![6; queries]).unwrap()
    }

    #[test]
    fn a_fifth_of_enough_queries_is_held_out_and_the_seed_decides_which() {
        let (train, metric) = (data(40), parse("ndcg@10", &Conventions::default()).unwrap());
        let ids = |data: &Dataset| data.queries().map(|q| q.id().to_string()).collect::<Vec<_>>();
        let held = |seed: u64| {
            let task = Task::new(&train, &*metric, seed);
            let holdout = Holdout::of(&task, FRACTION);
            let inner = holdout.task(&task);
            let (kept, held) = (ids(inner.train), ids(inner.valid.unwrap()));
            let mut all = [kept.clone(), held.clone()].concat();
            all.sort();
            let mut expected = ids(&train);
            expected.sort();
            assert_eq!(all, expected, "each query is on one side");
            assert!(holdout.note.unwrap().contains("8 of 40 training queries"));
            held
        };
        assert_eq!(held(1).len(), 8);
        assert_eq!(held(1), held(1));
        assert_ne!(held(1), held(2));
    }

    #[test]
    fn nothing_is_held_out_if_not_asked_for_or_with_few_queries_or_with_validation_data() {
        let metric = parse("ndcg@10", &Conventions::default()).unwrap();
        let (many, few) = (data(40), data(FEWEST - 1));
        let none = |task: &Task<'_>, fraction: f64| {
            let holdout = Holdout::of(task, fraction);
            assert!(holdout.sets.is_none() && std::ptr::eq(holdout.task(task).train, task.train));
            holdout.note
        };
        assert_eq!(none(&Task::new(&many, &*metric, 1), 0.0), None);
        assert_eq!(none(&Task { valid: Some(&few), ..Task::new(&many, &*metric, 1) }, FRACTION), None);
        let note = none(&Task::new(&few, &*metric, 1), FRACTION).unwrap();
        assert!(note.contains("29 training queries are too few"), "{note}");
        assert!(check_fraction(0.6).is_err() && check_fraction(-0.1).is_err() && check_fraction(0.5).is_ok());
    }

    /// The learners that overfit hold out queries and say so; setting the fraction to 0 turns it off.
    #[test]
    fn networks_and_frank_hold_out_queries_by_default_and_say_so() {
        let (train, metric) = (data(40), parse("ndcg@10", &Conventions::default()).unwrap());
        for settings in [("frank", "iterations = 5"), ("list-net", "scorer = 'network'\nepochs = 3")] {
            let notes = |extra: &str| {
                let given: Table = format!("{}\n{extra}", settings.1).parse().unwrap();
                let learner = find(settings.0).unwrap().configure(&given).unwrap();
                let fitted = learner.train(&Task::new(&train, &*metric, 1), &mut Silent::default()).unwrap();
                fitted.record.notes
            };
            let says_so = |notes: &[String]| notes.iter().any(|note| note.contains("held out"));
            assert!(says_so(&notes("")), "{}", settings.0);
            assert!(!says_so(&notes("validation_fraction = 0.0")), "{}", settings.0);
        }
    }
}
