//! The loop: gradients, a tree for each output, a step; until the rounds are used up or validation queries say so.

use super::parameters::Boosting;
use super::state::State;
use super::steps::Step;
use super::target::{MeanLoss, Target};
use crate::error::{Error, Result};
use crate::learners::{Fitted, Task};
use crate::losses::QueryLoss;
use crate::models::{Combine, Ensemble, Model, Outcome, Record};
use crate::rng;
use crate::trees::{Binned, Grower, Tree};
use crate::watch::{Step as Progress, Watch};
use rand::seq::SliceRandom;

/// Names of random streams, after the seed.
const BAG: u64 = 1;
const FEATURES: u64 = 2;
const DROP: u64 = 3;

/// What is boosted, and how.
pub(super) struct Boost<'a> {
    pub(super) target: &'a dyn Target,
    pub(super) boosting: &'a Boosting,
    /// Where each output begins, unless there is a model to start from.
    pub(super) base: Vec<f64>,
    pub(super) combine: Combine,
    /// Whether all trees count the same in the end, and by what factor; otherwise each is added with the rate.
    pub(super) average: Option<f64>,
}

/// Learns the trees of a loss of scores.
pub(in crate::learners) fn fit_loss(
    loss: impl QueryLoss,
    boosting: &Boosting,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Result<Fitted> {
    let skipped = task.train.queries().filter(|q| !loss.is_informed_by(q.labels())).count();
    let target = MeanLoss { data: task.train, loss, seed: task.seed };
    let boost = Boost { target: &target, boosting, base: vec![0.0], combine: Combine::Sum, average: None };
    let mut fitted = boost.fit(task, watch)?;
    let of = task.train.query_count();
    if skipped == of {
        let note =
            "no training query says anything to this loss, so the model gives every document the same score";
        fitted.record.notes.push(note.into());
    } else if skipped > 0 {
        fitted.record.notes.push(format!(
            "{skipped} of {of} training queries say nothing to this loss (one grade only, or nothing relevant)"
        ));
    }
    Ok(fitted)
}

impl Boost<'_> {
    pub(super) fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        let boosting = self.boosting;
        let start = self.start(task)?;
        let mut state = State::new(task, start.as_ref(), &self.base, &self.combine);
        let growth = boosting.growth(task.train)?;
        let binned = Binned::new(task.train, boosting.bins);
        let mut grower = Grower::new(&binned, &growth);
        let saved = task.start.checkpoint.map(|c| c.read(&task.start.identity)).transpose()?;
        if let Some(saved) = saved.flatten() {
            self.replay(&mut state, saved.trees, saved.curve, task)?;
        }
        let mut buffers = Buffers::new(self.target.outputs(), task.train.len());
        let mut outcome = Outcome::RoundsUsedUp;
        while (state.weights.len() as u64) < boosting.rounds {
            if watch.stop().requested() {
                outcome = Outcome::Interrupted;
                break;
            }
            if state.is_past_its_best(boosting.patience) {
                outcome = Outcome::Converged;
                break;
            }
            let grew = self.round(&mut state, &mut grower, &mut buffers, task)?;
            let (what, shown) = match state.curve.last() {
                Some(&measured) => (format!("{} (valid)", task.metric.name()), measured),
                None => ("mean gradient".to_string(), buffers.mean_slope()),
            };
            let done = state.weights.len() as u64;
            watch.step(Progress { done, total: Some(boosting.rounds), what: &what, value: shown });
            if let Some(checkpoint) = task.start.checkpoint.filter(|c| done.is_multiple_of(c.every)) {
                checkpoint.write(&task.start.identity, &state.trees, &state.curve)?;
            }
            if !grew && boosting.draws_nothing() {
                outcome = Outcome::Converged;
                break;
            }
        }
        if let Some(checkpoint) = task.start.checkpoint.filter(|_| outcome == Outcome::Interrupted) {
            checkpoint.write(&task.start.identity, &state.trees, &state.curve)?;
        }
        let record = self.record(&state, outcome, task);
        Ok(Fitted { model: self.model(state, start, task.train.width())?, record })
    }

    /// The model to start from, where there is one that fits.
    fn start(&self, task: &Task<'_>) -> Result<Option<Ensemble>> {
        let ensemble = match task.start.model {
            None => return Ok(None),
            Some(Model::Ensemble(ensemble)) => ensemble,
            Some(_) => return Err(Error::parameter("the model to start from is no sum of trees")),
        };
        if self.average.is_some() {
            return Err(Error::parameter("this learner averages its trees and cannot start from a model"));
        }
        if ensemble.width() != task.train.width() {
            return Err(Error::parameter(format!(
                "the model to start from has {} features, the training data {}",
                ensemble.width(),
                task.train.width()
            )));
        }
        if *ensemble.combine() != self.combine {
            return Err(Error::parameter(
                "the model to start from makes its scores in another way, so it cannot be continued by this learner",
            ));
        }
        Ok(Some(ensemble.clone()))
    }

    fn step(&self, task: &Task<'_>) -> Step {
        let rate = self.boosting.rate;
        match (self.average, self.boosting.drop) {
            (Some(factor), _) => Step::Average { factor },
            (None, 0.0) => Step::Plain { rate },
            (None, drop) => Step::Dart { rate, drop, seed: rng::derive(task.seed, &[DROP]) },
        }
    }

    /// One round; says whether a tree of more than one leaf was found.
    fn round(
        &self,
        state: &mut State<'_>,
        grower: &mut Grower<'_>,
        buffers: &mut Buffers,
        task: &Task<'_>,
    ) -> Result<bool> {
        let round = state.weights.len();
        let plan = self.step(task).plan(round);
        state.take_out(&plan);
        let Buffers { slopes, curvatures } = buffers;
        self.target.gradients(&state.train.outputs, round as u64, slopes, curvatures);
        let bag = self.bag(task, round as u64);
        let mut grown = Vec::with_capacity(slopes.len());
        for (output, (slopes, curvatures)) in slopes.iter().zip(curvatures.iter()).enumerate() {
            let seed = rng::derive(task.seed, &[FEATURES, round as u64, output as u64]);
            grown.push(grower.grow(slopes, curvatures, bag.as_deref(), seed)?);
        }
        let grew = grown.iter().any(|g| !g.tree.features.is_empty());
        state.put_back(&plan);
        for (output, grown) in grown.into_iter().enumerate() {
            state.train.add_grown(output, &grown, plan.weight, bag.as_deref());
            state.add_to_valid(output, &grown.tree, plan.weight);
            state.trees.push(grown.tree);
        }
        state.weights.push(plan.weight);
        let measured = state.measure(task, &self.combine);
        state.note(measured);
        Ok(grew)
    }

    /// Does again what rounds did that are known from a file.
    fn replay(
        &self,
        state: &mut State<'_>,
        trees: Vec<Tree>,
        curve: Vec<f64>,
        task: &Task<'_>,
    ) -> Result<()> {
        let outputs = self.target.outputs();
        let rounds = trees.len() / outputs;
        let expected = if state.valid.is_some() { rounds } else { 0 };
        if !trees.len().is_multiple_of(outputs) || curve.len() != expected {
            return Err(Error::model("the checkpoint does not fit what is being learned"));
        }
        trees.iter().try_for_each(|tree| tree.check(task.train.width()))?;
        let mut curve = curve.into_iter();
        for (round, trees) in trees.chunks_exact(outputs).enumerate() {
            let plan = self.step(task).plan(round);
            state.take_out(&plan);
            state.put_back(&plan);
            for (output, tree) in trees.iter().enumerate() {
                state.train.add(output, tree, plan.weight);
                state.add_to_valid(output, tree, plan.weight);
            }
            state.trees.extend_from_slice(trees);
            state.weights.push(plan.weight);
            state.note(curve.next());
        }
        Ok(())
    }

    /// The documents of the queries drawn for a round; none when all are taken.
    fn bag(&self, task: &Task<'_>, round: u64) -> Option<Vec<u32>> {
        let share = self.boosting.bagging;
        if share == 1.0 {
            return None;
        }
        let mut queries: Vec<usize> = (0..task.train.query_count()).collect();
        let wanted = ((queries.len() as f64 * share).round() as usize).max(1);
        let mut random = rng::stream(task.seed, &[BAG, round]);
        let mut drawn = queries.partial_shuffle(&mut random, wanted).0.to_vec();
        drawn.sort_unstable();
        let rows = drawn.iter().flat_map(|&q| task.train.query(q).range());
        Some(rows.map(|row| row as u32).collect())
    }

    fn record(&self, state: &State<'_>, outcome: Outcome, task: &Task<'_>) -> Record {
        let mut figures = Vec::new();
        if let Some((value, weights)) = &state.best {
            figures.push(("best round".to_string(), weights.len() as f64));
            figures.push((format!("{} (valid)", task.metric.name()), *value));
        }
        let leaves: usize = state.trees.iter().map(|tree| tree.values.len()).sum();
        figures.push(("leaves a tree".into(), leaves as f64 / state.trees.len().max(1) as f64));
        Record { outcome, rounds: state.weights.len() as u64, figures, notes: Vec::new() }
    }

    /// The model of the best round, with the weights of that round.
    fn model(&self, state: State<'_>, start: Option<Ensemble>, width: usize) -> Result<Model> {
        let weights = state.best.map_or(state.weights, |(_, weights)| weights);
        let base = start.as_ref().map_or(self.base.clone(), |ensemble| ensemble.base().to_vec());
        let mut trees = start.map_or(Vec::new(), Ensemble::into_trees);
        let outputs = self.target.outputs();
        for (round, mut tree) in state.trees.into_iter().enumerate().take(weights.len() * outputs) {
            tree.scale(weights[round / outputs]);
            trees.push(tree);
        }
        Ok(Model::Ensemble(Ensemble::new(width, base, self.combine.clone(), trees)?))
    }
}

/// Derivatives of all outputs.
struct Buffers {
    slopes: Vec<Vec<f64>>,
    curvatures: Vec<Vec<f64>>,
}

impl Buffers {
    fn new(outputs: usize, rows: usize) -> Buffers {
        Buffers { slopes: vec![vec![0.0; rows]; outputs], curvatures: vec![vec![0.0; rows]; outputs] }
    }

    /// How steep the loss is, on average over documents and outputs.
    fn mean_slope(&self) -> f64 {
        let (count, sum) = (
            self.slopes.iter().map(Vec::len).sum::<usize>(),
            self.slopes.iter().flatten().map(|g| g.abs()).sum::<f64>(),
        );
        sum / count as f64
    }
}
