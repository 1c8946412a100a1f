//! The properties of clicks that every loss of the list must have.

use super::*;
use crate::losses::{GradientKind, LOSSES, Lambda, LambdaMetric, SquaredPairHinge};
use crate::rng;
use rand::RngExt;

/// Random weights, a third of them 0, and scores.
fn random_query(seed: u64, n: usize) -> (Vec<f32>, Vec<f64>) {
    let mut random = rng::stream(seed, &[n as u64]);
    let weight = |_| if random.random::<f64>() < 0.34 { 0.0 } else { 3.0 * random.random::<f32>() };
    let weights = (0..n).map(weight).collect();
    let scores = (0..n).map(|_| 0.97 * f64::from(random.random_range(-20..20)) / 7.0).collect();
    (weights, scores)
}

/// Value, gradient and curvature.
fn evaluated(loss: &dyn QueryLoss, labels: &[f32], scores: &[f64]) -> (f64, Vec<f64>, Vec<f64>) {
    let query = ScoredQuery { labels, scores, seed: 5 };
    let (mut gradient, mut curvature) = (vec![f64::NAN; scores.len()], vec![f64::NAN; scores.len()]);
    let value = loss.value_and_gradient(query, &mut gradient);
    loss.curvature(query, &mut curvature);
    (value, gradient, curvature)
}

fn assert_close(a: &[f64], b: &[f64], what: &str) {
    let scale = b.iter().fold(1.0, |scale: f64, x| scale.max(x.abs()));
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-6 * scale), "{what}: {a:?} and {b:?}");
}

/// The expectation over all patterns of clicks on documents that are looked at with probability `theta` and clicked then
/// with probability `relevance`, each click weighted by `weight`.
fn expected(
    loss: &dyn QueryLoss,
    theta: &[f64],
    relevance: &[f64],
    weight: impl Fn(usize) -> f64,
    scores: &[f64],
) -> (f64, Vec<f64>, Vec<f64>) {
    let n = scores.len();
    let mut mean = (0.0, vec![0.0; n], vec![0.0; n]);
    for pattern in 0..1 << n {
        let clicked = |i: usize| pattern >> i & 1 == 1;
        let chance =
            |i: usize| if clicked(i) { theta[i] * relevance[i] } else { 1.0 - theta[i] * relevance[i] };
        let probability: f64 = (0..n).map(chance).product();
        let labels: Vec<f32> = (0..n).map(|i| if clicked(i) { weight(i) as f32 } else { 0.0 }).collect();
        let (value, gradient, curvature) = evaluated(loss, &labels, scores);
        mean.0 += probability * value;
        add(probability, &gradient, &mut mean.1);
        add(probability, &curvature, &mut mean.2);
    }
    mean
}

/// With true propensities, value, gradient and curvature have those of full information as their expectation, by
/// enumeration of all click patterns; without them they do not.
#[test]
fn every_loss_is_unbiased_under_true_propensities() {
    // Weights 1/θ and relevance are floats of few digits, so that f32 labels are exact.
    let (theta, relevance) = ([1.0, 0.5, 0.25, 0.125, 0.0625], [0.25, 0.875, 0.125, 0.5, 0.625]);
    let labels: Vec<f32> = relevance.iter().map(|x| *x as f32).collect();
    for entry in LOSSES {
        let loss = PerClick((entry.make)());
        for seed in 0..4 {
            let (_, scores) = random_query(seed, 5);
            let full = evaluated(&loss, &labels, &scores);
            let weighted = expected(&loss, &theta, &relevance, |i| 1.0 / theta[i], &scores);
            assert_close(&[weighted.0], &[full.0], entry.card.name);
            assert_close(&weighted.1, &full.1, entry.card.name);
            assert_close(&weighted.2, &full.2, entry.card.name);
            let naive = expected(&loss, &theta, &relevance, |_| 1.0, &scores);
            let far = (0..5).any(|i| (naive.1[i] - full.1[i]).abs() > 1e-3);
            assert!(far, "{}: clicks as they are have the right gradient", entry.card.name);
        }
    }
}

#[test]
fn every_gradient_agrees_with_finite_differences() {
    for entry in LOSSES.iter().filter(|entry| entry.gradient == GradientKind::Smooth) {
        let loss = PerClick((entry.make)());
        for (seed, n) in (1..=6).flat_map(|n| (0..8).map(move |seed| (seed, n))) {
            let (labels, scores) = random_query(seed, n);
            let (_, gradient, _) = evaluated(&loss, &labels, &scores);
            let moved = |i: usize, step: f64| {
                let mut scores = scores.clone();
                scores[i] += step;
                evaluated(&loss, &labels, &scores).0
            };
            let differences: Vec<f64> = (0..n).map(|i| (moved(i, 1e-5) - moved(i, -1e-5)) / 2e-5).collect();
            assert_close(&gradient, &differences, entry.card.name);
        }
    }
}

/// A convex loss stays convex: subgradients support it from below.
#[test]
fn every_subgradient_supports_its_loss_from_below() {
    for entry in LOSSES.iter().filter(|entry| entry.gradient == GradientKind::Subgradient) {
        let loss = PerClick((entry.make)());
        for (seed, n) in (1..=7).flat_map(|n| (0..20).map(move |seed| (seed, n))) {
            let (labels, here) = random_query(seed, n);
            let (_, there) = random_query(seed + 1000, n);
            let ((value, gradient, _), (other, ..)) =
                (evaluated(&loss, &labels, &here), evaluated(&loss, &labels, &there));
            let slope: f64 = (0..n).map(|i| gradient[i] * (there[i] - here[i])).sum();
            assert!(other >= value + slope - 1e-9, "{}: {labels:?} {here:?} {there:?}", entry.card.name);
        }
    }
}

#[test]
fn newton_agrees_with_gradient_and_curvature_and_no_signal_is_zero() {
    for entry in LOSSES {
        let loss = PerClick((entry.make)());
        for n in 1..=6 {
            let (labels, scores) = random_query(7, n);
            let (_, gradient, curvature) = evaluated(&loss, &labels, &scores);
            let (mut slopes, mut bends) = (vec![f64::NAN; n], vec![f64::NAN; n]);
            let query = ScoredQuery { labels: &labels, scores: &scores, seed: 5 };
            loss.newton(query, &mut slopes, &mut bends);
            assert_eq!((gradient, curvature), (slopes, bends), "{}", entry.card.name);
        }
        for labels in [vec![], vec![0.0; 3], vec![-1.0, f32::NAN, 0.0], vec![2.0], vec![0.5, 0.0]] {
            let scores: Vec<f64> = (0..labels.len()).map(|i| i as f64).collect();
            let (value, ..) = evaluated(&loss, &labels, &scores);
            assert_eq!(loss.has_signal(&labels), value != 0.0, "{}: {labels:?}", entry.card.name);
        }
    }
}

/// The curvature along any direction is that of finite differences of the gradient.
#[test]
fn second_derivatives_agree_with_finite_differences() {
    let loss = PerClick(SquaredPairHinge::default());
    let (labels, scores) = random_query(3, 6);
    let direction: Vec<f64> = (0..6).map(|i| f64::from(i * i % 5) - 1.5).collect();
    let at = |step: f64| {
        let moved: Vec<f64> = scores.iter().zip(&direction).map(|(s, d)| s + step * d).collect();
        evaluated(&loss, &labels, &moved).1
    };
    let (up, down) = (at(1e-6), at(-1e-6));
    let differences: Vec<f64> = up.iter().zip(&down).map(|(a, b)| (a - b) / 2e-6).collect();
    let mut product = vec![f64::NAN; 6];
    loss.hessian(ScoredQuery { labels: &labels, scores: &scores, seed: 5 })(&direction, &mut product);
    assert_close(&product, &differences, "squared hinge");
}

/// With the order fixed, λ-gradients are derivatives, also of clicks.
#[test]
fn gradients_in_a_fixed_order_agree_with_finite_differences() {
    for metric in [LambdaMetric::Ndcg, LambdaMetric::Map, LambdaMetric::Mrr, LambdaMetric::Err] {
        let loss = PerClick(Lambda::of(metric));
        let (labels, anchor) = random_query(11, 6);
        let (_, scores) = random_query(12, 6);
        let at = |scores: &[f64]| {
            let mut gradient = vec![f64::NAN; 6];
            let query = ScoredQuery { labels: &labels, scores, seed: 5 };
            (loss.value_and_gradient_in_order(query, &anchor, &mut gradient), gradient)
        };
        let moved = |i: usize, step: f64| {
            let mut scores = scores.clone();
            scores[i] += step;
            at(&scores).0
        };
        let differences: Vec<f64> = (0..6).map(|i| (moved(i, 1e-5) - moved(i, -1e-5)) / 2e-5).collect();
        assert_close(&at(&scores).1, &differences, metric.name());
    }
}
