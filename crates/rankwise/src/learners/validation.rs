//! How good scores are on queries to choose by.

use crate::data::Dataset;
use crate::metrics::Metric;
use crate::rank::Sorter;
use rayon::prelude::*;

/// The weighted mean of the measure of a linear model over the queries that it does not skip; 0 when it skips all.
pub(super) fn mean_metric(data: &Dataset, metric: &dyn Metric, weights: &[f64]) -> f64 {
    let values: Vec<Option<f64>> = (0..data.query_count())
        .into_par_iter()
        .map_init(<(Vec<f64>, Sorter)>::default, |(scores, sorter), q| {
            let query = data.query(q);
            scores.resize(query.len(), 0.0);
            query.dot(weights, scores);
            metric.value_of_scores(query.labels(), scores, sorter)
        })
        .collect();
    mean(data, values)
}

/// The same of scores, one a document.
pub(super) fn mean_metric_of_scores(data: &Dataset, metric: &dyn Metric, scores: &[f64]) -> f64 {
    let values: Vec<Option<f64>> = (0..data.query_count())
        .into_par_iter()
        .map_init(Sorter::default, |sorter, q| {
            let query = data.query(q);
            metric.value_of_scores(query.labels(), &scores[query.range()], sorter)
        })
        .collect();
    mean(data, values)
}

fn mean(data: &Dataset, values: Vec<Option<f64>>) -> f64 {
    let kept = data.queries().zip(values).filter_map(|(q, v)| Some((q.weight(), v?)));
    let (sum, weight) = kept.fold((0.0, 0.0), |(sum, weight), (w, v)| (sum + w * v, weight + w));
    if weight > 0.0 { sum / weight } else { 0.0 }
}
