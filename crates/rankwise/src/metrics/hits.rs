//! Counting relevant documents: what precision, recall, F1 and their relatives share.

use super::conventions::PDivisor;
use crate::rank::Ranking;

/// How many documents are relevant, retrieved or not. The threshold is above 0, so unjudged ones (NaN) are
/// not.
pub(super) fn relevant(labels: &[f32], threshold: f32) -> usize {
    labels.iter().filter(|&&l| l >= threshold).count()
}

/// Whether none is.
pub(super) fn none_relevant(labels: &[f32], threshold: f32) -> bool {
    !labels.iter().any(|&l| l >= threshold)
}

/// How many of these documents are relevant.
pub(super) fn relevant_among(labels: &[f32], documents: &[u32], threshold: f32) -> usize {
    documents.iter().filter(|&&d| labels[d as usize] >= threshold).count()
}

/// How many relevant documents the first `depth` places can expect: each place of a group, the group's share.
pub(super) fn expected_hits(labels: &[f32], ranking: &Ranking, threshold: f32, depth: usize) -> f64 {
    let mut hits = 0.0;
    for group in ranking.groups().take_while(|g| g.start < depth) {
        let found = relevant_among(labels, &ranking.order()[group.clone()], threshold) as f64;
        let inside = group.end.min(depth) - group.start;
        hits += if inside == group.len() { found } else { found * inside as f64 / group.len() as f64 };
    }
    hits
}

/// What precision is divided by: the cut, or the number of documents ranked where there is none.
pub(super) fn precision_divisor(divisor: PDivisor, cut: Option<usize>, ranked: usize) -> usize {
    match (cut, divisor) {
        (None, _) => ranked,
        (Some(k), PDivisor::K) => k,
        (Some(k), PDivisor::Min) => k.min(ranked),
    }
}
