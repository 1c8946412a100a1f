//! The risk of a linear model over rankings that were drawn for each query.

mod rows;
#[cfg(test)]
mod tests;

use super::moments::{add_all, by_piece};
use super::objective::Objective;
use super::units::Units;
use crate::data::{Dataset, Query};
use crate::losses::conditional::{Form, Kappa, Sample};
use crate::losses::structured::is_good;
use crate::watch::Stop;
use rayon::prelude::*;
use rows::Rows;
use std::borrow::Cow;

/// What is minimised over the rankings of a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampledLaw {
    /// What is made of the law.
    pub form: Form,
    /// How much a pair counts in the feature map.
    pub kappa: Kappa,
    /// The least grade of a good document.
    pub threshold: f32,
}

/// Rankings drawn for one query; goods and bads are numbered in the order of its documents.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnRankings {
    /// The rankings.
    pub sample: Sample,
    /// Δ of each.
    pub losses: Vec<f64>,
    /// The logarithm of the weight ω of each; minus infinity for one that does not count.
    pub log_weights: Vec<f64>,
}

/// The weighted mean over queries of a form over the rankings drawn for them, as a function of a linear model's
/// weights:
///
/// ```text
/// R(w) = Σ_q v_q F_q(w) / Σ_q v_q ,     F_q of the exponents a_y = log ω_y − (w/u)·δφ(y), y ∈ Ŷ_q
/// ```
///
/// for example `F = log Σ_y exp(a_y + Δ(y))`. The rankings stay the same, so this is a smooth function like any other:
/// a value and gradient are two products with the matrix of all `δφ(y)` and one sum of exponentials for each query.
/// Queries without both goods and bads are left out.
pub struct SampledRisk<'a> {
    data: &'a Dataset,
    units: Units,
    form: Form,
    parts: Vec<Part>,
    /// Σ v_q; 1 where that is 0, so that the mean of nothing is 0.
    total: f64,
    damping: f64,
}

/// One query's rankings.
struct Part {
    query: usize,
    rows: Rows,
    losses: Vec<f64>,
    log_weights: Vec<f64>,
}

impl<'a> SampledRisk<'a> {
    /// The risk over the queries of `data` that have both goods and bads, with what `draw` makes of a query's goods and
    /// bads, its documents' numbers. Asked to stop, draws no more and leaves the other queries out.
    pub fn new(
        data: &'a Dataset,
        units: Units,
        law: SampledLaw,
        stop: &Stop,
        draw: impl Fn(Query<'a>, &[usize], &[usize]) -> DrawnRankings + Sync,
    ) -> Self {
        let part = |index: usize| {
            let query = data.query(index);
            let (goods, bads) = classes(query, law.threshold)?;
            if stop.requested() {
                return None;
            }
            let DrawnRankings { sample, losses, log_weights } = draw(query, &goods, &bads);
            let twice_kappa = 2.0 * law.kappa.of(goods.len(), bads.len());
            let rows = Rows::new(query, &units, goods, bads, twice_kappa, data.width(), &sample);
            Some(Part { query: index, rows, losses, log_weights })
        };
        let parts: Vec<Part> = (0..data.query_count()).into_par_iter().filter_map(part).collect();
        let total: f64 = parts.iter().map(|p| data.query(p.query).weight()).sum();
        let total = if total > 0.0 { total } else { 1.0 };
        SampledRisk { data, units, form: law.form, parts, total, damping: 0.0 }
    }

    /// The same risk, and half the variance of each query's exponents times `damping`. Where these are all the same at
    /// `v`, as for rankings drawn from the law there, the damping has no slope at `v` and bends like the law itself.
    pub fn damped(self, damping: f64) -> Self {
        SampledRisk { damping, ..self }
    }

    /// How many queries tell nothing.
    pub fn skipped(&self) -> usize {
        self.data.query_count() - self.parts.len()
    }

    /// How many rankings there are in all.
    pub fn rankings(&self) -> usize {
        self.parts.iter().map(|p| p.losses.len()).sum()
    }

    /// `w` as weights of the features as they stand in the data.
    pub fn in_data_units<'w>(&self, w: &'w [f64]) -> Cow<'w, [f64]> {
        self.units.in_data_units(w)
    }

    /// The mean over queries of the share of their rankings that still count at `w`: `(Σp)² / (m·Σp²)` with `p ∝
    /// exp(a)`, which is 1 where all count the same and `1/m` where one counts alone.
    pub fn effective_share(&self, w: &[f64]) -> f64 {
        let shares = by_piece(self.parts.len(), |places| {
            let share = |part: &Part| {
                let mut shares = part.exponents(self, w).0;
                let size = shares.iter().filter(|a| **a > f64::NEG_INFINITY).count();
                Form::Mle.over_rankings(&mut shares, &part.losses);
                1.0 / (size as f64 * shares.iter().map(|p| p * p).sum::<f64>())
            };
            self.parts[places].iter().map(share).sum::<f64>()
        });
        shares.iter().sum::<f64>() / self.parts.len().max(1) as f64
    }
}

impl Objective for SampledRisk<'_> {
    fn dim(&self) -> usize {
        self.data.width()
    }

    fn value_and_gradient(&self, w: &[f64], gradient: &mut [f64]) -> f64 {
        let parts = by_piece(self.parts.len(), |places| {
            let (mut value, mut gradient) = (0.0, vec![0.0; w.len()]);
            for part in &self.parts[places] {
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
        gradient.fill(0.0);
        parts.iter().for_each(|(_, slope)| add_all(gradient, slope));
        parts.iter().map(|(value, _)| value).sum()
    }
}

impl Part {
    /// `log ω − (w/u)·δφ` of each ranking, and a vector to be used again.
    fn exponents(&self, risk: &SampledRisk<'_>, w: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let point = self.rows.point(risk.data.query(self.query), &risk.units, w);
        let exponents = self.rows.each().zip(&self.log_weights).map(|(row, log)| log - row.dot(&point));
        (exponents.collect(), point.into_owned())
    }
}

/// Half the variance of exponents, times a factor; those of minus infinity do not count.
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

    /// Adds the slopes by the exponents; the value is returned.
    fn add_slopes(&self, slopes: &mut [f64]) -> f64 {
        slopes.iter_mut().zip(&self.deviations).for_each(|(s, d)| *s += self.factor * d);
        0.5 * self.factor * self.deviations.iter().map(|d| d * d).sum::<f64>()
    }
}

/// The numbers of the goods and of the bads, where there are both.
fn classes(query: Query<'_>, threshold: f32) -> Option<(Vec<usize>, Vec<usize>)> {
    let labels = query.labels();
    let (goods, bads): (Vec<usize>, Vec<usize>) =
        (0..query.len()).partition(|&i| is_good(labels[i], threshold));
    (!goods.is_empty() && !bads.is_empty()).then_some((goods, bads))
}
