//! Synthetic findings for tests of tables and exports.

use rankwise::experiment::PerQuery;
use rankwise::experiment::findings::*;
use rankwise::experiment::standing::{DataValues, StandingTerms, pooled, standing};
use rankwise::metrics::Conventions;

type Values = Option<PerQuery>;

/// Findings on `data`, given as `(name, queries, folds)`. Each system is worse than the one before by about 0.03 on
/// every query; one whose name starts with `broken` failed. Query 2 of each data set is skipped by `map`, and
/// `ndcg@1` is not among the metrics asked for.
pub(super) fn findings(systems: &[&str], data: &[(&str, usize, usize)]) -> Findings {
    let metrics: Vec<String> =
        ["map", "ndcg@10", "precision@10", "err@20", "ndcg@1"].map(String::from).into();
    let names: Vec<String> = systems.iter().map(|s| s.to_string()).collect();
    let terms = StandingTerms { systems: &names, metrics: metrics.len(), selection: 1, seed: 7 };
    let values: Vec<Vec<Values>> = data
        .iter()
        .map(|&(_, queries, _)| {
            (0..systems.len()).map(|s| values(systems[s], s, metrics.len(), queries)).collect()
        })
        .collect();
    let ids: Vec<Vec<String>> =
        data.iter().map(|&(_, n, _)| (1..=n).map(|q| format!("q{q}")).collect()).collect();
    let folds: Vec<Vec<usize>> =
        data.iter().map(|&(_, n, folds)| (0..n).map(|q| q * folds / n).collect()).collect();
    let parts: Vec<DataValues<'_>> = (0..data.len())
        .map(|d| DataValues {
            name: data[d].0,
            values: &values[d],
            query_folds: &folds[d],
            query_ids: &ids[d],
            query_weights: None,
        })
        .collect();
    let pooled = (data.len() > 1).then(|| pooled(&parts, &terms).unwrap());
    let data = parts.iter().zip(data).map(|(part, shape)| data_findings(part, shape.2, &terms)).collect();
    Findings {
        name: "sample".into(),
        title: "A sample".into(),
        about: String::new(),
        version: "0.1.0".into(),
        seed: 7,
        repeats: 1,
        selection: "ndcg@10".into(),
        shown: 4,
        preset: "letor".into(),
        conventions: Conventions::default(),
        baseline: 0,
        systems: names.iter().map(|name| info(name)).collect(),
        data,
        pooled,
        metrics,
        expectations: Vec::new(),
        failures: Vec::new(),
    }
}

/// Times of all systems: half a second for the first, three times as long for each next one.
pub(super) fn times(findings: &Findings) -> Times {
    let time = |data: &DataFindings, (number, system): (usize, &SystemInfo)| SystemTimes {
        data: data.name.clone(),
        system: system.name.clone(),
        search_seconds: 10.25,
        train_seconds: Some(0.5 * 3f64.powi(number as i32)),
        score_seconds: None,
    };
    let of_data = |data| findings.systems.iter().enumerate().map(move |s| time(data, s)).collect::<Vec<_>>();
    let systems = findings.data.iter().flat_map(of_data).collect();
    Times { systems, threads: 2, one_at_a_time: true, peak_bytes: None }
}

fn values(name: &str, system: usize, metrics: usize, queries: usize) -> Values {
    // Multiples of an irrational number fill the unit interval evenly.
    let spread = |k: usize, step: f64| (k as f64 * step).fract();
    let value = |metric: usize, query: usize| {
        let base = spread(1 + metric * 1009 + query, 0.618_033_988_75);
        let noise = spread(1 + system * 7919 + metric * 1009 + query, 0.754_877_666_25);
        (metric != 0 || query != 1).then_some(0.4 + 0.4 * base - 0.03 * system as f64 + 0.02 * noise)
    };
    let of_metric = |metric| (0..queries).map(|query| value(metric, query)).collect();
    (!name.starts_with("broken")).then(|| PerQuery::new((0..metrics).map(of_metric).collect()))
}

fn info(name: &str) -> SystemInfo {
    SystemInfo { name: name.into(), learner: Some(name.into()), title: "Learner".into() }
}

fn data_findings(part: &DataValues<'_>, folds: usize, terms: &StandingTerms<'_>) -> DataFindings {
    let none = || PerQuery::absent(terms.metrics, part.query_ids.len());
    let system = |values: &Values| SystemFindings {
        values: values.clone().unwrap_or_else(none),
        chosen: Vec::new(),
        trials: Vec::new(),
        curves: Vec::new(),
        worst: Vec::new(),
        cut_short: false,
    };
    DataFindings {
        name: part.name.into(),
        summary: DataSummary {
            binned: false,
            queries: part.query_ids.len(),
            documents: 0,
            features: 0,
            grades: Vec::new(),
            documents_per_query: (0, 0.0, 0),
            queries_without_relevant: 0,
            preparation: Vec::new(),
            notes: Vec::new(),
        },
        folds,
        query_ids: part.query_ids.to_vec(),
        query_folds: part.query_folds.to_vec(),
        query_weights: None,
        standing: standing(part, terms).unwrap(),
        systems: part.values.iter().map(system).collect(),
    }
}
