use super::*;
use crate::data::Features;
use crate::learners::direct::samples::*;
use crate::metrics::{Conventions, Empty, parse};
use crate::watch::Silent;

fn fit(learner: &AdaRank, train: &Dataset, valid: Option<&Dataset>) -> Fitted {
    let metric = ndcg();
    let task = Task { valid, ..Task::new(train, &*metric, 3) };
    learner.fit(&task, &mut Silent::default()).unwrap()
}

/// The columns chosen in `rounds` rounds.
fn chosen_columns(data: &Dataset, repeats: u64, rounds: usize) -> Vec<usize> {
    let metric = ndcg();
    let mut boosted = Boosted::new(data, &*metric, true);
    (0..rounds).map_while(|_| boosted.round(repeats)).map(|chosen| chosen.column).collect()
}

fn longest_run(columns: &[usize]) -> usize {
    columns.chunk_by(|a, b| a == b).map(<[usize]>::len).max().unwrap_or(0)
}

/// Three queries with a relevant and a non-relevant document; average precision is 1 or ½. The first feature
/// is wrong in the last query, the second in the middle one.
fn three_queries() -> Dataset {
    let values = vec![1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0];
    dataset(Features::dense(2, values), vec![1.0, 0.0, 1.0, 0.0, 1.0, 0.0], vec![0, 2, 4, 6])
}

#[test]
fn two_rounds_match_the_calculation_by_hand() {
    let (data, metric) = (three_queries(), parse("map", &Conventions::default()).unwrap());
    let mut boosted = Boosted::new(&data, &*metric, false);
    assert_near(&boosted.distribution, &[1.0 / 3.0; 3]);
    // φ = (1 + 1 + ½)/3 = 5/6 for both, and the first of equals is taken; α = ½ ln (11/6)/(1/6).
    let first = boosted.round(5).unwrap();
    assert_eq!(first.column, 0);
    assert_near(&[first.step], &[0.5 * 11_f64.ln()]);
    let (good, bad) = ((-1.0_f64).exp(), (-0.5_f64).exp());
    let total = good + good + bad;
    assert_near(&boosted.distribution, &[good / total, good / total, bad / total]);
    // The second feature is right in the last query, which now has the largest weight.
    let second = boosted.round(5).unwrap();
    let ratio = (2.0 * good + 1.5 * good + 2.0 * bad) / (0.5 * good);
    assert_eq!(second.column, 1);
    assert_near(&[second.step], &[0.5 * ratio.ln()]);
    assert_near(&boosted.weights, &[first.step, second.step]);
}

/// The theorem of the paper: for metrics of at most 1, and with `E(f_0)` taken as 0,
/// `1 − Σ v E(f_T) ≤ Σ v exp(−E(f_T)) ≤ Π_t exp(−δ_t) √(1 − φ_t²)`, with
/// `δ_t = min_q E_q(f_t) − E_q(f_{t−1}) − α_t E_q(h_t)`. All but the choice itself is computed independently.
#[test]
fn the_loss_stays_below_the_bound_of_the_theorem() {
    for seed in 0..5 {
        let (data, metric) = (random_data(seed, 15, 8, 5), ndcg());
        let queries = data.query_count() as f64;
        let mut boosted = Boosted::new(&data, &*metric, false);
        let (mut before, mut bound) = (vec![0.0_f64; data.query_count()], 1.0_f64);
        for round in 0..30 {
            let total: f64 = before.iter().map(|e: &f64| (-e).exp()).sum();
            let distribution: Vec<f64> = before.iter().map(|e| (-e).exp() / total).collect();
            assert_near(&boosted.distribution, &distribution);
            let chosen = boosted.round(3).unwrap();
            let (mut alone, alpha) = (vec![0.0; data.width()], chosen.step.abs());
            alone[chosen.column] = chosen.step.signum();
            let weak = plain_values(&data, &alone);
            let mean: f64 = distribution.iter().zip(&weak).map(|(p, e)| p * e).sum();
            assert_near(&[alpha], &[0.5 * ((1.0 + mean) / (1.0 - mean)).ln()]);
            let after = plain_values(&data, &boosted.weights);
            let slack = |q: usize| after[q] - before[q] - alpha * weak[q];
            let least = (0..after.len()).map(slack).fold(f64::INFINITY, f64::min);
            bound *= (-least).exp() * (1.0 - mean * mean).sqrt();
            let loss = after.iter().map(|e| (-e).exp()).sum::<f64>() / queries;
            let missing = 1.0 - after.iter().sum::<f64>() / queries;
            assert!(missing <= loss && loss <= bound + 1e-12, "round {round}: {missing} {loss} {bound}");
            // In the first round δ = E(h)(1 − α) ≥ 0, so the bound is below 1 and not vacuous.
            assert!(round > 0 || alpha > 1.0 || bound < 1.0, "{bound}");
            assert_near(&[boosted.mean()], &[1.0 - missing]);
            before = after;
        }
    }
}

#[test]
fn weights_of_queries_sum_to_one_and_skipped_queries_have_none() {
    let data = changed(&random_data(8, 12, 6, 4), |p| {
        p.labels[30..36].fill(0.0);
        p.query_weights = Some((0..12).map(|q| q as f32).collect());
    });
    let skipping = parse("ndcg@3", &Conventions { empty: Empty::Skip, ..Conventions::default() }).unwrap();
    let mut boosted = Boosted::new(&data, &*skipping, true);
    for _ in 0..20 {
        assert!((boosted.distribution.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!((boosted.distribution[0], boosted.distribution[5]), (0.0, 0.0));
        assert!(boosted.distribution[11] > boosted.distribution[1]);
        boosted.round(1).unwrap();
    }
}

#[test]
fn a_query_without_weight_is_a_query_left_out() {
    let data = random_data(8, 12, 6, 4);
    let weighted = changed(&data, |p| {
        p.query_weights = Some((0..12).map(|q| f32::from(u8::from(q != 5 && q != 11))).collect());
    });
    let kept: Vec<usize> = (0..12).filter(|q| *q != 5 && *q != 11).collect();
    let learner = AdaRank::default();
    let (with, without) = (fit(&learner, &weighted, None), fit(&learner, &data.select_queries(&kept), None));
    // Standard deviations divide by the number of documents, including those left out: a common factor.
    let factor = weights(&without)[0] / weights(&with)[0];
    let with_all: Vec<f64> = weights(&with).iter().map(|w| w * factor).collect();
    assert_near(&with_all, weights(&without));
    assert!(with.record.notes[0].ends_with("weight is 0: 2"), "{:?}", with.record.notes);
}

#[test]
fn one_round_takes_the_best_single_feature_in_either_direction() {
    for seed in 0..10 {
        let data = random_data(seed, 9, 7, 6);
        let single = |c: usize, sign: f64| {
            let mut alone = vec![0.0; 6];
            alone[c] = sign;
            plain_mean(&data, &alone)
        };
        let best = (0..6).map(|c| single(c, 1.0).max(single(c, -1.0))).fold(0.0, f64::max);
        let fitted = fit(&AdaRank { iterations: 1, ..AdaRank::default() }, &data, None);
        assert_eq!(weights(&fitted).iter().filter(|w| **w != 0.0).count(), 1);
        assert!((plain_mean(&data, weights(&fitted)) - best).abs() < 1e-12);
    }
}

#[test]
fn a_perfect_feature_has_a_finite_weight_and_is_the_whole_model() {
    for sign in [1.0, -1.0] {
        let data = random_data(4, 6, 8, 3);
        let labels = data.labels().to_vec();
        let data = changed(&data, |p| {
            p.features.values_mut().chunks_mut(3).zip(&labels).for_each(|(x, l)| x[2] = sign * l);
        });
        let fitted = fit(&AdaRank::default(), &data, None);
        assert_eq!(figure(&fitted, "train"), 1.0);
        assert_eq!(figure(&fitted, "best round"), 1.0);
        let [a, b, c] = weights(&fitted) else { panic!("three weights") };
        assert!(*a == 0.0 && *b == 0.0 && *c * f64::from(sign) > 0.0 && c.is_finite());
        assert_eq!(fitted.record.outcome, Outcome::Converged);
    }
}

#[test]
fn no_feature_is_chosen_more_often_in_a_row_than_allowed() {
    // Labels depend mostly on the first feature, which is therefore the strong one.
    let data = random_data(2, 30, 10, 4);
    assert!(longest_run(&chosen_columns(&data, 0, 40)) > 5);
    for repeats in [1, 2, 5] {
        let columns = chosen_columns(&data, repeats, 40);
        assert_eq!((columns.len(), longest_run(&columns)), (40, repeats as usize));
    }
    // An excluded feature comes back once another was chosen.
    assert_eq!(
        chosen_columns(&data, 5, 7)[5..].iter().filter(|c| **c == chosen_columns(&data, 5, 1)[0]).count(),
        1
    );
    let alone = random_data(2, 30, 10, 1);
    assert_eq!(chosen_columns(&alone, 5, 40).len(), 5);
}

#[test]
fn units_of_a_feature_make_no_difference_unless_asked() {
    let data = random_data(7, 30, 8, 5);
    let rescaled = changed(&data, |p| {
        p.features.values_mut().chunks_mut(5).for_each(|x| x[1] *= 4096.0);
    });
    let same = |scale: bool| {
        let learner = AdaRank { scale, ..AdaRank::default() };
        let mut back = weights(&fit(&learner, &rescaled, None)).to_vec();
        back[1] *= 4096.0;
        let fitted = fit(&learner, &data, None);
        back.iter().zip(weights(&fitted)).all(|(a, b)| (a - b).abs() <= 1e-9 * b.abs())
    };
    assert!(same(true) && !same(false));
}

#[test]
fn layout_and_missing_values_make_no_difference() {
    let holes = changed(&random_data(7, 30, 8, 5), |p| {
        p.features.values_mut().iter_mut().step_by(3).for_each(|x| *x = 0.0);
    });
    let missing = changed(&holes, |p| {
        p.features.values_mut().iter_mut().step_by(3).for_each(|x| *x = f32::NAN);
    });
    let learner = AdaRank::default();
    let expected = fit(&learner, &holes, Some(&holes));
    assert_eq!(fit(&learner, &missing, Some(&missing)), expected);
    assert_near(weights(&fit(&learner, &sparse(&holes), Some(&sparse(&holes)))), weights(&expected));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let (data, valid) = (random_data(5, 50, 8, 6), random_data(6, 9, 8, 6));
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fit(&AdaRank::default(), &data, Some(&valid)))
    };
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(5));
}

#[test]
fn validation_queries_choose_the_round_and_when_to_stop() {
    let (train, valid) = (random_data(10, 6, 10, 12), random_data(11, 40, 10, 12));
    let learner = AdaRank { early_stopping_rounds: 7, ..AdaRank::default() };
    let fitted = fit(&learner, &train, Some(&valid));
    let best = figure(&fitted, "best round");
    assert_eq!((fitted.record.outcome, fitted.record.rounds as f64), (Outcome::StoppedEarly, best + 7.0));
    // The model is that of the same training after that round, and no earlier or later round is better.
    let metric = ndcg();
    let mut boosted = Boosted::new(&train, &*metric, true);
    let mut rounds = Vec::new();
    for _ in 0..fitted.record.rounds {
        boosted.round(learner.max_repeats).unwrap();
        rounds.push(boosted.weights.clone());
    }
    assert_eq!(weights(&fitted), rounds[best as usize - 1]);
    assert_near(&[figure(&fitted, "valid")], &[plain_mean(&valid, weights(&fitted))]);
    assert_near(&[figure(&fitted, "train")], &[plain_mean(&train, weights(&fitted))]);
    assert!(rounds.iter().all(|w| plain_mean(&valid, w) <= figure(&fitted, "valid") + 1e-12));
    let all =
        fit(&AdaRank { early_stopping_rounds: 0, iterations: 60, ..learner.clone() }, &train, Some(&valid));
    assert_eq!((all.record.outcome, all.record.rounds), (Outcome::RoundsUsedUp, 60));
    // With a tolerance that no gain reaches, only the first round counts as progress.
    let soon = fit(&AdaRank { tolerance: 2.0, ..learner }, &train, Some(&valid));
    assert_eq!(soon.record.rounds, 8);
}

#[test]
fn validation_queries_may_lack_the_last_features() {
    let (train, wide) = (random_data(10, 12, 10, 6), random_data(11, 12, 10, 6));
    let cut = |data: &Dataset| {
        let values: Vec<f32> =
            (0..data.len()).flat_map(|d| (0..3).map(move |c| data.row(d).get(c))).collect();
        changed(data, |p| p.features = Features::dense(3, values))
    };
    let zeros = changed(&wide, |p| p.features.values_mut().chunks_mut(6).for_each(|x| x[3..].fill(0.0)));
    let learner = AdaRank::default();
    let expected = fit(&learner, &train, Some(&zeros));
    assert_eq!(fit(&learner, &train, Some(&cut(&wide))), expected);
    assert_eq!(fit(&learner, &train, Some(&sparse(&cut(&wide)))), expected);
}

#[test]
fn odd_data_stays_finite() {
    let constant = changed(&random_data(1, 3, 4, 2), |p| p.features.values_mut().fill(0.7));
    let unknown = changed(&constant, |p| p.features.values_mut().fill(f32::NAN));
    let one_document = random_data(2, 1, 1, 3);
    let equal = changed(&random_data(3, 3, 4, 2), |p| p.labels.fill(2.0));
    let nothing_relevant = changed(&equal, |p| p.labels.fill(0.0));
    let huge = changed(&random_data(4, 3, 4, 2), |p| {
        p.features.values_mut().iter_mut().step_by(2).for_each(|x| *x = (*x - 0.5) * f32::MAX);
        p.features.values_mut().iter_mut().skip(1).step_by(2).for_each(|x| *x *= f32::MIN_POSITIVE);
    });
    for data in [&constant, &unknown, &one_document, &equal, &nothing_relevant, &huge] {
        for (data, scale) in [(data, true), (data, false), (&sparse(data), true)] {
            let fitted = fit(&AdaRank { scale, ..AdaRank::default() }, data, Some(data));
            assert!(weights(&fitted).iter().all(|w| w.is_finite()), "{:?}", weights(&fitted));
            assert!(fitted.record.figures.iter().all(|f| f.1.is_finite()));
            assert!(matches!(fitted.record.outcome, Outcome::Converged | Outcome::StoppedEarly));
        }
    }
    for data in [&constant, &unknown, &one_document, &nothing_relevant] {
        assert!(weights(&fit(&AdaRank::default(), data, None)).iter().all(|w| *w == 0.0));
    }
}

#[test]
fn any_metric_of_at_most_one_is_accepted_and_others_are_rejected() {
    let data = random_data(1, 10, 6, 3);
    let learn = |name: &str| {
        let metric = parse(name, &Conventions::default()).unwrap();
        let task = Task::new(&data, &*metric, 3);
        AdaRank::default().fit(&task, &mut Silent::default())
    };
    for name in ["map", "mrr", "ndcg", "p@2", "err", "auc", "kendall", "rbp:rbp-gain=binary"] {
        let fitted = learn(name).unwrap();
        assert!(weights(&fitted).iter().any(|w| *w != 0.0), "{name}");
    }
    for name in ["dcg@3", "rbp:rbp-gain=exp2"] {
        let error = learn(name).unwrap_err().to_string();
        assert!(error.contains("at most 1") && error.contains(name) && error.contains("query"), "{error}");
    }
}

#[test]
fn parameters_out_of_range_are_rejected_by_name() {
    let refused = |text: &str| {
        let learner: AdaRank = toml::from_str(text).unwrap();
        learner.check().unwrap_err().to_string()
    };
    assert!(refused("iterations = 0").contains("`iterations` is 0"));
    assert!(refused("tolerance = -1.0").contains("`tolerance` is -1"));
    assert!(refused("tolerance = nan").contains("`tolerance` is NaN"));
    assert!(AdaRank::default().check().is_ok());
    assert!(toml::from_str::<AdaRank>("repeat = 1").is_err());
}
