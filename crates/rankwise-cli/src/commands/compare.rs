use super::eval::{check_file, judged_list, no_common_topic, shown};
use crate::content::{Content, Opened, open_all};
use crate::input::Input;
use crate::metric_args::MetricArgs;
use crate::{output, table};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rankwise::data::trec::{JudgedQuery, SharedTopics, shared_topics};
use rankwise::data::{Topics, join};
use rankwise::experiment::{Comparison, ComparisonOptions};
use rankwise::metrics::{Evaluation, Metric, evaluate, evaluate_lists};
use rankwise::models::Ranker;
use std::path::{Path, PathBuf};

/// Compare models, score files or TREC runs on the same queries: differences, p-values, wins and losses.
#[derive(Args)]
#[command(
    after_help = "Every other system is compared with the first, or with --baseline; --all-pairs compares all pairs.\n\
    p is from the paired randomisation test, adjusted by Holm's method for the number of pairs.\n\n\
    Examples:\n  rankwise compare production.json candidate.json test.txt\n  \
    rankwise compare a.scores b.scores c.json test.txt --metrics map --all-pairs\n  \
    rankwise compare qrels.txt bm25.run reranked.run --metrics map,ndcg_cut_10 \\\n      --per-query"
)]
pub(crate) struct Compare {
    /// Two or more models, files with one score per document, or TREC runs
    #[arg(required = true, num_args = 2.., value_name = "MODEL")]
    models: Vec<PathBuf>,

    /// The judged data; for TREC runs, TREC qrels
    file: PathBuf,

    /// The metrics to compare by, separated by commas
    #[arg(long, alias = "metric", default_value = "ndcg@10", value_name = "METRICS")]
    metrics: String,

    /// Show the values of every query, too
    #[arg(long)]
    per_query: bool,

    /// Compare the others with this one; it is one of the MODELs. Default: the first
    #[arg(long, value_name = "MODEL", conflicts_with = "all_pairs")]
    baseline: Option<PathBuf>,

    /// Compare every pair
    #[arg(long)]
    all_pairs: bool,

    /// Random seed
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// Random sign flips per test, if there are too many to try all of them
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    permutations: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    metric_args: MetricArgs,

    #[command(flatten)]
    reading: Input,
}

/// A model or scores, still to be applied to the data.
enum Contender {
    Model(Box<Ranker>),
    Scores(Opened),
}

impl Compare {
    pub(crate) fn run(mut self) -> Result<()> {
        let (systems, file) = self.open()?;
        let runs = systems.iter().any(|system| system.content == Content::Run);
        self.metric_args = self.metric_args.for_runs(runs);
        let metrics = self.metric_args.metrics(&self.metrics)?;
        systems.iter().try_for_each(|system| check_file(system, &file))?;
        let paths: Vec<PathBuf> = systems.iter().map(|system| system.path.clone()).collect();
        let baseline = self.baseline(&paths)?;
        let evaluations = if runs {
            evaluate_runs(systems, file, &metrics)?
        } else {
            self.evaluate_systems(systems, file, &metrics)?
        };
        for (path, evaluation) in paths.iter().zip(&evaluations) {
            for note in evaluation.notes() {
                output::note(format!("{}: {note}", path.display()));
            }
        }
        let evaluated = Evaluated { paths, evaluations };
        let options = ComparisonOptions {
            baseline,
            seed: self.seed,
            permutations: self.permutations,
            ..ComparisonOptions::default()
        };
        let by_metric = Comparison::by_metric(&evaluated.names(), &evaluated.evaluations, &options)?;
        if self.json {
            return output::print_json(&self.as_json(&evaluated, &metrics, &by_metric)?);
        }
        let per_query = if self.per_query { format!("{}\n", evaluated.table()) } else { String::new() };
        let text = as_text(&by_metric, &evaluated.evaluations[0].metrics, &self.metric_args.describe());
        output::print(&format!("{per_query}{text}"))
    }

    /// The comparison by the first metric, and those by all metrics.
    fn as_json(
        &self,
        evaluated: &Evaluated,
        metrics: &[Box<dyn Metric>],
        by_metric: &[Comparison],
    ) -> Result<serde_json::Value> {
        let all = metrics.iter().zip(by_metric).map(|(metric, comparison)| {
            let mut value = serde_json::to_value(comparison)?;
            value["metric"] = metric.name().into();
            value["conventions"] = serde_json::to_value(metric.conventions())?;
            Ok(value)
        });
        let all = all.collect::<Result<Vec<serde_json::Value>>>()?;
        let mut value = all[0].clone();
        value["by_metric"] = all.into();
        if self.per_query {
            value["per_query"] = evaluated.per_query().into();
        }
        Ok(value)
    }

    /// The systems and the data. Data comes last; in earlier versions it came first, which is still accepted.
    fn open(&self) -> Result<(Vec<Opened>, Opened)> {
        let paths: Vec<&Path> = self.models.iter().chain([&self.file]).map(PathBuf::as_path).collect();
        let mut files = open_all(&paths)?;
        let ranks: Vec<bool> = files.iter().map(|file| file.content.ranks()).collect();
        let last = files.len() - 1;
        let data = match ranks.iter().filter(|ranks| !**ranks).count() {
            1 if !ranks[last] => last,
            1 if !ranks[0] => 0,
            _ => bail!(unclear(&files)),
        };
        let data = files.remove(data);
        Ok((files, data))
    }

    fn baseline(&self, systems: &[PathBuf]) -> Result<Option<usize>> {
        match &self.baseline {
            _ if self.all_pairs => Ok(None),
            None => Ok(Some(0)),
            Some(name) => match systems.iter().position(|s| s == name) {
                Some(place) => Ok(Some(place)),
                None => bail!("the baseline {} is not among the systems", name.display()),
            },
        }
    }

    fn evaluate_systems(
        &self,
        systems: Vec<Opened>,
        file: Opened,
        metrics: &[Box<dyn Metric>],
    ) -> Result<Vec<Evaluation>> {
        let mut contenders = Vec::new();
        for system in systems {
            let path = system.path.clone();
            let contender = match system.content {
                Content::Model => Contender::Model(Box::new(self.reading.number(system.model()?)?)),
                _ => Contender::Scores(system),
            };
            contenders.push((path, contender));
        }
        // Feature numbers are read as the models count them.
        let reading =
            contenders.iter().fold(self.reading.clone(), |reading, (_, contender)| match contender {
                Contender::Model(ranker) => reading.for_model(ranker),
                Contender::Scores(_) => reading,
            });
        let data = reading.read_opened_in_order(&file.path, file.file)?;
        let evaluated = contenders.into_iter().map(|(path, contender)| {
            let scores = match contender {
                Contender::Model(ranker) => {
                    ranker.score(&data).with_context(|| format!("cannot score with {}", path.display()))?
                }
                Contender::Scores(opened) => opened.file.scores(data.len())?,
            };
            Ok(evaluate(&data, &scores, metrics)?)
        });
        evaluated.collect()
    }
}

/// The values of every system, metric and query.
struct Evaluated {
    paths: Vec<PathBuf>,
    evaluations: Vec<Evaluation>,
}

impl Evaluated {
    fn names(&self) -> Vec<String> {
        self.paths.iter().map(|path| path.display().to_string()).collect()
    }

    /// One value per system.
    fn of_query(&self, metric: usize, query: usize) -> impl Iterator<Item = Option<f64>> {
        self.evaluations.iter().map(move |evaluation| evaluation.values[metric][query])
    }

    fn per_query(&self) -> Vec<serde_json::Value> {
        let first = &self.evaluations[0];
        let of_query = |(query, id): (usize, &String)| {
            let values: serde_json::Map<_, _> = first
                .metrics
                .iter()
                .enumerate()
                .map(|(m, name)| (name.clone(), self.of_query(m, query).collect()))
                .collect();
            serde_json::json!({ "query": id, "values": values })
        };
        first.query_ids.iter().enumerate().map(of_query).collect()
    }

    /// A row for each query and metric, a column for each system.
    fn table(&self) -> String {
        let first = &self.evaluations[0];
        let systems: Vec<String> = short_names(&self.names()).iter().map(|name| format!(">{name}")).collect();
        let headers: Vec<&str> =
            ["query", "metric"].into_iter().chain(systems.iter().map(|s| &**s)).collect();
        let mut table = table::Columns::new(&headers).unbounded();
        for (query, id) in first.query_ids.iter().enumerate() {
            for (metric, name) in first.metrics.iter().enumerate() {
                let values = self.of_query(metric, query).map(shown);
                table.row([id.clone(), name.clone()].into_iter().chain(values));
            }
        }
        table.render()
    }
}

/// Evaluates runs on the judged topics that at least one of them has. A run that lacks a topic retrieved nothing for it.
fn evaluate_runs(runs: Vec<Opened>, qrels: Opened, metrics: &[Box<dyn Metric>]) -> Result<Vec<Evaluation>> {
    let qrels_path = qrels.path;
    let qrels = qrels.file.qrels()?;
    let mut judged: Vec<Vec<JudgedQuery>> = Vec::new();
    for run in runs {
        let joined = join(&qrels, &run.file.run()?, Topics::AllJudged);
        let found = |query: &JudgedQuery| query.retrieved > 0;
        ensure!(joined.queries.iter().any(found), no_common_topic(&run.path, &qrels_path));
        judged.push(joined.queries);
    }
    let found = |queries: &Vec<JudgedQuery>| queries.iter().map(|query| query.retrieved > 0).collect();
    let SharedTopics { kept, note } = shared_topics(&judged.iter().map(found).collect::<Vec<_>>());
    output::notes(&Vec::from_iter(note));
    let evaluated = judged.iter().map(|queries| {
        let lists: Vec<_> = kept.iter().map(|&topic| judged_list(&queries[topic])).collect();
        Ok(evaluate_lists(&lists, metrics)?)
    });
    evaluated.collect()
}

/// Why it is not clear which of the files is the data.
fn unclear(files: &[Opened]) -> String {
    let all: Vec<String> =
        files.iter().map(|file| format!("{} is {}", file.path.display(), file.content.in_words())).collect();
    format!(
        "give two or more models, score files or TREC runs and then one file of judged data or qrels; here, {}",
        all.join(", ")
    )
}

/// Two tables for each metric, and what they show.
pub(super) fn as_text(by_metric: &[Comparison], metrics: &[String], conventions: &str) -> String {
    let tables = by_metric.iter().zip(metrics).map(|(comparison, metric)| tables(comparison, metric));
    let tables: String = tables.map(|tables| format!("{tables}\n")).collect();
    let first = &by_metric[0];
    let several = if by_metric.len() > 1 { ", for each metric by itself" } else { "" };
    let weighted =
        if first.weighted { ", weighted by query weight in means, tests and intervals" } else { "" };
    let caption = format!(
        "{}{}{weighted}; {conventions}. p: paired randomisation test; t-test p: paired t-test; both adjusted by Holm's \
         method for {}{several}. w/t/l: queries won, tied, lost. effect: mean of the differences divided by their \
         standard deviation. CI: bootstrap confidence interval.",
        output::count(first.queries + first.skipped.len(), "query", "queries"),
        left_out(by_metric, metrics),
        output::count(first.pairs.len(), "pair", "pairs")
    );
    format!("{tables}{}\n", table::wrap(&caption))
}

/// The queries that no comparison is made on, with the metric that is undefined there.
fn left_out(by_metric: &[Comparison], metrics: &[String]) -> String {
    let cases = by_metric.iter().zip(metrics).filter(|(comparison, _)| !comparison.skipped.is_empty());
    let words = cases.map(|(comparison, metric)| {
        let queries = output::count(comparison.skipped.len(), "query", "queries");
        format!(", {queries} left out because {metric} is undefined there or the weight is 0")
    });
    words.collect()
}

fn tables(comparison: &Comparison, metric: &str) -> String {
    let percent = 100.0 * comparison.confidence;
    let interval = format!(">{percent} % CI");
    let mut systems = table::Columns::new(&["system", &format!(">{metric}"), &interval]);
    for system in &comparison.systems {
        systems.row([
            system.name.clone(),
            table::four(system.mean),
            range(system.interval.low, system.interval.high),
        ]);
    }
    let names: Vec<String> = comparison.systems.iter().map(|system| system.name.clone()).collect();
    let names = short_names(&names);
    let mut pairs =
        table::Columns::new(&["compared", ">diff", &interval, ">w/t/l", ">effect", ">p", ">t-test p"]);
    for pair in &comparison.pairs {
        pairs.row([
            format!("{} − {}", names[pair.system], names[pair.against]),
            format!("{:+.4}", pair.difference),
            range(pair.interval.low, pair.interval.high),
            format!("{}/{}/{}", pair.wins, pair.ties, pair.losses),
            pair.effect_size.map_or("–".into(), |d| format!("{d:+.2}")),
            table::probability(pair.p_permutation_holm),
            table::probability(pair.p_t_holm),
        ]);
    }
    format!("{}\n{}", systems.render(), pairs.render())
}

fn range(low: f64, high: f64) -> String {
    format!("{low:.4}…{high:.4}")
}

/// File names without folder and extension, which fit a narrow column, unless two are the same.
fn short_names(full: &[String]) -> Vec<String> {
    let stem = |name: &String| Path::new(name).file_stem().map(|s| s.to_string_lossy().into_owned());
    let short: Vec<String> = full.iter().map(|n| stem(n).unwrap_or_else(|| n.clone())).collect();
    let ambiguous = short.iter().enumerate().any(|(i, name)| short[..i].contains(name));
    if ambiguous { full.to_vec() } else { short }
}
