//! Rounds of AdaRank: choosing a feature by the query weights, and query weights by the sum of features.

use crate::data::Dataset;
use crate::learners::direct::column_sums::ColumnSums;
use crate::learners::direct::columns::{Varying, varying_in};
use crate::learners::direct::terrain::Terrain;
use crate::metrics::Metric;
use crate::parallel;
use crate::rank::Sorter;

/// A feature that is perfect on all queries would get an infinite `α`; with this mean it gets about 10.
const HIGHEST_MEAN: f64 = 1.0 - 1e-9;

/// The step of a round.
pub(super) struct Chosen {
    pub column: usize,
    /// The change of the column's weight: `±α`, in units of the column.
    pub step: f64,
}

/// The sum of features so far, and the state that the next round needs.
pub(super) struct Boosted<'a> {
    terrain: Terrain<'a>,
    metric: &'a dyn Metric,
    /// Of each query, for the features that vary in it: the metric with documents in ascending and in descending order,
    /// minus its value for tied documents.
    gains: Vec<ColumnSums<(f64, f64)>>,
    /// The metric of each query if all its documents are tied.
    tied: Vec<f64>,
    is_scaled: bool,
    /// `P`: the weight of each query in choosing a feature.
    pub distribution: Vec<f64>,
    pub weights: Vec<f64>,
    scores: Vec<f64>,
    /// `E_q(f)` of the current sum.
    values: Vec<f64>,
    last_column: Option<usize>,
    in_a_row: u64,
}

impl<'a> Boosted<'a> {
    pub(super) fn new(data: &'a Dataset, metric: &'a dyn Metric, is_scaled: bool) -> Self {
        let terrain = Terrain::new(data, metric);
        let tied: Vec<f64> = parallel::map_with(0..data.query_count(), Sorter::default, |sorter, q| {
            value(metric, data, q, &vec![0.0; data.query(q).len()], sorter)
        });
        let gains = parallel::map_with(0..data.query_count(), Sorter::default, |sorter, q| {
            both_ways(&terrain, metric, tied[q], q, sorter)
        });
        Boosted {
            metric,
            gains,
            is_scaled,
            distribution: terrain.shares.clone(),
            weights: vec![0.0; data.width()],
            scores: vec![0.0; data.len()],
            values: tied.clone(),
            tied,
            terrain,
            last_column: None,
            in_a_row: 0,
        }
    }

    /// Adds the best feature that is not excluded; `None` if no feature improves the metric.
    pub(super) fn round(&mut self, repeats: u64) -> Option<Chosen> {
        let is_resting =
            |column: usize| repeats > 0 && self.in_a_row >= repeats && self.last_column == Some(column);
        let (tied, gains) = self.data().total(|queries| {
            let tied = queries.clone().map(|q| self.distribution[q] * self.tied[q]).sum::<f64>();
            let gains = |q: usize| {
                let weight = self.distribution[q];
                self.gains[q].map(|(up, down)| (weight * up, weight * down))
            };
            (tied, ColumnSums::over(queries, &gains))
        });
        let candidates = gains
            .iter()
            .filter(|(column, _)| !is_resting(*column))
            .flat_map(|(column, &(up, down))| [(up, column, 1.0), (down, column, -1.0)]);
        let (gain, column, sign) =
            candidates.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
        let mean = tied + gain;
        let alpha = mean.min(HIGHEST_MEAN).atanh();
        if alpha <= 0.0 {
            return None;
        }
        let unit = if self.is_scaled { self.terrain.scales[column] } else { 1.0 };
        let chosen = Chosen { column, step: sign * alpha / unit };
        self.in_a_row = if self.last_column == Some(chosen.column) { self.in_a_row + 1 } else { 1 };
        self.last_column = Some(chosen.column);
        self.add(&chosen);
        Some(chosen)
    }

    /// Updates scores, metric values and query weights with the chosen feature.
    fn add(&mut self, chosen: &Chosen) {
        let (data, metric) = (self.data(), self.metric);
        self.weights[chosen.column] += chosen.step;
        let mut varying = Varying::default();
        self.terrain.varying(chosen.column, &mut varying);
        varying.add_to(&mut self.scores, data, chosen.step);
        let scores = &self.scores;
        let values: Vec<(usize, f64)> =
            parallel::map_with(&varying.queries, Sorter::default, |sorter, &(q, _)| {
                (q, value(metric, data, q, &scores[data.query(q).range()], sorter))
            });
        values.into_iter().for_each(|(q, value)| self.values[q] = value);
        let weights =
            self.terrain.shares.iter().zip(&self.values).map(|(share, value)| share * (-value).exp());
        self.distribution = weights.collect();
        let total = data.total(|queries| self.distribution[queries].iter().sum::<f64>());
        self.distribution.iter_mut().for_each(|p| *p /= total);
    }

    fn data(&self) -> &'a Dataset {
        self.terrain.data
    }

    /// The mean of the metric over the training queries.
    pub(super) fn mean(&self) -> f64 {
        self.terrain.mean(&self.values)
    }

    /// Notes on what is left out, and why.
    pub(super) fn notes(&self) -> Vec<String> {
        self.terrain.notes()
    }
}

fn value(metric: &dyn Metric, data: &Dataset, query: usize, scores: &[f64], sorter: &mut Sorter) -> f64 {
    metric.value_of_scores(data.query(query).labels(), scores, sorter).unwrap_or(0.0)
}

/// The gains of a query, if it has a weight: each feature is a weak ranker in both directions.
fn both_ways(
    terrain: &Terrain<'_>,
    metric: &dyn Metric,
    tied: f64,
    q: usize,
    sorter: &mut Sorter,
) -> ColumnSums<(f64, f64)> {
    let mut gains = ColumnSums::new();
    if terrain.shares[q] > 0.0 {
        varying_in(terrain.data.query(q), |column, values| {
            if terrain.scales[column] > 0.0 {
                let [up, down] = [1.0, -1.0].map(|sign| {
                    let scores: Vec<f64> = values.iter().map(|&x| sign * f64::from(x)).collect();
                    value(metric, terrain.data, q, &scores, sorter) - tied
                });
                gains.push(column, (up, down));
            }
        });
    }
    gains
}
