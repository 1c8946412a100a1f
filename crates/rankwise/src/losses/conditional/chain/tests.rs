//! The chain against the law worked out over every ranking.

use super::*;
use std::collections::BTreeMap;

/// Every different `y` that a ranking has, from all orders of all documents: which pairs are wrong.
fn every_ranking(goods: usize, bads: usize) -> Vec<Vec<bool>> {
    let mut found = std::collections::BTreeSet::new();
    let mut order: Vec<usize> = (0..goods + bads).collect();
    permute(&mut order, 0, &mut |order| {
        let place = |document: usize| order.iter().position(|d| *d == document).unwrap();
        let wrong = |g: usize, b: usize| place(goods + b) < place(g);
        found.insert(
            (0..goods).flat_map(|g| (0..bads).map(move |b| (g, b))).map(|(g, b)| wrong(g, b)).collect(),
        );
    });
    found.into_iter().collect()
}

fn permute(order: &mut Vec<usize>, from: usize, visit: &mut impl FnMut(&[usize])) {
    if from == order.len() {
        return visit(order);
    }
    for i in from..order.len() {
        order.swap(from, i);
        permute(order, from + 1, visit);
        order.swap(from, i);
    }
}

/// Draws far apart are as good as independent; their frequencies pass a chi-square test against the exact law.
#[test]
fn rankings_come_as_often_as_the_law_says() {
    for (goods, bads, spread) in
        [(1, 1, 1.0), (1, 3, 1.0), (3, 1, 0.5), (2, 2, 0.7), (2, 3, 0.4), (3, 2, 0.0)]
    {
        let scores: Vec<f64> =
            (0..goods + bads).map(|i| spread * [0.9, -0.8, 0.1, 1.3, -0.4][i % 5]).collect();
        let (good, bad) = scores.split_at(goods);
        let rankings = every_ranking(goods, bads);
        let weight = |wrong: &Vec<bool>| {
            let exponents = good.iter().flat_map(|g| bad.iter().map(move |b| b - g));
            exponents.zip(wrong).map(|(a, w)| if *w { a } else { 0.0 }).sum::<f64>().exp()
        };
        let total: f64 = rankings.iter().map(weight).sum();
        // A matrix of pairs that belongs to a ranking is the only one with its sums of rows and columns.
        let counts = |wrong: &Vec<bool>| {
            let ahead = (0..goods).map(|g| (0..bads).filter(|b| wrong[g * bads + b]).count() as u32);
            let behind = (0..bads).map(|b| (0..goods).filter(|g| wrong[g * bads + b]).count() as u32);
            ahead.chain(behind).collect::<Vec<u32>>()
        };
        let mut expected: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
        for wrong in &rankings {
            *expected.entry(counts(wrong)).or_default() += weight(wrong) / total;
        }
        let size = 20_000;
        let chain = Chain { size, sweeps: 20, thinning: 12 * (goods + bads) };
        let sample = chain.draw(good, bad, 7);
        let mut seen: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
        for i in 1..sample.len() {
            let state = sample.state(i);
            *seen.entry([state.bads_ahead(), state.goods_behind()].concat()).or_default() += 1.0;
        }
        assert!(seen.keys().all(|counts| expected.contains_key(counts)), "not a ranking");
        let surprise: f64 = expected
            .iter()
            .map(|(counts, p)| {
                (seen.get(counts).unwrap_or(&0.0) - p * size as f64).powi(2) / (p * size as f64)
            })
            .sum();
        // Mean k and variance 2k: five deviations above.
        let freedom = expected.len() as f64 - 1.0;
        assert!(
            surprise < freedom + 5.0 * (2.0 * freedom).sqrt(),
            "{goods} × {bads}: chi-square {surprise} at {freedom} degrees"
        );
    }
}

#[test]
fn hopeless_and_huge_scores_leave_rankings_whole() {
    for (good, bad) in [([1e4, -1e4], [0.0, 3e4]), ([-1e300, 0.0], [1e300, 0.0]), ([0.0, 0.0], [0.0, 0.0])] {
        let sample = Chain { size: 50, sweeps: 3, thinning: 3 }.draw(&good, &bad, 1);
        assert_eq!(sample.len(), 51);
        for i in 0..sample.len() {
            let (ahead, behind) = (sample.state(i).bads_ahead(), sample.state(i).goods_behind());
            assert_eq!(ahead.iter().sum::<u32>(), behind.iter().sum::<u32>());
        }
    }
}
