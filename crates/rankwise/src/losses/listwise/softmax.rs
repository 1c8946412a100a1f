//! The probability of each document to come first, and its cross-entropy with one that is wanted.
//!
//! ```text
//! pᵢ = exp(sᵢ) / Σⱼ exp(sⱼ) ,   L = −Σᵢ tᵢ ln pᵢ ,   ∂L/∂sᵢ = pᵢ − tᵢ ,   ∂²L/∂sᵢ² = pᵢ(1 − pᵢ)        Σ t = 1
//! ```

/// Overwrites `scores` with probabilities; gives back the logarithm of `Σ exp(s)`.
pub(super) fn softmax(scores: &mut [f64]) -> f64 {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter_mut().for_each(|score| *score = (*score - best).exp());
    let total: f64 = scores.iter().sum();
    scores.iter_mut().for_each(|power| *power /= total);
    best + total.ln()
}

/// Cross-entropy of `targets`, which add up to 1, with the probabilities of `scores`.
pub(super) fn cross_entropy(targets: &[f64], scores: &[f64], gradient: &mut [f64]) -> f64 {
    gradient.copy_from_slice(scores);
    let log_total = softmax(gradient);
    let mut value = 0.0;
    for ((g, target), score) in gradient.iter_mut().zip(targets).zip(scores) {
        *g -= target;
        value += target * (log_total - score);
    }
    value
}

/// The diagonal of its second derivative.
pub(super) fn curvature(scores: &[f64], out: &mut [f64]) {
    out.copy_from_slice(scores);
    softmax(out);
    out.iter_mut().for_each(|p| *p *= 1.0 - *p);
}
