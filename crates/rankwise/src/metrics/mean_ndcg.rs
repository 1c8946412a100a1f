//! The mean of NDCG over all cuts, as the LETOR scripts print it (Qin et al. 2010).
//!
//! ```text
//! MeanNDCG = 1/n Σ_{k=1}^{n} NDCG@k
//! ```
//! with n documents in the query; `mean-ndcg@10` is the mean of the first ten cuts.

use super::ndcg::Ndcg;
use super::{BY_CONVENTION, MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "mean-ndcg",
        title: "Mean NDCG over all cuts",
        summary: "The mean of NDCG@1, NDCG@2, … up to the number of documents, or up to k.",
        citations: &["qin2010letor"],
    },
    aliases: &[],
    range: (0.0, Some(1.0)),
    empty: BY_CONVENTION,
    cut: true,
    levels: false,
    options: &["gain", "discount", "threshold"],
    make: |request| {
        let formula = MeanNdcg(Ndcg::new(&request.conventions, request.depth()));
        request.build(&ENTRY.card, formula)
    },
};

struct MeanNdcg(Ndcg);

impl MetricFormula for MeanNdcg {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        self.0.is_undefined(labels)
    }

    /// The expectation of a mean is the mean of expectations, because each ratio has a fixed divisor.
    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let dcg = &self.0.0;
        let cuts = dcg.depth.min(labels.len());
        let (mut gained, mut best) = (vec![0.0; cuts], vec![0.0; cuts]);
        dcg.gains.each_expected(labels, ranking, cuts, |place, gain| {
            gained[place] = gain * dcg.discounts.at(place)
        });
        dcg.gains.each_ideal(labels, cuts, |place, gain| best[place] = gain * dcg.discounts.at(place));
        let (mut sum, mut gained_so_far, mut best_so_far) = (0.0, 0.0, 0.0);
        for (gained, best) in gained.iter().zip(&best) {
            gained_so_far += gained;
            best_so_far += best;
            sum += gained_so_far / best_so_far;
        }
        sum / cuts as f64
    }
}
