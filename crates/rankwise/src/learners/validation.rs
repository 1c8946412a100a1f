//! The mean of a metric over queries, for early stopping and model selection.

use crate::data::Dataset;
use crate::metrics::{Metric, MetricOfLabels};
use crate::parallel;
use crate::rank::Sorter;

/// The weighted mean of the metric of a linear model over the queries for which it is defined; 0 if there are
/// none.
pub(super) fn mean_metric(data: &Dataset, metric: &dyn Metric, weights: &[f64]) -> f64 {
    let scores: Vec<f64> = parallel::flat_map(0..data.query_count(), |q| {
        let query = data.query(q);
        let mut scores = vec![0.0; query.len()];
        query.dot(weights, &mut scores);
        scores
    });
    mean_metric_of_scores(data, metric, &scores)
}

/// The same for scores, one per document.
pub(super) fn mean_metric_of_scores(data: &Dataset, metric: &dyn Metric, scores: &[f64]) -> f64 {
    let metric = MetricOfLabels::of(data, metric);
    let values = metric.values_at_once(data.labels(), scores, data.bounds()).unwrap_or_else(|| {
        parallel::map_with(0..data.query_count(), Sorter::default, |sorter, q| {
            let query = data.query(q);
            metric.value_of_scores(query.labels(), &scores[query.range()], sorter)
        })
    });
    mean(data, values)
}

fn mean(data: &Dataset, values: Vec<Option<f64>>) -> f64 {
    let (sum, weight) = data.total(|queries| {
        let kept = queries.filter_map(|q| Some((data.query(q).weight(), values[q]?)));
        kept.fold((0.0, 0.0), |(sum, weight), (w, v)| (sum + w * v, weight + w))
    });
    if weight > 0.0 { sum / weight } else { 0.0 }
}
