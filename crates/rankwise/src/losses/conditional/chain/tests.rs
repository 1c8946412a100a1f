//! Compares the chain with the exact distribution over every ranking.

use super::*;
use std::collections::BTreeMap;

/// Every distinct `y` that a ranking has, from all orders of all documents: which pairs are wrong.
fn every_ranking(relevant: usize, non_relevant: usize) -> Vec<Vec<bool>> {
    let mut found = std::collections::BTreeSet::new();
    let mut order: Vec<usize> = (0..relevant + non_relevant).collect();
    permute(&mut order, 0, &mut |order| {
        let place = |document: usize| order.iter().position(|d| *d == document).unwrap();
        let wrong = |g: usize, b: usize| place(relevant + b) < place(g);
        found.insert(
            (0..relevant)
                .flat_map(|g| (0..non_relevant).map(move |b| (g, b)))
                .map(|(g, b)| wrong(g, b))
                .collect(),
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

/// Draws that are far apart are practically independent; their frequencies pass a chi-square test against the exact
/// distribution.
#[test]
fn rankings_have_the_right_frequencies() {
    for (relevant, non_relevant, spread) in
        [(1, 1, 1.0), (1, 3, 1.0), (3, 1, 0.5), (2, 2, 0.7), (2, 3, 0.4), (3, 2, 0.0)]
    {
        let scores: Vec<f64> =
            (0..relevant + non_relevant).map(|i| spread * [0.9, -0.8, 0.1, 1.3, -0.4][i % 5]).collect();
        let (relevant_scores, non_relevant_scores) = scores.split_at(relevant);
        let rankings = every_ranking(relevant, non_relevant);
        let weight = |wrong: &Vec<bool>| {
            let exponents =
                relevant_scores.iter().flat_map(|g| non_relevant_scores.iter().map(move |b| b - g));
            exponents.zip(wrong).map(|(a, w)| if *w { a } else { 0.0 }).sum::<f64>().exp()
        };
        let total: f64 = rankings.iter().map(weight).sum();
        // A matrix of pairs that belongs to a ranking is determined by its row and column sums.
        let counts = |wrong: &Vec<bool>| {
            let ahead = (0..relevant)
                .map(|g| (0..non_relevant).filter(|b| wrong[g * non_relevant + b]).count() as u32);
            let behind = (0..non_relevant)
                .map(|b| (0..relevant).filter(|g| wrong[g * non_relevant + b]).count() as u32);
            ahead.chain(behind).collect::<Vec<u32>>()
        };
        let mut expected: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
        for wrong in &rankings {
            *expected.entry(counts(wrong)).or_default() += weight(wrong) / total;
        }
        let size = 20_000;
        let chain = GibbsSampler { size, sweeps: 20, thinning: 12 * (relevant + non_relevant) };
        let sample = chain.draw(relevant_scores, non_relevant_scores, 7);
        let mut seen: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
        for i in 1..sample.len() {
            let state = sample.state(i);
            *seen.entry([state.non_relevant_ahead(), state.relevant_behind()].concat()).or_default() += 1.0;
        }
        assert!(seen.keys().all(|counts| expected.contains_key(counts)), "not a ranking");
        let surprise: f64 = expected
            .iter()
            .map(|(counts, p)| {
                (seen.get(counts).unwrap_or(&0.0) - p * size as f64).powi(2) / (p * size as f64)
            })
            .sum();
        // Mean k and variance 2k: five standard deviations above.
        let freedom = expected.len() as f64 - 1.0;
        assert!(
            surprise < freedom + 5.0 * (2.0 * freedom).sqrt(),
            "{relevant} × {non_relevant}: chi-square {surprise} at {freedom} degrees"
        );
    }
}

#[test]
fn huge_and_wrong_scores_still_give_valid_rankings() {
    for (relevant_scores, non_relevant_scores) in
        [([1e4, -1e4], [0.0, 3e4]), ([-1e300, 0.0], [1e300, 0.0]), ([0.0, 0.0], [0.0, 0.0])]
    {
        let sample =
            GibbsSampler { size: 50, sweeps: 3, thinning: 3 }.draw(&relevant_scores, &non_relevant_scores, 1);
        assert_eq!(sample.len(), 51);
        for i in 0..sample.len() {
            let (ahead, behind) = (sample.state(i).non_relevant_ahead(), sample.state(i).relevant_behind());
            assert_eq!(ahead.iter().sum::<u32>(), behind.iter().sum::<u32>());
        }
    }
}
