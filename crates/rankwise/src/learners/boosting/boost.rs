//! A round of boosted trees: gradients, one tree per output, a step.

use super::parameters::TreesParameters;
use super::rounds::{Round, Rounds};
use super::state::State;
use super::steps::JoinRule;
use super::target::{MeanLoss, OwnGradients, Target};
use crate::error::Result;
use crate::learners::{CustomGradients, Fitted, Task};
use crate::losses::QueryLoss;
use crate::models::Combine;
use crate::rng;
use crate::trees::{Binned, Grower};
use crate::watch::{Stop, Watch};
use rand::seq::SliceRandom;

/// Names of random streams, after the seed.
const BAG: u64 = 1;
const FEATURES: u64 = 2;
const DROP: u64 = 3;

/// What is boosted, and how.
pub(super) struct Boost<'a> {
    pub(super) target: &'a mut dyn Target,
    pub(super) parameters: &'a TreesParameters,
    /// The initial value of each output, unless there is a model to start from.
    pub(super) base: Vec<f64>,
    pub(super) combine: Combine,
    /// An average in place of a sum of all trees.
    pub(super) average: Option<Averaging>,
}

/// Trees that are averaged with a function fitted before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Averaging {
    /// Number of trees of the function fitted before; they are summed.
    pub(super) first: u64,
    /// Learning rate of these trees.
    pub(super) rate: f64,
}

/// Boosts trees that minimise a loss of scores.
pub(in crate::learners) fn fit_loss(
    loss: impl QueryLoss,
    initial_score: f64,
    parameters: &TreesParameters,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Result<Fitted> {
    let (train, of) = (task.train, task.train.whole().queries);
    let skipped =
        train.total(|queries| queries.filter(|&q| !loss.has_signal(train.query(q).labels())).count());
    let mut target = MeanLoss { data: task.train, loss, seed: task.seed };
    let base = vec![initial_score];
    let boost = Boost { target: &mut target, parameters, base, combine: Combine::Sum, average: None };
    let mut fitted = boost.fit(task, watch)?;
    if skipped > 0 && skipped < of {
        fitted.record.notes.push(format!(
            "{skipped} of {of} training queries contribute nothing to this loss (a single label, or no \
             relevant documents)"
        ));
    }
    Ok(fitted)
}

/// Boosts trees along a caller's own gradients.
pub(in crate::learners) fn fit_gradients(
    custom: &CustomGradients,
    parameters: &TreesParameters,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Result<Fitted> {
    let mut target = OwnGradients { data: task.train, custom };
    let base = vec![0.0];
    Boost { target: &mut target, parameters, base, combine: Combine::Sum, average: None }.fit(task, watch)
}

impl Boost<'_> {
    pub(super) fn fit(mut self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        let parameters = self.parameters;
        let growth = parameters.growth(task.train)?;
        let binned = Binned::for_leaves(task.train, parameters.max_bin, parameters.min_data_in_leaf);
        let mut grower = Grower::new(&binned, &growth);
        let mut buffers = Buffers::new(self.target.outputs(), task.train.len());
        let rounds = Rounds {
            base: self.base.clone(),
            combine: self.combine.clone(),
            step: self.step(task),
            most: parameters.iterations.saturating_add(self.average.map_or(0, |a| a.first)),
            patience: parameters.early_stopping_rounds,
        };
        let stop = watch.stop().clone();
        rounds.run(task, watch, |state| {
            let grew = self.round(state, &rounds.step, &mut grower, &mut buffers, task, &stop)?;
            let objective = ("mean gradient", buffers.mean_slope);
            Ok(Round { goes_on: grew || !parameters.draws_nothing(), objective, tells: false })
        })
    }

    fn step(&self, task: &Task<'_>) -> JoinRule {
        let rate = self.parameters.learning_rate;
        match (self.average, self.parameters.dropout) {
            (Some(Averaging { first, rate: before }), _) => {
                JoinRule::Average { first, rate: before, factor: rate }
            }
            (None, 0.0) => JoinRule::Plain { rate },
            (None, drop) => JoinRule::Dart { rate, drop, seed: rng::derive(task.seed, &[DROP]) },
        }
    }

    /// One round; returns whether a tree with more than one leaf was found.
    fn round(
        &mut self,
        state: &mut State<'_>,
        step: &JoinRule,
        grower: &mut Grower<'_>,
        buffers: &mut Buffers,
        task: &Task<'_>,
        stop: &Stop,
    ) -> Result<bool> {
        let round = state.weights.len();
        let plan = step.plan(round);
        state.take_out(&plan);
        let Buffers { slopes, curvatures, mean_slope } = buffers;
        self.target.gradients(&state.train.outputs, round as u64, slopes, curvatures)?;
        if stop.requested() {
            // The gradients may have been cut short.
            state.put_back(&plan);
            return Ok(true);
        }
        let bag = self.bag(task, round as u64);
        let mut grown = Vec::with_capacity(slopes.len());
        for (output, (slopes, curvatures)) in slopes.iter().zip(curvatures.iter()).enumerate() {
            let seed = rng::derive(task.seed, &[FEATURES, round as u64, output as u64]);
            grown.push(grower.grow(slopes, curvatures, bag.as_deref(), seed)?);
        }
        let outputs = (task.train.whole().documents * grown.len()) as f64;
        *mean_slope = grown.iter().map(|grown| grown.slopes).sum::<f64>() / outputs;
        let grew = grown.iter().any(|g| !g.tree.features.is_empty());
        state.put_back(&plan);
        for (output, grown) in grown.into_iter().enumerate() {
            state.train.add_grown(output, &grown, plan.weight, bag.as_deref());
            state.add_to_valid(output, &grown.tree, plan.weight);
            state.trees.push(grown.tree);
        }
        state.weights.push(plan.weight);
        let value_on_valid = state.evaluate(task, &self.combine);
        state.note(value_on_valid);
        Ok(grew)
    }

    /// The documents of the queries sampled for a round; `None` if all are used.
    fn bag(&self, task: &Task<'_>, round: u64) -> Option<Vec<u32>> {
        let share = self.parameters.bagging_fraction;
        if share == 1.0 {
            return None;
        }
        let whole = task.train.whole();
        let mut queries: Vec<usize> = (0..whole.queries).collect();
        let wanted = ((queries.len() as f64 * share).round() as usize).max(1);
        let mut random = rng::stream(task.seed, &[BAG, round]);
        let mut drawn = queries.partial_shuffle(&mut random, wanted).0.to_vec();
        drawn.sort_unstable();
        let own = whole.first_query..whole.first_query + task.train.query_count();
        let drawn = drawn.into_iter().filter(|q| own.contains(q));
        let rows = drawn.flat_map(|q| task.train.query(q - whole.first_query).range());
        Some(rows.map(|row| row as u32).collect())
    }
}

/// Derivatives of all outputs.
struct Buffers {
    slopes: Vec<Vec<f64>>,
    curvatures: Vec<Vec<f64>>,
    /// The mean absolute gradient over documents and outputs in the last round.
    mean_slope: f64,
}

impl Buffers {
    fn new(outputs: usize, rows: usize) -> Buffers {
        let zeros = || vec![vec![0.0; rows]; outputs];
        Buffers { slopes: zeros(), curvatures: zeros(), mean_slope: 0.0 }
    }
}
