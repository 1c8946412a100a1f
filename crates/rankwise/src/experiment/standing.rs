//! Systems side by side on the same queries: means, confidence intervals, order and tests.
//!
//! With `v_q` the values of one system and `F` folds of the queries:
//!
//! ```text
//! mean over queries       Σ_q w_q v_q / Σ_q w_q                       every query counts by its weight: the microaverage
//! mean of folds' means    1/F Σ_f Σ_{q ∈ f} w_q v_q / Σ_{q ∈ f} w_q   what papers print; differs where folds are unequal
//! ```
//!
//! The weights `w_q` are those of the queries in the data, or 1.
//! Queries that a metric skips count in neither mean, nor does a fold in which it skips every query.

use super::compare::{Comparison, ComparisonOptions, PairComparison, SystemValues};
use super::findings::Standing;
use super::values::{PerQuery, SystemMeans};
use crate::error::{Error, Result};
use crate::metrics::weighted_mean;
use crate::significance::{ConfidenceInterval, Resampled};
use std::borrow::Cow;

/// The values of all systems on the queries of one data set.
#[derive(Debug, Clone, Copy)]
pub struct DataValues<'a> {
    /// The data set's name.
    pub name: &'a str,
    /// The values of each system; none for a system that failed.
    pub values: &'a [Option<PerQuery>],
    /// The fold of each query, from 0.
    pub query_folds: &'a [usize],
    /// The id of each query.
    pub query_ids: &'a [String],
    /// The weight of each query; none where all count alike.
    pub query_weights: Option<&'a [f64]>,
}

impl<'a> DataValues<'a> {
    fn weights(&self) -> Cow<'a, [f64]> {
        self.query_weights.map_or_else(|| vec![1.0; self.query_ids.len()].into(), Cow::Borrowed)
    }
}

/// The systems and metrics of the values, and by which metric systems are ordered and compared.
#[derive(Debug, Clone, Copy)]
pub struct StandingTerms<'a> {
    /// The systems' names.
    pub systems: &'a [String],
    /// Number of metrics.
    pub metrics: usize,
    /// The selection metric's number.
    pub selection: usize,
    /// The seed of random signs and resamples.
    pub seed: u64,
}

impl Standing {
    /// The comparison of a system, by its number in the experiment, with the best system; none for the best itself
    /// and for one that failed.
    pub fn against_best_of(&self, system: usize) -> Option<&PairComparison> {
        let pairs = self.all_pairs.iter().flat_map(|comparison| &comparison.pairs);
        pairs.into_iter().find(|pair| pair.against == 0 && self.order[pair.system] == system)
    }
}

/// The systems on one data set.
pub fn standing(data: &DataValues<'_>, terms: &StandingTerms<'_>) -> Result<Standing> {
    check(data, terms)?;
    let of_all = |average: &dyn Fn(&[Option<f64>]) -> Option<f64>| {
        let of_system = |values: &Option<PerQuery>| match values {
            Some(values) => values.iter().map(average).collect(),
            None => vec![None; terms.metrics],
        };
        SystemMeans::new(data.values.iter().map(of_system).collect())
    };
    let weights = &*data.weights();
    let means = of_all(&|values| weighted_mean(values.iter().copied().zip(weights.iter().copied())));
    let fold_means = of_all(&|values| mean_of_fold_means(values, weights, data.query_folds));
    let order = best_first(&means, terms.selection);
    let contenders: Vec<SystemValues> = order.iter().map(|&s| contender(data, terms, s)).collect();
    let options = ComparisonOptions { seed: terms.seed, ..ComparisonOptions::default() };
    let all_pairs = compare(&contenders, data.query_ids, weights, &options)?;
    let mut intervals = vec![None; data.values.len()];
    for (place, &system) in order.iter().enumerate() {
        intervals[system] = Some(interval(place, &contenders, weights, all_pairs.as_ref(), &options));
    }
    Ok(Standing { queries: data.query_ids.len(), means, fold_means, intervals, order, all_pairs })
}

/// The systems on all data sets together; each query counts once, by its weight.
///
/// A system that failed on one data set counts as failed. The mean of the folds' means is over all folds of all data
/// sets, and a query's id gets its data set's name before it: `ohsumed/12`.
pub fn pooled(data: &[DataValues<'_>], terms: &StandingTerms<'_>) -> Result<Standing> {
    data.iter().try_for_each(|one| check(one, terms))?;
    let values: Vec<_> = (0..terms.systems.len()).map(|system| joined(data, system, terms.metrics)).collect();
    let mut query_folds = Vec::new();
    let mut query_ids = Vec::new();
    for one in data {
        let first = query_folds.iter().max().map_or(0, |last: &usize| last + 1);
        query_folds.extend(one.query_folds.iter().map(|fold| first + fold));
        query_ids.extend(one.query_ids.iter().map(|id| format!("{}/{id}", one.name)));
    }
    let name = "all data sets";
    let weights: Vec<f64> = data.iter().flat_map(|one| one.weights().into_owned()).collect();
    let query_weights = data.iter().any(|one| one.query_weights.is_some()).then_some(&*weights);
    let (query_folds, query_ids) = (&query_folds, &query_ids);
    standing(&DataValues { name, values: &values, query_folds, query_ids, query_weights }, terms)
}

/// One system's values on the data sets, one after another; none where it failed on any.
fn joined(data: &[DataValues<'_>], system: usize, metrics: usize) -> Option<PerQuery> {
    let mut all = PerQuery::absent(metrics, 0);
    for one in data {
        all.append(one.values[system].as_ref()?);
    }
    Some(all)
}

fn check(data: &DataValues<'_>, terms: &StandingTerms<'_>) -> Result<()> {
    let queries = data.query_ids.len();
    let refuse = |what: String| Err(Error::data(format!("on `{}`, {what}", data.name)));
    if data.values.len() != terms.systems.len() || data.query_folds.len() != queries {
        let (values, names, folds) = (data.values.len(), terms.systems.len(), data.query_folds.len());
        return refuse(format!(
            "{values} of {names} systems have values, and {folds} of {queries} queries a fold"
        ));
    }
    if data.query_weights.is_some_and(|weights| weights.len() != queries) {
        return refuse(format!("there is not one weight for each of {queries} queries"));
    }
    if terms.selection >= terms.metrics {
        return refuse(format!(
            "the selection metric is number {}, but there are only {}",
            terms.selection, terms.metrics
        ));
    }
    for (values, name) in data.values.iter().zip(terms.systems) {
        let Some(values) = values else { continue };
        if values.metrics() != terms.metrics || values.iter().any(|v| v.len() != queries) {
            return refuse(format!("`{name}` does not have a value for every metric and query"));
        }
        if let Some(wrong) = values.iter().flatten().flatten().find(|v| !v.is_finite()) {
            return refuse(format!("a value of `{name}` is {wrong}"));
        }
    }
    Ok(())
}

fn mean_of_fold_means(values: &[Option<f64>], weights: &[f64], folds: &[usize]) -> Option<f64> {
    let last = folds.iter().copied().max()?;
    let weighted = || values.iter().copied().zip(weights.iter().copied()).zip(folds);
    let of_fold = |fold| weighted_mean(weighted().filter(|(_, f)| **f == fold).map(|(value, _)| value));
    weighted_mean((0..=last).map(|fold| (of_fold(fold), 1.0)))
}

/// The systems that have a mean, in descending order of it; equal ones in the order of the experiment.
fn best_first(means: &SystemMeans, selection: usize) -> Vec<usize> {
    let mut ranked: Vec<(usize, f64)> =
        means.metric(selection).enumerate().filter_map(|(s, mean)| Some((s, mean?))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked.into_iter().map(|(system, _)| system).collect()
}

fn contender(data: &DataValues<'_>, terms: &StandingTerms<'_>, system: usize) -> SystemValues {
    let values = data.values[system].as_ref().map(|values| values.metric(terms.selection).to_vec());
    SystemValues { name: terms.systems[system].clone(), values: values.unwrap_or_default() }
}

/// All pairs; none where there are fewer than two systems, or no query on which all of them have a value.
fn compare(
    contenders: &[SystemValues],
    query_ids: &[String],
    weights: &[f64],
    options: &ComparisonOptions,
) -> Result<Option<Comparison>> {
    let is_shared = |q: usize| weights[q] > 0.0 && contenders.iter().all(|c| c.values[q].is_some());
    if contenders.len() < 2 || !(0..query_ids.len()).any(is_shared) {
        return Ok(None);
    }
    Comparison::weighted(contenders, &query_ids.iter().collect(), weights, options).map(Some)
}

/// The confidence interval of a contender's mean, over all queries on which it has a value. The comparison has it
/// already, unless it left out queries that other systems skip.
fn interval(
    place: usize,
    contenders: &[SystemValues],
    weights: &[f64],
    compared: Option<&Comparison>,
    options: &ComparisonOptions,
) -> ConfidenceInterval {
    let present = contenders[place].values.iter().zip(weights).filter_map(|(value, &w)| Some(((*value)?, w)));
    let (own, weights): (Vec<f64>, Vec<f64>) = present.filter(|(_, weight)| *weight > 0.0).unzip();
    match compared {
        Some(comparison) if comparison.queries == own.len() => comparison.systems[place].interval,
        _ => Resampled::draw(&[own], &weights, options.resamples, options.seed).mean(0, options.confidence),
    }
}
