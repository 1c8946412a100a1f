//! Neural networks for any loss.

use super::{LossScorer, NetworkParameters, ScorerKind};
use crate::error::Result;
use crate::learners::holdout::Holdout;
use crate::learners::loss::LossSource;
use crate::learners::{Fitted, Task};
use crate::watch::Watch;

impl<L: LossSource + ?Sized> LossScorer<L> for NetworkParameters {
    const KIND: ScorerKind = ScorerKind::Network;

    fn check(&self, _: &L) -> Result<()> {
        NetworkParameters::check(self)
    }

    fn fit(&self, loss: &L, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        let holdout = Holdout::of(task, self.validation_fraction);
        let task = holdout.task(task);
        let mut fitted = self.fit_loss(loss.make_loss(task.train)?.into_loss().as_ref(), &task, watch)?;
        fitted.record.notes.extend(holdout.note.clone());
        Ok(fitted)
    }
}
