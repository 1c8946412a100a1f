//! The value of a metric where labels are weighted clicks.
//!
//! ```text
//! M(m, ranking) = Σᵢ mᵢ·M'(eᵢ, ranking) ,      eᵢ = 1 for document i and 0 for all others
//! ```
//! It is linear in the weights m, as the losses of clicks are, and so an unbiased estimate for weights that are. The
//! reciprocal rank, for example, becomes the sum of the weights, each divided by its document's rank. Values may exceed
//! those of the metric itself, since a user may click several times, or never.

use super::{Conventions, Empty, Metric};
use crate::data::Dataset;
use crate::rank::{RankRule, Ranking};
use std::ops::Deref;

/// A metric of weighted clicks.
pub(crate) struct ClickMetric<'a>(pub(crate) &'a dyn Metric);

impl Metric for ClickMetric<'_> {
    fn name(&self) -> String {
        self.0.name()
    }

    fn conventions(&self) -> &Conventions {
        self.0.conventions()
    }

    fn empty(&self) -> Empty {
        Empty::Zero
    }

    fn is_undefined(&self, labels: &[f32]) -> bool {
        !labels.iter().any(|label| *label > 0.0)
    }

    fn value(&self, labels: &[f32], ranking: &Ranking) -> Option<f64> {
        let (mut alone, mut value) = (vec![0.0; labels.len()], 0.0);
        for (document, &weight) in labels.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            alone[document] = 1.0;
            value += f64::from(weight) * self.0.value(&alone, ranking).unwrap_or(0.0);
            alone[document] = 0.0;
        }
        Some(value)
    }

    fn rank_rule(&self) -> RankRule {
        self.0.rank_rule()
    }

    fn is_count(&self) -> bool {
        self.0.is_count()
    }

    fn depth(&self) -> usize {
        self.0.depth()
    }
}

/// A metric, or what it is for clicks.
pub(crate) enum MetricOfLabels<'a> {
    Judged(&'a dyn Metric),
    Clicked(ClickMetric<'a>),
}

impl<'a> MetricOfLabels<'a> {
    /// The metric for the labels of this data.
    pub(crate) fn of(data: &Dataset, metric: &'a dyn Metric) -> Self {
        match data.click_labels() {
            None => MetricOfLabels::Judged(metric),
            Some(_) => MetricOfLabels::Clicked(ClickMetric(metric)),
        }
    }
}

impl<'a> Deref for MetricOfLabels<'a> {
    type Target = dyn Metric + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            MetricOfLabels::Judged(metric) => *metric,
            MetricOfLabels::Clicked(metric) => metric,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::ClickLabels;
    use crate::metrics::{evaluate, parse};

    /// Documents at ranks 2, 1 and 3, the first and the last with clicks.
    #[test]
    fn clicks_count_by_the_rank_of_their_document() {
        let values = vec![0.0; 3];
        let data = Dataset::dense(values, 1, vec![2.0, 0.0, 0.5], &[3]).unwrap();
        let clicks = data.clone().with_click_labels(ClickLabels::default()).unwrap();
        let value = |data: &Dataset, name: &str| {
            let metric = [parse(name, &Conventions::default()).unwrap()];
            evaluate(data, &[0.5, 0.9, 0.1], &metric).unwrap().mean(0).unwrap()
        };
        assert_eq!(value(&clicks, "mrr"), 2.0 / 2.0 + 0.5 / 3.0);
        let at = |rank: f64| 1.0 / (1.0 + rank).log2();
        assert!((value(&clicks, "ndcg@10") - (2.0 * at(2.0) + 0.5 * at(3.0))).abs() < 1e-15);
        assert_eq!(value(&clicks, "p@1"), 0.0);
        // As grades, the same labels say something else.
        assert_eq!(value(&data, "mrr"), 0.5);
    }

    #[test]
    fn a_query_without_clicks_counts_as_0() {
        let metric = parse("ndcg@10:empty=skip", &Conventions::default()).unwrap();
        let ranking = Ranking::by_scores(&[1.0, 0.0]);
        assert_eq!(ClickMetric(&*metric).value(&[0.0, 0.0], &ranking), Some(0.0));
        assert_eq!(metric.value(&[0.0, 0.0], &ranking), None);
    }
}
