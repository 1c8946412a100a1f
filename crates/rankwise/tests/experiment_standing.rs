//! Means, orders, intervals and tests of systems, against what comes out by hand.

use rankwise::experiment::findings::Standing;
use rankwise::experiment::significance::ConfidenceInterval;
use rankwise::experiment::standing::{DataValues, StandingTerms, pooled, standing};
use rankwise::experiment::{Comparison, ComparisonOptions, PerQuery, SystemMeans, SystemValues};

type Values = Option<PerQuery>;

/// One system and one metric; a negative number stands for a skipped query.
fn one(values: &[f64]) -> Values {
    Some(PerQuery::new(vec![values.iter().map(|&v| Some(v).filter(|v| *v >= 0.0)).collect()]))
}

fn names(n: usize) -> Vec<String> {
    (0..n).map(|s| format!("s{s}")).collect()
}

fn ids(n: usize) -> Vec<String> {
    (0..n).map(|q| format!("q{q}")).collect()
}

fn stand(values: &[Values], folds: &[usize]) -> Standing {
    let (names, ids) = (names(values.len()), ids(folds.len()));
    let part = DataValues { name: "data", values, query_folds: folds, query_ids: &ids };
    standing(&part, &StandingTerms { systems: &names, metrics: 1, selection: 0, seed: 3 }).unwrap()
}

fn assert_near(found: &SystemMeans, expected: &[Option<f64>]) {
    assert_eq!(found.systems(), expected.len());
    for (found, &expected) in found.metric(0).zip(expected) {
        let near = found.zip(expected).is_some_and(|(f, e)| (f - e).abs() < 1e-15);
        assert!(near || (found.is_none() && expected.is_none()), "{found:?}, expected {expected:?}");
    }
}

#[test]
fn means_over_queries_and_over_unequal_folds_leave_out_what_is_skipped() {
    let values = [
        one(&[0.2, 0.4, 0.9]),
        one(&[-1.0, 0.5, 0.2]),
        one(&[0.2, 0.4, -1.0]),
        one(&[-1.0, -1.0, -1.0]),
        None,
    ];
    let found = stand(&values, &[0, 0, 1]);
    assert_eq!(found.queries, 3);
    assert_near(&found.means, &[Some(0.5), Some(0.35), Some(0.3), None, None]);
    assert_near(&found.fold_means, &[Some(0.6), Some(0.35), Some(0.3), None, None]);
    assert_eq!(found.order, [0, 1, 2]);
    assert_eq!(
        found.intervals.iter().map(Option::is_some).collect::<Vec<_>>(),
        [true, true, true, false, false]
    );
}

#[test]
fn the_best_stands_first_and_equals_keep_their_order() {
    let values = [one(&[0.5, 0.5]), one(&[0.75, 0.5]), None, one(&[0.0, 1.0]), one(&[0.5, 0.75])];
    assert_eq!(stand(&values, &[0, 1]).order, [1, 4, 0, 3]);
}

#[test]
fn only_the_selection_metric_orders_systems() {
    let of = |first, second| Some(PerQuery::new(vec![vec![Some(first)], vec![Some(second)]]));
    let values = [of(0.9, 0.1), of(0.2, 0.3)];
    let (names, ids) = (names(2), ids(1));
    let part = DataValues { name: "data", values: &values, query_folds: &[0], query_ids: &ids };
    let by = |selection| {
        let terms = StandingTerms { systems: &names, metrics: 2, selection, seed: 3 };
        standing(&part, &terms).unwrap()
    };
    assert_eq!((by(0).order, by(1).order), (vec![0, 1], vec![1, 0]));
    assert_eq!(by(1).intervals[1], Some(ConfidenceInterval { low: 0.3, high: 0.3 }));
}

#[test]
fn comparisons_are_those_that_comparing_gives_and_count_in_the_order() {
    // The second system wins on all three queries against both others: 2 of 8 sign assignments reach its sum.
    let values = [one(&[0.1, 0.2, 0.3]), one(&[0.9, 0.8, 0.7]), None, one(&[0.5, 0.5, 0.5])];
    let found = stand(&values, &[0, 0, 0]);
    assert_eq!(found.order, [1, 3, 0]);
    let best = found.against_best.as_ref().unwrap();
    assert_eq!(best.pairs.iter().map(|p| (p.system, p.against)).collect::<Vec<_>>(), [(1, 0), (2, 0)]);
    assert!(best.pairs.iter().all(|p| p.p_permutation == 0.25 && p.p_permutation_holm == 0.5));
    assert_eq!(found.all_pairs.as_ref().unwrap().pairs.len(), 3);
    let worst = found.against_best_of(0).unwrap();
    assert_eq!((worst.wins, worst.losses), (0, 3));
    assert_eq!([1, 2].map(|s| found.against_best_of(s)), [None, None]);
    // Testing again with the best as the baseline gives the same.
    let system = |s: usize| SystemValues {
        name: format!("s{s}"),
        values: values[s].as_ref().unwrap().metric(0).to_vec(),
    };
    let options = ComparisonOptions { baseline: Some(0), seed: 3, ..ComparisonOptions::default() };
    let again = Comparison::new(&[1, 3, 0].map(system), &ids(3).iter().collect(), &options).unwrap();
    assert_eq!(best, &again);
}

#[test]
fn intervals_are_of_the_queries_a_system_has_values_on() {
    // [0, 0, 1]: all of one kind in 8/27 and 1/27 of the resamples, more than 2.5 % each. [½, ½, ½, 0.1]: the 0.1 is
    // drawn 4 times in 0.4 % and at least 3 times in 5.1 % of the resamples, and never in 32 %.
    let found = stand(&[one(&[0.0, 0.0, 1.0, -1.0]), one(&[0.5, 0.5, 0.5, 0.1])], &[0; 4]);
    let [Some(first), Some(second)] = found.intervals[..] else { panic!("both have one") };
    assert_eq!((first.low, first.high), (0.0, 1.0));
    assert!((second.low - 0.2).abs() < 1e-12 && (second.high - 0.5).abs() < 1e-12, "{second:?}");
    assert_eq!(found.all_pairs.unwrap().skipped, ["q3"]);
}

#[test]
fn one_system_has_an_interval_and_no_comparison() {
    let found = stand(&[one(&[0.0, 0.0, 1.0])], &[0, 1, 2]);
    assert_eq!(found.intervals, [Some(ConfidenceInterval { low: 0.0, high: 1.0 })]);
    assert_eq!((found.against_best, found.all_pairs), (None, None));
}

#[test]
fn systems_without_a_query_in_common_are_not_compared() {
    let found = stand(&[one(&[0.5, -1.0]), one(&[-1.0, 0.6])], &[0, 0]);
    assert_eq!((found.order, found.all_pairs), (vec![1, 0], None));
    let nothing = stand(&[None, None], &[0, 0]);
    assert_eq!(nothing.order.len(), 0);
    assert_near(&nothing.means, &[None, None]);
}

#[test]
fn pooling_counts_every_query_once_and_every_fold_once() {
    let small = [one(&[1.0, 0.0]), one(&[0.5, -1.0]), one(&[0.5, 0.5])];
    let large = [one(&[0.2, 0.2, 0.4, 0.4]), one(&[0.1, 0.1, 0.1, 0.1]), None];
    let (two, four) = (ids(2), ids(4));
    let parts = [
        DataValues { name: "small", values: &small, query_folds: &[0, 1], query_ids: &two },
        DataValues { name: "large", values: &large, query_folds: &[0, 0, 0, 1], query_ids: &four },
    ];
    let names = names(3);
    let found =
        pooled(&parts, &StandingTerms { systems: &names, metrics: 1, selection: 0, seed: 3 }).unwrap();
    assert_eq!(found.queries, 6);
    assert_near(&found.means, &[Some(2.2 / 6.0), Some(0.9 / 5.0), None]);
    // Folds: 1, 0, 0.8/3 and 0.4; for the second system 0.5, skipped, 0.1 and 0.1.
    assert_near(&found.fold_means, &[Some((1.4 + 0.8 / 3.0) / 4.0), Some(0.7 / 3.0), None]);
    assert_eq!(found.order, [0, 1]);
    assert_eq!(found.all_pairs.unwrap().skipped, ["small/q1"]);
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let refusal = |values: &[Values], folds: &[usize], selection: usize| {
        let (names, ids) = (names(1), ids(2));
        let part = DataValues { name: "web", values, query_folds: folds, query_ids: &ids };
        let terms = StandingTerms { systems: &names, metrics: 1, selection, seed: 3 };
        standing(&part, &terms).unwrap_err().to_string()
    };
    let good = [one(&[0.5, 0.5])];
    assert!(refusal(&good, &[0], 0).contains("1 of 2 queries"));
    assert!(refusal(&good, &[0, 0], 1).contains("on `web`"));
    assert!(refusal(&[one(&[0.5])], &[0, 0], 0).contains("`s0`"));
    assert!(refusal(&[one(&[0.5, f64::INFINITY])], &[0, 0], 0).contains("inf"));
    assert!(refusal(&[None, None], &[0, 0], 0).contains("2 of 1 systems"));
}
