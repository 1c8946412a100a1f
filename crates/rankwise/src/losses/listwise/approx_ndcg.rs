//! ApproxNDCG (Qin, Liu and Li, Information Retrieval 2010; Bruch, Zoghi, Bendersky and Najork, SIGIR 2019): NDCG
//! with ranks that are smooth functions of the scores.
//!
//! ```text
//! ρᵢ = 1 + Σ_{j≠i} σ((sⱼ − sᵢ)/T) ,    L(s) = 1 − Σᵢ gᵢ/log₂(1 + ρᵢ) ,    g = gain/ideal
//! θᵢⱼ = σ(1 − σ) ,   aᵢ = ∂L/∂ρᵢ ≥ 0 ,   ∂L/∂sₖ = 1/T Σⱼ (aⱼ − aₖ)·θⱼₖ ,   curvature 1/T² Σⱼ (aⱼ + aₖ)·θⱼₖ
//! ```
//! As T approaches 0, ρ approaches the rank and L approaches one minus NDCG. The curvature is an upper bound on the
//! second derivative, because `|1 − 2σ| ≤ 1` and a decreases with ρ. Values are from 0 to 1; not convex. O(n) per
//! document with a positive gain; O(n) in all for millions of pairs.

use super::super::odds::{Odds, logistic};
use super::super::smooth_sums::{is_worthwhile, smooth_sums};
use super::super::{QueryLoss, ScoredQuery};
use super::{dcg, has_two_gains, shares_of_ideal};
use crate::card::Card;
use crate::metrics::{Dcg, Gain};
use crate::sums::{add_scaled, add_up};
use pulp::{Arch, NullaryFnOnce};
use std::f64::consts::LN_2;

pub(in super::super) const CARD: Card = Card {
    name: "approx-ndcg",
    title: "ApproxNDCG",
    summary: "One minus NDCG, where the rank of each document is replaced by a smooth approximation.",
    citations: &["qin2010general", "bruch2019revisiting"],
};

/// One minus NDCG with smooth ranks.
#[derive(Debug, Clone)]
pub struct ApproxNdcg {
    temperature: f64,
    dcg: Dcg,
}

impl ApproxNdcg {
    /// Creates the loss with temperature T, finite and above 0: the scale of score differences.
    pub fn new(temperature: f64, gain: Gain) -> Self {
        ApproxNdcg { temperature, dcg: dcg(gain, 0) }
    }

    fn sums(&self, query: ScoredQuery<'_>) -> Option<SmoothSums> {
        let gains = shares_of_ideal(&self.dcg, query.labels)?;
        let scores: Vec<f64> = query.scores.iter().map(|score| score / self.temperature).collect();
        let pairs = gains.iter().filter(|gain| **gain > 0.0).count() as f64 * gains.len() as f64;
        if is_worthwhile(pairs, scores.iter().copied()) {
            return Some(SmoothSums::of_many(&scores, &gains));
        }
        let odds = Odds::new(scores);
        Some(Arch::new().dispatch(SumRows { odds: &odds, gains: &gains }))
    }
}

impl Default for ApproxNdcg {
    fn default() -> Self {
        ApproxNdcg::new(1.0, Gain::default())
    }
}

impl QueryLoss for ApproxNdcg {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let Some(sums) = self.sums(query) else { return 0.0 };
        add_scaled(gradient, 1.0 / self.temperature, &sums.gradient);
        (1.0 - sums.value).max(0.0)
    }

    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]) {
        self.newton(query, &mut vec![0.0; curvature.len()], curvature);
    }

    fn newton(&self, query: ScoredQuery<'_>, gradient: &mut [f64], curvature: &mut [f64]) {
        gradient.fill(0.0);
        curvature.fill(0.0);
        let Some(sums) = self.sums(query) else { return };
        add_scaled(gradient, 1.0 / self.temperature, &sums.gradient);
        add_scaled(curvature, 1.0 / (self.temperature * self.temperature), &sums.curvature);
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        has_two_gains(&self.dcg, labels)
    }
}

/// The smooth NDCG, and the sums of its derivatives for T = 1.
struct SmoothSums {
    value: f64,
    gradient: Vec<f64>,
    curvature: Vec<f64>,
}

impl SmoothSums {
    /// The same for many documents, in linear time.
    fn of_many(scores: &[f64], gains: &[f64]) -> SmoothSums {
        let terms = |ahead: f64| {
            let near = (-ahead.abs()).exp();
            let inverse = 1.0 / (1.0 + near);
            let value = if ahead > 0.0 { inverse } else { near * inverse };
            [value, near * inverse * inverse]
        };
        let relevant: Vec<usize> = (0..gains.len()).filter(|&i| gains[i] > 0.0).collect();
        let own: Vec<f64> = relevant.iter().map(|&i| scores[i]).collect();
        let ranks = smooth_sums(scores.iter().map(|score| (*score, 1.0)), &own, terms);
        let mut value = 0.0;
        let slope_of = |(&i, [ahead, _]): (&usize, &[f64; 2])| {
            // The sum contains the document itself, with σ(0) = ½.
            let rank = 0.5 + ahead;
            let log = rank.ln_1p();
            value += gains[i] * LN_2 / log;
            gains[i] * LN_2 / (log * log * (1.0 + rank))
        };
        let slopes: Vec<f64> = relevant.iter().zip(&ranks).map(slope_of).collect();
        let pulls =
            smooth_sums(own.iter().zip(&slopes).map(|(s, m)| (*s, *m)), scores, |ahead| [terms(ahead)[1]]);
        let mut gradient: Vec<f64> = pulls.iter().map(|[pull]| *pull).collect();
        let mut curvature = gradient.clone();
        for ((&i, slope), [_, all]) in relevant.iter().zip(&slopes).zip(&ranks) {
            gradient[i] -= slope * all;
            curvature[i] += slope * (all - 2.0 * terms(0.0)[1]);
        }
        SmoothSums { value, gradient, curvature }
    }
}

/// Sums over all rows, with the widest vectors of the machine.
struct SumRows<'a> {
    odds: &'a Odds,
    gains: &'a [f64],
}

impl NullaryFnOnce for SumRows<'_> {
    type Output = SmoothSums;

    #[inline(always)]
    fn call(self) -> SmoothSums {
        let n = self.gains.len();
        let mut sums = SmoothSums { value: 0.0, gradient: vec![0.0; n], curvature: vec![0.0; n] };
        let [mut row, mut ahead, mut slopes] = [(); 3].map(|()| vec![0.0; n]);
        for (i, &gain) in self.gains.iter().enumerate().filter(|(_, gain)| **gain > 0.0) {
            self.odds.row(i, &mut row);
            logistic(&row, &mut ahead, &mut slopes);
            // The row contains the document itself, with σ(0) = ½.
            let rank = 0.5 + add_up(&ahead);
            let log = rank.ln_1p();
            sums.value += gain * LN_2 / log;
            let slope = gain * LN_2 / (log * log * (1.0 + rank));
            let all = add_up(&slopes);
            add_scaled(&mut sums.gradient, slope, &slopes);
            add_scaled(&mut sums.curvature, slope, &slopes);
            sums.gradient[i] -= slope * all;
            sums.curvature[i] += slope * (all - 2.0 * slopes[i]);
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Conventions, parse};
    use crate::rank::Ranking;
    use crate::rng;
    use rand::RngExt;

    fn random_query(seed: u64, n: usize) -> (Vec<f32>, Vec<f64>) {
        let mut random = rng::stream(seed, &[n as u64]);
        let grades = [0.0, 1.0, 2.0, 3.0, f32::NAN];
        let labels = (0..n).map(|_| grades[random.random_range(0..5)]).collect();
        (labels, (0..n).map(|_| random.random_range(-2.0..2.0)).collect())
    }

    fn value(loss: &ApproxNdcg, labels: &[f32], scores: &[f64]) -> f64 {
        loss.value_and_gradient(ScoredQuery { labels, scores, seed: 0 }, &mut vec![f64::NAN; labels.len()])
    }

    #[test]
    fn low_temperatures_give_ndcg() {
        let metric = parse("ndcg", &Conventions::default()).unwrap();
        for (seed, n) in (0..40).map(|seed| (seed, 2 + seed as usize % 12)) {
            let (labels, scores) = random_query(seed, n);
            let loss = ApproxNdcg::new(1e-7, Gain::Exp2);
            if loss.has_signal(&labels) {
                let expected = 1.0 - metric.value(&labels, &Ranking::by_scores(&scores)).unwrap();
                let found = value(&loss, &labels, &scores);
                assert!((found - expected).abs() < 1e-12, "{labels:?} {scores:?}: {found} for {expected}");
            }
        }
    }

    /// Labels 1 and 0 with a lead of T·ln 3: the rank is 1 + ¼.
    #[test]
    fn two_documents_by_hand() {
        let scores = [0.7 + 0.5 * 3_f64.ln(), 0.7];
        let found = value(&ApproxNdcg::new(0.5, Gain::Exp2), &[1.0, 0.0], &scores);
        assert!((found - (1.0 - 1.0 / 2.25_f64.log2())).abs() < 1e-14);
    }

    #[test]
    fn the_curvature_bounds_the_second_derivative() {
        for (seed, n) in (0..60).map(|seed| (seed, 2 + seed as usize % 7)) {
            let (labels, scores) = random_query(seed, n);
            let loss = ApproxNdcg::new(0.4, Gain::Exp2);
            let mut bound = vec![f64::NAN; n];
            loss.curvature(ScoredQuery { labels: &labels, scores: &scores, seed }, &mut bound);
            for i in 0..n {
                let at = |step: f64| {
                    let mut moved = scores.clone();
                    moved[i] += step;
                    value(&loss, &labels, &moved)
                };
                let bend = (at(1e-4) - 2.0 * at(0.0) + at(-1e-4)) / 1e-8;
                assert!(bend <= bound[i] + 1e-6, "{labels:?} {scores:?}: {bend} above {}", bound[i]);
                assert!(bound[i] >= 0.0);
            }
        }
    }

    #[test]
    fn both_ways_of_summing_agree() {
        let mut random = rng::stream(3, &[]);
        let gains: Vec<f64> =
            (0..300).map(|i| if i % 3 == 0 { random.random::<f64>() } else { 0.0 }).collect();
        for range in [0.0, 3.0, 200.0] {
            let scores: Vec<f64> = (0..300).map(|_| range * random.random::<f64>()).collect();
            let many = SmoothSums::of_many(&scores, &gains);
            let rows = SumRows { odds: &Odds::new(scores), gains: &gains }.call();
            let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-10 * (1.0 + a.abs()), "{b} for {a}");
            near(rows.value, many.value);
            rows.gradient.iter().zip(&many.gradient).for_each(|(a, b)| near(*a, *b));
            rows.curvature.iter().zip(&many.curvature).for_each(|(a, b)| near(*a, *b));
        }
    }
}
