//! Losses for queries with many perfect rankings (Yang, Tewari and Ravikumar, AISTATS 2012).

mod max_max;
mod min_perturb;
#[cfg(test)]
mod tests;
mod tie_random;

use super::ScoredQuery;
use super::structured::{DormSearch, LossAugmentedArgmax};
use super::ties::level_if_all_tied;

pub(super) use max_max::CARD as MAX_MAX;
pub use max_max::MaxMax;
pub(super) use min_perturb::CARD as MIN_PERTURB;
pub use min_perturb::{MarginSpacing, MinPerturb};
pub(super) use tie_random::CARD as TIE_RANDOM;
pub use tie_random::TieRandom;

/// The hinge loss against one perfect ranking, which `perfect` derives from the query's gains:
///
/// ```text
/// max_y { 1 − NDCG(y) + f(s,y) } − f(s,z) ,    f(s,y) = Σᵢ A(yᵢ)·sᵢ
/// ```
fn hinge_against(
    search: &DormSearch,
    query: ScoredQuery<'_>,
    gradient: &mut [f64],
    perfect: impl FnOnce(&[f64]) -> Vec<u32>,
) -> f64 {
    gradient.fill(0.0);
    let Some(worst) = search.argmax(query) else { return 0.0 };
    let pulls = search.pulls(query.labels.len());
    for (pull, &shown) in pulls.iter().zip(worst.order()) {
        gradient[shown as usize] = *pull;
    }
    level_if_all_tied(query, |label| search.class_of(label), gradient);
    for (pull, &wanted) in pulls.iter().zip(&perfect(&search.gains(query.labels))) {
        gradient[wanted as usize] -= pull;
    }
    let lead: f64 = gradient.iter().zip(query.scores).map(|(g, s)| g * s).sum();
    // Never below 0 in exact arithmetic, because the search includes the perfect ranking.
    (search.task_loss(query.labels, &worst) + lead).max(0.0)
}
