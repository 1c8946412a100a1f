//! Properties that every loss in the list must have.

use super::*;
use crate::rng;
use rand::RngExt;

/// Random labels from 0 to 4 and scores for `n` documents, with ties.
fn random_query(seed: u64, n: usize) -> (Vec<f32>, Vec<f64>) {
    let mut random = rng::stream(seed, &[n as u64]);
    let labels = (0..n).map(|_| random.random_range(0..5) as f32).collect();
    let scores = (0..n).map(|_| f64::from(random.random_range(-20..20)) / 7.0).collect();
    (labels, scores)
}

#[test]
fn every_gradient_agrees_with_finite_differences() {
    for entry in LOSSES.iter().filter(|e| e.gradient == GradientKind::Smooth) {
        let loss = (entry.make)();
        for (seed, n) in (1..=7).flat_map(|n| (0..20).map(move |seed| (seed, n))) {
            let (labels, scores) = random_query(seed, n);
            // Avoids round numbers, where second derivatives may jump and finite differences are less precise.
            let scores: Vec<f64> = scores.iter().map(|s| 0.97 * s).collect();
            let mut gradient = vec![f64::NAN; n];
            let at = |scores: &[f64], g: &mut [f64]| {
                loss.value_and_gradient(ScoredQuery { labels: &labels, scores, seed }, g)
            };
            at(&scores, &mut gradient);
            for i in 0..n {
                let h = 1e-5;
                let (mut up, mut down) = (scores.clone(), scores.clone());
                up[i] += h;
                down[i] -= h;
                let mut scratch = vec![0.0; n];
                let slope = (at(&up, &mut scratch) - at(&down, &mut scratch)) / (2.0 * h);
                assert!(
                    (slope - gradient[i]).abs() <= 1e-6 * (1.0 + slope.abs()),
                    "{}: document {i} of {n}: {slope} by finite differences, {} by the loss",
                    entry.card.name,
                    gradient[i]
                );
            }
        }
    }
}

/// `L(t) ≥ L(s) + g(s)·(t − s)` for any two score vectors, including kinks and ties.
#[test]
fn every_subgradient_supports_its_loss_from_below() {
    for entry in LOSSES.iter().filter(|e| e.gradient == GradientKind::Subgradient) {
        let loss = (entry.make)();
        for (seed, n) in (1..=12).flat_map(|n| (0..200).map(move |seed| (seed, n))) {
            let (labels, here) = random_query(seed, n);
            let step = [0.01, 0.2, 1.0][seed as usize % 3];
            let (_, other) = random_query(seed + 1000, n);
            let there: Vec<f64> = here.iter().zip(&other).map(|(a, b)| a + step * (b - a)).collect();
            let at = |scores: &[f64]| {
                let mut gradient = vec![f64::NAN; n];
                let value =
                    loss.value_and_gradient(ScoredQuery { labels: &labels, scores, seed }, &mut gradient);
                (value, gradient)
            };
            let ((value, gradient), (value_there, _)) = (at(&here), at(&there));
            let slope: f64 = (0..n).map(|i| gradient[i] * (there[i] - here[i])).sum();
            assert!(
                value_there >= value + slope - 1e-12,
                "{}: {labels:?} {here:?} {there:?}",
                entry.card.name
            );
        }
    }
}

/// `newton` returns the same gradient and curvature as the separate methods.
#[test]
fn newton_agrees_with_gradient_and_curvature() {
    for entry in LOSSES {
        let loss = (entry.make)();
        for n in 1..=9 {
            let (labels, scores) = random_query(7, n);
            let query = ScoredQuery { labels: &labels, scores: &scores, seed: 7 };
            let mut out = [(); 4].map(|()| vec![f64::NAN; n]);
            let [gradient, curvature, both_gradient, both_curvature] = &mut out;
            loss.value_and_gradient(query, gradient);
            loss.curvature(query, curvature);
            loss.newton(query, both_gradient, both_curvature);
            assert_eq!(gradient, both_gradient, "{}", entry.card.name);
            assert_eq!(curvature, both_curvature, "{}", entry.card.name);
        }
    }
}

/// Several queries at once give what they give one by one: nothing is left over from the query before. They come in
/// descending and ascending size, with some that have no pairs.
#[test]
fn several_queries_at_once_agree_with_one_by_one() {
    for entry in LOSSES {
        let loss = (entry.make)();
        let sizes = [9, 1, 8, 2, 17, 3, 33, 16, 2, 7];
        let mut given: Vec<(Vec<f32>, Vec<f64>)> =
            sizes.iter().zip(1..).map(|(&n, seed)| random_query(seed, n)).collect();
        given[2].0.fill(1.0);
        // Too wide a range for one exponential per document.
        given[4].1.iter_mut().for_each(|score| *score *= 1e3);
        let queries: Vec<ScoredQuery<'_>> =
            given.iter().map(|(labels, scores)| ScoredQuery { labels, scores, seed: 7 }).collect();
        let total: usize = sizes.iter().sum();
        let (mut gradients, mut curvatures) = (vec![f64::NAN; total], vec![f64::NAN; total]);
        loss.newton_each(&queries, &mut gradients, &mut curvatures);
        let mut start = 0;
        for query in queries {
            let n = query.scores.len();
            let (mut gradient, mut curvature) = (vec![f64::NAN; n], vec![f64::NAN; n]);
            loss.newton(query, &mut gradient, &mut curvature);
            assert_eq!(gradient, gradients[start..start + n], "{}", entry.card.name);
            assert_eq!(curvature, curvatures[start..start + n], "{}", entry.card.name);
            start += n;
        }
    }
}

#[test]
fn huge_scores_stay_finite() {
    for entry in LOSSES {
        let labels = [0.0, 2.0, 1.0, 4.0];
        let scores = [1e4, -1e4, 0.0, 1e4];
        let mut out = [f64::NAN; 4];
        let query = ScoredQuery { labels: &labels, scores: &scores, seed: 1 };
        let loss = (entry.make)();
        assert!(loss.value_and_gradient(query, &mut out).is_finite(), "{}", entry.card.name);
        assert!(out.iter().all(|g| g.is_finite()), "{}", entry.card.name);
        loss.curvature(query, &mut out);
        assert!(out.iter().all(|h| h.is_finite() && *h >= 0.0), "{}", entry.card.name);
    }
}

/// A loss is 0 at any scores exactly for the labels for which it reports no signal.
#[test]
fn losses_without_signal_are_zero() {
    for entry in LOSSES {
        let loss = (entry.make)();
        for labels in
            [vec![], vec![1.0], vec![0.0; 3], vec![2.0; 3], vec![0.0, 0.0, 2.0], vec![0.0, f32::NAN]]
        {
            let scores: Vec<f64> = (0..labels.len()).map(|i| -(i as f64) - 1.0).collect();
            let query = ScoredQuery { labels: &labels, scores: &scores, seed: 1 };
            let value = loss.value_and_gradient(query, &mut vec![f64::NAN; labels.len()]);
            let has_signal = loss.has_signal(&labels);
            assert_eq!(has_signal, value != 0.0, "{} on {labels:?}: {value}", entry.card.name);
        }
    }
}

#[test]
fn shift_invariance_is_as_claimed() {
    for entry in LOSSES {
        let (labels, scores) = random_query(3, 6);
        let moved: Vec<f64> = scores.iter().map(|s| s + 2.5).collect();
        let value = |scores: &[f64]| {
            let query = ScoredQuery { labels: &labels, scores, seed: 1 };
            (entry.make)().value_and_gradient(query, &mut [0.0; 6])
        };
        let same = (value(&scores) - value(&moved)).abs() < 1e-9;
        assert_eq!(same, entry.shift_invariant, "{}", entry.card.name);
    }
}

/// The value is at least 0 and at most the upper bound of the entry.
#[test]
fn every_loss_stays_within_its_range() {
    for entry in LOSSES {
        let loss = (entry.make)();
        for (seed, n) in (1..=12).flat_map(|n| (0..30).map(move |seed| (seed, n))) {
            let (labels, scores) = random_query(seed, n);
            for stretch in [0.0, 1.0, 100.0] {
                let scores: Vec<f64> = scores.iter().map(|s| stretch * s).collect();
                let query = ScoredQuery { labels: &labels, scores: &scores, seed };
                let value = loss.value_and_gradient(query, &mut vec![f64::NAN; n]);
                let most = entry.max_value.unwrap_or(f64::MAX);
                assert!((0.0..=most + 1e-12).contains(&value), "{}: {value}", entry.card.name);
            }
        }
    }
}
