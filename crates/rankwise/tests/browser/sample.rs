//! Synthetic findings, drawn from a seed, to view and test the report. They are no results.

use rand::RngExt;
use rankwise::data::Texts;
use rankwise::experiment::findings::{
    Chosen, Curve, DataFindings, DataSummary, Expectation, Findings, RankedDocument, Standing,
    SystemFindings, SystemInfo, SystemTimes, Times, Trial, WorstQuery,
};
use rankwise::experiment::{Comparison, ComparisonOptions, PerQuery, SystemMeans, SystemValues};
use rankwise::metrics::Conventions;
use rankwise::rng::{self, Random};

/// How large and how odd the sample is to be.
#[derive(Clone)]
pub(crate) struct Sample {
    /// Names of the data sets with their number of queries.
    pub data: Vec<(String, usize)>,
    /// Names of the systems.
    pub systems: Vec<String>,
    /// Numbers of the systems that failed.
    pub failed: Vec<usize>,
    /// Numbers of the systems that come from elsewhere.
    pub external: Vec<usize>,
    /// Whether parameters were searched for and training was watched.
    pub searched: bool,
    /// Put after every name that is not a system's or a data set's.
    pub suffix: String,
}

const FOLDS: usize = 5;
const METRICS: [&str; 12] = [
    "ndcg@10", "map", "p@5", "ndcg@1", "ndcg@2", "ndcg@3", "ndcg@4", "ndcg@5", "ndcg@6", "ndcg@7", "ndcg@8",
    "ndcg@9",
];
const SHOWN: usize = 3;

impl Sample {
    /// Two data sets and six systems, of which one comes from elsewhere and one failed.
    pub(crate) fn usual() -> Self {
        let systems = ["lambdamart", "svm-map", "list-net", "rank-svm", "bm25", "rank-boost"];
        Sample {
            data: vec![("ohsumed".into(), 106), ("td2004".into(), 75)],
            systems: systems.map(String::from).into(),
            failed: vec![5],
            external: vec![4],
            searched: true,
            suffix: String::new(),
        }
    }

    /// One system, no search, and names that would break a careless page.
    pub(crate) fn hostile() -> Self {
        let name = "</script><script>alert(1)</script><!-- & \"quoted\" 'single' \u{2028}";
        Sample {
            data: vec![(format!("{name} data"), 12)],
            systems: vec![format!("{name} {}", "averylongname".repeat(12))],
            failed: vec![],
            external: vec![],
            searched: false,
            suffix: name.to_owned(),
        }
    }

    /// Forty systems on ten thousand queries.
    pub(crate) fn large() -> Self {
        Sample {
            data: vec![("web10k".into(), 10_000)],
            systems: (1..=40).map(|i| format!("system-{i}")).collect(),
            failed: vec![],
            external: vec![7],
            searched: true,
            suffix: String::new(),
        }
    }

    /// Every system failed.
    pub(crate) fn failed() -> Self {
        Sample { failed: (0..6).collect(), ..Sample::usual() }
    }

    /// No data set at all.
    pub(crate) fn empty() -> Self {
        Sample { data: vec![], failed: vec![], ..Sample::usual() }
    }

    /// The findings.
    pub(crate) fn findings(&self) -> Findings {
        let data: Vec<DataFindings> = (0..self.data.len()).map(|d| self.data_findings(d)).collect();
        let system = |(i, name): (usize, &String)| SystemInfo {
            name: name.clone(),
            learner: (!self.external.contains(&i)).then(|| name.clone()),
            title: format!("A system called {name}"),
        };
        Findings {
            name: format!("sample{}", self.suffix),
            title: format!("Structured and boosted rankers side by side{}", self.suffix),
            about: format!("Six ways to rank, tuned alike and tested on the same folds.{}", self.suffix),
            version: "0.1.0".into(),
            seed: u64::MAX - 1,
            repeats: 1,
            selection: METRICS[0].into(),
            metrics: METRICS.map(String::from).into(),
            shown: SHOWN,
            preset: "letor".into(),
            conventions: Conventions::default(),
            baseline: 0,
            systems: self.systems.iter().enumerate().map(system).collect(),
            pooled: (data.len() > 1).then(|| self.pooled(&data)),
            expectations: self.expectations(&data),
            failures: self.failed.iter().map(|&s| self.failure(s)).collect(),
            data,
        }
    }

    /// The times that go with them.
    pub(crate) fn times(&self) -> Times {
        let mut systems = Vec::new();
        for (d, (data, _)) in self.data.iter().enumerate() {
            for (s, system) in self.systems.iter().enumerate() {
                let mut random = rng::stream(3, &[d as u64, s as u64]);
                let seconds = 10f64.powf(random.random_range(-2.0..3.0));
                let known = !self.external.contains(&s) && !self.failed.contains(&s);
                systems.push(SystemTimes {
                    data: data.clone(),
                    system: system.clone(),
                    search_seconds: seconds * 20.0,
                    train_seconds: known.then_some(seconds),
                    score_seconds: known.then_some(seconds / 50.0),
                });
            }
        }
        Times { systems, threads: 8, one_at_a_time: false, peak_bytes: Some(1_700_000_000) }
    }

    fn failure(&self, system: usize) -> String {
        format!("`{}` failed on fold 2: the loss is not finite.{}", self.systems[system], self.suffix)
    }

    fn data_findings(&self, d: usize) -> DataFindings {
        let (name, queries) = &self.data[d];
        let mut random = rng::stream(1, &[d as u64]);
        let difficulty: Vec<f64> = (0..*queries).map(|_| random.random_range(0.05..0.85)).collect();
        let query_ids: Vec<String> = (0..*queries).map(|q| format!("{}{}", 100 + q, self.suffix)).collect();
        let query_folds: Vec<usize> = (0..*queries).map(|q| q * FOLDS / queries).collect();
        let systems: Vec<SystemFindings> =
            (0..self.systems.len()).map(|s| self.system_findings(s, &difficulty, &mut random)).collect();
        let values: Vec<&SystemFindings> = systems.iter().collect();
        let standing =
            self.standing(&values.iter().map(|s| s.values.clone()).collect::<Vec<_>>(), &query_folds);
        DataFindings {
            name: name.clone(),
            summary: DataSummary {
                binned: false,
                queries: *queries,
                documents: queries * 152,
                features: 45,
                grades: vec![(0.0, queries * 107), (1.0, queries * 30), (2.0, queries * 15)],
                documents_per_query: (16, 153.5, 320),
                queries_without_relevant: 3,
                preparation: vec![format!(
                    "Features were scaled to [0, 1] within each query.{}",
                    self.suffix
                )],
                notes: vec![format!("S1.txt: feature ids start at 0{}", self.suffix)],
            },
            folds: FOLDS,
            query_ids,
            query_folds,
            query_weights: None,
            standing,
            systems,
        }
    }

    fn system_findings(&self, s: usize, difficulty: &[f64], random: &mut Random) -> SystemFindings {
        let failed = self.failed.contains(&s);
        let skill = 0.08 - 0.14 * (s as f64 / self.systems.len() as f64);
        let values = (0..METRICS.len())
            .map(|m| {
                // Deeper cuts are easier; the metrics from the fourth on are NDCG at 1 to 9.
                let shift = if m < 3 { -0.06 * m as f64 } else { 0.002 * m as f64 - 0.05 };
                let mut value = |d: &f64| {
                    // Some queries no system can tell apart: ties.
                    let noise = if *d < 0.15 { 0.0 } else { skill + random.random_range(-0.15..0.15) };
                    (!failed).then_some((d + shift + noise).clamp(0.0, 1.0))
                };
                difficulty.iter().map(&mut value).collect()
            })
            .collect::<Vec<Vec<Option<f64>>>>();
        let learned = !failed && !self.external.contains(&s);
        SystemFindings {
            worst: if failed { vec![] } else { self.worst(&values[0], random) },
            values: PerQuery::new(values),
            chosen: if learned { self.chosen() } else { vec![] },
            trials: if learned && self.searched { trials(random) } else { vec![] },
            curves: if learned && self.searched { curves(random) } else { vec![] },
            cut_short: s == 1 && self.searched,
        }
    }

    fn chosen(&self) -> Vec<Chosen> {
        let parameters = parameters(1.0, 3, "exp2");
        (0..FOLDS)
            .map(|fold| Chosen { fold, repeat: 0, parameters: parameters.clone(), valid: Some(0.47) })
            .collect()
    }

    fn worst(&self, values: &[Option<f64>], random: &mut Random) -> Vec<WorstQuery> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].partial_cmp(&values[b]).expect("finite"));
        let mut worst = |query: usize| {
            let mut document = |place: usize| RankedDocument {
                id: format!("doc{}{}", 1000 + place * 37 + query, self.suffix),
                grade: if place > 5 { random.random_range(0..3) as f32 } else { 0.0 },
                score: 2.5 - 0.31 * place as f64,
            };
            let top: Vec<RankedDocument> = (0..10).map(&mut document).collect();
            let best_grades = vec![2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
            WorstQuery { query, value: values[query].unwrap_or_default(), top, best_grades }
        };
        order.iter().take(10).map(|&q| worst(q)).collect()
    }

    /// The values of each system, summarised as in an experiment.
    fn standing(&self, values: &[PerQuery], folds: &[usize]) -> Standing {
        let mean = |v: &[Option<f64>]| {
            let kept: Vec<f64> = v.iter().flatten().copied().collect();
            (!kept.is_empty()).then(|| kept.iter().sum::<f64>() / kept.len() as f64)
        };
        let fold_mean = |v: &[Option<f64>]| {
            let of_fold =
                |f: usize| v.iter().zip(folds).filter(|x| *x.1 == f).map(|x| *x.0).collect::<Vec<_>>();
            mean(&(0..FOLDS).map(|f| mean(&of_fold(f))).collect::<Vec<_>>())
        };
        let means: Vec<Vec<_>> = values.iter().map(|s| s.iter().map(mean).collect()).collect();
        let fold_means = SystemMeans::new(values.iter().map(|s| s.iter().map(fold_mean).collect()).collect());
        let mut order: Vec<usize> = (0..values.len()).filter(|&s| means[s][0].is_some()).collect();
        order.sort_by(|&a, &b| means[b][0].partial_cmp(&means[a][0]).expect("finite"));
        let compared: Vec<SystemValues> = order
            .iter()
            .map(|&s| SystemValues { name: self.systems[s].clone(), values: values[s].metric(0).to_vec() })
            .collect();
        let ids: Texts =
            (0..folds.len()).map(|q| q.to_string()).collect::<Vec<_>>().iter().map(|q| q.as_str()).collect();
        let options = ComparisonOptions { permutations: 500, resamples: 200, ..ComparisonOptions::default() };
        let all_pairs = Comparison::new(&compared, &ids, &options).ok();
        let mut intervals = vec![None; values.len()];
        for (place, &s) in order.iter().enumerate() {
            intervals[s] = all_pairs.as_ref().map(|c| c.systems[place].interval);
        }
        let means = SystemMeans::new(means);
        Standing { queries: folds.len(), means, fold_means, intervals, order, all_pairs }
    }

    fn pooled(&self, data: &[DataFindings]) -> Standing {
        let of_system = |s: usize| {
            let mut all = PerQuery::absent(METRICS.len(), 0);
            data.iter().for_each(|d| all.append(&d.systems[s].values));
            all
        };
        let values: Vec<PerQuery> = (0..self.systems.len()).map(of_system).collect();
        let folds: Vec<usize> = data.iter().flat_map(|d| d.query_folds.clone()).collect();
        self.standing(&values, &folds)
    }

    fn expectations(&self, data: &[DataFindings]) -> Vec<Expectation> {
        let Some(first) = data.first() else { return vec![] };
        let expectation = |system: usize, off: f64| {
            let found = first.standing.fold_means.get(system, 0);
            Expectation {
                data: first.name.clone(),
                system: self.systems[system].clone(),
                metric: METRICS[0].into(),
                value: found.unwrap_or(0.4) + off,
                within: 0.01,
                source: format!("Table 2 of the paper{}", self.suffix),
                found,
                met: found.is_some() && off < 0.01,
            }
        };
        (0..self.systems.len().min(2)).map(|s| expectation(s, 0.003 + 0.02 * s as f64)).collect()
    }
}

fn parameters(c: f64, depth: i64, gain: &str) -> toml::Table {
    [("c", c.into()), ("depth", depth.into()), ("gain", gain.into())]
        .map(|(name, value): (&str, toml::Value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

fn trials(random: &mut Random) -> Vec<Trial> {
    let mut trials = Vec::new();
    for fold in 0..FOLDS {
        // Depths that lie close together on a linear axis.
        for (c, depth) in [(0.001, 1), (0.01, 2), (0.1, 3), (1.0, 5), (10.0, 100), (100.0, 3)] {
            for gain in ["exp2", "linear"] {
                let valid = 0.46 - 0.01 * f64::log10(c).powi(2) + random.random_range(-0.02..0.02);
                trials.push(Trial {
                    fold,
                    repeat: 0,
                    parameters: parameters(c, depth, gain),
                    fraction: 1.0,
                    valid: Some(valid),
                });
            }
        }
        trials.push(Trial {
            fold,
            repeat: 0,
            parameters: parameters(1e3, 3, "exp2"),
            fraction: 0.25,
            valid: Some(0.4),
        });
        trials.push(Trial {
            fold,
            repeat: 0,
            parameters: parameters(1e4, 3, "exp2"),
            fraction: 1.0,
            valid: None,
        });
    }
    trials
}

fn curves(random: &mut Random) -> Vec<Curve> {
    let mut curve = |fold: usize| {
        let speed = random.random_range(0.01..0.03);
        let points = (0..600).map(|step| (step, 0.48 - 0.3 * f64::exp(-speed * step as f64))).collect();
        // A learner may show a number that differs from fold to fold.
        Curve { fold, repeat: 0, what: format!("loss 0.{}, ndcg@10 (valid)", 41 + fold), points }
    };
    (0..FOLDS).map(&mut curve).collect()
}
