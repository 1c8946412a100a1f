//! The loop over rounds: its start, its end and the model that is kept.

use super::checkpoint::Saved;
use super::state::State;
use super::steps::JoinRule;
use crate::error::{Error, Result};
use crate::learners::{FingerprintedCheckpoint, Fitted, Task};
use crate::models::{Combine, Model, Outcome, Record, TreeEnsemble};
use crate::watch::{Progress, Watch};

/// The settings of the loop.
pub(super) struct Rounds {
    /// The initial value of each output, unless there is a model to start from.
    pub(super) base: Vec<f64>,
    pub(super) combine: Combine,
    /// How a new tree is combined with those before it.
    pub(super) step: JoinRule,
    /// Maximum number of rounds.
    pub(super) most: u64,
    /// Number of rounds without a better value on the validation queries after which to stop; 0 for never.
    pub(super) patience: u64,
}

/// The result of a round.
pub(super) struct Round {
    /// Whether another round could improve the model.
    pub(super) goes_on: bool,
    /// The objective that the learner minimises: its name and value.
    pub(super) objective: (&'static str, f64),
    /// Whether the objective is reported even if there is a metric on validation queries.
    pub(super) tells: bool,
}

impl Rounds {
    /// Calls `round` until the maximum is reached, early stopping ends it, or a round finds no improvement.
    pub(super) fn run(
        &self,
        task: &Task<'_>,
        watch: &mut dyn Watch,
        mut round: impl FnMut(&mut State<'_>) -> Result<Round>,
    ) -> Result<Fitted> {
        let start = self.start(task)?;
        let mut state = State::new(task, start.as_ref(), &self.base, &self.combine);
        if let Some(saved) = read_saved(task)? {
            let replayed = self.replay(&mut state, saved, task);
            replayed.map_err(|reason| match task.checkpoint {
                Some(kept) => kept.checkpoint.does_not_fit(&reason),
                None => reason,
            })?;
        }
        let (mut outcome, mut keeper) = (Outcome::RoundsUsedUp, Keeper::new(task, &state)?);
        let mut kept = state.weights.len() as u64;
        while (state.weights.len() as u64) < self.most {
            if watch.stop().requested() {
                outcome = Outcome::Interrupted;
                break;
            }
            if state.is_past_its_best(self.patience) {
                outcome = Outcome::StoppedEarly;
                break;
            }
            state.is_kept = false;
            if state.weights.len() as u64 >= kept + KEPT_EVERY {
                kept = state.weights.len() as u64;
                state.is_kept = task.train.exchange().is_some();
                if let Some(exchange) = task.train.exchange() {
                    exchange.keep(&mut || kept_bytes(&state));
                }
            }
            let Round { goes_on, objective: (name, lowered), tells } = round(&mut state)?;
            let (what, value) = match state.curve.last() {
                Some(&measured) if tells => {
                    (format!("{name} {lowered:.6}, {} (valid)", task.metric.name()), measured)
                }
                Some(&measured) => (format!("{} (valid)", task.metric.name()), measured),
                None => (name.to_string(), lowered),
            };
            let done = state.weights.len() as u64;
            watch.step(Progress { done, total: Some(self.most), what: &what, value });
            keeper.keep_if_due(done, &state);
            if !goes_on {
                outcome = Outcome::Converged;
                break;
            }
        }
        if outcome == Outcome::Interrupted {
            keeper.keep(&state);
        }
        let mut record = record(&state, outcome, task);
        record.notes.extend(keeper.failure);
        Ok(Fitted { model: self.model(state, start, task.train.width())?, record })
    }

    /// The model to start from, if there is one; fails if it does not fit.
    fn start(&self, task: &Task<'_>) -> Result<Option<TreeEnsemble>> {
        let ensemble = match task.start {
            None => return Ok(None),
            Some(Model::Trees(ensemble)) => ensemble,
            Some(_) => return Err(Error::parameter("the model to start from does not consist of trees")),
        };
        if let JoinRule::Average { .. } = self.step {
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
                "the model to start from combines its trees in another way, so this learner cannot continue \
                 it",
            ));
        }
        Ok(Some(ensemble.clone()))
    }

    /// Repeats the rounds saved in a checkpoint.
    fn replay(&self, state: &mut State<'_>, saved: Saved, task: &Task<'_>) -> Result<()> {
        let Saved { trees, curve, .. } = saved;
        let outputs = self.base.len();
        let rounds = trees.len() / outputs;
        let expected = if state.valid.is_some() { rounds } else { 0 };
        if !trees.len().is_multiple_of(outputs) || rounds as u64 > self.most || curve.len() != expected {
            return Err(Error::model("it has another number of trees or metric values"));
        }
        trees.iter().try_for_each(|tree| tree.check(task.train.width()))?;
        let mut curve = curve.into_iter();
        for (round, trees) in trees.chunks_exact(outputs).enumerate() {
            let plan = self.step.plan(round);
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

    /// The model of the best round, with the weights of that round.
    fn model(&self, state: State<'_>, start: Option<TreeEnsemble>, width: usize) -> Result<Model> {
        let weights = state.best.map_or(state.weights, |(_, weights)| weights);
        let base = start.as_ref().map_or(self.base.clone(), |ensemble| ensemble.base().to_vec());
        let mut trees = start.map_or(Vec::new(), TreeEnsemble::into_trees);
        let outputs = self.base.len();
        for (round, mut tree) in state.trees.into_iter().enumerate().take(weights.len() * outputs) {
            tree.scale(weights[round / outputs]);
            trees.push(tree);
        }
        Ok(Model::Trees(TreeEnsemble::new(width, base, self.combine.clone(), trees)?))
    }
}

/// After this many rounds, the driver keeps the trees for workers that join later.
const KEPT_EVERY: u64 = 8;

/// The state that training starts from, if there is one: that of a checkpoint, or of the driver when a worker joins later.
fn read_saved(task: &Task<'_>) -> Result<Option<Saved>> {
    let read = || match task.checkpoint {
        Some(FingerprintedCheckpoint { checkpoint, fingerprint }) => checkpoint.read(fingerprint),
        None => Ok(None),
    };
    let Some(exchange) = task.train.exchange() else { return read() };
    // The driver has the file, and fails before the others hear of it.
    let first = if task.train.decides() { read()? } else { None };
    let bytes = exchange.saved(&mut || serde_json::to_vec(&first).expect("trees are plain data"));
    serde_json::from_slice(&bytes).map_err(|_| Error::data("the trees from the driver are damaged"))
}

/// The state of training as bytes.
fn kept_bytes(state: &State<'_>) -> Vec<u8> {
    let saved = Saved::new("", &state.trees, &state.curve);
    serde_json::to_vec(&Some(saved)).expect("trees are plain data")
}

/// Writes the checkpoint at intervals. If a write fails, for example on a full disk, training continues.
struct Keeper<'a> {
    checkpoint: Option<FingerprintedCheckpoint<'a>>,
    /// Why the last write failed, if it did.
    failure: Option<String>,
}

impl<'a> Keeper<'a> {
    /// Fails if the checkpoint cannot be written at all, which is better known before training than after it.
    fn new(task: &Task<'a>, state: &State<'_>) -> Result<Keeper<'a>> {
        let checkpoint = task.checkpoint;
        if let Some(FingerprintedCheckpoint { checkpoint, fingerprint }) = checkpoint {
            checkpoint.write(fingerprint, &state.trees, &state.curve)?;
        }
        Ok(Keeper { checkpoint, failure: None })
    }

    fn keep_if_due(&mut self, done: u64, state: &State<'_>) {
        if self.checkpoint.is_some_and(|c| done.is_multiple_of(c.checkpoint.every)) {
            self.keep(state);
        }
    }

    fn keep(&mut self, state: &State<'_>) {
        let Some(FingerprintedCheckpoint { checkpoint, fingerprint }) = self.checkpoint else { return };
        let written = checkpoint.write(fingerprint, &state.trees, &state.curve);
        self.failure = written
            .err()
            .map(|e| format!("the last checkpoint could not be written, but training continued: {e}"));
    }
}

fn record(state: &State<'_>, outcome: Outcome, task: &Task<'_>) -> Record {
    let mut figures = Vec::new();
    if let Some((value, weights)) = &state.best {
        figures.push(("best round".to_string(), weights.len() as f64));
        figures.push((format!("{} (valid)", task.metric.name()), *value));
    }
    let leaves: usize = state.trees.iter().map(|tree| tree.values.len()).sum();
    figures.push(("leaves a tree".into(), leaves as f64 / state.trees.len().max(1) as f64));
    Record { outcome, rounds: state.weights.len() as u64, figures, notes: Vec::new() }
}
