//! Checks that samples consist of rankings, and that starts have the right probabilities.

use super::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};

const FROM_THE_BEST: Restarts = Restarts::Ends { best: 1.0 };

/// The fraction of pairs that are wrong.
fn auc_loss(state: &RankingState<'_>) -> f64 {
    let wrong: u32 = state.non_relevant_ahead().iter().sum();
    f64::from(wrong) / (state.non_relevant_ahead().len() * state.relevant_behind().len()) as f64
}

/// `1 − AP`.
fn map_loss(state: &RankingState<'_>) -> f64 {
    let (mut relevant, mut precisions) = (0.0, 0.0);
    for (place, _) in state.places().enumerate().filter(|(_, is_relevant)| *is_relevant) {
        relevant += 1.0;
        precisions += relevant / (place + 1) as f64;
    }
    1.0 - precisions / relevant
}

/// The counts of a ranking, sorted within each class, derived from the positions.
fn counts_by_place(places: &[bool]) -> (Vec<u32>, Vec<u32>) {
    let count =
        |places: &[bool], is_relevant: bool| places.iter().filter(|p| **p == is_relevant).count() as u32;
    let (mut ahead, mut behind) = (Vec::new(), Vec::new());
    for (i, &is_relevant) in places.iter().enumerate() {
        if is_relevant {
            ahead.push(count(&places[..i], false))
        } else {
            behind.push(count(&places[i..], true))
        }
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
fn every_draw_is_a_ranking() {
    for seed in 0..3000 {
        let mut random = rng::stream(seed, &[7]);
        let (relevant, non_relevant) = (random.random_range(1..40), random.random_range(1..40));
        let restarts = if random.random() {
            Restarts::Ends { best: random.random() }
        } else {
            Restarts::Ladder { rungs: random.random_range(0..9), skew: random.random_range(-30.0..30.0) }
        };
        let sampler = RankingSampler {
            size: random.random_range(1..12),
            steps: random.random_range(0..60),
            thinning: random.random_range(0..20),
            restarts,
        };
        let sample = sampler.draw(relevant, non_relevant, map_loss, seed);
        assert_eq!(sample.len(), sampler.size);
        for i in 0..sample.len() {
            let state = sample.state(i);
            let places: Vec<bool> = state.places().collect();
            assert_eq!(places.len(), relevant + non_relevant);
            let (ahead, behind) = counts_by_place(&places);
            assert_eq!((ahead.len(), behind.len()), (relevant, non_relevant));
            assert_eq!(
                (sorted(state.non_relevant_ahead()), sorted(state.relevant_behind())),
                (ahead, behind)
            );
        }
    }
}

#[test]
fn the_perfect_ranking_comes_first_and_kept_ones_are_steps_apart() {
    let sampler = RankingSampler { size: 50, steps: 21, thinning: 3, restarts: FROM_THE_BEST };
    let sample = sampler.draw(5, 9, auc_loss, 4);
    assert_eq!(sample.state(0).places().collect::<Vec<_>>(), [[true; 5].as_slice(), &[false; 9]].concat());
    for i in 1..sample.len() {
        // A new walk starts at the perfect ranking after seven kept rankings.
        let from = if (i - 1) % 7 == 0 { sample.state(0) } else { sample.state(i - 1) };
        let moved: u32 = from
            .non_relevant_ahead()
            .iter()
            .zip(sample.state(i).non_relevant_ahead())
            .map(|(a, b)| a.abs_diff(*b))
            .sum();
        assert!(moved <= 3 && moved % 2 == 1, "ranking {i} is {moved} pairs off");
    }
}

#[test]
fn the_seed_determines_the_sample_and_a_larger_one_extends_it() {
    let sampler = RankingSampler {
        size: 30,
        steps: 8,
        thinning: 3,
        restarts: Restarts::Ladder { rungs: 5, skew: -2.0 },
    };
    let draw = |size, seed| RankingSampler { size, ..sampler }.draw(4, 20, map_loss, seed);
    assert_eq!(draw(30, 1), draw(30, 1));
    assert_ne!(draw(30, 1), draw(30, 2));
    let (small, large) = (draw(30, 1), draw(77, 1));
    assert!((0..30).all(|i| small.state(i) == large.state(i)));
}

#[test]
fn small_queries_and_samples_are_supported() {
    let sampler = RankingSampler { size: 5, steps: 1, thinning: 1, restarts: FROM_THE_BEST };
    let pair = sampler.draw(1, 1, auc_loss, 1);
    let wrong: Vec<u32> = (0..pair.len()).map(|i| pair.state(i).non_relevant_ahead()[0]).collect();
    assert_eq!(wrong, [0, 1, 1, 1, 1]);
    for size in [0, 1] {
        assert_eq!(RankingSampler { size, ..sampler }.draw(2, 3, auc_loss, 1).len(), 1);
    }
    for (relevant, non_relevant) in [(0, 0), (3, 0), (0, 3)] {
        let sample = sampler.draw(relevant, non_relevant, |_| 0.0, 1);
        assert_eq!((sample.len(), sample.is_empty()), (1, false));
        assert_eq!(sample.state(0).places().collect::<Vec<_>>(), vec![relevant > 0; relevant + non_relevant]);
    }
}

/// How often walks start at each rung.
fn start_frequencies(starts: &Starts, relevant: usize, non_relevant: usize, draws: usize) -> Vec<f64> {
    let mut random = rng::stream(11, &[]);
    let mut walk = Walk::new(relevant, non_relevant);
    let mut seen = vec![0.0; starts.rungs.len()];
    for _ in 0..draws {
        starts.restart(&mut walk, &mut random);
        let wrong: u32 = walk.state().non_relevant_ahead().iter().sum();
        seen[starts.rungs.iter().position(|&rung| rung == wrong as usize).expect("a rung")] += 1.0;
    }
    seen
}

/// The p-value of Pearson's chi-square test.
fn p_value(seen: &[f64], probabilities: &[f64]) -> f64 {
    let draws: f64 = seen.iter().sum();
    let off: f64 = seen.iter().zip(probabilities).map(|(s, p)| (s - draws * p).powi(2) / (draws * p)).sum();
    ChiSquared::new((seen.len() - 1) as f64).expect("freedom").sf(off)
}

#[test]
fn walks_start_on_the_ladder_by_their_loss() {
    let (relevant, non_relevant) = (4, 25);
    // With the AUC loss, a fraction i/5 of all pairs is wrong at rung i of 6.
    let fifths: Vec<usize> = (0..6).map(|i| 20 * i).collect();
    let claimed = |skew: f64| {
        let weights: Vec<f64> = (0..6).map(|i| (skew * f64::from(i) / 5.0).exp()).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|w| w / total).collect::<Vec<_>>()
    };
    for skew in [-3.0, 0.0, 2.0] {
        let starts = Starts::new(Restarts::Ladder { rungs: 6, skew }, relevant, non_relevant, auc_loss);
        assert_eq!(starts.rungs, fifths);
        let seen = start_frequencies(&starts, relevant, non_relevant, 20_000);
        assert!(p_value(&seen, &claimed(skew)) > 0.01, "skew {skew}: {seen:?}");
        assert!(p_value(&seen, &claimed(skew + 0.25)) < 1e-6, "skew {skew}: {seen:?}");
    }
    // However steep the skew, the better end is chosen and nothing overflows.
    for (skew, end) in [(-1e6, 0), (1e6, 5)] {
        let starts = Starts::new(Restarts::Ladder { rungs: 6, skew }, relevant, non_relevant, auc_loss);
        assert_eq!(start_frequencies(&starts, relevant, non_relevant, 100)[end], 100.0);
    }
}

#[test]
fn walks_start_at_the_ends_with_the_given_probability() {
    for best in [0.0, 0.9, 1.0] {
        let starts = Starts::new(Restarts::Ends { best }, 2, 3, |_| unreachable!("no loss is needed"));
        let seen = start_frequencies(&starts, 2, 3, 20_000);
        // Four standard deviations; 0 if there is no choice.
        let tolerance = 4.0 * (20_000.0 * best * (1.0 - best)).sqrt();
        assert!((seen[0] - 20_000.0 * best).abs() <= tolerance, "{best}: {seen:?}");
    }
}

/// Each rung is as close to its target loss as any ranking on the path, and duplicates are removed.
#[test]
fn rungs_are_evenly_spaced() {
    let (relevant, non_relevant) = (6, 40);
    let mut walk = Walk::new(relevant, non_relevant);
    let losses: Vec<f64> = (0..=relevant * non_relevant)
        .map(|wrong| {
            walk.start(wrong);
            map_loss(&walk.state())
        })
        .collect();
    let starts = Starts::new(Restarts::Ladder { rungs: 11, skew: 0.0 }, relevant, non_relevant, map_loss);
    assert_eq!(starts.rungs.len(), 11);
    for (i, &rung) in starts.rungs.iter().enumerate() {
        let wanted = losses[relevant * non_relevant] * i as f64 / 10.0;
        let nearest = losses.iter().map(|l| (l - wanted).abs()).fold(f64::INFINITY, f64::min);
        assert!((losses[rung] - wanted).abs() <= nearest + 1e-12, "rung {i}");
    }
    // One relevant document: losses 0, 1/2, 2/3, 3/4. Thirds of 3/4 are both closest to the second.
    let starts = Starts::new(Restarts::Ladder { rungs: 4, skew: 0.0 }, 1, 3, map_loss);
    assert_eq!(starts.rungs, [0, 1, 3]);
}

/// Which documents are higher up on a rung is random and does not depend on their index.
#[test]
fn rungs_treat_all_documents_alike() {
    let (relevant, non_relevant, draws) = (4, 6, 12_000);
    let starts = Starts::new(Restarts::Ladder { rungs: 3, skew: 0.0 }, relevant, non_relevant, auc_loss);
    let mut random = rng::stream(3, &[]);
    let mut walk = Walk::new(relevant, non_relevant);
    let mut ahead = [0.0; 4];
    let mut behind = [0.0; 6];
    for _ in 0..draws {
        starts.restart(&mut walk, &mut random);
        let state = walk.state();
        ahead
            .iter_mut()
            .zip(state.non_relevant_ahead())
            .for_each(|(sum, a)| *sum += f64::from(*a) / f64::from(draws));
        behind
            .iter_mut()
            .zip(state.relevant_behind())
            .for_each(|(sum, b)| *sum += f64::from(*b) / f64::from(draws));
    }
    // Half of all pairs are wrong on average. The mean of 12,000 counts up to 6 has a standard deviation below 0.03.
    assert!(ahead.iter().all(|mean| (mean - 3.0).abs() < 0.12), "{ahead:?}");
    assert!(behind.iter().all(|mean| (mean - 2.0).abs() < 0.12), "{behind:?}");
}
