//! Labels that a metric's relevance threshold was not made for.

use super::Metric;
use crate::data::{Dataset, separating_threshold};
use crate::error::{Error, Result};

/// Refuses metrics that would find no relevant document although labels are above 0: all labels are below 1 and below
/// the threshold, so they are not grades. `queries` are the labels of each query.
pub fn check_relevance<'m>(
    queries: &[&[f32]],
    metrics: impl IntoIterator<Item = &'m dyn Metric>,
) -> Result<()> {
    let highest = queries.iter().copied().flatten().copied().fold(0.0, f32::max);
    if !(highest > 0.0 && highest < 1.0) {
        return Ok(());
    }
    let finds_nothing = |metric: &dyn Metric| {
        metric.conventions().threshold > highest && queries.iter().all(|labels| metric.is_undefined(labels))
    };
    let blind = metrics.into_iter().filter(|metric| finds_nothing(*metric)).collect();
    refuse(blind, highest, || separating_threshold(queries.iter().copied()))
}

/// The same for the queries of all workers.
pub(crate) fn check_relevance_of(data: &Dataset, metric: &dyn Metric) -> Result<()> {
    if data.click_labels().is_some() {
        // Clicks are weights and no grades.
        return Ok(());
    }
    let highest = data.decide(
        || data.labels().iter().copied().fold(0.0, f32::max),
        |highest| highest.into_iter().fold(0.0, f32::max),
    );
    if !(highest > 0.0 && highest < 1.0) || metric.conventions().threshold <= highest {
        return Ok(());
    }
    let finds_nothing = data.all(|| data.queries().all(|query| metric.is_undefined(query.labels())));
    let blind = if finds_nothing { vec![metric] } else { Vec::new() };
    refuse(blind, highest, || data.separating_threshold(|_| true))
}

/// An error if some metrics are blind to labels up to `highest`.
fn refuse(blind: Vec<&dyn Metric>, highest: f32, separating: impl FnOnce() -> Option<f32>) -> Result<()> {
    let Some(first) = blind.first() else { return Ok(()) };
    let names: Vec<String> = blind.iter().map(|metric| metric.name()).collect();
    let suggestion = match separating() {
        Some(threshold) => format!(", for example to {threshold}, which separates the most pairs"),
        None => String::new(),
    };
    Err(Error::data(format!(
        "no document is relevant to {}: documents count as relevant from label {} on, and the highest label is \
         {highest}; set the convention threshold{suggestion}, or use metrics of graded labels such as ndcg",
        names.join(", "),
        first.conventions().threshold
    )))
}
