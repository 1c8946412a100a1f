//! Tables of metric values: one per query, and means per system.

use serde::{Deserialize, Serialize};

/// The values of several metrics on the same queries.
///
/// A value is absent where the metric skips the query, or where the system failed. In JSON it is an array of arrays,
/// `[metric][query]`, with `null` for an absent value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PerQuery {
    by_metric: Vec<Vec<Option<f64>>>,
}

impl PerQuery {
    /// Values given metric by metric.
    pub fn new(by_metric: Vec<Vec<Option<f64>>>) -> PerQuery {
        PerQuery { by_metric }
    }

    /// No value for any of `queries` queries.
    pub fn absent(metrics: usize, queries: usize) -> PerQuery {
        PerQuery { by_metric: vec![vec![None; queries]; metrics] }
    }

    /// Number of metrics.
    pub fn metrics(&self) -> usize {
        self.by_metric.len()
    }

    /// Number of queries.
    pub fn queries(&self) -> usize {
        self.by_metric.first().map_or(0, Vec::len)
    }

    /// The values of one metric, query by query; empty where there is no such metric.
    pub fn metric(&self, metric: usize) -> &[Option<f64>] {
        self.by_metric.get(metric).map_or(&[], Vec::as_slice)
    }

    /// The values of every metric in turn.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[Option<f64>]> {
        self.by_metric.iter().map(Vec::as_slice)
    }

    /// One value.
    pub fn get(&self, metric: usize, query: usize) -> Option<f64> {
        *self.metric(metric).get(query)?
    }

    /// Changes one value; panics where there is no such metric or query.
    pub fn set(&mut self, metric: usize, query: usize, value: Option<f64>) {
        self.by_metric[metric][query] = value;
    }

    /// Adds the queries of `other`, which has the same metrics, after those that are there.
    pub fn append(&mut self, other: &PerQuery) {
        self.by_metric.resize(self.by_metric.len().max(other.metrics()), Vec::new());
        self.by_metric.iter_mut().zip(&other.by_metric).for_each(|(all, values)| all.extend(values));
    }

    /// The values of `metric` alone; the other metrics keep their places and lose their values.
    pub fn only(&self, metric: Option<usize>) -> PerQuery {
        let kept = |(m, values): (usize, &Vec<Option<f64>>)| {
            if Some(m) == metric { values.clone() } else { Vec::new() }
        };
        PerQuery { by_metric: self.by_metric.iter().enumerate().map(kept).collect() }
    }
}

/// The mean of every metric for every system; absent where the system failed or the metric skips every query.
///
/// In JSON it is an array of arrays, `[system][metric]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SystemMeans {
    by_system: Vec<Vec<Option<f64>>>,
}

impl SystemMeans {
    /// Means given system by system.
    pub fn new(by_system: Vec<Vec<Option<f64>>>) -> SystemMeans {
        SystemMeans { by_system }
    }

    /// One mean.
    pub fn get(&self, system: usize, metric: usize) -> Option<f64> {
        *self.by_system.get(system)?.get(metric)?
    }

    /// The means of one metric, system by system.
    pub fn metric(&self, metric: usize) -> impl Iterator<Item = Option<f64>> {
        (0..self.by_system.len()).map(move |system| self.get(system, metric))
    }

    /// Number of systems.
    pub fn systems(&self) -> usize {
        self.by_system.len()
    }
}
