//! Rank-biased precision (Moffat and Zobel 2008): a user continues to the next document with probability p.
//!
//! ```text
//! RBP = (1−p) Σᵢ gain(rᵢ) p^(i−1)
//! ```

use super::gains::Gains;
use super::{BY_CONVENTION, MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "rbp",
        title: "Rank-biased precision",
        summary: "The expected gain per document for a user who continues to the next document with probability p.",
        citations: &["moffat2008rank"],
    },
    aliases: &[],
    range: (0.0, Some(1.0)),
    empty: BY_CONVENTION,
    cut: true,
    levels: false,
    options: &["persistence", "rbp-gain", "threshold"],
    make: |request| {
        let c = &request.conventions;
        let formula = RankBiasedPrecision {
            gains: Gains::new(c.rbp_gain, c),
            persistence: c.persistence,
            depth: request.depth(),
        };
        request.build(&ENTRY.card, formula)
    },
};

struct RankBiasedPrecision {
    gains: Gains,
    persistence: f64,
    depth: usize,
}

impl MetricFormula for RankBiasedPrecision {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        self.gains.are_zero(labels)
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let (mut sum, mut still_looking) = (0.0, 1.0);
        self.gains.each_expected(labels, ranking, self.depth, |_, gain| {
            sum += gain * still_looking;
            still_looking *= self.persistence;
        });
        (1.0 - self.persistence) * sum
    }
}
