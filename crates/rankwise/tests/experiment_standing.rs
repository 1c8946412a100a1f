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
    let part = DataValues { name: "data", values, query_folds: folds, query_ids: &ids, query_weights: None };
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
    let part =
        DataValues { name: "data", values: &values, query_folds: &[0], query_ids: &ids, query_weights: None };
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
    let all = found.all_pairs.as_ref().unwrap();
    assert_eq!(all.pairs.iter().map(|p| (p.system, p.against)).collect::<Vec<_>>(), [(1, 0), (2, 0), (2, 1)]);
    // Holm's correction for three pairs with the same p.
    assert!(all.pairs.iter().all(|p| p.p_permutation == 0.25 && p.p_permutation_holm == 0.75));
    assert_eq!(found.against_best_of(0), Some(&all.pairs[1]), "the leaderboard shows what the matrix shows");
    assert_eq!(found.against_best_of(3), Some(&all.pairs[0]));
    assert_eq!((all.pairs[1].wins, all.pairs[1].losses), (0, 3));
    assert_eq!([1, 2].map(|s| found.against_best_of(s)), [None, None]);
    // Comparing the systems in this order gives the same.
    let system = |s: usize| SystemValues {
        name: format!("s{s}"),
        values: values[s].as_ref().unwrap().metric(0).to_vec(),
    };
    let options = ComparisonOptions { seed: 3, ..ComparisonOptions::default() };
    let again = Comparison::new(&[1, 3, 0].map(system), &ids(3).iter().collect(), &options).unwrap();
    assert_eq!(all, &again);
}

/// Queries with weights 1, 2 and 3 in two folds.
#[test]
fn means_are_weighted_by_query_weight() {
    let values = [one(&[0.2, 0.4, 0.9]), one(&[0.4, -1.0, 0.3])];
    let (names, ids, weights) = (names(2), ids(3), [1.0, 2.0, 3.0]);
    let part = DataValues {
        name: "data",
        values: &values,
        query_folds: &[0, 0, 1],
        query_ids: &ids,
        query_weights: Some(&weights),
    };
    let terms = StandingTerms { systems: &names, metrics: 1, selection: 0, seed: 3 };
    let found = standing(&part, &terms).unwrap();
    assert_near(&found.means, &[Some((0.2 + 0.8 + 2.7) / 6.0), Some((0.4 + 0.9) / 4.0)]);
    assert_near(&found.fold_means, &[Some((1.0 / 3.0 + 0.9) / 2.0), Some(0.35)]);
    let all = found.all_pairs.unwrap();
    assert!(all.weighted);
    assert!((all.systems[0].mean - (0.2 + 2.7) / 4.0).abs() < 1e-15, "on the queries that both have");
    // Two data sets together, one without weights: its queries have weight 1.
    let plain = [one(&[0.5, 0.5]), one(&[0.0, 1.0])];
    let two = &ids[..2];
    let other = DataValues {
        name: "plain",
        values: &plain,
        query_folds: &[0, 0],
        query_ids: two,
        query_weights: None,
    };
    let both = pooled(&[part, other], &terms).unwrap();
    assert_near(&both.means, &[Some(4.7 / 8.0), Some(2.3 / 6.0)]);
}

#[test]
fn tests_and_intervals_are_of_the_weighted_mean() {
    let system =
        |name: &str, values: [f64; 4]| SystemValues { name: name.into(), values: values.map(Some).into() };
    let systems = [system("a", [0.0, 0.1, 0.1, 0.1]), system("b", [0.5, 0.0, 0.0, 0.0])];
    let options = ComparisonOptions::default();
    let compare = |weights: [f64; 4]| {
        let ids = ids(4).iter().collect();
        Comparison::weighted(&systems, &ids, &weights, &options).unwrap().pairs.remove(0)
    };
    // |±0.5 ± 0.1 ± 0.1 ± 0.1| is never below 0.2.
    let plain = compare([1.0; 4]);
    assert_eq!((plain.p_permutation, plain.wins, plain.losses), (1.0, 1, 3));
    assert!((plain.difference - 0.05).abs() < 1e-15);
    // The differences become 0.5, −0.1, −0.1 and −1: of the 8 sums with + before 1, 1.7, 1.5, 1.5, 1.3 and 0.7 reach 0.7.
    let weighted = compare([1.0, 1.0, 1.0, 10.0]);
    assert_eq!((weighted.p_permutation, weighted.wins, weighted.losses), (5.0 / 8.0, 1, 3));
    assert!((weighted.difference - -0.7 / 13.0).abs() < 1e-15);
    // Equal weights change nothing, and a query of weight 0 does not exist.
    let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
    let equal = compare([7.0; 4]);
    assert!(
        equal.p_permutation == 1.0
            && close(equal.p_t, plain.p_t)
            && close(equal.interval.low, plain.interval.low)
    );
    assert_eq!(compare([0.0, 1.0, 1.0, 1.0]).wins, 0);
    // Of two queries with values 0 and 1 and weights 1 and 3, half of the resamples have the mean 3/4, a quarter 0 and
    // a quarter 1: the middle 40 % are all 3/4.
    let two = [vec![Some(0.0), Some(1.0)], vec![Some(0.0), Some(0.0)]];
    let two = two.map(|values| SystemValues { name: "x".into(), values });
    let options = ComparisonOptions { confidence: 0.4, ..options };
    let found = Comparison::weighted(&two, &ids(2).iter().collect(), &[1.0, 3.0], &options).unwrap();
    assert_eq!(found.systems[0].interval, ConfidenceInterval { low: 0.75, high: 0.75 });
    assert_eq!(found.pairs[0].interval, ConfidenceInterval { low: -0.75, high: -0.75 });
    for (weights, why) in [(vec![1.0], "1 query weights for 2"), (vec![1.0, -1.0], "`q1` is -1")] {
        let error = Comparison::weighted(&two, &ids(2).iter().collect(), &weights, &options).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
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
    assert_eq!(found.all_pairs, None);
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
        DataValues {
            name: "small",
            values: &small,
            query_folds: &[0, 1],
            query_ids: &two,
            query_weights: None,
        },
        DataValues {
            name: "large",
            values: &large,
            query_folds: &[0, 0, 0, 1],
            query_ids: &four,
            query_weights: None,
        },
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
        let part =
            DataValues { name: "web", values, query_folds: folds, query_ids: &ids, query_weights: None };
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
