//! BoltzRank (Volkovs and Zemel, ICML 2009): rankings have energies, and the resulting distribution over a sample of
//! rankings is fitted to NDCG and to the distribution given by the labels.
//!
//! ```text
//! E(R|s) = 2/(n(n−1)) Σ_{j<k} sign(Rⱼ − Rₖ)·(sⱼ − sₖ) = 2/(n(n−1)) Σⱼ (2Rⱼ − (n−1))·sⱼ        R: positions from 0
//! P(R|s) = exp(−E(R|s)) / Σ_{R'} exp(−E(R'|s))                                     over the sample
//! L(s) = α (1 − Σ_R P(R|s)·NDCG(R)) − (1 − α) Σ_R P(R|r)·ln P(R|s)
//! ```
//! The energy is linear in the scores, so a ranking costs O(n), and `∂L/∂s = Σ_R w_R·∂E(R)/∂s` with
//! `w = αP(NDCG − mean) + (1 − α)(P(·|r) − P)`.
//!
//! The sample of a query depends on its seed. Rankings are sorted by label plus noise: the first ranking by noise
//! alone, the last one with noise as wide as the range of labels. So the sample ranges from random to nearly perfect
//! rankings. It stays the same for a fixed seed, and is drawn anew in every round of boosted trees. O(m·n log n) for
//! m rankings. Not negative; not convex unless α is 0. The curvature is that of ln P.

use super::super::{QueryLoss, ScoredQuery};
use super::softmax::softmax;
use super::{dcg, has_two_grades};
use crate::card::Card;
use crate::metrics::{Dcg, Gain};
use crate::rank::{RankRule, Sorter, grade};
use crate::rng;
use rand::RngExt;

pub(in super::super) const CARD: Card = Card {
    name: "boltz-rank",
    title: "BoltzRank",
    summary: "One minus the expected NDCG@k, plus the cross-entropy with the distribution given by the labels, of a distribution over sampled rankings.",
    citations: &["volkovs2009boltzrank"],
};

/// Expected loss and cross-entropy of a distribution over sampled rankings.
#[derive(Debug, Clone)]
pub struct BoltzRank {
    samples: usize,
    mix: f64,
    dcg: Dcg,
}

impl BoltzRank {
    /// Creates the loss with the number of rankings per query, at least 2; the mix α, from 0 to 1; and the cutoff `k`
    /// of NDCG, 0 for none.
    pub fn new(samples: usize, mix: f64, k: usize, gain: Gain) -> Self {
        BoltzRank { samples, mix, dcg: dcg(gain, k) }
    }

    /// The sampled rankings of a query, and everything that does not depend on α.
    fn distribution(&self, query: ScoredQuery<'_>) -> RankingDistribution {
        let (rankings, target_energies) = draw(self.samples, query.labels, query.seed);
        let mut probabilities: Vec<f64> =
            rankings.iter().map(|places| -energy(places, query.scores)).collect();
        let log_likelihoods = probabilities.clone();
        let log_total = softmax(&mut probabilities);
        let mut targets: Vec<f64> = target_energies.iter().map(|energy| -energy).collect();
        softmax(&mut targets);
        let log_likelihoods = log_likelihoods.iter().map(|minus_energy| minus_energy - log_total).collect();
        RankingDistribution { rankings, probabilities, log_likelihoods, targets }
    }

    /// Returns the loss and adds its derivative to `gradient`.
    fn add_gradient(&self, distribution: &RankingDistribution, labels: &[f32], gradient: &mut [f64]) -> f64 {
        let RankingDistribution { rankings, probabilities, log_likelihoods, targets } = distribution;
        let ideal = self.dcg.ideal(labels);
        let ndcgs: Vec<f64> = rankings.iter().map(|places| self.ndcg(places, labels, ideal)).collect();
        let mean: f64 = probabilities.iter().zip(&ndcgs).map(|(p, ndcg)| p * ndcg).sum();
        let cross: f64 = targets.iter().zip(log_likelihoods).map(|(p, log)| -p * log).sum();
        for (ranking, places) in rankings.iter().enumerate() {
            let p = probabilities[ranking];
            let weight = self.mix * p * (ndcgs[ranking] - mean) + (1.0 - self.mix) * (targets[ranking] - p);
            add_slopes(places, weight, gradient);
        }
        // Without any gain, NDCG is undefined and contributes nothing.
        let lost = if ideal > 0.0 { 1.0 - mean } else { 0.0 };
        self.mix * lost.max(0.0) + (1.0 - self.mix) * cross
    }

    /// NDCG of a ranking.
    fn ndcg(&self, places: &[u32], labels: &[f32], ideal: f64) -> f64 {
        if ideal == 0.0 {
            return 0.0;
        }
        let at = |place: u32| self.dcg.discounts.at(place as usize);
        let gains = labels.iter().map(|&label| self.dcg.gains.of(label));
        let within = places.iter().zip(gains).filter(|(place, _)| self.dcg.reaches(**place as usize));
        within.map(|(place, gain)| gain * at(*place)).sum::<f64>() / ideal
    }
}

impl Default for BoltzRank {
    fn default() -> Self {
        BoltzRank::new(100, 0.5, 10, Gain::default())
    }
}

impl QueryLoss for BoltzRank {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        if !has_two_grades(query.labels) {
            return 0.0;
        }
        self.add_gradient(&self.distribution(query), query.labels, gradient)
    }

    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]) {
        curvature.fill(0.0);
        if has_two_grades(query.labels) {
            self.distribution(query).add_curvature(curvature);
        }
    }

    fn newton(&self, query: ScoredQuery<'_>, gradient: &mut [f64], curvature: &mut [f64]) {
        gradient.fill(0.0);
        curvature.fill(0.0);
        if has_two_grades(query.labels) {
            let distribution = self.distribution(query);
            self.add_gradient(&distribution, query.labels, gradient);
            distribution.add_curvature(curvature);
        }
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        has_two_grades(labels)
    }
}

struct RankingDistribution {
    /// The position of each document, from 0.
    rankings: Vec<Vec<u32>>,
    probabilities: Vec<f64>,
    log_likelihoods: Vec<f64>,
    /// The probabilities given by the labels.
    targets: Vec<f64>,
}

impl RankingDistribution {
    /// `Σ_R P·(∂E/∂s)² − (Σ_R P·∂E/∂s)²`, the second derivative of `−ln P`.
    fn add_curvature(&self, curvature: &mut [f64]) {
        let mut means = vec![0.0; curvature.len()];
        for (places, p) in self.rankings.iter().zip(&self.probabilities) {
            add_slopes(places, *p, &mut means);
        }
        let (factor, offset) = slope_of_place(curvature.len());
        for (places, p) in self.rankings.iter().zip(&self.probabilities) {
            for ((h, mean), &place) in curvature.iter_mut().zip(&means).zip(places) {
                let slope = factor * (f64::from(place) - offset) - mean;
                *h += p * slope * slope;
            }
        }
    }
}

/// `∂E/∂sⱼ` is `factor·(Rⱼ − offset)`.
fn slope_of_place(n: usize) -> (f64, f64) {
    let n = n as f64;
    (4.0 / (n * (n - 1.0)), (n - 1.0) / 2.0)
}

fn energy(places: &[u32], scores: &[f64]) -> f64 {
    let (factor, offset) = slope_of_place(places.len());
    // Relative to the mean, which changes nothing but keeps the precision of large scores.
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    factor
        * places
            .iter()
            .zip(scores)
            .map(|(&place, score)| (f64::from(place) - offset) * (score - mean))
            .sum::<f64>()
}

fn add_slopes(places: &[u32], weight: f64, gradient: &mut [f64]) {
    let (factor, offset) = slope_of_place(places.len());
    for (g, &place) in gradient.iter_mut().zip(places) {
        *g += weight * factor * (f64::from(place) - offset);
    }
}

/// The positions of each document in the sampled rankings, and their energies by labels.
fn draw(samples: usize, labels: &[f32], seed: u64) -> (Vec<Vec<u32>>, Vec<f64>) {
    let grades: Vec<f64> = labels.iter().map(|&label| grade(label).into()).collect();
    let best = grades.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let worst = grades.iter().copied().fold(f64::INFINITY, f64::min);
    let mut random = rng::stream(seed, &[]);
    let (mut sorter, mut noisy) = (Sorter::default(), vec![0.0; labels.len()]);
    let rankings = (0..samples).map(|ranking| {
        let strength = ranking as f64 / (samples - 1) as f64 / (best - worst);
        for (noisy, grade) in noisy.iter_mut().zip(&grades) {
            *noisy = strength * (grade - worst) + random.random::<f64>();
        }
        let mut places = vec![0; labels.len()];
        let order = sorter.rank(&noisy, labels, RankRule::default()).order();
        order.iter().enumerate().for_each(|(place, &d)| places[d as usize] = place as u32);
        places
    });
    let rankings: Vec<Vec<u32>> = rankings.collect();
    let energies = rankings.iter().map(|places| energy(places, &grades)).collect();
    (rankings, energies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Conventions, parse};
    use crate::rank::Ranking;

    /// The energy by its definition, over pairs.
    fn pair_energy(places: &[u32], scores: &[f64]) -> f64 {
        let n = places.len();
        let mut sum = 0.0;
        for k in 0..n {
            for j in 0..k {
                let sign = if places[j] > places[k] { 1.0 } else { -1.0 };
                sum += sign * (scores[j] - scores[k]);
            }
        }
        sum * 2.0 / (n * (n - 1)) as f64
    }

    fn distribution(rankings: &[Vec<u32>], scores: &[f64]) -> Vec<f64> {
        let powers: Vec<f64> = rankings.iter().map(|places| (-pair_energy(places, scores)).exp()).collect();
        let total: f64 = powers.iter().sum();
        powers.iter().map(|power| power / total).collect()
    }

    #[test]
    fn expected_loss_and_likelihood_agree_with_the_definition() {
        let metric = parse("ndcg@2", &Conventions::default()).unwrap();
        let (labels, scores) = ([0.0, 2.0, 1.0, f32::NAN, 1.0], [0.3, -0.4, 1.1, 0.25, 2.0]);
        let (rankings, _) = draw(30, &labels, 9);
        let (p, targets) =
            (distribution(&rankings, &scores), distribution(&rankings, &[0.0, 2.0, 1.0, 0.0, 1.0]));
        let ndcg = |places: &Vec<u32>| {
            let mut order: Vec<u32> = (0..5).collect();
            order.sort_by_key(|&d| places[d as usize]);
            metric.value(&labels, &Ranking::from_order(order)).unwrap()
        };
        let mean: f64 = rankings.iter().zip(&p).map(|(places, p)| p * ndcg(places)).sum();
        let cross: f64 = targets.iter().zip(&p).map(|(target, p)| -target * p.ln()).sum();
        for mix in [0.0, 0.3, 1.0] {
            let loss = BoltzRank::new(30, mix, 2, Gain::Exp2);
            let query = ScoredQuery { labels: &labels, scores: &scores, seed: 9 };
            let found = loss.value_and_gradient(query, &mut [f64::NAN; 5]);
            let expected = mix * (1.0 - mean) + (1.0 - mix) * cross;
            assert!((found - expected).abs() < 1e-12, "{mix}: {found} for {expected}");
        }
    }

    /// With the likelihood alone, the curvature is the second derivative.
    #[test]
    fn the_curvature_of_the_likelihood_agrees_with_finite_differences() {
        let (labels, scores) = ([0.0, 2.0, 1.0, 0.0], [0.3, -0.4, 1.1, 0.25]);
        let loss = BoltzRank::new(50, 0.0, 0, Gain::Exp2);
        let mut bends = [f64::NAN; 4];
        loss.curvature(ScoredQuery { labels: &labels, scores: &scores, seed: 2 }, &mut bends);
        for (i, bend) in bends.into_iter().enumerate() {
            let at = |step: f64| {
                let mut moved = scores;
                moved[i] += step;
                loss.value_and_gradient(
                    ScoredQuery { labels: &labels, scores: &moved, seed: 2 },
                    &mut [0.0; 4],
                )
            };
            let expected = (at(1e-3) - 2.0 * at(0.0) + at(-1e-3)) / 1e-6;
            assert!((bend - expected).abs() < 1e-6, "{bend} for {expected}");
        }
    }

    /// The first rankings are random, the last ones nearly perfect.
    #[test]
    fn the_sample_ranges_from_random_to_nearly_perfect() {
        let labels: Vec<f32> = (0..20).map(|i| (i % 2) as f32).collect();
        let grades: Vec<f64> = labels.iter().map(|&r| r.into()).collect();
        let (rankings, energies) = draw(400, &labels, 1);
        for (places, energy) in rankings.iter().zip(&energies) {
            let mut seen = places.clone();
            seen.sort_unstable();
            assert_eq!(seen, (0..20).collect::<Vec<u32>>());
            assert!((energy - pair_energy(places, &grades)).abs() < 1e-12);
        }
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        // All of the 100 pairs with different labels in the right order.
        let least: f64 = -2.0 * 100.0 / 380.0;
        assert!(mean(&energies[..100]).abs() < 0.3 * least.abs());
        assert!((energies[399] - least).abs() < 1e-12);
    }
}
