//! Compares λ-gradients with their definition, pair by pair, using the metrics themselves; and with LightGBM.

use super::*;
use crate::metrics::parse;
use crate::rank::{Ranking, grade};
use crate::rng;
use rand::RngExt;
use serde::Deserialize;

/// A pair by its definition: the better document, the worse one, and the weight of the pair.
type Pair = (usize, usize, f64);

/// Documents by decreasing score, ties in input order.
fn order_of(scores: &[f64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..scores.len() as u32).collect();
    order.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]));
    order
}

/// `|ΔZ|` of two positions, by swapping them and evaluating the metric.
fn change(settings: &LambdaSettings, labels: &[f32], order: &[u32], places: (usize, usize)) -> f64 {
    let conventions = settings.conventions();
    let value = |name: &str, order: Vec<u32>| {
        parse(name, &conventions).unwrap().value(labels, &Ranking::from_order(order)).unwrap()
    };
    let mut swapped = order.to_vec();
    swapped.swap(places.0, places.1);
    let change = |name: &str| (value(name, swapped.clone()) - value(name, order.to_vec())).abs();
    match settings.metric {
        LambdaMetric::Map => change("map"),
        LambdaMetric::Mrr => change("mrr"),
        LambdaMetric::Err => change("err"),
        LambdaMetric::Ndcg => {
            let mut best: Vec<u32> = (0..labels.len() as u32).collect();
            best.sort_by(|&a, &b| grade(labels[b as usize]).total_cmp(&grade(labels[a as usize])));
            let k = if settings.k == 0 { labels.len() } else { settings.k };
            let ideal = value(&format!("dcg@{k}"), best);
            if ideal > 0.0 { change("dcg") / ideal } else { 0.0 }
        }
    }
}

/// `ρ` of a pair.
fn rho(sigma: f64, lead: f64) -> f64 {
    1.0 / (1.0 + (sigma * lead).exp())
}

/// All contributing pairs, by the definition.
fn pairs(settings: &LambdaSettings, labels: &[f32], scores: &[f64]) -> Vec<Pair> {
    let order = order_of(scores);
    let mut pairs = Vec::new();
    for below in 0..order.len() {
        for above in 0..below {
            let (a, b) = (order[above] as usize, order[below] as usize);
            if grade(labels[a]) == grade(labels[b]) || settings.k > 0 && above >= settings.k {
                continue;
            }
            let (better, worse) = if grade(labels[a]) > grade(labels[b]) { (a, b) } else { (b, a) };
            let mut weight = change(settings, labels, &order, (above, below));
            if settings.normalize && scores.iter().any(|s| *s != scores[0]) {
                weight /= 0.01 + (scores[a] - scores[b]).abs();
            }
            pairs.push((better, worse, weight));
        }
    }
    let lambda =
        |&(i, j, weight): &Pair| settings.sigma * rho(settings.sigma, scores[i] - scores[j]) * weight;
    let both_sides = 2.0 * pairs.iter().map(lambda).sum::<f64>();
    if settings.normalize && both_sides > 0.0 {
        let scale = both_sides.ln_1p() / 2_f64.ln() / both_sides;
        pairs.iter_mut().for_each(|pair| pair.2 *= scale);
    }
    pairs
}

/// The weighted pair logistic loss for given weights.
fn loss_of(pairs: &[Pair], sigma: f64, scores: &[f64]) -> f64 {
    let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
    pairs.iter().map(|&(i, j, weight)| weight * softplus(-sigma * (scores[i] - scores[j]))).sum()
}

fn assert_close(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found} for {expected}");
}

/// Compares value, gradient and curvature with sums over the pairs.
fn check(settings: LambdaSettings, labels: &[f32], scores: &[f64]) {
    let (n, sigma) = (labels.len(), settings.sigma);
    let pairs = pairs(&settings, labels, scores);
    let (mut gradient, mut curvature) = (vec![0.0; n], vec![0.0; n]);
    for &(i, j, weight) in &pairs {
        let rho = rho(sigma, scores[i] - scores[j]);
        gradient[i] -= sigma * rho * weight;
        gradient[j] += sigma * rho * weight;
        curvature[i] += sigma * sigma * rho * (1.0 - rho) * weight;
        curvature[j] += sigma * sigma * rho * (1.0 - rho) * weight;
    }
    let loss = Lambda::new(settings).unwrap();
    let query = ScoredQuery { labels, scores, seed: 0 };
    let (mut g, mut h) = (vec![f64::NAN; n], vec![f64::NAN; n]);
    let value = loss.value_and_gradient(query, &mut g);
    loss.curvature(query, &mut h);
    let case = format!("{settings:?} {labels:?} {scores:?}");
    let total = loss_of(&pairs, sigma, scores);
    assert_close(&case, value, total, 1e-11 * (1.0 + total));
    for i in 0..n {
        // A difference of two metric values is precise to 1e-15, and normalisation can multiply that by a hundred.
        assert_close(&case, g[i], gradient[i], 1e-11 * sigma);
        assert_close(&case, h[i], curvature[i], 1e-11 * sigma * sigma);
    }
    let some_count = pairs.iter().any(|pair| pair.2 > 1e-9);
    assert_eq!(loss.has_signal(labels), some_count, "{case}");
}

fn all_settings() -> Vec<LambdaSettings> {
    let plain = LambdaSettings::default();
    let mut all = Vec::new();
    for (metric, k) in LambdaMetric::ALL.into_iter().flat_map(|(_, m)| [0, 1, 2, 3].map(|k| (m, k))) {
        all.push(LambdaSettings { metric, k, normalize: false, ..plain });
        all.push(LambdaSettings { metric, k, sigma: 0.7, gain: Gain::Linear, threshold: 2.0, ..plain });
    }
    all.push(LambdaSettings {
        metric: LambdaMetric::Err,
        stop: StopProbability::Exp2,
        max_grade: 2.0,
        ..plain
    });
    all
}

/// Every query of up to four documents with the labels 0, 1, 2 and 4, and of five documents with two labels.
#[test]
fn all_small_queries_agree_with_the_definition() {
    for settings in all_settings() {
        for (n, grades) in [(1, 4), (2, 4), (3, 4), (4, 4), (5, 2)] {
            for number in 0..usize::pow(grades, n) {
                let digit = |i: u32| number / usize::pow(grades, i) % grades;
                let labels: Vec<f32> = (0..n).map(|i| [0.0, 2.0, 1.0, 4.0][digit(i)]).collect();
                let scores = [0.3, -0.4, 1.1, 0.25, 2.0];
                check(settings, &labels, &scores[..n as usize]);
            }
        }
    }
}

/// Ties, labels that are fractional, negative or missing, and more documents than a row has lanes.
#[test]
fn random_queries_agree_with_the_definition() {
    let mut random = rng::stream(5, &[]);
    for settings in all_settings() {
        for n in [2, 7, 8, 9, 16, 17, 33] {
            let label = |x: u32| [0.0, 0.5, 1.0, 1.75, 2.0, 3.0, -1.0, f32::NAN][x as usize];
            let labels: Vec<f32> = (0..n).map(|_| label(random.random_range(0..8))).collect();
            let scores: Vec<f64> = (0..n).map(|_| f64::from(random.random_range(-9..9)) / 4.0).collect();
            check(settings, &labels, &scores);
            check(settings, &labels, &vec![0.5; n]);
        }
    }
}

/// Scores just close enough for one exponential per document, and too far apart for it.
#[test]
fn scores_far_apart_agree_with_the_definition() {
    let mut random = rng::stream(6, &[]);
    let n = 20;
    for range in [290.0, 310.0, 2000.0] {
        for settings in all_settings() {
            let labels: Vec<f32> = (0..n).map(|_| random.random_range(0..5) as f32).collect();
            let mut scores: Vec<f64> = (0..n).map(|_| random.random_range(0.0..range)).collect();
            (scores[0], scores[1]) = (0.0, range / settings.sigma);
            check(settings, &labels, &scores);
        }
    }
}

/// With the weights of the current ranking fixed, the gradient is the derivative of the loss.
#[test]
fn gradients_agree_with_finite_differences_at_fixed_weights() {
    let mut random = rng::stream(7, &[]);
    for settings in all_settings() {
        let n = 6;
        let labels: Vec<f32> = (0..n).map(|_| random.random_range(0..5) as f32).collect();
        let scores: Vec<f64> = (0..n).map(|_| random.random_range(-2.0..2.0)).collect();
        let pairs = pairs(&settings, &labels, &scores);
        let (mut gradient, mut curvature) = (vec![0.0; n], vec![0.0; n]);
        let query = ScoredQuery { labels: &labels, scores: &scores, seed: 0 };
        Lambda::new(settings).unwrap().newton(query, &mut gradient, &mut curvature);
        for i in 0..n {
            let at = |step: f64| {
                let mut moved = scores.clone();
                moved[i] += step;
                loss_of(&pairs, settings.sigma, &moved)
            };
            let h = 1e-3;
            let slope = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
            let bend = (at(h) - 2.0 * at(0.0) + at(-h)) / (h * h);
            assert_close(&format!("{settings:?}: slope {i}"), gradient[i], slope, 1e-9);
            assert_close(&format!("{settings:?}: bend {i}"), curvature[i], bend, 1e-5);
        }
    }
}

#[derive(Deserialize)]
struct Answer {
    sigma: f64,
    k: usize,
    normalize: bool,
    linear: bool,
    exact: bool,
    labels: Vec<f32>,
    scores: Vec<f64>,
    gradient: Vec<f64>,
    curvature: Vec<f64>,
}

/// LightGBM sums in single precision, and rounds scores unless they are chosen to match its lookup table.
#[test]
fn gradients_agree_with_lightgbm() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/lambda/answers.json");
    let answers: Vec<Answer> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(answers.len() > 20);
    for answer in answers {
        let Answer { sigma, k, normalize, .. } = answer;
        let gain = if answer.linear { Gain::Linear } else { Gain::Exp2 };
        let settings = LambdaSettings { k, sigma, normalize, gain, ..LambdaSettings::default() };
        let n = answer.labels.len();
        let (mut gradient, mut curvature) = (vec![0.0; n], vec![0.0; n]);
        let query = ScoredQuery { labels: &answer.labels, scores: &answer.scores, seed: 0 };
        Lambda::new(settings).unwrap().newton(query, &mut gradient, &mut curvature);
        let tolerance = if answer.exact { 1e-6 } else { 1e-4 };
        let size = |column: &[f64]| column.iter().map(|x| x.abs()).fold(0.0, f64::max);
        for (found, expected) in [(&gradient, &answer.gradient), (&curvature, &answer.curvature)] {
            for i in 0..n {
                let near = tolerance * (expected[i].abs() + 0.1 * size(expected));
                assert_close(&format!("{settings:?}, document {i} of {n}"), found[i], expected[i], near);
            }
        }
    }
}

#[test]
fn settings_follow_from_a_metric() {
    let settings = |name: &str| {
        let metric = parse(name, &Conventions::default()).unwrap();
        LambdaSettings::for_metric(&*metric)
    };
    let ndcg = settings("ndcg@10:gain=linear").unwrap();
    assert_eq!((ndcg.metric, ndcg.k, ndcg.gain), (LambdaMetric::Ndcg, 10, Gain::Linear));
    let map = settings("ap:t=2").unwrap();
    assert_eq!((map.metric, map.k, map.threshold), (LambdaMetric::Map, 0, 2.0));
    assert_eq!(settings("mrr@5").unwrap().metric, LambdaMetric::Mrr);
    let err = settings("err:stop=grade:max-grade=3").unwrap();
    assert_eq!((err.metric, err.stop, err.max_grade), (LambdaMetric::Err, StopProbability::Grade, 3.0));
    let refusal = |name: &str| settings(name).unwrap_err().to_string();
    assert!(refusal("auc").contains("`ndcg`, `map`"), "{}", refusal("auc"));
    assert!(refusal("ndcg:discount=letor").contains("`log2`"), "{}", refusal("ndcg:discount=letor"));
}

#[test]
fn names_are_those_of_the_metrics_and_invalid_settings_are_rejected() {
    for (name, metric) in LambdaMetric::ALL {
        assert_eq!(serde_json::to_value(metric).unwrap(), name);
        assert_eq!(parse(name, &Conventions::default()).unwrap().name(), name);
    }
    let refusal = |settings| Lambda::new(settings).unwrap_err().to_string();
    for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refusal(LambdaSettings { sigma, ..LambdaSettings::default() }).contains("sigma"));
    }
    let threshold = LambdaSettings { threshold: 0.0, ..LambdaSettings::default() };
    assert!(refusal(threshold).contains("threshold"));
}

/// The pairs of LambdaLoss by its definition, ranks from 1.
fn lambda_loss_pairs(labels: &[f32], order_by: &[f64], mu: f64) -> Vec<Pair> {
    let order = order_of(order_by);
    let gain = |d: usize| 2_f64.powf(grade(labels[d]).max(0.0).into()) - 1.0;
    let mut gains: Vec<f64> = (0..labels.len()).map(gain).collect();
    gains.sort_by(|a, b| b.total_cmp(a));
    let discount = |rank: usize| 1.0 / (1.0 + rank as f64).log2();
    let ideal: f64 = gains.iter().enumerate().map(|(place, gain)| gain * discount(place + 1)).sum();
    let mut pairs = Vec::new();
    for below in 0..order.len() {
        for above in 0..below {
            let (a, b) = (order[above] as usize, order[below] as usize);
            let apart = (gain(a) - gain(b)).abs() / ideal;
            let places = discount(above + 1) - discount(below + 1);
            let distance = discount(below - above) - discount(below - above + 1);
            let (better, worse) = if gain(a) > gain(b) { (a, b) } else { (b, a) };
            if apart > 0.0 {
                pairs.push((better, worse, apart * (places + mu * distance)));
            }
        }
    }
    pairs
}

/// LambdaLoss with the current ranking and with a fixed ranking, for changing scores.
#[test]
fn lambda_loss_and_fixed_rankings_agree_with_the_definition() {
    let mut random = rng::stream(8, &[]);
    for (n, range) in [2, 5, 9, 30].into_iter().flat_map(|n| [(n, 2.0), (n, 295.0), (n, 900.0)]) {
        let labels: Vec<f32> =
            (0..n).map(|_| [0.0, 1.0, 2.0, -1.0, f32::NAN][random.random_range(0..5)]).collect();
        let mut draw = || (0..n).map(|_| range * random.random::<f64>()).collect::<Vec<f64>>();
        let (scores, anchor) = (draw(), draw());
        for mu in [0.0, 0.5, 10.0] {
            let plain = LambdaSettings { k: 0, normalize: false, ..LambdaSettings::default() };
            let loss = Lambda::new(LambdaSettings { distance: mu, ..plain }).unwrap();
            let query = ScoredQuery { labels: &labels, scores: &scores, seed: 0 };
            let (mut present, mut held) = (vec![f64::NAN; n], vec![f64::NAN; n]);
            let values = [
                loss.value_and_gradient(query, &mut present),
                loss.value_and_gradient_in_order(query, &anchor, &mut held),
            ];
            for (value, gradient, order_by) in [(values[0], present, &scores), (values[1], held, &anchor)] {
                let pairs = lambda_loss_pairs(&labels, order_by, mu);
                let expected = loss_of(&pairs, 1.0, &scores);
                let case = format!("{n} documents within {range}, mu = {mu}");
                assert_close(&case, value, expected, 1e-11 * (1.0 + expected));
                let mut slopes = vec![0.0; n];
                for &(i, j, weight) in &pairs {
                    let slope = weight * rho(1.0, scores[i] - scores[j]);
                    slopes[i] -= slope;
                    slopes[j] += slope;
                }
                (0..n).for_each(|i| assert_close(&case, gradient[i], slopes[i], 1e-11 * (1.0 + mu)));
            }
        }
    }
    assert!(Lambda::new(LambdaSettings { distance: -1.0, ..LambdaSettings::default() }).is_err());
    let map = LambdaSettings { metric: LambdaMetric::Map, distance: 1.0, ..LambdaSettings::default() };
    assert!(Lambda::new(map).unwrap_err().to_string().contains("NDCG only"));
}

/// A request to stop is noticed inside a long query: no row is added any more.
#[test]
fn a_long_query_can_be_stopped() {
    let n = 3000;
    let labels: Vec<f32> = (0..n).map(|i| (i % 3) as f32).collect();
    let scores: Vec<f64> = (0..n).map(|i| f64::from((i * 37 % 101) as u32)).collect();
    let query = ScoredQuery { labels: &labels, scores: &scores, seed: 0 };
    let (mut loss, stop) = (Lambda::of_lambda_loss(), Stop::default());
    loss.set_stop(&stop);
    stop.request();
    let mut gradient = vec![f64::NAN; n];
    assert_eq!(loss.value_and_gradient(query, &mut gradient), 0.0);
    assert!(gradient.iter().all(|slope| *slope == 0.0));
}

/// Documents that the fixed ranking ties are taken by increasing label, wherever they are in the query.
#[test]
fn a_fixed_ranking_with_ties_does_not_depend_on_the_order_of_documents() {
    let (labels, anchor) = ([2.0, 0.0, 1.0, 2.0, 0.0, 1.0], [0.4, 0.4, 0.4, 0.1, 0.1, 0.9]);
    let scores = [0.3, 0.3, 0.3, -0.2, -0.2, 0.5];
    let order = [5, 1, 3, 0, 4, 2];
    let distinct = [0.38, 0.4, 0.39, 0.1, 0.11, 0.9];
    for loss in [Lambda::of(LambdaMetric::Ndcg), Lambda::of(LambdaMetric::Map), Lambda::of_lambda_loss()] {
        let slopes = |labels: &[f32], scores: &[f64], anchor: &[f64]| {
            let mut gradient = [0.0; 6];
            let query = ScoredQuery { labels, scores, seed: 0 };
            loss.value_and_gradient_in_order(query, anchor, &mut gradient);
            gradient
        };
        let given = slopes(&labels, &scores, &anchor);
        assert_eq!(given, slopes(&labels, &scores, &distinct));
        let moved = slopes(&order.map(|d| labels[d]), &order.map(|d| scores[d]), &order.map(|d| anchor[d]));
        (0..6).for_each(|i| assert_close("moved", moved[i], given[order[i]], 1e-12));
    }
}
