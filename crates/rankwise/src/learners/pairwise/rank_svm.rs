//! Ranking SVM: a large margin between documents of different grade (Herbrich, Graepel and Obermayer 1999; Joachims,
//! KDD 2002).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q Σ_{rᵢ>rⱼ} ℓ([1 − w·(xᵢ − xⱼ)]₊) ,      ℓ(m) = m (hinge) or m² (squared hinge)
//! ```
//!
//! `Q` counts the queries that have such pairs. `C` is that of svm_rank, which counts all queries in `Q`. A solver
//! that is given the pairs as `x = xᵢ − xⱼ` and knows no queries (SVM-light, LIBLINEAR, scikit-learn's `LinearSVC`
//! without an intercept) has `C/Q` for its C: the optimum is the same, as its loss is the sum over all pairs.
//!
//! The hinge is minimised by cutting planes, the squared hinge by truncated Newton (Lee and Lin 2014).

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;

use crate::learners::{LinearParameters, LossKind, LossLearner};
use crate::losses::{PairHinge, SquaredPairHinge};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a pair costs that falls short of a lead of 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PairLoss {
    /// What it falls short by.
    Hinge,
    /// The square of that.
    SquaredHinge,
}

/// A linear large-margin ranker of pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RankSvm {
    /// What a pair costs that falls short of a lead of 1: `hinge` for that, `squared-hinge` for its square.
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
        summary: "A linear model of large margin for pairs of documents of different grade, solved to a certified gap.",
        citations: &["herbrich1999support", "joachims2002optimizing", "lee2014large", "joachims2009cutting"],
    };

    type Linear = LinearParameters;

    fn linear() -> LinearParameters {
        LinearParameters { c: 1e-3, ..LinearParameters::default() }
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        Ok(match self.loss {
            PairLoss::Hinge => LossKind::Convex(Box::new(PairHinge::default())),
            PairLoss::SquaredHinge => LossKind::SecondOrder(Box::new(SquaredPairHinge::default())),
        })
    }
}
