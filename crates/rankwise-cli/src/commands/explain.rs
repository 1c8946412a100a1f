use crate::input::Input;
use crate::insight::{by_size, feature_value, json_value, open, shown, signed};
use crate::{interrupt, output, table};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rankwise::data::Dataset;
use rankwise::models::Ranker;
use rankwise::models::insight::{Explainer, write_contributions};
use rankwise::rank::Ranking;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Explain the scores of documents by the contribution of each feature.
#[derive(Args)]
#[command(
    after_help = "For trees, contributions are exact Shapley values (path-dependent TreeSHAP): the base value, \
    which is the mean score in training, and all contributions sum to the score. For a linear model, a contribution is \
    weight times value, and the base is the bias. Feature values are shown as scaled for the model.\n\n\
    Examples:\n  rankwise explain model.json test.txt --document 7\n  \
    rankwise explain model.json test.txt --query 42 --depth 3 --top 5\n  \
    rankwise explain model.json test.txt --query 42 --json\n  \
    rankwise explain model.json test.txt -o contributions.csv"
)]
pub(crate) struct Explain {
    /// The model
    model: PathBuf,

    /// The data with the documents to explain
    file: PathBuf,

    /// Explain one document: its number in the data, from 1
    #[arg(long, value_name = "N", conflicts_with = "query")]
    document: Option<usize>,

    /// Explain the top-ranked documents of this query
    #[arg(long, value_name = "ID")]
    query: Option<String>,

    /// How many documents of the query to explain, from the top; 0 for all
    #[arg(long, default_value_t = 3, value_name = "K", requires = "query")]
    depth: usize,

    /// How many features to show per document; 0 for all
    #[arg(long, alias = "features", default_value_t = 10, value_name = "N")]
    top: usize,

    /// Print JSON
    #[arg(long, conflicts_with_all = ["csv", "output"])]
    json: bool,

    /// Print CSV: one line per document, one column per feature
    #[arg(long)]
    csv: bool,

    /// Write that CSV to a file; without --document or --query, all documents
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    #[command(flatten)]
    reading: Input,
}

impl Explain {
    pub(crate) fn run(self) -> Result<()> {
        let csv = self.csv || self.output.is_some();
        ensure!(
            csv || self.document.is_some() || self.query.is_some(),
            "choose what to explain: --document N, --query ID, or all documents with --csv or -o OUT"
        );
        if let Some(out) = &self.output {
            output::keep_apart("the model", &self.model, out)?;
            output::keep_apart("the data", &self.file, out)?;
        }
        let (ranker, data) = open(&self.model, &self.file, &self.reading)?;
        let explainer = Explainer::new(&ranker.model)?;
        let scores = ranker.model.scores(&data)?;
        let documents = self.documents(&data, &scores)?;
        if csv {
            let path = self.output.as_deref().unwrap_or(Path::new("-"));
            let scores: Vec<f64> = documents.iter().map(|&document| scores[document]).collect();
            interrupt::will_write(path);
            write_contributions(path, &explainer, &ranker.columns, &data, &documents, &scores)?;
            return Ok(());
        }
        let contributions = explainer.contributions(&data, &documents)?;
        let explained: Vec<Explained> = documents
            .into_iter()
            .zip(contributions)
            .map(|(document, contributions)| Explained::new(&data, &scores, document, contributions))
            .collect();
        if self.json {
            let documents: Vec<_> = explained.iter().map(|e| e.as_json(&data, &ranker)).collect();
            return output::print_json(&json!({ "base": explainer.base(), "documents": documents }));
        }
        let base = explainer.base_name();
        let texts: Vec<String> =
            explained.iter().map(|e| e.as_text(&data, &ranker, self.top, (base, explainer.base()))).collect();
        output::print(&texts.join("\n"))
    }

    /// The documents to explain, from 0.
    fn documents(&self, data: &Dataset, scores: &[f64]) -> Result<Vec<usize>> {
        if let Some(number) = self.document {
            if !(1..=data.len()).contains(&number) {
                let count = output::count(data.len(), "document", "documents");
                bail!("there is no document {number}: {} has {count}, counted from 1", self.file.display());
            }
            return Ok(vec![number - 1]);
        }
        let Some(id) = &self.query else { return Ok((0..data.len()).collect()) };
        let query = data
            .queries()
            .find(|query| query.id() == id)
            .with_context(|| format!("{} has no query `{id}`", self.file.display()))?;
        let ranking = Ranking::by_scores(&scores[query.range()]);
        let first = query.range().start;
        let order = ranking.order().iter().map(|&i| first + i as usize);
        Ok(order.take(shown(self.depth, query.len())).collect())
    }
}

/// One document's explanation.
struct Explained {
    document: usize,
    query: usize,
    /// Its rank in its query, from 1.
    rank: usize,
    score: f64,
    contributions: Vec<f64>,
}

impl Explained {
    fn new(data: &Dataset, scores: &[f64], document: usize, contributions: Vec<f64>) -> Self {
        let query = data.bounds().partition_point(|&start| start <= document) - 1;
        let score = scores[document];
        let rank = 1 + scores[data.query(query).range()].iter().filter(|&&other| other > score).count();
        Explained { document, query, rank, score, contributions }
    }

    fn value(&self, data: &Dataset, column: usize) -> f32 {
        // Features that the data lacks are 0.
        if column < data.width() { data.row(self.document).get(column) } else { 0.0 }
    }

    fn as_json(&self, data: &Dataset, ranker: &Ranker) -> serde_json::Value {
        let contributions = by_size(&self.contributions).into_iter().map(|column| {
            json!({
                "feature": ranker.columns.name(column),
                "value": json_value(self.value(data, column)),
                "contribution": self.contributions[column],
            })
        });
        json!({
            "document": self.document + 1,
            "id": data.document_id(self.document),
            "query": data.query(self.query).id(),
            "rank": self.rank,
            "grade": data.labels()[self.document],
            "score": self.score,
            "contributions": contributions.collect::<Vec<_>>(),
        })
    }

    fn as_text(&self, data: &Dataset, ranker: &Ranker, features: usize, base: (&str, f64)) -> String {
        let order: Vec<usize> =
            by_size(&self.contributions).into_iter().filter(|&c| self.contributions[c] != 0.0).collect();
        let (first, rest) = order.split_at(shown(features, order.len()));
        let mut table = table::Columns::new(&["feature", ">value", ">contribution"]);
        for &column in first {
            let value = feature_value(self.value(data, column));
            table.row([ranker.columns.name(column), value, signed(self.contributions[column])]);
        }
        if !rest.is_empty() {
            let sum = rest.iter().map(|&column| self.contributions[column]).sum();
            let others = output::count(rest.len(), "more feature", "more features");
            table.row([others, String::new(), signed(sum)]);
        }
        table.row([base.0.to_string(), String::new(), signed(base.1)]);
        table.row(["score".to_string(), String::new(), signed(self.score)]);
        format!("{}\n{}", table::wrap(&self.title(data)), table.render())
    }

    fn title(&self, data: &Dataset) -> String {
        let query = data.query(self.query);
        let id = data.document_id(self.document).map_or(String::new(), |id| format!(" ({id})"));
        format!(
            "document {}{id}: grade {}, rank {} of {} in query {}",
            self.document + 1,
            data.labels()[self.document],
            self.rank,
            query.len(),
            query.id()
        )
    }
}
