use super::eval::{check_file, judged_list, no_common_topic};
use crate::content::{Content, Opened, open_all};
use crate::input::Input;
use crate::metric_args::MetricArgs;
use crate::{output, table};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rankwise::data::trec::JudgedQuery;
use rankwise::data::{Texts, Topics, join};
use rankwise::experiment::{Comparison, ComparisonOptions, SystemValues};
use rankwise::metrics::{Evaluation, Metric, evaluate, evaluate_lists};
use rankwise::models::Ranker;
use std::path::{Path, PathBuf};

/// Compare models, score files or TREC runs on the same queries: differences, p-values, wins and losses.
#[derive(Args)]
#[command(
    after_help = "Every other system is compared with the first, or with --baseline; --all-pairs compares all pairs.\n\
    p is from the paired randomisation test, adjusted by Holm's method for the number of pairs.\n\n\
    Examples:\n  rankwise compare production.json candidate.json test.txt\n  \
    rankwise compare a.scores b.scores c.json test.txt --metric map --all-pairs\n  \
    rankwise compare bm25.run reranked.run qrels.txt --preset trec --metric map"
)]
pub(crate) struct Compare {
    /// Two or more models, files with one score per document, or TREC runs
    #[arg(required = true, num_args = 2.., value_name = "MODEL")]
    models: Vec<PathBuf>,

    /// The judged data; for TREC runs, TREC qrels
    file: PathBuf,

    /// The metric to compare by
    #[arg(long, alias = "metrics", default_value = "ndcg@10", value_name = "METRIC")]
    metric: String,

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
    #[arg(long, default_value_t = 100_000, value_name = "N")]
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
    pub(crate) fn run(self) -> Result<()> {
        let metrics = [self.metric_args.metric(&self.metric)?];
        let (systems, file) = self.open()?;
        systems.iter().try_for_each(|system| check_file(system, &file))?;
        let paths: Vec<PathBuf> = systems.iter().map(|system| system.path.clone()).collect();
        let baseline = self.baseline(&paths)?;
        let evaluations = if systems.iter().any(|system| system.content == Content::Run) {
            evaluate_runs(systems, file, &metrics)?
        } else {
            self.evaluate_systems(systems, file, &metrics)?
        };
        let queries: Texts = evaluations[0].query_ids.iter().map(String::as_str).collect();
        let mut compared = Vec::new();
        for (path, mut evaluation) in paths.iter().zip(evaluations) {
            for note in evaluation.notes() {
                output::note(format!("{}: {note}", path.display()));
            }
            compared
                .push(SystemValues { name: path.display().to_string(), values: evaluation.values.remove(0) });
        }
        let options = ComparisonOptions {
            baseline,
            seed: self.seed,
            permutations: self.permutations,
            ..ComparisonOptions::default()
        };
        let comparison = Comparison::new(&compared, &queries, &options)?;
        if self.json {
            let mut value = serde_json::to_value(&comparison)?;
            value["metric"] = metrics[0].name().into();
            value["conventions"] = serde_json::to_value(metrics[0].conventions())?;
            return output::print_json(&value);
        }
        output::print(&as_text(&comparison, &metrics[0].name(), &self.metric_args.describe()))
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
        if data.parts().query_weights.is_some() {
            output::note("comparisons ignore query weights: every query counts the same");
        }
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
    let kept: Vec<usize> = (0..qrels.topics.len())
        .filter(|&topic| judged.iter().any(|queries| queries[topic].retrieved > 0))
        .collect();
    let lacking =
        kept.iter().filter(|&&topic| judged.iter().any(|queries| queries[topic].retrieved == 0)).count();
    if lacking > 0 {
        let topics = output::count(lacking, "topic is", "topics are");
        output::note(format!("{topics} missing from some of the runs; there they count as empty rankings"));
    }
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

fn as_text(comparison: &Comparison, metric: &str, conventions: &str) -> String {
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
    let names = short_names(comparison);
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
    let skipped = match comparison.skipped.len() {
        0 => String::new(),
        n => format!(
            ", {} left out because the metric is undefined there",
            output::count(n, "query", "queries")
        ),
    };
    let caption = format!(
        "{}{skipped}; {conventions}. p: paired randomisation test; t-test p: paired t-test; both adjusted by Holm's \
         method for {}. w/t/l: queries won, tied, lost. effect: mean of the differences divided by their standard \
         deviation. CI: bootstrap confidence interval.",
        output::count(comparison.queries, "query", "queries"),
        output::count(comparison.pairs.len(), "pair", "pairs")
    );
    format!("{}\n{}\n{}\n", systems.render(), pairs.render(), table::wrap(&caption))
}

fn range(low: f64, high: f64) -> String {
    format!("{low:.4}…{high:.4}")
}

/// File names without folder and extension, which fit a narrow column, unless two are the same.
fn short_names(comparison: &Comparison) -> Vec<String> {
    let full: Vec<String> = comparison.systems.iter().map(|s| s.name.clone()).collect();
    let stem = |name: &String| Path::new(name).file_stem().map(|s| s.to_string_lossy().into_owned());
    let short: Vec<String> = full.iter().map(|n| stem(n).unwrap_or_else(|| n.clone())).collect();
    let ambiguous = short.iter().enumerate().any(|(i, name)| short[..i].contains(name));
    if ambiguous { full } else { short }
}
