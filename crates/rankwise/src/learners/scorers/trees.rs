//! Boosted trees for any loss.

use super::{LossScorer, ScorerKind, TreesParameters};
use crate::error::Result;
use crate::learners::boosting::{fit_loss, fit_with_positions};
use crate::learners::loss::LossSource;
use crate::learners::{Fitted, Task};
use crate::watch::Watch;

impl<L: LossSource + ?Sized> LossScorer<L> for TreesParameters {
    const KIND: ScorerKind = ScorerKind::Trees;
    const CONTINUES: bool = true;
    const TAKES_CATEGORIES: bool = true;
    const DISTRIBUTES: bool = true;

    fn check(&self, _: &L) -> Result<()> {
        TreesParameters::check(self)
    }

    fn fit(&self, loss: &L, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        if let Some(bias) = loss.learned_bias()? {
            return fit_with_positions(&bias, self, task, watch);
        }
        let mut made = loss.make_loss(task.train)?.into_loss();
        made.set_stop(watch.stop());
        fit_loss(made, loss.start_score(task), self, task, watch)
    }
}
