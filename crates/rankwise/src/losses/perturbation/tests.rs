//! Compares each loss with its definition; the linear program of the minimum perturbation is in
//! `tests/perturbation.rs`.

use super::*;
use crate::losses::QueryLoss;
use crate::metrics::{Conventions, parse};
use crate::rank::Ranking;
use crate::rng;
use rand::RngExt;

/// Labels and scores with few distinct values, so that both are often tied.
fn random_case(seed: u64, n: usize) -> (Vec<f32>, Vec<f64>) {
    let mut random = rng::stream(seed, &[n as u64, 11]);
    let scale = [0.02, 0.3, 2.0][random.random_range(0..3)];
    let unit = [1.0, 0.75][random.random_range(0..2)];
    loop {
        let labels: Vec<f32> = (0..n).map(|_| unit * random.random_range(0..4) as f32).collect();
        let scores = (0..n).map(|_| scale * f64::from(random.random_range(-6..7))).collect();
        if labels.iter().any(|r| *r != labels[0]) {
            return (labels, scores);
        }
    }
}

/// Labels 2, 1, 0 with scores 0, 0.5, 1 and margin 1: the middle is raised to 2 and the first to 3, so both depend on
/// the last. ν is 1 and 1/log₂3, divided by an ideal DCG of 3 + 1/log₂3.
#[test]
fn a_chain_by_hand() {
    let loss = MinPerturb { margin: 1.0, k: 0, ..MinPerturb::default() };
    let mut gradient = [f64::NAN; 3];
    let query = ScoredQuery { labels: &[2.0, 1.0, 0.0], scores: &[0.0, 0.5, 1.0], seed: 0 };
    let value = loss.value_and_gradient(query, &mut gradient);
    let second = 1.0 / 3_f64.log2();
    let ideal = 3.0 + second;
    assert!((value - (3.0 + 1.5 * second) / ideal).abs() < 1e-15);
    let expected = [-1.0 / ideal, -second / ideal, (1.0 + second) / ideal];
    assert!(gradient.iter().zip(expected).all(|(g, e)| (g - e).abs() < 1e-15), "{gradient:?}");
}

/// The losses of all rankings of a small query: `1 − NDCG(y) + f(s,y)` of each, and `f(s,z)` of each perfect one.
struct Enumerated {
    worst: f64,
    perfect: Vec<(Vec<u32>, f64)>,
}

fn permutations(n: u32) -> Vec<Vec<u32>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let insert = |order: Vec<u32>| {
        (0..n as usize).map(move |place| [&order[..place], &[n - 1], &order[place..]].concat())
    };
    permutations(n - 1).into_iter().flat_map(insert).collect()
}

fn enumerate(search: &DormSearch, labels: &[f32], scores: &[f64], all: &[Vec<u32>]) -> Enumerated {
    let cut = if search.k == 0 { String::new() } else { format!("@{}", search.k) };
    let metric = parse(&format!("ndcg{cut}"), &Conventions::default()).unwrap();
    let mut found = Enumerated { worst: f64::NEG_INFINITY, perfect: Vec::new() };
    for order in all {
        let places = if search.cut_off == 0 { order.len() } else { search.cut_off };
        let weighed = order.iter().take(places).enumerate();
        let f: f64 = weighed.map(|(p, d)| scores[*d as usize] / (1.0 + p as f64).powf(search.decay)).sum();
        let ndcg = metric.value(labels, &Ranking::from_order(order.clone())).unwrap();
        found.worst = found.worst.max(1.0 - ndcg + f);
        if order.windows(2).all(|pair| labels[pair[0] as usize] >= labels[pair[1] as usize]) {
            found.perfect.push((order.clone(), f));
        }
    }
    found
}

#[test]
fn both_hinges_agree_with_all_rankings_with_and_without_cutoff() {
    let full = DormSearch::default();
    let searches = [
        full,
        DormSearch { k: 10, ..full },
        DormSearch { k: 2, decay: 1.0, ..full },
        DormSearch { k: 3, cut_off: 4, ..full },
        DormSearch { k: 1, cut_off: 1, ..full },
    ];
    for (n, cases) in [(2, 50), (3, 200), (4, 300), (5, 200), (6, 60), (7, 6)] {
        let all = permutations(n as u32);
        for (seed, search) in (0..cases).flat_map(|seed| searches.map(|search| (seed, search))) {
            let (labels, scores) = random_case(seed, n);
            let query = ScoredQuery { labels: &labels, scores: &scores, seed };
            let found = enumerate(&search, &labels, &scores, &all);
            let context = || format!("{search:?}: {labels:?} {scores:?}");
            let least = found.perfect.iter().map(|(_, f)| *f).fold(f64::INFINITY, f64::min);
            let value = MaxMax(search).value_and_gradient(query, &mut vec![0.0; n]);
            assert!((value - (found.worst - least)).abs() < 1e-10, "{}", context());
            let drawn = tie_random::drawn(&search.gains(&labels), seed);
            let (_, f) = found.perfect.iter().find(|(z, _)| *z == drawn).expect("a perfect ranking");
            let value = TieRandom(search).value_and_gradient(query, &mut vec![0.0; n]);
            assert!((value - (found.worst - f)).abs() < 1e-10, "{}", context());
        }
    }
}

/// Four documents with equal gains: all 24 orders, about equally often; one order per seed.
#[test]
fn ties_are_broken_evenly_and_by_the_seed_alone() {
    let mut seen = std::collections::BTreeMap::new();
    for seed in 0..4800 {
        *seen.entry(tie_random::drawn(&[1.0; 4], seed)).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 24);
    // Chi-square with 23 degrees of freedom is below 49.7 with probability 0.999.
    let chi: f64 = seen.values().map(|&count| (f64::from(count) - 200.0).powi(2) / 200.0).sum();
    assert!(chi < 49.7, "{chi}");
    assert_eq!(tie_random::drawn(&[1.0; 9], 5), tie_random::drawn(&[1.0; 9], 5));
}
