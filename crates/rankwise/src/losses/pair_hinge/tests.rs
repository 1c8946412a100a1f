//! Compares the sweeps with all pairs enumerated.

use super::*;
use crate::rank::grade;
use crate::rng;
use rand::RngExt;

/// A test case: labels, scores, and a vector to multiply.
struct Case {
    labels: Vec<f32>,
    scores: Vec<f64>,
    v: Vec<f64>,
}

/// Few and many labels that are integer, fractional, negative or missing; scores that are tied or differ by exactly
/// 1.
fn random_case(seed: u64) -> Case {
    let mut random = rng::stream(seed, &[5]);
    let n = random.random_range(0..60);
    let kind = random.random_range(0..4);
    let label = |random: &mut rng::Random| match kind {
        0 => random.random_range(0..3) as f32,
        1 => random.random_range(-3..4) as f32 / 2.0,
        2 => random.random::<f32>() * 100.0 - 50.0,
        _ => [f32::NAN, 0.0, -0.0, 1.0, 40.0][random.random_range(0..5)],
    };
    let labels = (0..n).map(|_| label(&mut random)).collect();
    let scale = [0.1, 0.25, 1.0][random.random_range(0..3)];
    let scores = (0..n).map(|_| scale * f64::from(random.random_range(-9..10))).collect();
    let v = (0..n).map(|_| random.random::<f64>() * 2.0 - 1.0).collect();
    Case { labels, scores, v }
}

/// The value and gradient of both losses, and the product of the squared hinge's Hessian with `v`, pair by pair.
struct ByPairs {
    hinge: f64,
    hinge_gradient: Vec<f64>,
    squared: f64,
    squared_gradient: Vec<f64>,
    product: Vec<f64>,
    diagonal: Vec<f64>,
}

fn by_pairs(case: &Case, tau: impl Fn(f32, f32) -> f64, mean: bool) -> ByPairs {
    let n = case.labels.len();
    let zeros = vec![0.0; n];
    let mut all = ByPairs {
        hinge: 0.0,
        hinge_gradient: zeros.clone(),
        squared: 0.0,
        squared_gradient: zeros.clone(),
        product: zeros.clone(),
        diagonal: zeros,
    };
    let pairs: Vec<(usize, usize)> = (0..n * n)
        .map(|k| (k / n, k % n))
        .filter(|&(i, j)| grade(case.labels[i]) > grade(case.labels[j]))
        .collect();
    let factor = if mean { 1.0 / pairs.len() as f64 } else { 1.0 };
    for (i, j) in pairs {
        let weight = factor * tau(grade(case.labels[i]), grade(case.labels[j]));
        let short = 1.0 - (case.scores[i] - case.scores[j]);
        if short <= 0.0 {
            continue;
        }
        all.hinge += weight * short;
        all.squared += weight * short * short;
        let bend = 2.0 * weight * (case.v[i] - case.v[j]);
        for (d, sign) in [(i, 1.0), (j, -1.0)] {
            all.hinge_gradient[d] -= sign * weight;
            all.squared_gradient[d] -= sign * 2.0 * weight * short;
            all.product[d] += sign * bend;
            all.diagonal[d] += 2.0 * weight;
        }
    }
    all
}

fn near(found: &[f64], expected: &[f64], what: &str, seed: u64) {
    let scale = 1.0 + expected.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() < 1e-12 * scale, "{what}, case {seed}: {found:?} for {expected:?}");
    }
}

fn agrees(weights: PairWeights, tau: impl Fn(f32, f32) -> f64) {
    let (hinge, squared) = (PairHinge(weights.clone()), SquaredPairHinge(weights.clone()));
    let mut informed = 0;
    for seed in 0..1500 {
        let case = random_case(seed);
        let n = case.labels.len();
        let expected = by_pairs(&case, &tau, weights.sum == PairSum::Mean);
        let query = ScoredQuery { labels: &case.labels, scores: &case.scores, seed };
        let mut out = vec![f64::NAN; n];
        let value = hinge.value_and_gradient(query, &mut out);
        near(&[value], &[expected.hinge], "hinge", seed);
        near(&out, &expected.hinge_gradient, "gradient of the hinge", seed);
        let value = squared.value_and_gradient(query, &mut out);
        near(&[value], &[expected.squared], "square", seed);
        near(&out, &expected.squared_gradient, "gradient of the square", seed);
        squared.curvature(query, &mut out);
        near(&out, &expected.diagonal, "diagonal", seed);
        squared.hessian(query)(&case.v, &mut out);
        near(&out, &expected.product, "Hessian product", seed);
        informed += usize::from(hinge.has_signal(&case.labels));
    }
    assert!(informed > 1000, "only {informed} cases have pairs");
}

#[test]
fn sweeps_agree_with_all_pairs() {
    agrees(PairWeights::default(), |_, _| 1.0);
    agrees(PairWeights { sum: PairSum::Mean, ..PairWeights::default() }, |_, _| 1.0);
}

/// Weights for integer grades from −3 to 3. A label between counts as the lower grade, so some pairs have weight 0.
#[test]
fn weighted_sweeps_agree_with_all_pairs() {
    let tau = |better: f32, worse: f32| f64::from((better - worse) * (better + 4.0));
    let grades = Some(GradeWeights::new((-3..4).map(|g| g as f32).collect(), tau));
    let rounded = |better: f32, worse: f32| {
        let known = |g: f32| g.floor().clamp(-3.0, 3.0);
        tau(known(better), known(worse))
    };
    agrees(PairWeights { sum: PairSum::Total, grades: grades.clone() }, rounded);
}

/// Labels 2, 1, 0 with scores 0, 0.5, 0: violated by 1.5, 1 and 0.5.
#[test]
fn three_documents_by_hand() {
    let query = ScoredQuery { labels: &[2.0, 1.0, 0.0], scores: &[0.0, 0.5, 0.0], seed: 0 };
    let mut gradient = [0.0; 3];
    assert_eq!(PairHinge::default().value_and_gradient(query, &mut gradient), 3.0);
    assert_eq!(gradient, [-2.0, 0.0, 2.0]);
    let value = SquaredPairHinge::default().value_and_gradient(query, &mut gradient);
    assert!((value - (2.25 + 1.0 + 0.25)).abs() < 1e-12);
    assert!(gradient.iter().zip([-5.0, 2.0, 3.0]).all(|(g, e)| (g - e).abs() < 1e-12), "{gradient:?}");
}

/// A common offset of all scores must not cost precision.
#[test]
fn a_large_common_score_changes_nothing() {
    let (labels, near) = ([2.0, 1.0, 0.0, 0.0], [0.0, 0.5, 0.25, -0.75]);
    let far = near.map(|s| s + 2_f64.powi(40));
    let value = |scores: &[f64]| {
        let query = ScoredQuery { labels: &labels, scores, seed: 0 };
        SquaredPairHinge::default().value_and_gradient(query, &mut [0.0; 4])
    };
    assert!((value(&near) - value(&far)).abs() < 1e-12 * value(&near));
}
