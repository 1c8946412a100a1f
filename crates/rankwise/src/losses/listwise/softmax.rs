//! Softmax (top-one) probabilities, and their cross-entropy with target probabilities.
//!
//! ```text
//! pᵢ = exp(sᵢ) / Σⱼ exp(sⱼ) ,   L = −Σᵢ tᵢ ln pᵢ ,   ∂L/∂sᵢ = pᵢ − tᵢ ,   ∂²L/∂sᵢ² = pᵢ(1 − pᵢ)        Σ t = 1
//! ```

/// Overwrites `scores` with their softmax; returns the log-sum-exp.
pub(super) fn softmax(scores: &mut [f64]) -> f64 {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter_mut().for_each(|score| *score = (*score - best).exp());
    let total: f64 = scores.iter().sum();
    scores.iter_mut().for_each(|power| *power /= total);
    best + total.ln()
}

/// Cross-entropy between `targets`, which sum to 1, and the softmax of `scores`.
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

/// The diagonal of the second derivative.
pub(super) fn curvature(scores: &[f64], out: &mut [f64]) {
    out.copy_from_slice(scores);
    softmax(out);
    out.iter_mut().for_each(|p| *p *= 1.0 - *p);
}
