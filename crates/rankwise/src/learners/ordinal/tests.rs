//! Solutions worked out by hand, and claims of the papers.

use super::grading::Grading;
use super::oc_svm::OcSvm;
use super::prank::Prank;
use crate::data::{Dataset, Features, Parts};
use crate::learners::{Fitted, Learner, LinearParameters, Task};
use crate::losses::ThresholdConstraints;
use crate::metrics::{Conventions, parse};
use crate::models::{Model, OrdinalModel, Outcome};
use crate::rng;
use crate::watch::Silent;
use proptest::prelude::*;
use rand::RngExt;

/// One feature, every document its own query.
fn documents(values: &[f32], labels: &[f32], weights: Option<Vec<f32>>) -> Dataset {
    Dataset::new(Parts {
        features: Features::dense(1, values.to_vec()),
        labels: labels.to_vec(),
        bounds: (0..=labels.len()).collect(),
        query_ids: (0..labels.len()).map(|q| format!("q{q}")).collect(),
        query_weights: weights,
        ..Parts::default()
    })
    .unwrap()
}

fn learn(learner: &impl Learner, train: &Dataset, valid: Option<&Dataset>) -> Fitted {
    let metric = parse("ndcg", &Conventions::default()).unwrap();
    let task = Task { valid, ..Task::new(train, metric.as_ref(), 1) };
    learner.fit(&task, &mut Silent::default()).unwrap()
}

fn planes(fitted: &Fitted) -> (&[f64], &[f64], &[f32]) {
    let Model::Ordinal(OrdinalModel { weights, thresholds, grades }) = &fitted.model else {
        panic!("an ordinal model")
    };
    (weights, thresholds, grades)
}

fn figure(fitted: &Fitted, name: &str) -> f64 {
    fitted.record.figures.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no {name}")).1
}

fn exactly(c: f64) -> LinearParameters {
    LinearParameters { c, tolerance: 1e-9, scale: false, ..LinearParameters::default() }
}

/// Documents at −1 and 1: at the best threshold, 0, the mean loss is `[1 − w]₊`, so that the least of
/// `½w² + C[1 − w]₊` is at `min(C, 1)`.
#[test]
fn two_documents_match_the_solution_by_hand() {
    let train = documents(&[1.0, -1.0], &[7.0, 3.0], None);
    for (c, expected) in [(0.25, 0.25), (0.8, 0.8), (5.0, 1.0)] {
        for constraints in [ThresholdConstraints::Explicit, ThresholdConstraints::Implicit] {
            let fitted = learn(&OcSvm { constraints, linear: exactly(c), ..OcSvm::default() }, &train, None);
            let (weights, thresholds, grades) = planes(&fitted);
            assert!((weights[0] - expected).abs() < 1e-4, "C = {c}: {weights:?}");
            assert!(thresholds[0].abs() < 1e-9, "C = {c}: {thresholds:?}");
            assert_eq!(grades, [3.0, 7.0]);
            assert_eq!(fitted.model.grades(&train).unwrap(), [7.0, 3.0]);
            assert_eq!(figure(&fitted, "share of grades predicted right"), 1.0);
        }
    }
}

#[test]
fn a_query_of_weight_2_is_two_queries_and_one_of_weight_0_none() {
    let values = [0.0, 2.0, 1.0, 0.5, 9.0];
    let labels = [0.0, 1.0, 2.0, 1.0, 3.0];
    let weighted = documents(&values, &labels, Some(vec![1.0, 2.0, 1.0, 1.0, 0.0]));
    let repeated = documents(&[0.0, 2.0, 2.0, 1.0, 0.5], &[0.0, 1.0, 1.0, 2.0, 1.0], None);
    for constraints in [ThresholdConstraints::Explicit, ThresholdConstraints::Implicit] {
        let learner = OcSvm { constraints, balance: false, linear: exactly(1.0) };
        let (one, other) = (learn(&learner, &weighted, None), learn(&learner, &repeated, None));
        assert_eq!(planes(&one).2, [0.0, 1.0, 2.0]);
        for name in ["primal objective", "mean absolute error of the grades"] {
            let (a, b) = (figure(&one, name), figure(&other, name));
            assert!((a - b).abs() < 1e-6, "{name}: {a} and {b}");
        }
    }
}

/// At 0 there are three documents of grade 0; at 1 there are three more, and one of grade 1. The frequent
/// grade is more likely at both values, so no weight helps, unless grades are balanced: then it is as with
/// six of grade 1.
#[test]
fn a_rare_grade_counts_when_balanced() {
    let rare = documents(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0], &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], None);
    let learner = OcSvm { linear: exactly(1e3), ..OcSvm::default() };
    let unbalanced = learn(&OcSvm { balance: false, ..learner.clone() }, &rare, None);
    assert_eq!(planes(&unbalanced).0, [0.0]);
    assert!(unbalanced.record.notes[0].contains("zero weights have the smallest loss"));
    let even = documents(
        &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        None,
    );
    let (balanced, even) = (learn(&learner, &rare, None), learn(&learner, &even, None));
    assert!(planes(&balanced).0[0] > 0.5, "{:?}", planes(&balanced));
    let (a, b) = (figure(&balanced, "primal objective"), figure(&even, "primal objective"));
    assert!((a - b).abs() < 1e-6 * a, "{a} and {b}");
}

/// Three steps from `w = 0, b = (0, 0)`, each a mistake: at x = 1 of the lowest grade to `−2, (1, 1)`; at x =
/// 2 of the highest to `2, (0, 0)`; at x = −1 of the middle one, where only the first threshold is wrong, to
/// `1, (−1, 0)`.
#[test]
fn three_steps_of_prank_by_hand() {
    let train = documents(&[1.0, 2.0, -1.0], &[0.0, 4.0, 1.0], None);
    let learner = Prank { passes: 1, averaged: false, shuffle: false, scale: false, balance: 1.0 };
    let last = learn(&learner, &train, None);
    assert_eq!(planes(&last), (&[1.0][..], &[-1.0, 0.0][..], &[0.0, 1.0, 4.0][..]));
    assert_eq!(last.record.outcome, Outcome::RoundsUsedUp);
    // Scores 1, 2, −1 against (−1, 0): grades 4, 4, 1, so that one is wrong, by 4.
    assert_eq!(figure(&last, "mean absolute error of the grades"), 4.0 / 3.0);
    assert_eq!(figure(&last, "share of grades predicted right"), 2.0 / 3.0);
    let mean = learn(&Prank { averaged: true, ..learner }, &train, None);
    let (weights, thresholds, _) = planes(&mean);
    let near = |a: f64, b: f64| (a - b).abs() < 1e-15;
    assert!(near(weights[0], 1.0 / 3.0) && near(thresholds[0], 0.0) && near(thresholds[1], 1.0 / 3.0));
}

#[test]
fn prank_stops_after_a_pass_without_a_mistake() {
    let train = documents(&[1.0, 2.0, 3.0], &[0.0, 1.0, 2.0], None);
    let fitted = learn(&Prank { passes: 10_000, averaged: false, ..Prank::default() }, &train, None);
    assert_eq!(fitted.record.outcome, Outcome::Converged);
    assert!(fitted.record.rounds < 10_000);
    assert_eq!(fitted.model.grades(&train).unwrap(), train.labels());
}

/// Features that are shifted and scaled give the same predictions: steps are along standardised features.
#[test]
fn prank_does_not_depend_on_the_unit_or_the_origin_of_a_feature() {
    let mut random = rng::stream(8, &[]);
    let values: Vec<f32> = (0..60).map(|_| random.random_range(0..64) as f32 / 8.0).collect();
    let labels: Vec<f32> = values.iter().map(|x| (x / 3.0 + random.random::<f32>()).floor()).collect();
    // Powers of two and sums that single precision holds exactly.
    let moved: Vec<f32> = values.iter().map(|x| 4.0 * x - 1000.0).collect();
    for averaged in [false, true] {
        let learner = Prank { averaged, ..Prank::default() };
        let (a, b) = (documents(&values, &labels, None), documents(&moved, &labels, None));
        let (x, y) = (learn(&learner, &a, None), learn(&learner, &b, None));
        let ((w, t, _), (v, s, _)) = (planes(&x), planes(&y));
        assert!((w[0] - 4.0 * v[0]).abs() < 1e-6 * w[0].abs() && w[0] > 0.0, "{w:?} {v:?}");
        for (t, s) in t.iter().zip(s) {
            assert!((s - (t - 1000.0 * v[0])).abs() < 1e-6 * s.abs().max(1.0), "{t} {s}");
        }
    }
}

/// One document in ten is relevant, and the feature tells it half of the time. As published, the model says
/// that nothing is relevant; balanced, it finds the direction.
#[test]
fn a_balanced_prank_learns_from_a_rare_grade() {
    let mut random = rng::stream(9, &[]);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for i in 0..2000 {
        let is_relevant = i % 10 == 0;
        let signal = if is_relevant { 0.7 } else { 0.0 };
        values.extend([signal + random.random::<f32>(), random.random::<f32>()]);
        labels.push(f32::from(u8::from(is_relevant)));
    }
    let train = Dataset::dense(values, 2, labels, &[2000]).unwrap();
    let share = |balance: f64| {
        let fitted = learn(&Prank { balance, passes: 5, ..Prank::default() }, &train, None);
        let (w, ..) = planes(&fitted);
        w[0] / (w[0] * w[0] + w[1] * w[1]).sqrt()
    };
    assert!(share(5.0) > 0.99, "the noise has too large a weight: {}", share(5.0));
    let error = Prank { balance: 0.5, ..Prank::default() }.check().unwrap_err().to_string();
    assert!(error.starts_with("balance is 0.5"), "{error}");
}

/// More passes never choose worse, the pass kept is the first of the best ones, and the model kept is the one
/// that this many passes alone give.
#[test]
fn prank_keeps_the_pass_that_is_best_on_the_validation_queries() {
    let noise = |i: u32| (i.wrapping_mul(2_654_435_761) >> 20) as f32 / 4096.0;
    let values: Vec<f32> = (0..80).map(noise).collect();
    let labels: Vec<f32> = (0..40).map(|i| (values[2 * i] * 3.0 + noise(i as u32 + 500)).floor()).collect();
    let data = |queries: usize| {
        Dataset::new(Parts {
            features: Features::dense(2, values.clone()),
            labels: labels.clone(),
            bounds: (0..=queries).map(|q| q * 40 / queries).collect(),
            query_ids: (0..queries).map(|q| format!("q{q}")).collect(),
            ..Parts::default()
        })
        .unwrap()
    };
    let (train, valid) = (data(2), data(8));
    let learner = Prank { passes: 12, averaged: false, ..Prank::default() };
    let chosen = learn(&learner, &train, Some(&valid));
    let passes: Vec<f64> = (1..=12)
        .map(|passes| {
            figure(&learn(&Prank { passes, ..learner.clone() }, &train, Some(&valid)), "ndcg (valid)")
        })
        .collect();
    let kept = figure(&chosen, "pass kept") as usize;
    assert!(passes.is_sorted(), "another pass must not make the choice worse: {passes:?}");
    assert_eq!(passes.iter().position(|v| *v == passes[11]), Some(kept - 1), "{passes:?}");
    let alone = learn(&Prank { passes: kept as u64, ..learner }, &train, None);
    assert_eq!(alone.model, chosen.model);
}

/// The rule as in the paper, which does nothing to keep the thresholds in order.
fn by_the_paper(values: &[f32], ranks: &[usize], thresholds: usize, passes: usize) -> (f64, Vec<f64>) {
    let (mut w, mut b) = (0.0, vec![0.0; thresholds]);
    for (&x, &rank) in (0..passes).flat_map(|_| values.iter().zip(ranks)) {
        let score = w * f64::from(x);
        let predicted = b.iter().position(|b| score < *b).unwrap_or(thresholds);
        if predicted != rank {
            let signs: Vec<f64> = (0..thresholds).map(|r| if rank <= r { -1.0 } else { 1.0 }).collect();
            let wrong = |r: usize| (score - b[r]) * signs[r] <= 0.0;
            let steps: Vec<f64> = (0..thresholds).map(|r| if wrong(r) { signs[r] } else { 0.0 }).collect();
            w += steps.iter().sum::<f64>() * f64::from(x);
            b.iter_mut().zip(&steps).for_each(|(b, step)| *b -= step);
        }
        assert!(b.is_sorted(), "the theorem of Crammer and Singer: {b:?}");
    }
    (w, b)
}

proptest! {
    #[test]
    fn prank_keeps_its_thresholds_in_order(
        rows in proptest::collection::vec((-8i8..8, 0usize..5), 1..30), passes in 1usize..4,
    ) {
        let values: Vec<f32> = rows.iter().map(|(x, _)| f32::from(*x) / 4.0).collect();
        let labels: Vec<f32> = rows.iter().map(|(_, grade)| *grade as f32).collect();
        let train = documents(&values, &labels, None);
        let grading = Grading::of(&train, "prank").unwrap();
        let (w, b) = by_the_paper(&values, &grading.ranks, grading.grades.len() - 1, passes);
        let learner = Prank { passes: passes as u64, averaged: false, shuffle: false, scale: false, balance: 1.0 };
        let last = learn(&learner, &train, None);
        prop_assert_eq!(planes(&last).0, &[w][..]);
        prop_assert_eq!(planes(&last).1, &b[..]);
        // With other step sizes than 1, and for the mean, thresholds must be in order as well.
        let weights = rows.iter().map(|(x, _)| f32::from(*x).abs() / 3.0 + 0.1).collect();
        let weighted = documents(&values, &labels, Some(weights));
        for averaged in [false, true] {
            let fitted = learn(&Prank { averaged, ..learner.clone() }, &weighted, None);
            prop_assert!(planes(&fitted).1.is_sorted(), "{:?}", planes(&fitted).1);
        }
    }
}

#[test]
fn real_valued_targets_are_rejected_and_a_single_grade_is_noted() {
    let many: Vec<f32> = (0..1001).map(|i| i as f32 / 8.0).collect();
    let (real, sole) = (documents(&many, &many, None), documents(&[1.0, 2.0], &[2.5, 2.5], None));
    let metric = parse("ndcg", &Conventions::default()).unwrap();
    let task = Task::new(&real, metric.as_ref(), 1);
    let refusals = [
        OcSvm::default().fit(&task, &mut Silent::default()).unwrap_err().to_string(),
        Prank::default().fit(&task, &mut Silent::default()).unwrap_err().to_string(),
    ];
    for (name, refusal) in ["oc-svm", "prank"].iter().zip(&refusals) {
        assert!(refusal.contains("more than 1000 different grades") && refusal.contains(name), "{refusal}");
    }
    for fitted in [learn(&OcSvm::default(), &sole, None), learn(&Prank::default(), &sole, None)] {
        assert_eq!(planes(&fitted), (&[0.0][..], &[][..], &[2.5][..]));
        assert_eq!(fitted.record.outcome, Outcome::Converged);
        assert!(fitted.record.notes[0].contains("has grade 2.5"), "{:?}", fitted.record.notes);
    }
}

#[test]
fn values_out_of_range_are_rejected_by_name() {
    let negative = OcSvm { linear: exactly(-1.0), ..OcSvm::default() };
    assert!(negative.check().unwrap_err().to_string().starts_with("c is "));
    let error = Prank { passes: 0, ..Prank::default() }.check().unwrap_err().to_string();
    assert!(error.starts_with("passes is 0"), "{error}");
}
