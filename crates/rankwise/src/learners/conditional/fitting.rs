//! How the weights of a conditional model are optimised: L-BFGS, from one start or several.

use super::adaptive::fit_adaptively;
use super::parameters::{Conditional, ConditionalLinearParameters, Method};
use crate::learners::scorers::skipped_note;
use crate::learners::{Fitted, Task};
use crate::losses::conditional::{ConditionalObjective, RankingSampler};
use crate::models::{Model, Outcome, Record};
use crate::rng;
use crate::solvers::{
    DrawnRankings, FeatureUnits, LbfgsFit, Objective, Regularized, SampledObjective, SampledRisk, Termination,
};
use crate::watch::{Stop, Watch};
use rand::RngExt;

/// Objectives closer than this, relative to their size, count as the same minimum.
const SAME: f64 = 1e-3;
/// Rankings drawn of a query are at most this many times those that it has.
const REPETITIONS: usize = 50;

/// Fits the linear model that minimises `‖w‖²/C + R(w)`.
pub(super) fn fit(
    parameters: &Conditional,
    optimisation: &ConditionalLinearParameters,
    form: ConditionalObjective,
    task: &Task<'_>,
    watch: &mut dyn Watch,
) -> Fitted {
    let linear = &optimisation.linear;
    match parameters.method {
        Method::Exact => {
            let risk = linear.risk(parameters.closed_form(task.train, form), task);
            let found = minimize(&risk, optimisation, task.seed, watch);
            let weights = risk.in_data_units(&found.fit.weights).into_owned();
            found.into_fitted(weights, risk.skipped(), None, linear.c, watch.stop())
        }
        Method::Sampled => {
            let risk = sampled_risk(parameters, linear.scale, form, task, watch.stop());
            let found = minimize(&risk, optimisation, task.seed, watch);
            let weights = risk.in_data_units(&found.fit.weights).into_owned();
            found.into_fitted(weights, risk.skipped(), Some(risk.rankings()), linear.c, watch.stop())
        }
        Method::Adaptive => fit_adaptively(parameters, optimisation, form, task, watch),
    }
}

/// The risk over rankings drawn once per query; all have the same weight.
pub(crate) fn sampled_risk<'a>(
    parameters: &Conditional,
    scale: bool,
    form: ConditionalObjective,
    task: &Task<'a>,
    stop: &Stop,
) -> SampledRisk<'a> {
    let law = SampledObjective { form, kappa: parameters.kappa, threshold: parameters.threshold };
    SampledRisk::new(task.train, units(scale, task), law, stop, |query, goods, bads| {
        let loss = parameters.ranking_loss().of(goods.len(), bads.len());
        let seed = rng::derive(task.seed, &[query.number()]);
        let sampler = RankingSampler { size: size(parameters.samples, query.len()), ..parameters.sampler() };
        let sample = sampler.draw(goods.len(), bads.len(), |state| loss.at(state.places()), seed);
        let losses: Vec<f64> = (0..sample.len()).map(|i| loss.at(sample.state(i).places())).collect();
        DrawnRankings { log_weights: vec![0.0; losses.len()], sample, losses }.without_repetitions()
    })
}

/// The number of rankings to draw of `documents` documents: no more than fifty times as many as there are.
fn size(samples: usize, documents: usize) -> usize {
    let rankings = (2..=documents).try_fold(1_usize, |product, n| product.checked_mul(n));
    rankings.and_then(|all| all.checked_mul(REPETITIONS)).map_or(samples, |enough| samples.min(enough))
}

/// The units of the features in which the weights are optimised.
pub(super) fn units(scale: bool, task: &Task<'_>) -> FeatureUnits {
    if scale { FeatureUnits::deviations(task.train) } else { FeatureUnits::default() }
}

/// The best of the minima found.
pub(super) struct Found {
    pub(super) fit: LbfgsFit,
    /// The objective of each start.
    objectives: Vec<f64>,
    /// Evaluations over all starts.
    pub(super) evaluations: u64,
}

/// Minimises `½‖w‖² + (C/2)·R(w)`, which is `C/2` times the objective, from zero and then from random
/// weights.
fn minimize(
    risk: &impl Objective,
    optimisation: &ConditionalLinearParameters,
    seed: u64,
    watch: &mut dyn Watch,
) -> Found {
    let ConditionalLinearParameters { linear, starts } = optimisation;
    let objective = Regularized { risk, c: 0.5 * linear.c };
    let mut found: Option<Found> = None;
    for start in 0..*starts {
        if start > 0 && watch.stop().requested() {
            break;
        }
        let fit = linear.lbfgs().minimize(&objective, start_at(start, risk.dim(), seed), watch);
        match &mut found {
            None => {
                found = Some(Found { objectives: vec![fit.value], evaluations: fit.evaluations, fit });
            }
            Some(best) => {
                best.objectives.push(fit.value);
                best.evaluations += fit.evaluations;
                if fit.value < best.fit.value {
                    best.fit = fit;
                }
            }
        }
    }
    found.expect("at least one start")
}

/// A starting point: zero first, then random weights whose norm is about 1.
pub(super) fn start_at(start: u64, dim: usize, seed: u64) -> Vec<f64> {
    if start == 0 {
        return vec![0.0; dim];
    }
    let mut random = rng::stream(seed, &[u64::MAX, start]);
    let reach = (3.0 / dim as f64).sqrt();
    (0..dim).map(|_| reach * (2.0 * random.random::<f64>() - 1.0)).collect()
}

impl Found {
    /// The model and the record of its training.
    fn into_fitted(
        self,
        weights: Vec<f64>,
        skipped: usize,
        rankings: Option<usize>,
        c: f64,
        stop: &Stop,
    ) -> Fitted {
        let mut figures = figures(&self.fit, c);
        figures.push(("evaluations".into(), self.evaluations as f64));
        if let Some(rankings) = rankings {
            figures.push(("different rankings drawn".into(), rankings as f64));
        }
        let outcome = match self.fit.ending {
            _ if stop.requested() => Outcome::Interrupted,
            Termination::RoundsUsedUp => Outcome::RoundsUsedUp,
            _ => Outcome::Converged,
        };
        let mut notes: Vec<String> = skipped_note(skipped).into_iter().collect();
        if self.objectives.len() > 1 {
            let least = self.fit.value;
            let agree = |value: &&f64| **value - least <= SAME * least.abs();
            let agreed = self.objectives.iter().filter(agree).count();
            notes.push(format!("{agreed} of {} starts reached the best objective", self.objectives.len()));
        }
        let model = Model::linear(weights, 0.0);
        Fitted { model, record: Record { outcome, rounds: self.fit.rounds, figures, notes } }
    }
}

/// Objective, gradient norm and the terms of the objective; the optimiser minimised `C/2` times the
/// objective.
pub(super) fn figures(fit: &LbfgsFit, c: f64) -> Vec<(String, f64)> {
    let square: f64 = fit.weights.iter().map(|w| w * w).sum();
    let named = [
        ("objective", fit.value * 2.0 / c),
        ("mean loss", (fit.value - 0.5 * square) * 2.0 / c),
        ("norm of the gradient", fit.gradient_norm * 2.0 / c),
        ("norm of the weights", square.sqrt()),
    ];
    named.map(|(name, value)| (name.to_string(), value)).to_vec()
}
