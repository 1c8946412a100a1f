//! Rounds of AdaRank: choosing a feature by the query weights, and query weights by the sum of features.

use crate::data::Dataset;
use crate::learners::direct::columns::Varying;
use crate::learners::direct::terrain::Terrain;
use crate::metrics::Metric;
use crate::parallel;
use crate::rank::Sorter;

/// A feature that is perfect on all queries would get an infinite `α`; with this mean it gets about 10.
const HIGHEST_MEAN: f64 = 1.0 - 1e-9;

/// One feature, ascending or descending.
struct WeakRanker {
    column: usize,
    sign: f64,
    /// For each query in which the feature varies, the metric minus its value for tied documents.
    gains: Vec<(usize, f64)>,
}

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
    rankers: Vec<WeakRanker>,
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
        let rankers = parallel::flat_map(terrain.varying_columns(), |column| {
            both_ways(&terrain, metric, &tied, column)
        });
        Boosted {
            metric,
            rankers,
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
            |r: &WeakRanker| repeats > 0 && self.in_a_row >= repeats && self.last_column == Some(r.column);
        let gain =
            |r: &WeakRanker| -> f64 { r.gains.iter().map(|(q, gain)| self.distribution[*q] * gain).sum() };
        let gains: Vec<Option<f64>> = parallel::map(&self.rankers, |r| (!is_resting(r)).then(|| gain(r)));
        let candidates =
            gains.iter().zip(&self.rankers).filter_map(|(gain, ranker)| Some(((*gain)?, ranker)));
        let (gain, ranker) = candidates.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
        let tied: f64 = self.distribution.iter().zip(&self.tied).map(|(p, v)| p * v).sum();
        let mean = tied + gain;
        let alpha = mean.min(HIGHEST_MEAN).atanh();
        if alpha <= 0.0 {
            return None;
        }
        let unit = if self.is_scaled { self.terrain.scales[ranker.column] } else { 1.0 };
        let chosen = Chosen { column: ranker.column, step: ranker.sign * alpha / unit };
        self.in_a_row = if self.last_column == Some(chosen.column) { self.in_a_row + 1 } else { 1 };
        self.last_column = Some(chosen.column);
        self.add(&chosen);
        Some(chosen)
    }

    /// Updates scores, metric values and query weights with the chosen feature.
    fn add(&mut self, chosen: &Chosen) {
        let (data, metric) = (self.terrain.data, self.metric);
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
        let total: f64 = self.distribution.iter().sum();
        self.distribution.iter_mut().for_each(|p| *p /= total);
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

/// A column as two weak rankers, ascending and descending.
fn both_ways(terrain: &Terrain<'_>, metric: &dyn Metric, tied: &[f64], column: usize) -> [WeakRanker; 2] {
    let (mut varying, mut sorter) = (Varying::default(), Sorter::default());
    terrain.varying(column, &mut varying);
    [1.0, -1.0].map(|sign| {
        let gain = |&(q, start): &(usize, usize)| {
            let x = varying.values(start, terrain.data.query(q).len());
            let scores: Vec<f64> = x.iter().map(|&x| sign * f64::from(x)).collect();
            (q, value(metric, terrain.data, q, &scores, &mut sorter) - tied[q])
        };
        WeakRanker { column, sign, gains: varying.queries.iter().map(gain).collect() }
    })
}
