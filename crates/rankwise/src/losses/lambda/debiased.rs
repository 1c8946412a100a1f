//! λ-gradients whose pairs are weighted by how biased clicks are at the positions of both documents (Hu, Wang, Peng and
//! Li, WWW 2019).
//!
//! ```text
//! λᵢⱼ / (t⁺ᵢ·t⁻ⱼ) ,   hᵢⱼ / (t⁺ᵢ·t⁻ⱼ)                              i was clicked, j was not
//! t⁺ᵖ = [Σ Lᵢⱼ/t⁻ⱼ over pairs with i at p, divided by that at position 1]^(1/(1+ρ)) ,   L as in the loss
//! t⁻ᵖ = [Σ Lᵢⱼ/t⁺ᵢ over pairs with j at p, divided by that at position 1]^(1/(1+ρ))
//! ```
//! The ratios t start at 1, and are computed from the scores of each round. A large ρ keeps them near 1.

use super::{Lambda, ScoredQuery};
use crate::losses::lambda::swaps::Swaps;
use crate::rank::{RankRule, Sorter, Ties};

/// A ratio is at least this: a position whose pairs are all in order would have infinite weight.
const LEAST_RATIO: f64 = 1e-3;

/// How biased clicks, and the lack of them, are at each position.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PositionRatios {
    /// t⁺
    pub(crate) clicked: Vec<f64>,
    /// t⁻
    pub(crate) unclicked: Vec<f64>,
}

/// Sums of losses by position, of the clicked and of the other documents of pairs.
pub(crate) struct PositionLosses {
    pub(crate) clicked: Vec<f64>,
    pub(crate) unclicked: Vec<f64>,
}

impl PositionRatios {
    /// No bias.
    pub(crate) fn ones(positions: usize) -> PositionRatios {
        PositionRatios { clicked: vec![1.0; positions], unclicked: vec![1.0; positions] }
    }

    /// The ratios of the next round. Positions without pairs have the ratio 1.
    pub(crate) fn of(losses: &PositionLosses, regularization: f64) -> PositionRatios {
        let ratios = |sums: &[f64]| {
            let ratio = |&sum: &f64| match sum > 0.0 && sums[0] > 0.0 {
                true => (sum / sums[0]).powf(1.0 / (1.0 + regularization)).max(LEAST_RATIO),
                false => 1.0,
            };
            sums.iter().map(ratio).collect()
        };
        PositionRatios { clicked: ratios(&losses.clicked), unclicked: ratios(&losses.unclicked) }
    }
}

impl PositionLosses {
    pub(crate) fn zeros(positions: usize) -> PositionLosses {
        PositionLosses { clicked: vec![0.0; positions], unclicked: vec![0.0; positions] }
    }

    /// Adds `weight` times the sums of another part of the data.
    pub(crate) fn add(&mut self, other: &PositionLosses, weight: f64) {
        let sums = self.clicked.iter_mut().zip(&other.clicked);
        sums.chain(self.unclicked.iter_mut().zip(&other.unclicked)).for_each(|(a, b)| *a += weight * b);
    }
}

/// A pair of documents.
struct DebiasedPair {
    better: usize,
    worse: usize,
    lambda: f64,
    curvature: f64,
}

impl Lambda {
    /// Overwrites gradient and curvature of a query whose documents were shown at `positions`, from 0. Returns the losses by
    /// position.
    pub(crate) fn debiased(
        &self,
        query: ScoredQuery<'_>,
        positions: &[usize],
        ratios: &PositionRatios,
        gradient: &mut [f64],
        curvature: &mut [f64],
    ) -> PositionLosses {
        gradient.fill(0.0);
        curvature.fill(0.0);
        let (mut losses, mut total) = (PositionLosses::zeros(ratios.clicked.len()), 0.0);
        self.each_debiased_pair(query, |mut pair, loss| {
            let (at, other) = (positions[pair.better], positions[pair.worse]);
            let weight = 1.0 / (ratios.clicked[at] * ratios.unclicked[other]);
            pair.lambda *= weight;
            pair.curvature *= weight;
            gradient[pair.better] -= pair.lambda;
            gradient[pair.worse] += pair.lambda;
            curvature[pair.better] += pair.curvature;
            curvature[pair.worse] += pair.curvature;
            total += 2.0 * pair.lambda;
            losses.clicked[at] += loss / ratios.unclicked[other];
            losses.unclicked[other] += loss / ratios.clicked[at];
        });
        if self.settings.normalize && total > 0.0 {
            let scale = total.ln_1p() / (std::f64::consts::LN_2 * total);
            gradient.iter_mut().chain(curvature).for_each(|x| *x *= scale);
        }
        losses
    }

    /// Calls `visit` with each pair and its loss.
    fn each_debiased_pair(&self, query: ScoredQuery<'_>, mut visit: impl FnMut(DebiasedPair, f64)) {
        if !super::QueryLoss::has_signal(self, query.labels) {
            return;
        }
        let rule = RankRule { ties: Ties::Average, ..RankRule::default() };
        let mut sorter = Sorter::default();
        let order: Vec<usize> =
            sorter.rank(query.scores, query.labels, rule).order().iter().map(|&d| d as usize).collect();
        let gains = self.shares(query.labels, &order);
        let n = order.len();
        let top = if self.settings.k == 0 { n } else { self.settings.k.min(n) };
        let spread = query.scores[order[0]] != query.scores[order[n - 1]];
        let mut swaps = Swaps::default();
        swaps.begin(self.settings.metric, &gains, top, |place| self.dcg.discounts.at(place));
        let mut changes = vec![0.0; n];
        for a in (0..top).rev() {
            let Some(row) = swaps.row(&gains, a) else { continue };
            row.changes(a, &gains[a..], &mut changes[a..]);
            for b in a + 1..n {
                if changes[b] == 0.0 {
                    continue;
                }
                let (better, worse) =
                    if changes[b] > 0.0 { (order[a], order[b]) } else { (order[b], order[a]) };
                let margin = query.scores[better] - query.scores[worse];
                let damped = self.settings.normalize && spread;
                let change = changes[b].abs() / if damped { 0.01 + margin.abs() } else { 1.0 };
                let (pair, loss) = self.pair(better, worse, margin, change);
                visit(pair, loss);
            }
        }
    }

    /// A pair whose swap changes the metric by `change`, and its loss.
    fn pair(&self, better: usize, worse: usize, margin: f64, change: f64) -> (DebiasedPair, f64) {
        let sigma = self.settings.sigma;
        let wrong = 1.0 / (1.0 + (sigma * margin).exp());
        let loss = change * ((-sigma * margin).max(0.0) + (-(sigma * margin).abs()).exp().ln_1p());
        let lambda = sigma * wrong * change;
        let curvature = sigma * sigma * wrong * (1.0 - wrong) * change;
        (DebiasedPair { better, worse, lambda, curvature }, loss)
    }

    /// The gains of the documents in this order, as the metric's swaps need them.
    fn shares(&self, labels: &[f32], order: &[usize]) -> Vec<f64> {
        let gains: Vec<f64> = order.iter().map(|&d| self.gain_of(labels[d])).collect();
        let total = self.total_gain(labels, &gains);
        gains.into_iter().map(|gain| gain / total).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::losses::{LambdaMetric, LambdaSettings, QueryLoss};
    use crate::rng;
    use rand::RngExt;

    /// Without bias, these are the λ-gradients themselves.
    #[test]
    fn ratios_of_one_change_nothing() {
        for metric in [LambdaMetric::Ndcg, LambdaMetric::Map, LambdaMetric::Mrr, LambdaMetric::Err] {
            for (normalize, k, seed) in [(true, 3, 1), (false, 0, 2), (true, 0, 3)] {
                let lambda =
                    Lambda::new(LambdaSettings { metric, normalize, k, ..LambdaSettings::default() })
                        .unwrap();
                let mut random = rng::stream(seed, &[]);
                let labels: Vec<f32> = (0..9).map(|_| random.random_range(0..3) as f32).collect();
                let scores: Vec<f64> = (0..9).map(|_| f64::from(random.random_range(0..6)) / 3.0).collect();
                let query = ScoredQuery { labels: &labels, scores: &scores, seed: 0 };
                let mut out = [(); 4].map(|()| [f64::NAN; 9]);
                let [gradient, curvature, slopes, bends] = &mut out;
                lambda.newton(query, gradient, curvature);
                let positions: Vec<usize> = (0..9).collect();
                lambda.debiased(query, &positions, &PositionRatios::ones(9), slopes, bends);
                for i in 0..9 {
                    assert!((gradient[i] - slopes[i]).abs() < 1e-12, "{metric:?}: {gradient:?} {slopes:?}");
                    assert!((curvature[i] - bends[i]).abs() < 1e-12, "{metric:?}");
                }
            }
        }
    }

    /// Two documents with equal scores, the second clicked: one pair, whose swap changes NDCG by 1 − 1/log₂ 3.
    #[test]
    fn one_pair_by_hand() {
        let lambda = Lambda::new(LambdaSettings { normalize: false, ..LambdaSettings::default() }).unwrap();
        let ratios = PositionRatios { clicked: vec![1.0, 0.5], unclicked: vec![0.8, 1.0] };
        let query = ScoredQuery { labels: &[0.0, 1.0], scores: &[2.0, 2.0], seed: 0 };
        let (mut gradient, mut curvature) = ([f64::NAN; 2], [f64::NAN; 2]);
        let losses = lambda.debiased(query, &[0, 1], &ratios, &mut gradient, &mut curvature);
        let change = 1.0 - 1.0 / 3_f64.log2();
        let weighted = change / (0.5 * 0.8);
        assert!((gradient[0] - 0.5 * weighted).abs() < 1e-15 && gradient[1] == -gradient[0]);
        assert!((curvature[0] - 0.25 * weighted).abs() < 1e-15 && curvature[1] == curvature[0]);
        let loss = change * 2_f64.ln();
        assert_eq!((losses.clicked[0], losses.unclicked[1]), (0.0, 0.0));
        assert!((losses.clicked[1] - loss / 0.8).abs() < 1e-15);
        assert!((losses.unclicked[0] - loss / 0.5).abs() < 1e-15);
    }

    #[test]
    fn ratios_are_relative_to_the_first_position_and_regularised() {
        let losses = PositionLosses { clicked: vec![4.0, 1.0, 0.0], unclicked: vec![2.0, 18.0, 0.5] };
        let ratios = PositionRatios::of(&losses, 0.0);
        assert_eq!(
            (&ratios.clicked[..], &ratios.unclicked[..]),
            (&[1.0, 0.25, 1.0][..], &[1.0, 9.0, 0.25][..])
        );
        let damped = PositionRatios::of(&losses, 1.0);
        assert_eq!(
            (&damped.clicked[..], &damped.unclicked[..]),
            (&[1.0, 0.5, 1.0][..], &[1.0, 3.0, 0.5][..])
        );
    }
}
