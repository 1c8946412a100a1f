//! Comparing systems by one metric on the same queries.

use crate::data::Texts;
use crate::error::{Error, Result};
use crate::metrics::{Evaluation, differ, weighted_mean};
use crate::significance::{
    ConfidenceInterval, Resampled, TIE, holm, is_exact, mean_and_deviation, paired_t_p, permutation_p,
};
use serde::{Deserialize, Serialize};

/// One system: its name and the value of the metric on every query.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemValues {
    /// Its name.
    pub name: String,
    /// One value per query; `None` where the metric skips the query.
    pub values: Vec<Option<f64>>,
}

/// How to compare.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparisonOptions {
    /// Compare every other system with this one; without it, all pairs are compared.
    pub baseline: Option<usize>,
    /// The seed of random signs and resamples.
    pub seed: u64,
    /// Random sign assignments where there are too many to enumerate; 1 to 10⁹.
    pub permutations: u64,
    /// Bootstrap resamples; 1 to 10⁶.
    pub resamples: usize,
    /// The level of the confidence intervals; between 0 and 1.
    pub confidence: f64,
}

impl Default for ComparisonOptions {
    fn default() -> Self {
        ComparisonOptions {
            baseline: None,
            seed: 1,
            permutations: 100_000,
            resamples: 10_000,
            confidence: 0.95,
        }
    }
}

/// Systems compared by one metric.
///
/// ```
/// use rankwise::experiment::{Comparison, ComparisonOptions, SystemValues};
/// let system = |name: &str, values: [f64; 4]| SystemValues { name: name.into(), values: values.map(Some).into() };
/// let systems = [system("old", [0.2, 0.5, 0.1, 0.4]), system("new", [0.3, 0.7, 0.1, 0.6])];
/// let queries = ["q1", "q2", "q3", "q4"].into_iter().collect();
/// let comparison = Comparison::new(&systems, &queries, &ComparisonOptions::default())?;
/// let pair = &comparison.pairs[0];
/// assert_eq!((pair.wins, pair.ties, pair.losses), (3, 1, 0));
/// assert_eq!(pair.p_permutation, 0.25);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Queries compared.
    pub queries: usize,
    /// Ids of queries left out because the metric skips them for at least one system, or because their weight is 0.
    pub skipped: Vec<String>,
    /// Whether queries have different weights. Means, tests and confidence intervals are then weighted; wins, ties and
    /// losses count queries.
    #[serde(default)]
    pub weighted: bool,
    /// The level of the confidence intervals.
    pub confidence: f64,
    /// Random sign assignments for the pairs whose test is not exact.
    pub permutations: u64,
    /// Bootstrap resamples for the confidence intervals.
    pub resamples: usize,
    /// The seed of random signs and resamples.
    pub seed: u64,
    /// The mean of each system, in the order given.
    pub systems: Vec<SystemSummary>,
    /// Each pair compared: all others against the baseline, or every later system against every earlier one.
    pub pairs: Vec<PairComparison>,
}

/// The mean of one system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemSummary {
    /// Its name.
    pub name: String,
    /// Its mean over the queries compared, weighted where queries have weights.
    pub mean: f64,
    /// Bootstrap confidence interval of the mean.
    pub interval: ConfidenceInterval,
}

/// One system against another; positive differences favour `system`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairComparison {
    /// Number of the system, from 0.
    pub system: usize,
    /// Number of the system it is compared with.
    pub against: usize,
    /// Difference of the means.
    pub difference: f64,
    /// Bootstrap confidence interval of the difference, from paired resamples.
    pub interval: ConfidenceInterval,
    /// Change of the mean in percent of the other system's mean; none where that is 0.
    pub relative_change: Option<f64>,
    /// Cohen's d_z: the mean of the differences, weighted, divided by their standard deviation; none where the deviation is 0 and
    /// the mean is not.
    pub effect_size: Option<f64>,
    /// Queries on which `system` is better.
    pub wins: usize,
    /// Queries on which both are equal.
    pub ties: usize,
    /// Queries on which `system` is worse.
    pub losses: usize,
    /// Two-sided p of the paired randomisation test.
    pub p_permutation: f64,
    /// Whether that p is exact, from all sign assignments rather than a sample.
    pub exact: bool,
    /// The same with Holm's correction for all pairs here.
    pub p_permutation_holm: f64,
    /// Two-sided p of the paired t-test.
    pub p_t: f64,
    /// The same with Holm's correction for all pairs here.
    pub p_t_holm: f64,
}

impl Comparison {
    /// Compares systems by each metric that they were evaluated by, on the same queries.
    pub fn by_metric(
        names: &[String],
        evaluations: &[Evaluation],
        options: &ComparisonOptions,
    ) -> Result<Vec<Comparison>> {
        check_options(options, evaluations.len())?;
        let first = &evaluations[0];
        let query_ids: Texts = first.query_ids.iter().collect();
        let of_metric = |metric: usize| {
            let system = |(name, evaluation): (&String, &Evaluation)| SystemValues {
                name: name.clone(),
                values: evaluation.values[metric].clone(),
            };
            let systems: Vec<SystemValues> = names.iter().zip(evaluations).map(system).collect();
            Comparison::weighted(&systems, &query_ids, &first.weights, options)
        };
        (0..first.metrics.len()).map(of_metric).collect()
    }

    /// Compares at least two systems on the queries on which all of them have a value.
    pub fn new(systems: &[SystemValues], query_ids: &Texts, options: &ComparisonOptions) -> Result<Self> {
        Comparison::weighted(systems, query_ids, &vec![1.0; query_ids.len()], options)
    }

    /// The same for queries with weights, finite and not negative.
    pub fn weighted(
        systems: &[SystemValues],
        query_ids: &Texts,
        weights: &[f64],
        options: &ComparisonOptions,
    ) -> Result<Self> {
        check_options(options, systems.len())?;
        check_values(systems, query_ids)?;
        check_weights(weights, query_ids)?;
        let (kept, left_out): (Vec<usize>, Vec<usize>) = (0..query_ids.len())
            .partition(|&q| weights[q] > 0.0 && systems.iter().all(|s| s.values[q].is_some()));
        if kept.is_empty() {
            return Err(Error::data("there is no query on which every system has a value"));
        }
        let values = PairedValues::new(systems, weights, &kept, options);
        let summary = |(i, system): (usize, &SystemValues)| SystemSummary {
            name: system.name.clone(),
            mean: values.mean(i),
            interval: values.resampled.mean(i, options.confidence),
        };
        let mut pairs: Vec<PairComparison> = pairs_of(systems.len(), options.baseline)
            .into_iter()
            .map(|(a, b)| PairComparison::new(a, b, &values, options))
            .collect();
        adjust(&mut pairs);
        Ok(Comparison {
            queries: kept.len(),
            skipped: left_out.iter().map(|&q| query_ids.get(q).to_owned()).collect(),
            weighted: differ(&values.weights),
            confidence: options.confidence,
            permutations: options.permutations,
            resamples: options.resamples,
            seed: options.seed,
            systems: systems.iter().enumerate().map(summary).collect(),
            pairs,
        })
    }
}

/// The values of all systems on the queries compared.
struct PairedValues {
    /// For each system, one value per query.
    values: Vec<Vec<f64>>,
    /// The weight of each query; their mean is 1.
    weights: Vec<f64>,
    resampled: Resampled,
}

impl PairedValues {
    fn new(systems: &[SystemValues], weights: &[f64], kept: &[usize], options: &ComparisonOptions) -> Self {
        let of_system = |s: &SystemValues| kept.iter().filter_map(|&q| s.values[q]).collect();
        let values: Vec<Vec<f64>> = systems.iter().map(of_system).collect();
        let mean = kept.iter().map(|&q| weights[q]).sum::<f64>() / kept.len() as f64;
        let weights: Vec<f64> = kept.iter().map(|&q| weights[q] / mean).collect();
        let resampled = Resampled::draw(&values, &weights, options.resamples, options.seed);
        PairedValues { values, weights, resampled }
    }

    fn mean(&self, system: usize) -> f64 {
        let values = self.values[system].iter().map(|&value| Some(value));
        weighted_mean(values.zip(self.weights.iter().copied())).unwrap_or(0.0)
    }

    /// The difference of two systems on every query; equal values differ by exactly 0.
    fn differences(&self, a: usize, b: usize) -> Vec<f64> {
        let exact_zero = |d: f64| if d.abs() <= TIE { 0.0 } else { d };
        self.values[a].iter().zip(&self.values[b]).map(|(a, b)| exact_zero(a - b)).collect()
    }
}

impl PairComparison {
    fn new(a: usize, b: usize, values: &PairedValues, options: &ComparisonOptions) -> Self {
        let unweighted = values.differences(a, b);
        let differences: Vec<f64> = unweighted.iter().zip(&values.weights).map(|(d, w)| d * w).collect();
        let (mean_a, mean_b) = (values.mean(a), values.mean(b));
        let count = |wanted: fn(f64) -> bool| unweighted.iter().filter(|d| wanted(**d)).count();
        PairComparison {
            system: a,
            against: b,
            difference: mean_a - mean_b,
            interval: values.resampled.difference(a, b, options.confidence),
            relative_change: (mean_b != 0.0).then(|| 100.0 * (mean_a - mean_b) / mean_b.abs()),
            effect_size: effect_size(&differences),
            wins: count(|d| d > 0.0),
            ties: count(|d| d == 0.0),
            losses: count(|d| d < 0.0),
            p_permutation: permutation_p(&differences, options.permutations, options.seed),
            exact: is_exact(&differences),
            p_permutation_holm: 1.0,
            p_t: paired_t_p(&differences),
            p_t_holm: 1.0,
        }
    }
}

/// `(system, against)` of every pair to compare.
fn pairs_of(systems: usize, baseline: Option<usize>) -> Vec<(usize, usize)> {
    match baseline {
        Some(b) => (0..systems).filter(|&a| a != b).map(|a| (a, b)).collect(),
        None => (0..systems).flat_map(|b| (b + 1..systems).map(move |a| (a, b))).collect(),
    }
}

fn effect_size(differences: &[f64]) -> Option<f64> {
    match mean_and_deviation(differences) {
        (0.0, _) => Some(0.0),
        (_, deviation) if deviation <= TIE => None,
        (mean, deviation) => Some(mean / deviation),
    }
}

/// Fills in the p-values with Holm's correction for these pairs.
fn adjust(pairs: &mut [PairComparison]) {
    let by_permutation = holm(&pairs.iter().map(|p| p.p_permutation).collect::<Vec<_>>());
    let by_t = holm(&pairs.iter().map(|p| p.p_t).collect::<Vec<_>>());
    for ((pair, permutation), t) in pairs.iter_mut().zip(by_permutation).zip(by_t) {
        pair.p_permutation_holm = permutation;
        pair.p_t_holm = t;
    }
}

fn check_options(options: &ComparisonOptions, systems: usize) -> Result<()> {
    if systems < 2 {
        return Err(Error::parameter(format!("comparing needs at least 2 systems, and there is {systems}")));
    }
    if let Some(b) = options.baseline.filter(|&b| b >= systems) {
        return Err(Error::parameter(format!(
            "`baseline` is {b}, but the systems count from 0 to {}",
            systems - 1
        )));
    }
    if !(1..=1_000_000_000).contains(&options.permutations) {
        return Err(out_of_range("permutations", options.permutations, "1 to 1000000000"));
    }
    if !(1..=1_000_000).contains(&options.resamples) {
        return Err(out_of_range("resamples", options.resamples, "1 to 1000000"));
    }
    if !(options.confidence > 0.0 && options.confidence < 1.0) {
        return Err(out_of_range("confidence", options.confidence, "between 0 and 1"));
    }
    Ok(())
}

fn out_of_range(name: &str, value: impl std::fmt::Display, range: &str) -> Error {
    Error::parameter(format!("`{name}` is {value}; it must be {range}"))
}

fn check_weights(weights: &[f64], query_ids: &Texts) -> Result<()> {
    if weights.len() != query_ids.len() {
        let (found, needed) = (weights.len(), query_ids.len());
        return Err(Error::data(format!("there are {found} query weights for {needed} queries")));
    }
    match weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
        Some(q) => Err(Error::data(format!(
            "the weight of query `{}` is {}; weights are finite and not negative",
            query_ids.get(q),
            weights[q]
        ))),
        None => Ok(()),
    }
}

fn check_values(systems: &[SystemValues], query_ids: &Texts) -> Result<()> {
    for system in systems {
        if system.values.len() != query_ids.len() {
            let (found, needed) = (system.values.len(), query_ids.len());
            return Err(Error::data(format!("`{}` has {found} values for {needed} queries", system.name)));
        }
        let wrong = |v: &Option<f64>| v.is_some_and(|v| !v.is_finite());
        if let Some(q) = system.values.iter().position(wrong) {
            let (id, value) = (query_ids.get(q), system.values[q].unwrap_or_default());
            return Err(Error::data(format!("the value of `{}` on query `{id}` is {value}", system.name)));
        }
    }
    Ok(())
}
