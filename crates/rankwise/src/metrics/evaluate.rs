//! Evaluation: the value of metrics for every query, their means, and notes on special cases.

use super::conventions::{Gain, StopProbability};
use super::gains::MAX_EXPONENT;
use super::{Empty, Metric, MetricOfLabels, check_relevance};
use crate::data::{Dataset, Query};
use crate::error::{Error, Result};
use crate::parallel;
use crate::rank::{RankRule, Sorter, Ties};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;

/// Queries per task; it does not depend on the number of threads.
const CHUNK: usize = 64;

/// One query's judged and scored documents.
#[derive(Debug, Clone, Copy)]
pub struct JudgedList<'a> {
    /// The query's id.
    pub id: &'a str,
    /// Labels of all documents; NaN for unjudged ones.
    pub labels: &'a [f32],
    /// Scores of the retrieved documents, which come first. There may be fewer scores than labels.
    pub scores: &'a [f64],
    /// Ids of the documents, for breaking ties.
    pub document_ids: DocumentIds<'a>,
    /// The weight of the query in the mean.
    pub weight: f64,
}

/// Gives the ids of a query's documents when they are needed, because most rankings have no ties to break.
pub trait IdSource: Sync + fmt::Debug {
    /// The id of the `i`-th document.
    fn id(&self, i: usize) -> Option<&str>;
}

/// The document ids of a query.
#[derive(Debug, Clone, Copy)]
pub enum DocumentIds<'a> {
    /// No ids.
    Absent,
    /// One per document.
    List(&'a [String]),
    /// From a source that is asked only where a tie needs them.
    OnDemand(&'a dyn IdSource),
    /// Those of a data set.
    Query(Query<'a>),
}

impl<'a> DocumentIds<'a> {
    /// The id of the query's `i`-th document.
    pub fn get(self, i: usize) -> Option<&'a str> {
        match self {
            DocumentIds::Absent => None,
            DocumentIds::List(ids) => ids.get(i).map(String::as_str),
            DocumentIds::OnDemand(source) => source.id(i),
            DocumentIds::Query(query) => query.document_id(i),
        }
    }
}

/// The values of several metrics for every query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Names of the metrics.
    pub metrics: Vec<String>,
    /// Ids of the queries.
    pub query_ids: Vec<String>,
    /// The weight of each query.
    pub weights: Vec<f64>,
    /// For each metric, the value for each query; `None` if the query is skipped.
    pub values: Vec<Vec<Option<f64>>>,
    /// For each metric, whether it counts something, so that values are added up rather than averaged.
    pub totals: Vec<bool>,
    /// For each metric, the number of special cases.
    pub counts: Vec<Counts>,
    /// Warnings about labels that exceed the range of a metric, a sentence each.
    pub warnings: Vec<String>,
}

/// The number of queries that a metric treated specially, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Queries for which the metric is undefined, usually because they have no relevant documents.
    pub empty: usize,
    /// Their value.
    pub empty_rule: Empty,
    /// Queries in which documents with different labels have the same score.
    pub tied: usize,
    /// How ties are treated.
    pub ties_rule: Ties,
}

/// Evaluates the scores of a data set, one per document in the order of the data.
///
/// ```
/// use rankwise::data::Synth;
/// use rankwise::metrics::{Conventions, evaluate, parse_list};
/// let data = Synth::demo().generate()?;
/// let by_first_feature: Vec<f64> = (0..data.len()).map(|i| f64::from(data.row(i).get(0))).collect();
/// let metrics = parse_list("ndcg@10,map", &Conventions::default())?;
/// let evaluation = evaluate(&data, &by_first_feature, &metrics)?;
/// assert_eq!(evaluation.metrics, ["ndcg@10", "map"]);
/// assert!(evaluation.mean(0).unwrap() < 1.0);
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn evaluate(data: &Dataset, scores: &[f64], metrics: &[Box<dyn Metric>]) -> Result<Evaluation> {
    if scores.len() != data.len() {
        return Err(Error::data(format!("there are {} scores for {} documents", scores.len(), data.len())));
    }
    evaluate_lists_of(data, &lists(data, scores), metrics)
}

/// Evaluates scored lists of a data set, whose labels may be clicks.
pub(crate) fn evaluate_lists_of(
    data: &Dataset,
    lists: &[JudgedList<'_>],
    metrics: &[Box<dyn Metric>],
) -> Result<Evaluation> {
    if data.click_labels().is_none() {
        return evaluate_lists(lists, metrics);
    }
    let of_clicks: Vec<MetricOfLabels<'_>> =
        metrics.iter().map(|metric| MetricOfLabels::of(data, &**metric)).collect();
    evaluate_by(lists, &of_clicks.iter().map(|metric| &**metric).collect::<Vec<_>>())
}

fn lists<'a>(data: &'a Dataset, scores: &'a [f64]) -> Vec<JudgedList<'a>> {
    let list = |query: Query<'a>| JudgedList {
        id: query.id(),
        labels: query.labels(),
        scores: &scores[query.range()],
        document_ids: DocumentIds::Query(query),
        weight: query.weight(),
    };
    data.queries().map(list).collect()
}

/// The weighted mean of a metric over the queries of all workers, added up in their order.
pub(crate) fn mean_of_all(data: &Dataset, scores: &[f64], metric: &dyn Metric) -> Result<Option<f64>> {
    let own = || -> Result<Vec<(Option<f64>, f64)>> {
        let metric = MetricOfLabels::of(data, metric);
        let (lists, plan) = (lists(data, scores), Plan::new(vec![&*metric]));
        let chunks = parallel::map(lists.chunks(CHUNK), |chunk| plan.values_of(chunk));
        let mut values = Vec::with_capacity(lists.len());
        for chunk in chunks {
            values.extend(chunk?.per_metric.into_iter().flat_map(|(values, ..)| values));
        }
        Ok(values.into_iter().zip(&lists).map(|(value, list)| (value, list.weight)).collect())
    };
    data.decide(own, |all| {
        let all = all.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(weighted_mean(all.into_iter().flatten()))
    })
}

/// Evaluates judged and scored lists. Fails if labels are not grades and a metric finds no relevant document among them
/// ([`check_relevance`]).
pub fn evaluate_lists(lists: &[JudgedList<'_>], metrics: &[Box<dyn Metric>]) -> Result<Evaluation> {
    let labels: Vec<&[f32]> = lists.iter().map(|list| list.labels).collect();
    check_relevance(&labels, metrics.iter().map(|metric| &**metric))?;
    let metrics: Vec<&dyn Metric> = metrics.iter().map(|metric| &**metric).collect();
    let evaluation = evaluate_by(lists, &metrics)?;
    Ok(Evaluation { warnings: warnings(lists, &metrics), ..evaluation })
}

fn evaluate_by(lists: &[JudgedList<'_>], metrics: &[&dyn Metric]) -> Result<Evaluation> {
    let plan = Plan::new(metrics.to_vec());
    let chunks: Vec<Result<Chunk>> = parallel::map(lists.chunks(CHUNK), |chunk| plan.values_of(chunk));
    let mut values: Vec<Vec<Option<f64>>> = metrics.iter().map(|_| Vec::with_capacity(lists.len())).collect();
    let mut counts: Vec<Counts> = metrics
        .iter()
        .map(|m| Counts { empty: 0, empty_rule: m.empty(), tied: 0, ties_rule: m.rank_rule().ties })
        .collect();
    // In query order, so the first error is the same for any number of threads.
    for chunk in chunks {
        for (i, (new, empty, tied)) in chunk?.per_metric.into_iter().enumerate() {
            values[i].extend(new);
            counts[i].empty += empty;
            counts[i].tied += tied;
        }
    }
    Ok(Evaluation {
        metrics: metrics.iter().map(|m| m.name()).collect(),
        query_ids: lists.iter().map(|l| l.id.to_owned()).collect(),
        weights: lists.iter().map(|l| l.weight).collect(),
        values,
        totals: metrics.iter().map(|m| m.is_count()).collect(),
        counts,
        warnings: Vec::new(),
    })
}

/// Warnings about labels that exceed the range of a metric.
fn warnings(lists: &[JudgedList<'_>], metrics: &[&dyn Metric]) -> Vec<String> {
    let highest = lists.iter().flat_map(|l| l.labels).copied().filter(|l| !l.is_nan()).fold(0.0, f32::max);
    let beyond = |metric: &dyn Metric| {
        let (name, conventions) = (metric.name(), metric.conventions());
        let exponential =
            conventions.gain == Gain::Exp2 && name.split(['@', ':']).any(|n| n.ends_with("dcg"));
        if exponential && highest > MAX_EXPONENT {
            return Some(format!(
                "{name}: labels above {MAX_EXPONENT} count as {MAX_EXPONENT}; use gain=linear."
            ));
        }
        let limit = conventions.max_grade;
        let cascade = name.starts_with("err") && conventions.stop == StopProbability::Exp2;
        (cascade && highest > limit)
            .then(|| format!("{name}: labels above {limit} count as {limit}; set max-grade."))
    };
    metrics.iter().filter_map(|m| beyond(*m)).collect()
}

/// The metrics, grouped by rank rule, so that each ranking is made once.
struct Plan<'a> {
    metrics: Vec<&'a dyn Metric>,
    by_rule: Vec<(RankRule, Vec<usize>)>,
}

/// For each metric: values, empty queries, tied queries.
struct Chunk {
    per_metric: Vec<(Vec<Option<f64>>, usize, usize)>,
}

impl<'a> Plan<'a> {
    fn new(metrics: Vec<&'a dyn Metric>) -> Self {
        let mut by_rule: Vec<(RankRule, Vec<usize>)> = Vec::new();
        for (i, metric) in metrics.iter().enumerate() {
            let rule = metric.rank_rule();
            match by_rule.iter_mut().find(|(r, _)| *r == rule) {
                Some((_, members)) => members.push(i),
                None => by_rule.push((rule, vec![i])),
            }
        }
        Plan { metrics, by_rule }
    }

    fn values_of(&self, lists: &[JudgedList<'_>]) -> Result<Chunk> {
        let new = || (Vec::with_capacity(lists.len()), 0, 0);
        let mut per_metric: Vec<_> = self.metrics.iter().map(|_| new()).collect();
        let mut sorter = Sorter::default();
        for list in lists {
            list.check()?;
            for (rule, members) in &self.by_rule {
                let id = |i| list.document_ids.get(i);
                let ranking = sorter
                    .rank_with_ids(list.scores, list.labels, *rule, id)
                    .map_err(|e| Error::data(format!("query `{}`: {e}", list.id)))?;
                let tied = usize::from(ranking.has_mixed_ties(list.labels));
                for &i in members {
                    let (values, empty_queries, tied_queries) = &mut per_metric[i];
                    values.push(self.metrics[i].value(list.labels, ranking));
                    *empty_queries += usize::from(self.metrics[i].is_undefined(list.labels));
                    *tied_queries += tied;
                }
            }
        }
        Ok(Chunk { per_metric })
    }
}

impl JudgedList<'_> {
    fn check(&self) -> Result<()> {
        if self.scores.len() > self.labels.len() {
            return Err(Error::data(format!(
                "query `{}` has {} scores for {} documents",
                self.id,
                self.scores.len(),
                self.labels.len()
            )));
        }
        match self.scores.iter().position(|s| s.is_nan()) {
            None => Ok(()),
            Some(i) => {
                let named = self.document_ids.get(i).map_or_else(String::new, |id| format!(" (`{id}`)"));
                Err(Error::data(format!(
                    "the score of document {}{named} of query `{}` is not a number",
                    i + 1,
                    self.id
                )))
            }
        }
    }
}

impl Evaluation {
    /// The evaluation of all queries of several parts of a data set, each with its name: that of the whole, in the order of
    /// the parts. Fails if two parts have the same query, whose value is then that of neither, or if they were evaluated by
    /// different metrics.
    pub fn join(parts: impl IntoIterator<Item = (String, Evaluation)>) -> Result<Evaluation> {
        let mut parts = parts.into_iter();
        let Some((first, mut joined)) = parts.next() else {
            return Err(Error::parameter("there are no evaluations to join"));
        };
        let mut part_of: HashMap<String, usize> = joined.query_ids.iter().map(|id| (id.clone(), 0)).collect();
        let mut names = vec![first];
        for (name, part) in parts {
            if part.metrics != joined.metrics {
                return Err(Error::parameter(format!("{} and {name} have different metrics", names[0])));
            }
            names.push(name);
            for id in &part.query_ids {
                if let Some(other) = part_of.insert(id.clone(), names.len() - 1) {
                    return Err(Error::data(format!(
                        "query `{id}` is in {} and in {}; a query that is divided cannot be evaluated by parts, so put \
                         all its documents into one of them",
                        names[other],
                        names[names.len() - 1]
                    )));
                }
            }
            joined.append(part);
        }
        Ok(joined)
    }

    fn append(&mut self, part: Evaluation) {
        self.query_ids.extend(part.query_ids);
        self.weights.extend(part.weights);
        self.values.iter_mut().zip(part.values).for_each(|(values, new)| values.extend(new));
        for (counts, new) in self.counts.iter_mut().zip(part.counts) {
            counts.empty += new.empty;
            counts.tied += new.tied;
        }
        let new = part.warnings.into_iter().filter(|warning| !self.warnings.contains(warning));
        let new: Vec<String> = new.collect();
        self.warnings.extend(new);
    }

    /// The weighted mean of a metric over the queries that are not skipped; `None` if there are none.
    pub fn mean(&self, metric: usize) -> Option<f64> {
        weighted_mean(self.values[metric].iter().copied().zip(self.weights.iter().copied()))
    }

    /// The sum of a metric over the queries, if it counts something: `num-ret` of a run is the number of all
    /// documents in it. `None` for other metrics.
    pub fn total(&self, metric: usize) -> Option<f64> {
        self.totals[metric].then(|| self.values[metric].iter().flatten().sum())
    }

    /// The mean of a metric over the queries that are not skipped, without weights.
    pub fn unweighted_mean(&self, metric: usize) -> Option<f64> {
        weighted_mean(self.values[metric].iter().map(|&value| (value, 1.0)))
    }

    /// Whether queries have different weights, so that means are weighted.
    pub fn is_weighted(&self) -> bool {
        differ(&self.weights)
    }

    /// Sentences on queries without relevant documents, ties, and warnings.
    pub fn notes(&self) -> Vec<String> {
        let empty = self.grouped(|c| (c.empty > 0).then_some((c.empty, c.empty_rule)));
        let tied = self.grouped(|c| (c.tied > 0).then_some((c.tied, c.ties_rule)));
        let empty = empty.into_iter().map(|((n, rule), names)| {
            let counted = match rule {
                Empty::Zero => "counted as 0",
                Empty::One => "counted as 1",
                Empty::Skip => "left out",
            };
            format!(
                "{} no relevant documents and {} {counted} ({names}).",
                self.have(n),
                plural(n, "was", "were")
            )
        });
        let tied = tied.into_iter().map(|((n, rule), names)| {
            let treated = match rule {
                Ties::Average => "all their orders are averaged",
                Ties::Input => "they are ranked in input order",
                Ties::Worst => "they are ranked least relevant first",
                Ties::DocId => "they are ranked by descending document id",
            };
            format!("{} documents with different labels but equal scores; {treated} ({names}).", self.have(n))
        });
        empty.chain(tied).chain(self.warnings.iter().cloned()).collect()
    }

    fn have(&self, n: usize) -> String {
        format!("{n} of {} queries {}", self.query_ids.len(), plural(n, "has", "have"))
    }

    /// The distinct properties of the metrics' counts, each with the names of the metrics that have it.
    fn grouped<K: PartialEq>(&self, property: impl Fn(&Counts) -> Option<K>) -> Vec<(K, String)> {
        let mut groups: Vec<(K, String)> = Vec::new();
        for (name, counts) in self.metrics.iter().zip(&self.counts) {
            let Some(key) = property(counts) else { continue };
            match groups.iter_mut().find(|(k, _)| *k == key) {
                Some((_, names)) => *names += &format!(", {name}"),
                None => groups.push((key, name.clone())),
            }
        }
        groups
    }
}

/// The mean of a metric over queries, from values and query weights: the only rule for means over queries. A query that
/// the metric skips does not count. `None` if no query with a weight above 0 has a value.
///
/// ```
/// use rankwise::metrics::weighted_mean;
/// assert_eq!(weighted_mean([(Some(0.5), 1.0), (None, 5.0), (Some(1.0), 3.0)]), Some(0.875));
/// ```
pub fn weighted_mean(values: impl IntoIterator<Item = (Option<f64>, f64)>) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (value, weight) in values {
        if let Some(value) = value {
            sum += weight * value;
            weights += weight;
        }
    }
    (weights > 0.0).then(|| sum / weights)
}

/// Whether weights are not all the same; equal weights change nothing.
pub(crate) fn differ(weights: &[f64]) -> bool {
    weights.windows(2).any(|pair| pair[0] != pair[1])
}

fn plural(n: usize, one: &'static str, many: &'static str) -> &'static str {
    if n == 1 { one } else { many }
}
