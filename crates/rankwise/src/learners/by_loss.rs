//! Any loss on any scorer: learners that are a loss of scores, learned by trees instead of a linear model.

use super::boosting::{Boosting, fit_loss};
use super::entry::{complete_from, table_of};
use super::margin::LargeMargin;
use super::{Fitted, Learner, Task};
use crate::card;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::losses::QueryLoss;
use crate::watch::Watch;
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

/// What learns the scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scorer {
    Linear,
    Trees,
}

/// The scorer that the parameters name.
pub(super) fn scorer_in(given: &Table) -> Result<Scorer> {
    match given.get(SCORER).map(Value::as_str) {
        None | Some(Some("linear")) => Ok(Scorer::Linear),
        Some(Some("trees")) => Ok(Scorer::Trees),
        Some(_) => {
            let value = &given[SCORER];
            Err(Error::parameter(format!("scorer is {value}; it must be \"linear\" or \"trees\"")))
        }
    }
}

/// Parameters of the loss and of the trees, checked and completed.
pub(super) fn complete_for_trees<L: ByLoss>(given: &Table) -> Result<Table> {
    let (learner, boosting) = configure_for_trees::<L>(given)?;
    let mut table = Table::from_iter([(SCORER.to_string(), Value::from("trees"))]);
    table.extend(table_of(&learner).into_iter().filter(|(name, _)| L::concerns_loss(name)));
    table.extend(table_of(&boosting));
    Ok(table)
}

/// Learns the loss of `L` by trees.
pub(super) fn fit_trees<L: ByLoss>(given: &Table, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
    let (learner, boosting) = configure_for_trees::<L>(given)?;
    fit_loss(learner.loss_of_scores(task.train)?, &boosting, task, watch)
}

fn configure_for_trees<L: ByLoss>(given: &Table) -> Result<(L, Boosting)> {
    let own = table_of(&L::default());
    let trees = table_of(&Boosting::default());
    let (mut of_loss, mut of_trees) = (Table::new(), Table::new());
    for (name, value) in given.iter().filter(|(name, _)| *name != SCORER) {
        if own.contains_key(name) && L::concerns_loss(name) {
            of_loss.insert(name.clone(), value.clone());
        } else if trees.contains_key(name) {
            of_trees.insert(name.clone(), value.clone());
        } else if own.contains_key(name) {
            return Err(Error::parameter(format!(
                "parameter `{name}` of {} is for the linear model; with scorer trees it means nothing",
                L::CARD.name
            )));
        } else {
            let known = own.keys().filter(|name| L::concerns_loss(name)).chain(trees.keys());
            let known: Vec<&str> = known.map(String::as_str).collect();
            return Err(card::unknown(
                &format!("parameter of {} with scorer trees", L::CARD.name),
                name,
                &known,
            ));
        }
    }
    let learner: L = complete_from(&of_loss, L::CARD.name)?;
    learner.check()?;
    let boosting: Boosting = complete_from(&of_trees, L::CARD.name)?;
    boosting.check()?;
    Ok((learner, boosting))
}
