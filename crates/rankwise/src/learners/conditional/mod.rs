//! Conditional models of whole rankings: objectives computed from the distribution `Pr(y) ∝ exp(−w·δφ(y))`
//! over rankings (Dubey, Machchhar, Bhattacharyya and Chakrabarti, ICDM 2009).
//!
//! ```text
//! min_w ‖w‖²/C + 1/Q Σ_q F_q(w)
//! ```
//!
//! where `F_q` is one of the [forms](crate::losses::conditional::ConditionalObjective) and `Q` counts the
//! queries with both relevant and non-relevant documents; the others are skipped. The paper sums over queries
//! instead, so its `C` is ours divided by `Q`. In closed form the likelihood is a sum over pairs of a relevant
//! and a non-relevant document. There `F_q` of [`Mle`], [`L3`] and [`ConvexLoss`] is divided by the mean number
//! of pairs per query, so that one `C` serves short and long lists.

mod adaptive;
mod fitting;
mod forms;
mod parameters;
#[cfg(test)]
mod tests;

pub(crate) use fitting::sampled_risk;
pub use forms::{ConvexLoss, ExpGain, L3, Mle};
pub use parameters::{Conditional, ConditionalLinearParameters, Method, RestartAt};
