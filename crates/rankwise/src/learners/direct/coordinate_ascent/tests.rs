use super::climb::{Climb, Hill, best_step, normalise};
use super::*;
use crate::data::Dataset;
use crate::learners::direct::samples::*;
use crate::metrics::{Conventions, Empty, parse};
use crate::watch::Silent;

fn fit(learner: &CoordinateAscent, train: &Dataset, valid: Option<&Dataset>) -> Fitted {
    learner.fit(&Task { valid, ..Task::new(train, &*ndcg(), 3) }, &mut Silent::default()).unwrap()
}

/// With two features only the angle matters, and the metric changes only where two documents of a query swap:
/// one angle between every two neighbouring such angles covers all values.
fn best_over_all_angles(data: &Dataset) -> f64 {
    let turn = std::f64::consts::TAU;
    let mut angles = Vec::new();
    for query in data.queries() {
        for (i, j) in (0..query.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let d = |c| f64::from(query.row(i).get(c)) - f64::from(query.row(j).get(c));
            let crossing = (-d(0)).atan2(d(1)).rem_euclid(turn);
            angles.extend([crossing, (crossing + turn / 2.0).rem_euclid(turn)]);
        }
    }
    angles.sort_by(f64::total_cmp);
    angles.push(angles[0] + turn);
    let middles = angles.windows(2).map(|a| (a[0] + a[1]) / 2.0);
    middles.map(|a| plain_mean(data, &[a.cos(), a.sin()])).fold(0.0, f64::max)
}

#[test]
fn two_features_reach_the_best_of_all_angles() {
    let learner =
        CoordinateAscent { restarts: 10, step: 1e-4, steps: 20, tolerance: 0.0, ..Default::default() };
    for seed in 0..10 {
        let data = random_data(seed, 4, 6, 2);
        let (reached, best) = (figure(&fit(&learner, &data, None), "train"), best_over_all_angles(&data));
        assert!((reached - best).abs() < 1e-12, "{reached} of {best}");
    }
}

/// Passes as described in the documentation: every candidate's scores from the weights, for all queries.
fn plain_passes(
    data: &Dataset,
    hill: &Hill<'_>,
    climb: &Climb,
    learner: &CoordinateAscent,
    passes: u64,
) -> Vec<f64> {
    let deviation = |c: usize| {
        let squares = data.queries().map(|q| {
            let x: Vec<f64> = q.rows().map(|r| f64::from(r.get(c))).collect();
            let mean = x.iter().sum::<f64>() / x.len() as f64;
            x.iter().map(|x| (x - mean).powi(2)).sum::<f64>()
        });
        (squares.sum::<f64>() / data.len() as f64).sqrt()
    };
    let mut weights = climb.weights.clone();
    for pass in 0..passes {
        for c in hill.order(0, pass) {
            let length: f64 = weights.iter().enumerate().map(|(c, w)| w.abs() * deviation(c)).sum();
            let steps = learner.steps_from(weights[c], length / deviation(c));
            let now = plain_values(data, &weights);
            let gain = |step: &f64| {
                let mut moved = weights.clone();
                moved[c] += step;
                let values = plain_values(data, &moved);
                values.iter().zip(&now).map(|(v, n)| v - n).sum::<f64>() / now.len() as f64
            };
            let gains: Vec<f64> = steps.iter().map(gain).map(|g| (g * 1e9).round() / 1e9).collect();
            weights[c] += best_step(&steps, &gains).unwrap_or(0.0);
        }
        normalise(&mut weights);
    }
    weights
}

#[test]
fn partial_updates_match_full_recomputation_and_the_metric_never_falls() {
    let learner = CoordinateAscent { step: 0.013, ..Default::default() };
    for seed in 0..3 {
        let data = random_data(seed, 20, 7, 5);
        let data = changed(&data, |p| {
            // Column 4 varies in few queries; elsewhere it is constant.
            p.features.values_mut().chunks_mut(5).skip(40).for_each(|x| x[4] = 0.5);
        });
        let metric = ndcg();
        let hill = Hill::new(&data, &*metric, seed);
        let mut climb = hill.starts(1).remove(0);
        let plain = plain_passes(&data, &hill, &climb, &learner, 3);
        let mut heights = vec![climb.height];
        for pass in 0..3 {
            hill.pass(&mut [&mut climb], pass, &learner, &Stop::default());
            heights.push(climb.height);
        }
        assert_near(&climb.weights, &plain);
        assert!((climb.height - plain_mean(&data, &climb.weights)).abs() < 1e-12);
        assert!(heights.windows(2).all(|h| h[1] >= h[0] - 1e-12) && heights[3] > heights[0], "{heights:?}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let data = random_data(5, 50, 8, 6);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fit(&CoordinateAscent::default(), &data, Some(&random_data(6, 9, 8, 6))))
    };
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(5));
}

#[test]
fn layout_scale_and_missing_values_make_no_difference() {
    let holes = changed(&random_data(7, 30, 8, 5), |p| {
        p.features.values_mut().iter_mut().step_by(3).for_each(|x| *x = 0.0);
    });
    let learner = CoordinateAscent::default();
    let expected = fit(&learner, &holes, None);
    assert_near(weights(&fit(&learner, &sparse(&holes), None)), weights(&expected));
    let missing = changed(&holes, |p| {
        p.features.values_mut().iter_mut().step_by(3).for_each(|x| *x = f32::NAN);
    });
    assert_eq!(fit(&learner, &missing, None), expected);
    let scaled = changed(&holes, |p| {
        p.features.values_mut().chunks_mut(5).for_each(|x| x[1] *= 4096.0);
    });
    let mut back = weights(&fit(&learner, &scaled, None)).to_vec();
    back[1] *= 4096.0;
    normalise(&mut back);
    assert_near(&back, weights(&expected));
}

#[test]
fn a_query_without_weight_is_a_query_left_out() {
    let data = random_data(8, 12, 6, 4);
    let weighted = changed(&data, |p| {
        p.query_weights = Some((0..12).map(|q| f32::from(u8::from(q != 5 && q != 11))).collect());
    });
    let kept: Vec<usize> = (0..12).filter(|q| *q != 5 && *q != 11).collect();
    let learner = CoordinateAscent::default();
    let (with, without) = (fit(&learner, &weighted, None), fit(&learner, &data.select_queries(&kept), None));
    assert_near(weights(&with), weights(&without));
    assert!(with.record.notes[0].ends_with("weight is 0: 2"), "{:?}", with.record.notes);
}

#[test]
fn a_query_for_which_the_metric_is_undefined_is_left_out() {
    let data = changed(&random_data(8, 12, 6, 4), |p| p.labels[30..36].fill(0.0));
    let relevant: Vec<usize> =
        data.queries().filter(|q| q.labels().iter().any(|l| *l > 0.0)).map(|q| q.index()).collect();
    assert!(!relevant.contains(&5));
    let skipping = parse("ndcg@3", &Conventions { empty: Empty::Skip, ..Conventions::default() }).unwrap();
    let learn = |train: &Dataset| {
        let task = Task::new(train, &*skipping, 3);
        CoordinateAscent::default().fit(&task, &mut Silent::default()).unwrap()
    };
    assert_near(weights(&learn(&data)), weights(&learn(&data.select_queries(&relevant))));
}

#[test]
fn validation_queries_choose_among_starts_and_passes() {
    let (train, valid) = (random_data(10, 6, 10, 12), random_data(11, 40, 10, 12));
    let learner = CoordinateAscent::default();
    let (chosen, unchosen) = (fit(&learner, &train, Some(&valid)), fit(&learner, &train, None));
    let reported = figure(&chosen, "valid");
    assert!((reported - plain_mean(&valid, weights(&chosen))).abs() < 1e-12);
    assert!((figure(&chosen, "train") - plain_mean(&train, weights(&chosen))).abs() < 1e-12);
    assert!(reported > plain_mean(&valid, weights(&unchosen)));
    assert!(figure(&chosen, "train") < figure(&unchosen, "train"));
}

#[test]
fn odd_data_stays_finite() {
    let learner = CoordinateAscent::default();
    let constant = changed(&random_data(1, 3, 4, 2), |p| p.features.values_mut().fill(0.7));
    let one_document = random_data(2, 1, 1, 3);
    let equal = changed(&random_data(3, 3, 4, 2), |p| p.labels.fill(2.0));
    let nothing_relevant = changed(&equal, |p| p.labels.fill(0.0));
    let wide = random_data(4, 1, 3, 40);
    for data in [&constant, &one_document, &equal, &nothing_relevant, &wide] {
        for data in [data, &sparse(data)] {
            let fitted = fit(&learner, data, Some(data));
            assert!(weights(&fitted).iter().all(|w| w.is_finite()));
            assert!(fitted.record.figures.iter().all(|f| f.1.is_finite()));
            assert_eq!(fitted.record.outcome, Outcome::Converged);
        }
    }
    assert!(weights(&fit(&learner, &constant, None)).iter().all(|w| *w == 0.0));
    assert_eq!(figure(&fit(&learner, &wide, None), "train"), 1.0);
}

#[test]
fn a_request_to_stop_keeps_the_best_so_far() {
    struct StopAfter(u64, Stop);
    impl Watch for StopAfter {
        fn step(&mut self, step: Progress<'_>) {
            if step.done >= self.0 {
                self.1.request();
            }
        }
        fn stop(&self) -> &Stop {
            &self.1
        }
    }
    let data = random_data(12, 30, 10, 10);
    let metric = ndcg();
    let task = Task::new(&data, &*metric, 1);
    let learner = CoordinateAscent { tolerance: 0.0, ..Default::default() };
    let stopped = learner.fit(&task, &mut StopAfter(1, Stop::default())).unwrap();
    assert_eq!((stopped.record.outcome, stopped.record.rounds), (Outcome::Interrupted, 1));
    let mut at_once = StopAfter(9, Stop::default());
    at_once.1.request();
    let unmoved = learner.fit(&task, &mut at_once).unwrap();
    assert_eq!((unmoved.record.outcome, unmoved.record.rounds), (Outcome::Interrupted, 0));
    assert!(figure(&stopped, "train") > figure(&unmoved, "train"));
    let one_pass = CoordinateAscent { passes: 1, ..learner }.fit(&task, &mut Silent::default()).unwrap();
    assert_eq!(one_pass.record.outcome, Outcome::RoundsUsedUp);
    assert_eq!(one_pass.model, stopped.model);
}

#[test]
fn parameters_out_of_range_are_rejected_by_name() {
    let refused = |text: &str| {
        let learner: CoordinateAscent = toml::from_str(text).unwrap();
        learner.check().unwrap_err().to_string()
    };
    assert!(refused("restarts = 0").contains("`restarts` is 0"));
    assert!(refused("step = -1.0").contains("`step` is -1"));
    assert!(refused("steps = 99").contains("`steps` is 99"));
    assert!(refused("tolerance = nan").contains("`tolerance` is NaN"));
    assert!(CoordinateAscent::default().check().is_ok());
    assert!(toml::from_str::<CoordinateAscent>("stride = 1").is_err());
}
