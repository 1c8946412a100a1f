use crate::documents::Finder;
use crate::input::Input;
use crate::insight::{bar, by_size, feature_value, json_value, open, shown, signed};
use crate::progress::ProgressBar;
use crate::{interrupt, output, table};
use anyhow::{Context, Result, ensure};
use clap::Args;
use rankwise::data::Dataset;
use rankwise::models::Ranker;
use rankwise::models::insight::{Explainer, write_contributions};
use rankwise::rank::Ranking;
use rankwise::watch::Stop;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Explain the scores of documents by the contribution of each feature.
#[derive(Args)]
#[command(
    after_help = "For trees, contributions are exact Shapley values (path-dependent TreeSHAP): the base value, \
    which is the mean score in training, and all contributions sum to the score. For a linear model, a contribution is \
    weight times value, and the base is the bias. Feature values are shown as scaled for the model.\n\n\
    A document is named by its id or, if no document has that id, by its number in the data, counted from 1.\n\n\
    Examples:\n  rankwise explain model.json test.txt --document 7\n  \
    rankwise explain model.json test.txt --query 42 --depth 3 --top 5\n  \
    rankwise explain model.json test.txt --query 42 --pair GX001 GX002\n  \
    rankwise explain model.json test.txt --query 42 --json\n  \
    rankwise explain model.json test.txt -o contributions.csv"
)]
pub(crate) struct Explain {
    /// The model
    model: PathBuf,

    /// The data with the documents to explain
    file: PathBuf,

    /// Explain one document: its id, or its number in the data, from 1
    #[arg(long, value_name = "X")]
    document: Option<String>,

    /// Explain why X ranks above or below Y, two documents of the same query
    #[arg(long, num_args = 2, value_names = ["X", "Y"], conflicts_with = "document")]
    pair: Option<Vec<String>>,

    /// Explain the top-ranked documents of this query; with --document or --pair, look for them here
    #[arg(long, value_name = "ID")]
    query: Option<String>,

    /// How many documents of the query to explain, from the top; 0 for all
    #[arg(long, default_value_t = 3, value_name = "K", requires = "query", conflicts_with_all = ["document", "pair"])]
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

    /// Write that CSV to a file; if no documents are chosen, all of them
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    #[command(flatten)]
    reading: Input,
}

impl Explain {
    pub(crate) fn run(self) -> Result<()> {
        let csv = self.csv || self.output.is_some();
        ensure!(
            csv || self.document.is_some() || self.query.is_some() || self.pair.is_some(),
            "choose what to explain: --document X, --query ID, --pair X Y, or all documents with --csv or -o OUT"
        );
        if let Some(out) = &self.output {
            output::keep_apart("the model", &self.model, out)?;
            output::keep_apart("the data", &self.file, out)?;
        }
        let (ranker, data) = open(&self.model, &self.file, &self.reading)?;
        let explainer = Explainer::new(&ranker.model)?;
        let scores = ranker.model.scores(&data)?;
        let documents = self.documents(&data, &scores)?;
        let mut progress = ProgressBar::new("explain", &Stop::default());
        if csv {
            let path = self.output.as_deref().unwrap_or(Path::new("-"));
            let scores: Vec<f64> = documents.iter().map(|&document| scores[document]).collect();
            interrupt::will_write(path);
            write_contributions(
                path,
                &explainer,
                &ranker.columns,
                &data,
                &documents,
                &scores,
                &mut progress,
            )?;
            return Ok(());
        }
        let mut explained = Vec::new();
        explainer.contributions_by_block(&data, &documents, &mut progress, |documents, rows| {
            let block = documents.iter().zip(rows);
            explained.extend(block.map(|(&document, row)| Explained::new(&data, &scores, document, row)));
            Ok(())
        })?;
        drop(progress);
        let shown = Shown { data: &data, ranker: &ranker, top: self.top };
        let difference = match (&self.pair, &explained[..]) {
            (Some(_), [x, y]) => {
                let differences = explainer.difference(&data, x.document, y.document)?;
                Some(Difference { x, y, differences })
            }
            _ => None,
        };
        if self.json {
            let documents: Vec<_> = explained.iter().map(|e| e.as_json(&shown)).collect();
            let mut value = json!({ "base": explainer.base(), "documents": documents });
            if let Some(difference) = difference {
                value["difference"] = difference.as_json(&shown);
            }
            return output::print_json(&value);
        }
        if let Some(difference) = difference {
            return output::print(&difference.as_text(&shown));
        }
        let base = (explainer.base_name(), explainer.base());
        let texts: Vec<String> = explained.iter().map(|e| e.as_text(&shown, base)).collect();
        output::print(&texts.join("\n"))
    }

    /// The documents to explain, from 0.
    fn documents(&self, data: &Dataset, scores: &[f64]) -> Result<Vec<usize>> {
        let file = self.file.display().to_string();
        let query = match &self.query {
            None => None,
            Some(id) => Some(
                (0..data.query_count())
                    .find(|&query| data.query(query).id() == id)
                    .with_context(|| format!("{file} has no query `{id}`"))?,
            ),
        };
        let finder = Finder { data, file, query };
        if let Some(document) = &self.document {
            return Ok(vec![finder.one(document)?]);
        }
        if let Some([x, y]) = self.pair.as_deref() {
            let (x, y) = finder.pair(x, y)?;
            return Ok(vec![x, y]);
        }
        let Some(query) = query else { return Ok((0..data.len()).collect()) };
        let range = data.query(query).range();
        let ranking = Ranking::by_scores(&scores[range.clone()]);
        let order = ranking.order().iter().map(|&i| range.start + i as usize);
        Ok(order.take(shown(self.depth, range.len())).collect())
    }
}

/// What explanations are shown with.
struct Shown<'a> {
    data: &'a Dataset,
    ranker: &'a Ranker,
    /// How many features to show.
    top: usize,
}

impl Shown<'_> {
    fn name(&self, column: usize) -> String {
        self.ranker.columns.name(column)
    }

    fn value(&self, document: usize, column: usize) -> f32 {
        // Features that the data lacks are 0.
        if column < self.data.width() { self.data.row(document).get(column) } else { 0.0 }
    }

    fn text(&self, document: usize, column: usize) -> String {
        feature_value(self.data.columns(), column, self.value(document, column))
    }

    fn json_value(&self, document: usize, column: usize) -> serde_json::Value {
        json_value(self.data.columns(), column, self.value(document, column))
    }

    /// Rows for the largest of `contributions`: the feature, the cells that `values` gives for it, the contribution, and
    /// its bar in the chart. One more row has the sum of all others.
    fn rows(&self, table: &mut table::Columns, contributions: &[f64], values: impl Fn(usize) -> Vec<String>) {
        let order = by_size(contributions);
        let order: Vec<usize> = order.into_iter().filter(|&column| contributions[column] != 0.0).collect();
        let (first, rest) = order.split_at(shown(self.top, order.len()));
        let largest = first.first().map_or(0.0, |&column| contributions[column].abs());
        for &column in first {
            let contribution = contributions[column];
            let cells = std::iter::once(self.name(column)).chain(values(column));
            table.row(cells.chain([signed(contribution), bar(contribution, largest)]));
        }
        if !rest.is_empty() {
            let others = output::count(rest.len(), "more feature", "more features");
            let empty = values(rest[0]).into_iter().map(|_| String::new());
            let sum = rest.iter().map(|&column| contributions[column]).sum();
            table.row(std::iter::once(others).chain(empty).chain([signed(sum), String::new()]));
        }
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
        let query = data.query_of(document);
        let score = scores[document];
        let rank = 1 + scores[data.query(query).range()].iter().filter(|&&other| other > score).count();
        Explained { document, query, rank, score, contributions }
    }

    fn as_json(&self, shown: &Shown<'_>) -> serde_json::Value {
        let contributions = by_size(&self.contributions).into_iter().map(|column| {
            json!({
                "feature": shown.name(column),
                "value": shown.json_value(self.document, column),
                "contribution": self.contributions[column],
            })
        });
        json!({
            "document": self.document + 1,
            "id": shown.data.document_id(self.document),
            "query": shown.data.query(self.query).id(),
            "rank": self.rank,
            "grade": shown.data.labels()[self.document],
            "score": self.score,
            "contributions": contributions.collect::<Vec<_>>(),
        })
    }

    fn as_text(&self, shown: &Shown<'_>, base: (&str, f64)) -> String {
        let mut table = table::Columns::new(&["feature", ">value", ">contribution", ""]);
        let value = |column| vec![shown.text(self.document, column)];
        shown.rows(&mut table, &self.contributions, value);
        table.row([base.0, "", &signed(base.1), ""]);
        table.row(["score", "", &signed(self.score), ""]);
        format!("{}\n{}", table::wrap(&self.title(shown.data)), table.render())
    }

    fn title(&self, data: &Dataset) -> String {
        let query = data.query(self.query);
        format!(
            "document {}: grade {}, rank {} of {} in query {}",
            self.name(data),
            data.labels()[self.document],
            self.rank,
            query.len(),
            query.id()
        )
    }

    /// The number, from 1, and the id.
    fn name(&self, data: &Dataset) -> String {
        let id = data.document_id(self.document).map_or(String::new(), |id| format!(" ({id})"));
        format!("{}{id}", self.document + 1)
    }
}

/// Why `x` scores higher or lower than `y`.
struct Difference<'a> {
    x: &'a Explained,
    y: &'a Explained,
    /// What each feature contributes to the score of `x`, less what it contributes to that of `y`.
    differences: Vec<f64>,
}

impl Difference<'_> {
    fn as_json(&self, shown: &Shown<'_>) -> serde_json::Value {
        let features = by_size(&self.differences).into_iter().map(|column| {
            let values = [self.x, self.y].map(|e| shown.json_value(e.document, column));
            json!({ "feature": shown.name(column), "values": values, "difference": self.differences[column] })
        });
        json!({ "score": self.x.score - self.y.score, "features": features.collect::<Vec<_>>() })
    }

    fn as_text(&self, shown: &Shown<'_>) -> String {
        let (x, y) = (self.x, self.y);
        let headers =
            ["feature", &format!(">{}", x.document + 1), &format!(">{}", y.document + 1), ">difference", ""];
        let mut table = table::Columns::new(&headers);
        let values = |column| [x, y].map(|e| shown.text(e.document, column)).to_vec();
        shown.rows(&mut table, &self.differences, values);
        table.row(["score", &signed(x.score), &signed(y.score), &signed(x.score - y.score), ""]);
        let verdict = match x.score.total_cmp(&y.score) {
            std::cmp::Ordering::Greater => "ranks above",
            std::cmp::Ordering::Less => "ranks below",
            std::cmp::Ordering::Equal => "has the same score as",
        };
        let data = shown.data;
        let titles = [x, y].map(|e| format!("{}\n", table::wrap(&e.title(data))));
        let explained = format!(
            "Document {} {verdict} document {}. difference: contribution of the feature to the first score minus that \
             to the second.",
            x.name(data),
            y.name(data)
        );
        format!("{}{}\n{}\n", titles.concat(), table.render(), table::wrap(&explained))
    }
}
