//! The objectives of AUC over all `y ∈ {±1}^{n⁺n⁻}`, orders or not, in closed form.
//!
//! ```text
//! a_gb = −2κ(s_g − s_b)        p_gb = σ(a_gb), the probability that g and b are in the wrong order
//!
//! MLE         Σ_gb log(1 + exp(a_gb))
//! ExpGain     −log mean_gb (1 − p_gb)
//! L2          mean_gb p_gb
//! L3          MLE + L2
//! ConvexLoss  Σ_gb log(1 + exp(a_gb + 1/(n⁺n⁻)))
//! ```
//!
//! All pairs are gone through, O(n⁺n⁻), in blocks of bads; nothing of that size is kept. `exp(a_gb)` is a product of
//! one factor for each document, and `Π(1 + t) − 1` is collected over many pairs before its logarithm is taken, so a
//! pair costs a few products and a division.

#[cfg(test)]
mod tests;

use super::{Form, Kappa};
use crate::card::Card;
use crate::losses::structured::is_good;
use crate::losses::{QueryLoss, ScoredQuery};

/// Bads gone through together.
const BLOCK: usize = 64;
/// Goods after which logarithms are taken: `2^512` is a float.
const FACTORS: usize = 512;
/// Exponents further apart than this are not made of factors: `exp(600)` is a float with room to spare.
const FACTORED: f64 = 600.0;

pub(crate) const MLE: Card = card(
    "auc-mle",
    "Likelihood of pairs in order",
    "The negative log-likelihood that all pairs of a good and a bad document are in order.",
);
pub(crate) const EXP_GAIN: Card = card(
    "auc-exp-gain",
    "Expected gain of AUC",
    "The negative logarithm of the expected AUC under a conditional model.",
);
pub(crate) const L2: Card =
    card("auc-l2", "Expected loss of AUC", "One minus the expected AUC under a conditional model.");
pub(crate) const L3: Card = card(
    "auc-l3",
    "Likelihood and expected loss of AUC",
    "The negative log-likelihood that all pairs are in order, and one minus the expected AUC.",
);
pub(crate) const CONVEX_LOSS: Card = card(
    "auc-convex-loss",
    "Convex bound of likelihood and expected AUC",
    "A convex upper bound of the likelihood and expected loss of AUC together.",
);

const fn card(name: &'static str, title: &'static str, summary: &'static str) -> Card {
    Card { name, title, summary, citations: &["dubey2009conditional"] }
}

/// An objective of AUC in closed form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExactAuc {
    /// What is minimised.
    pub form: Form,
    /// How much a pair counts in the feature map.
    pub kappa: Kappa,
    /// The least grade of a good document.
    pub threshold: f32,
}

impl ExactAuc {
    /// The objective with κ = 1 and documents good from grade 1 on.
    pub fn of(form: Form) -> ExactAuc {
        ExactAuc { form, kappa: Kappa::One, threshold: 1.0 }
    }
}

impl QueryLoss for ExactAuc {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let Some(pairs) = Pairs::of(self, query) else { return 0.0 };
        let count = pairs.count();
        let (sums, scale) = match self.form {
            Form::Mle | Form::ConvexLoss => (pairs.sums(|wrong, _| wrong), 1.0),
            Form::L2 => (pairs.sums(|wrong, right| wrong * right), 1.0 / count),
            Form::L3 => (pairs.sums(|wrong, right| wrong + wrong * right / count), 1.0),
            Form::ExpGain => {
                let sums = pairs.sums(|wrong, right| wrong * right);
                let scale = 1.0 / sums.right;
                (sums, scale)
            }
        };
        pairs.spread(&sums, scale * pairs.twice_kappa, -1.0, gradient);
        match self.form {
            Form::Mle | Form::ConvexLoss => sums.logs,
            Form::L2 => sums.wrong / count,
            Form::L3 => sums.logs + sums.wrong / count,
            Form::ExpGain if sums.wrong < 0.5 * count => -(-sums.wrong / count).ln_1p(),
            Form::ExpGain => pairs.lift - (sums.right / count).ln(),
        }
    }

    /// The diagonal of the second derivative of MLE and ConvexLoss. L2 has the same for each pair but for a factor
    /// `1 − 2p`, left out as it may be negative. ExpGain has that of the convex function `−Σ π log(1 − p)` that lies
    /// above it and touches it here, `π ∝ 1 − p`.
    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]) {
        curvature.fill(0.0);
        let Some(pairs) = Pairs::of(self, query) else { return };
        let count = pairs.count();
        let (sums, scale) = match self.form {
            Form::Mle | Form::ConvexLoss => (pairs.sums(|wrong, right| wrong * right), 1.0),
            Form::L2 => (pairs.sums(|wrong, right| wrong * right), 1.0 / count),
            Form::L3 => (pairs.sums(|wrong, right| wrong * right), 1.0 + 1.0 / count),
            Form::ExpGain => {
                let sums = pairs.sums(|wrong, right| right * wrong * (1.0 - wrong));
                let scale = 1.0 / sums.right;
                (sums, scale)
            }
        };
        pairs.spread(&sums, scale * pairs.twice_kappa * pairs.twice_kappa, 1.0, curvature);
    }

    fn is_informed_by(&self, labels: &[f32]) -> bool {
        let goods = labels.iter().filter(|r| is_good(**r, self.threshold)).count();
        goods > 0 && goods < labels.len()
    }
}

/// The pairs of a query with both goods and bads.
struct Pairs {
    goods: Vec<usize>,
    bads: Vec<usize>,
    twice_kappa: f64,
    /// `2κ·s` of the goods, and of the bads with the shift of ConvexLoss; about the middle of all.
    good_scores: Vec<f64>,
    bad_scores: Vec<f64>,
    /// What keeps `1 − p` from vanishing where all scores are hopelessly wrong: it is given times `exp(lift)`.
    lift: f64,
    /// `exp(−2κs_g)` and its inverse, `exp(2κs_b)` and its inverse, where these are floats.
    factors: Option<[Vec<f64>; 4]>,
}

/// What the pairs add up to.
struct Sums {
    /// `Σ log(1 + exp(a))`.
    logs: f64,
    /// `Σ p`.
    wrong: f64,
    /// `Σ exp(lift)·(1 − p)`.
    right: f64,
    /// The weights of the pairs of each good and of each bad.
    of_goods: Vec<f64>,
    of_bads: Vec<f64>,
}

impl Pairs {
    fn of(loss: &ExactAuc, query: ScoredQuery<'_>) -> Option<Pairs> {
        let (goods, bads): (Vec<usize>, Vec<usize>) =
            (0..query.labels.len()).partition(|&i| is_good(query.labels[i], loss.threshold));
        if goods.is_empty() || bads.is_empty() {
            return None;
        }
        let twice_kappa = 2.0 * loss.kappa.of(goods.len(), bads.len());
        let range = |class: &[usize]| {
            let scores = class.iter().map(|&i| query.scores[i]);
            scores.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), s| (low.min(s), high.max(s)))
        };
        let ((good_low, good_high), (bad_low, bad_high)) = (range(&goods), range(&bads));
        let (low, high) = (good_low.min(bad_low), good_high.max(bad_high));
        let middle = low + 0.5 * (high - low);
        let shift = match loss.form {
            Form::ConvexLoss => 1.0 / (goods.len() as f64 * bads.len() as f64),
            _ => 0.0,
        };
        let good_scores: Vec<f64> = goods.iter().map(|&i| twice_kappa * (query.scores[i] - middle)).collect();
        let bad_scores: Vec<f64> =
            bads.iter().map(|&i| twice_kappa * (query.scores[i] - middle) + shift).collect();
        let exp = |scores: &[f64], sign: f64| scores.iter().map(|s| (sign * s).exp()).collect();
        let factors = (twice_kappa * (high - low) < FACTORED).then(|| {
            [exp(&good_scores, -1.0), exp(&good_scores, 1.0), exp(&bad_scores, 1.0), exp(&bad_scores, -1.0)]
        });
        let least = twice_kappa * (bad_low - good_high);
        let lift = if factors.is_none() && loss.form == Form::ExpGain { least.max(0.0) } else { 0.0 };
        Some(Pairs { goods, bads, twice_kappa, good_scores, bad_scores, lift, factors })
    }

    fn count(&self) -> f64 {
        self.goods.len() as f64 * self.bads.len() as f64
    }

    /// Adds up all pairs, `weight` being told `p` and `exp(lift)·(1 − p)` of each.
    fn sums(&self, weight: impl Fn(f64, f64) -> f64) -> Sums {
        let mut sums = Sums {
            logs: 0.0,
            wrong: 0.0,
            right: 0.0,
            of_goods: vec![0.0; self.goods.len()],
            of_bads: vec![0.0; self.bads.len()],
        };
        for start in (0..self.bads.len()).step_by(BLOCK) {
            let end = self.bads.len().min(start + BLOCK);
            self.add_block(start, end, &weight, &mut sums);
        }
        sums
    }

    /// Adds up the pairs of all goods with the bads from `start` to `end`; every bad of the block has its own sums.
    fn add_block(&self, start: usize, end: usize, weight: &impl Fn(f64, f64) -> f64, sums: &mut Sums) {
        let length = end - start;
        let scores = &self.bad_scores[start..end];
        let of_bads = &mut sums.of_bads[start..end];
        let (mut products, mut excess) = ([0.0; BLOCK], [0.0; BLOCK]);
        let (mut wrongs, mut rights) = ([0.0; BLOCK], [0.0; BLOCK]);
        let (mut near, mut lifted, mut weights) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        for (g, good_score) in self.good_scores.iter().enumerate() {
            self.exponentials(g, start, &mut near[..length], &mut lifted[..length]);
            for j in 0..length {
                let ahead = scores[j] - good_score;
                let inverse = 1.0 / (1.0 + near[j]);
                let wrong = if ahead > 0.0 { inverse } else { near[j] * inverse };
                let right = if ahead > 0.0 { lifted[j] * inverse } else { inverse };
                weights[j] = weight(wrong, right);
                of_bads[j] += weights[j];
                wrongs[j] += wrong;
                rights[j] += right;
                excess[j] += ahead.max(0.0);
                products[j] += near[j] * (1.0 + products[j]);
            }
            sums.of_goods[g] += weights[..length].iter().sum::<f64>();
            if (g + 1) % FACTORS == 0 {
                sums.logs += products.iter_mut().map(|p| std::mem::take(p).ln_1p()).sum::<f64>();
            }
        }
        sums.logs += excess.iter().zip(&products).map(|(e, p)| e + p.ln_1p()).sum::<f64>();
        sums.wrong += wrongs.iter().sum::<f64>();
        sums.right += rights.iter().sum::<f64>();
    }

    /// `exp(−|a|)` of good `g` with the bads from `start` on, and the same times `exp(lift)`.
    fn exponentials(&self, g: usize, start: usize, near: &mut [f64], lifted: &mut [f64]) {
        if let Some([good, good_inverse, bad, bad_inverse]) = &self.factors {
            let (good, good_inverse) = (good[g], good_inverse[g]);
            let (bad, bad_inverse) = (&bad[start..], &bad_inverse[start..]);
            for (((n, l), b), i) in near.iter_mut().zip(lifted).zip(bad).zip(bad_inverse) {
                *n = (good * b).min(good_inverse * i).min(1.0);
                *l = *n;
            }
            return;
        }
        for ((n, l), b) in near.iter_mut().zip(lifted).zip(&self.bad_scores[start..]) {
            let apart = (b - self.good_scores[g]).abs();
            *n = (-apart).exp();
            *l = (self.lift - apart).exp();
        }
    }

    /// Gives each document the weights of its pairs times `scale`, those of goods with this sign.
    fn spread(&self, sums: &Sums, scale: f64, sign: f64, out: &mut [f64]) {
        self.goods.iter().zip(&sums.of_goods).for_each(|(&d, sum)| out[d] = sign * scale * sum);
        self.bads.iter().zip(&sums.of_bads).for_each(|(&d, sum)| out[d] = scale * sum);
    }
}
