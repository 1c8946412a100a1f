//! The four conditional models.

use super::fitting::fit;
use super::parameters::{Conditional, Method};
use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::{ByLoss, Fitted, Learner, Task};
use crate::losses::QueryLoss;
use crate::losses::conditional::{ConditionalObjective, ExactAuc, RankingGain};
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum likelihood of the perfect ranking.
///
/// ```text
/// F_q = log Σ_y exp(−w·δφ(y))
/// ```
///
/// The gain has no part in it, but for the ladder and for what `exact` allows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Mle(pub Conditional);

impl Default for Mle {
    fn default() -> Self {
        Mle(Conditional { gain: RankingGain::Auc, method: Method::Exact, ..Conditional::default() })
    }
}

impl Learner for Mle {
    const CARD: Card = Card {
        name: "mle",
        title: "Conditional likelihood",
        summary: "A linear model under which the perfect ranking is most likely, with pairs on their own or over \
                  rankings drawn.",
        citations: &["dubey2009conditional"],
    };

    fn check(&self) -> Result<()> {
        self.0.check(ConditionalObjective::Mle)
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(fit(&self.0, ConditionalObjective::Mle, task, watch))
    }
}

/// A convex bound of likelihood and expected loss together.
///
/// ```text
/// F_q = log Σ_y exp(−w·δφ(y) + Δ(y))
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ConvexLoss(pub Conditional);

impl Learner for ConvexLoss {
    const CARD: Card = Card {
        name: "convex-loss",
        title: "ConvexLoss",
        summary: "A linear model by a convex bound of a ranking's likelihood and expected loss of AUC, average \
                  precision or NDCG.",
        citations: &["dubey2009conditional"],
    };

    fn check(&self) -> Result<()> {
        self.0.check(ConditionalObjective::ConvexLoss)
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(fit(&self.0, ConditionalObjective::ConvexLoss, task, watch))
    }
}

/// Greatest expected gain.
///
/// ```text
/// F_q = −log Σ_y Pr(y)·(1 − Δ(y))
/// ```
///
/// Not convex, so the best of several starts is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ExpGain(pub Conditional);

impl Default for ExpGain {
    fn default() -> Self {
        ExpGain(Conditional { starts: 3, ..Conditional::default() })
    }
}

impl Learner for ExpGain {
    const CARD: Card = Card {
        name: "exp-gain",
        title: "Expected gain",
        summary: "A linear model whose law of rankings has the greatest expected AUC, average precision or NDCG.",
        citations: &["dubey2009conditional"],
    };

    fn check(&self) -> Result<()> {
        self.0.check(ConditionalObjective::ExpGain)
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(fit(&self.0, ConditionalObjective::ExpGain, task, watch))
    }
}

/// Likelihood and expected loss together.
///
/// ```text
/// F_q = log Σ_y exp(−w·δφ(y)) + Σ_y Pr(y)·Δ(y)
/// ```
///
/// Not convex, so the best of several starts is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct L3(pub Conditional);

impl Default for L3 {
    fn default() -> Self {
        L3(Conditional { starts: 3, ..Conditional::default() })
    }
}

impl Learner for L3 {
    const CARD: Card = Card {
        name: "l3",
        title: "L3",
        summary: "A linear model by a ranking's likelihood and expected loss of AUC, average precision or NDCG.",
        citations: &["dubey2009conditional"],
    };

    fn check(&self) -> Result<()> {
        self.0.check(ConditionalObjective::L3)
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(fit(&self.0, ConditionalObjective::L3, task, watch))
    }
}

/// With trees the sums over rankings are in closed form, whatever the linear model would do.
macro_rules! by_exact_auc {
    ($learner:ident, $form:expr) => {
        impl ByLoss for $learner {
            fn concerns_loss(parameter: &str) -> bool {
                ["kappa", "threshold"].contains(&parameter)
            }

            fn loss_of_scores(&self, _: &Dataset) -> Result<Box<dyn QueryLoss>> {
                let Conditional { kappa, threshold, .. } = self.0;
                Ok(Box::new(ExactAuc { form: $form, kappa, threshold }))
            }
        }
    };
}

by_exact_auc!(Mle, ConditionalObjective::Mle);
by_exact_auc!(ConvexLoss, ConditionalObjective::ConvexLoss);
by_exact_auc!(ExpGain, ConditionalObjective::ExpGain);
by_exact_auc!(L3, ConditionalObjective::L3);
