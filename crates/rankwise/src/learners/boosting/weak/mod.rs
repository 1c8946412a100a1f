//! Boosted weak rankers: yes/no rules, each added with its own weight.
//!
//! ```text
//! f = Σ_t α_t h_t ,   h_t: x → {0, 1}
//! ```
//!
//! The learners here minimise an average over pairs of documents. Its negative gradient is the worth of each
//! document. A round takes the rule that selects the documents with the highest total worth,
//! `max_h Σ_i w_i h(x_i)`, and the learner chooses the step along it; or the learner compares rules and steps
//! together.

mod finder;
pub mod frank;
pub mod ndcg_boost;
mod pairs;
pub mod rank_boost;
mod screen;
#[cfg(test)]
mod tests;

use super::rounds::{Round, Rounds};
use super::steps::JoinRule;
use crate::error::{Error, Result};
use crate::learners::parameters::check_at_least;
use crate::learners::{Fitted, Task};
use crate::models::Combine;
use crate::trees::MAX_BINS;
use crate::watch::Watch;
use finder::{Finder, Rule, Weak};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum weight of a rule; without it, a rule that makes no mistake would have an infinite weight.
const MAX_STEP: f64 = 5.0;

/// How many rules there are and how they are found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(inline)]
pub struct WeakRounds {
    /// Maximum number of boosting iterations, at least 1; early stopping may end training before.
    pub iterations: u64,
    /// Thresholds tried per feature, at quantiles, 1 to 254; 0 for one between any two neighbouring values (with trees and in frank, 254).
    pub thresholds: usize,
    /// Stop after this many iterations without a better value on the validation queries; 0 for never.
    pub early_stopping_rounds: u64,
}

impl Default for WeakRounds {
    fn default() -> Self {
        WeakRounds { iterations: 300, thresholds: 254, early_stopping_rounds: 100 }
    }
}

impl WeakRounds {
    /// Rejects values that are out of range.
    fn check(&self) -> Result<()> {
        check_at_least("iterations", self.iterations, 1)?;
        if self.thresholds >= MAX_BINS {
            return Err(Error::parameter(format!(
                "thresholds is {}; it must be from 1 to {}, or 0 for all",
                self.thresholds,
                MAX_BINS - 1
            )));
        }
        Ok(())
    }
}

/// The objective that weak rankers minimise.
trait WeakTarget {
    /// Its name.
    const OBJECTIVE: &'static str;

    /// Fills in the worth of each document at `scores`; returns the objective there.
    fn worths(&mut self, scores: &[f64], worths: &mut [f64]) -> f64;

    /// The worths by which rules are searched, if they are not the worths themselves.
    fn sample(&self, _round: u64, _worths: &[f64]) -> Option<Vec<f64>> {
        None
    }

    /// The next rule and the step along it, if a rule was found. `sought` has the worths by which rules are
    /// searched.
    fn next_rule(
        &self,
        finder: &Finder<'_>,
        _round: u64,
        scores: &[f64],
        sought: &[f64],
    ) -> Result<Option<(Rule, f64)>> {
        let found = finder.find(sought)?;
        Ok(found.map(|rule| {
            let step = self.step(scores, &rule.chosen);
            (rule, step)
        }))
    }

    /// The step along the rule that selects these documents, from the `scores` for which worths were last
    /// computed. At least 0 if their total worth is above 0.
    fn step(&self, scores: &[f64], chosen: &[bool]) -> f64;

    /// The number of training queries that contribute to the objective.
    fn informed_queries(&self) -> usize;
}

/// Boosts rules that minimise `target`.
fn fit<T: WeakTarget>(
    mut target: T,
    weak: Weak,
    weak_rounds: &WeakRounds,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Result<Fitted> {
    let rounds = Rounds {
        base: vec![0.0],
        combine: Combine::Sum,
        step: JoinRule::Plain { rate: 1.0 },
        most: weak_rounds.iterations,
        patience: weak_rounds.early_stopping_rounds,
    };
    let mut worths = vec![0.0; task.train.len()];
    let mut objective = None;
    let finder = Finder::new(task.train, weak, weak_rounds.thresholds)?;
    let mut fitted = rounds.run(task, watch, |state| {
        let before = match objective.filter(|_| !state.is_kept) {
            Some(value) => value,
            None => target.worths(&state.train.outputs[0], &mut worths),
        };
        objective = Some(before);
        let round = state.weights.len() as u64;
        let sampled = target.sample(round, &worths);
        let scores = &mut state.train.outputs[0];
        let found = target.next_rule(&finder, round, scores, sampled.as_ref().unwrap_or(&worths))?;
        let found = found.map(|(rule, step)| (rule, step.clamp(-MAX_STEP, MAX_STEP)));
        let (mut rule, step) = match found.filter(|(_, step)| *step != 0.0) {
            Some(found) => found,
            // Another sample may find a rule.
            None if sampled.is_some() => (Rule::empty(task.train), 0.0),
            None => return Ok(Round { goes_on: false, objective: (T::OBJECTIVE, before), tells: true }),
        };
        scores.iter_mut().zip(&rule.chosen).filter(|(_, chosen)| **chosen).for_each(|(s, _)| *s += step);
        rule.tree.scale(step);
        state.add_to_valid(0, &rule.tree, 1.0);
        state.trees.push(rule.tree);
        state.weights.push(1.0);
        state.note(state.evaluate(task, &Combine::Sum));
        let after = target.worths(&state.train.outputs[0], &mut worths);
        objective = Some(after);
        Ok(Round { goes_on: true, objective: (T::OBJECTIVE, after), tells: true })
    })?;
    fitted.record.figures.extend(objective.map(|value| (format!("{}, last round", T::OBJECTIVE), value)));
    let (informed, all) = (target.informed_queries(), task.train.whole().queries);
    if informed < all {
        fitted.record.notes.push(format!(
            "{} of {all} training queries contribute nothing to this learner (a single label, no relevant \
             documents, or weight 0)",
            all - informed
        ));
    }
    Ok(fitted)
}
