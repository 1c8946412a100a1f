//! Counting relevant documents, for precision, recall, F1 and related metrics.

use super::conventions::PDivisor;
use crate::rank::Ranking;

/// The number of relevant documents, retrieved or not. The threshold is above 0, so unjudged ones (NaN) do not count.
pub(super) fn relevant(labels: &[f32], threshold: f32) -> usize {
    labels.iter().filter(|&&l| l >= threshold).count()
}

/// Whether no document is relevant.
pub(super) fn none_relevant(labels: &[f32], threshold: f32) -> bool {
    !labels.iter().any(|&l| l >= threshold)
}

/// The number of relevant documents among these.
pub(super) fn relevant_among(labels: &[f32], documents: &[u32], threshold: f32) -> usize {
    documents.iter().filter(|&&d| labels[d as usize] >= threshold).count()
}

/// The expected number of relevant documents in the first `depth` ranks. Each rank of a tied group expects the
/// group's fraction of relevant documents.
pub(super) fn expected_hits(labels: &[f32], ranking: &Ranking, threshold: f32, depth: usize) -> f64 {
    let mut hits = 0.0;
    for group in ranking.groups().take_while(|g| g.start < depth) {
        let found = relevant_among(labels, &ranking.order()[group.clone()], threshold) as f64;
        let inside = group.end.min(depth) - group.start;
        hits += if inside == group.len() { found } else { found * inside as f64 / group.len() as f64 };
    }
    hits
}

/// The divisor of precision: the cut, or the number of ranked documents if there is no cut.
pub(super) fn precision_divisor(divisor: PDivisor, cut: Option<usize>, ranked: usize) -> usize {
    match (cut, divisor) {
        (None, _) => ranked,
        (Some(k), PDivisor::K) => k,
        (Some(k), PDivisor::Min) => k.min(ranked),
    }
}
