//! Samples against what a ranking must be, and starts against the probabilities claimed.

use super::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};

const FROM_THE_BEST: Restarts = Restarts::Ends { best: 1.0 };

/// The part of the pairs that are wrong.
fn auc_loss(state: &State<'_>) -> f64 {
    let wrong: u32 = state.bads_ahead().iter().sum();
    f64::from(wrong) / (state.bads_ahead().len() * state.goods_behind().len()) as f64
}

/// `1 − AP`.
fn map_loss(state: &State<'_>) -> f64 {
    let (mut goods, mut precisions) = (0.0, 0.0);
    for (place, _) in state.places().enumerate().filter(|(_, good)| *good) {
        goods += 1.0;
        precisions += goods / (place + 1) as f64;
    }
    1.0 - precisions / goods
}

/// The counts of a ranking, each class's sorted, as a look at the places finds them.
fn counts_by_place(places: &[bool]) -> (Vec<u32>, Vec<u32>) {
    let count = |places: &[bool], good: bool| places.iter().filter(|p| **p == good).count() as u32;
    let (mut ahead, mut behind) = (Vec::new(), Vec::new());
    for (i, &good) in places.iter().enumerate() {
        if good { ahead.push(count(&places[..i], false)) } else { behind.push(count(&places[i..], true)) }
    }
    behind.reverse();
    (ahead, behind)
}

fn sorted(counts: &[u32]) -> Vec<u32> {
    let mut counts = counts.to_vec();
    counts.sort_unstable();
    counts
}

#[test]
fn all_that_is_drawn_is_a_ranking() {
    for seed in 0..3000 {
        let mut random = rng::stream(seed, &[7]);
        let (goods, bads) = (random.random_range(1..40), random.random_range(1..40));
        let restarts = if random.random() {
            Restarts::Ends { best: random.random() }
        } else {
            Restarts::Ladder { rungs: random.random_range(0..9), skew: random.random_range(-30.0..30.0) }
        };
        let sampler = Sampler {
            size: random.random_range(1..12),
            steps: random.random_range(0..60),
            thinning: random.random_range(0..20),
            restarts,
        };
        let sample = sampler.draw(goods, bads, map_loss, seed);
        assert_eq!(sample.len(), sampler.size);
        for i in 0..sample.len() {
            let state = sample.state(i);
            let places: Vec<bool> = state.places().collect();
            assert_eq!(places.len(), goods + bads);
            let (ahead, behind) = counts_by_place(&places);
            assert_eq!((ahead.len(), behind.len()), (goods, bads));
            assert_eq!((sorted(state.bads_ahead()), sorted(state.goods_behind())), (ahead, behind));
        }
    }
}

#[test]
fn the_perfect_ranking_comes_first_and_kept_ones_are_steps_apart() {
    let sampler = Sampler { size: 50, steps: 21, thinning: 3, restarts: FROM_THE_BEST };
    let sample = sampler.draw(5, 9, auc_loss, 4);
    assert_eq!(sample.state(0).places().collect::<Vec<_>>(), [[true; 5].as_slice(), &[false; 9]].concat());
    for i in 1..sample.len() {
        // A new walk after seven kept rankings begins again at the perfect one.
        let from = if (i - 1) % 7 == 0 { sample.state(0) } else { sample.state(i - 1) };
        let moved: u32 =
            from.bads_ahead().iter().zip(sample.state(i).bads_ahead()).map(|(a, b)| a.abs_diff(*b)).sum();
        assert!(moved <= 3 && moved % 2 == 1, "ranking {i} is {moved} pairs off");
    }
}

#[test]
fn a_seed_says_all_and_a_larger_sample_begins_with_the_smaller() {
    let sampler =
        Sampler { size: 30, steps: 8, thinning: 3, restarts: Restarts::Ladder { rungs: 5, skew: -2.0 } };
    let draw = |size, seed| Sampler { size, ..sampler }.draw(4, 20, map_loss, seed);
    assert_eq!(draw(30, 1), draw(30, 1));
    assert_ne!(draw(30, 1), draw(30, 2));
    let (small, large) = (draw(30, 1), draw(77, 1));
    assert!((0..30).all(|i| small.state(i) == large.state(i)));
}

#[test]
fn small_queries_and_samples_are_drawn_too() {
    let sampler = Sampler { size: 5, steps: 1, thinning: 1, restarts: FROM_THE_BEST };
    let pair = sampler.draw(1, 1, auc_loss, 1);
    let wrong: Vec<u32> = (0..pair.len()).map(|i| pair.state(i).bads_ahead()[0]).collect();
    assert_eq!(wrong, [0, 1, 1, 1, 1]);
    for size in [0, 1] {
        assert_eq!(Sampler { size, ..sampler }.draw(2, 3, auc_loss, 1).len(), 1);
    }
    for (goods, bads) in [(0, 0), (3, 0), (0, 3)] {
        let sample = sampler.draw(goods, bads, |_| 0.0, 1);
        assert_eq!((sample.len(), sample.is_empty()), (1, false));
        assert_eq!(sample.state(0).places().collect::<Vec<_>>(), vec![goods > 0; goods + bads]);
    }
}

/// How often each rung is where a walk starts.
fn start_frequencies(starts: &Starts, goods: usize, bads: usize, draws: usize) -> Vec<f64> {
    let mut random = rng::stream(11, &[]);
    let mut walk = Walk::new(goods, bads);
    let mut seen = vec![0.0; starts.rungs.len()];
    for _ in 0..draws {
        starts.restart(&mut walk, &mut random);
        let wrong: u32 = walk.state().bads_ahead().iter().sum();
        seen[starts.rungs.iter().position(|&rung| rung == wrong as usize).expect("a rung")] += 1.0;
    }
    seen
}

/// The probability of being at least so far off (Pearson's chi-square).
fn p_value(seen: &[f64], probabilities: &[f64]) -> f64 {
    let draws: f64 = seen.iter().sum();
    let off: f64 = seen.iter().zip(probabilities).map(|(s, p)| (s - draws * p).powi(2) / (draws * p)).sum();
    ChiSquared::new((seen.len() - 1) as f64).expect("freedom").sf(off)
}

#[test]
fn walks_start_on_the_ladder_by_their_loss() {
    let (goods, bads) = (4, 25);
    // With the AUC loss, rung i of 6 has the fifth part i of all pairs wrong.
    let fifths: Vec<usize> = (0..6).map(|i| 20 * i).collect();
    let claimed = |skew: f64| {
        let weights: Vec<f64> = (0..6).map(|i| (skew * f64::from(i) / 5.0).exp()).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|w| w / total).collect::<Vec<_>>()
    };
    for skew in [-3.0, 0.0, 2.0] {
        let starts = Starts::new(Restarts::Ladder { rungs: 6, skew }, goods, bads, auc_loss);
        assert_eq!(starts.rungs, fifths);
        let seen = start_frequencies(&starts, goods, bads, 20_000);
        assert!(p_value(&seen, &claimed(skew)) > 0.01, "skew {skew}: {seen:?}");
        assert!(p_value(&seen, &claimed(skew + 0.25)) < 1e-6, "skew {skew}: {seen:?}");
    }
    // However steep, the better end is taken and nothing overflows.
    for (skew, end) in [(-1e6, 0), (1e6, 5)] {
        let starts = Starts::new(Restarts::Ladder { rungs: 6, skew }, goods, bads, auc_loss);
        assert_eq!(start_frequencies(&starts, goods, bads, 100)[end], 100.0);
    }
}

#[test]
fn walks_start_at_the_ends_as_often_as_said() {
    for best in [0.0, 0.9, 1.0] {
        let starts = Starts::new(Restarts::Ends { best }, 2, 3, |_| unreachable!("no loss is needed"));
        let seen = start_frequencies(&starts, 2, 3, 20_000);
        // Four standard deviations: none where there is no choice.
        let tolerance = 4.0 * (20_000.0 * best * (1.0 - best)).sqrt();
        assert!((seen[0] - 20_000.0 * best).abs() <= tolerance, "{best}: {seen:?}");
    }
}

/// Each rung is as near to its share of the loss as any ranking on the way, and equal ones are one.
#[test]
fn rungs_are_evenly_apart() {
    let (goods, bads) = (6, 40);
    let mut walk = Walk::new(goods, bads);
    let losses: Vec<f64> = (0..=goods * bads)
        .map(|wrong| {
            walk.start(wrong);
            map_loss(&walk.state())
        })
        .collect();
    let starts = Starts::new(Restarts::Ladder { rungs: 11, skew: 0.0 }, goods, bads, map_loss);
    assert_eq!(starts.rungs.len(), 11);
    for (i, &rung) in starts.rungs.iter().enumerate() {
        let wanted = losses[goods * bads] * i as f64 / 10.0;
        let nearest = losses.iter().map(|l| (l - wanted).abs()).fold(f64::INFINITY, f64::min);
        assert!((losses[rung] - wanted).abs() <= nearest + 1e-12, "rung {i}");
    }
    // One good: losses 0, 1/2, 2/3, 3/4. Thirds of 3/4 are nearest to the second and (again) to the second.
    let starts = Starts::new(Restarts::Ladder { rungs: 4, skew: 0.0 }, 1, 3, map_loss);
    assert_eq!(starts.rungs, [0, 1, 3]);
}

/// Which documents stand further up on a rung is a matter of chance, not of their numbers.
#[test]
fn rungs_are_the_same_for_all_documents() {
    let (goods, bads, draws) = (4, 6, 12_000);
    let starts = Starts::new(Restarts::Ladder { rungs: 3, skew: 0.0 }, goods, bads, auc_loss);
    let mut random = rng::stream(3, &[]);
    let mut walk = Walk::new(goods, bads);
    let mut ahead = [0.0; 4];
    let mut behind = [0.0; 6];
    for _ in 0..draws {
        starts.restart(&mut walk, &mut random);
        let state = walk.state();
        ahead
            .iter_mut()
            .zip(state.bads_ahead())
            .for_each(|(sum, a)| *sum += f64::from(*a) / f64::from(draws));
        behind
            .iter_mut()
            .zip(state.goods_behind())
            .for_each(|(sum, b)| *sum += f64::from(*b) / f64::from(draws));
    }
    // Half of all pairs are wrong on average. A mean of 12,000 counts up to 6 has a deviation below 0.03.
    assert!(ahead.iter().all(|mean| (mean - 3.0).abs() < 0.12), "{ahead:?}");
    assert!(behind.iter().all(|mean| (mean - 2.0).abs() < 0.12), "{behind:?}");
}
