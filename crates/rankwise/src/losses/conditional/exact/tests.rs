//! Compares the closed forms with sums over every `y`, and with each other.

use super::*;
use crate::rng;
use rand::RngExt;

const FORMS: [ConditionalObjective; 5] = [
    ConditionalObjective::Mle,
    ConditionalObjective::ExpGain,
    ConditionalObjective::L2,
    ConditionalObjective::L3,
    ConditionalObjective::ConvexLoss,
];

fn value(form: ConditionalObjective, kappa: Kappa, labels: &[f32], scores: &[f64]) -> f64 {
    let loss = ExactAuc { form, kappa, threshold: 1.0 };
    loss.value_and_gradient(ScoredQuery { labels, scores, seed: 1 }, &mut vec![f64::NAN; labels.len()])
}

/// The objectives by their definition, for each `y`.
fn by_enumeration(form: ConditionalObjective, kappa: f64, relevant: &[f64], non_relevant: &[f64]) -> f64 {
    let leads: Vec<f64> = relevant.iter().flat_map(|g| non_relevant.iter().map(move |b| g - b)).collect();
    let all: Vec<(f64, f64)> = (0..1_u32 << leads.len())
        .map(|wrong| {
            let is_wrong = |pair: usize| wrong >> pair & 1 == 1;
            let exponent: f64 =
                leads.iter().enumerate().map(|(i, l)| if is_wrong(i) { -2.0 * kappa * l } else { 0.0 }).sum();
            (exponent.exp(), f64::from(wrong.count_ones()) / leads.len() as f64)
        })
        .collect();
    let total: f64 = all.iter().map(|(p, _)| p).sum();
    let expected = |f: &dyn Fn(f64) -> f64| all.iter().map(|(p, loss)| p * f(*loss)).sum::<f64>() / total;
    match form {
        ConditionalObjective::Mle => total.ln(),
        ConditionalObjective::ExpGain => -expected(&|loss| 1.0 - loss).ln(),
        ConditionalObjective::L2 => expected(&|loss| loss),
        ConditionalObjective::L3 => total.ln() + expected(&|loss| loss),
        ConditionalObjective::ConvexLoss => total.ln() + expected(&f64::exp).ln(),
    }
}

#[test]
fn closed_forms_agree_with_sums_over_every_y() {
    let mut random = rng::stream(1, &[]);
    for (n, m) in [(1, 1), (1, 5), (5, 1), (2, 3), (3, 3), (3, 4), (12, 1), (2, 6)] {
        for _ in 0..5 {
            let mut draw = |n: usize| (0..n).map(|_| 3.0 * random.random::<f64>() - 1.5).collect::<Vec<_>>();
            let (relevant, non_relevant) = (draw(n), draw(m));
            let scores = [relevant.clone(), non_relevant.clone()].concat();
            let labels: Vec<f32> = (0..n + m).map(|i| if i < n { 2.0 } else { 0.0 }).collect();
            for form in FORMS {
                for (kappa, factor) in [(Kappa::One, 1.0), (Kappa::Pairs, 1.0 / (n * m) as f64)] {
                    let exact = by_enumeration(form, factor, &relevant, &non_relevant);
                    let closed = value(form, kappa, &labels, &scores);
                    assert!(
                        (closed - exact).abs() < 1e-12 * (1.0 + exact.abs()),
                        "{form:?} {kappa:?} {n} × {m}: {closed} against {exact}"
                    );
                }
            }
        }
    }
}

/// Random labels and scores; the latter have very different ranges.
fn random_query(seed: u64, n: usize) -> (Vec<f32>, Vec<f64>) {
    let mut random = rng::stream(seed, &[n as u64]);
    let spread = 10_f64.powf(5.0 * random.random::<f64>() - 1.0);
    let labels = (0..n).map(|_| random.random_range(0..3) as f32).collect();
    (labels, (0..n).map(|_| spread * (random.random::<f64>() - 0.5)).collect())
}

#[test]
fn the_convex_loss_is_at_least_l1_and_l2() {
    for (seed, n) in (0..300).flat_map(|seed| [2, 5, 30].map(|n| (seed, n))) {
        let (labels, scores) = random_query(seed, n);
        for kappa in [Kappa::One, Kappa::Pairs] {
            let [mle, l2, l3, convex] = [
                ConditionalObjective::Mle,
                ConditionalObjective::L2,
                ConditionalObjective::L3,
                ConditionalObjective::ConvexLoss,
            ]
            .map(|form| value(form, kappa, &labels, &scores));
            assert!(convex >= (mle + l2) * (1.0 - 1e-14), "{convex} below {mle} + {l2}");
            assert!((l3 - (mle + l2)).abs() <= 1e-14 * l3);
        }
    }
}

/// More documents than fit into a block, and scores on both sides of the limit for factorised exponentials: the
/// result is the same as pair by pair.
#[test]
fn blocks_and_factors_do_not_change_the_result() {
    for (seed, spread) in [(1, 1.0), (2, 100.0), (3, 299.0), (4, 301.0), (5, 1e4)] {
        let mut random = rng::stream(seed, &[]);
        let labels: Vec<f32> = (0..800).map(|_| f32::from(random.random::<f64>() < 0.7)).collect();
        let scores: Vec<f64> = (0..800).map(|_| spread * (random.random::<f64>() - 0.5)).collect();
        let class = |is_relevant: bool| {
            let of = |(label, score): (&f32, &f64)| ((*label == 1.0) == is_relevant).then_some(*score);
            labels.iter().zip(&scores).filter_map(of).collect::<Vec<f64>>()
        };
        let (relevant, non_relevant) = (class(true), class(false));
        let exponents = || relevant.iter().flat_map(|g| non_relevant.iter().map(move |b| 2.0 * (b - g)));
        let (count, shift) = (exponents().count() as f64, 1.0 / exponents().count() as f64);
        let logs = |shift: f64| exponents().map(|a| softplus(a + shift)).sum::<f64>();
        let l2 = exponents().map(|a| 1.0 / (1.0 + (-a).exp())).sum::<f64>() / count;
        let expected = [logs(0.0), -(1.0 - l2).ln(), l2, logs(0.0) + l2, logs(shift)];
        for (form, expected) in FORMS.into_iter().zip(expected) {
            let value = value(form, Kappa::One, &labels, &scores);
            assert!((value - expected).abs() < 1e-11 * expected, "{form:?} {spread}: {value} {expected}");
        }
    }
}

fn softplus(a: f64) -> f64 {
    a.max(0.0) + (-a.abs()).exp().ln_1p()
}

/// All pairs are far on the wrong side: the gain underflows, but its logarithm and gradient do not.
#[test]
fn gains_that_underflow_still_have_gradients() {
    let (labels, scores) = ([1.0, 0.0, 0.0], [-1e4, 0.0, 1.0]);
    let mut gradient = [f64::NAN; 3];
    let query = ScoredQuery { labels: &labels, scores: &scores, seed: 1 };
    let value = ExactAuc::of(ConditionalObjective::ExpGain).value_and_gradient(query, &mut gradient);
    // −log ½(e^−20000 + e^−20002); the closer of the two non-relevant documents has the larger share.
    let share = 1.0 / (1.0 + (-2_f64).exp());
    assert!((value - (2e4 + 2_f64.ln() - (-2_f64).exp().ln_1p())).abs() < 1e-9, "{value}");
    let expected = [-2.0, 2.0 * share, 2.0 * (1.0 - share)];
    assert!(gradient.iter().zip(expected).all(|(g, e)| (g - e).abs() < 1e-12), "{gradient:?}");
}

/// Sums for many documents agree with those over blocks.
#[test]
fn both_ways_of_summing_agree() {
    for (seed, form) in (0..20).flat_map(|seed| FORMS.map(|form| (seed, form))) {
        let (labels, mut scores) = random_query(seed, 200);
        scores.iter_mut().for_each(|score| *score = score.clamp(-100.0, 100.0));
        let query = ScoredQuery { labels: &labels, scores: &scores, seed };
        let pairs = Pairs::of(&ExactAuc::of(form), query).unwrap();
        let weight = |wrong: f64, right: f64| wrong + wrong * right;
        let (rows, many) = (pairs.sums(weight), pairs.smooth_sums(weight));
        let near =
            |a: f64, b: f64| assert!((a - b).abs() <= 1e-10 * (1e-30 + a.abs()), "{form:?}: {b} for {a}");
        near(rows.logs, many.logs);
        near(rows.wrong, many.wrong);
        near(rows.right, many.right);
        rows.of_relevant.iter().zip(&many.of_relevant).for_each(|(a, b)| near(*a, *b));
        rows.of_non_relevant.iter().zip(&many.of_non_relevant).for_each(|(a, b)| near(*a, *b));
    }
}
