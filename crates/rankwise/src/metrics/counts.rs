//! The counts of trec_eval: queries, documents retrieved, relevant documents, and relevant documents retrieved. Their
//! sum over all queries is reported, not their mean.

use super::hits::{relevant, relevant_among};
use super::{Metric, MetricEntry, MetricFormula, NEVER, Request};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const QUERIES: MetricEntry =
    entry("num-q", "Number of queries", "Number of queries evaluated.", &[], |request| {
        request.build(&QUERIES.card, Count::Queries)
    });

pub(super) const RETRIEVED: MetricEntry =
    entry("num-ret", "Documents retrieved", "Number of documents retrieved.", &[], |request| {
        request.build(&RETRIEVED.card, Count::Retrieved)
    });

pub(super) const RELEVANT: MetricEntry = entry(
    "num-rel",
    "Relevant documents",
    "Number of relevant documents, retrieved or not.",
    &["threshold"],
    |request| {
        let count = Count::Relevant { threshold: request.conventions.threshold };
        request.build(&RELEVANT.card, count)
    },
);

pub(super) const RELEVANT_RETRIEVED: MetricEntry = entry(
    "num-rel-ret",
    "Relevant documents retrieved",
    "Number of relevant documents retrieved.",
    &["threshold"],
    |request| {
        let count = Count::RelevantRetrieved { threshold: request.conventions.threshold };
        request.build(&RELEVANT_RETRIEVED.card, count)
    },
);

const fn entry(
    name: &'static str,
    title: &'static str,
    summary: &'static str,
    options: &'static [&'static str],
    make: fn(Request) -> Box<dyn Metric>,
) -> MetricEntry {
    MetricEntry {
        card: Card { name, title, summary, citations: &["buckley2004trec"] },
        aliases: &[],
        range: (0.0, None),
        empty: NEVER,
        cut: false,
        levels: false,
        options,
        make,
    }
}

enum Count {
    Queries,
    Retrieved,
    Relevant { threshold: f32 },
    RelevantRetrieved { threshold: f32 },
}

impl MetricFormula for Count {
    fn is_undefined(&self, _: &[f32]) -> bool {
        false
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let count = match *self {
            Count::Queries => 1,
            Count::Retrieved => ranking.len(),
            Count::Relevant { threshold } => relevant(labels, threshold),
            Count::RelevantRetrieved { threshold } => relevant_among(labels, ranking.order(), threshold),
        };
        count as f64
    }

    fn is_count(&self) -> bool {
        true
    }
}
