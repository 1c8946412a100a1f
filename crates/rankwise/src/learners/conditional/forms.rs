//! The four conditional models.

use super::fitting::fit;
use super::parameters::{Conditional, ConditionalLinearParameters, Method};
use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::loss::per_mean_pairs;
use crate::learners::{Fitted, LinearParameters, LossKind, LossLearner, LossScorer, ScorerKind, Task};
use crate::losses::Scaled;
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
/// The gain is not used, except by the ladder of the sampler and by `exact`, which requires AUC.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Mle(pub Conditional);

impl Default for Mle {
    fn default() -> Self {
        Mle(closed_form())
    }
}

impl LossLearner for Mle {
    const CARD: Card = Card {
        name: "mle",
        title: "Conditional likelihood",
        summary: "Likelihood of the perfect ranking under a distribution over rankings, in closed form or \
                  over sampled rankings.",
        citations: &["dubey2009conditional"],
    };
    type Linear = ConditionalLinearParameters;

    fn check(&self, scorer: ScorerKind) -> Result<()> {
        self.0.check(scorer)
    }

    fn loss(&self, train: &Dataset) -> Result<LossKind> {
        Ok(self.0.loss(train, ConditionalObjective::Mle))
    }

    fn default_for(scorer: ScorerKind) -> Self {
        Mle(match scorer {
            ScorerKind::Linear => Mle::default().0,
            _ => closed_form(),
        })
    }
}

impl ConditionalForm for Mle {
    const FORM: ConditionalObjective = ConditionalObjective::Mle;

    fn conditional(&self) -> &Conditional {
        &self.0
    }
}

/// A convex bound on likelihood and expected loss together.
///
/// ```text
/// F_q = log Σ_y exp(−w·δφ(y) + Δ(y))
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ConvexLoss(pub Conditional);

impl LossLearner for ConvexLoss {
    const CARD: Card = Card {
        name: "convex-loss",
        title: "ConvexLoss",
        summary: "Convex bound on likelihood and expected loss of AUC, average precision or NDCG under a \
                  distribution over rankings.",
        citations: &["dubey2009conditional"],
    };
    type Linear = ConditionalLinearParameters;

    fn check(&self, scorer: ScorerKind) -> Result<()> {
        self.0.check(scorer)
    }

    fn loss(&self, train: &Dataset) -> Result<LossKind> {
        Ok(self.0.loss(train, ConditionalObjective::ConvexLoss))
    }

    fn default_for(scorer: ScorerKind) -> Self {
        ConvexLoss(match scorer {
            ScorerKind::Linear => ConvexLoss::default().0,
            _ => closed_form(),
        })
    }
}

impl ConditionalForm for ConvexLoss {
    const FORM: ConditionalObjective = ConditionalObjective::ConvexLoss;

    fn conditional(&self) -> &Conditional {
        &self.0
    }
}

/// Maximum expected gain.
///
/// ```text
/// F_q = −log Σ_y Pr(y)·(1 − Δ(y))
/// ```
///
/// Not convex, so the best of several starts is kept. By default AUC in closed form: the sampled NDCG depends on
/// few of the rankings drawn, and on long lists it learns little.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ExpGain(pub Conditional);

impl Default for ExpGain {
    fn default() -> Self {
        ExpGain(closed_form())
    }
}

impl LossLearner for ExpGain {
    const CARD: Card = Card {
        name: "exp-gain",
        title: "Expected gain",
        summary: "Expected AUC, average precision or NDCG under a distribution over rankings.",
        citations: &["dubey2009conditional"],
    };
    type Linear = ConditionalLinearParameters;

    fn check(&self, scorer: ScorerKind) -> Result<()> {
        self.0.check(scorer)
    }

    fn loss(&self, train: &Dataset) -> Result<LossKind> {
        Ok(self.0.loss(train, ConditionalObjective::ExpGain))
    }

    fn linear() -> ConditionalLinearParameters {
        ConditionalLinearParameters { linear: LinearParameters::smooth(0.3), starts: 3 }
    }
}

impl ConditionalForm for ExpGain {
    const FORM: ConditionalObjective = ConditionalObjective::ExpGain;

    fn conditional(&self) -> &Conditional {
        &self.0
    }
}

/// Likelihood and expected loss together.
///
/// ```text
/// F_q = log Σ_y exp(−w·δφ(y)) + Σ_y Pr(y)·Δ(y)
/// ```
///
/// Not convex, so the best of several starts is kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct L3(pub Conditional);

impl LossLearner for L3 {
    const CARD: Card = Card {
        name: "l3",
        title: "L3",
        summary: "Likelihood plus expected loss of AUC, average precision or NDCG under a distribution over \
                  rankings.",
        citations: &["dubey2009conditional"],
    };
    type Linear = ConditionalLinearParameters;

    fn check(&self, scorer: ScorerKind) -> Result<()> {
        self.0.check(scorer)
    }

    fn loss(&self, train: &Dataset) -> Result<LossKind> {
        Ok(self.0.loss(train, ConditionalObjective::L3))
    }

    fn default_for(scorer: ScorerKind) -> Self {
        L3(match scorer {
            ScorerKind::Linear => L3::default().0,
            _ => closed_form(),
        })
    }

    fn linear() -> ConditionalLinearParameters {
        ConditionalLinearParameters { starts: 3, ..ConditionalLinearParameters::default() }
    }
}

impl ConditionalForm for L3 {
    const FORM: ConditionalObjective = ConditionalObjective::L3;

    fn conditional(&self) -> &Conditional {
        &self.0
    }
}

/// The closed form for AUC, the only form that trees and networks can minimise.
fn closed_form() -> Conditional {
    Conditional { gain: RankingGain::Auc, method: Method::Exact, ..Conditional::default() }
}

impl Conditional {
    /// The closed form for AUC, as any scorer minimises it.
    fn loss(&self, train: &Dataset, form: ConditionalObjective) -> LossKind {
        let loss = Box::new(self.closed_form(train, form));
        if form.is_convex() { LossKind::Smooth(loss) } else { LossKind::NonConvex(loss) }
    }

    /// The closed form for AUC. Sums over pairs are divided by the mean number of pairs per query; the expected
    /// gain is a mean already.
    pub(super) fn closed_form(&self, train: &Dataset, form: ConditionalObjective) -> Scaled<ExactAuc> {
        let loss = ExactAuc { form, kappa: self.kappa, threshold: self.threshold };
        match form {
            ConditionalObjective::ExpGain | ConditionalObjective::L2 => Scaled { loss, factor: 1.0 },
            _ => per_mean_pairs(loss, train, |labels| loss.pair_count(labels)),
        }
    }
}

/// A conditional model: an objective computed from the distribution over rankings.
trait ConditionalForm: LossLearner {
    const FORM: ConditionalObjective;

    fn conditional(&self) -> &Conditional;
}

impl<L: ConditionalForm> LossScorer<L> for ConditionalLinearParameters {
    const KIND: ScorerKind = ScorerKind::Linear;
    const DISTRIBUTES: bool = true;
    const TAKES_CLICKS: bool = false;

    fn check(&self, _: &L) -> Result<()> {
        self.check_starts(L::FORM)?;
        ConditionalLinearParameters::check(self)
    }

    fn fit(&self, model: &L, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(fit(model.conditional(), self, L::FORM, task, watch))
    }
}
