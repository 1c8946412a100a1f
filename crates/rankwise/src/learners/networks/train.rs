//! The training loop: a batch of queries, its gradient, a step; until the last epoch or early stopping.
//!
//! A batch is split into at most [`PIECES`] pieces of whole queries, whatever the number of threads. A piece
//! processes its queries in chunks that fit the cache (forward, loss, backward) and has its own gradient. The
//! gradients are then summed in order.

use super::parameters::NetworkParameters;
use super::pass::{Dropout, Pass};
use super::shape::{NetworkLayout, Packed};
use super::standard::Standard;
use super::steps::Steps;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::learners::validation::mean_metric_of_scores;
use crate::learners::{Fitted, Task};
use crate::losses::{QueryLoss, ScoredQuery};
use crate::models::{Model, NeuralNetwork, Outcome, Record};
use crate::parallel;
use crate::rng;
use crate::watch::{Progress, Stop, Watch};
use rand::seq::SliceRandom;
use std::sync::Mutex;

/// Names of random streams, after the seed.
const BEGIN: u64 = 1;
const SHUFFLE: u64 = 2;
pub(super) const DROP: u64 = 3;
const LOSS: u64 = 4;

/// Maximum number of pieces of a batch.
const PIECES: usize = 32;

/// Maximum total size of the gradients of a batch's pieces, unless there are no more than four pieces.
const GRADIENTS: usize = 1 << 26;

/// Maximum number of weights: half a gigabyte, and a few times as much to train them.
const MAX_WEIGHTS: usize = 1 << 27;

/// Documents per chunk, unless a query has more.
const CHUNK: usize = 128;

/// Numbers of the gradient summed by one task.
const SUMMED: usize = 1 << 12;

/// Scores beyond this mean that the network has diverged.
const FURTHEST: f64 = 1e12;

/// A network in training.
pub(super) struct Trainer<'a> {
    network: &'a NetworkParameters,
    loss: &'a dyn QueryLoss,
    train: &'a Dataset,
    seed: u64,
    pub(super) shape: NetworkLayout,
    /// The network before the first step, which holds the standardisation of the features.
    pub(super) begin: NeuralNetwork,
    pub(super) weights: Vec<f32>,
    packed: Packed,
    steps: Steps<'a>,
    /// The queries that contribute to the loss, and their weights, 1 on average.
    pub(super) queries: Vec<(usize, f64)>,
    pieces: Vec<Piece>,
    pub(super) gradient: Vec<f32>,
    idle: Mutex<Vec<Scratch>>,
}

/// A part of a batch.
#[derive(Default)]
struct Piece {
    queries: Vec<(usize, f64)>,
    documents: usize,
    loss: f64,
    gradient: Vec<f32>,
}

/// Buffers of a thread for a chunk.
#[derive(Default)]
struct Scratch {
    pass: Pass,
    scores: Vec<f64>,
    slopes: Vec<f64>,
}

impl NetworkParameters {
    /// Trains a network that minimises `loss`.
    pub(in crate::learners) fn fit_loss(
        &self,
        loss: &dyn QueryLoss,
        task: &Task<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Fitted> {
        let mut trainer = Trainer::new(self, loss, task)?;
        let mut run = EpochLoop { trainer: &mut trainer, task, best: None, last_loss: None, epochs: 0 };
        let outcome = run.epochs(watch)?;
        run.fitted(outcome)
    }
}

impl<'a> Trainer<'a> {
    pub(super) fn new(
        network: &'a NetworkParameters,
        loss: &'a dyn QueryLoss,
        task: &Task<'a>,
    ) -> Result<Trainer<'a>> {
        let train = task.train;
        let shape = NetworkLayout::new(train.width(), &network.layers.0, network.activation);
        if shape.len() > MAX_WEIGHTS {
            return Err(Error::parameter(format!(
                "layers {} need {} weights for {} features; at most {MAX_WEIGHTS} are allowed",
                network.layers,
                shape.len(),
                train.width()
            )));
        }
        let weights = shape.draw(rng::derive(task.seed, &[BEGIN]));
        let Standard { means, factors } = Standard::of(train);
        let begin = NeuralNetwork::new(means, factors, network.activation, shape.to_layers(&weights))?;
        let informed = train.queries().filter(|q| q.weight() > 0.0 && loss.has_signal(q.labels()));
        let mut queries: Vec<(usize, f64)> = informed.map(|q| (q.index(), q.weight())).collect();
        let mean = queries.iter().map(|(_, weight)| weight).sum::<f64>() / queries.len() as f64;
        queries.iter_mut().for_each(|(_, weight)| *weight /= mean);
        let total = network.epochs.saturating_mul(queries.len().div_ceil(network.batch_size) as u64);
        Ok(Trainer {
            network,
            loss,
            train,
            seed: task.seed,
            steps: Steps::new(network, weights.len(), total),
            gradient: vec![0.0; weights.len()],
            shape,
            begin,
            weights,
            packed: Packed::default(),
            queries,
            pieces: Vec::new(),
            idle: Mutex::new(Vec::new()),
        })
    }

    /// One pass over all queries; returns the mean loss, or `None` if asked to stop.
    fn epoch(&mut self, epoch: u64, watch: &dyn Watch) -> Result<Option<f64>> {
        let mut order = self.queries.clone();
        order.shuffle(&mut rng::stream(self.seed, &[SHUFFLE, epoch]));
        let mut sum = 0.0;
        for batch in order.chunks(self.network.batch_size) {
            if watch.stop().requested() {
                return Ok(None);
            }
            let Some(loss) = self.batch(batch, epoch, watch.stop())? else { return Ok(None) };
            sum += loss;
        }
        Ok(Some(sum / order.len() as f64))
    }

    /// One step for the queries of a batch; returns their total loss before it, or `None` if asked to stop.
    pub(super) fn batch(&mut self, batch: &[(usize, f64)], epoch: u64, stop: &Stop) -> Result<Option<f64>> {
        let loss = self.differentiate(batch, epoch);
        if stop.requested() {
            // The gradient may have been cut short.
            return Ok(None);
        }
        let Trainer { steps, shape, weights, gradient, .. } = self;
        if loss.is_finite() && steps.step(shape, weights, gradient) {
            return Ok(Some(loss));
        }
        Err(self.diverged(epoch))
    }

    fn diverged(&self, epoch: u64) -> Error {
        let NetworkParameters { learning_rate, weight_decay, .. } = self.network;
        Error::parameter(format!(
            "the network diverged in epoch {epoch}; try a smaller learning_rate (it is {learning_rate:?}) or \
             weight_decay (it is {weight_decay}), a clip such as 1, or features of a narrower range"
        ))
    }

    /// Sets the gradient of the mean loss of a batch; returns the total loss.
    pub(super) fn differentiate(&mut self, batch: &[(usize, f64)], epoch: u64) -> f64 {
        self.packed.fill(&self.shape, &self.weights);
        let mut pieces = std::mem::take(&mut self.pieces);
        let used = self.cut(batch, &mut pieces);
        parallel::for_each(&mut pieces[..used], |piece| {
            let mut scratch = self.idle.lock().unwrap_or_else(|e| e.into_inner()).pop().unwrap_or_default();
            self.work_through(piece, batch.len(), epoch, &mut scratch);
            self.idle.lock().unwrap_or_else(|e| e.into_inner()).push(scratch);
        });
        parallel::for_each(self.gradient.chunks_mut(SUMMED).enumerate(), |(i, sums)| {
            let mut exact = [0.0f64; SUMMED];
            for piece in &pieces[..used] {
                let part = &piece.gradient[i * SUMMED..][..sums.len()];
                exact.iter_mut().zip(part).for_each(|(sum, &g)| *sum += f64::from(g));
            }
            sums.iter_mut().zip(exact).for_each(|(sum, exact)| *sum = exact as f32);
        });
        self.pieces = pieces;
        self.pieces[..used].iter().map(|piece| piece.loss).sum()
    }

    /// Splits the batch into pieces; returns their number.
    fn cut(&self, batch: &[(usize, f64)], pieces: &mut Vec<Piece>) -> usize {
        let documents: usize = batch.iter().map(|&(q, _)| self.train.query(q).len()).sum();
        let most = (GRADIENTS / self.weights.len()).clamp(4, PIECES);
        let enough = documents.div_ceil(most).max(CHUNK);
        pieces.iter_mut().for_each(|piece| (piece.documents, piece.loss) = (0, 0.0));
        pieces.iter_mut().for_each(|piece| piece.queries.clear());
        let mut last = 0;
        for &(query, weight) in batch {
            if pieces.get(last).is_some_and(|piece| piece.documents >= enough) {
                last += 1;
            }
            if pieces.len() == last {
                pieces.push(Piece::default());
            }
            pieces[last].queries.push((query, weight));
            pieces[last].documents += self.train.query(query).len();
        }
        last + 1
    }

    fn work_through(&self, piece: &mut Piece, batch: usize, epoch: u64, scratch: &mut Scratch) {
        piece.gradient.clear();
        piece.gradient.resize(self.weights.len(), 0.0);
        let mut rest = &piece.queries[..];
        while !rest.is_empty() {
            let mut documents = 0;
            let fitting = rest.iter().take_while(|(q, _)| {
                let before = documents;
                documents += self.train.query(*q).len();
                before == 0 || documents <= CHUNK
            });
            let (chunk, others) = rest.split_at(fitting.count());
            rest = others;
            piece.loss += self.chunk(chunk, batch, epoch, scratch, &mut piece.gradient);
        }
    }

    /// Adds the gradient of some queries; returns their loss.
    fn chunk(
        &self,
        queries: &[(usize, f64)],
        batch: usize,
        epoch: u64,
        Scratch { pass, scores, slopes }: &mut Scratch,
        gradient: &mut [f32],
    ) -> f64 {
        let documents = queries.iter().flat_map(|&(q, _)| self.train.query(q).range());
        let count = documents.clone().count();
        let features = pass.features(&self.shape, count).chunks_exact_mut(self.shape.layers[0].stride);
        for (document, features) in documents.clone().zip(features) {
            self.begin.standardise(self.train.row(document), features);
        }
        let dropout = (self.network.dropout > 0.0)
            .then(|| Dropout { share: self.network.dropout, seed: rng::derive(self.seed, &[DROP, epoch]) });
        pass.forward(&self.shape, &self.packed, &self.weights, dropout.as_ref(), documents, scores);
        // Also where a score is NaN.
        if !scores.iter().all(|score| score.abs() <= FURTHEST) {
            return f64::INFINITY;
        }
        slopes.resize(count, 0.0);
        let (mut total, mut first) = (0.0, 0);
        for &(q, weight) in queries {
            let labels = self.train.query(q).labels();
            let here = first..first + labels.len();
            let seed = rng::derive(self.seed, &[LOSS, q as u64, epoch]);
            let scored = ScoredQuery { labels, scores: &scores[here.clone()], seed };
            total += weight * self.loss.value_and_gradient(scored, &mut slopes[here.clone()]);
            slopes[here.clone()].iter_mut().for_each(|slope| *slope *= weight / batch as f64);
            first = here.end;
        }
        pass.backward(&self.shape, &self.packed, &self.weights, slopes, gradient);
        total
    }

    pub(super) fn model(&self, weights: &[f32]) -> Result<NeuralNetwork> {
        let (means, factors) = (self.begin.means().to_vec(), self.begin.factors().to_vec());
        NeuralNetwork::new(means, factors, self.network.activation, self.shape.to_layers(weights))
    }
}

/// The epochs so far, and the best of them.
struct EpochLoop<'r, 'a> {
    trainer: &'r mut Trainer<'a>,
    task: &'r Task<'a>,
    best: Option<Best>,
    /// The mean loss of the previous epoch.
    last_loss: Option<f64>,
    epochs: u64,
}

struct Best {
    value: f64,
    epoch: u64,
    weights: Vec<f32>,
}

impl EpochLoop<'_, '_> {
    fn epochs(&mut self, watch: &mut dyn Watch) -> Result<Outcome> {
        let network = self.trainer.network;
        if self.trainer.queries.is_empty() {
            // Nothing to learn: no query prefers one document to another.
            let last = self.trainer.shape.last().weights();
            self.trainer.weights[last].fill(0.0);
            return Ok(Outcome::Converged);
        }
        for epoch in 1..=network.epochs {
            let Some(loss) = self.trainer.epoch(epoch, watch)? else { return Ok(Outcome::Interrupted) };
            (self.epochs, self.last_loss) = (epoch, Some(loss));
            let value_on_valid = self.evaluate()?;
            let (what, value) = match value_on_valid {
                Some(value) => (format!("{} (valid)", self.task.metric.name()), value),
                None => ("mean loss".to_string(), loss),
            };
            watch.step(Progress { done: epoch, total: Some(network.epochs), what: &what, value });
            let since = self.best.as_ref().map_or(0, |best| epoch - best.epoch);
            if network.early_stopping_rounds > 0 && since >= network.early_stopping_rounds {
                return Ok(Outcome::StoppedEarly);
            }
        }
        Ok(Outcome::RoundsUsedUp)
    }

    /// The metric on the validation queries, if there are any; the best epoch is kept.
    fn evaluate(&mut self) -> Result<Option<f64>> {
        let Some(valid) = self.task.valid else { return Ok(None) };
        let model = self.trainer.model(&self.trainer.weights);
        let scores = model.and_then(|model| Model::Network(model).scores(valid));
        let scores = scores.map_err(|_| self.trainer.diverged(self.epochs))?;
        let value = mean_metric_of_scores(valid, self.task.metric, &scores);
        if self.best.as_ref().is_none_or(|best| value > best.value) {
            self.best = Some(Best { value, epoch: self.epochs, weights: self.trainer.weights.clone() });
        }
        Ok(Some(value))
    }

    fn fitted(self, outcome: Outcome) -> Result<Fitted> {
        let (mut figures, mut notes) = (Vec::new(), Vec::new());
        if let Some(best) = &self.best {
            figures.push(("best round".to_string(), best.epoch as f64));
            figures.push((format!("{} (valid)", self.task.metric.name()), best.value));
        }
        if let Some(loss) = self.last_loss {
            figures.push(("mean loss in the last epoch".to_string(), loss));
        }
        let (of, loss) = (self.task.train.query_count(), self.trainer.loss);
        let skipped = self.task.train.queries().filter(|q| !loss.has_signal(q.labels())).count();
        if skipped > 0 && skipped < of {
            notes.push(format!(
                "{skipped} of {of} training queries contribute nothing to this loss (a single label, or no \
                 relevant documents)"
            ));
        }
        let weights = self.best.map_or_else(|| self.trainer.weights.clone(), |best| best.weights);
        let model = self.trainer.model(&weights).map_err(|_| self.trainer.diverged(self.epochs))?;
        let model = Model::Network(model);
        Ok(Fitted { model, record: Record { outcome, rounds: self.epochs, figures, notes } })
    }
}
