//! Systems beside each other on the same queries: means, intervals, order and tests.
//!
//! With `v_q` the values of one system and `F` folds of the queries:
//!
//! ```text
//! mean over queries       1/Q Σ_q v_q                       every query counts once: the microaverage
//! mean of folds' means    1/F Σ_f 1/|f| Σ_{q ∈ f} v_q       what papers print; differs where folds are unequal
//! ```
//!
//! Queries that a measure skips count in neither, and nor does a fold of which it skips every query.

use super::compare::{Comparison, Options, Pair, System, adjust};
use super::findings::Standing;
use super::significance::{Interval, Resampled, mean_and_deviation};
use crate::error::{Error, Result};

/// What the systems did on the queries of one data set.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The data set's name.
    pub name: &'a str,
    /// `values[system][metric][query]`: none for a system that failed, and where a measure skips a query.
    pub values: &'a [Option<Vec<Vec<Option<f64>>>>],
    /// The fold of each query, from 0.
    pub query_folds: &'a [usize],
    /// The id of each query.
    pub query_ids: &'a [String],
}

/// What the values are of, and by which of them systems are ordered and compared.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// The systems' names.
    pub systems: &'a [String],
    /// How many measures there are.
    pub metrics: usize,
    /// The number of the selection measure among them.
    pub selection: usize,
    /// The seed of random signs and resamples.
    pub seed: u64,
}

impl Standing {
    /// The comparison of a system, by its number in the experiment, with the best; none for the best itself, and for
    /// one that failed.
    pub fn against_best_of(&self, system: usize) -> Option<&Pair> {
        let pairs = self.against_best.iter().flat_map(|comparison| &comparison.pairs);
        pairs.into_iter().find(|pair| self.order[pair.system] == system)
    }
}

/// The systems on one data set.
pub fn standing(part: &Part<'_>, terms: &Terms<'_>) -> Result<Standing> {
    check(part, terms)?;
    let of_all = |average: &dyn Fn(&[Option<f64>]) -> Option<f64>| -> Vec<Vec<Option<f64>>> {
        let of_system = |values: &Option<Vec<Vec<Option<f64>>>>| match values {
            Some(values) => values.iter().map(|v| average(v)).collect(),
            None => vec![None; terms.metrics],
        };
        part.values.iter().map(of_system).collect()
    };
    let means = of_all(&|values| mean(values.iter().copied()));
    let fold_means = of_all(&|values| mean_of_fold_means(values, part.query_folds));
    let order = best_first(&means, terms.selection);
    let contenders: Vec<System> = order.iter().map(|&s| contender(part, terms, s)).collect();
    let options = Options { seed: terms.seed, ..Options::default() };
    let all_pairs = compare(&contenders, part.query_ids, &options)?;
    let mut intervals = vec![None; part.values.len()];
    for (place, &system) in order.iter().enumerate() {
        intervals[system] = Some(interval(place, &contenders, all_pairs.as_ref(), &options));
    }
    let against_best = all_pairs.as_ref().map(against_first);
    Ok(Standing {
        queries: part.query_ids.len(),
        means,
        fold_means,
        intervals,
        order,
        against_best,
        all_pairs,
    })
}

/// The systems on all data sets together, each query counting once.
///
/// A system that failed on one data set counts as failed. The mean of the folds' means is over all folds of all data
/// sets, and a query's id gets its data set's name before it: `ohsumed/12`.
pub fn pooled(parts: &[Part<'_>], terms: &Terms<'_>) -> Result<Standing> {
    parts.iter().try_for_each(|part| check(part, terms))?;
    let values: Vec<_> =
        (0..terms.systems.len()).map(|system| joined(parts, system, terms.metrics)).collect();
    let mut query_folds = Vec::new();
    let mut query_ids = Vec::new();
    for part in parts {
        let first = query_folds.iter().max().map_or(0, |last: &usize| last + 1);
        query_folds.extend(part.query_folds.iter().map(|fold| first + fold));
        query_ids.extend(part.query_ids.iter().map(|id| format!("{}/{id}", part.name)));
    }
    let name = "all data sets";
    standing(&Part { name, values: &values, query_folds: &query_folds, query_ids: &query_ids }, terms)
}

/// One system's values on the data sets, one after another; none where it failed on any.
fn joined(parts: &[Part<'_>], system: usize, metrics: usize) -> Option<Vec<Vec<Option<f64>>>> {
    let of_parts: Vec<_> = parts.iter().map(|part| part.values[system].as_ref()).collect::<Option<_>>()?;
    let of_metric = |m: usize| of_parts.iter().flat_map(|values| values[m].iter().copied()).collect();
    Some((0..metrics).map(of_metric).collect())
}

fn check(part: &Part<'_>, terms: &Terms<'_>) -> Result<()> {
    let queries = part.query_ids.len();
    let refuse = |what: String| Err(Error::data(format!("on `{}`, {what}", part.name)));
    if part.values.len() != terms.systems.len() || part.query_folds.len() != queries {
        let (values, names, folds) = (part.values.len(), terms.systems.len(), part.query_folds.len());
        return refuse(format!(
            "{values} of {names} systems have values, and {folds} of {queries} queries a fold"
        ));
    }
    if terms.selection >= terms.metrics {
        return refuse(format!("measure {} selects, but there are {}", terms.selection, terms.metrics));
    }
    for (values, name) in part.values.iter().zip(terms.systems) {
        let Some(values) = values else { continue };
        if values.len() != terms.metrics || values.iter().any(|v| v.len() != queries) {
            return refuse(format!("`{name}` does not have a value of every measure for every query"));
        }
        if let Some(wrong) = values.iter().flatten().flatten().find(|v| !v.is_finite()) {
            return refuse(format!("a value of `{name}` is {wrong}"));
        }
    }
    Ok(())
}

/// The mean of the values that are there.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let there: Vec<f64> = values.flatten().collect();
    (!there.is_empty()).then(|| mean_and_deviation(&there).0)
}

fn mean_of_fold_means(values: &[Option<f64>], folds: &[usize]) -> Option<f64> {
    let last = folds.iter().copied().max()?;
    let of_fold = |fold| mean(values.iter().zip(folds).filter(|(_, f)| **f == fold).map(|(v, _)| *v));
    mean((0..=last).map(of_fold))
}

/// The systems that have a mean, in descending order of it; equal ones in the order of the experiment.
fn best_first(means: &[Vec<Option<f64>>], selection: usize) -> Vec<usize> {
    let mut ranked: Vec<(usize, f64)> =
        means.iter().enumerate().filter_map(|(s, means)| Some((s, means[selection]?))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked.into_iter().map(|(system, _)| system).collect()
}

fn contender(part: &Part<'_>, terms: &Terms<'_>, system: usize) -> System {
    let values = part.values[system].as_ref().map(|values| values[terms.selection].clone());
    System { name: terms.systems[system].clone(), values: values.unwrap_or_default() }
}

/// All pairs; none where there are fewer than two systems, or no query on which all of them have a value.
fn compare(contenders: &[System], query_ids: &[String], options: &Options) -> Result<Option<Comparison>> {
    let is_shared = |q: usize| contenders.iter().all(|c| c.values[q].is_some());
    if contenders.len() < 2 || !(0..query_ids.len()).any(is_shared) {
        return Ok(None);
    }
    Comparison::new(contenders, &query_ids.iter().collect(), options).map(Some)
}

/// Of all pairs, those with the first system, adjusted for their number alone: what [`Comparison::new`] gives with it
/// as the baseline, without testing anything twice.
fn against_first(all: &Comparison) -> Comparison {
    let mut pairs: Vec<Pair> = all.pairs.iter().filter(|pair| pair.against == 0).cloned().collect();
    adjust(&mut pairs);
    Comparison { pairs, ..all.clone() }
}

/// The interval of a contender's mean, over all queries on which it has a value itself: that of the comparison, unless
/// queries were left out there on account of other systems.
fn interval(
    place: usize,
    contenders: &[System],
    compared: Option<&Comparison>,
    options: &Options,
) -> Interval {
    let own: Vec<f64> = contenders[place].values.iter().copied().flatten().collect();
    match compared {
        Some(comparison) if comparison.queries == own.len() => comparison.systems[place].interval,
        _ => Resampled::draw(&[own], options.resamples, options.seed).mean(0, options.confidence),
    }
}
