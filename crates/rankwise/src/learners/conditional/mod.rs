//! Conditional models of whole rankings: a linear model by what is made of the law `Pr(y) ∝ exp(−w·δφ(y))` (Dubey,
//! Machchhar, Bhattacharyya and Chakrabarti, ICDM 2009).
//!
//! ```text
//! min_w ‖w‖²/C + 1/Q Σ_q F_q(w)
//! ```
//!
//! with `F_q` one of the [forms](crate::losses::conditional::ConditionalObjective) and `Q` the queries with both good and bad documents;
//! the others are skipped. The paper adds queries up instead, so its `C` is ours over `Q`.

mod adaptive;
mod fitting;
mod forms;
mod parameters;
#[cfg(test)]
mod tests;

pub(crate) use fitting::sampled_risk;
pub use forms::{ConvexLoss, ExpGain, L3, Mle};
pub use parameters::{Conditional, ConditionalLinearParameters, Method, RestartAt};
