//! Summarises the results of finished jobs as findings.

use super::external;
use super::findings::{
    DataFindings, Expectation, Findings, SystemFindings, SystemInfo, SystemTimes, Times, WorstQuery,
};
use super::job::WORST;
use super::prepared::PreparedData;
use super::results::{DataResults, FinishedRuns, RunResults, SystemRun};
use super::run::Experiment;
use super::standing::{DataValues, StandingTerms, pooled, standing};
use super::values::PerQuery;
use crate::error::Result;
use crate::learners;

impl Experiment {
    /// Summarises the results of all jobs.
    pub(super) fn assemble(&self, results: &RunResults) -> Result<(Findings, Times)> {
        let spec = &self.plan.spec;
        let names = spec.systems();
        let terms = StandingTerms {
            systems: &names,
            metrics: self.plan.metrics.len(),
            selection: self.plan.selection,
            seed: spec.seed,
        };
        let (mut failures, mut times, mut data) = (Vec::new(), times_of(results), Vec::new());
        let mut all_values: Vec<Vec<Option<PerQuery>>> = Vec::new();
        for (prepared, results) in self.data.iter().zip(&results.data) {
            let (values, systems) = self.systems(prepared, results, &mut failures, &mut times)?;
            let (query_ids, query_folds) = test_queries(prepared);
            let query_weights = test_weights(prepared);
            let of_data = DataValues {
                name: &prepared.name,
                values: &values,
                query_folds: &query_folds,
                query_ids: &query_ids,
                query_weights: query_weights.as_deref(),
            };
            data.push(DataFindings {
                name: prepared.name.clone(),
                summary: prepared.summary.clone(),
                folds: prepared.folds(),
                standing: standing(&of_data, &terms)?,
                query_ids,
                query_folds,
                query_weights,
                systems,
            });
            all_values.push(values);
        }
        let of_data: Vec<DataValues<'_>> = data
            .iter()
            .zip(&all_values)
            .map(|(d, values)| DataValues {
                name: &d.name,
                values,
                query_folds: &d.query_folds,
                query_ids: &d.query_ids,
                query_weights: d.query_weights.as_deref(),
            })
            .collect();
        let pooled = if spec.can_pool() { Some(pooled(&of_data, &terms)?) } else { None };
        let best = pooled.as_ref().unwrap_or(&data[0].standing).order.first().copied().unwrap_or(0);
        let named = spec.baseline.as_ref().and_then(|b| names.iter().position(|n| n == b));
        let expectations = self.expectations(&data, &names);
        let findings = Findings {
            name: spec.name.clone(),
            title: if spec.title.is_empty() { spec.name.clone() } else { spec.title.clone() },
            about: spec.about.clone(),
            version: self.manifest().version.to_owned(),
            seed: spec.seed,
            repeats: spec.repeats,
            selection: self.plan.metrics[self.plan.selection].name(),
            metrics: self.plan.metrics.iter().map(|m| m.name()).collect(),
            shown: self.plan.shown,
            preset: spec.preset.clone(),
            conventions: self.plan.conventions.clone(),
            baseline: named.unwrap_or(best),
            systems: self.system_infos()?,
            data,
            pooled,
            expectations,
            failures,
        };
        Ok((findings, times))
    }

    fn system_infos(&self) -> Result<Vec<SystemInfo>> {
        let learners = self.plan.spec.learners.iter().map(|l| {
            let card = &learners::find(&l.name)?.card;
            let (name, title) = (l.label().to_owned(), card.title.to_owned());
            Ok(SystemInfo { name, learner: Some(l.name.clone()), title })
        });
        let externals = self.plan.spec.externals.iter().map(|e| {
            let title = if e.title.is_empty() { "external scores" } else { &e.title };
            Ok(SystemInfo { name: e.name.clone(), learner: None, title: title.to_owned() })
        });
        learners.chain(externals).collect()
    }

    /// Values and findings of all systems on one data set: learners, then external ones.
    fn systems(
        &self,
        prepared: &PreparedData,
        results: &DataResults,
        failures: &mut Vec<String>,
        times: &mut Times,
    ) -> Result<(Vec<Option<PerQuery>>, Vec<SystemFindings>)> {
        let (mut values, mut findings) = (Vec::new(), Vec::new());
        for (system, learner) in self.plan.spec.learners.iter().enumerate() {
            let failed = results.failure(system).map(|(fold, error)| {
                format!("{} on {}, fold {}: {error}", learner.label(), prepared.name, fold + 1)
            });
            let runs = results.finished(system);
            let of_settings = runs.iter().flat_map(|run| {
                let (label, fold) = (learner.label(), run.chosen.fold + 1);
                run.failures.iter().map(move |e| format!("{label} on {}, fold {fold}, {e}", prepared.name))
            });
            failures.extend(of_settings);
            times.systems.push(seconds_of(&runs, failed.is_some(), &prepared.name, learner.label()));
            values.push(failed.is_none().then(|| mean_values(&runs, self.plan.metrics.len())));
            failures.extend(failed);
            findings.push(self.system_findings(prepared, &runs, values[system].as_ref()));
        }
        for external in &self.plan.spec.externals {
            let found = external::values(external, prepared, &self.plan.metrics);
            let seconds = external::seconds(external, &prepared.name);
            let seconds = seconds.unwrap_or_else(|e| {
                failures.push(format!("the times of {} on {}: {e}", external.name, prepared.name));
                None
            });
            times.systems.push(SystemTimes {
                data: prepared.name.clone(),
                system: external.name.clone(),
                search_seconds: seconds.map_or(0.0, |s| s.0),
                train_seconds: seconds.map(|s| s.1),
                score_seconds: None,
            });
            let found =
                found.map_err(|e| failures.push(format!("{} on {}: {e}", external.name, prepared.name))).ok();
            findings.push(self.system_findings(prepared, &FinishedRuns::none(), found.as_ref()));
            values.push(found);
        }
        Ok((values, findings))
    }

    fn system_findings(
        &self,
        prepared: &PreparedData,
        runs: &FinishedRuns<'_>,
        values: Option<&PerQuery>,
    ) -> SystemFindings {
        let queries: usize = (0..prepared.folds()).map(|fold| prepared.test_queries(fold).count()).sum();
        SystemFindings {
            values: values.cloned().unwrap_or_else(|| PerQuery::absent(self.plan.metrics.len(), queries)),
            chosen: runs.iter().map(|r| r.chosen.clone()).collect(),
            trials: runs.iter().flat_map(|r| r.trials.clone()).collect(),
            curves: runs.iter().filter_map(|r| r.tested.curve.clone()).collect(),
            worst: worst(prepared, runs),
            cut_short: runs.iter().any(|r| r.cut_short),
        }
    }

    fn expectations(&self, data: &[DataFindings], names: &[String]) -> Vec<Expectation> {
        let one = |expected: &super::spec::ExpectSpec| {
            let of = expected.data.as_ref();
            let d = of.map_or(&data[0], |name| data.iter().find(|d| d.name == *name).unwrap_or(&data[0]));
            let system = names.iter().position(|n| *n == expected.system);
            let metric = self.plan.metrics.iter().position(|m| m.name() == expected.metric);
            let found = system.zip(metric).and_then(|(s, m)| d.standing.fold_means.get(s, m));
            Expectation {
                data: d.name.clone(),
                system: expected.system.clone(),
                metric: expected.metric.clone(),
                value: expected.value,
                within: expected.within,
                source: expected.source.clone(),
                found,
                met: found.is_some_and(|f| (f - expected.value).abs() <= expected.within),
            }
        };
        self.plan.spec.expectations.iter().map(one).collect()
    }
}

/// Ids of all test queries, fold after fold, and their folds.
fn test_queries(prepared: &PreparedData) -> (Vec<String>, Vec<usize>) {
    (0..prepared.folds())
        .flat_map(|fold| prepared.test_queries(fold).map(move |q| (q.id().to_owned(), fold)))
        .unzip()
}

/// The weights of the same queries, where the data has weights.
fn test_weights(prepared: &PreparedData) -> Option<Vec<f64>> {
    let queries = (0..prepared.folds()).flat_map(|fold| prepared.test_queries(fold));
    prepared.has_query_weights().then(|| queries.map(|query| query.weight()).collect())
}

/// The values of all folds, one fold after another, each the mean over repeats; none where any repeat skips the query.
fn mean_values(runs: &FinishedRuns<'_>, metrics: usize) -> PerQuery {
    let mean = |repeats: &[&SystemRun], metric: usize, query: usize| {
        let sum: Option<f64> = repeats.iter().map(|r| r.tested.values.get(metric, query)).sum();
        sum.map(|s| s / repeats.len() as f64)
    };
    let queries = |repeats: &[&SystemRun]| repeats.first().map_or(0, |r| r.tested.values.queries());
    let of_metric = |m: usize| {
        let of_fold = |repeats: &'_ Vec<&SystemRun>| {
            (0..queries(repeats)).map(|q| mean(repeats, m, q)).collect::<Vec<_>>()
        };
        runs.folds.iter().flat_map(of_fold).collect()
    };
    PerQuery::new((0..metrics).map(of_metric).collect())
}

/// The conditions under which times were measured; the jobs may come from several runs.
fn times_of(results: &RunResults) -> Times {
    let tested = || results.finished().map(|run| &run.tested);
    let threads = tested().map(|t| t.threads).max().unwrap_or_else(rayon::current_num_threads);
    let alike = tested().all(|t| t.alone && t.threads == threads);
    Times { systems: Vec::new(), threads, one_at_a_time: alike, peak_bytes: None }
}

fn seconds_of(runs: &FinishedRuns<'_>, failed: bool, data: &str, system: &str) -> SystemTimes {
    let sum = |seconds: fn(&SystemRun) -> f64| runs.iter().map(seconds).sum::<f64>();
    SystemTimes {
        data: data.to_owned(),
        system: system.to_owned(),
        search_seconds: sum(|r| r.search_seconds) + 0.0,
        train_seconds: (!failed).then(|| sum(|r| r.tested.train_seconds)),
        score_seconds: (!failed).then(|| sum(|r| r.tested.score_seconds)),
    }
}

/// The worst queries of all folds in the first repeat.
fn worst(prepared: &PreparedData, runs: &FinishedRuns<'_>) -> Vec<WorstQuery> {
    let (mut all, mut first_query) = (Vec::new(), 0);
    for (fold, repeats) in runs.folds.iter().enumerate() {
        for worst in repeats.iter().take(1).flat_map(|r| &r.tested.worst) {
            all.push(WorstQuery { query: first_query + worst.query, ..worst.clone() });
        }
        first_query += prepared.test_queries(fold).count();
    }
    all.sort_by(|a, b| a.value.total_cmp(&b.value).then(a.query.cmp(&b.query)));
    all.truncate(WORST);
    all
}
