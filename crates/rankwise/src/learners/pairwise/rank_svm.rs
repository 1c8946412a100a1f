//! Ranking SVM: a margin between documents with different labels (Herbrich, Graepel and Obermayer 1999;
//! Joachims, KDD 2002).
//!
//! ```text
//! min_w ½‖w‖² + C/P Σ_q Σ_{rᵢ>rⱼ} ℓ([1 − w·(xᵢ − xⱼ)]₊) ,      ℓ(m) = m (hinge) or m² (squared hinge)
//! ```
//!
//! `P` is the number of pairs of all queries, so one C serves short and long lists. svm_rank divides the sum
//! by the number of queries: its C is ours divided by the mean number of pairs per query. Solvers that take
//! the pairs as `x = xᵢ − xⱼ` and do not know queries (SVM-light, LIBLINEAR, scikit-learn's `LinearSVC`
//! without an intercept) sum the loss over all pairs, so they reach the same optimum with `C/P` as their C.
//!
//! The hinge is minimised by cutting planes, the squared hinge by truncated Newton (Lee and Lin 2014).

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;

use super::per_mean_pair_count;
use crate::learners::{LinearParameters, LossKind, LossLearner};
use crate::losses::{PairHinge, SquaredPairHinge};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Loss of a pair whose lead is below 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PairLoss {
    /// The shortfall.
    Hinge,
    /// The square of the shortfall.
    SquaredHinge,
}

/// Max-margin loss of pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RankSvm {
    /// Loss of a pair whose lead is below 1: `hinge` (the shortfall) or `squared-hinge` (its square).
    pub loss: PairLoss,
}

impl Default for RankSvm {
    fn default() -> Self {
        RankSvm { loss: PairLoss::Hinge }
    }
}

impl LossLearner for RankSvm {
    const CARD: Card = Card {
        name: "rank-svm",
        title: "Ranking SVM",
        summary: "Max-margin (hinge) loss of pairs of documents with different labels; its linear models are \
                  solved to a certified duality gap.",
        citations: &["herbrich1999support", "joachims2002optimizing", "lee2014large", "joachims2009cutting"],
    };

    type Linear = LinearParameters;

    fn linear() -> LinearParameters {
        LinearParameters { c: 1.0, ..LinearParameters::default() }
    }

    fn loss(&self, train: &Dataset) -> Result<LossKind> {
        Ok(match self.loss {
            PairLoss::Hinge => LossKind::Convex(Box::new(per_mean_pair_count(PairHinge::default(), train))),
            PairLoss::SquaredHinge => {
                LossKind::SecondOrder(Box::new(per_mean_pair_count(SquaredPairHinge::default(), train)))
            }
        })
    }
}
