//! Compares steps with the sampler of the paper, whose distribution is found by enumerating all pairs.

use super::*;
use crate::rng;
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::collections::HashMap;

/// Whether each relevant document is ahead of each non-relevant one.
type Pairs = Vec<Vec<bool>>;

/// The probability of every ranking that can come next, by its counts.
type RankingDistribution = HashMap<Vec<u32>, f64>;

/// Rankings with one, few, many and uneven blocks; `+` is a relevant document.
const RANKINGS: [&str; 9] = [
    "+++----",
    "----+++",
    "+-",
    "--+-",
    "+-+-+-+-",
    "++-+--++-",
    "---++-+++--+",
    "+-----++---+-",
    "-++++-+++",
];

/// A walk at this ranking, with its documents in mixed order.
fn walk_at(ranking: &str, seed: u64) -> Walk {
    let relevant = ranking.matches('+').count();
    let mut walk = Walk::new(relevant, ranking.len() - relevant);
    walk.shuffle(&mut rng::stream(seed, &[1]));
    let (mut relevant, mut non_relevant) =
        (walk.initial_order[..relevant].iter(), walk.initial_order[relevant..].iter());
    walk.order = ranking
        .chars()
        .map(|class| {
            *if class == '+' { relevant.next() } else { non_relevant.next() }.expect("one for each sign")
        })
        .collect();
    walk.survey();
    walk
}

fn pairs_of(walk: &Walk) -> Pairs {
    let place =
        |document: usize| walk.order.iter().position(|&d| d as usize == document).expect("it is there");
    let non_relevant = walk.relevant..walk.order.len();
    (0..walk.relevant).map(|g| non_relevant.clone().map(|b| place(g) < place(b)).collect()).collect()
}

/// Whether any ranking orders all pairs like this. There is none exactly if there is a cycle: a relevant `g` ahead of
/// a non-relevant `b`, `b` ahead of a relevant `h`, `h` ahead of a non-relevant `c`, and `c` ahead of `g`.
fn is_ranking(pairs: &Pairs) -> bool {
    let non_relevant = 0..pairs[0].len();
    !pairs.iter().any(|g| {
        pairs.iter().any(|h| {
            non_relevant.clone().any(|b| non_relevant.clone().any(|c| g[b] && !h[b] && h[c] && !g[c]))
        })
    })
}

fn counts_of(pairs: &Pairs) -> Vec<u32> {
    let non_relevant = 0..pairs[0].len();
    let ahead = pairs.iter().map(|g| g.iter().filter(|first| !**first).count() as u32);
    let behind = non_relevant.map(|b| pairs.iter().filter(|g| !g[b]).count() as u32);
    ahead.chain(behind).collect()
}

/// The distribution of the next accepted ranking if a drawn pair is flipped with probability `flip`: a function of
/// the number of relevant documents, of non-relevant documents, of non-relevant documents that the relevant one
/// beats, of relevant documents that the non-relevant one beats, and of whether the relevant document is ahead.
fn distribution(
    pairs: &Pairs,
    flip: impl Fn(usize, usize, usize, usize, bool) -> f64,
) -> RankingDistribution {
    let (relevant, non_relevant) = (pairs.len(), pairs[0].len());
    let mut distribution = RankingDistribution::new();
    for g in 0..relevant {
        for b in 0..non_relevant {
            let relevant_beats = pairs[g].iter().filter(|first| **first).count();
            let non_relevant_beats = pairs.iter().filter(|h| !h[b]).count();
            let mut flipped = pairs.clone();
            flipped[g][b] = !pairs[g][b];
            if is_ranking(&flipped) {
                let theta = flip(relevant, non_relevant, relevant_beats, non_relevant_beats, pairs[g][b]);
                *distribution.entry(counts_of(&flipped)).or_default() += theta;
            }
        }
    }
    let total: f64 = distribution.values().sum();
    distribution.values_mut().for_each(|p| *p /= total);
    distribution
}

/// The flip probability of the paper's Figure 2.
fn theta(
    relevant: usize,
    non_relevant: usize,
    relevant_beats: usize,
    non_relevant_beats: usize,
    relevant_first: bool,
) -> f64 {
    let favour = if relevant_first {
        non_relevant - relevant_beats + non_relevant_beats + 1
    } else {
        relevant + relevant_beats - non_relevant_beats + 1
    };
    favour as f64 / (2 + relevant + non_relevant) as f64
}

/// How often the walk moves to each ranking from here.
fn frequencies(walk: &Walk, draws: usize, seed: u64) -> HashMap<Vec<u32>, usize> {
    let mut random = rng::stream(seed, &[2]);
    let mut seen = HashMap::new();
    for _ in 0..draws {
        let mut walk = walk.clone();
        walk.step(&mut random);
        *seen.entry(walk.counts).or_default() += 1;
    }
    seen
}

/// The p-value of Pearson's chi-square test.
fn p_value(seen: &HashMap<Vec<u32>, usize>, distribution: &RankingDistribution) -> f64 {
    if seen.keys().any(|state| !distribution.contains_key(state)) {
        return 0.0;
    }
    let draws: usize = seen.values().sum();
    let off: f64 = distribution
        .iter()
        .map(|(state, p)| {
            let expected = p * draws as f64;
            (seen.get(state).copied().unwrap_or(0) as f64 - expected).powi(2) / expected
        })
        .sum();
    if distribution.len() == 1 {
        1.0
    } else {
        ChiSquared::new((distribution.len() - 1) as f64).expect("freedom").sf(off)
    }
}

#[test]
fn steps_have_the_distribution_of_the_rejection_sampler() {
    for (i, ranking) in RANKINGS.iter().enumerate() {
        let walk = walk_at(ranking, i as u64);
        let p = p_value(&frequencies(&walk, 20_000, i as u64), &distribution(&pairs_of(&walk), theta));
        assert!(p > 0.01, "{ranking}: p = {p}");
    }
}

/// The same test detects distributions that are nearly right: one that flips all pairs with equal probability, one
/// that swaps the two cases, and one whose counts are off by the pair itself.
#[test]
fn the_test_detects_wrong_distributions() {
    // Here, adding or subtracting one in θ makes the largest difference.
    let walk = walk_at("-++++-+++", 8);
    let pairs = pairs_of(&walk);
    let seen = frequencies(&walk, 20_000, 8);
    let wrong_laws = [
        distribution(&pairs, |_, _, _, _, _| 0.5),
        distribution(&pairs, |n, m, g, b, first| theta(n, m, g, b, !first)),
        distribution(&pairs, |n, m, g, b, first| theta(n, m, g, b, first) + 1.0 / (2 + n + m) as f64),
    ];
    for (i, wrong) in wrong_laws.iter().enumerate() {
        let p = p_value(&seen, wrong);
        assert!(p < 1e-6, "distribution {i}: p = {p}");
    }
    assert!(p_value(&seen, &distribution(&pairs, theta)) > 0.01);
}

/// The incrementally updated state agrees with one computed from the order.
#[test]
fn long_walks_stay_consistent() {
    for seed in 0..60 {
        let mut random = rng::stream(seed, &[3]);
        let (relevant, non_relevant) = (random.random_range(1..30), random.random_range(1..30));
        let mut walk = Walk::new(relevant, non_relevant);
        walk.start(random.random_range(0..=relevant * non_relevant));
        for _ in 0..200 {
            let before = pairs_of(&walk);
            walk.step(&mut random);
            let after = pairs_of(&walk);
            assert_eq!(walk.counts, counts_of(&after));
            let flipped: usize =
                before.iter().zip(&after).map(|(a, b)| a.iter().zip(b).filter(|(x, y)| x != y).count()).sum();
            assert_eq!(flipped, 1, "{relevant} relevant, {non_relevant} non-relevant");
            let mut fresh = walk.clone();
            fresh.survey();
            assert_eq!(walk.weights, fresh.weights);
        }
    }
}

#[test]
fn walks_reach_every_ranking_from_both_ends() {
    let (relevant, non_relevant) = (3, 4);
    let mut walk = Walk::new(relevant, non_relevant);
    for wrong in 0..=relevant * non_relevant {
        walk.start(wrong);
        assert_eq!(walk.state().non_relevant_ahead().iter().sum::<u32>() as usize, wrong);
        assert_eq!(walk.counts, counts_of(&pairs_of(&walk)));
    }
    assert_eq!(walk.state().relevant_behind(), [3, 3, 3, 3]);
    let mut random = rng::stream(1, &[]);
    let seen: std::collections::HashSet<Vec<u32>> = (0..20_000)
        .map(|_| {
            walk.step(&mut random);
            walk.counts.clone()
        })
        .collect();
    assert_eq!(seen.len(), rankings(relevant, non_relevant));
}

/// The number of rankings up to the order within a class. Either there are as many blocks of one class as of the
/// other and either class comes first, or there is one more block of one class.
fn rankings(relevant: usize, non_relevant: usize) -> usize {
    (1..=relevant.min(non_relevant) + 1)
        .map(|parts| {
            let as_many = ordered_parts(relevant, parts) * ordered_parts(non_relevant, parts);
            let more_relevant = ordered_parts(relevant, parts) * ordered_parts(non_relevant, parts - 1);
            let more_non_relevant = ordered_parts(relevant, parts - 1) * ordered_parts(non_relevant, parts);
            2 * as_many + more_relevant + more_non_relevant
        })
        .sum()
}

/// The number of ways to divide `n` items in order into this many non-empty parts.
fn ordered_parts(n: usize, parts: usize) -> usize {
    match (n, parts) {
        (0, 0) => 1,
        (0, _) | (_, 0) => 0,
        _ => parts * (ordered_parts(n - 1, parts) + ordered_parts(n - 1, parts - 1)),
    }
}
