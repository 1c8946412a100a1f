//! Linear models of any loss: the weights that minimise `½‖w‖² + C·R(w)`, by the optimiser that suits the
//! loss.

mod certified;
mod smooth;

use super::{LossScorer, ScorerKind};
use crate::error::Result;
use crate::learners::loss::{LossKind, LossSource};
use crate::learners::parameters::{check_above_zero, check_at_least, check_inside_unit};
use crate::learners::{Fitted, Task};
use crate::losses::QueryLoss;
use crate::solvers::LinearRisk;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(in crate::learners) use certified::record as certified_record;

/// How a linear model is optimised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(inline)]
pub struct LinearParameters {
    /// Weight C > 0 of the mean loss against ½‖w‖²: a larger C fits the training queries more closely.
    pub c: f64,
    /// Maximum number of iterations of the optimiser, at least 1.
    pub iterations: u64,
    /// When to stop, above 0 and below 1: at this relative duality gap (max-margin losses) or this norm of the gradient relative to the start (smooth losses).
    pub tolerance: f64,
    /// Whether features are divided by their standard deviations in ½‖w‖²; false for the features as they are.
    pub scale: bool,
}

impl Default for LinearParameters {
    fn default() -> Self {
        LinearParameters { c: 1.0, iterations: 2000, tolerance: 1e-3, scale: true }
    }
}

impl LinearParameters {
    /// The defaults for a smooth loss, with another C.
    pub const fn smooth(c: f64) -> LinearParameters {
        LinearParameters { c, iterations: 200, tolerance: 1e-4, scale: true }
    }

    /// Rejects parameters that are out of range.
    pub fn check(&self) -> Result<()> {
        check_above_zero("c", self.c)?;
        check_inside_unit("tolerance", self.tolerance)?;
        check_at_least("iterations", self.iterations, 1)
    }

    /// The mean loss of a linear model over the training queries, in the units selected by `scale`.
    pub(in crate::learners) fn risk<'a, L: QueryLoss>(&self, loss: L, task: &Task<'a>) -> LinearRisk<'a, L> {
        let risk = LinearRisk::new(task.train, loss, task.seed);
        if self.scale { risk.scaled() } else { risk }
    }

    fn minimize(
        &self,
        mut loss: LossKind,
        reorderings: u64,
        task: &Task<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Fitted> {
        loss.set_stop(watch.stop());
        Ok(match loss {
            LossKind::Convex(loss) => certified::fit(loss, self, task, watch)?,
            LossKind::SecondOrder(loss) => certified::fit_by_newton(loss, self, task, watch),
            LossKind::Smooth(loss) => smooth::fit_convex(loss, self, task, watch),
            LossKind::NonConvex(loss) => smooth::fit_non_convex(loss, self, task, watch),
            LossKind::Lambda(loss) => smooth::fit_reweighted(loss, reorderings, self, task, watch),
        })
    }
}

impl<L: LossSource + ?Sized> LossScorer<L> for LinearParameters {
    const KIND: ScorerKind = ScorerKind::Linear;
    const DISTRIBUTES: bool = true;

    fn check(&self, _: &L) -> Result<()> {
        LinearParameters::check(self)
    }

    fn fit(&self, loss: &L, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        let reorderings = LambdaLinearParameters::default().reorderings;
        self.minimize(loss.make_loss(task.train)?, reorderings, task, watch)
    }

    fn path(
        &self,
        loss: &L,
        cs: &[f64],
        task: &Task<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Option<RegularizationPath>> {
        cs.iter().try_for_each(|&c| check_above_zero("c", c))?;
        Ok(match loss.make_loss(task.train)? {
            LossKind::Convex(loss) => Some(certified::fit_path(loss, cs, self, task, watch)?),
            _ => None,
        })
    }
}

/// How a linear model of λ-gradients is optimised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(inline)]
pub struct LambdaLinearParameters {
    /// How the weights are optimised for one order of the documents.
    #[serde(flatten)]
    pub linear: LinearParameters,
    /// Maximum number of times that pairs are weighted again by the current order of the documents, at least 1.
    pub reorderings: u64,
}

impl Default for LambdaLinearParameters {
    fn default() -> Self {
        LambdaLinearParameters { linear: LinearParameters::smooth(1.0), reorderings: 10 }
    }
}

impl<L: LossSource + ?Sized> LossScorer<L> for LambdaLinearParameters {
    const KIND: ScorerKind = ScorerKind::Linear;
    const DISTRIBUTES: bool = true;

    fn check(&self, _: &L) -> Result<()> {
        check_at_least("reorderings", self.reorderings, 1)?;
        self.linear.check()
    }

    fn fit(&self, loss: &L, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        self.linear.minimize(loss.make_loss(task.train)?, self.reorderings, task, watch)
    }
}

/// The linear models of a max-margin loss for several C, each starting from those before.
#[derive(Debug, Clone, PartialEq)]
pub struct RegularizationPath {
    /// The mean loss of zero weights.
    pub loss_of_zero: f64,
    /// One model per C. If a stop was requested, there are fewer and the last one is interrupted.
    pub fits: Vec<Fitted>,
}

/// A note about the queries that a loss skips, if there are any.
pub(in crate::learners) fn skipped_note(skipped: usize) -> Option<String> {
    (skipped > 0).then(|| format!("queries skipped because they prefer no document to another: {skipped}"))
}
