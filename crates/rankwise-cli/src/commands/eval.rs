use crate::content::{Content, Opened, open_all};
use crate::input::{Input, note_width};
use crate::metric_args::MetricArgs;
use crate::{output, table};
use anyhow::{Context, Result, bail, ensure};
use clap::{ArgGroup, Args, ValueEnum};
use rankwise::data::trec::{Judged, JudgedQuery};
use rankwise::data::{Topics, join};
use rankwise::metrics::{DocumentIds, Evaluation, JudgedList, Metric, evaluate, evaluate_lists};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Evaluate a model, a score file or a TREC run on judged data.
#[derive(Args)]
#[command(group(ArgGroup::new("kind").args(["model", "scores", "run"])))]
#[command(
    override_usage = "rankwise eval [OPTIONS] <MODEL> <FILE>",
    after_help = "The content of MODEL decides whether it is a model, a score file or a TREC run.\n\n\
    Examples:\n  rankwise eval model.json test.txt\n  \
    rankwise eval scores.txt test.txt --metrics ndcg@1..10,map --preset letor\n  \
    rankwise eval bm25.run qrels.txt --metrics map,ndcg_cut_10,recall_100\n  \
    rankwise eval bm25.run qrels.txt --format trec --per-query \\\n      --metrics map,P_5,num_ret,iprec_at_recall\n  \
    rankwise eval model.json test.txt --per-query --json > values.json\n  \
    rankwise score model.json test.txt | rankwise eval - test.txt"
)]
pub(crate) struct Eval {
    /// A model, a file with one score per document in the order of FILE, or a TREC run
    #[arg(value_name = "MODEL")]
    first: PathBuf,

    /// The judged data; for a TREC run, TREC qrels
    #[arg(value_name = "FILE")]
    second: Option<PathBuf>,

    /// In place of MODEL: a model
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,

    /// In place of MODEL: a file with one score per document
    #[arg(long, value_name = "SCORES")]
    scores: Option<PathBuf>,

    /// In place of MODEL: a TREC run
    #[arg(long, value_name = "RUN")]
    run: Option<PathBuf>,

    /// Count judged topics that are not in the run as empty rankings, like trec_eval -c
    #[arg(long)]
    complete: bool,

    /// The metrics, separated by commas; see `rankwise metrics`
    #[arg(long, alias = "metric", default_value = "ndcg@10,map,mrr,p@10,err", value_name = "METRICS")]
    metrics: String,

    /// Show the values of every query
    #[arg(long)]
    per_query: bool,

    /// A table, or lines of metric, query and value as trec_eval prints them (with --per-query, like its -q)
    #[arg(long, default_value = "table", value_name = "FORMAT", conflicts_with = "json")]
    format: EvalFormat,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    metric_args: MetricArgs,

    #[command(flatten)]
    reading: Input,
}

#[derive(ValueEnum, Clone, Copy, PartialEq)]
enum EvalFormat {
    Table,
    Trec,
}

impl Eval {
    pub(crate) fn run(mut self) -> Result<()> {
        let (system, file) = self.open()?;
        self.metric_args = self.metric_args.for_runs(system.content == Content::Run);
        let metrics = self.metric_args.metrics(&self.metrics)?;
        ensure!(
            !self.complete || system.content == Content::Run,
            "--complete is for TREC runs, and {} is {}",
            system.path.display(),
            system.content.in_words()
        );
        check_file(&system, &file)?;
        let evaluation = match system.content {
            Content::Run => self.evaluate_run(system, file, &metrics)?,
            Content::Model => {
                let ranker = self.reading.number(system.model()?)?;
                let data = self.reading.for_model(&ranker).read_opened(file.file)?;
                note_width(&ranker, &data);
                evaluate(&data, &ranker.score(&data)?, &metrics)?
            }
            _ => {
                let data = self.reading.read_opened_in_order(&file.path, file.file)?;
                evaluate(&data, &system.file.scores(data.len())?, &metrics)?
            }
        };
        output::notes(&evaluation.notes());
        if self.json {
            return output::print_json(&self.as_json(&evaluation)?);
        }
        match self.format {
            EvalFormat::Table => output::print(&self.as_text(&evaluation)?),
            EvalFormat::Trec => output::print(&evaluation.as_trec_eval(self.per_query)),
        }
    }

    /// What to evaluate, and on what.
    fn open(&self) -> Result<(Opened, Opened)> {
        let given =
            [(&self.model, Content::Model), (&self.scores, Content::Scores), (&self.run, Content::Run)];
        let given = given.into_iter().find_map(|(path, content)| Some((path.as_deref()?, content)));
        let (system, file) = match (given, &self.second) {
            (Some((path, _)), None) => (path, &*self.first),
            (None, Some(second)) => (&*self.first, &**second),
            (Some(_), Some(second)) => bail!(
                "with --model, --scores or --run, the data is the only other argument, and there are two: {} and {}",
                self.first.display(),
                second.display()
            ),
            (None, None) => bail!(
                "give what to evaluate, then the data: `rankwise eval MODEL {0}`, where MODEL may also be a score \
                 file or a TREC run (or `rankwise eval {0} --model MODEL`)",
                self.first.display()
            ),
        };
        let mut opened = open_all(&[system, file])?.into_iter();
        let (mut system, mut file) = opened.next().zip(opened.next()).context("two files were opened")?;
        // trec_eval takes the qrels first.
        if given.is_none() && (system.content, file.content) == (Content::Qrels, Content::Run) {
            std::mem::swap(&mut system, &mut file);
        }
        match given {
            // A flag overrides the detected content.
            Some((_, content)) => system.content = content,
            None if !system.content.ranks() => bail!(cannot_rank(&system, &file)),
            None => {}
        }
        Ok((system, file))
    }

    fn evaluate_run(&self, run: Opened, qrels: Opened, metrics: &[Box<dyn Metric>]) -> Result<Evaluation> {
        let topics = if self.complete { Topics::AllJudged } else { Topics::InBoth };
        let Judged { queries, notes, .. } = join(&qrels.file.qrels()?, &run.file.run()?, topics);
        ensure!(!queries.is_empty(), no_common_topic(&run.path, &qrels.path));
        output::notes(&notes);
        Ok(evaluate_lists(&queries.iter().map(judged_list).collect::<Vec<_>>(), metrics)?)
    }

    fn as_json(&self, evaluation: &Evaluation) -> Result<serde_json::Value> {
        let means: serde_json::Map<_, _> = evaluation
            .metrics
            .iter()
            .enumerate()
            .map(|(m, name)| (name.clone(), json!(evaluation.mean(m))))
            .collect();
        let mut value = json!({
            "queries": evaluation.query_ids.len(),
            "weighted": evaluation.is_weighted(),
            "conventions": self.metric_args.conventions()?,
            "means": means,
            "notes": evaluation.notes(),
        });
        let totals: serde_json::Map<_, _> = (0..evaluation.metrics.len())
            .filter_map(|m| Some((evaluation.metrics[m].clone(), json!(evaluation.total(m)? as u64))))
            .collect();
        if !totals.is_empty() {
            value["totals"] = totals.into();
        }
        if self.per_query {
            let per_query = evaluation.query_ids.iter().enumerate().map(|(q, id)| {
                let values: serde_json::Map<_, _> = evaluation
                    .metrics
                    .iter()
                    .enumerate()
                    .map(|(m, name)| (name.clone(), json!(evaluation.values[m][q])))
                    .collect();
                json!({ "query": id, "weight": evaluation.weights[q], "values": values })
            });
            value["per_query"] = per_query.collect();
        }
        Ok(value)
    }

    fn as_text(&self, evaluation: &Evaluation) -> Result<String> {
        let body = if self.per_query { per_query(evaluation) } else { means(evaluation) };
        let conventions = self.metric_args.conventions()?.describe().join(" ");
        let weighted = if evaluation.is_weighted() { ", means weighted by query weight" } else { "" };
        Ok(format!(
            "{body}\n{}\n",
            table::wrap(&format!(
                "{}{weighted}; {}: {conventions}",
                output::count(evaluation.query_ids.len(), "query", "queries"),
                self.metric_args.describe()
            ))
        ))
    }
}

/// Why `system` cannot be evaluated, with the other order where that would do.
fn cannot_rank(system: &Opened, file: &Opened) -> String {
    let (path, other) = (system.path.display(), file.path.display());
    let found = system.content.in_words();
    if file.content.ranks() {
        format!(
            "{path} is {found} and {other} is {}; give them in the other order, the data last",
            file.content.in_words()
        )
    } else {
        format!(
            "{path} is {found}, and a model, a score file or a TREC run is needed there; if it is one of them, use \
             --model, --scores or --run"
        )
    }
}

/// Refuses judgements that cannot go with what is evaluated. What is only unknown is left to its reader.
pub(super) fn check_file(system: &Opened, file: &Opened) -> Result<()> {
    let (path, judged) = (system.path.display(), file.path.display());
    match (system.content, file.content) {
        (Content::Run, Content::Data) => bail!(
            "{path} is a TREC run and {judged} is a data file; runs need TREC qrels, which `rankwise convert {judged} \
             OUT.qrels` makes"
        ),
        (Content::Model | Content::Scores, Content::Qrels) => bail!(
            "{judged} holds TREC qrels, and {path} is {}; qrels go with TREC runs, which `rankwise score --format \
             trec` makes",
            system.content.in_words()
        ),
        (_, Content::Model | Content::Scores | Content::Run) => bail!(
            "{judged} is {}; the last argument must be judged data, or TREC qrels for a TREC run",
            file.content.in_words()
        ),
        _ => Ok(()),
    }
}

pub(super) fn no_common_topic(run: &Path, qrels: &Path) -> String {
    format!("no topic of the run {} is judged in {}", run.display(), qrels.display())
}

/// A judged topic, ready to be evaluated.
pub(super) fn judged_list(query: &JudgedQuery) -> JudgedList<'_> {
    JudgedList {
        id: &query.id,
        labels: &query.labels,
        scores: &query.scores,
        document_ids: DocumentIds::List(&query.document_ids),
        weight: 1.0,
    }
}

fn means(evaluation: &Evaluation) -> String {
    let mut table = table::Columns::new(&["metric", ">mean"]);
    for (m, name) in evaluation.metrics.iter().enumerate() {
        table.row([name.clone(), summary(evaluation, m)]);
    }
    table.render()
}

fn per_query(evaluation: &Evaluation) -> String {
    let headers: Vec<String> = evaluation.metrics.iter().map(|m| format!(">{m}")).collect();
    let headers: Vec<&str> = std::iter::once("query").chain(headers.iter().map(String::as_str)).collect();
    let mut table = table::Columns::new(&headers).unbounded();
    let row = |name: &str, value: &dyn Fn(usize) -> String| {
        let values = (0..evaluation.metrics.len()).map(value);
        std::iter::once(name.to_string()).chain(values).collect::<Vec<_>>()
    };
    for (q, id) in evaluation.query_ids.iter().enumerate() {
        table.row(row(id, &|m| match evaluation.values[m][q] {
            Some(count) if evaluation.totals[m] => count.to_string(),
            value => shown(value),
        }));
    }
    table.row(row("mean", &|m| summary(evaluation, m)));
    table.render()
}

/// The mean of a metric, or the sum of what it counts.
fn summary(evaluation: &Evaluation, metric: usize) -> String {
    match evaluation.total(metric) {
        Some(total) => format!("{} in all", output::thousands(total as usize)),
        None => shown(evaluation.mean(metric)),
    }
}

pub(super) fn shown(value: Option<f64>) -> String {
    value.map_or("–".into(), table::four)
}
