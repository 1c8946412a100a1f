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
use crate::learners::margin::{self, LargeMargin, Margin};
use crate::learners::{Fitted, Learner, Task};
use crate::losses::{PairHinge, QueryLoss, SquaredPairHinge};
use crate::solvers::Bundle;
use crate::watch::Watch;
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
    /// Weight C > 0 of the mean over queries of their pairs' total loss, against ½‖w‖²: larger fits them closer.
    pub c: f64,
    /// Relative duality gap, between 0 and 1, at which the solution counts as found.
    pub gap: f64,
    /// The most cutting planes to add (hinge) or Newton steps to make (squared hinge), at least 1.
    pub rounds: u64,
    /// Whether w is in units of the features' standard deviations; false for features as they stand.
    pub scale: bool,
    /// What a pair costs that falls short of a lead of 1: `hinge` for that, `squared-hinge` for its square.
    pub loss: PairLoss,
}

impl Default for RankSvm {
    fn default() -> Self {
        RankSvm { c: 1e-3, gap: 1e-3, rounds: 2000, scale: true, loss: PairLoss::Hinge }
    }
}

impl Learner for RankSvm {
    const CARD: Card = Card {
        name: "rank-svm",
        title: "Ranking SVM",
        summary: "A linear model of large margin for pairs of documents of different grade, solved to a certified gap.",
        citations: &["herbrich1999support", "joachims2002optimizing", "lee2014large", "joachims2009cutting"],
    };

    fn check(&self) -> Result<()> {
        self.solver().check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(match self.loss {
            PairLoss::Hinge => margin::fit(self, task, watch),
            PairLoss::SquaredHinge => {
                margin::fit_by_newton(SquaredPairHinge::default(), self.solver(), task, watch)
            }
        })
    }
}

impl LargeMargin for RankSvm {
    type Loss = Box<dyn QueryLoss>;

    fn loss(&self, _: &Dataset) -> Self::Loss {
        match self.loss {
            PairLoss::Hinge => Box::new(PairHinge::default()),
            PairLoss::SquaredHinge => Box::new(SquaredPairHinge::default()),
        }
    }

    fn solver(&self) -> Margin {
        let bundle = Bundle { c: self.c, gap: self.gap, rounds: self.rounds };
        Margin { bundle, scale: self.scale }
    }
}
