//! Smooth losses over the whole list of documents of a query.

mod approx_ndcg;
mod boltz_rank;
mod list_mle;
mod list_net;
mod rank_cosine;
mod soft_rank;
mod softmax;
mod weighted_softmax;
mod xe_ndcg;

use crate::metrics::{Conventions, Dcg, Discount, Gain};
use crate::rank::grade;

pub use approx_ndcg::ApproxNdcg;
pub(super) use approx_ndcg::CARD as APPROX_NDCG;
pub use boltz_rank::BoltzRank;
pub(super) use boltz_rank::CARD as BOLTZ_RANK;
pub(super) use list_mle::CARD as LIST_MLE;
pub use list_mle::ListMle;
pub(super) use list_net::CARD as LIST_NET;
pub use list_net::ListNet;
pub(super) use rank_cosine::CARD as RANK_COSINE;
pub use rank_cosine::RankCosine;
pub(super) use soft_rank::CARD as SOFT_RANK;
pub use soft_rank::SoftRank;
pub(super) use weighted_softmax::CARD as WEIGHTED_SOFTMAX;
pub use weighted_softmax::WeightedSoftmax;
pub(super) use xe_ndcg::CARD as XE_NDCG;
pub use xe_ndcg::XeNdcg;

/// Whether there are documents with different labels.
fn has_two_grades(labels: &[f32]) -> bool {
    labels.iter().any(|&label| grade(label) != grade(labels[0]))
}

/// DCG with cutoff `k`; 0 for none.
fn dcg(gain: Gain, k: usize) -> Dcg {
    let conventions = Conventions { gain, discount: Discount::Log2, ..Conventions::default() };
    Dcg::new(&conventions, if k == 0 { usize::MAX } else { k })
}

/// The gains of the documents divided by the ideal DCG; `None` if all gains are equal.
fn shares_of_ideal(dcg: &Dcg, labels: &[f32]) -> Option<Vec<f64>> {
    let mut gains: Vec<f64> = labels.iter().map(|&label| dcg.gains.of(label)).collect();
    if gains.iter().all(|gain| *gain == gains[0]) {
        return None;
    }
    let ideal = dcg.ideal(labels);
    gains.iter_mut().for_each(|gain| *gain /= ideal);
    Some(gains)
}

/// Whether there are documents with different gains.
fn has_two_gains(dcg: &Dcg, labels: &[f32]) -> bool {
    labels.iter().any(|&label| dcg.gains.of(label) != dcg.gains.of(labels[0]))
}
