//! Steps against the paper's sampler, whose law is found by going through all pairs of a matrix of pairs.

use super::*;
use crate::rng;
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::collections::HashMap;

/// Whether each good is ahead of each bad.
type Pairs = Vec<Vec<bool>>;

/// A probability for every ranking that can come next, by its counts.
type Law = HashMap<Vec<u32>, f64>;

/// Rankings with one, few, many and uneven blocks; `+` is a good.
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

/// A walk that stands at this ranking, its documents in mixed order.
fn walk_at(ranking: &str, seed: u64) -> Walk {
    let goods = ranking.matches('+').count();
    let mut walk = Walk::new(goods, ranking.len() - goods);
    walk.shuffle(&mut rng::stream(seed, &[1]));
    let (mut goods, mut bads) = (walk.cast[..goods].iter(), walk.cast[goods..].iter());
    walk.order = ranking
        .chars()
        .map(|class| *if class == '+' { goods.next() } else { bads.next() }.expect("one for each sign"))
        .collect();
    walk.survey();
    walk
}

fn pairs_of(walk: &Walk) -> Pairs {
    let place =
        |document: usize| walk.order.iter().position(|&d| d as usize == document).expect("it is there");
    let bads = walk.goods..walk.order.len();
    (0..walk.goods).map(|g| bads.clone().map(|b| place(g) < place(b)).collect()).collect()
}

/// Whether some ranking orders all pairs so: there is none just where a good `g` is ahead of a bad `b`, that one ahead
/// of another good `h`, that one ahead of another bad `c`, and `c` ahead of `g`.
fn is_ranking(pairs: &Pairs) -> bool {
    let bads = 0..pairs[0].len();
    !pairs.iter().any(|g| {
        pairs.iter().any(|h| bads.clone().any(|b| bads.clone().any(|c| g[b] && !h[b] && h[c] && !g[c])))
    })
}

fn counts_of(pairs: &Pairs) -> Vec<u32> {
    let bads = 0..pairs[0].len();
    let ahead = pairs.iter().map(|g| g.iter().filter(|first| !**first).count() as u32);
    let behind = bads.map(|b| pairs.iter().filter(|g| !g[b]).count() as u32);
    ahead.chain(behind).collect()
}

/// The law of the next accepted ranking if a pair that is drawn is flipped with probability `flip`, a function of the
/// goods, the bads, the bads that the good beats, the goods that the bad beats, and whether the good is ahead.
fn law(pairs: &Pairs, flip: impl Fn(usize, usize, usize, usize, bool) -> f64) -> Law {
    let (goods, bads) = (pairs.len(), pairs[0].len());
    let mut law = Law::new();
    for g in 0..goods {
        for b in 0..bads {
            let good_beats = pairs[g].iter().filter(|first| **first).count();
            let bad_beats = pairs.iter().filter(|h| !h[b]).count();
            let mut flipped = pairs.clone();
            flipped[g][b] = !pairs[g][b];
            if is_ranking(&flipped) {
                let theta = flip(goods, bads, good_beats, bad_beats, pairs[g][b]);
                *law.entry(counts_of(&flipped)).or_default() += theta;
            }
        }
    }
    let total: f64 = law.values().sum();
    law.values_mut().for_each(|p| *p /= total);
    law
}

/// The flip probability of the paper's Figure 2.
fn theta(goods: usize, bads: usize, good_beats: usize, bad_beats: usize, good_first: bool) -> f64 {
    let favour =
        if good_first { bads - good_beats + bad_beats + 1 } else { goods + good_beats - bad_beats + 1 };
    favour as f64 / (2 + goods + bads) as f64
}

/// What the walk goes to from here, and how often.
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

/// The probability of being at least so far off under the law (Pearson's chi-square).
fn p_value(seen: &HashMap<Vec<u32>, usize>, law: &Law) -> f64 {
    if seen.keys().any(|state| !law.contains_key(state)) {
        return 0.0;
    }
    let draws: usize = seen.values().sum();
    let off: f64 = law
        .iter()
        .map(|(state, p)| {
            let expected = p * draws as f64;
            (seen.get(state).copied().unwrap_or(0) as f64 - expected).powi(2) / expected
        })
        .sum();
    if law.len() == 1 { 1.0 } else { ChiSquared::new((law.len() - 1) as f64).expect("freedom").sf(off) }
}

#[test]
fn steps_follow_the_law_of_the_rejecting_sampler() {
    for (i, ranking) in RANKINGS.iter().enumerate() {
        let walk = walk_at(ranking, i as u64);
        let p = p_value(&frequencies(&walk, 20_000, i as u64), &law(&pairs_of(&walk), theta));
        assert!(p > 0.01, "{ranking}: p = {p}");
    }
}

/// The same test finds out laws that are nearly right: one that flips all alike, one that takes the two cases for each
/// other, one whose counts are off by the pair itself.
#[test]
fn the_test_of_steps_tells_other_laws_apart() {
    // Here one more or one less in θ makes most difference.
    let walk = walk_at("-++++-+++", 8);
    let pairs = pairs_of(&walk);
    let seen = frequencies(&walk, 20_000, 8);
    let wrong_laws = [
        law(&pairs, |_, _, _, _, _| 0.5),
        law(&pairs, |n, m, g, b, first| theta(n, m, g, b, !first)),
        law(&pairs, |n, m, g, b, first| theta(n, m, g, b, first) + 1.0 / (2 + n + m) as f64),
    ];
    for (i, wrong) in wrong_laws.iter().enumerate() {
        let p = p_value(&seen, wrong);
        assert!(p < 1e-6, "law {i}: p = {p}");
    }
    assert!(p_value(&seen, &law(&pairs, theta)) > 0.01);
}

/// What is kept up to date step by step is what a look at the whole order finds.
#[test]
fn long_walks_keep_their_books() {
    for seed in 0..60 {
        let mut random = rng::stream(seed, &[3]);
        let (goods, bads) = (random.random_range(1..30), random.random_range(1..30));
        let mut walk = Walk::new(goods, bads);
        walk.start(random.random_range(0..=goods * bads));
        for _ in 0..200 {
            let before = pairs_of(&walk);
            walk.step(&mut random);
            let after = pairs_of(&walk);
            assert_eq!(walk.counts, counts_of(&after));
            let flipped: usize =
                before.iter().zip(&after).map(|(a, b)| a.iter().zip(b).filter(|(x, y)| x != y).count()).sum();
            assert_eq!(flipped, 1, "{goods} goods, {bads} bads");
            let mut fresh = walk.clone();
            fresh.survey();
            assert_eq!(walk.weights, fresh.weights);
        }
    }
}

#[test]
fn walks_go_both_ways_between_the_ends() {
    let (goods, bads) = (3, 4);
    let mut walk = Walk::new(goods, bads);
    for wrong in 0..=goods * bads {
        walk.start(wrong);
        assert_eq!(walk.state().bads_ahead().iter().sum::<u32>() as usize, wrong);
        assert_eq!(walk.counts, counts_of(&pairs_of(&walk)));
    }
    assert_eq!(walk.state().goods_behind(), [3, 3, 3, 3]);
    let mut random = rng::stream(1, &[]);
    let seen: std::collections::HashSet<Vec<u32>> = (0..20_000)
        .map(|_| {
            walk.step(&mut random);
            walk.counts.clone()
        })
        .collect();
    assert_eq!(seen.len(), rankings(goods, bads));
}

/// How many rankings there are up to the order within a class: there are as many blocks of goods as of bads, and either
/// class comes first, or one block more of the goods, or one more of the bads.
fn rankings(goods: usize, bads: usize) -> usize {
    (1..=goods.min(bads) + 1)
        .map(|parts| {
            let as_many = ordered_parts(goods, parts) * ordered_parts(bads, parts);
            let more_goods = ordered_parts(goods, parts) * ordered_parts(bads, parts - 1);
            let more_bads = ordered_parts(goods, parts - 1) * ordered_parts(bads, parts);
            2 * as_many + more_goods + more_bads
        })
        .sum()
}

/// In how many ways `n` things go into so many parts in order, none of them empty.
fn ordered_parts(n: usize, parts: usize) -> usize {
    match (n, parts) {
        (0, 0) => 1,
        (0, _) | (_, 0) => 0,
        _ => parts * (ordered_parts(n - 1, parts) + ordered_parts(n - 1, parts - 1)),
    }
}
