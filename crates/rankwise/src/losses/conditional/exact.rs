//! The objectives for AUC over all `y ∈ {±1}^{n⁺n⁻}`, whether they are rankings or not, in closed form.
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
//! The sums are over all pairs, O(n⁺n⁻), in blocks of non-relevant documents, without storing anything per pair. Millions
//! of pairs are summed in linear time ([`smooth_sums`](crate::losses::smooth_sums)).
//!
//! `exp(a_gb)` is a product of one factor per document, and `Π(1 + t) − 1` is accumulated over many pairs before its
//! logarithm is taken, so a pair costs a few multiplications and a division.

#[cfg(test)]
mod tests;

use super::{ConditionalObjective, Kappa};
use crate::card::Card;
use crate::losses::smooth_sums::{is_worthwhile, smooth_sums};
use crate::losses::structured::is_relevant;
use crate::losses::{QueryLoss, ScoredQuery};

/// The number of non-relevant documents per block.
const BLOCK: usize = 64;
/// The number of relevant documents between logarithms: `2^512` is finite.
const FACTORS: usize = 512;
/// Exponents with a wider range than this are not factorised: `exp(600)` is finite with room to spare.
const FACTORED: f64 = 600.0;

pub(crate) const MLE: Card = card(
    "auc-mle",
    "Likelihood of correctly ordered pairs",
    "The negative log-likelihood that every pair of a relevant and a non-relevant document is in the right order.",
);
pub(crate) const EXP_GAIN: Card = card(
    "auc-exp-gain",
    "Expected AUC (logarithmic)",
    "The negative logarithm of the expected AUC under a conditional model of rankings.",
);
pub(crate) const L2: Card =
    card("auc-l2", "Expected AUC", "One minus the expected AUC under a conditional model of rankings.");
pub(crate) const L3: Card = card(
    "auc-l3",
    "Likelihood and expected AUC",
    "The negative log-likelihood that all pairs are in the right order, plus one minus the expected AUC.",
);
pub(crate) const CONVEX_LOSS: Card = card(
    "auc-convex-loss",
    "Convex bound on likelihood and expected AUC",
    "A convex upper bound on `auc-l3`, the sum of negative log-likelihood and expected AUC loss.",
);

const fn card(name: &'static str, title: &'static str, summary: &'static str) -> Card {
    Card { name, title, summary, citations: &["dubey2009conditional"] }
}

/// An objective for AUC in closed form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExactAuc {
    /// The objective.
    pub form: ConditionalObjective,
    /// The weight of a pair in the feature map.
    pub kappa: Kappa,
    /// The minimum label of a relevant document.
    pub threshold: f32,
}

impl ExactAuc {
    /// The objective with κ = 1; documents are relevant from label 1 up.
    pub fn of(form: ConditionalObjective) -> ExactAuc {
        ExactAuc { form, kappa: Kappa::One, threshold: 1.0 }
    }

    /// The number of pairs of a relevant and a non-relevant document.
    pub(crate) fn pair_count(&self, labels: &[f32]) -> f64 {
        let relevant = labels.iter().filter(|r| is_relevant(**r, self.threshold)).count();
        relevant as f64 * (labels.len() - relevant) as f64
    }
}

impl QueryLoss for ExactAuc {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let Some(pairs) = Pairs::of(self, query) else { return 0.0 };
        let count = pairs.count();
        let (sums, scale) = match self.form {
            ConditionalObjective::Mle | ConditionalObjective::ConvexLoss => {
                (pairs.sums(|wrong, _| wrong), 1.0)
            }
            ConditionalObjective::L2 => (pairs.sums(|wrong, right| wrong * right), 1.0 / count),
            ConditionalObjective::L3 => (pairs.sums(|wrong, right| wrong + wrong * right / count), 1.0),
            ConditionalObjective::ExpGain => {
                let sums = pairs.sums(|wrong, right| wrong * right);
                let scale = 1.0 / sums.right;
                (sums, scale)
            }
        };
        pairs.spread(&sums, scale * pairs.twice_kappa, -1.0, gradient);
        match self.form {
            ConditionalObjective::Mle | ConditionalObjective::ConvexLoss => sums.logs,
            ConditionalObjective::L2 => sums.wrong / count,
            ConditionalObjective::L3 => sums.logs + sums.wrong / count,
            ConditionalObjective::ExpGain if sums.wrong < 0.5 * count => -(-sums.wrong / count).ln_1p(),
            ConditionalObjective::ExpGain => pairs.lift - (sums.right / count).ln(),
        }
    }

    /// The diagonal of the second derivative for MLE and ConvexLoss. For L2, each pair has another factor `1 − 2p`,
    /// which is omitted because it may be negative. For ExpGain, it is that of the convex function `−Σ π log(1 − p)`,
    /// `π ∝ 1 − p`, which is an upper bound and touches it here.
    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]) {
        curvature.fill(0.0);
        let Some(pairs) = Pairs::of(self, query) else { return };
        let count = pairs.count();
        let (sums, scale) = match self.form {
            ConditionalObjective::Mle | ConditionalObjective::ConvexLoss => {
                (pairs.sums(|wrong, right| wrong * right), 1.0)
            }
            ConditionalObjective::L2 => (pairs.sums(|wrong, right| wrong * right), 1.0 / count),
            ConditionalObjective::L3 => (pairs.sums(|wrong, right| wrong * right), 1.0 + 1.0 / count),
            ConditionalObjective::ExpGain => {
                let sums = pairs.sums(|wrong, right| right * wrong * (1.0 - wrong));
                let scale = 1.0 / sums.right;
                (sums, scale)
            }
        };
        pairs.spread(&sums, scale * pairs.twice_kappa * pairs.twice_kappa, 1.0, curvature);
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        self.pair_count(labels) > 0.0
    }
}

/// The pairs of a query with both relevant and non-relevant documents.
struct Pairs {
    relevant: Vec<usize>,
    non_relevant: Vec<usize>,
    twice_kappa: f64,
    /// `2κ·s` of the relevant and of the non-relevant documents, the latter with the shift of ConvexLoss, centred on
    /// the middle of all scores.
    relevant_scores: Vec<f64>,
    non_relevant_scores: Vec<f64>,
    /// Keeps `1 − p` from underflowing if all scores are far on the wrong side: it is multiplied by `exp(lift)`.
    lift: f64,
    /// `exp(−2κs_g)` and its inverse, `exp(2κs_b)` and its inverse, if these are finite.
    factors: Option<[Vec<f64>; 4]>,
}

/// Sums over pairs.
struct PairSums {
    /// `Σ log(1 + exp(a))`.
    logs: f64,
    /// `Σ p`.
    wrong: f64,
    /// `Σ exp(lift)·(1 − p)`.
    right: f64,
    /// The sums of weights over the pairs of each relevant and of each non-relevant document.
    of_relevant: Vec<f64>,
    of_non_relevant: Vec<f64>,
}

impl Pairs {
    fn of(loss: &ExactAuc, query: ScoredQuery<'_>) -> Option<Pairs> {
        let (relevant, non_relevant): (Vec<usize>, Vec<usize>) =
            (0..query.labels.len()).partition(|&i| is_relevant(query.labels[i], loss.threshold));
        if relevant.is_empty() || non_relevant.is_empty() {
            return None;
        }
        let twice_kappa = 2.0 * loss.kappa.of(relevant.len(), non_relevant.len());
        let range = |class: &[usize]| {
            let scores = class.iter().map(|&i| query.scores[i]);
            scores.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), s| (low.min(s), high.max(s)))
        };
        let ((relevant_low, relevant_high), (non_relevant_low, non_relevant_high)) =
            (range(&relevant), range(&non_relevant));
        let (low, high) = (relevant_low.min(non_relevant_low), relevant_high.max(non_relevant_high));
        let middle = low + 0.5 * (high - low);
        let shift = match loss.form {
            ConditionalObjective::ConvexLoss => 1.0 / (relevant.len() as f64 * non_relevant.len() as f64),
            _ => 0.0,
        };
        let relevant_scores: Vec<f64> =
            relevant.iter().map(|&i| twice_kappa * (query.scores[i] - middle)).collect();
        let non_relevant_scores: Vec<f64> =
            non_relevant.iter().map(|&i| twice_kappa * (query.scores[i] - middle) + shift).collect();
        let exp = |scores: &[f64], sign: f64| scores.iter().map(|s| (sign * s).exp()).collect();
        let factors = (twice_kappa * (high - low) < FACTORED).then(|| {
            [
                exp(&relevant_scores, -1.0),
                exp(&relevant_scores, 1.0),
                exp(&non_relevant_scores, 1.0),
                exp(&non_relevant_scores, -1.0),
            ]
        });
        let least = twice_kappa * (non_relevant_low - relevant_high);
        let lift = if factors.is_none() && loss.form == ConditionalObjective::ExpGain {
            least.max(0.0)
        } else {
            0.0
        };
        Some(Pairs {
            relevant,
            non_relevant,
            twice_kappa,
            relevant_scores,
            non_relevant_scores,
            lift,
            factors,
        })
    }

    fn count(&self) -> f64 {
        self.relevant.len() as f64 * self.non_relevant.len() as f64
    }

    /// Sums over all pairs; `weight` is given `p` and `exp(lift)·(1 − p)` of each.
    fn sums(&self, weight: impl Fn(f64, f64) -> f64) -> PairSums {
        let scores = self.relevant_scores.iter().chain(&self.non_relevant_scores).copied();
        if self.lift == 0.0 && is_worthwhile(self.count(), scores) {
            return self.smooth_sums(weight);
        }
        let mut sums = PairSums {
            logs: 0.0,
            wrong: 0.0,
            right: 0.0,
            of_relevant: vec![0.0; self.relevant.len()],
            of_non_relevant: vec![0.0; self.non_relevant.len()],
        };
        for start in (0..self.non_relevant.len()).step_by(BLOCK) {
            let end = self.non_relevant.len().min(start + BLOCK);
            self.add_block(start, end, &weight, &mut sums);
        }
        sums
    }

    /// The same for many documents.
    fn smooth_sums(&self, weight: impl Fn(f64, f64) -> f64) -> PairSums {
        let terms = |ahead: f64| {
            let near = (-ahead.abs()).exp();
            let inverse = 1.0 / (1.0 + near);
            let (wrong, right) =
                if ahead > 0.0 { (inverse, near * inverse) } else { (near * inverse, inverse) };
            [weight(wrong, right), ahead.max(0.0) + near.ln_1p(), wrong, right]
        };
        let relevant = smooth_sums(
            self.non_relevant_scores.iter().map(|score| (*score, 1.0)),
            &self.relevant_scores,
            terms,
        );
        let behind: Vec<f64> = self.non_relevant_scores.iter().map(|score| -score).collect();
        let non_relevant =
            smooth_sums(self.relevant_scores.iter().map(|score| (-score, 1.0)), &behind, |ahead| {
                [terms(ahead)[0]]
            });
        let total = |k: usize| relevant.iter().map(|sums| sums[k]).sum();
        PairSums {
            logs: total(1),
            wrong: total(2),
            right: total(3),
            of_relevant: relevant.iter().map(|sums| sums[0]).collect(),
            of_non_relevant: non_relevant.iter().map(|sums| sums[0]).collect(),
        }
    }

    /// Adds the pairs of all relevant documents with the non-relevant documents from `start` to `end`. Every document
    /// of the block has its own sums.
    fn add_block(&self, start: usize, end: usize, weight: &impl Fn(f64, f64) -> f64, sums: &mut PairSums) {
        let length = end - start;
        let scores = &self.non_relevant_scores[start..end];
        let of_non_relevant = &mut sums.of_non_relevant[start..end];
        let (mut products, mut excess) = ([0.0; BLOCK], [0.0; BLOCK]);
        let (mut wrongs, mut rights) = ([0.0; BLOCK], [0.0; BLOCK]);
        let (mut near, mut lifted, mut weights) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        for (g, relevant_score) in self.relevant_scores.iter().enumerate() {
            self.exponentials(g, start, &mut near[..length], &mut lifted[..length]);
            for j in 0..length {
                let ahead = scores[j] - relevant_score;
                let inverse = 1.0 / (1.0 + near[j]);
                let wrong = if ahead > 0.0 { inverse } else { near[j] * inverse };
                let right = if ahead > 0.0 { lifted[j] * inverse } else { inverse };
                weights[j] = weight(wrong, right);
                of_non_relevant[j] += weights[j];
                wrongs[j] += wrong;
                rights[j] += right;
                excess[j] += ahead.max(0.0);
                products[j] += near[j] * (1.0 + products[j]);
            }
            sums.of_relevant[g] += weights[..length].iter().sum::<f64>();
            if (g + 1) % FACTORS == 0 {
                sums.logs += products.iter_mut().map(|p| std::mem::take(p).ln_1p()).sum::<f64>();
            }
        }
        sums.logs += excess.iter().zip(&products).map(|(e, p)| e + p.ln_1p()).sum::<f64>();
        sums.wrong += wrongs.iter().sum::<f64>();
        sums.right += rights.iter().sum::<f64>();
    }

    /// `exp(−|a|)` of relevant document `g` with the non-relevant documents from `start` on, and the same times
    /// `exp(lift)`.
    fn exponentials(&self, g: usize, start: usize, near: &mut [f64], lifted: &mut [f64]) {
        if let Some([relevant, relevant_inverse, non_relevant, non_relevant_inverse]) = &self.factors {
            let (relevant, relevant_inverse) = (relevant[g], relevant_inverse[g]);
            let (non_relevant, non_relevant_inverse) =
                (&non_relevant[start..], &non_relevant_inverse[start..]);
            for (((n, l), b), i) in near.iter_mut().zip(lifted).zip(non_relevant).zip(non_relevant_inverse) {
                *n = (relevant * b).min(relevant_inverse * i).min(1.0);
                *l = *n;
            }
            return;
        }
        for ((n, l), b) in near.iter_mut().zip(lifted).zip(&self.non_relevant_scores[start..]) {
            let apart = (b - self.relevant_scores[g]).abs();
            *n = (-apart).exp();
            *l = (self.lift - apart).exp();
        }
    }

    /// Writes the sum of weights of each document times `scale`, with the given sign for relevant documents.
    fn spread(&self, sums: &PairSums, scale: f64, sign: f64, out: &mut [f64]) {
        self.relevant.iter().zip(&sums.of_relevant).for_each(|(&d, sum)| out[d] = sign * scale * sum);
        self.non_relevant.iter().zip(&sums.of_non_relevant).for_each(|(&d, sum)| out[d] = scale * sum);
    }
}
