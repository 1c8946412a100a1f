//! Interpolated precision, for the metrics at levels of recall.
//!
//! ```text
//! P(r) = max { P@i : at least ⌊r·R + 0.9⌋ relevant documents are among the first i }      R relevant documents
//! ```
//! The rounding is that of trec_eval. A maximum has no simple expectation over the orders of tied documents. Where ties
//! are averaged, tied documents are therefore seen at once: `i` is a rank at which a group ends.

use super::hits::{relevant, relevant_among};
use crate::rank::Ranking;

/// The eleven levels at which trec_eval shows precision.
pub(super) const ELEVEN_LEVELS: [f64; 11] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// Precision as a function of recall.
pub(super) struct RecallCurve {
    relevant: usize,
    /// The number of relevant documents seen and the precision then, at every rank where a relevant one appears.
    points: Vec<(usize, f64)>,
}

impl RecallCurve {
    pub(super) fn new(labels: &[f32], ranking: &Ranking, threshold: f32) -> Self {
        let (mut hits, mut points) = (0, Vec::new());
        for group in ranking.groups() {
            let found = relevant_among(labels, &ranking.order()[group.clone()], threshold);
            hits += found;
            if found > 0 {
                points.push((hits, hits as f64 / group.end as f64));
            }
        }
        RecallCurve { relevant: relevant(labels, threshold), points }
    }

    /// The interpolated precision at a level of recall; 0 if the ranking does not reach it.
    pub(super) fn at(&self, level: f64) -> f64 {
        let needed = (level * self.relevant as f64 + 0.9) as usize;
        let reached = self.points.iter().filter(|(hits, _)| *hits >= needed);
        reached.map(|(_, precision)| *precision).fold(0.0, f64::max)
    }
}
