//! Any loss on any scorer: learners that are a loss of scores, learned by trees or a network instead of a linear model.

use super::boosting::{Boosting, fit_loss};
use super::entry::{Parameter, complete_from, parameters_of, table_of};
use super::margin::LargeMargin;
use super::networks::Network;
use super::{Fitted, Learner, Task};
use crate::card;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::losses::QueryLoss;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// The parameter that names the scorer.
pub(super) const SCORER: &str = "scorer";

/// A learner that is a loss of scores, which any scorer can lower.
pub trait ByLoss: Learner {
    /// Whether the parameter belongs to the loss, not to the search for a linear model.
    fn concerns_loss(parameter: &str) -> bool;

    /// The loss; some learn a part of it from the training queries. An error where it is no loss of scores.
    fn loss_of_scores(&self, train: &Dataset) -> Result<Box<dyn QueryLoss>>;
}

impl<L: LargeMargin> ByLoss for L
where
    L::Loss: 'static,
{
    fn concerns_loss(parameter: &str) -> bool {
        !["c", "gap", "rounds", "scale"].contains(&parameter)
    }

    fn loss_of_scores(&self, train: &Dataset) -> Result<Box<dyn QueryLoss>> {
        Ok(Box::new(self.loss(train)))
    }
}

/// The scorer of a learner's own model.
pub(super) const LINEAR: &str = "linear";

/// What lowers any loss of scores: its parameters are the struct itself.
pub(super) trait LossScorer: Default + Serialize + DeserializeOwned + JsonSchema {
    /// Its name, as in `scorer = "trees"`.
    const NAME: &'static str;

    /// Whether it can go on from a model or a checkpoint.
    const CONTINUES: bool;

    /// Refuses parameters that are out of range.
    fn check_range(&self) -> Result<()>;

    /// Learns scores of small loss.
    fn fit_scores(&self, loss: Box<dyn QueryLoss>, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted>;
}

impl LossScorer for Boosting {
    const NAME: &'static str = "trees";
    const CONTINUES: bool = true;

    fn check_range(&self) -> Result<()> {
        self.check()
    }

    fn fit_scores(&self, loss: Box<dyn QueryLoss>, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        fit_loss(loss, self, task, watch)
    }
}

impl LossScorer for Network {
    const NAME: &'static str = "mlp";
    const CONTINUES: bool = false;

    fn check_range(&self) -> Result<()> {
        self.check()
    }

    fn fit_scores(&self, loss: Box<dyn QueryLoss>, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        self.fit(loss.as_ref(), task, watch)
    }
}

/// How a scorer learns the loss of a learner.
pub(super) struct ByScorer {
    pub(super) name: &'static str,
    pub(super) continues: bool,
    pub(super) parameters: fn() -> Vec<Parameter>,
    pub(super) complete: fn(&Table) -> Result<Table>,
    pub(super) fit: fn(&Table, &Task<'_>, &mut dyn Watch) -> Result<Fitted>,
}

impl ByScorer {
    /// Every scorer besides the learner's own.
    pub(super) const fn all<L: ByLoss>() -> [ByScorer; 2] {
        [ByScorer::of::<L, Boosting>(), ByScorer::of::<L, Network>()]
    }

    const fn of<L: ByLoss, P: LossScorer>() -> ByScorer {
        ByScorer {
            name: P::NAME,
            continues: P::CONTINUES,
            parameters: parameters::<L, P>,
            complete: complete::<L, P>,
            fit: fit::<L, P>,
        }
    }
}

/// Those of the loss, then those of the scorer.
fn parameters<L: ByLoss, P: LossScorer>() -> Vec<Parameter> {
    let mut parameters = parameters_of::<L>();
    parameters.retain(|parameter| L::concerns_loss(&parameter.name));
    parameters.extend(parameters_of::<P>());
    parameters
}

/// Parameters of the loss and of the scorer, checked and completed.
fn complete<L: ByLoss, P: LossScorer>(given: &Table) -> Result<Table> {
    let (learner, scorer) = configure::<L, P>(given)?;
    let mut table = Table::from_iter([(SCORER.to_string(), Value::from(P::NAME))]);
    table.extend(table_of(&learner).into_iter().filter(|(name, _)| L::concerns_loss(name)));
    table.extend(table_of(&scorer));
    Ok(table)
}

fn fit<L: ByLoss, P: LossScorer>(given: &Table, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
    let (learner, scorer) = configure::<L, P>(given)?;
    scorer.fit_scores(learner.loss_of_scores(task.train)?, task, watch)
}

fn configure<L: ByLoss, P: LossScorer>(given: &Table) -> Result<(L, P)> {
    let own = table_of(&L::default());
    let others = table_of(&P::default());
    let (mut of_loss, mut of_scorer) = (Table::new(), Table::new());
    for (name, value) in given.iter().filter(|(name, _)| *name != SCORER) {
        if own.contains_key(name) && L::concerns_loss(name) {
            of_loss.insert(name.clone(), value.clone());
        } else if others.contains_key(name) {
            of_scorer.insert(name.clone(), value.clone());
        } else if own.contains_key(name) {
            return Err(Error::parameter(format!(
                "parameter `{name}` of {} is for the linear model; with scorer {} it means nothing",
                L::CARD.name,
                P::NAME
            )));
        } else {
            let known = own.keys().filter(|name| L::concerns_loss(name)).chain(others.keys());
            let known: Vec<&str> = known.map(String::as_str).collect();
            return Err(card::unknown(
                &format!("parameter of {} with scorer {}", L::CARD.name, P::NAME),
                name,
                &known,
            ));
        }
    }
    let learner: L = complete_from(&of_loss, L::CARD.name)?;
    learner.check()?;
    let scorer: P = complete_from(&of_scorer, L::CARD.name)?;
    scorer.check_range()?;
    Ok((learner, scorer))
}
