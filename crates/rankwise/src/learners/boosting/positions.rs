//! Position bias that is learned while trees are boosted on clicks.
//!
//! ```text
//! additive   gradients are taken at s + b_position;  b ← b + ρ·(−Σg − λ·n·b) / (Σh + λ·n + 0.001)  over the n documents of a position
//! pairwise   pairs are weighted by 1/(t⁺·t⁻) of the positions of their documents (Hu et al. 2019)
//! ```
//! The additive biases are LightGBM's: they explain what the features do not, and the model scores without them. ρ is the
//! learning rate, λ the regularisation.

use super::boost::Boost;
use super::parameters::TreesParameters;
use super::target::{MeanLoss, Target, blocks, split};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::learners::{Fitted, Task};
use crate::losses::{Lambda, PositionLosses, PositionRatios, ScoredQuery};
use crate::models::Combine;
use crate::parallel;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Added to the curvature of a bias, as in LightGBM.
const LEAST_CURVATURE: f64 = 1e-3;

/// How the position bias of clicks is learned while training.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PositionBias {
    /// Labels are taken as they are.
    #[default]
    None,
    /// Each position adds to the scores of its documents while training, as in LightGBM.
    Additive,
    /// Pairs are weighted by the positions of both documents: Unbiased LambdaMART.
    Pairwise,
}

/// A position bias to learn, and the loss to learn it with.
#[derive(Debug, Clone)]
pub struct LearnedBias {
    /// How it is learned; not [`PositionBias::None`].
    pub kind: PositionBias,
    /// λ of additive biases, or ρ of pairwise ones.
    pub regularization: f64,
    /// The loss.
    pub loss: Lambda,
}

/// Boosts trees on clicks, and learns the bias of their positions.
pub(in crate::learners) fn fit_with_positions(
    bias: &LearnedBias,
    parameters: &TreesParameters,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Result<Fitted> {
    check(task)?;
    let places = Places::of(task.train)?;
    let mut loss = bias.loss.clone();
    crate::losses::QueryLoss::set_stop(&mut loss, watch.stop());
    match bias.kind {
        PositionBias::Pairwise => {
            let mut target = Debiased::new(task.train, loss, &places, bias.regularization);
            let mut fitted = boost(&mut target, parameters, task, watch)?;
            let kept = kept_round(&fitted, target.history.len());
            let PositionRatios { clicked, unclicked } = &target.history[kept];
            fitted.record.figures.extend(places.figures("bias of clicks at position", clicked));
            fitted.record.figures.extend(places.figures("bias of other documents at position", unclicked));
            Ok(fitted)
        }
        _ => {
            let inner = MeanLoss { data: task.train, loss, seed: task.seed };
            let settings = (bias.regularization, parameters.learning_rate);
            let mut target = Additive::new(inner, &places, settings);
            let mut fitted = boost(&mut target, parameters, task, watch)?;
            let kept = kept_round(&fitted, target.history.len());
            fitted.record.figures.extend(places.figures("bias of position", &target.history[kept]));
            Ok(fitted)
        }
    }
}

fn boost(
    target: &mut dyn Target,
    parameters: &TreesParameters,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Result<Fitted> {
    let boost = Boost { target, parameters, base: vec![0.0], combine: Combine::Sum, average: None };
    boost.fit(task, watch)
}

/// Rejects what the bias would be lost or wrong with.
fn check(task: &Task<'_>) -> Result<()> {
    let refuse = |reason: &str| Err(Error::parameter(format!("position_bias {reason}")));
    match task.train.click_labels() {
        None => {}
        Some(labels) if labels.propensities.is_empty() => {
            return refuse(
                "learns from sessions with the position of each click, and these labels are the clicks of all sessions \
                 added up; make data with one query per session",
            );
        }
        Some(_) => {
            return refuse(
                "learns from clicks as they are, and these are weighted by propensities already; use one of the two",
            );
        }
    }
    if task.checkpoint.is_some() {
        return refuse("cannot keep a checkpoint, which has no place for biases; train without one");
    }
    if task.start.is_some() {
        return refuse("cannot start from a model, whose biases are not known; train anew");
    }
    if task.train.exchange().is_some() {
        return refuse("cannot be learned by several workers; train on one machine");
    }
    Ok(())
}

/// The number of rounds of the model that is kept: those after the best are dropped.
fn kept_round(fitted: &Fitted, most: usize) -> usize {
    let best = fitted.record.figures.iter().find(|(name, _)| name == "best round");
    best.map_or(most - 1, |(_, round)| (*round as usize).min(most - 1))
}

/// The positions of documents, as places from 0.
struct Places {
    /// The positions that occur, ascending.
    positions: Vec<u32>,
    /// The place of each document's position among them.
    of: Vec<usize>,
}

impl Places {
    fn of(data: &Dataset) -> Result<Places> {
        let Some(given) = &data.parts().positions else {
            return Err(Error::data(
                "the training data has no positions, whose bias could be learned; name the column with the position at \
                 which each document was shown, or train from a log",
            ));
        };
        if let Some(unknown) = given.iter().position(|position| *position == 0) {
            return Err(Error::data(format!(
                "the position of document {} is not known, so its bias cannot be learned",
                unknown + 1
            )));
        }
        let mut positions = given.clone();
        positions.sort_unstable();
        positions.dedup();
        let of = given.iter().map(|position| positions.partition_point(|other| other < position)).collect();
        Ok(Places { positions, of })
    }

    fn figures<'a>(&'a self, name: &'a str, values: &'a [f64]) -> impl Iterator<Item = (String, f64)> + 'a {
        self.positions.iter().zip(values).map(move |(position, value)| (format!("{name} {position}"), *value))
    }
}

/// A loss at scores to which positions add.
struct Additive<'a> {
    inner: MeanLoss<'a, Lambda>,
    places: &'a Places,
    regularization: f64,
    rate: f64,
    /// Documents at each place.
    counts: Vec<f64>,
    /// The biases after each round.
    history: Vec<Vec<f64>>,
}

impl<'a> Additive<'a> {
    fn new(inner: MeanLoss<'a, Lambda>, places: &'a Places, (regularization, rate): (f64, f64)) -> Self {
        let mut counts = vec![0.0; places.positions.len()];
        places.of.iter().for_each(|&place| counts[place] += 1.0);
        let history = vec![vec![0.0; counts.len()]];
        Additive { inner, places, regularization, rate, counts, history }
    }

    fn biases(&self) -> &[f64] {
        self.history.last().expect("those before the first round")
    }

    /// A Newton step of each bias.
    fn update(&mut self, slopes: &[f64], curvatures: &[f64]) {
        let count = self.counts.len();
        let (slopes, curvatures) = self.inner.data.total(|queries| {
            let (mut first, mut second) = (vec![0.0; count], vec![0.0; count]);
            for row in queries.flat_map(|q| self.inner.data.query(q).range()) {
                first[self.places.of[row]] += slopes[row];
                second[self.places.of[row]] += curvatures[row];
            }
            (first, second)
        });
        let step = |place: usize| {
            let bias = self.biases()[place];
            let penalty = self.regularization * self.counts[place];
            let rise = -slopes[place] - penalty * bias;
            bias + self.rate * rise / (curvatures[place] + penalty + LEAST_CURVATURE)
        };
        let next = (0..count).map(step).collect();
        self.history.push(next);
    }
}

impl Target for Additive<'_> {
    fn gradients(
        &mut self,
        scores: &[Vec<f64>],
        round: u64,
        slopes: &mut [Vec<f64>],
        curvatures: &mut [Vec<f64>],
    ) -> Result<()> {
        let moved = scores[0].iter().zip(&self.places.of).map(|(s, &place)| s + self.biases()[place]);
        let moved = vec![moved.collect::<Vec<f64>>()];
        self.inner.gradients(&moved, round, slopes, curvatures)?;
        self.update(&slopes[0], &curvatures[0]);
        Ok(())
    }
}

/// λ-gradients whose pairs are weighted by position.
struct Debiased<'a> {
    data: &'a Dataset,
    loss: Lambda,
    places: &'a Places,
    regularization: f64,
    /// The ratios after each round.
    history: Vec<PositionRatios>,
}

impl<'a> Debiased<'a> {
    fn new(data: &'a Dataset, loss: Lambda, places: &'a Places, regularization: f64) -> Self {
        let history = vec![PositionRatios::ones(places.positions.len())];
        Debiased { data, loss, places, regularization, history }
    }
}

impl Target for Debiased<'_> {
    fn gradients(
        &mut self,
        scores: &[Vec<f64>],
        _: u64,
        slopes: &mut [Vec<f64>],
        curvatures: &mut [Vec<f64>],
    ) -> Result<()> {
        let ratios = self.history.last().expect("those before the first round");
        let blocks = blocks(self.data);
        let slopes = split(&blocks, self.data, &mut slopes[0]);
        let curvatures = split(&blocks, self.data, &mut curvatures[0]);
        let work = blocks.into_iter().zip(slopes.into_iter().zip(curvatures));
        let sums = parallel::map(work, |(block, (slopes, curvatures))| {
            let mut losses = PositionLosses::zeros(self.places.positions.len());
            let start = self.data.bounds()[block.start];
            for query in block.map(|q| self.data.query(q)) {
                let own = query.range().start - start..query.range().end - start;
                let (slopes, curvatures) = (&mut slopes[own.clone()], &mut curvatures[own]);
                let scored =
                    ScoredQuery { labels: query.labels(), scores: &scores[0][query.range()], seed: 0 };
                let places = &self.places.of[query.range()];
                let of_query = self.loss.debiased(scored, places, ratios, slopes, curvatures);
                losses.add(&of_query, query.weight());
                slopes.iter_mut().chain(curvatures).for_each(|x| *x *= query.weight());
            }
            losses
        });
        // In the order of the blocks, which are those of the data.
        let mut total = PositionLosses::zeros(self.places.positions.len());
        sums.iter().for_each(|sum| total.add(sum, 1.0));
        self.history.push(PositionRatios::of(&total, self.regularization));
        Ok(())
    }
}
