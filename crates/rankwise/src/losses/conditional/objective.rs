//! Objectives of a query over a weighted set of rankings.

/// An objective of the distribution `Pr(y) ∝ exp(−w·δφ(y))` over the rankings of one query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConditionalObjective {
    /// L1, the negative log-likelihood of the perfect ranking: `log Σ_y exp(−w·δφ(y))`.
    Mle,
    /// The negative logarithm of the expected gain: `−log Σ_y Pr(y)·(1 − Δ(y))`. Not convex.
    ExpGain,
    /// The expected loss: `Σ_y Pr(y)·Δ(y)`. Not convex.
    L2,
    /// L1 + L2. Not convex.
    L3,
    /// `log Σ_y exp(−w·δφ(y) + Δ(y))`: convex, and at least L3.
    ConvexLoss,
}

impl ConditionalObjective {
    /// Whether it is a convex function of the weights.
    pub fn is_convex(self) -> bool {
        matches!(self, ConditionalObjective::Mle | ConditionalObjective::ConvexLoss)
    }

    /// The objective over rankings with the losses Δ and the exponents `a = log ω − w·δφ`, where ω is the weight of a
    /// ranking. The exponents are replaced by the derivatives by them. At least one ranking must have `Δ < 1`.
    pub fn over_rankings(self, exponents: &mut [f64], losses: &[f64]) -> f64 {
        match self {
            ConditionalObjective::Mle => softmax(exponents),
            ConditionalObjective::ConvexLoss => {
                exponents.iter_mut().zip(losses).for_each(|(a, loss)| *a += loss);
                softmax(exponents)
            }
            ConditionalObjective::L2 => expected_loss(exponents, losses, 0.0).1,
            ConditionalObjective::L3 => {
                let (total, mean) = expected_loss(exponents, losses, 1.0);
                total + mean
            }
            ConditionalObjective::ExpGain => {
                // The logarithm of a ratio of two sums, as a difference of logarithms, because either sum may
                // underflow.
                let mut gained: Vec<f64> =
                    exponents.iter().zip(losses).map(|(a, loss)| a + (-loss).ln_1p()).collect();
                let value = softmax(exponents) - softmax(&mut gained);
                exponents.iter_mut().zip(&gained).for_each(|(p, gained)| *p -= gained);
                value
            }
        }
    }
}

/// The log-sum-exp; each exponent is replaced by its softmax probability.
fn softmax(exponents: &mut [f64]) -> f64 {
    let top = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut total = 0.0;
    for a in exponents.iter_mut() {
        *a = (*a - top).exp();
        total += *a;
    }
    exponents.iter_mut().for_each(|a| *a /= total);
    top + total.ln()
}

/// The log-sum-exp and the expected loss. The exponents are replaced by the derivatives of the latter plus `share`
/// times the former.
fn expected_loss(exponents: &mut [f64], losses: &[f64], share: f64) -> (f64, f64) {
    let total = softmax(exponents);
    let mean = exponents.iter().zip(losses).map(|(p, loss)| p * loss).sum();
    exponents.iter_mut().zip(losses).for_each(|(p, loss)| *p *= share + loss - mean);
    (total, mean)
}
