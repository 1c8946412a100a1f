//! From finished jobs to findings.

use super::findings::{
    DataFindings, Expectation, Findings, SystemFindings, SystemInfo, SystemTimes, Times, WorstQuery,
};
use super::job::WORST;
use super::run::{Experiment, Raw, SystemRun};
use super::standing::{Part, Terms, pooled, standing};
use super::{external, material::Material};
use crate::error::Result;
use crate::learners;

/// `[metric][query]` of one system on one data set; none where it failed.
type Values = Option<Vec<Vec<Option<f64>>>>;

impl Experiment {
    /// Sums up what the jobs left.
    pub(super) fn assemble(&self, raw: &Raw) -> Result<(Findings, Times)> {
        let spec = &self.spec;
        let names = spec.systems();
        let terms = Terms {
            systems: &names,
            metrics: self.metrics.len(),
            selection: self.selection,
            seed: spec.seed,
        };
        let (mut failures, mut times, mut data) = (Vec::new(), times_of(raw), Vec::new());
        let mut all_values: Vec<Vec<Values>> = Vec::new();
        for (material, folds) in self.material.iter().zip(raw) {
            let (values, systems) = self.systems(material, folds, &mut failures, &mut times)?;
            let (query_ids, query_folds) = test_queries(material);
            let part = Part {
                name: &material.name,
                values: &values,
                query_folds: &query_folds,
                query_ids: &query_ids,
            };
            data.push(DataFindings {
                name: material.name.clone(),
                summary: material.summary.clone(),
                folds: material.folds(),
                standing: standing(&part, &terms)?,
                query_ids,
                query_folds,
                systems,
            });
            all_values.push(values);
        }
        let parts: Vec<Part<'_>> = data
            .iter()
            .zip(&all_values)
            .map(|(d, values)| Part {
                name: &d.name,
                values,
                query_folds: &d.query_folds,
                query_ids: &d.query_ids,
            })
            .collect();
        let pooled = if spec.can_pool() { Some(pooled(&parts, &terms)?) } else { None };
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
            selection: self.metrics[self.selection].name(),
            metrics: self.metrics.iter().map(|m| m.name()).collect(),
            shown: self.shown,
            preset: spec.preset.clone(),
            conventions: self.conventions.clone(),
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
        let learners = self.spec.learners.iter().map(|l| {
            let card = &learners::find(&l.name)?.card;
            let (name, title) = (l.label().to_owned(), card.title.to_owned());
            Ok(SystemInfo { name, learner: Some(l.name.clone()), title })
        });
        let externals = self.spec.externals.iter().map(|e| {
            let title = if e.title.is_empty() { "scores from elsewhere" } else { &e.title };
            Ok(SystemInfo { name: e.name.clone(), learner: None, title: title.to_owned() })
        });
        learners.chain(externals).collect()
    }

    /// Values and findings of all systems on one data set: learners, then external ones.
    fn systems(
        &self,
        material: &Material,
        folds: &[Vec<Vec<Result<SystemRun>>>],
        failures: &mut Vec<String>,
        times: &mut Times,
    ) -> Result<(Vec<Values>, Vec<SystemFindings>)> {
        let (mut values, mut findings) = (Vec::new(), Vec::new());
        for (system, learner) in self.spec.learners.iter().enumerate() {
            let runs: Vec<&[Result<SystemRun>]> = folds.iter().map(|fold| &fold[system][..]).collect();
            let failed = runs.iter().enumerate().find_map(|(fold, repeats)| {
                let error = repeats.iter().find_map(|r| r.as_ref().err())?;
                Some(format!("{} on {}, fold {}: {error}", learner.label(), material.name, fold + 1))
            });
            let good: Vec<Vec<&SystemRun>> =
                runs.iter().map(|repeats| repeats.iter().filter_map(|r| r.as_ref().ok()).collect()).collect();
            let of_settings = good.iter().flatten().flat_map(|run| {
                let (label, fold) = (learner.label(), run.chosen.fold + 1);
                run.failures.iter().map(move |e| format!("{label} on {}, fold {fold}, {e}", material.name))
            });
            failures.extend(of_settings);
            times.systems.push(seconds_of(&good, failed.is_some(), &material.name, learner.label()));
            values.push(failed.is_none().then(|| mean_values(&good, self.metrics.len())));
            failures.extend(failed);
            findings.push(self.system_findings(material, &good, values[system].as_ref()));
        }
        for external in &self.spec.externals {
            let found = external::values(external, material, &self.metrics);
            let seconds = external::seconds(external, &material.name);
            let seconds = seconds.unwrap_or_else(|e| {
                failures.push(format!("the times of {} on {}: {e}", external.name, material.name));
                None
            });
            times.systems.push(SystemTimes {
                data: material.name.clone(),
                system: external.name.clone(),
                search_seconds: seconds.map_or(0.0, |s| s.0),
                train_seconds: seconds.map(|s| s.1),
                score_seconds: None,
            });
            let found =
                found.map_err(|e| failures.push(format!("{} on {}: {e}", external.name, material.name))).ok();
            findings.push(self.system_findings(material, &[], found.as_ref()));
            values.push(found);
        }
        Ok((values, findings))
    }

    fn system_findings(
        &self,
        material: &Material,
        folds: &[Vec<&SystemRun>],
        values: Option<&Vec<Vec<Option<f64>>>>,
    ) -> SystemFindings {
        let runs = || folds.iter().flatten();
        let queries: usize = (0..material.folds()).map(|f| material.test(f).query_count()).sum();
        SystemFindings {
            values: values.cloned().unwrap_or_else(|| vec![vec![None; queries]; self.metrics.len()]),
            chosen: runs().map(|r| r.chosen.clone()).collect(),
            trials: runs().flat_map(|r| r.trials.clone()).collect(),
            curves: runs().filter_map(|r| r.tested.curve.clone()).collect(),
            worst: worst(material, folds),
            cut_short: runs().any(|r| r.cut_short),
        }
    }

    fn expectations(&self, data: &[DataFindings], names: &[String]) -> Vec<Expectation> {
        let one = |expected: &super::spec::ExpectSpec| {
            let of = expected.data.as_ref();
            let d = of.map_or(&data[0], |name| data.iter().find(|d| d.name == *name).unwrap_or(&data[0]));
            let system = names.iter().position(|n| *n == expected.system);
            let metric = self.metrics.iter().position(|m| m.name() == expected.metric);
            let found = system.zip(metric).and_then(|(s, m)| d.standing.fold_means[s][m]);
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
        self.spec.expectations.iter().map(one).collect()
    }
}

/// Ids of all test queries, fold after fold, and their folds.
fn test_queries(material: &Material) -> (Vec<String>, Vec<usize>) {
    (0..material.folds())
        .flat_map(|fold| material.test(fold).queries().map(move |q| (q.id().to_owned(), fold)))
        .unzip()
}

/// `[metric][query]`, fold after fold, each the mean over repeats; none where any repeat skips the query.
fn mean_values(folds: &[Vec<&SystemRun>], metrics: usize) -> Vec<Vec<Option<f64>>> {
    let mean = |runs: &[&SystemRun], metric: usize, query: usize| {
        let sum: Option<f64> = runs.iter().map(|r| r.tested.values[metric][query]).sum();
        sum.map(|s| s / runs.len() as f64)
    };
    let queries = |runs: &[&SystemRun]| runs.first().map_or(0, |r| r.tested.values[0].len());
    (0..metrics)
        .map(|m| folds.iter().flat_map(|runs| (0..queries(runs)).map(move |q| mean(runs, m, q))).collect())
        .collect()
}

/// What the times of the jobs are worth: they may come from several runs.
fn times_of(raw: &Raw) -> Times {
    let tested = || raw.iter().flatten().flatten().flatten().flatten().map(|run| &run.tested);
    let threads = tested().map(|t| t.threads).max().unwrap_or_else(rayon::current_num_threads);
    let alike = tested().all(|t| t.alone && t.threads == threads);
    Times { systems: Vec::new(), threads, one_at_a_time: alike, peak_bytes: None }
}

fn seconds_of(folds: &[Vec<&SystemRun>], failed: bool, data: &str, system: &str) -> SystemTimes {
    let sum = |part: fn(&SystemRun) -> f64| folds.iter().flatten().map(|r| part(r)).sum::<f64>();
    SystemTimes {
        data: data.to_owned(),
        system: system.to_owned(),
        search_seconds: sum(|r| r.search_seconds) + 0.0,
        train_seconds: (!failed).then(|| sum(|r| r.tested.train_seconds)),
        score_seconds: (!failed).then(|| sum(|r| r.tested.score_seconds)),
    }
}

/// The worst queries of all folds in the first repeat.
fn worst(material: &Material, folds: &[Vec<&SystemRun>]) -> Vec<WorstQuery> {
    let (mut all, mut first_query) = (Vec::new(), 0);
    for (fold, runs) in folds.iter().enumerate() {
        for worst in runs.iter().take(1).flat_map(|r| &r.tested.worst) {
            all.push(WorstQuery {
                query: first_query + worst.query,
                value: worst.value,
                top: worst.top.clone(),
                best_grades: worst.best_grades.clone(),
            });
        }
        first_query += material.test(fold).query_count();
    }
    all.sort_by(|a, b| a.value.total_cmp(&b.value).then(a.query.cmp(&b.query)));
    all.truncate(WORST);
    all
}
