use crate::input::{Input, note_width};
use crate::measuring::Measuring;
use crate::{output, table};
use anyhow::{Result, ensure};
use clap::{ArgGroup, Args};
use rankwise::data::{Topics, join, read_qrels, read_run, read_scores};
use rankwise::metrics::{DocumentIds, Evaluation, JudgedList, Metric, evaluate, evaluate_lists};
use rankwise::models::Ranker;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Measure a ranking: of a model, of a file of scores, or of a TREC run.
#[derive(Args)]
#[command(group(ArgGroup::new("ranking").required(true).args(["model", "scores", "run"])))]
#[command(after_help = "FILE is judged data for --model and --scores, and TREC qrels for --run.\n\n\
    Examples:\n  rankwise eval test.txt --model model.json\n  \
    rankwise eval test.txt --scores scores.txt --metrics ndcg@1..10,map --preset letor\n  \
    rankwise eval qrels.txt --run bm25.run --preset trec --metrics map,ndcg@10,recall@100\n  \
    rankwise eval test.txt --model model.json --per-query --json > values.json")]
pub(crate) struct Eval {
    /// The judged data, or TREC qrels for --run
    file: PathBuf,

    /// A model to score with
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,

    /// A file with one score per document, in the order of the data
    #[arg(long, value_name = "SCORES")]
    scores: Option<PathBuf>,

    /// A TREC run, with FILE the qrels
    #[arg(long, value_name = "RUN")]
    run: Option<PathBuf>,

    /// Count judged topics that the run lacks as empty lists, as trec_eval -c does
    #[arg(long, requires = "run")]
    complete: bool,

    /// The measures, with commas between
    #[arg(long, default_value = "ndcg@10,map,mrr,p@10,err", value_name = "MEASURES")]
    metrics: String,

    /// Show every query
    #[arg(long)]
    per_query: bool,

    /// For machines
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    measuring: Measuring,

    #[command(flatten)]
    reading: Input,
}

impl Eval {
    pub(crate) fn run(self) -> Result<()> {
        let metrics = self.measuring.metrics(&self.metrics)?;
        let evaluation = match (&self.run, &self.model, &self.scores) {
            (Some(run), _, _) => self.evaluate_run(run, &metrics)?,
            (_, Some(model), _) => {
                let ranker = Ranker::load(model)?;
                let data = self.reading.counting_from(ranker.columns.first_id).read(&self.file)?;
                note_width(&ranker, &data);
                evaluate(&data, &ranker.score(&data)?, &metrics)?
            }
            (_, _, Some(scores)) => {
                let data = self.reading.read_unmoved(&self.file)?;
                evaluate(&data, &read_scores(scores, data.len())?, &metrics)?
            }
            _ => unreachable!("the arguments require one of them"),
        };
        output::notes(&evaluation.notes());
        if self.json {
            return output::print_json(&self.as_json(&evaluation)?);
        }
        output::print(&self.as_text(&evaluation)?)
    }

    fn evaluate_run(&self, run: &Path, metrics: &[Box<dyn Metric>]) -> Result<Evaluation> {
        let topics = if self.complete { Topics::AllJudged } else { Topics::InBoth };
        let judged = join(&read_qrels(&self.file)?, &read_run(run)?, topics);
        ensure!(
            !judged.queries.is_empty(),
            "no topic of the run {} is judged in {}",
            run.display(),
            self.file.display()
        );
        output::notes(&judged.notes);
        let lists: Vec<JudgedList<'_>> = judged
            .queries
            .iter()
            .map(|q| JudgedList {
                id: &q.id,
                labels: &q.labels,
                scores: &q.scores,
                document_ids: DocumentIds::List(&q.document_ids),
                weight: 1.0,
            })
            .collect();
        Ok(evaluate_lists(&lists, metrics)?)
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
            "conventions": self.measuring.conventions()?,
            "means": means,
            "notes": evaluation.notes(),
        });
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
        let conventions = self.measuring.conventions()?.describe().join(" ");
        Ok(format!(
            "{body}\n{}\n",
            table::wrap(&format!(
                "{}; {}: {conventions}",
                output::count(evaluation.query_ids.len(), "query", "queries"),
                self.measuring.describe()
            ))
        ))
    }
}

fn means(evaluation: &Evaluation) -> String {
    let mut table = table::Columns::new(&["measure", ">mean"]);
    for (m, name) in evaluation.metrics.iter().enumerate() {
        table.row([name.clone(), shown(evaluation.mean(m))]);
    }
    table.render()
}

fn per_query(evaluation: &Evaluation) -> String {
    let headers: Vec<String> = evaluation.metrics.iter().map(|m| format!(">{m}")).collect();
    let headers: Vec<&str> = std::iter::once("query").chain(headers.iter().map(String::as_str)).collect();
    let mut table = table::Columns::new(&headers).unbounded();
    let row = |name: &str, value: &dyn Fn(usize) -> Option<f64>| {
        let values = (0..evaluation.metrics.len()).map(|m| shown(value(m)));
        std::iter::once(name.to_string()).chain(values).collect::<Vec<_>>()
    };
    for (q, id) in evaluation.query_ids.iter().enumerate() {
        table.row(row(id, &|m| evaluation.values[m][q]));
    }
    table.row(row("mean", &|m| evaluation.mean(m)));
    table.render()
}

fn shown(value: Option<f64>) -> String {
    value.map_or("–".into(), table::four)
}
