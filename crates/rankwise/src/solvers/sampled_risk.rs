//! The risk of a linear model over sampled rankings of each query.

mod rows;
#[cfg(test)]
mod tests;

use super::objective::Objective;
use super::units::FeatureUnits;
use crate::data::{Dataset, Query};
use crate::losses::conditional::{ConditionalObjective, Kappa, RankingSample};
use crate::losses::structured::is_relevant;
use crate::parallel;
use crate::watch::Stop;
use rows::FeatureDifferences;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// The objective of each query over its sampled rankings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampledObjective {
    /// The objective as a function of the distribution.
    pub form: ConditionalObjective,
    /// The weight of a pair in the feature map.
    pub kappa: Kappa,
    /// The minimum label of a relevant document.
    pub threshold: f32,
}

/// The rankings sampled for one query. Its relevant and its non-relevant documents are each numbered in input order.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnRankings {
    /// The rankings.
    pub sample: RankingSample,
    /// The loss Δ of each ranking.
    pub losses: Vec<f64>,
    /// The logarithm of the weight ω of each ranking; −∞ for one that does not count.
    pub log_weights: Vec<f64>,
}

impl DrawnRankings {
    /// The same distribution with every ranking once, weighted by the sum of the weights. A query of few documents has
    /// few rankings, and most of a sample are repetitions.
    pub(crate) fn without_repetitions(self) -> DrawnRankings {
        let DrawnRankings { sample, losses, log_weights } = &self;
        let mut places = HashMap::new();
        let (mut kept, mut joined): (Vec<usize>, Vec<f64>) = (Vec::new(), Vec::new());
        for (i, &log) in log_weights.iter().enumerate() {
            let place = *places.entry(sample.state(i)).or_insert(kept.len());
            if place == kept.len() {
                kept.push(i);
                joined.push(log);
            } else {
                joined[place] = log_of_sum(joined[place], log);
            }
        }
        let losses = kept.iter().map(|&i| losses[i]).collect();
        DrawnRankings { sample: sample.only(&kept), losses, log_weights: joined }
    }
}

/// `log(exp(a) + exp(b))`.
fn log_of_sum(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if high == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// The weighted mean over queries of an objective over their sampled rankings, as a function of a linear model's
/// weights:
///
/// ```text
/// R(w) = Σ_q v_q F_q(w) / Σ_q v_q ,     F_q of the exponents a_y = log ω_y − (w/u)·δφ(y), y ∈ Ŷ_q
/// ```
///
/// for example `F = log Σ_y exp(a_y + Δ(y))`. The rankings are fixed, so this is an ordinary smooth function. Value
/// and gradient take two products with the matrix of all `δφ(y)` and one log-sum-exp per query. Queries without both
/// relevant and non-relevant documents are skipped.
pub struct SampledRisk<'a> {
    data: &'a Dataset,
    units: FeatureUnits,
    form: ConditionalObjective,
    /// Those of the queries of this data set, in order.
    parts: Vec<QueryRankings>,
    /// The number of queries that are not skipped, and of their rankings, of all queries.
    used: usize,
    rankings: usize,
    /// Σ v_q, or 1 if that is 0, so that the mean over no queries is 0.
    total: f64,
    damping: f64,
}

/// The sampled rankings of one query.
struct QueryRankings {
    query: usize,
    rows: FeatureDifferences,
    losses: Vec<f64>,
    log_weights: Vec<f64>,
}

impl<'a> SampledRisk<'a> {
    /// The risk over the queries of `data` that have both relevant and non-relevant documents. `draw` samples the
    /// rankings of a query; it is given the indices of its relevant and of its non-relevant documents. If asked to
    /// stop, the remaining queries are skipped.
    pub fn new(
        data: &'a Dataset,
        units: FeatureUnits,
        distribution: SampledObjective,
        stop: &Stop,
        draw: impl Fn(Query<'a>, &[usize], &[usize]) -> DrawnRankings + Sync,
    ) -> Self {
        let part = |index: usize| {
            let query = data.query(index);
            let (relevant, non_relevant) = classes(query, distribution.threshold)?;
            if stop.requested() {
                return None;
            }
            let DrawnRankings { sample, losses, log_weights } = draw(query, &relevant, &non_relevant);
            let twice_kappa = 2.0 * distribution.kappa.of(relevant.len(), non_relevant.len());
            let rows = FeatureDifferences::new(
                query,
                &units,
                relevant,
                non_relevant,
                twice_kappa,
                data.width(),
                &sample,
            );
            Some(QueryRankings { query: index, rows, losses, log_weights })
        };
        let parts: Vec<QueryRankings> = parallel::flat_map(0..data.query_count(), part);
        let (total, used, rankings) = data.total(|queries| {
            let parts = those_of(&parts, queries);
            let weight = parts.iter().map(|part| data.query(part.query).weight()).sum::<f64>();
            (weight, parts.len(), parts.iter().map(|part| part.losses.len()).sum::<usize>())
        });
        let total = if total > 0.0 { total } else { 1.0 };
        SampledRisk { data, units, form: distribution.form, parts, used, rankings, total, damping: 0.0 }
    }

    /// The same risk plus `damping` times half the variance of each query's exponents. If all exponents of a query
    /// are equal at `v`, as for rankings drawn from the distribution at `v`, then the damping has gradient 0 at `v`
    /// and the same curvature as the distribution.
    pub fn damped(self, damping: f64) -> Self {
        SampledRisk { damping, ..self }
    }

    /// The number of skipped queries.
    pub fn skipped(&self) -> usize {
        self.data.whole().queries - self.used
    }

    /// The total number of rankings.
    pub fn rankings(&self) -> usize {
        self.rankings
    }

    /// Converts `w` to weights of the unscaled features.
    pub fn in_data_units<'w>(&self, w: &'w [f64]) -> Cow<'w, [f64]> {
        self.units.in_data_units(w)
    }

    /// The mean over queries of the effective fraction of their rankings at `w`: `(Σp)² / (m·Σp²)` with `p ∝ exp(a)`.
    /// It is 1 if all rankings have the same weight, and `1/m` if a single one has all the weight.
    pub fn effective_fraction(&self, w: &[f64]) -> f64 {
        let shares = self.data.total(|queries| {
            let share = |part: &QueryRankings| {
                let mut shares = part.exponents(self, w).0;
                let size = shares.iter().filter(|a| **a > f64::NEG_INFINITY).count();
                ConditionalObjective::Mle.over_rankings(&mut shares, &part.losses);
                1.0 / (size as f64 * shares.iter().map(|p| p * p).sum::<f64>())
            };
            those_of(&self.parts, queries).iter().map(share).sum::<f64>()
        });
        shares / self.used.max(1) as f64
    }
}

impl Objective for SampledRisk<'_> {
    fn dim(&self) -> usize {
        self.data.width()
    }

    fn value_and_gradient(&self, w: &[f64], gradient: &mut [f64]) -> f64 {
        let (value, sum) = self.data.total(|queries| {
            let (mut value, mut gradient) = (0.0, vec![0.0; w.len()]);
            for part in those_of(&self.parts, queries) {
                let query = self.data.query(part.query);
                let share = query.weight() / self.total;
                let (mut slopes, kept) = part.exponents(self, w);
                let damper = (self.damping > 0.0).then(|| Damper::of(&slopes, self.damping));
                value += share * self.form.over_rankings(&mut slopes, &part.losses);
                value += share * damper.map_or(0.0, |damper| damper.add_slopes(&mut slopes));
                part.rows.subtract_slopes(query, &self.units, kept, &slopes, share, &mut gradient);
            }
            (value, gradient)
        });
        gradient.copy_from_slice(&sum);
        value
    }
}

/// The parts of a range of queries.
fn those_of(parts: &[QueryRankings], queries: Range<usize>) -> &[QueryRankings] {
    let place = |bound: usize| parts.partition_point(|part| part.query < bound);
    &parts[place(queries.start)..place(queries.end)]
}

impl QueryRankings {
    /// The exponent `log ω − (w/u)·δφ` of each ranking, and a vector for reuse.
    fn exponents(&self, risk: &SampledRisk<'_>, w: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let point = self.rows.point(risk.data.query(self.query), &risk.units, w);
        let exponents = self.rows.each().zip(&self.log_weights).map(|(row, log)| log - row.dot(&point));
        (exponents.collect(), point.into_owned())
    }
}

/// Half the variance of the finite exponents, times a factor.
struct Damper {
    deviations: Vec<f64>,
    factor: f64,
}

impl Damper {
    fn of(exponents: &[f64], damping: f64) -> Damper {
        let counts = |a: &&f64| **a > f64::NEG_INFINITY;
        let size = exponents.iter().filter(counts).count().max(1) as f64;
        let mean = exponents.iter().filter(counts).sum::<f64>() / size;
        let deviation = |a: &f64| if counts(&a) { a - mean } else { 0.0 };
        Damper { deviations: exponents.iter().map(deviation).collect(), factor: damping / size }
    }

    /// Adds the derivatives by the exponents and returns the value.
    fn add_slopes(&self, slopes: &mut [f64]) -> f64 {
        slopes.iter_mut().zip(&self.deviations).for_each(|(s, d)| *s += self.factor * d);
        0.5 * self.factor * self.deviations.iter().map(|d| d * d).sum::<f64>()
    }
}

/// The indices of the relevant and of the non-relevant documents, if the query has both.
fn classes(query: Query<'_>, threshold: f32) -> Option<(Vec<usize>, Vec<usize>)> {
    let labels = query.labels();
    let (relevant, non_relevant): (Vec<usize>, Vec<usize>) =
        (0..query.len()).partition(|&i| is_relevant(labels[i], threshold));
    (!relevant.is_empty() && !non_relevant.is_empty()).then_some((relevant, non_relevant))
}
